"""The lines of edges. Their points lie on the edges of rows, so no line can cross a box."""

import numpy as np

from graphviewer.layout.arrays import Floats, Ints, Mask
from graphviewer.layout.coordinates import in_order
from graphviewer.layout.lattice import Lattice

PORT_GAP = 12.0
PORT_MARGIN, MOST_MARGIN = 0.2, 40.0
"""Part of a box's side that stays free of edges at each corner, and its most in scene units."""


def spread_ports(lattice: Lattice, x: Floats, breadth: Floats) -> Floats:
    """Where each edge passes each slot of its chain: at bends in the middle, at boxes side by side.

    An edge leaves a box straight towards where it goes, as far as the box reaches and its other edges leave room.

    Args:
        x, breadth: float64 [slots], centres and sizes across the flow.

    Returns:
        float64 [len(lattice.chain)].
    """
    at = x[lattice.chain]
    drawn = np.diff(lattice.chain_start) > 0
    first, last = lattice.chain_start[:-1][drawn], lattice.chain_start[1:][drawn] - 1
    for end, following in ((first, first + 1), (last, last - 1)):
        at[end] = _ports(lattice.chain[end], at[following], x, breadth)
    return at


def _ports(slot: Ints, goal: Floats, x: Floats, breadth: Floats) -> Floats:
    """Places on the sides of boxes: close to ``goal``, in its order, and apart."""
    order = np.lexsort((goal, slot))
    box = slot[order]
    first = np.diff(box, prepend=-1) != 0
    begin = np.flatnonzero(first)
    count = np.diff(begin, append=len(box))
    rank = np.arange(len(box)) - np.repeat(begin, count)
    side = breadth[box] - 2 * np.minimum(PORT_MARGIN * breadth[box], MOST_MARGIN)
    gap = np.minimum(PORT_GAP, side / np.repeat(count, count))
    low = x[box] - side / 2
    high = low + side - gap * (np.repeat(count, count) - 1)
    free = in_order(np.clip(goal[order], low, low + side) - rank * gap, box, np.ones(len(box)))
    places = np.empty(len(box))
    places[order] = np.clip(free, low, high) + rank * gap
    return places


def route(lattice: Lattice, turned: Mask, across: Floats, begin: Floats, end: Floats) -> tuple[Ints, Floats]:
    """Polylines through the chains.

    Args:
        turned: bool [edges], the edge runs up its chain.
        across: float64 [chain], from ``spread_ports``.
        begin, end: float64 [chain], where the edge enters and leaves the slot, along the flow.

    Returns:
        ``offsets`` int64 [edges+1] and ``points`` float64 [points, 2], (across, along), from source to target;
        points on a straight line are left out.
    """
    count = np.diff(lattice.chain_start)
    points = np.empty((2 * len(lattice.chain), 2))
    points[:, 0] = np.repeat(across, 2)
    points[::2, 1], points[1::2, 1] = begin, end
    edge = np.repeat(np.arange(len(count)), 2 * count)
    first = 2 * lattice.chain_start[:-1][edge]
    step = np.arange(len(points)) - first
    points = points[first + np.where(turned[edge], 2 * count[edge] - 1 - step, step)]
    keep = np.ones(len(points), np.bool_)
    inner = np.flatnonzero((edge[2:] == edge[1:-1]) & (edge[:-2] == edge[1:-1])) + 1
    before, here, after = points[inner - 1], points[inner], points[inner + 1]
    repeats = (before == here).all(axis=1)
    straight = (before[:, 0] == here[:, 0]) & (after[:, 0] == here[:, 0])
    keep[inner[repeats | straight]] = False
    offsets = np.r_[0, np.cumsum(np.bincount(edge[keep], minlength=len(count)))]
    return offsets, points[keep]
