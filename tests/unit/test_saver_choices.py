"""What can be given as saver is known before a freeze runs, and each choice does what it says."""

import numpy as np
import pytest
from operation_graphs import WEIGHTS, Values, document, freeze, network, placeholder, value_of
from test_freeze_keys import AVERAGES, BOTH, PLAIN, saver, with_savers

from graphviewer.errors import OperationError
from graphviewer.operations.registry import operations
from graphviewer.operations.saver_choices import saver_choices
from graphviewer.worker.jobs import run_job


def ids(before, checkpoint=None, **options):
    return [choice.id for choice in saver_choices(before, checkpoint=checkpoint, **options)]


def test_that_without_variables_there_is_nothing_to_choose():
    assert saver_choices(document(placeholder())) == ()


@pytest.mark.parametrize("before", [network(), with_savers(PLAIN), with_savers(PLAIN, PLAIN)])
def test_that_where_all_say_the_same_only_that_is_listed(before):
    assert ids(before, Values({"net/w": WEIGHTS})) == [""]


def test_that_the_freeze_declares_the_choices_of_its_saver():
    parameter = operations()["freeze"].parameter("saver")

    assert parameter.choices(with_savers(PLAIN, AVERAGES)) == saver_choices(with_savers(PLAIN, AVERAGES))


@pytest.mark.parametrize(
    ("before", "listed"),
    [
        (with_savers(PLAIN, AVERAGES), ["save", "averages", "moving-averages", "names"]),
        (with_savers(PLAIN, AVERAGES, saver_def="save"), ["", "averages", "moving-averages"]),
        (with_savers(PLAIN, AVERAGES, saver_def="averages"), ["", "save", "names"]),
        (network(), ["", "moving-averages"]),
    ],
)
def test_that_a_freeze_takes_every_choice_and_nothing_else(before, listed):
    choices = saver_choices(before, checkpoint=Values(BOTH))
    averaged = {"averages", "moving-averages"}
    automatic = 1 if before.saver is not None and before.saver.save_tensor_name.startswith("averages") else 0

    assert [choice.id for choice in choices] == listed
    for choice in choices:
        added = automatic if choice.id == "" else int(choice.id in averaged)
        result = freeze(before, Values(BOTH), saver=choice.id)
        np.testing.assert_array_equal(value_of(result, "net/w"), WEIGHTS + added)
    if "" not in listed:
        with pytest.raises(OperationError, match="read different values"):
            freeze(before, Values(BOTH))


def test_that_a_choice_tells_what_it_reads_and_what_the_checkpoint_lacks():
    key = "net/w/ExponentialMovingAverage"

    choices = {one.id: one for one in saver_choices(with_savers(PLAIN, AVERAGES), checkpoint=Values({key: WEIGHTS}))}

    assert choices[""].reason == f"what the graph says, such as 'net/w' from '{key}'"
    assert choices["save"].reason == "reads 1 variable; the checkpoint lacks 1 of its keys"


def test_that_a_saver_outside_of_every_scope_can_be_chosen():
    bare = list(saver("s", ["net/w/ExponentialMovingAverage"], ["net/w"]))
    for made in bare:
        made.name = made.name.removeprefix("s/")
        made.input[:] = [text.removeprefix("s/") for text in made.input]
    before = with_savers(PLAIN, bare)

    assert ids(before)[:2] == ["save", "/"]
    np.testing.assert_array_equal(value_of(freeze(before, Values(BOTH), saver="/"), "net/w"), WEIGHTS + 1)


def test_that_savers_that_disagree_about_other_variables_are_no_question_for_outputs_that_do_not_need_them():
    before = with_savers(PLAIN, AVERAGES)

    assert ids(before, outputs=["x"]) == []
    assert ids(before, outputs=["y"]) == ids(before)


def test_that_the_worker_lists_the_choices_of_a_file(tmp_path):
    from graphviewer.formats import save_document

    save_document(with_savers(PLAIN, AVERAGES), tmp_path / "graph.meta")

    found = run_job("choices", {"path": str(tmp_path / "graph.meta"), "operation": "freeze", "outputs": ["y"]})

    assert [choice["id"] for choice in found["choices"]["saver"]] == ["save", "averages"]
