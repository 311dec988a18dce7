"""Nodes that give ones: where a backward pass may start."""

import struct
from typing import Any

from graphviewer import protos
from graphviewer.model.document import Document

SCALAR = 3
"""Rank of ones in the shape of a scalar."""


def ones(document: Document) -> tuple[tuple[int, int], ...]:
    """(rank, node) of all nodes that give ones, of a higher rank where ``tf.gradients`` is likelier to have made them.

    That makes ``Fill`` of a constant shape where it knows the shape of what it differentiates: mostly a scalar (rank
    3), else rank 2; ``Fill`` of a computed shape is of rank 1, ``OnesLike`` and constants of rank 0.
    """
    graph = document.graph
    found = []
    for node, op in enumerate(graph.ops):
        if op == "OnesLike" or (op == "Const" and _is_one(document.node(node))):
            found.append((0, node))
        elif op == "Fill":
            inputs = graph.inputs(node)
            if len(inputs) == 2 and _is_one(document.node(inputs[1])):
                found.append((_rank_of_fill(document.node(inputs[0])), node))
    return tuple(found)


def _rank_of_fill(shape: Any) -> int:
    if shape.op != "Const":
        return 1
    sizes = [one.size for one in shape.attr["value"].tensor.tensor_shape.dim] if "value" in shape.attr else []
    return SCALAR if sizes == [0] else 2


def _is_one(node: Any) -> bool:
    """The node is a constant made of a few ones, in a floating dtype."""
    if node.op != "Const" or "value" not in node.attr:
        return False
    tensor = node.attr["value"].tensor
    values = [*tensor.float_val[:65], *tensor.double_val[:65]]
    if values:
        return len(values) <= 64 and all(value == 1.0 for value in values)
    if tensor.half_val:
        return all(bits in (0x3C00, 0x3F80) for bits in tensor.half_val[:64])  # 1.0 as float16 and as bfloat16
    one_of = {protos.DataType.FLOAT: struct.pack("<f", 1), protos.DataType.DOUBLE: struct.pack("<d", 1)}
    one, content = one_of.get(tensor.dtype, b""), tensor.tensor_content
    return bool(one) and 0 < len(content) <= 512 and bool(content == one * (len(content) // len(one)))
