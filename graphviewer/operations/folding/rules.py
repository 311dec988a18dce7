"""The value of an op from the values of its inputs, for ops whose result is exact.

Integers are computed without wrapping, and an overflow is no result; floating point values are moved and compared,
never computed with, for TensorFlow's kernels round and flush in ways of their own. A rule that is unsure gives None.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphviewer.model.tensors import TensorError, numpy_dtype

Array = NDArray[Any]
Arrays = Sequence[Array]
Rule = Callable[[Any, Arrays], "list[Array] | None"]

MOST_ELEMENTS = 1_024
"""Larger values are left alone: folding is for shapes, axes and conditions."""


def compute(node: Any, inputs: Arrays) -> list[Array] | None:
    """The outputs of a node; None when the op is not among ``RULES``, or its result is not certain.

    Args:
        node: NodeDef.
        inputs: values of its data inputs, in TensorFlow's dtypes.
    """
    rule = RULES.get(node.op)
    if rule is None or sum(value.size for value in inputs) > 4 * MOST_ELEMENTS:
        return None
    try:
        found = rule(node, inputs)
    except (ValueError, IndexError, TypeError, OverflowError, TensorError):
        return None  # TensorFlow refuses such inputs too, when it runs the node
    if found is None or any(value.size > MOST_ELEMENTS for value in found):
        return None
    return found


def _small(*inputs: Array) -> bool:
    """What the inputs broadcast to is small; raises ValueError where they do not."""
    return math.prod(np.broadcast_shapes(*(value.shape for value in inputs))) <= MOST_ELEMENTS


def _is_integer(value: Array) -> bool:
    return value.dtype.kind in "iu"


def _integers(values: Any, dtype: np.dtype[Any]) -> list[Array] | None:
    """Exact integers in a dtype; None when one does not fit."""
    exact = np.asarray(values, object)
    limits = np.iinfo(dtype)
    if exact.size and not (limits.min <= exact.min() and exact.max() <= limits.max):
        return None
    return [exact.astype(dtype)]


def _arithmetic(function: Callable[[Any, Any], Any], *, divides: bool = False) -> Rule:
    def rule(node: Any, inputs: Arrays) -> list[Array] | None:
        left, right = inputs
        if not _is_integer(left) or left.dtype != right.dtype or (divides and not right.all()) or not _small(*inputs):
            return None
        return _integers(function(left.astype(object), right.astype(object)), left.dtype)

    return rule


def _extreme(function: Callable[[Any, Any], Any]) -> Rule:
    def rule(node: Any, inputs: Arrays) -> list[Array] | None:
        left, right = inputs
        fits = _is_integer(left) and left.dtype == right.dtype and _small(left, right)
        return [function(left, right)] if fits else None

    return rule


def _negative(node: Any, inputs: Arrays) -> list[Array] | None:
    return _integers(-inputs[0].astype(object), inputs[0].dtype) if _is_integer(inputs[0]) else None


def _comparison(function: Callable[[Any, Any], Any]) -> Rule:
    def rule(node: Any, inputs: Arrays) -> list[Array] | None:
        left, right = inputs
        if left.dtype != right.dtype or not (_is_plain(left) and _is_plain(right)) or not _small(left, right):
            return None
        return [np.asarray(function(left, right), bool)]

    return rule


def _is_plain(value: Array) -> bool:
    """Compares alike everywhere: no strings, no NaN, and no number so small that TensorFlow takes it for zero."""
    if value.dtype.kind in "iub":
        return True
    if value.dtype not in (np.float32, np.float64):
        return False
    return bool(np.all((value == 0) | (np.abs(value) >= np.finfo(value.dtype).tiny)))


def _logical(function: Callable[..., Any]) -> Rule:
    def rule(node: Any, inputs: Arrays) -> list[Array] | None:
        fits = all(value.dtype == bool for value in inputs) and _small(*inputs)
        return [np.asarray(function(*inputs), bool)] if fits else None

    return rule


def _cast(node: Any, inputs: Arrays) -> list[Array] | None:
    """Only where no digit is lost."""
    value, target = inputs[0], numpy_dtype(node.attr["DstT"].type)
    if value.dtype == target:
        return [value]
    if value.dtype.kind not in "iub" or (target.kind not in "iub" and target not in (np.float32, np.float64)):
        return None
    if target.kind in "iu":
        return _integers(value.astype(object) if value.dtype.kind != "b" else value.astype(int), target)
    cast = value.astype(target)
    if target.kind == "f" and value.size and any(int(a) != int(b) for a, b in zip(value.flat, cast.flat, strict=True)):
        return None
    return [cast]


def _reduction(function: Callable[..., Any]) -> Rule:
    def rule(node: Any, inputs: Arrays) -> list[Array] | None:
        value, axes = inputs
        keep = bool(node.attr["keep_dims"].b)
        if not (_is_integer(value) or value.dtype == bool) or not value.size:
            return None
        axis = tuple(int(one) for one in axes.reshape(-1))
        if value.dtype == bool:
            return [np.asarray(function(value, axis=axis, keepdims=keep), bool)]
        return _integers(function(value.astype(object), axis=axis, keepdims=keep), value.dtype)

    return rule


# Moving values about


def _same(node: Any, inputs: Arrays) -> list[Array]:
    return [inputs[0]]


def _reshape(node: Any, inputs: Arrays) -> list[Array] | None:
    value, sizes = inputs
    shape = [int(size) for size in sizes]
    if sizes.ndim != 1 or min(shape, default=0) < -1 or 0 in shape:
        return None
    return [value.reshape(shape)]


def _pack(node: Any, inputs: Arrays) -> list[Array] | None:
    return [np.stack(inputs, axis=int(node.attr["axis"].i))] if len({value.dtype for value in inputs}) == 1 else None


def _unpack(node: Any, inputs: Arrays) -> list[Array] | None:
    axis, value = int(node.attr["axis"].i), inputs[0]
    if value.shape[axis] != node.attr["num"].i:
        return None
    return [np.take(value, at, axis) for at in range(value.shape[axis])]


def _concat(node: Any, inputs: Arrays) -> list[Array] | None:
    *values, axis = inputs
    if axis.ndim or len({value.dtype for value in values}) != 1 or min(value.ndim for value in values) < 1:
        return None
    return [np.concatenate(values, int(axis))]


def _strided_slice(node: Any, inputs: Arrays) -> list[Array] | None:
    """Source: tensorflow/core/util/strided_slice_op.cc; numpy's own slices mean the same."""
    value, begin, end, strides = inputs
    masks = {name: int(node.attr[name].i) for name in _MASKS}
    if bin(masks["ellipsis_mask"]).count("1") > 1:
        return None
    index: list[Any] = []
    for at in range(len(begin)):
        bit = 1 << at
        if masks["ellipsis_mask"] & bit:
            index.append(Ellipsis)
        elif masks["new_axis_mask"] & bit:
            index.append(np.newaxis)
        elif masks["shrink_axis_mask"] & bit:
            if masks["begin_mask"] & bit or strides[at] <= 0:
                return None
            index.append(int(begin[at]))
        else:
            start = None if masks["begin_mask"] & bit else int(begin[at])
            stop = None if masks["end_mask"] & bit else int(end[at])
            index.append(slice(start, stop, int(strides[at])))
    return [np.asarray(value[tuple(index)])]


