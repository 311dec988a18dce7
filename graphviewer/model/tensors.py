"""TensorProto -> numpy.

A TensorProto may hold a few bytes and declare 16 GiB: nothing here allocates more than the file itself holds, except
up to ``MATERIALISE_LIMIT`` elements.
Source: tensorflow/core/framework/{tensor.proto,tensor.cc} (``Tensor::FromProto``), python/framework/tensor_util.py.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from graphviewer.errors import GraphViewerError
from graphviewer.protos import DataType, dtype_name

MATERIALISE_LIMIT = 50_000_000
"""Elements that may be allocated for a tensor whose last value is repeated; one value alone is never materialised."""

MOST_ELEMENTS = 2**63 - 1
_MAX_RANK = 32  # of numpy 1; numpy 2 allows 64, TensorFlow 254
_SHOWN = 8
_SHOWN_TEXT = 60

_DTYPES: Mapping[int, np.dtype[Any]] = MappingProxyType(
    {
        DataType.FLOAT: np.dtype("<f4"),
        DataType.DOUBLE: np.dtype("<f8"),
        DataType.INT32: np.dtype("<i4"),
        DataType.UINT8: np.dtype("u1"),
        DataType.INT16: np.dtype("<i2"),
        DataType.INT8: np.dtype("i1"),
        DataType.STRING: np.dtype(object),
        DataType.COMPLEX64: np.dtype("<c8"),
        DataType.INT64: np.dtype("<i8"),
        DataType.BOOL: np.dtype("?"),
        DataType.QINT8: np.dtype("i1"),
        DataType.QUINT8: np.dtype("u1"),
        DataType.QINT32: np.dtype("<i4"),
        DataType.BFLOAT16: np.dtype(ml_dtypes.bfloat16),
        DataType.QINT16: np.dtype("<i2"),
        DataType.QUINT16: np.dtype("<u2"),
        DataType.UINT16: np.dtype("<u2"),
        DataType.COMPLEX128: np.dtype("<c16"),
        DataType.HALF: np.dtype("<f2"),
        DataType.UINT32: np.dtype("<u4"),
        DataType.UINT64: np.dtype("<u8"),
        24: np.dtype(ml_dtypes.float8_e5m2),
        25: np.dtype(ml_dtypes.float8_e4m3fn),
        26: np.dtype(ml_dtypes.float8_e4m3fnuz),
        27: np.dtype(ml_dtypes.float8_e4m3b11fnuz),
        28: np.dtype(ml_dtypes.float8_e5m2fnuz),
        29: np.dtype(ml_dtypes.int4),
        30: np.dtype(ml_dtypes.uint4),
        31: np.dtype(ml_dtypes.int2),
        32: np.dtype(ml_dtypes.uint2),
        33: np.dtype(ml_dtypes.float4_e2m1fn),
    }
)
_FIELDS: Mapping[int, str] = MappingProxyType(
    {
        DataType.FLOAT: "float_val",
        DataType.DOUBLE: "double_val",
        DataType.STRING: "string_val",
        DataType.COMPLEX64: "scomplex_val",
        DataType.COMPLEX128: "dcomplex_val",
        DataType.INT64: "int64_val",
        DataType.BOOL: "bool_val",
        DataType.HALF: "half_val",
        DataType.BFLOAT16: "half_val",
        DataType.UINT32: "uint32_val",
        DataType.UINT64: "uint64_val",
        **dict.fromkeys((24, 25, 26, 27, 28, 33), "float8_val"),
    }
)
_OTHER_FIELD = "int_val"  # every other integer, quantised ones included


class TensorError(GraphViewerError):
    """A TensorProto's shape, dtype and values do not fit together, or it has no values to show."""


def numpy_dtype(dtype: int) -> np.dtype[Any]:
    """The little-endian numpy dtype of a TensorFlow dtype, ref dtypes included; strings are objects (bytes).

    Quantised dtypes give their plain integers: take the q from the node's attribute.

    Raises:
        TensorError: resource, variant and unknown dtypes have none.
    """
    found = _DTYPES.get(base_dtype(dtype))
    if found is None:
        raise TensorError(f"A tensor of {dtype_name(dtype)} holds no values that can be shown.")
    return found


