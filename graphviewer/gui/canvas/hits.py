"""What is under a point of the window."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from PySide6.QtCore import QPointF

from graphviewer.gui.canvas.boxes import in_view
from graphviewer.gui.canvas.camera import READABLE_SCALE, Camera
from graphviewer.gui.canvas.edge_texts import INTO, LABEL_SCALE, OUT_OF, STUB_SCALE, stub_places, text_pixels
from graphviewer.gui.canvas.kinds import Kind
from graphviewer.gui.canvas.marks import Title
from graphviewer.gui.canvas.names import NAME
from graphviewer.gui.canvas.scene import Scene

SMALL_FRAME = 12.0
"""An open scope with a side of fewer pixels is hit as a whole: its title cannot be."""


def box_at(scene: Scene, camera: Camera, bars: Sequence[Title], pos: QPointF, *, ground: bool = False) -> int:
    """The box at a point in pixels, -1 where there is none.

    Args:
        scene: what is shown.
        camera: where the window looks.
        bars: titles on screen, as ``paint`` returned them.
        pos: the point.
        ground: also count the free ground of an open scope as that scope; else only its title counts.
    """
    for bar in reversed(bars):
        if bar.rect.contains(pos):
            return bar.box
    point = camera.to_scene(pos)
    box = scene.box_at(point.x(), point.y())
    if box >= 0 and not ground and scene.kind[box] == Kind.FRAME:
        left, top, right, bottom = scene.bounds[:, box]
        return box if min(right - left, bottom - top) * camera.scale < SMALL_FRAME else -1
    return box


def is_on_triangle(scene: Scene, camera: Camera, bars: Sequence[Title], box: int, pos: QPointF) -> bool:
    """Whether a point on a box is on the triangle that opens or closes it."""
    if scene.kind[box] == Kind.SCOPE:
        left = (scene.bounds[0, box] - camera.left) * camera.scale
        return bool(camera.scale >= READABLE_SCALE and pos.x() - left < 1.75 * NAME * camera.scale)
    return any(bar.box == box and pos.x() - bar.rect.left() < 22 for bar in bars)


class Stub(NamedTuple):
    """The short end of edges that the layout took out: at a box, on the side ``INTO`` or ``OUT_OF``."""

    box: int
    side: int


def stub_at(scene: Scene, camera: Camera, pos: QPointF) -> Stub | None:
    """The stub, or the count beside it, at a point in pixels."""
    if camera.scale < STUB_SCALE:
        return None
    shown = in_view(scene, camera, scene.solids, margin=20)
    size = text_pixels(camera.scale)
    for side in (INTO, OUT_OF):
        count = scene.hub_counts[side, shown.box]
        x, foot, tip = stub_places(shown.rect, side, camera.scale)
        letters = np.floor(np.log10(np.maximum(count, 1))) * 4 / 3 + 1
        right = x + 5 + (letters * 0.65 * size if camera.scale >= LABEL_SCALE else 0)
        hit = (count > 0) & (x - 5 <= pos.x()) & (pos.x() <= right)
        hit &= (np.minimum(foot, tip - size / 2) <= pos.y()) & (pos.y() <= np.maximum(foot, tip + size / 2))
        if hit.any():
            return Stub(int(shown.box[np.argmax(hit)]), side)
    return None


def other_ends(scene: Scene, stub: Stub) -> list[int]:
    """The items at the other ends of a stub's edges, those with most edges first."""
    drawing = scene.drawing
    here, there = (drawing.target, drawing.source) if stub.side == INTO else (drawing.source, drawing.target)
    edges = np.flatnonzero(drawing.hub & ~drawing.control & (here == stub.box))
    edges = edges[np.argsort(-drawing.count[edges], kind="stable")]
    return drawing.item[there[edges]].tolist()