_MASKS = ("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask")


def _slice(node: Any, inputs: Arrays) -> list[Array] | None:
    value, begin, size = inputs
    index = []
    for start, count, length in zip(begin.tolist(), size.tolist(), value.shape, strict=True):
        stop = length if count == -1 else start + count
        if not 0 <= start <= stop <= length:
            return None
        index.append(slice(start, stop))
    return [value[tuple(index)]]


def _gather(node: Any, inputs: Arrays) -> list[Array] | None:
    value, indices = inputs[:2]
    axis = int(inputs[2]) if len(inputs) > 2 else 0
    if node.attr["batch_dims"].i or (indices.size and not 0 <= indices.min() <= indices.max() < value.shape[axis]):
        return None
    if indices.size * value.size > MOST_ELEMENTS * max(value.shape[axis], 1):
        return None
    return [np.asarray(np.take(value, indices.astype(np.int64), axis))]


def _expand(node: Any, inputs: Arrays) -> list[Array] | None:
    return [np.expand_dims(inputs[0], int(inputs[1].reshape(())))]


def _squeeze(node: Any, inputs: Arrays) -> list[Array] | None:
    axes = tuple(int(axis) for axis in node.attr["squeeze_dims"].list.i)
    return [np.squeeze(inputs[0], axes or None)]


