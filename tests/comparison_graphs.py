"""Small pairs of graphs for comparisons in the window."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from graphviewer import protos

Body = Sequence[tuple[str, str, Sequence[str]]]

OLD_BODY: Body = (("half", "Relu", ["x"]), ("lost", "Abs", ["half:activations:0"]), ("last", "Neg", ["lost:y:0"]))
NEW_BODY: Body = (("half", "Relu", ["x"]), ("new", "Exp", ["half:activations:0"]), ("last", "Neg", ["new:y:0"]))


def floats(graph_def: protos.GraphDef, name: str, op: str, inputs: Sequence[str] = ()) -> Any:
    """Add a node that works on float32."""
    node = graph_def.node.add(name=name, op=op, input=inputs)
    node.attr["dtype" if op == "Placeholder" else "T"].type = protos.DataType.FLOAT
    return node


def network(prefix: str = "") -> protos.GraphDef:
    """Three scopes, one in the other, all under a prefix."""
    graph_def = protos.GraphDef()
    floats(graph_def, f"{prefix}x", "Placeholder")
    source = f"{prefix}x"
    for name in ("net/one/relu", "net/one/abs", "net/two/neg", "net/two/inner/exp", "net/two/inner/sqrt", "tail"):
        floats(
            graph_def, prefix + name, {"relu": "Relu", "tail": "Sqrt"}.get(name[-4:], name.rpartition("/")[2].title())
        )
        graph_def.node[-1].input.append(source)
        source = prefix + name
    return graph_def


def calling(body: Body, prefix: str = "", function: str = "f_1") -> protos.GraphDef:
    """A call between two nodes, and the function that it calls."""
    graph_def = protos.GraphDef()
    floats(graph_def, f"{prefix}x", "Placeholder")
    call = graph_def.node.add(name=f"{prefix}net/call", op="PartitionedCall", input=[f"{prefix}x"])
    call.attr["f"].func.name = function
    for attribute in ("Tin", "Tout"):
        call.attr[attribute].list.type.append(protos.DataType.FLOAT)
    floats(graph_def, f"{prefix}net/after", "Sqrt", [call.name])
    graph_def.library.function.append(function_def(function, body))
    return graph_def


def function_def(name: str, body: Body) -> Any:
    """A function of one float that returns what its last node computes."""
    made = protos.FunctionDef()
    made.signature.name = name
    for side in (made.signature.input_arg, made.signature.output_arg):
        side.add(name="x" if side is made.signature.input_arg else "out", type=protos.DataType.FLOAT)
    made.signature.input_arg[0].name, made.signature.output_arg[0].name = "x", "out"
    for node, op, inputs in body:
        added = made.node_def.add(name=node, op=op, input=inputs)
        added.attr["T"].type = protos.DataType.FLOAT
    made.ret["out"] = f"{body[-1][0]}:y:0"
    return made
