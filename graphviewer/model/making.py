"""TensorProtos and Const nodes made from values.

Source: tensorflow/python/framework/tensor_util.py (``make_tensor_proto``).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphviewer import protos
from graphviewer.model.tensors import TensorError, base_dtype, numpy_dtype, shape_text, value_field
from graphviewer.protos import DataType, dtype_name

_LISTED_ONLY = frozenset(
    {
        DataType.COMPLEX64,
        DataType.COMPLEX128,
        DataType.BOOL,
        DataType.UINT16,
        *range(29, 33),
    }
)  # as TensorFlow


def set_shape(proto: Any, sizes: Sequence[int] | None) -> None:
    """Write sizes, -1 for one that is not known, over a TensorShapeProto; None for unknown rank."""
    proto.Clear()
    proto.SetInParent()
    if sizes is None:
        proto.unknown_rank = True
    for size in sizes or ():
        proto.dim.add(size=size)


def make_tensor(values: NDArray[Any] | bytes, dtype: int, shape: Sequence[int] | None = None) -> Any:
    """A TensorProto, encoded as TensorFlow's ``make_tensor_proto`` does: one value listed, more as raw bytes.

    An array that repeats one value (all strides zero) is written as that one value.

    Args:
        values: an array (cast to ``dtype``), or its little-endian bytes in C order; strings as bytes or str objects.
        dtype: TensorFlow's number, kept as it is (quantised dtypes).
        shape: needed with bytes; by default the array's.

    Raises:
        TensorError: the number of values does not fit the shape.
    """
    raw = values if isinstance(values, bytes) else None
    kind = numpy_dtype(dtype)
    array = _from_bytes(raw, kind) if raw is not None else np.asarray(values)
    sizes = [int(size) for size in (array.shape if shape is None else shape)]
    if math.prod(sizes) != array.size or min(sizes, default=0) < 0:
        raise TensorError(f"{array.size:,} values of {dtype_name(dtype)} do not fit the shape {shape_text(sizes)}.")
    proto = protos.TensorProto(dtype=dtype)
    set_shape(proto.tensor_shape, sizes)
    if array.size > 1 and not any(array.strides):
        array = array[(slice(1),) * array.ndim]
    array = array.astype(kind, copy=False)
    if array.size < 2 or kind.hasobject or base_dtype(dtype) in _LISTED_ONLY:
        _list_values(proto, array.reshape(-1))
    else:
        proto.tensor_content = array.tobytes() if raw is None else raw
    return proto


def _from_bytes(raw: bytes, kind: np.dtype[Any]) -> NDArray[Any]:
    if kind.hasobject or len(raw) % kind.itemsize:
        raise TensorError(f"{len(raw):,} bytes are no whole number of {kind} values.")
    return np.frombuffer(raw, kind)


def _list_values(proto: Any, values: NDArray[Any]) -> None:
    """Write flat values to the typed field."""
    field = value_field(proto.dtype)
    if field == "float8_val":
        proto.float8_val = values.tobytes()
    elif field == "string_val":
        proto.string_val.extend(value if isinstance(value, bytes) else str(value).encode() for value in values)
    elif field == "half_val":
        proto.half_val.extend(values.view("<u2").tolist())
    elif field in ("scomplex_val", "dcomplex_val"):
        getattr(proto, field).extend(values.view(f"<f{values.itemsize // 2}").tolist())
    else:
        getattr(proto, field).extend(values.tolist())


def const_node(
    name: str,
    dtype: int,
    *,
    shape: Sequence[int] | None = None,
    raw: bytes | None = None,
    values: NDArray[Any] | None = None,
) -> Any:
    """A Const NodeDef from ``raw`` bytes and their shape, or from ``values``; see ``make_tensor``."""
    node = protos.NodeDef(name=name, op="Const")
    node.attr["dtype"].type = dtype
    given = raw if raw is not None else np.asarray(values)
    node.attr["value"].tensor.CopyFrom(make_tensor(given, dtype, shape))
    return node
