"""How many bytes a frozen graph will take, known before a value is read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from graphviewer import protos
from graphviewer.formats.wire import header
from graphviewer.model.making import const_node, set_shape
from graphviewer.model.tensors import numpy_dtype
from graphviewer.operations.freezing.files import PathConstant
from graphviewer.operations.freezing.plan import Plan
from graphviewer.operations.freezing.variables import Constant
from graphviewer.operations.library import reached
from graphviewer.protos import DataType

_STRING = b"sixteen or so 16"
_AROUND_CONTENT = (4, 8, 2, 5)
"""Fields by number, inside out: tensor_content, tensor, value of the attribute's entry, attr of the node."""


def predicted_size(plan: Plan) -> int:
    """Bytes of the GraphDef that the plan will be; a variable of strings counts as one of short strings.

    Nodes are measured as they will be; the content of large constants is counted, not copied.
    """
    graph, body = plan.selection.graph, plan.body
    new = {graph.index[name]: node for name, node in body.new.items()}
    constants = plan.constants()
    total = _rest_size(plan, new)
    for number in plan.selection.numbers:
        constant = constants.get(number)
        if constant is not None:
            size = _constant_size(constant) + sum(_framed(len(text.encode())) for text in plan.waits(number))
        else:
            size = _node_size(plan, number, new.get(number))
        total += _framed(size)
    others = [*plan.selection.placeholders.values(), *body.extra]
    return total + sum(_framed(node.ByteSize()) for node in others)


def _framed(size: int, number: int = 1) -> int:
    """A field of so many bytes, with its tag and length."""
    return len(header(number, size)) + size


def _node_size(plan: Plan, number: int, new: Any | None) -> int:
    if new is not None:
        return int(new.ByteSize())
    selection, document = plan.selection, plan.selection.document
    node = document.node(number)
    if selection.inputs(number) is not None or "_class" in node.attr:
        copy = protos.NodeDef()
        copy.CopyFrom(node)
        selection.adapt(copy, number)
        node = copy
    left = document.payloads.by_node.get(number) if document.payloads is not None else None
    return _with_content(node, left.length) if left is not None else int(node.ByteSize())


def _constant_size(constant: Constant | PathConstant) -> int:
    if isinstance(constant, PathConstant):
        return int(constant.node().ByteSize())
    count = int(np.prod(constant.shape, dtype=np.int64))
    if constant.dtype == DataType.STRING:
        one = const_node(constant.name, constant.dtype, values=np.array(_STRING, object))
        return int(one.ByteSize()) + (count - 1) * _framed(len(_STRING))
    if count < 2:
        node = const_node(constant.name, constant.dtype, values=np.ones(constant.shape, numpy_dtype(constant.dtype)))
        return int(node.ByteSize())
    empty = const_node(constant.name, constant.dtype, raw=b"", shape=[0] * len(constant.shape))
    set_shape(empty.attr["value"].tensor.tensor_shape, constant.shape)
    return _with_content(empty, constant.size)


def _with_content(node: Any, length: int) -> int:
    """Size of a constant's node once its tensor has a content of ``length`` bytes."""
    bare = protos.NodeDef()
    bare.CopyFrom(node)
    tensor = node.attr["value"].tensor
    del bare.attr["value"]
    entry = len(b"\x0a\x05value")
    content, in_value, in_entry, in_node = _AROUND_CONTENT
    value = _framed(int(tensor.ByteSize()) + _framed(length, content), in_value)
    return int(bare.ByteSize()) + _framed(entry + _framed(value, in_entry), in_node)


def _rest_size(plan: Plan, new: Mapping[int, Any]) -> int:
    """Versions, and the functions that the result calls."""
    document, rest = plan.selection.document, protos.GraphDef()
    if document.graph_def.HasField("versions"):
        rest.versions.CopyFrom(document.graph_def.versions)
    library = plan.library() or document.graph_def.library
    kept = [new.get(number) or document.node(number) for number in plan.selection.numbers]
    names = reached(kept, library)
    functions = [function for function in library.function if function.signature.name in names]
    gradients = [gradient for gradient in library.gradient if gradient.function_name in names]
    inside = sum(_framed(int(one.ByteSize())) for one in [*functions, *gradients])
    return int(rest.ByteSize()) + (_framed(inside, 2) if inside else 0)
