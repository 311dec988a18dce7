"""Parts of a large array that is in a file: a picture, some cells, the largest values. No more is read than is shown.

Everything here may take a while on a large file and runs in a background thread.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphviewer.errors import ReadError

MOST_ROWS, MOST_COLUMNS = 200, 40
_SIDE = 1024  # pixels; what is larger is shown by every second, third, ... pixel
_LEAST_SIDE = 4
_MOST_AXES = 4
_BLOCK = 1 << 20
_LONGEST_TEXT = 60


class Axes(NamedTuple):
    """Which axes of an array are what: ``NHWC``. None for one that is not there."""

    name: str
    height: int
    width: int
    batch: int | None = None
    channel: int | None = None


_AXES = {
    2: (Axes("HW", 0, 1),),
    3: (Axes("HWC", 0, 1, None, 2), Axes("CHW", 1, 2, None, 0)),
    4: (Axes("NHWC", 1, 2, 0, 3), Axes("NCHW", 2, 3, 0, 1)),
}


class Picture(NamedTuple):
    """Pixels to show.

    Attributes:
        pixels: uint8, [height, width] or [height, width, 3].
        least, most: the values that are black and white.
        odd: pixels that are NaN or infinite, shown black.
        step: one of how many rows and columns is shown.
    """

    pixels: NDArray[np.uint8]
    least: float
    most: float
    odd: int
    step: int


class Cells(NamedTuple):
    """A two-dimensional slice in words, its first rows and columns, and how many there are."""

    rows: list[list[str]]
    height: int
    width: int


def read(file: Path) -> NDArray[Any]:
    """The array of a ``.npy`` file, mapped: only the parts that are looked at are read.

    Raises:
        ReadError: the file went away, or is none.
    """
    try:
        try:
            found: NDArray[Any] = np.load(file, mmap_mode="r", allow_pickle=False)
        except ValueError:  # nothing can be mapped where there is no element
            found = np.load(file, allow_pickle=False)
    except (OSError, ValueError) as error:
        raise ReadError("The values of this run are no longer there.", "Run it again.") from error
    return found


def image_axes(shape: Sequence[int]) -> list[Axes]:
    """How an array can be read as an image or several, the most likely way first; empty where it can not."""

    def fits(axes: Axes) -> bool:
        return min(shape[axes.height], shape[axes.width]) >= _LEAST_SIDE and 0 not in shape

    def likely(axes: Axes) -> tuple[bool, bool]:
        channels = 1 if axes.channel is None else shape[axes.channel]
        return channels not in (1, 3), shape[axes.height] != shape[axes.width]

    return sorted(filter(fits, _AXES.get(len(shape), ())), key=likely)


def picture(array: NDArray[Any], axes: Axes, batch: int, channel: int | None) -> Picture:
    """One image of an array, its least value black and its greatest white.

    Args:
        array: numbers.
        axes: how to read it.
        batch: which image.
        channel: which channel in grey; None: the first three as red, green and blue, on one scale.
    """
    step = math.ceil(max(array.shape[axes.height], array.shape[axes.width]) / _SIDE)
    parts: list[int | slice] = [0] * array.ndim
    parts[axes.height] = parts[axes.width] = slice(None, None, step)
    if axes.batch is not None:
        parts[axes.batch] = batch
    if axes.channel is not None:
        parts[axes.channel] = slice(0, 3) if channel is None else channel
    taken = array[tuple(parts)]
    if taken.ndim == 3 and axes.channel is not None and axes.channel < axes.height:
        taken = np.moveaxis(taken, 0, 2)
    values = _real(taken)
    finite = np.isfinite(values)
    shown = values[finite]
    least, most = (float(shown.min()), float(shown.max())) if shown.size else (0.0, 0.0)
    with np.errstate(all="ignore"):
        scaled = (
            (values / 2 - least / 2) / (most / 2 - least / 2) * 255 if most > least else np.full(values.shape, 128.0)
        )
    pixels = np.where(finite, scaled, 0.0).round().astype(np.uint8)
    return Picture(np.ascontiguousarray(pixels), least, most, int(values.size - shown.size), step)


def _real(values: NDArray[Any]) -> NDArray[np.float64]:
    return (np.abs(values) if values.dtype.kind == "c" else values).astype(np.float64)


def leading_axes(shape: Sequence[int]) -> tuple[int, ...]:
    """Sizes of the axes before the last two, of which a table shows one slice; of many, the first count as one."""
    leading = tuple(shape[:-2])
    if len(leading) <= _MOST_AXES:
        return leading
    return (math.prod(leading[: 1 - _MOST_AXES]), *leading[1 - _MOST_AXES :])


def cells(array: NDArray[Any], slice_: Sequence[int]) -> Cells:
    """The first rows and columns of a two-dimensional slice; a vector is one column.

    Args:
        array: any shape and dtype.
        slice_: index along each of ``leading_axes``.
    """
    plane = array.reshape(-1, 1) if array.ndim < 2 else array.reshape(*leading_axes(array.shape), *array.shape[-2:])
    if array.ndim > 2:
        plane = plane[tuple(slice_)]
    height, width = plane.shape
    return Cells([[text(one) for one in row] for row in plane[:MOST_ROWS, :MOST_COLUMNS].tolist()], height, width)


def largest(array: NDArray[Any], row: int, count: int) -> list[tuple[int, str]]:
    """The largest values along the last axis, with their index; NaN counts as the least.

    Args:
        array: real numbers, at least one axis.
        row: which vector, counted over all axes but the last.
        count: how many.
    """
    vector = array.reshape(-1, array.shape[-1])[row]
    best = np.empty(0, np.int64)
    for start in range(0, vector.size, _BLOCK):
        near = np.concatenate([best, np.arange(start, min(start + _BLOCK, vector.size))])
        values = _real(vector[near])
        order = np.argsort(-np.where(np.isnan(values), -np.inf, values), kind="stable")
        best = near[order[:count]]
    return [(int(at), text(vector[at].item())) for at in best]


def text(value: Any) -> str:
    """A value as a cell shows it."""
    if isinstance(value, bytes):
        words = value[: _LONGEST_TEXT + 1].decode("utf-8", "backslashreplace")
        return words if len(words) <= _LONGEST_TEXT else words[:_LONGEST_TEXT] + "…"
    return f"{value:.6g}" if isinstance(value, float | complex) else str(value)
