"""Paint a scene: pure functions of the scene, the look and the camera, for the window and for pictures alike."""

from __future__ import annotations

from PySide6.QtCore import QRectF
from PySide6.QtGui import QPainter

from graphviewer.gui.canvas.boxes import in_view, paint_boxes, paint_frames
from graphviewer.gui.canvas.camera import Camera
from graphviewer.gui.canvas.easel import Easel
from graphviewer.gui.canvas.edge_texts import paint_stubs
from graphviewer.gui.canvas.edges import paint_edges, paint_trace, write_edge_texts
from graphviewer.gui.canvas.look import Look
from graphviewer.gui.canvas.marks import (
    Title,
    paint_flags,
    paint_frame_rings,
    paint_hover,
    paint_rings,
    paint_titles,
    paint_warnings,
    titles,
)
from graphviewer.gui.canvas.names import write_names
from graphviewer.gui.canvas.scene import Scene


def paint(painter: QPainter, scene: Scene, camera: Camera, look: Look) -> list[Title]:
    """Paint all that the camera sees.

    Args:
        painter: its units are pixels, (0, 0) is the top left corner of the picture.
        scene: what to paint.
        camera: where to look.
        look: colours and font.

    Returns:
        The title bars painted, for finding what is under the pointer.
    """
    painter.save()
    painter.fillRect(QRectF(0, 0, camera.width, camera.height), look.color("canvas.background"))
    ink = Easel(painter, scene, look, camera)
    frames = in_view(scene, camera, scene.frames)
    solids = in_view(scene, camera, scene.solids, margin=4)
    paint_frames(ink, frames)
    paint_edges(ink)
    if scene.selected:
        paint_trace(ink)  # below the boxes, so that curves cover no name
    write_edge_texts(ink)
    paint_stubs(ink, solids)
    paint_boxes(ink, solids)
    write_names(ink, solids)
    if scene.selected:
        paint_rings(ink)
    paint_warnings(ink, solids)
    paint_flags(ink)
    bars = titles(scene, camera, frames)
    paint_titles(ink, bars)
    paint_frame_rings(ink)
    painter.restore()
    return bars


def paint_over(painter: QPainter, scene: Scene, camera: Camera, look: Look, hover: int) -> None:
    """Paint what follows the pointer over a picture by ``paint``: a line around the box ``hover``, -1 for none."""
    if hover >= 0:
        painter.save()
        paint_hover(Easel(painter, scene, look, camera), hover)
        painter.restore()
