"""Freezing: what is asked of the checkpoint, and how it is said when it does not fit."""

import numpy as np
import pytest
from operation_graphs import (
    WEIGHTS,
    Values,
    document,
    freeze,
    identity,
    lines,
    network,
    placeholder,
    value_of,
    variable,
)

from graphviewer.errors import OperationError
from graphviewer.operations.registry import operations
from graphviewer.protos import DataType


def test_that_variables_become_constants_of_the_same_name_in_their_place():
    result = freeze(network(), Values({"net/w": WEIGHTS}))

    assert lines(result.document) == [
        "x = Placeholder",
        "net/w = Const",
        "net/w/read = Identity net/w",
        "y = MatMul x net/w/read",
    ]
    np.testing.assert_array_equal(value_of(result, "net/w"), WEIGHTS)
    assert result.frozen == 1
    assert result.document.checkpoint is None
    assert result.provenance.origins["net/w"].rule == "variable -> constant"
    assert "'net/w' of the checkpoint" in result.provenance.origins["net/w"].reason


def test_that_only_variables_that_the_outputs_need_are_read():
    before = network(variable("slot/RMSProp_1", [2]), "loss = Sum y slot/RMSProp_1")
    checkpoint = Values({"net/w": WEIGHTS})

    freeze(before, checkpoint)

    assert checkpoint.seen == ["net/w"]


def test_that_a_graph_without_variables_needs_no_checkpoint():
    before = document(placeholder(), identity("y = Neg x"))

    assert freeze(before, None).frozen == 0


def test_that_a_missing_checkpoint_is_said():
    with pytest.raises(OperationError, match="need 1 variable, and there is no checkpoint") as error:
        freeze(network(), None)
    assert "--checkpoint" in error.value.shell and "--" not in error.value.hint


def test_that_all_missing_values_are_listed_with_the_nearest_keys_and_nothing_is_read():
    before = network(
        variable("net/b", [2]), variable("other", [1]), identity("z = Add y net/b"), identity("end = Add z other")
    )
    checkpoint = Values({"tower_0/net/w": WEIGHTS, "tower_0/net/b": [0.0, 1.0], "global_step": 1.0})

    with pytest.raises(OperationError) as error:
        freeze(before, checkpoint, ["end"])

    rows = error.value.message.splitlines()
    assert rows[0] == "3 variables that the outputs need have no value in the checkpoint:"
    assert [row.split() for row in rows[2:]] == [
        ["net/w", "net/w", "tower_0/net/w"],
        ["net/b", "net/b", "tower_0/net/b"],
        ["other", "other", "none"],
    ]
    assert "2 of 3 would fit with Rename scope =tower_0" in error.value.hint
    assert "2 of 3 would fit with --rename =tower_0" in error.value.shell
    assert not checkpoint.seen


def test_that_an_offered_change_of_scope_works():
    checkpoint = Values({"tower_0/net/w": WEIGHTS})

    assert freeze(network(), checkpoint, rename="=tower_0").frozen == 1
    assert freeze(network(), Values({"tower_0/w": WEIGHTS}), rename="net=tower_0").frozen == 1
    with pytest.raises(OperationError, match="does not rename"):
        freeze(network(), checkpoint, rename="tower_0")


def test_that_an_object_based_checkpoint_is_said():
    with pytest.raises(OperationError) as error:
        freeze(network(), Values({"_CHECKPOINTABLE_OBJECT_GRAPH": 0.0, "w/.ATTRIBUTES/VARIABLE_VALUE": WEIGHTS}))
    assert "object-based" in error.value.hint


def test_that_all_unfitting_values_are_listed_as_a_table_and_nothing_is_read():
    before = network(variable("net/b", [2]), variable("open", [-1]), identity("z = AddN y net/b open"))
    checkpoint = Values(
        {"net/w": np.zeros([2, 3]), "net/b": [0.0, 1.0], "open": [1.0, 2.0]}, dtypes={"net/b": DataType.DOUBLE}
    )

    with pytest.raises(OperationError) as error:
        freeze(before, checkpoint, ["z"])

    rows = [row.split("  ") for row in error.value.message.splitlines()]
    assert rows[0] == ["2 variables differ between graph and checkpoint:"]
    assert [[cell.strip() for cell in row if cell] for row in rows[2:]] == [
        ["net/w", "float32 [2, 2]", "float32 [2, 3] (key 'net/w')"],
        ["net/b", "float32 [2]", "float64 [2] (key 'net/b')"],
    ]
    assert not checkpoint.seen


def test_that_progress_is_told_at_least_every_50_variables():
    names = [f"v{number}" for number in range(230)]
    before = document(placeholder(), *(variable(name, [2]) for name in names), "y = AddN x " + " ".join(names))
    told = []

    result = operations()["freeze"].run(
        before, outputs=["y"], checkpoint=Values(dict.fromkeys(names, (0.0, 1.0))), progress=lambda *at: told.append(at)
    )

    reading = [fraction for fraction, message in told if message.startswith("Reading")]
    assert result.frozen == 230
    assert len(reading) >= 5
    assert [fraction for fraction, _ in told] == sorted(fraction for fraction, _ in told)


def test_that_constants_over_two_gibibytes_are_predicted(monkeypatch):
    monkeypatch.setattr("graphviewer.operations.freeze.TWO_GIB", 16)

    result = freeze(network(), Values({"net/w": WEIGHTS}))

    assert "TensorFlow cannot read a GraphDef over 2 GiB" in result.warnings[-1]


def test_that_a_renaming_without_such_keys_is_told():
    checkpoint = Values({"net/w": WEIGHTS})
    told = "The renaming 'net=tower_0' changed nothing: the checkpoint has no keys under 'tower_0'"
    assert told in " ".join(freeze(network(), checkpoint, rename="net=tower_0").warnings)
    assert not freeze(network(), Values({"tower_0/net/w": WEIGHTS}), rename="=tower_0").warnings
