"""How large the tensors between nodes are, where the file says their shapes."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphviewer.model.bodies import Unfolded
from graphviewer.model.document import Document
from graphviewer.model.tensors import TensorError, numpy_dtype

DTYPE_ATTRS = ("dtype", "T", "DstT", "output_type", "SrcT")
LARGEST = 2**60


def output_bytes(document: Document) -> NDArray[np.int64]:
    """Bytes of each node's first output; a size that is not known counts as 1, and 0 stands for no shape at all.

    Returns:
        int64 [nodes].
    """
    found = np.zeros(len(document.graph), np.int64)
    for number, node in enumerate(_nodes(document)):
        shape = _shape(node)
        if shape is not None and not shape.unknown_rank:
            found[number] = min(prod(max(dim.size, 1) for dim in shape.dim) * _item_size(node), LARGEST)
    return found


def _nodes(document: Document) -> Iterator[Any]:
    """All nodes in order; those of the graph itself come first, and need no look-up one by one."""
    own = document.graph_def.node if isinstance(document, Unfolded) or type(document) is Document else ()
    yield from own
    for number in range(len(own), len(document.graph)):
        yield document.node(number)


def _shape(node: Any) -> Any | None:
    """The TensorShapeProto of a node's first output, where it says one."""
    attr = node.attr
    if "_output_shapes" in attr:
        shapes = attr["_output_shapes"].list.shape
        return shapes[0] if shapes else None
    if "shape" in attr and attr["shape"].HasField("shape"):
        return attr["shape"].shape
    if node.op == "Const" and "value" in attr:
        return attr["value"].tensor.tensor_shape
    return None


def _item_size(node: Any) -> int:
    for key in DTYPE_ATTRS:
        if key in node.attr and node.attr[key].type:
            try:
                return numpy_dtype(node.attr[key].type).itemsize
            except TensorError:
                return 1
    return 1
