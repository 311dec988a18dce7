"""Clearing devices, pruning the library, and what all rewriting operations have in common."""

import pytest
from operation_graphs import (
    SQUARE,
    TWICE,
    F,
    apply,
    by_name,
    call,
    const,
    document,
    function,
    identity,
    node,
    placeholder,
)

from graphviewer.analysis.diff import compare
from graphviewer.errors import Cancelled, OperationError
from graphviewer.operations.registry import operations
from graphviewer.protos import DataType

INT = DataType.INT32
BOOL = DataType.BOOL


def integer(line):
    return node(line, T=INT)


def test_that_devices_go_from_nodes_and_functions():
    inner = identity("mul = Mul a a")
    inner.device = "/gpu:1"
    body = function("f", {"a": F}, {"out": (F, "mul:z:0")}, inner)
    there = identity("y = Neg x")
    there.device = "/job:worker/gpu:3"
    before = document(placeholder(), there, functions=[body])

    result = apply("clear-devices", before)

    assert not by_name(result.document)["y"].device
    assert not result.document.graph_def.library.function[0].node_def[0].device
    assert [(one.node, one.reason) for one in result.rewrites] == [
        ("y", "was placed on '/job:worker/gpu:3'"),
        ("f:mul", "was placed on '/gpu:1'"),
    ]
    changes = compare(before, result.document, result.provenance).changes
    assert [(change.after, change.status) for change in changes if change.after] == [("y", "changed")]
    assert apply("clear-devices", result.document).warnings == ("No node had a device.",)


def test_that_only_functions_that_are_called_stay():
    unused = function("unused", {"a": F}, {"out": (F, "a")})
    before = document(placeholder(), call("y = PartitionedCall x", "twice"), functions=[SQUARE, unused, TWICE])

    result = apply("prune-library", before)

    assert [kept.signature.name for kept in result.document.graph_def.library.function] == ["square", "twice"]
    assert [one.node for one in result.rewrites] == ["unused"]
    assert apply("prune-library", result.document).warnings == ("Every function is called.",)


OPTIONS = {
    "fold-constants": {},
    "inline-functions": {},
    "rename": {"scopes": "x=z"},
    "clear-devices": {},
    "prune-library": {},
}


@pytest.mark.parametrize("name", OPTIONS)
def test_that_the_document_given_stays_as_it_is_and_work_can_be_cancelled(name):
    before = document(
        placeholder(),
        const("a", 1, INT),
        integer("s = Neg a"),
        integer("t = Neg s"),
        call("y = PartitionedCall x", "square"),
        functions=[SQUARE],
    )
    bytes_before = before.graph_def.SerializeToString(deterministic=True)

    def stop(fraction, message):
        raise Cancelled("Stopped.")

    apply(name, before, **OPTIONS[name])
    assert before.graph_def.SerializeToString(deterministic=True) == bytes_before
    with pytest.raises(Cancelled):
        operations()[name].run(before, progress=stop, **OPTIONS[name])


@pytest.mark.parametrize("name", ["fold-constants", "inline-functions", "inference-mode"])
def test_that_doubled_names_are_refused(name):
    before = document(const("x", 1.0), const("x", 2.0), identity("y = Neg z"), const("z", 3.0))
    with pytest.raises(OperationError, match="share a name"):
        operations()[name].run(before, **({"outputs": ["y"]} if name == "inference-mode" else {}))
