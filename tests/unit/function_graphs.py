"""Functions and calls of them, for the tests of operations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from operation_graphs import F, assert_every_node_accounted_for, identity, node

from graphviewer import protos
from graphviewer.model.document import Document
from graphviewer.operations.registry import Result, operations


def apply(operation: str, before: Document, **options: Any) -> Result:
    """Run an operation, and see that no node is lost silently."""
    result = operations()[operation].run(before, **options)
    assert_every_node_accounted_for(before, result)
    return result


def function(name: str, arguments: Mapping[str, int], results: Mapping[str, tuple[int, str]], *nodes: Any) -> Any:
    """``arguments`` by name -> dtype, ``results`` by name -> (dtype, tensor of the body)."""
    made = protos.FunctionDef()
    made.signature.name = name
    for argument, dtype in arguments.items():
        made.signature.input_arg.add(name=argument, type=dtype)
    for result, (dtype, text) in results.items():
        made.signature.output_arg.add(name=result, type=dtype)
        made.ret[result] = text
    made.node_def.extend(nodes)
    return made


def call(line: str, name: str, inputs: Sequence[int] = (F,), outputs: Sequence[int] = (F,)) -> Any:
    """A node that calls a function by its attribute ``f``."""
    made = node(line)
    made.attr["f"].func.name = name
    made.attr["Tin"].list.type.extend(inputs)
    made.attr["Tout"].list.type.extend(outputs)
    return made


SQUARE = function("square", {"a": F}, {"out": (F, "mul:z:0")}, identity("mul = Mul a a"))
TWICE = function(
    "twice",
    {"b": F},
    {"out": (F, "again:output:0")},
    call("once = PartitionedCall b", "square"),
    call("again = StatefulPartitionedCall once:output:0", "square"),
)
