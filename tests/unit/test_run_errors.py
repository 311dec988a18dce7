"""What TensorFlow says of a run, put into one sentence; no TensorFlow needed."""

import pytest

from graphviewer.runtime.engine import explain, needs_variable


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            "No OpKernel was registered to support Op 'B' used by {{node t/b}} with these attrs: [n=1]\n\t [[t/b]]",
            "No OpKernel was registered to support Op 'B' used by 't/b' with these attrs: [n=1]",
        ),
        ("{{node reshape}} Input has 6 values.\n\t [[{{node reshape}}]]", "Input has 6 values"),
        ("{{function_node f}} {{node a}} No such file.", "No such file"),
        ("used by {{function_node __f_1}} {{node a/b}} on CPU", "used by 'a/b' on CPU"),
        ("Graph execution error:\n\nDetected at node 'x' defined at (most recent call last):\nNode: 'x'\nBad.", "Bad"),
    ],
)
def test_that_marks_for_places_become_names_or_go(text, sentence):
    assert explain(ValueError(text)) == sentence


def test_that_a_fed_variable_and_what_needs_it_are_told():
    text = "Input 0 of node c/Switch was passed float from env/observ:0 incompatible with expected float_ref."

    assert needs_variable(ValueError(text)) == ("env/observ", "c/Switch")
    assert needs_variable(ValueError(text.replace("_ref", ""))) is None
