"""The values of a variable in a few numbers: what they lie between, and how they are spread."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

BINS = 40
_BLOCK = 1 << 22
_LONGEST_TEXT = 60
_SHOWN = 4


@dataclass(frozen=True)
class Values:
    """Numbers about a tensor; None where it has none to give (strings, no elements).

    Attributes:
        count: elements.
        odd: elements that are NaN or infinite; left out of the rest.
        nan: how many of those are NaN.
        std: standard deviation.
        bars: elements in each of ``BINS`` equal steps from ``least`` to ``most``; fewer for whole numbers.
        sample: the first elements in words.
    """

    count: int
    odd: int = 0
    nan: int = 0
    least: float | None = None
    most: float | None = None
    mean: float | None = None
    std: float | None = None
    zeros: int = 0
    bars: tuple[int, ...] = ()
    sample: str = ""

    def to_json(self) -> dict[str, Any]:
        """As JSON."""
        return asdict(self)


def describe_values(values: NDArray[Any]) -> Values:
    """Look at all elements, a block at a time: what it takes does not grow with the tensor (25 million float32: 0.3 s).

    Args:
        values: any shape; numbers, booleans, or bytes objects; of complex numbers the magnitude counts.
    """
    flat = values.reshape(-1)
    sample = ", ".join(_text(value) for value in flat[:_SHOWN]) + (" …" if flat.size > _SHOWN else "")
    if flat.dtype.hasobject or flat.dtype.kind in "SU" or not flat.size:
        return Values(flat.size, sample=sample)
    nan = count = zeros = 0
    least, most, total = float("inf"), float("-inf"), 0.0
    for numbers in _blocks(flat):
        nan += int(np.count_nonzero(np.isnan(numbers)))
        finite = numbers[np.isfinite(numbers)]
        count += finite.size
        zeros += int(finite.size - np.count_nonzero(finite))
        if finite.size:
            least, most = min(least, float(finite.min())), max(most, float(finite.max()))
            with np.errstate(over="ignore"):
                total += float(finite.sum())
    odd = flat.size - count
    if not count:
        return Values(flat.size, odd, nan, sample=sample)
    mean = total / count
    square, bars = _spread(flat, mean, least, most)
    return Values(flat.size, odd, nan, least, most, _finite(mean), _finite(square**0.5), zeros, bars, sample)


def _blocks(flat: NDArray[Any]) -> Iterator[NDArray[np.float64]]:
    """The elements as float64: also of bfloat16 and bool, which numpy's own functions do not take."""
    for start in range(0, flat.size, _BLOCK):
        block = flat[start : start + _BLOCK]
        yield (np.abs(block) if block.dtype.kind == "c" else block).astype(np.float64)


def _spread(flat: NDArray[Any], mean: float, least: float, most: float) -> tuple[float, tuple[int, ...]]:
    """The variance of the finite elements, and how many are in each of equal steps."""
    square, count, steps = 0.0, 0, None
    bars: NDArray[np.int64] | None = None
    for numbers in _blocks(flat):
        finite = numbers[np.isfinite(numbers)]
        if not finite.size:
            continue
        steps = _steps(finite, least, most) if steps is None else steps
        count += finite.size
        with np.errstate(over="ignore", invalid="ignore"):
            square += float(np.square(finite - mean).sum())
        found = np.histogram(finite, *steps)[0] if steps else np.array([finite.size])
        bars = found if bars is None else bars + found
    return square / count, tuple(bars.tolist()) if bars is not None else ()


def _finite(number: float) -> float | None:
    """None for what overflowed: JSON knows no infinity."""
    return number if isfinite(number) else None


def _steps(finite: NDArray[np.float64], least: float, most: float) -> tuple[int, tuple[float, float]] | None:
    """Number and ends of the bars; None where there can be but one. Whole numbers get a bar each."""
    width = most - least
    if width in (0.0, float("inf")):
        return None
    whole = width < BINS and bool(np.all(finite[:1000] == np.round(finite[:1000]))) and least == round(least)
    return (int(width) + 1, (least - 0.5, most + 0.5)) if whole else (BINS, (least, most))


def _text(value: Any) -> str:
    if isinstance(value, bytes):
        text = value[: _LONGEST_TEXT + 1].decode("utf-8", "backslashreplace")
        return repr(text if len(text) <= _LONGEST_TEXT else text[:_LONGEST_TEXT] + "…")
    return f"{value:.4g}" if isinstance(value, (float, np.floating)) else str(value)