def shape_list(shape: Any) -> list[int] | None:
    """Sizes of a TensorShapeProto, -1 where unknown; None for unknown rank."""
    return None if shape.unknown_rank else [dim.size if dim.size >= 0 else -1 for dim in shape.dim]


def too_large(shape: Sequence[int]) -> bool:
    """More elements than TensorFlow can count (int64), unknown sizes left out of account."""
    count = 1
    for size in shape:
        if size == 0:
            return False
        count = min(count * max(size, 1), MOST_ELEMENTS + 1)  # never a number of a thousand digits
    return count > MOST_ELEMENTS


def node_shape(node: Any) -> list[int] | None:
    """The ``shape`` attribute of a node, -1 where unknown; None when the rank is unknown or there is no such attribute.

    Graphs older than producer 24 write ``[]`` in a Placeholder for unknown rank too; the node alone cannot tell.
    """
    if "shape" not in node.attr or not node.attr["shape"].HasField("shape"):
        return None
    return shape_list(node.attr["shape"].shape)


def tensor_value(proto: Any) -> NDArray[Any]:
    """The values of a TensorProto as TensorFlow reads them, in its shape.

    The last listed value fills what is missing, zero where none is listed, surplus values are ignored. One repeated
    value is a read-only broadcast view, so that 16 GiB of it cost nothing: do not call ``tobytes`` on the result
    without a look at its size.

    Raises:
        TensorError: unknown shape, wrong number of bytes, a dtype without values, or too large to fill.
    """
    dtype, shape = numpy_dtype(proto.dtype), _static_shape(proto)
    count = math.prod(shape)
    if proto.tensor_content:
        return _content(proto, dtype, count).reshape(shape)
    values = listed_values(proto, dtype)[:count]
    if len(values) == count:
        return values.reshape(shape)
    if len(values) < 2:
        fill = values[0] if len(values) else _zero(dtype)
        return np.broadcast_to(np.array(fill, dtype), shape)
    if count > MATERIALISE_LIMIT:
        raise TensorError(f"The tensor lists {len(values)} values for {count:,} elements; that is too large to fill.")
    whole = np.empty(count, dtype)
    whole[: len(values)] = values
    whole[len(values) :] = values[-1]
    return whole.reshape(shape)


def fits_numpy(shape: Sequence[int]) -> bool:
    """numpy can hold, or broadcast to, such a shape; ``[0, 1 << 62]`` it cannot."""
    return len(shape) <= _MAX_RANK and math.prod(size or 1 for size in shape) < 1 << 58


def _zero(dtype: np.dtype[Any]) -> Any:
    return b"" if dtype.hasobject else 0


def _static_shape(proto: Any) -> tuple[int, ...]:
    """The shape, if numpy can hold it."""
    shape = shape_list(proto.tensor_shape)
    if shape is None or -1 in shape:
        raise TensorError("The tensor has no known shape.")
    if not fits_numpy(shape):
        raise TensorError(f"The tensor's shape {shape_text(shape)} is too large.")
    return tuple(shape)


def _content(proto: Any, dtype: np.dtype[Any], count: int) -> NDArray[Any]:
    """``tensor_content`` as a flat array that shares its bytes."""
    content = proto.tensor_content
    if dtype.hasobject:
        return decode_strings(content, count)
    if len(content) != count * dtype.itemsize:
        raise TensorError(
            f"tensor_content has {len(content):,} bytes, but {dtype_name(proto.dtype)} "
            f"{shape_text(shape_list(proto.tensor_shape))} needs {count * dtype.itemsize:,}.",
            "The file is damaged, or was cut when it was written.",
        )
    return np.frombuffer(content, dtype)


def decode_strings(content: bytes, count: int) -> NDArray[Any]:
    """Strings packed as ``count`` varint lengths followed by the bytes of all (``port::DecodeStringList``).

    Raises:
        TensorError: the lengths do not add up to the bytes given.
    """
    at, lengths = 0, []
    for _ in range(min(count, len(content) + 1)):
        length, at = read_varint(content, at)
        lengths.append(length)
    if len(lengths) != count or at + sum(lengths) != len(content):
        raise TensorError(f"The packed strings do not fit their {len(content):,} bytes.", "The file is damaged.")
    values = np.empty(count, object)
    for number, length in enumerate(lengths):
        values[number] = content[at : at + length]
        at += length
    return values


