"""The whole drawing in a corner of the canvas, with a frame around what is in view; drag it to move."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QEvent, QPointF, QRectF, QSizeF, Qt, Signal
from PySide6.QtGui import QEnterEvent, QMouseEvent, QPainter, QPaintEvent, QPen, QPixmap, QWheelEvent
from PySide6.QtWidgets import QWidget

from graphviewer.gui.canvas.look import Look, style_of
from graphviewer.gui.canvas.scene import Scene, empty_scene
from graphviewer.gui.canvas.shapes import draw_rects, groups

LARGEST, SMALLEST, INSET, CORNER = 170.0, 54.0, 6.0, 14
"""Longest and shortest side of the drawing on the map, free space around it, distance from the corner (pixels)."""

NARROWEST = 520
"""In a narrower canvas, one half of a split view on a small screen, the map would hide what it is a map of (pixels)."""

COVERING = 0.45
"""Opacity of a map that covers boxes, until the pointer is on it."""

WIDEST_SHARE = 0.24
"""The map takes no more of the canvas's width than this: in a split view both are narrow."""


class Minimap(QWidget):
    """Emits ``moved`` with the scene point that is to be in the middle of the view.

    A drawing a hundred times as high as wide is stretched across, so that something can be seen. It keeps to the corner
    where it covers least, and lets boxes shine through where it covers any.
    """

    moved = Signal(QPointF)

    def __init__(self, canvas: QWidget, look: Look) -> None:
        super().__init__(canvas)
        self.setObjectName("minimap")
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self._canvas = canvas
        self._scene, self._look = empty_scene(), look
        self._picture: QPixmap | None = None
        self._view = QRectF()
        self._is_wanted = True
        self._covers = False
        super().setVisible(False)

    def setVisible(self, visible: bool) -> None:
        """Show it where it helps, or keep it away."""
        self._is_wanted = visible
        self._update_visible()

    def set_scene(self, scene: Scene, look: Look) -> None:
        """Draw another scene."""
        self._scene, self._look, self._picture = scene, look, None
        width, height = self._extent()
        self.resize(round(width * self._scale[0] + 2 * INSET), round(height * self._scale[1] + 2 * INSET))
        self.place()
        self._update_visible()
        self.update()

    def set_view(self, view: QRectF) -> None:
        """Move the frame."""
        self._view = view
        self._update_visible()
        self._covers = self._covered(QRectF(self.geometry())) > 0
        self.update()

    def place(self) -> None:
        """Go to the corner of the canvas where least is covered; among equals bottom right, and never on a selection.

        Called when the view has come to rest somewhere else: a map that moved while it moves would be in the way.
        """
        if self.underMouse():
            return
        across = self._canvas.width() - self.width() - CORNER
        down = self._canvas.height() - self.height() - CORNER
        corners = ((across, down), (across, CORNER), (CORNER, down), (CORNER, CORNER))
        covered = [self._covered(QRectF(x, y, self.width(), self.height())) for x, y in corners]
        best = covered.index(min(covered))
        self.move(*corners[best])
        self._covers = covered[best] > 0

    @property
    def opacity(self) -> float:
        """Less than 1 while boxes are to shine through."""
        return COVERING if self._covers and not self.underMouse() else 1.0

    def _covered(self, rect: QRectF) -> int:
        """Closed boxes and leaves below a part of the canvas; a selected one counts for all."""
        scene, view = self._scene, self._view
        if view.isEmpty() or not len(scene.solids):
            return 0
        scale = view.width() / max(self._canvas.width(), 1)
        low_x, low_y = view.left() + rect.left() * scale, view.top() + rect.top() * scale
        high_x, high_y = low_x + rect.width() * scale, low_y + rect.height() * scale
        left, top, right, bottom = scene.bounds
        below = (left < high_x) & (right > low_x) & (top < high_y) & (bottom > low_y)
        solid = scene.solids[below[scene.solids]]
        chosen = set(scene.selected) & set(solid.tolist())
        return len(solid) + len(scene.drawing) * len(chosen)

    def set_selection(self, scene: Scene) -> None:
        """Make way for a selected box."""
        self._scene = scene
        if any(self._meets(box) for box in scene.selected):
            self.place()
            self.update()

    def _meets(self, box: int) -> bool:
        left, top, right, bottom = self._scene.bounds[:, box].tolist()
        scale = self._canvas.width() / max(self._view.width(), 1e-9)
        corner = QPointF(left - self._view.left(), top - self._view.top()) * scale
        return QRectF(self.geometry()).intersects(
            QRectF(corner, QSizeF((right - left) * scale, (bottom - top) * scale))
        )

    def _update_visible(self) -> None:
        """A map of what is all in view is of no use."""
        helps = len(self._scene.drawing) > 0 and not self._view.contains(QRectF(0, 0, *self._extent()))
        has_room = self._canvas.width() >= NARROWEST
        super().setVisible(self._is_wanted and helps and has_room)

    def _extent(self) -> tuple[float, float]:
        drawing = self._scene.drawing
        return max(drawing.width, 1.0), max(drawing.height, 1.0)

    @property
    def _scale(self) -> tuple[float, float]:
        width, height = self._extent()
        scale = min(LARGEST, self._canvas.width() * WIDEST_SHARE) / max(width, height)
        return max(scale, min(SMALLEST / width, 4000.0)), max(scale, min(SMALLEST / height, 4000.0))

    def _to_map(self, rect: QRectF) -> QRectF:
        across, down = self._scale
        return QRectF(INSET + rect.x() * across, INSET + rect.y() * down, rect.width() * across, rect.height() * down)

    # -- Qt -----------------------------------------------------------------------------------------------------

    def paintEvent(self, event: QPaintEvent) -> None:
        if self._picture is None:
            self._picture = self._paint_picture()
        accent = self._look.color("canvas.view")
        with QPainter(self) as painter:
            painter.setOpacity(self.opacity)
            painter.drawPixmap(0, 0, self._picture)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            soft = self._look.theme.color("canvas.view")
            soft.setAlpha(38)
            view = self._to_map(self._view).intersected(QRectF(self.rect()).adjusted(2, 2, -2, -2))
            middle = view.center()
            view.setSize(view.size().expandedTo(QRectF(0, 0, 5, 5).size()))
            view.moveCenter(middle)
            painter.setPen(QPen(accent, 1.4))
            painter.setBrush(soft)
            painter.drawRoundedRect(view, 2, 2)

    def _paint_picture(self) -> QPixmap:
        scene, look = self._scene, self._look
        ratio = self.devicePixelRatioF()
        picture = QPixmap(self.size() * ratio)
        picture.setDevicePixelRatio(ratio)
        picture.fill(Qt.GlobalColor.transparent)
        across, down = self._scale
        left, top, right, bottom = scene.bounds
        rects = np.stack(
            [INSET + left * across, INSET + top * down, (right - left) * across, (bottom - top) * down], axis=1
        )
        with QPainter(picture) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(QPen(look.color("canvas.frame_edge"), 1))
            painter.setBrush(look.color("canvas.background"))
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), 7, 7)
            painter.setPen(Qt.PenStyle.NoPen)
            for depth, members in groups(scene.drawing.depth[scene.frames]):
                painter.setBrush(look.frame(depth))
                draw_rects(painter, rects[scene.frames[members]])
            styles = look.scene_styles(scene)
            seen = scene.solids[(rects[scene.solids][:, 2:] > 0.15).all(axis=1)]
            rects[:, 2:] = np.maximum(rects[:, 2:], 1.0)
            for number, members in groups(style_of(scene, seen)):
                painter.setBrush(styles[number].far)
                draw_rects(painter, rects[seen[members]])
        return picture

    def enterEvent(self, event: QEnterEvent) -> None:
        self.update()

    def leaveEvent(self, event: QEvent) -> None:
        self.update()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        event.accept()
        self._move_to(event.position())

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        event.accept()
        if event.buttons() & Qt.MouseButton.LeftButton:
            self._move_to(event.position())

    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()

    def _move_to(self, pos: QPointF) -> None:
        across, down = self._scale
        self.moved.emit(QPointF((pos.x() - INSET) / across, (pos.y() - INSET) / down))
