"""The values of a variable in a few numbers: what they lie between, and how they are spread."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

BINS = 40
_LONGEST_TEXT = 60
_SHOWN = 4


@dataclass(frozen=True)
class Values:
    """Numbers about a tensor; None where it has none to give (strings, no elements).

    Attributes:
        count: elements.
        odd: elements that are NaN or infinite; left out of the rest.
        std: standard deviation.
        bars: elements in each of ``BINS`` equal steps from ``least`` to ``most``; fewer for whole numbers.
        sample: the first elements in words.
    """

    count: int
    odd: int = 0
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
    """Look at all elements (25 million float32: 0.3 s).

    Args:
        values: any shape; numbers, booleans, or bytes objects; of complex numbers the magnitude counts.
    """
    flat = values.reshape(-1)
    sample = ", ".join(_text(value) for value in flat[:_SHOWN]) + (" …" if flat.size > _SHOWN else "")
    if flat.dtype.hasobject or not flat.size:
        return Values(flat.size, sample=sample)
    if flat.dtype.kind == "c":
        flat = np.abs(flat)
    numbers = flat.astype(np.float64)  # also of bfloat16 and bool, which numpy's own functions do not take
    finite = numbers[np.isfinite(numbers)]
    odd = numbers.size - finite.size
    if not finite.size:
        return Values(flat.size, odd, sample=sample)
    least, most = float(finite.min()), float(finite.max())
    with np.errstate(over="ignore", invalid="ignore"):
        mean = _finite(finite.mean())
        spread = _finite(np.std(finite))
    zeros = int(finite.size - np.count_nonzero(finite))
    return Values(flat.size, odd, least, most, mean, spread, zeros, _bars(finite, least, most), sample)


def _finite(number: Any) -> float | None:
    """None for what overflowed: JSON knows no infinity."""
    return float(number) if np.isfinite(number) else None


def _bars(finite: NDArray[np.float64], least: float, most: float) -> tuple[int, ...]:
    if most - least in (0.0, float("inf")):
        return (finite.size,)
    width = most - least
    whole = width < BINS and bool(np.all(finite[:1000] == np.round(finite[:1000]))) and least == round(least)
    bins = int(width) + 1 if whole else BINS
    ends = (least - 0.5, most + 0.5) if whole else (least, most)
    return tuple(np.histogram(finite, bins, ends)[0].tolist())


def _text(value: Any) -> str:
    if isinstance(value, bytes):
        text = value[: _LONGEST_TEXT + 1].decode("utf-8", "backslashreplace")
        return repr(text if len(text) <= _LONGEST_TEXT else text[:_LONGEST_TEXT] + "…")
    return f"{value:.4g}" if isinstance(value, (float, np.floating)) else str(value)
