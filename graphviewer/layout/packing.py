"""Blocks beside and below each other, in their given order: what grows pushes the others away, but never past it."""

from math import ceil, sqrt

import numpy as np

from graphviewer.layout.arrays import Floats

ASPECT = 1.6
"""Breadth over length that a packing aims for."""
TALLER = 3.0
"""A block this many times longer than the shelf so far begins its own: beside it would be an empty column."""
CELL_ASPECT = 3.0
"""Breadth over length of an ordinary box with its gaps."""


def shelves(breadth: Floats, length: Floats, gap: float) -> tuple[Floats, Floats]:
    """Places for blocks: on shelves from start to end, and on a shelf in columns as long as its first block.

    Args:
        breadth, length: float64 [blocks].
        gap: free room between blocks.

    Returns:
        Offsets across and along [blocks], from 0.
    """
    area = float(((breadth + gap) * (length + gap)).sum())
    limit = max(float(breadth.max(initial=0)), sqrt(area * ASPECT))
    across, along = [], []
    shelf = column = used = wide = deep = 0.0
    for block, (size, depth) in enumerate(zip(breadth.tolist(), length.tolist(), strict=True)):
        if block and used + depth > deep:
            column, used, wide = column + wide + gap, 0.0, 0.0
        if column and (column + size > limit or depth > TALLER * deep):
            shelf, column, used, wide, deep = shelf + deep + gap, 0.0, 0.0, 0.0, 0.0
        across.append(column)
        along.append(shelf + used)
        used += depth + gap
        wide, deep = max(wide, size), max(deep, used - gap)
    return np.array(across), np.array(along)


def grid(breadth: Floats, length: Floats, gap: float) -> tuple[Floats, Floats]:
    """Places for boxes that nothing connects: line by line, columns as broad and lines as long as their largest box.

    The number of columns depends on the number of boxes only, so a box that grows moves no other to another line.

    Returns:
        Offsets across and along [boxes], from 0.
    """
    count = len(breadth)
    columns = max(1, ceil(sqrt(count * ASPECT / CELL_ASPECT)))
    line, column = np.divmod(np.arange(count), columns)
    broad, deep = np.zeros(columns), np.zeros(ceil(count / columns))
    np.maximum.at(broad, column, breadth)
    np.maximum.at(deep, line, length)
    return (np.cumsum(broad + gap) - broad - gap)[column], (np.cumsum(deep + gap) - deep - gap)[line]
