"""Graphs with a function library, for tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from graphviewer import protos
from graphviewer.model.document import Document
from graphviewer.protos import DataType

Node = tuple[str, str, Sequence[str]]


def add_function(
    graph_def: Any,
    name: str,
    arguments: Sequence[str],
    nodes: Sequence[Node],
    results: Mapping[str, str],
    dtype: int = DataType.FLOAT,
) -> Any:
    """Append a function; nodes are (name, op, inputs as in a function), results are texts by name."""
    function = graph_def.library.function.add()
    function.signature.name = name
    for argument in arguments:
        function.signature.input_arg.add(name=argument, type=dtype)
    for result, text in results.items():
        function.signature.output_arg.add(name=result, type=dtype)
        function.ret[result] = text
    for node, op, inputs in nodes:
        function.node_def.add(name=node, op=op, input=inputs)
    return function


def call(nodes: Any, name: str, op: str, inputs: Sequence[str], **functions: str) -> Any:
    """Append a node that calls functions by its attributes."""
    node = nodes.add(name=name, op=op, input=inputs)
    for attribute, function in functions.items():
        node.attr[attribute].func.name = function
    return node


def nested() -> Document:
    """``x -> call -> y``; ``call`` runs ``outer``, where ``scope/inner`` runs ``square``."""
    graph_def = protos.GraphDef()
    graph_def.node.add(name="x", op="Placeholder")
    call(graph_def.node, "call", "PartitionedCall", ["x"], f="outer")
    graph_def.node.add(name="y", op="Identity", input=["call"])
    outer = add_function(graph_def, "outer", ["a"], [], {"r": "scope/inner:output:0"})
    call(outer.node_def, "scope/inner", "PartitionedCall", ["a"], f="square")
    add_function(graph_def, "square", ["b"], [("mul", "Mul", ["b", "b"])], {"mul": "mul:z:0"})
    return Document("graphdef", graph_def, title="nested")


def branching() -> Document:
    """``cond`` chooses between ``yes`` and ``no``, and a node of the graph is in its scope."""
    graph_def = protos.GraphDef()
    graph_def.node.add(name="which", op="Placeholder")
    graph_def.node.add(name="x", op="Placeholder")
    call(graph_def.node, "cond", "If", ["which", "x"], then_branch="yes", else_branch="no")
    graph_def.node.add(name="cond/Identity", op="Identity", input=["cond"])
    for name, op in (("yes", "Relu"), ("no", "Neg")):
        add_function(
            graph_def, name, ["a"], [("act", op, ["a"])], {"out": f"act:{'activations' if op == 'Relu' else 'y'}:0"}
        )
    return Document("graphdef", graph_def, title="branching")
