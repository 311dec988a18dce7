"""Where an arrow key leads: along edges up and down, to the next box of the row left and right."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from graphviewer.gui.canvas.scene import Scene

Direction = Literal["up", "down", "left", "right"]

_ALONG: dict[bool, dict[Direction, str]] = {
    False: {"up": "in", "down": "out"},
    True: {"left": "in", "right": "out"},
}


def neighbour(scene: Scene, box: int, direction: Direction) -> int:
    """The box that an arrow key leads to, -1 where it leads nowhere."""
    along = _ALONG[scene.is_sideways].get(direction)
    if along is None:
        return _beside(scene, box, direction)
    lit = scene.with_selection([int(scene.drawing.item[box])]).lit
    drawing = scene.drawing
    if along == "in":
        drawn, others = drawing.source[lit.edges_in], lit.boxes_in
    else:
        drawn, others = drawing.target[lit.edges_out], lit.boxes_out
    return _nearest(scene, box, drawn if len(drawn) else others)


def _middles(scene: Scene) -> NDArray[np.float64]:
    left, top, right, bottom = scene.bounds
    return np.stack([(left + right) / 2, (top + bottom) / 2])


def _nearest(scene: Scene, box: int, others: NDArray[np.int32]) -> int:
    if not len(others):
        return -1
    middle = _middles(scene)
    way = np.abs(middle[:, others] - middle[:, [box]]).sum(axis=0)
    return int(others[np.argmin(way)])


def _beside(scene: Scene, box: int, direction: Direction) -> int:
    """The next sibling in the row (the column of a drawing that runs sideways)."""
    across = 0 if direction in ("left", "right") else 1
    sign = -1 if direction in ("left", "up") else 1
    low, high = scene.bounds[1 - across], scene.bounds[3 - across]
    middle = _middles(scene)[across]
    siblings = scene.drawing.parent == scene.drawing.parent[box]
    siblings &= (low < high[box]) & (high > low[box]) & (sign * (middle - middle[box]) > 0)
    found = np.flatnonzero(siblings)
    return int(found[np.argmin(np.abs(middle[found] - middle[box]))]) if len(found) else -1
