"""What would still compute as in training is refused, or warned about where a fed value decides."""

import pytest
from operation_graphs import (
    F,
    const,
    document,
    freeze,
    identity,
    node,
    placeholder,
)

from graphviewer.errors import OperationError
from graphviewer.protos import DataType


def batch_norm(name, source, training):
    made = node(f"{name} = FusedBatchNormV3 {source} scale scale scale scale", T=F, U=F)
    made.attr["is_training"].b = training
    return made


def merge(line):
    made = node(line, T=F)
    made.attr["N"].i = 2
    return made


def test_that_batch_norms_on_batch_statistics_are_refused_unless_allowed():
    before = document(placeholder(), const("scale", [1.0, 1.0]), batch_norm("bn", "x", True), identity("y = Relu bn"))

    with pytest.raises(OperationError, match="One node that the outputs need computes as in training.*: bn") as error:
        freeze(before, None)
    assert "allow training mode" in error.value.hint and "--" not in error.value.hint  # the window shows it too
    assert "as in training" in freeze(before, None, allow_training_mode=True).warnings[0]


def test_that_a_batch_norm_that_a_fed_value_switches_is_only_warned_about():
    before = document(
        placeholder(),
        const("scale", [1.0, 1.0]),
        node("training = PlaceholderWithDefault off", dtype=DataType.BOOL, shape=[]),
        const("off", False, DataType.BOOL),
        node("switch = Switch x training", T=F),
        batch_norm("train", "switch:1", True),
        batch_norm("infer", "switch", False),
        node("y = Merge infer train", T=F),
    )

    result = freeze(before, None)
    assert "'training' decides whether train computes as in training; inference mode" in result.warnings[0]
    assert result.switches == ("training",)


@pytest.mark.parametrize(("constant", "refused"), [(True, True), (False, False)])
def test_that_a_constant_condition_decides_about_training_mode(constant, refused):
    before = document(
        placeholder(),
        const("scale", [1.0, 1.0]),
        const("training", constant, DataType.BOOL),
        node("switch = Switch x training", T=F),
        batch_norm("train", "switch:1", True),
        batch_norm("infer", "switch", False),
        merge("y = Merge infer train"),
    )

    if refused:
        with pytest.raises(OperationError, match="train"):
            freeze(before, None)
    else:
        assert freeze(before, None).warnings == ()


def dropout(rate):
    return document(
        placeholder(),
        node("shape = Shape x", T=F),
        node("uniform = RandomUniform shape", dtype=F, T=DataType.INT32),
        rate,
        identity("mask = GreaterEqual uniform rate"),
        const("zero", 0.0),
        identity("y = SelectV2 mask x zero"),
    )


def test_that_dropout_is_refused_and_with_a_fed_rate_warned_about():
    with pytest.raises(OperationError, match="dropout.*: y"):
        freeze(dropout(const("rate", 0.5)), None)

    result = freeze(dropout(node("rate = Placeholder", dtype=F)), None)

    assert "'rate' decides whether y" in result.warnings[0]


def test_that_other_random_numbers_and_outputs_without_input_are_warned_about():
    noise = node("noise = RandomNormal shape", dtype=F, T=DataType.INT32)
    before = document(const("shape", [2], DataType.INT32), noise, identity("y = Neg noise"))

    warnings = freeze(before, None).warnings

    assert "depend on random numbers: noise" in warnings[0]
    assert warnings[1] == "'y' depends on no input: it gives the same value whatever is fed."


def test_that_lookup_tables_keep_what_fills_them():
    before = document(
        placeholder(),
        node("table = HashTableV2", key_dtype=DataType.STRING, value_dtype=F),
        const("keys", [b"a"], DataType.STRING),
        const("numbers", [1.0]),
        node("fill = InitializeTableV2 table keys numbers"),
        node("y = LookupTableFindV2 table x numbers"),
        "other = NoOp ^fill",
    )

    result = freeze(before, None)

    assert {made.name for made in result.document.graph_def.node} >= {"fill", "keys"}
    assert "lookup tables (table): run 'fill' once" in " ".join(result.warnings)


def test_that_a_refusal_names_a_few_of_many_nodes():
    norms = [batch_norm(f"bn{at}", f"bn{at - 1}" if at else "x", True) for at in range(12)]
    before = document(placeholder(), const("scale", [1.0, 1.0]), *norms, identity("y = Relu bn11"))
    with pytest.raises(OperationError, match="12 nodes .*: bn0, bn1, bn2 and 9 more") as error:
        freeze(before, None)
    assert "bn3" not in error.value.message
