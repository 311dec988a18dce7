"""The one graphics item of a canvas."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyqtgraph as pg
from PySide6.QtCore import QRectF
from PySide6.QtGui import QPainter, QPixmap, QTransform
from PySide6.QtWidgets import QStyleOptionGraphicsItem, QWidget

from graphviewer.gui.canvas.marks import Title
from graphviewer.gui.canvas.paint import paint, paint_over
from graphviewer.gui.canvas.scene import Scene

if TYPE_CHECKING:
    from graphviewer.gui.canvas.view import GraphCanvas

_EVERYWHERE = QRectF(-1e7, -1e7, 2e7, 2e7)
"""Stuck titles and flags are painted outside of the drawing too, so there is no use in a tight extent."""


class Artist(pg.GraphicsObject):
    """Paints the canvas's scene. What the last frame showed is kept, so that hovering costs one copy."""

    def __init__(self, canvas: GraphCanvas) -> None:
        super().__init__()
        self._canvas = canvas
        self._frame: QPixmap | None = None
        self._moving: Scene | None = None
        self.bars: list[Title] = []

    def forget(self, moving: Scene | None = None) -> None:
        """Paint afresh next time; ``moving`` instead of the canvas's scene while that is on its way."""
        self._frame, self._moving = None, moving
        self.update()

    def boundingRect(self) -> QRectF:
        return _EVERYWHERE

    def paint(self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None) -> None:
        canvas = self._canvas
        if self._frame is None:
            self._frame = self._paint_frame()
        painter.save()
        painter.setWorldTransform(QTransform())
        painter.drawPixmap(0, 0, self._frame)
        paint_over(painter, canvas.scene_shown, canvas.camera, canvas.look, canvas.hovered_box)
        painter.restore()

    def _paint_frame(self) -> QPixmap:
        canvas = self._canvas
        ratio = canvas.devicePixelRatioF()
        frame = QPixmap((canvas.size() * ratio).expandedTo(canvas.minimumSizeHint()))
        frame.setDevicePixelRatio(ratio)
        with QPainter(frame) as painter:
            self.bars = paint(painter, self._moving or canvas.scene_shown, canvas.camera, canvas.look)
        return frame
