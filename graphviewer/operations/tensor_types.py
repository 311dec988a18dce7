"""What a tensor of a graph is: dtype and shape, as far as nodes tell without running shape inference."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from graphviewer.analysis import dtypes
from graphviewer.analysis.ops import arguments, is_pipeline_op
from graphviewer.model.document import Document
from graphviewer.model.names import CONTROL_PORT
from graphviewer.model.tensors import TensorError, node_shape, shape_list, tensor_value
from graphviewer.operations.library import reached

Shape = list[int] | None
"""Sizes, -1 where unknown; None for unknown rank."""

_SAME_SHAPE = frozenset(
    {
        *("Identity", "StopGradient", "PreventGradient", "CheckNumerics", "Snapshot", "Print", "Cast", "RefIdentity"),
        *("Enter", "Exit", "NextIteration", "Switch", "RandomShuffle", "ZerosLike", "OnesLike", "LogicalNot"),
        *("Relu", "Relu6", "Elu", "Selu", "Sigmoid", "Tanh", "Softmax", "LogSoftmax", "BiasAdd", "Neg", "Abs", "Sign"),
        *("Square", "Sqrt", "Rsqrt", "Exp", "Log", "Floor", "Ceil", "Round", "Rint"),
        *("AdjustContrastv2", "AdjustHue", "AdjustSaturation"),
    }
)
"""Ops whose first output has the shape of their first input."""

_ELEMENTWISE = frozenset(
    {"Add", "AddV2", "Sub", "Mul", "RealDiv", "Div", "Maximum", "Minimum", "Pow", "FloorDiv", "FloorMod"}
)
"""Ops that broadcast two inputs."""

_LOOK_BACK = 64
"""How many nodes to look through for a shape."""


def output_dtypes(document: Document, number: int) -> list[int] | None:
    """dtype numbers of a node's outputs, list outputs spread out; None for an op that nothing describes.

    References count as the values that they refer to.
    """
    found = dtypes.output_dtypes(document.node(number), document.functions)
    return None if found is None else [dtype % dtypes.REF for dtype in found]


def output_dtype(document: Document, number: int, port: int) -> int | None:
    """dtype number of one output: from the op's definition, else from what reads it; None when neither tells."""
    known = output_dtypes(document, number)
    if known is not None:
        return known[port] if port < len(known) and known[port] else None
    graph = document.graph
    for edge in graph.edges_out_of(number).tolist():
        if graph.port[edge] != port:
            continue
        read = arguments(document.node(int(graph.dst[edge])))
        slot = int(graph.slot[edge])
        if read is not None and slot < len(read) and read[slot].dtype:
            return read[slot].dtype
    return None


def output_shape(document: Document, number: int, port: int, *, any_batch: bool = True) -> Shape:
    """Shape of one output, from attributes and from what is known of a few ops, looking back through plain ops.

    The first size of what a batched pipeline gives is -1, as whoever feeds a graph chooses the batch; with
    ``any_batch=False`` it is the pipeline's own.
    """
    seen: set[tuple[int, int]] = set()
    while (number, port) not in seen and len(seen) < _LOOK_BACK:
        seen.add((number, port))
        node = document.node(number)
        shape, known = _own_shape(document, number, port)
        if known:
            return _any_batch(document, number, shape) if any_batch else shape
        source = _same_shape_input(document, number, node)
        if source is None:
            return None
        number, port = source
    return None


def _same_shape_input(document: Document, number: int, node: Any) -> tuple[int, int] | None:
    """The tensor that has the same shape as the node's output: (node, port)."""
    inputs = _data_inputs(document, number)
    if node.op in _SAME_SHAPE and inputs:
        return inputs[0]
    if node.op in _ELEMENTWISE and len(inputs) == 2:
        plain = [source for source in inputs if not _is_scalar(document, source[0])]
        return plain[0] if len(plain) == 1 else None
    return None


def _is_scalar(document: Document, number: int) -> bool:
    """The node is a scalar constant."""
    node = document.node(number)
    return node.op == "Const" and not node.attr["value"].tensor.tensor_shape.dim


def _data_inputs(document: Document, number: int) -> list[tuple[int, int]]:
    graph = document.graph
    edges = [edge for edge in graph.edges_into(number).tolist() if graph.port[edge] != CONTROL_PORT]
    return [(int(graph.src[edge]), int(graph.port[edge])) for edge in edges]


