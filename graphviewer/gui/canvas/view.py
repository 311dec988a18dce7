"""The canvas: a view that pans, zooms, hits and animates over one scene, painted by one graphics item."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pyqtgraph as pg
from PySide6.QtCore import QEvent, QPoint, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import (
    QContextMenuEvent,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QNativeGestureEvent,
    QPaintEvent,
    QPointingDevice,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QApplication, QGraphicsView, QToolTip, QWidget

from graphviewer.gui.canvas.artist import Artist
from graphviewer.gui.canvas.camera import READABLE_SCALE, Camera, fit, whole
from graphviewer.gui.canvas.hits import box_at, is_on_triangle, other_ends, stub_at
from graphviewer.gui.canvas.look import Look
from graphviewer.gui.canvas.minimap import Minimap
from graphviewer.gui.canvas.motion import MOST_MOVING, Motion, start_places
from graphviewer.gui.canvas.scene import Scene, empty_scene
from graphviewer.gui.canvas.walk import Direction, neighbour
from graphviewer.gui.style.theme import Theme

WHEEL_STEP = 1.0016
"""Zoom per eighth of a degree: a notch of a mouse wheel is a fifth."""

NO_ITEM = -1

_ARROWS: dict[int, Direction] = {
    Qt.Key.Key_Up: "up",
    Qt.Key.Key_Down: "down",
    Qt.Key.Key_Left: "left",
    Qt.Key.Key_Right: "right",
}


class GraphCanvas(pg.GraphicsView):
    """Shows one ``Scene``. Items are items of the scope tree; -1 means none.

    Attributes:
        camera: where it looks.
        animate: whether the view and boxes glide to where they go; the system may still ask for no motion.
        wheel_zooms: whether a mouse wheel zooms, or moves the view up and down; with Ctrl it always zooms.
        tooltip: gives the rich text shown while the pointer rests on an item; texts from files must be escaped in it.
    """

    view_changed = Signal(QRectF)
    item_clicked = Signal(int, object)
    item_activated = Signal(int)
    item_hovered = Signal(int)
    context_menu = Signal(int, QPoint)
    stub_clicked = Signal(int, object, QPoint)  # item, items at the other ends or behind the chip, where
    background_clicked = Signal()
    painted = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent, useOpenGL=False, background=theme.color("canvas.background"))
        self.setObjectName("canvas")
        self.look = Look(theme)
        self.scene_shown = empty_scene()
        self.camera = Camera(1.0, 0.0, 0.0, max(self.width(), 1), max(self.height(), 1))
        self.animate = True
        self.wheel_zooms = True
        self.tooltip: Callable[[int], str] = lambda item: ""
        self.hovered_box = NO_ITEM
        self._pressed: QPointF | None = None
        self._last = QPointF()
        self._is_dragging = False
        self._motion = Motion(self)
        self._view_box = pg.ViewBox(enableMouse=False, enableMenu=False, invertY=True, lockAspect=1.0, border=None)
        self.setCentralItem(self._view_box)
        self._artist = Artist(self)
        self._view_box.addItem(self._artist, ignoreBounds=True)
        self.setViewportUpdateMode(self.ViewportUpdateMode.FullViewportUpdate)
        self.viewport().setMouseTracking(True)
        self.minimap = Minimap(self, self.look)
        self.minimap.moved.connect(self._centre)

    # -- what is shown ------------------------------------------------------------------------------------------

    def set_theme(self, theme: Theme) -> None:
        """Paint in other colours."""
        self.look = Look(theme)
        self.setBackground(theme.color("canvas.background"))
        self._artist.forget()
        self.minimap.set_scene(self.scene_shown, self.look)

    def set_scene(self, scene: Scene | None, anchor: int | None = None) -> None:
        """Show a scene, keeping the view.

        Args:
            scene: what to show; None for nothing.
            anchor: an item whose box stays where it is in the window although the drawing around it changed. It says
                nothing where another graph was shown, or the same one with other items.
        """
        before, camera, after = self.scene_shown, self.camera, scene or empty_scene()
        self.scene_shown = after
        self.hovered_box = NO_ITEM
        self._motion.stop()
        self._artist.forget()
        if before.drawing is not after.drawing or before.overlay is not after.overlay or before.hidden != after.hidden:
            self.minimap.set_scene(after, self.look)
        else:
            self.minimap.set_selection(after)
        if before.drawing is not after.drawing and before.scopes is after.scopes and anchor is not None:
            self._keep_place(before, after, anchor)
            self._move_boxes(before, after, camera)

    def _move_boxes(self, before: Scene, after: Scene, camera: Camera) -> None:
        """Let the boxes glide to their new places."""
        if self._may_move() and max(len(before.drawing), len(after.drawing)) <= MOST_MOVING:
            start = start_places(before, after, camera, self.camera)

            def show(t: float) -> None:
                moving = after.moved(start + (after.bounds - start) * t) if t < 1.0 else None
                self._artist.forget(moving)

            self._motion.begin(show)

    def _keep_place(self, before: Scene, after: Scene, item: int) -> None:
        old, new = int(before.box_of_item[item]), int(after.box_of_item[item])
        if old >= 0 and new >= 0:
            dx, dy = (before.bounds[:2, old] - after.bounds[:2, new]) * self.camera.scale
            # A title stuck to the top edge is where the reader looks: the box must not vanish above the window.
            top = (after.bounds[1, new] - self.camera.top) * self.camera.scale + dy
            self.show_camera(self.camera.moved(dx, dy - min(top, 0.0)))

    def set_selection(self, items: Iterable[int]) -> None:
        """Select other items of the scene that is shown."""
        self.set_scene(self.scene_shown.with_selection(items))

    # -- view ---------------------------------------------------------------------------------------------------

    def show_camera(self, camera: Camera) -> None:
        """Look elsewhere, at once."""
        self.camera = camera = camera.steady()
        self._view_box.setRange(rect=camera.rect, padding=0)
        self._artist.forget()
        self.minimap.set_view(camera.rect)
        self.view_changed.emit(camera.rect)

    def view_rect(self) -> QRectF:
        """What is seen, in scene units."""
        return self.camera.rect

    def look_like(self, camera: Camera) -> None:
        """Look where another camera did, at its scale, whatever the size of its window was."""
        dx, dy = ((a - b) / 2 / camera.scale for a, b in zip(camera[3:], self.camera[3:], strict=True))
        self._motion.stop()
        self.show_camera(self.camera._replace(scale=camera.scale, left=camera.left + dx, top=camera.top + dy))

    def fit(self, *, animate: bool = False) -> None:
        """Show the whole drawing, or its beginning when names could not be read otherwise."""
        extent, (across, down) = self._sizes()
        self._go(fit(extent, (across, down), self.scene_shown.start(across, down)), animate)

    def show_all(self) -> None:
        """Show the whole drawing, however small."""
        self._go(whole(*self._sizes()), False)

    def _sizes(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """Of the drawing in scene units, and of the window in pixels."""
        drawing = self.scene_shown.drawing
        return (drawing.width, drawing.height), (self.camera.width, self.camera.height)

    def zoom_to(self, item: int, *, animate: bool = True) -> None:
        """Show an item in the middle of the window, large enough to read."""
        rect = self.item_rect(item)
        if rect is not None:
            self._go(self.camera.close_up(rect), animate)

    def ensure_visible(self, item: int, *, animate: bool = True) -> None:
        """Move as little as needed for an item to be in view; zoom to it where it could not be read."""
        rect = self.item_rect(item)
        if rect is not None:
            is_readable = self.camera.scale >= READABLE_SCALE
            self._go(self.camera.containing(rect) if is_readable else self.camera.close_up(rect), animate)

    def zoom(self, factor: float, at: QPointF | None = None) -> None:
        """Zoom by a factor, at a point of the window or its middle."""
        self._motion.stop()
        middle = QPointF(self.camera.width / 2, self.camera.height / 2)
        smallest = min(whole(*self._sizes()).scale * 0.7, READABLE_SCALE)
        self.show_camera(self.camera.zoomed(factor, middle if at is None else at, smallest))

    def pan(self, dx: float, dy: float) -> None:
        """Move the picture by so many pixels."""
        self._motion.stop()
        self.show_camera(self.camera.moved(dx, dy))

    def _go(self, camera: Camera, animate: bool) -> None:
        here = self.camera
        if animate and here != camera and self._may_move():
            self._motion.begin(lambda t: self.show_camera(here.between(camera, t)) if t < 1.0 else self._arrive(camera))
        else:
            self._motion.stop()
            self._arrive(camera)

    def _arrive(self, camera: Camera) -> None:
        self.show_camera(camera)
        self.minimap.place()

    def _may_move(self) -> bool:
        """Never while the user drags."""
        return self.animate and not self._is_dragging and self.isVisible()

    def _centre(self, point: QPointF) -> None:
        self._motion.stop()
        half = QPointF(self.camera.rect.width() / 2, self.camera.rect.height() / 2)
        corner = point - half
        self.show_camera(self.camera._replace(left=corner.x(), top=corner.y()))

    # -- what is where ------------------------------------------------------------------------------------------

    def item_rect(self, item: int) -> QRectF | None:
        """The box of an item, or of the drawn scope around it, in scene units."""
        scene = self.scene_shown
        if not 0 <= item < len(scene.scopes) or scene.box_of_item[item] < 0:
            return None
        left, top, right, bottom = scene.bounds[:, scene.box_of_item[item]].tolist()
        return QRectF(left, top, right - left, bottom - top)

    def item_at(self, pos: QPointF, *, ground: bool = False) -> int:
        """The item at a point of the window.

        Args:
            pos: in pixels.
            ground: also count the free ground of an open scope as that scope; else only its title counts.
        """
        return self._item(self._box_at(pos, ground=ground))

    def _box_at(self, pos: QPointF, *, ground: bool = False) -> int:
        return box_at(self.scene_shown, self.camera, self._artist.bars, pos, ground=ground)

    def _item(self, box: int) -> int:
        return NO_ITEM if box < 0 else int(self.scene_shown.drawing.item[box])

    @property
    def hovered(self) -> int:
        """The item under the pointer, -1 for none."""
        return self._item(self.hovered_box)

    def central_items(self, most: int) -> list[int]:
        """The items nearest to the middle of the window, the nearest one first."""
        middle = self.camera.rect.center()
        return [self._item(box) for box in self.scene_shown.boxes_near(middle.x(), middle.y(), most)]

    def walk(self, direction: Direction) -> int:
        """The item that an arrow key leads to from the selected one; -1 where it leads nowhere."""
        selected = self.scene_shown.selected
        return self._item(neighbour(self.scene_shown, selected[0], direction)) if selected else NO_ITEM

    # -- Qt -----------------------------------------------------------------------------------------------------

    def close(self) -> bool:
        """Close as any widget does: pyqtgraph's own takes the viewport away while Qt still sends it events."""
        return QGraphicsView.close(self)

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        self.painted.emit()

    def resizeEvent(self, event: QResizeEvent | None) -> None:
        super().resizeEvent(event)
        if hasattr(self, "_artist"):  # pyqtgraph calls this from its own __init__
            self._motion.stop()
            self.show_camera(self.camera.resized(max(self.width(), 1), max(self.height(), 1)))
            self.minimap.place()

    def wheelEvent(self, event: QWheelEvent) -> None:
        event.accept()
        pixels, angle, modifiers = event.pixelDelta(), event.angleDelta(), event.modifiers()
        is_touchpad = event.device().type() == QPointingDevice.DeviceType.TouchPad
        is_touchpad |= event.phase() != Qt.ScrollPhase.NoScrollPhase
        if modifiers & Qt.KeyboardModifier.ControlModifier:
            self.zoom(WHEEL_STEP ** (angle.y() or pixels.y()), event.position())
        elif is_touchpad:
            way = pixels if not pixels.isNull() else angle / 3
            self.pan(way.x(), way.y())
        elif modifiers & Qt.KeyboardModifier.ShiftModifier:
            self.pan(angle.y() or angle.x(), 0)
        elif self.wheel_zooms:
            self.zoom(WHEEL_STEP ** angle.y(), event.position())
        else:
            self.pan(angle.x(), angle.y())

    def viewportEvent(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            self._show_tooltip(event)
            return True
        if event.type() == QEvent.Type.NativeGesture and isinstance(event, QNativeGestureEvent):
            if event.gestureType() == Qt.NativeGestureType.ZoomNativeGesture:
                self.zoom(1.0 + event.value(), event.position())
            return True
        return super().viewportEvent(event)

    def _show_tooltip(self, event: QHelpEvent) -> None:
        item = self.item_at(QPointF(event.pos()))
        text = self.tooltip(item) if item >= 0 else ""
        QToolTip.showText(event.globalPos(), f"<qt>{text}</qt>" if text else "", self.viewport())

    def mousePressEvent(self, event: QMouseEvent) -> None:
        event.accept()
        if event.button() in (Qt.MouseButton.LeftButton, Qt.MouseButton.MiddleButton):
            self._motion.stop()
            self._pressed = self._last = event.position()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        event.accept()
        if self._pressed is None:
            self._hover(event.position())
            return
        far = (event.position() - self._pressed).manhattanLength() >= QApplication.startDragDistance()
        if not self._is_dragging and far:
            self._is_dragging = True
            self.viewport().setCursor(Qt.CursorShape.ClosedHandCursor)
        if self._is_dragging:
            step = event.position() - self._last
            self._last = event.position()
            self.pan(step.x(), step.y())

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        event.accept()
        was_dragging, was_pressed = self._is_dragging, self._pressed is not None
        self._pressed, self._is_dragging = None, False
        self.viewport().unsetCursor()
        if was_pressed and not was_dragging and event.button() == Qt.MouseButton.LeftButton:
            self._click(event.position(), event.modifiers())

    def _click(self, pos: QPointF, modifiers: Qt.KeyboardModifier) -> None:
        box, stub = self._box_at(pos), stub_at(self.scene_shown, self.camera, pos)
        if stub is not None and box != stub.box:
            where = self.mapToGlobal(pos.toPoint())
            self.stub_clicked.emit(self._item(stub.box), other_ends(self.scene_shown, stub), where)
        elif box < 0:
            self.background_clicked.emit()
        elif is_on_triangle(self.scene_shown, self.camera, self._artist.bars, box, pos):
            self.item_activated.emit(self._item(box))
        else:
            self.item_clicked.emit(self._item(box), modifiers)
            if behind := self.scene_shown.items_behind(box):
                self.stub_clicked.emit(self._item(box), behind, self.mapToGlobal(pos.toPoint()))

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        event.accept()
        box = self._box_at(event.position())
        # Two quick clicks on a triangle have already opened and closed it.
        if event.button() == Qt.MouseButton.LeftButton and box >= 0:
            if is_on_triangle(self.scene_shown, self.camera, self._artist.bars, box, event.position()):
                self._pressed = event.position()
                return
            self.item_activated.emit(self._item(box))
        self._pressed = None

    def leaveEvent(self, event: QEvent) -> None:
        self._hover(QPointF(-1e9, -1e9))

    def _hover(self, pos: QPointF) -> None:
        box = self._box_at(pos)
        if box != self.hovered_box:
            self.hovered_box = box
            self._artist.update()
            self.item_hovered.emit(self._item(box))

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        event.accept()
        pos, selected = QPointF(event.pos()), self.scene_shown.selected
        if event.reason() == QContextMenuEvent.Reason.Keyboard and selected:
            left, top, right, bottom = self.scene_shown.bounds[:, selected[0]].tolist()
            pos = self.camera.to_pixel(QPointF((left + right) / 2, (top + bottom) / 2))
        self.context_menu.emit(self.item_at(pos, ground=True), self.mapToGlobal(pos.toPoint()))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key, selected = event.key(), self.scene_shown.selected
        is_plain = not event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        if is_plain and selected and key in _ARROWS:
            item = self.walk(_ARROWS[key])
            if item >= 0:
                self.item_clicked.emit(item, event.modifiers())
                self.ensure_visible(item)
        elif is_plain and selected and key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.item_activated.emit(self._item(selected[0]))
        elif key in (Qt.Key.Key_Plus, Qt.Key.Key_Equal, Qt.Key.Key_Minus):
            self.zoom(1 / 1.25 if key == Qt.Key.Key_Minus else 1.25)
        else:
            event.ignore()
