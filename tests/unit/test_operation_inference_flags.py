"""Flags that say whether a network trains, and conditionals on them."""

import pytest
from operation_graphs import (
    F,
    apply,
    by_name,
    const,
    document,
    identity,
    lines,
    node,
    placeholder,
    value_of,
)
from test_operation_inference_mode import dropout, function

from graphviewer.analysis.diff import compare
from graphviewer.errors import OperationError
from graphviewer.protos import DataType

BOOL = DataType.BOOL


def inference_mode(before, outputs=("y",), **options):
    return apply("inference-mode", before, outputs=outputs, **options)


@pytest.mark.parametrize("name", ["keep_prob", "dropout", "Placeholder_1"])
def test_that_a_fed_probability_is_1_where_more_than_a_dropout_reads_it(name):
    before = document(
        placeholder(),
        node(f"{name} = Placeholder", dtype=F, shape=[]),
        *dropout(name),
        identity(f"y = Mul drop {name}"),
    )

    result = inference_mode(before)

    assert value_of(result, name) == 1.0
    assert lines(result.document)[-1] == f"y = Mul x {name}"
    assert "probability to keep" in result.rewrites[0].reason


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("is_training", False),
        ("phase_train", False),
        ("net/isTraining", False),
        ("keras_learning_phase", False),
        ("deterministic", True),
        ("is_test", True),
        ("IsInference_1", True),
    ],
)
def test_that_a_flag_is_what_its_name_says(name, value):
    before = document(node(f"{name} = Placeholder", dtype=BOOL, shape=[]), node(f"y = LogicalNot {name}"))

    result = inference_mode(before)

    assert value_of(result, name) == value
    assert result.rewrites[0].rule == "placeholder -> constant"


@pytest.mark.parametrize("name", ["flag", "not_training", "train_or_test"])
def test_that_a_flag_that_nothing_explains_stays_and_is_named(name):
    before = document(node(f"{name} = Placeholder", dtype=BOOL, shape=[]), node(f"y = LogicalNot {name}"))

    result = inference_mode(before)

    assert by_name(result.document)[name].op == "Placeholder"
    assert f"'{name}' is a bool that has to be fed" in result.warnings[0]
    chosen = inference_mode(before, flags=f"{name}=true")
    assert value_of(chosen, name)


def test_that_a_flag_that_will_be_fed_stays():
    before = document(node("is_training = Placeholder", dtype=BOOL, shape=[]), node("y = LogicalNot is_training"))

    assert by_name(inference_mode(before, inputs=["is_training"]).document)["is_training"].op == "Placeholder"


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        ("is_trainin=0", "Closest: is_training"),
        ("is_training", "sets no flag"),
        ("is_training=maybe", "no value for the bool"),
        ("rate=much", "no number"),
    ],
)
def test_that_flags_that_make_no_sense_are_refused(flags, message):
    before = document(
        node("is_training = Placeholder", dtype=BOOL, shape=[]),
        node("rate = Placeholder", dtype=F, shape=[]),
        node("y = MadeUp is_training rate"),
    )

    with pytest.raises(OperationError) as error:
        inference_mode(before, flags=flags)
    assert message in str(error.value)


def conditional(flag="is_training"):
    merge = identity("y = Merge off on")
    merge.attr["N"].i = 2
    return document(
        placeholder(),
        node(f"{flag} = Placeholder", dtype=BOOL, shape=[]),
        identity(f"switch = Switch x {flag}"),
        node(f"pred = Switch {flag} {flag}", T=BOOL),
        node("pivot_t = Identity pred:1", T=BOOL),
        const("noise/shape", [2], DataType.INT32),
        node("noise = RandomUniform noise/shape ^pivot_t", dtype=F, T=DataType.INT32),
        identity("on = Mul switch:1 noise"),
        identity("off = Neg switch"),
        merge,
        node("which = Cast y:1", SrcT=DataType.INT32, DstT=F),
    )


@pytest.mark.parametrize("flag", ["is_training", "f"])
def test_that_a_conditional_on_a_flag_becomes_its_branch_for_inference(flag):
    before = conditional(flag)

    result = inference_mode(before, ["y", "which"])

    after = by_name(result.document)
    assert "on" not in after
    assert list(after["y"].input) == ["off"]
    assert after["y"].op == after["switch"].op == "Identity"
    assert list(after["which"].input) == ["y/value_index"]
    assert value_of(result, "y/value_index") == 0
    assert "branch that 'pred' never takes" in result.provenance.removals["noise"].reason
    changes = {change.after: change for change in compare(before, result.document, result.provenance).changes}
    assert changes["y"].status == "converted"
    assert "cond" in changes["y"].details["conversion"]


def test_that_an_output_of_the_branch_for_training_is_refused():
    with pytest.raises(OperationError, match="'on' is never computed: it lies in the branch"):
        inference_mode(conditional(), ["on"])


def test_that_an_if_on_a_flag_calls_the_function_for_inference():
    choose = node("y = If is_training x", Tcond=BOOL)
    for attribute, branch in (("then_branch", "train"), ("else_branch", "infer")):
        choose.attr[attribute].func.name = branch
    choose.attr["Tin"].list.type.append(F)
    choose.attr["Tout"].list.type.append(F)
    relu = node("relu = Relu x", T=F)
    before = document(
        placeholder(),
        node("is_training = Placeholder", dtype=BOOL, shape=[]),
        choose,
        functions=[function("train", relu), function("infer", relu)],
    )

    result = inference_mode(before)

    made = by_name(result.document)["y"]
    assert (made.op, list(made.input), made.attr["f"].func.name) == ("StatefulPartitionedCall", ["x"], "infer")
    assert [kept.signature.name for kept in result.document.graph_def.library.function] == ["infer"]