def _own_shape(document: Document, number: int, port: int) -> tuple[Shape, bool]:
    """Shape that a node itself tells, and whether it does."""
    node = document.node(number)
    rule = _SHAPE_RULES.get(node.op)
    for attribute in ("_output_shapes", "output_shapes"):
        if attribute in node.attr and port < len(node.attr[attribute].list.shape):
            shape = shape_list(node.attr[attribute].list.shape[port])
            if shape is not None or rule is None:
                return shape, True
    if rule is not None:
        return rule(document, number, port), True
    if "shape" in node.attr and node.attr["shape"].HasField("shape") and port == 0:
        return node_shape(node), True
    return None, False


def _const_shape(document: Document, number: int, port: int) -> Shape:
    return shape_list(document.node(number).attr["value"].tensor.tensor_shape)


def _reshape_shape(document: Document, number: int, port: int) -> Shape:
    return _constant_sizes(document, number, 1)


def _constant_sizes(document: Document, number: int, slot: int) -> Shape:
    """The values of a constant input that gives a shape."""
    inputs = _data_inputs(document, number)
    if slot >= len(inputs) or document.graph.ops[inputs[slot][0]] != "Const":
        return None
    try:
        return [int(size) for size in tensor_value(document.full_node(inputs[slot][0]).attr["value"].tensor).ravel()]
    except (TensorError, ValueError, TypeError):
        return None


def _dequeue_shape(document: Document, number: int, port: int) -> Shape:
    """A queue's own ``shapes``, with a batch in front for the ops that take many."""
    inputs = _data_inputs(document, number)
    if not inputs:
        return None
    shapes = document.node(inputs[0][0]).attr["shapes"].list.shape
    one = shape_list(shapes[port]) if port < len(shapes) else None
    if one is None or document.graph.ops[number] in ("QueueDequeue", "QueueDequeueV2"):
        return one
    return [-1, *one]


def _dense_shape(document: Document, number: int, port: int) -> Shape:
    """Dense outputs of the example parsers; sparse ones come first, three arrays each."""
    node = document.node(number)
    single = node.op == "ParseSingleExample"
    sparse = len(node.attr["sparse_types"].list.type)
    shapes = node.attr["dense_shapes"].list.shape
    if port < 3 * sparse or port - 3 * sparse >= len(shapes):
        return [[-1, -1], [-1], [-1]][port // sparse] if sparse and port < 3 * sparse else None
    one = shape_list(shapes[port - 3 * sparse])
    return one if single or one is None else [-1, *one]


def _image_shape(document: Document, number: int, port: int) -> Shape:
    channels = document.node(number).attr["channels"].i
    return [-1, -1, channels or -1]


def _resized_shape(document: Document, number: int, port: int) -> Shape:
    sizes = _constant_sizes(document, number, 1) or [-1, -1]
    return [-1, *sizes, -1] if len(sizes) == 2 else None


def _scalar_shape(document: Document, number: int, port: int) -> Shape:
    return []


_DEQUEUES = ("QueueDequeue", "QueueDequeueMany", "QueueDequeueUpTo")
_RESIZES = ("ResizeBilinear", "ResizeBicubic", "ResizeNearestNeighbor", "ResizeArea")
_SHAPE_RULES: Mapping[str, Callable[[Document, int, int], Shape]] = MappingProxyType(
    {
        "Const": _const_shape,
        "Reshape": _reshape_shape,
        **dict.fromkeys(("ReaderRead", "ReaderReadV2", "ReadFile"), _scalar_shape),
        **dict.fromkeys((*_DEQUEUES, *(f"{op}V2" for op in _DEQUEUES)), _dequeue_shape),
        **dict.fromkeys(("ParseExample", "ParseExampleV2", "ParseSingleExample"), _dense_shape),
        **dict.fromkeys(("DecodeJpeg", "DecodePng", "DecodeAndCropJpeg"), _image_shape),
        **dict.fromkeys(_RESIZES, _resized_shape),
    }
)


def _any_batch(document: Document, number: int, shape: Shape) -> Shape:
    """Free the first size of what a pipeline gives in batches of a fixed size."""
    if not shape or shape[0] < 0 or not is_pipeline_op(document.graph.ops[number]):
        return shape
    behind = [document.node(source) for source in np.flatnonzero(document.graph.ancestors([number])).tolist()]
    functions = reached(behind, document.graph_def.library)
    inside = (node for name in functions for node in document.functions[name].node_def)
    batched = any("Batch" in node.op and "Dataset" in node.op for node in (*behind, *inside))
    return [-1, *shape[1:]] if batched else shape
