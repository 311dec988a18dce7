"""Checkpoints and constants side by side."""

from __future__ import annotations

import numpy as np
import pytest
from checkpoint_files import write_bundle
from cli_graphs import loaded, op, run, write

from graphviewer.analysis.diff.variables import Stored, compare_variables, values_of
from graphviewer.errors import CheckpointError
from graphviewer.formats import open_document
from graphviewer.model.making import const_node
from graphviewer.protos import DataType

F = DataType.FLOAT


def stored(values, **more):
    array = np.asarray(values, np.float32)
    return Stored(F, array.shape, lambda: array, **more)


def compared(before, after):
    return compare_variables(*({name: stored(value) for name, value in side.items()} for side in (before, after)))


def told(found):
    return {one.name: (one.status, one.match) for one in found.changes}


def test_that_values_are_compared_by_name():
    found = compared({"a": [1, 2, 3], "b": [0], "gone": [1]}, {"a": [1, 2.5, 3], "b": [0], "new": [2]})
    assert told(found) == {"a": ("changed", "name"), "gone": ("removed", "none"), "new": ("added", "none")}
    assert found.unchanged == 1
    change = next(one for one in found.changes if one.name == "a")
    assert change.details["difference"] == {"elements": 3, "differing": 1, "max_abs": 0.5}
    assert change.reason == "1 of 3 elements differ, by up to 0.5"
    assert not found.same and compared({"a": [1]}, {"a": [1]}).same


def test_that_a_renamed_scope_is_recognised():
    found = compared({"net/w": [1, 2], "net/b": [3]}, {"import/net/w": [1, 2], "import/net/b": [4]})
    assert told(found) == {"import/net/w": ("renamed", "prefix"), "import/net/b": ("renamed", "prefix")}
    assert found.changes[0].details == {"elements": 2}
    assert "also all elements differ" in found.changes[1].reason


def test_that_values_are_recognised_where_names_say_nothing():
    key = "layer/kernel/.ATTRIBUTES/VARIABLE_VALUE"
    found = compared({key: [1, 2, 3]}, {"model/MatMul/ReadVariableOp": [1, 2, 3], "other": [1, 2, 4]})
    assert told(found)["model/MatMul/ReadVariableOp"] == ("renamed", "value")
    twins = compared({key: [1, 2]}, {"p": [1, 2], "q": [1, 2]})
    assert {status for status, _ in told(twins).values()} == {"removed", "added"}


def test_that_another_shape_or_dtype_is_told():
    doubled = Stored(DataType.DOUBLE, (2,), lambda: np.zeros(2))
    found = compare_variables({"a": stored([0, 0]), "b": stored([0])}, {"a": doubled, "b": stored([[0, 0]])})
    details = {one.name: one.details for one in found.changes}
    assert details["a"]["dtype"] == ["float32", "float64"]
    assert details["b"]["shape"] == [[1], [1, 2]]
    assert "difference" not in details["b"]


def test_that_what_cannot_be_read_is_said_and_the_rest_compared():
    def broken():
        raise CheckpointError("The data file is missing.")

    found = compare_variables({"a": Stored(F, (1,), broken), "b": stored([1])}, {"a": stored([1]), "b": stored([2])})
    details = {one.name: one.details for one in found.changes}
    assert details["a"]["problem"] == "The data file is missing."
    assert details["b"]["difference"]["max_abs"] == 1.0


def test_that_changes_can_be_sorted():
    found = compared(
        {"a": [0] * 9, "b": [0] * 3, "c": [0] * 4, "gone": [1]},
        {"a": [1] + [0] * 8, "b": [0.5] * 3, "c": [9, 0, 0, 0]},
    )
    orders = {order: [one.name for one in found.sorted(order)] for order in ("name", "difference", "share", "size")}
    assert orders == {
        "name": ["gone", "a", "b", "c"],
        "difference": ["c", "a", "b", "gone"],
        "share": ["b", "c", "a", "gone"],
        "size": ["a", "c", "b", "gone"],
    }


