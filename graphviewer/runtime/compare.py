"""How far two outputs are apart."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphviewer.analysis.values import describe_values
from graphviewer.runtime.feeds import shape_text

RELATIVE_TOLERANCE = 1e-4
ABSOLUTE_TOLERANCE = 1e-5


@dataclass(frozen=True)
class Difference:
    """Two values of one output.

    Attributes:
        name: of the output.
        max_abs: largest absolute difference of values that are numbers on both sides; None where none can be told
            (other shapes, unequal strings, an infinity on one side).
        max_rel: largest difference relative to the larger of the two values; None likewise.
        nan_equal: NaN stands in the same places.
        reason: why they count as different, as a sentence without its subject; empty when they are the same.
        shape: of the value before.
        least, most: of its finite numbers; None for strings, and where there are none.
        doubt: why being the same proves little, as a sentence without its subject; empty where it proves something.
    """

    name: str
    max_abs: float | None = None
    max_rel: float | None = None
    nan_equal: bool = True
    reason: str = ""
    shape: tuple[int, ...] = ()
    least: float | None = None
    most: float | None = None
    doubt: str = ""

    @property
    def same(self) -> bool:
        """Equal within the tolerance."""
        return not self.reason

    def to_json(self) -> dict[str, Any]:
        """As the contract has it; what the value is like, ``doubt`` and ``reason`` beside."""
        return {
            "name": self.name,
            "max_abs": self.max_abs,
            "max_rel": self.max_rel,
            "nan_equal": self.nan_equal,
            "shape": list(self.shape),
            "elements": math.prod(self.shape),
            "min": self.least,
            "max": self.most,
            "doubt": self.doubt,
            "reason": self.reason,
        }


def difference(name: str, before: Any, after: Any) -> Difference:
    """Compare two values: exactly for integers, bools and strings, within the tolerance for floats.

    A float may differ by ABSOLUTE_TOLERANCE + RELATIVE_TOLERANCE · |before|. None is a tensor that has no value: it
    lies in a branch that is not taken.
    """
    if before is None or after is None:
        side = "before" if before is None else "after"
        return Difference(name, reason=f"has no value {side}: its branch of a conditional is not taken")
    first, second = np.asarray(before), np.asarray(after)
    least, most = _range(first)
    found = _compared(name, first, second)
    return replace(found, shape=first.shape, least=least, most=most, doubt=_doubt(first) if found.same else "")


def _range(values: NDArray[Any]) -> tuple[float | None, float | None]:
    found = describe_values(values) if values.dtype.kind not in "OSUc" else None
    return (found.least, found.most) if found is not None else (None, None)


def _doubt(values: NDArray[Any]) -> str:
    """Why equal values tell little: there are none, or all are one number, as where an activation saturates."""
    if not values.size:
        return f"has 0 elements (its shape is {shape_text(values.shape)})"
    flat = values.ravel()
    if flat.size == 1 or values.dtype.hasobject or values.dtype.kind in "SU":
        return ""
    if values.dtype.kind in "fc" or values.dtype.kind == "V":
        flat = flat.astype(np.complex128 if values.dtype.kind == "c" else np.float64)
        if np.isnan(flat).all():
            return f"is constant: NaN in all {flat.size:,} elements"
    first = flat[0].item()
    text = str(first) if isinstance(first, bool | int) else f"{first:.6g}"
    return f"is constant: {text} in all {flat.size:,} elements" if (flat == flat[0]).all() else ""


def doubt_of(differences: Sequence[Difference]) -> str:
    """Why nothing is proved although every output is the same: each of them gives reason to doubt; else empty."""
    if not differences or not all(one.doubt for one in differences):
        return ""
    first, others = differences[0], len(differences) - 1
    more = f", and the other {others:,} are no better" if others else ""
    return f"'{first.name}' {first.doubt}{more}"


def _compared(name: str, first: NDArray[Any], second: NDArray[Any]) -> Difference:
    if first.shape != second.shape:
        shapes = f"{shape_text(first.shape)} before and {shape_text(second.shape)} after"
        return Difference(name, reason=f"has the shape {shapes}")
    if first.dtype != second.dtype:
        return Difference(name, reason=f"is {first.dtype} before and {second.dtype} after")
    if first.dtype.hasobject or first.dtype.kind in "SU":
        return _strings(name, first, second)
    return _integers(name, first, second) if first.dtype.kind in "biu" else _floats(name, first, second)


def _strings(name: str, first: NDArray[Any], second: NDArray[Any]) -> Difference:
    unequal = int(np.count_nonzero(first != second))
    if unequal:
        return Difference(name, reason=f"has {unequal:,} other strings of {first.size:,}")
    return Difference(name, 0.0, 0.0)


def _integers(name: str, first: NDArray[Any], second: NDArray[Any]) -> Difference:
    unequal = np.flatnonzero(first.ravel() != second.ravel())
    if not unequal.size:
        return Difference(name, 0.0, 0.0)
    one, other = (values.ravel()[unequal].astype(np.float64) for values in (first, second))
    apart = np.maximum(np.abs(one - other), 1)  # float64 merges large int64
    larger = np.maximum(np.maximum(np.abs(one), np.abs(other)), 1)
    count = f"{unequal.size:,} of {first.size:,} values"
    return Difference(name, float(apart.max()), float((apart / larger).max()), reason=f"has {count} that differ")


def _floats(name: str, first: NDArray[Any], second: NDArray[Any]) -> Difference:
    wide = np.complex128 if first.dtype.kind == "c" else np.float64
    one, other = first.astype(wide).ravel(), second.astype(wide).ravel()
    nan = np.isnan(one), np.isnan(other)
    nan_equal = bool(np.array_equal(*nan))
    numbers = ~(nan[0] | nan[1]) & (one != other)  # equal infinities are equal
    one, other = one[numbers], other[numbers]
    with np.errstate(invalid="ignore", over="ignore"):
        apart = np.abs(one - other)
        relative = apart / np.maximum(np.abs(one), np.abs(other))
        beyond = int(np.count_nonzero(~(apart <= ABSOLUTE_TOLERANCE + RELATIVE_TOLERANCE * np.abs(one))))
        beyond = max(beyond, int(np.count_nonzero(~np.isfinite(apart))))
    max_abs, max_rel = _largest(apart), _largest(relative)
    reason = ""
    if not nan_equal:
        reason = f"has {nan[0].sum():,} NaN before and {nan[1].sum():,} after, not in the same places"
    elif beyond:
        size = "infinitely" if max_abs is None else f"by up to {max_abs:.3g}"
        reason = f"differs {size} in {beyond:,} of {first.size:,} values"
    return Difference(name, max_abs, max_rel, nan_equal, reason)


def _largest(values: NDArray[Any]) -> float | None:
    largest = float(values.max()) if values.size else 0.0
    return largest if math.isfinite(largest) else None


def largest(differences: Iterable[Difference]) -> float:
    """The largest absolute difference among outputs that can be told."""
    return max((one.max_abs for one in differences if one.max_abs is not None), default=0.0)