def read_varint(data: bytes, at: int) -> tuple[int, int]:
    """A protobuf varint at ``at`` and the position after it.

    Raises:
        TensorError: it runs over the end, or over 64 bits.
    """
    value = shift = 0
    while at < len(data) and shift < 64:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
    raise TensorError("A number in the file runs over its end.", "The file is damaged.")


def listed_values(proto: Any, dtype: np.dtype[Any]) -> NDArray[Any]:
    """The values in the typed field of a TensorProto, flat, as many as there are.

    Narrow integers wrap, as in TensorFlow's casts.
    """
    field = value_field(proto.dtype)
    listed = getattr(proto, field)
    if field == "float8_val":
        return np.frombuffer(listed, dtype)
    if field == "string_val":
        strings = np.empty(len(listed), object)
        strings[:] = list(listed)
        return strings
    values = np.array(listed)
    if field == "half_val":
        return values.astype("<u2").view(dtype)
    if field in ("scomplex_val", "dcomplex_val"):
        return values[: len(values) // 2 * 2].astype(f"<f{dtype.itemsize // 2}").view(dtype)
    return values.astype(dtype)


def value_field(dtype: int) -> str:
    """The field of a TensorProto that lists values of a dtype."""
    return _FIELDS.get(base_dtype(dtype), _OTHER_FIELD)


def base_dtype(dtype: int) -> int:
    """The dtype itself, of a reference too."""
    return dtype - 100 if dtype > 100 else dtype


def describe_tensor(proto: Any) -> str:
    """One short line about a TensorProto: dtype, shape and values; never raises, never allocates a splat."""
    head = f"{dtype_name(proto.dtype)} {shape_text(shape_list(proto.tensor_shape))}"
    if base_dtype(proto.dtype) in (DataType.RESOURCE, DataType.VARIANT):
        return f"{head}: no values to show"
    try:
        values = tensor_value(proto)
    except TensorError as error:
        return f"{head}: {error.message}"
    return f"{head}: {_values_text(values)}"


def _values_text(values: NDArray[Any]) -> str:
    if values.size == 0:
        return "no values"
    if values.size > 1 and not any(values.strides):
        return f"{_value_text(values[(0,) * values.ndim])} repeated"
    shown = ", ".join(_value_text(value) for value in values.reshape(-1)[:_SHOWN])
    if values.size <= _SHOWN:
        return shown
    return f"{shown}, … ({values.size:,} values{_range_text(values)})"


def _range_text(values: NDArray[Any]) -> str:
    """`` from 0 to 5``, or nothing where order means nothing."""
    if values.dtype.hasobject or values.dtype.kind in "bc":
        return ""
    finite = values[np.isfinite(values)]
    odd = values.size - finite.size
    text = f" from {_value_text(finite.min())} to {_value_text(finite.max())}" if finite.size else ""
    return text + (f", {odd:,} not finite" if odd else "")


def _value_text(value: Any) -> str:
    if isinstance(value, bytes):
        text = value[: _SHOWN_TEXT + 1].decode("utf-8", "backslashreplace")
        return repr(text[:_SHOWN_TEXT]) + ("…" if len(value) > _SHOWN_TEXT else "")
    if isinstance(value, (bool, int, np.bool_, np.integer)):
        return str(value)
    return f"{complex(value):.6g}" if isinstance(value, np.complexfloating) else f"{float(value):.6g}"


def shape_text(shape: Sequence[int] | None) -> str:
    """``[2, ?]``, or that nobody knows the rank; a shape of thousands of sizes is cut short."""
    if shape is None:
        return "of unknown rank"
    sizes = ", ".join("?" if size < 0 else str(size) for size in shape[:_MAX_RANK])
    return f"[{sizes}{', …' if len(shape) > _MAX_RANK else ''}]"