def test_that_constants_that_may_be_sizes_are_not_missed_in_a_checkpoint():
    found = compare_variables({"w": stored([1])}, {"w": stored([1]), "axis": stored(0, is_listed=False)})
    assert found.same


@pytest.fixture
def checkpoints(tmp_path):
    for name, factor in (("one", 1), ("two", 2)):
        write_bundle(tmp_path / name, {"w": np.arange(4, dtype=np.float32) * factor, "step": np.array(7)})
    return tmp_path / "one", tmp_path / "two"


def test_that_two_checkpoints_are_compared_by_their_values(checkpoints):
    result = run("diff", *checkpoints, "--json")
    assert result.exit_code == 1
    found = loaded(result)
    assert (found["of"], found["before"]["variables"], found["before"]["nodes"]) == ("variables", 2, 0)
    assert found["summary"]["changed"] == found["summary"]["unchanged"] == 1
    (change,) = found["changes"]
    assert change["details"]["difference"] == {"elements": 4, "differing": 3, "max_abs": 3.0}
    text = run("diff", *checkpoints)
    assert text.exit_code == 1
    assert "w" in text.stdout and "3 " in text.stdout
    assert run("diff", checkpoints[0], checkpoints[0]).exit_code == 0


def test_that_a_checkpoint_is_compared_with_the_constants_of_a_frozen_graph(checkpoints, tmp_path):
    frozen = write(
        tmp_path / "frozen.pb",
        const_node("w", F, values=np.arange(4, dtype=np.float32)),
        const_node("axis", DataType.INT32, values=np.int32(0)),
        op("y", "Relu", "w", T=F),
    )
    found = loaded(run("diff", checkpoints[0], frozen, "--json"))
    assert [(one["status"], one["before"]) for one in found["changes"]] == [("removed", "step")]
    assert loaded(run("diff", checkpoints[1], frozen, "--json"))["summary"]["changed"] == 1


def test_that_a_graph_has_the_values_of_its_checkpoint(checkpoints, tmp_path):
    variable = op("w", "VariableV2", dtype=F)
    variable.attr["shape"].shape.dim.add(size=4)
    graph = write(tmp_path / "graph.pb", variable, const_node("zeros", F, values=np.zeros(4, np.float32)))
    values = values_of(open_document(graph, checkpoint=checkpoints[1]))
    assert values["w"].read().tolist() == [0, 2, 4, 6]
    assert (values["w"].is_listed, values["zeros"].is_listed) == (True, False)


def test_that_values_that_several_hold_are_linked_where_both_sides_have_as_many():
    ones = [1, 1, 1]
    found = compared({"bn1/gamma": ones, "bn2/gamma": ones}, {"x/Cast": ones, "y/Cast_1": ones})
    assert [(one.before, one.after, one.match) for one in found.changes] == [
        ("bn1/gamma", "x/Cast", "value"),
        ("bn2/gamma", "y/Cast_1", "value"),
    ]
    assert "or another of the 2 that hold this value" in found.changes[0].reason


def test_that_the_numbers_add_up_with_what_is_left_out():
    size = stored([3.0], is_listed=False)
    found = compare_variables({"w": stored([1]), "size": size}, {"w": stored([2]), "p": size, "q": size})
    assert (found.counts, found.left_out) == ((2, 3), (1, 2))
    told = found.summary()
    assert found.counts[1] == told["changed"] + told["added"] + told["unchanged"] + found.left_out[1]


def test_that_names_that_any_two_networks_have_are_no_renamed_scope():
    before = {"encoder/kernel": [1, 2], "encoder/bias": [3, 3]}
    after = {"logits/kernel": [5, 6], "logits/bias": [7, 8]}
    assert {status for status, _ in told(compared(before, after)).values()} == {"removed", "added"}
    after["logits/bias"] = before["encoder/bias"]
    assert {status for status, _ in told(compared(before, after)).values()} == {"renamed"}
    retrained = {f"my_{name}": [9, 9] for name in before}
    assert {status for status, _ in told(compared(before, retrained)).values()} == {"renamed"}
