"""Constants compared and described: equal by meaning, shown as digests and statistics, never as bytes.

A splat (one value repeated, of any declared size) is looked at once, whatever its size.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphviewer.analysis.diff.excerpts import common_length, excerpts
from graphviewer.model.tensors import TensorError, describe_tensor, shape_list, tensor_value
from graphviewer.protos import dtype_name

_CHUNK = 1 << 20
_LONG_STRING = 60  # bytes of a string that are shown whole
_STRANGE: Mapping[str, str] = MappingProxyType(
    {
        "nan_on_one_side": "a NaN on one side",
        "other_nan": "NaNs of other bits",
        "infinite": "an infinite difference",
    }
)
"""Differences that no number tells, as keys of a distance and in words."""

Values = NDArray[Any]


def same_tensor(before: Any, after: Any) -> bool:
    """Whether two TensorProtos hold the same values, however they are encoded; NaN equals NaN of the same bits."""
    if before.SerializeToString(deterministic=True) == after.SerializeToString(deterministic=True):
        return True
    if before.dtype != after.dtype or shape_list(before.tensor_shape) != shape_list(after.tensor_shape):
        return False
    try:
        left, right = tensor_value(before), tensor_value(after)
    except TensorError:
        return False
    return same_values(left, right)


def value_facts(proto: Any) -> dict[str, Any]:
    """What a script or a person may want to know of a tensor: dtype, shape, digest, statistics, a short text."""
    facts: dict[str, Any] = {"dtype": dtype_name(proto.dtype), "shape": shape_list(proto.tensor_shape)}
    facts["text"] = describe_tensor(proto)
    try:
        values = tensor_value(proto)
    except TensorError as error:
        return {**facts, "problem": error.message}
    return {**facts, **summary(values)}


def summary(values: Values) -> dict[str, Any]:
    """Digest and statistics of an array."""
    return {"digest": digest(values), **_statistics(values)}


def difference(before: Any, after: Any) -> dict[str, Any]:
    """How far two tensors of one shape are apart; empty where that has no meaning."""
    try:
        return distance(tensor_value(before), tensor_value(after))
    except TensorError:
        return {}


def string_texts(before: Any, after: Any) -> tuple[str, str] | None:
    """Two long strings that differ as one short text each; None for tensors that are not one string each.

    Bytes that are no text are told by their number; of texts, the part where they begin to differ is shown.
    """
    try:
        sides = [tensor_value(proto) for proto in (before, after)]
    except TensorError:
        return None
    if any(side.size != 1 or not side.dtype.hasobject for side in sides):
        return None
    old, new = (bytes(side.reshape(-1)[0]) for side in sides)
    if max(len(old), len(new)) <= _LONG_STRING:
        return None
    texts = _as_text(old), _as_text(new)
    if texts[0] is None or texts[1] is None:
        return f"{len(old):,} bytes", f"{len(new):,} bytes"
    shown = excerpts(texts[0], texts[1], _LONG_STRING)
    return repr(shown[0]), repr(shown[1])


def _as_text(value: bytes) -> str | None:
    """A string as a text; None where it holds what is no text."""
    try:
        text = value.decode()
    except UnicodeDecodeError:
        return None
    return text if text.isprintable() or all(one.isprintable() or one in "\t\n\r" for one in text) else None


def same_values(left: Values, right: Values) -> bool:
    """Whether two arrays of one shape and dtype hold the same; NaN equals NaN of the same bits, 0 is not -0."""
    return all(np.array_equal(_bits(a), _bits(b)) for a, b in _chunks(left, right))


def distance(left: Values, right: Values) -> dict[str, Any]:
    """How far two arrays of one shape are apart; empty where that has no meaning."""
    if left.shape != right.shape or left.dtype != right.dtype:
        return {}
    weight = left.size if _is_splat(left) and _is_splat(right) else 1
    differing, largest, strange = 0, 0.0, dict.fromkeys(_STRANGE, 0)
    for a, b in _chunks(left, right):
        differs = _differs(a, b)
        differing += int(np.count_nonzero(differs)) * weight
        if _is_number(left):
            with np.errstate(invalid="ignore", over="ignore"):
                apart = np.abs(_wide(a) - _wide(b))
            finite = np.isfinite(apart)
            largest = max(largest, float(apart[finite].max(initial=0.0)))
            for kind, count in _strange(a, b, differs & ~finite).items():
                strange[kind] += count * weight
    found: dict[str, Any] = {"elements": left.size, "differing": differing}
    if left.size == 1 and left.dtype.hasobject:
        found["from_byte"] = common_length(bytes(left.reshape(-1)[0]), bytes(right.reshape(-1)[0]))
    found |= {kind: count for kind, count in strange.items() if count}
    return {**found, "max_abs": largest} if _is_number(left) else found


def _strange(a: Values, b: Values, which: Values) -> dict[str, int]:
    """How many of the chosen elements are a NaN on one side, NaNs of other bits, or apart by infinity."""
    if not which.any():
        return {}
    first, second = np.isnan(_wide(a[which])), np.isnan(_wide(b[which]))
    one, both = int(np.count_nonzero(first ^ second)), int(np.count_nonzero(first & second))
    return {"nan_on_one_side": one, "other_nan": both, "infinite": len(first) - one - both}


def told(apart: Mapping[str, Any]) -> str:
    """``1 of 3 elements: a NaN on one side``, ``all elements, by up to 0.5``: a distance in words."""
    share = "all" if apart["differing"] == apart["elements"] else f"{apart['differing']:,} of {apart['elements']:,}"
    return f"{share} elements{far(apart)}"


def far(apart: Mapping[str, Any]) -> str:
    """How far, as the end of a sentence that says how many; empty for what is not told in numbers."""
    strange = {kind: apart[kind] for kind in _STRANGE if kind in apart}
    by = f", by up to {apart['max_abs']:.6g}" if "max_abs" in apart else ""
    if not strange:
        return by
    if len(strange) == 1 and sum(strange.values()) == apart["differing"]:
        return f": {_STRANGE[next(iter(strange))]}"
    counts = ", ".join(f"{count:,} with {_STRANGE[kind]}" for kind, count in strange.items())
    return f"{by if sum(strange.values()) < apart['differing'] else ''}: {counts}"


def _is_splat(values: Values) -> bool:
    return not any(stride for stride, size in zip(values.strides, values.shape, strict=True) if size > 1)


def _flat(values: Values) -> Values:
    """All values in a row; of a splat only the one, and nothing of an empty tensor."""
    if values.size > 1 and _is_splat(values):
        return values[(slice(1),) * values.ndim].reshape(-1)
    return values.reshape(-1)


def _chunks(left: Values, right: Values) -> Iterator[tuple[Values, Values]]:
    """Equal-sized pieces of two tensors of one shape; a splat against a splat is one element."""
    a, b = _flat(left), _flat(right)
    for start in range(0, max(len(a), len(b)), _CHUNK):
        stop = min(start + _CHUNK, max(len(a), len(b)))
        yield (_piece(a, left.size, start, stop), _piece(b, right.size, start, stop))


def _piece(flat: Values, size: int, start: int, stop: int) -> Values:
    return np.broadcast_to(flat, stop - start) if len(flat) == 1 and size > 1 else flat[start:stop]


def _bits(values: Values) -> Values:
    """Raw bytes to compare, so that NaN equals NaN and 0 differs from -0."""
    return values if values.dtype.hasobject else np.ascontiguousarray(values).view(np.uint8)


def _differs(a: Values, b: Values) -> Values:
    if a.dtype.hasobject:
        return np.asarray(a != b)
    left, right = (_bits(values).reshape(len(values), -1) for values in (a, b))
    return np.asarray((left != right).any(axis=1))


def _is_number(values: Values) -> bool:
    return not values.dtype.hasobject and values.dtype.kind != "b"


def _wide(values: Values) -> Values:
    return values.astype(np.complex128 if values.dtype.kind == "c" else np.float64)


def digest(values: Values) -> str:
    """SHA-256 over shape, dtype and values; a tensor of equal values has the digest of the splat."""
    flat = _flat(values)
    if len(flat) > 1 and all(np.array_equal(_bits(a), _bits(b)) for a, b in _chunks(flat, _like_first(flat))):
        flat = flat[:1]
    found = hashlib.sha256(f"{values.dtype.name}{values.shape}".encode())
    if values.dtype.hasobject:
        for value in flat.tolist():
            found.update(f"{len(value)}:".encode() + value)
    else:
        for start in range(0, len(flat), _CHUNK):
            found.update(np.ascontiguousarray(flat[start : start + _CHUNK]).view(np.uint8).data)
    return "sha256:" + found.hexdigest()[:32]


def _like_first(flat: Values) -> Values:
    return np.broadcast_to(flat[0:1], flat.shape)


def _statistics(values: Values) -> dict[str, Any]:
    """Extremes and mean of the finite values, and how many are not finite; only their number for other dtypes."""
    facts: dict[str, Any] = {"elements": values.size}
    if not _is_number(values) or values.dtype.kind == "c" or not values.size:
        return facts
    flat = _flat(values)
    low, high, total, count = math.inf, -math.inf, 0.0, 0
    for start in range(0, len(flat), _CHUNK):
        piece = _wide(flat[start : start + _CHUNK])
        finite = piece[np.isfinite(piece)]
        if finite.size:
            low, high = min(low, float(finite.min())), max(high, float(finite.max()))
            with np.errstate(over="ignore"):
                total, count = total + float(finite.sum()), count + finite.size
    if count:
        facts |= {"min": low, "max": high, "mean": _finite(total / count)}
    if count < len(flat):
        facts["not_finite"] = (len(flat) - count) * (values.size // len(flat))
    return facts


def _finite(number: float) -> float | None:
    """JSON knows no infinity: a mean that overflowed is None."""
    return number if math.isfinite(number) else None