def _transpose(node: Any, inputs: Arrays) -> list[Array] | None:
    value, order = inputs
    if sorted(order.tolist()) != list(range(value.ndim)):
        return None
    return [np.transpose(value, order.tolist()).copy()]


def _fill(node: Any, inputs: Arrays) -> list[Array] | None:
    sizes, value = inputs
    shape = [int(size) for size in sizes]
    if value.ndim or min(shape, default=0) < 0 or math.prod(shape) > MOST_ELEMENTS:
        return None
    return [np.broadcast_to(value, shape)]


def _range(node: Any, inputs: Arrays) -> list[Array] | None:
    start, limit, delta = (value.reshape(()) for value in inputs)
    if not _is_integer(start) or not delta:
        return None
    numbers = range(int(start), int(limit), int(delta))
    if len(numbers) > MOST_ELEMENTS or (int(limit) - int(start)) * int(delta) < 0:
        return None
    return [np.array(numbers, start.dtype)]


def _select(node: Any, inputs: Arrays) -> list[Array] | None:
    condition, first, second = inputs
    if condition.dtype != bool or first.dtype != second.dtype or not _small(condition, first, second):
        return None
    if node.op == "Select" and not (condition.ndim == 0 and first.shape == second.shape):
        return None
    return [np.where(condition, first, second)]


def _filled(value: int) -> Rule:
    return lambda node, inputs: (
        [np.full(inputs[0].shape, value, inputs[0].dtype)] if inputs[0].dtype.kind in "iubf" else None
    )


RULES: Mapping[str, Rule] = MappingProxyType(
    {
        **dict.fromkeys(("Identity", "Snapshot", "StopGradient"), _same),
        **dict.fromkeys(("Add", "AddV2"), _arithmetic(lambda a, b: a + b)),
        "Sub": _arithmetic(lambda a, b: a - b),
        "Mul": _arithmetic(lambda a, b: a * b),
        "FloorDiv": _arithmetic(lambda a, b: a // b, divides=True),
        "FloorMod": _arithmetic(lambda a, b: a % b, divides=True),
        "Maximum": _extreme(np.maximum),
        "Minimum": _extreme(np.minimum),
        "Neg": _negative,
        "Equal": _comparison(np.equal),
        "NotEqual": _comparison(np.not_equal),
        "Less": _comparison(np.less),
        "LessEqual": _comparison(np.less_equal),
        "Greater": _comparison(np.greater),
        "GreaterEqual": _comparison(np.greater_equal),
        "LogicalAnd": _logical(np.logical_and),
        "LogicalOr": _logical(np.logical_or),
        "LogicalNot": _logical(np.logical_not),
        "Cast": _cast,
        "Sum": _reduction(np.sum),
        "Prod": _reduction(np.prod),
        "Max": _reduction(np.max),
        "Min": _reduction(np.min),
        "All": _reduction(np.all),
        "Any": _reduction(np.any),
        "Reshape": _reshape,
        "Pack": _pack,
        "Unpack": _unpack,
        "ConcatV2": _concat,
        "StridedSlice": _strided_slice,
        "Slice": _slice,
        **dict.fromkeys(("Gather", "GatherV2"), _gather),
        "ExpandDims": _expand,
        "Squeeze": _squeeze,
        "Transpose": _transpose,
        "Fill": _fill,
        "Range": _range,
        **dict.fromkeys(("Select", "SelectV2"), _select),
        "ZerosLike": _filled(0),
        "OnesLike": _filled(1),
    }
)
"""By op. ``Rank``, ``Shape``, ``Size`` and ``ShapeN`` need shapes, not values: see ``known``."""
