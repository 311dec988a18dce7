"""What is under a point of the window."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPointF

from graphviewer.gui.canvas.camera import READABLE_SCALE, Camera
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
