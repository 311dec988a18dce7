"""Paint what lies over the boxes: titles of open scopes, flags, warnings, selection, the box under the pointer."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QPainterPath, QPen, QPolygonF

from graphviewer.gui.canvas.boxes import Shown, in_view
from graphviewer.gui.canvas.camera import Camera
from graphviewer.gui.canvas.easel import Easel
from graphviewer.gui.canvas.kinds import Kind
from graphviewer.gui.canvas.lettering import CAPITAL, Writing
from graphviewer.gui.canvas.scene import Flag, Scene
from graphviewer.layout.drawing import TITLE_HEIGHT

CHIP_HEIGHT = 16.0
"""Height in pixels of a title that no longer fits into the frame's own title bar."""

MOST_STUCK = 5


class Title(NamedTuple):
    """A title bar on screen."""

    box: int
    rect: QRectF
    is_stuck: bool
    is_chip: bool


def titles(scene: Scene, camera: Camera, frames: Shown) -> list[Title]:
    """Title bars of the open scopes in view; that of a scope that begins above the view stays at its top edge."""
    own = min(TITLE_HEIGHT * camera.scale, 32.0)
    is_chip = own < 14.0
    height = CHIP_HEIGHT if is_chip else own
    least_width, least_height = (64.0, 46.0) if is_chip else (30.0, height)
    found, below = [], {-1: 0.0}
    skipped = _too_many(scene, frames, height)
    for box, (x, y, w, h) in zip(frames.box.tolist(), frames.rect.tolist(), strict=True):
        floor = below.get(int(scene.drawing.parent[box]), 0.0)
        below[box] = floor
        if w < least_width or h < least_height or box in skipped:
            continue
        place = min(max(y, floor), y + h - height)
        if place + height < 0 or place > camera.height or place < floor - height:
            continue
        is_stuck = place > y + 0.5
        below[box] = place + height
        left, right = max(x, 0.0), min(x + w, camera.width)
        if right - left >= 24:
            found.append(Title(box, QRectF(left, place, right - left, height), is_stuck, is_chip))
    return found


def _too_many(scene: Scene, frames: Shown, height: float) -> set[int]:
    """Of the scopes that are open around the top of the view those whose titles find no place there.

    ``MOST_STUCK`` do: the outermost, and the innermost ones.
    """
    boxes, parent = frames.box.tolist(), scene.drawing.parent[frames.box].tolist()
    top, end = frames.rect[:, 1], frames.rect[:, 1] + frames.rect[:, 3]
    is_around = ((top < MOST_STUCK * height) & (end > MOST_STUCK * height)).tolist()
    above, below = {-1: 0}, dict.fromkeys(boxes, 0)
    for box, outer, around in zip(boxes, parent, is_around, strict=True):
        above[box] = above.get(outer, 0) + around
    for box, outer, around in zip(boxes[::-1], parent[::-1], is_around[::-1], strict=True):
        if outer in below:
            below[outer] = max(below[outer], below[box] + around)
    around_top = {box for box, around in zip(boxes, is_around, strict=True) if around}
    return {box for box in around_top if above[box] > 1 and below[box] >= MOST_STUCK - 1}


def paint_titles(ink: Easel, bars: list[Title]) -> None:
    """Paint title bars."""
    writing = Writing(ink.look.lettering)
    painter = ink.painter
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, True)
    for bar in bars:
        size = 9.0 if bar.is_chip else min(12.0 * ink.camera.scale, 14.0)
        _paint_title(ink, writing, bar, size)
        writing.draw(painter)  # at once: a later bar may cover this one


def _paint_title(ink: Easel, writing: Writing, bar: Title, size: float) -> None:
    scene, rect = ink.scene, bar.rect
    nodes = f"{int(scene.size[bar.box]):,}"
    name = writing.lettering.fit(scene.label(bar.box), (rect.width() - 2.6 * size) / size, True)
    if not name.text:
        return
    if bar.is_chip:
        rect = QRectF(rect.x() + 2, rect.y() + 2, min((name.width + 2.4) * size, rect.width()), rect.height() - 2)
    _paint_ground(ink, bar, rect)
    middle = rect.center().y()
    baseline = middle + CAPITAL / 2 * size
    left = rect.x() + 0.75 * size
    _paint_open_sign(ink, left + 0.3 * size, middle, size)
    left += 1.0 * size
    writing.add(left, baseline, name.text, size, ink.color("canvas.text"), True)
    left += (name.width + 0.7) * size
    count = writing.lettering.fit(nodes, (rect.right() - left) / size)
    if count.text == nodes and not bar.is_chip:
        writing.add(left, baseline, count.text, size * 0.86, ink.color("canvas.muted"))


def _paint_ground(ink: Easel, bar: Title, rect: QRectF) -> None:
    painter = ink.painter
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(ink.color("canvas.title"))
    if bar.is_chip:
        painter.drawRoundedRect(rect, 4, 4)
        return
    inner = QRectF(np.floor(rect.x()) + 1, np.floor(rect.y()) + 1, np.floor(rect.width()) - 1, np.floor(rect.height()))
    if bar.is_stuck:
        painter.drawRect(inner)
        painter.setPen(QPen(ink.color("canvas.frame_edge"), 1))
        painter.drawLine(QPointF(inner.left(), inner.bottom() + 0.5), QPointF(inner.right(), inner.bottom() + 0.5))
        return
    path = QPainterPath()
    path.setFillRule(Qt.FillRule.WindingFill)
    path.addRoundedRect(inner, 8, 8)
    path.addRect(inner.adjusted(0, inner.height() / 2, 0, 0))
    painter.drawPath(path)


def _paint_open_sign(ink: Easel, x: float, y: float, size: float) -> None:
    """A triangle that points down: this scope is open."""
    half, reach = size * 0.28, size * 0.2
    ink.painter.setPen(QPen(ink.color("canvas.muted"), 1.5, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap))
    ink.painter.drawLine(QPointF(x - half, y - reach), QPointF(x, y + reach))
    ink.painter.drawLine(QPointF(x, y + reach), QPointF(x + half, y - reach))


# -- rings ------------------------------------------------------------------------------------------------------


def _outline(ink: Easel, box: int, gap: float) -> tuple[QRectF, float]:
    left, top, right, bottom = ink.scene.bounds[:, box]
    camera = ink.camera
    x, y = max((left - camera.left) * camera.scale, -3000.0), max((top - camera.top) * camera.scale, -3000.0)
    right = min((right - camera.left) * camera.scale, 12000.0)
    bottom = min((bottom - camera.top) * camera.scale, 12000.0)
    rect = QRectF(x, y, max(right - x, 3.0), max(bottom - y, 3.0)).adjusted(-gap, -gap, gap, gap)
    kind = ink.scene.kind[box]
    round_ends = kind in (Kind.OP, Kind.CALL)
    radius = rect.height() / 2 if round_ends else min(rect.height() / 5, 9.0) + gap / 2
    return rect, radius


def paint_rings(ink: Easel) -> None:
    """Rings around the selection and around the boxes that it lights up."""
    lit, painter = ink.scene.lit, ink.painter
    painter.setBrush(Qt.BrushStyle.NoBrush)
    for boxes, token in ((lit.boxes_in, "canvas.lit_in"), (lit.boxes_out, "canvas.lit_out")):
        shown = in_view(ink.scene, ink.camera, boxes)
        painter.setPen(QPen(ink.color(token), 1.6))
        for box in shown.box.tolist()[:400]:
            rect, radius = _outline(ink, box, 1.5)
            painter.drawRoundedRect(rect, radius, radius)
    for box in ink.scene.selected:
        if ink.scene.kind[box] != Kind.FRAME:
            _paint_selection(ink, box)


def paint_frame_rings(ink: Easel) -> None:
    """Rings around selected open scopes; after their titles, which they must not be hidden by."""
    for box in ink.scene.selected:
        if ink.scene.kind[box] == Kind.FRAME:
            _paint_selection(ink, box)


def _paint_selection(ink: Easel, box: int) -> None:
    rect, radius = _outline(ink, box, 3.0)
    ink.painter.setBrush(Qt.BrushStyle.NoBrush)
    ink.painter.setPen(QPen(ink.color("canvas.selection"), 2.4))
    ink.painter.drawRoundedRect(rect, radius, radius)


def paint_hover(ink: Easel, box: int) -> None:
    """A thin line around the box under the pointer."""
    ink.painter.setRenderHint(QPainter.RenderHint.Antialiasing, True)
    rect, radius = _outline(ink, box, 1.0)
    ink.painter.setBrush(Qt.BrushStyle.NoBrush)
    ink.painter.setPen(QPen(ink.color("canvas.hover"), 1.4))
    ink.painter.drawRoundedRect(rect, radius, radius)


# -- flags and warnings -----------------------------------------------------------------------------------------


def paint_flags(ink: Easel) -> None:
    """Flags on outputs (filled), inputs (open) and suggestions (dotted): large enough to be seen from afar."""
    flagged = ink.scene.flags
    if not flagged:
        return
    shown = in_view(ink.scene, ink.camera, np.array([flag.box for flag in flagged], np.int32), margin=30)
    place = dict(zip(shown.box.tolist(), shown.rect.tolist(), strict=True))
    for flag in flagged:
        if flag.box in place:
            x, y, w, h = place[flag.box]
            size = flag_size(ink.camera.scale, h)
            place_x = x + (0.86 if flag.is_output else 0.14) * w
            if flag.is_output and ink.scene.warned[flag.box]:  # the triangle is in that corner
                place_x = min(place_x, x + w - 2.1 * size)
            _paint_flag(ink, flag, place_x, y + min(3.0, h / 4), size)


def flag_size(scale: float, height: float) -> float:
    """Of a flag on a box of some height, in pixels: seen from afar, but not so large that it hides boxes around."""
    return min(float(np.clip(15 * scale, 11, 22)), max(0.75 * height, 9.0))


def _paint_flag(ink: Easel, flag: Flag, x: float, foot: float, size: float) -> None:
    painter, color = ink.painter, ink.color("canvas.endpoint")
    top = foot - size * 1.25
    cloth = QPolygonF(
        [
            QPointF(x, top),
            QPointF(x + size, top),
            QPointF(x + size * 0.76, top + size * 0.33),
            QPointF(x + size, top + size * 0.66),
            QPointF(x, top + size * 0.66),
        ]
    )
    painter.setPen(QPen(color, 1.8, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap))
    painter.drawLine(QPointF(x, top), QPointF(x, foot))
    pen = QPen(color, 1.5, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap, Qt.PenJoinStyle.RoundJoin)
    if not flag.is_chosen:
        pen.setDashPattern([0.1, 2.0])
    painter.setPen(pen)
    painter.setBrush(color if flag.is_output and flag.is_chosen else ink.color("canvas.background"))
    painter.drawPolygon(cloth)


def paint_warnings(ink: Easel, shown: Shown) -> None:
    """A yellow triangle on inference nodes that are random or in training mode."""
    warned = np.flatnonzero(ink.scene.warned[shown.box])
    size = float(np.clip(13 * ink.camera.scale, 9, 18))
    for x, y, w, h in shown.rect[warned].tolist():
        if h >= 4:
            _paint_warning(ink, x + w - 2, y + 1, size)


def _paint_warning(ink: Easel, x: float, y: float, size: float) -> None:
    painter, half = ink.painter, size * 0.58
    corners = [QPointF(x, y - half), QPointF(x + half, y + half * 0.8), QPointF(x - half, y + half * 0.8)]
    ground = QPen(ink.color("canvas.warning"), 2.4, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap)
    ground.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
    painter.setPen(ground)
    painter.setBrush(ink.color("canvas.warning"))
    painter.drawPolygon(QPolygonF(corners))
    painter.setPen(QPen(ink.color("canvas.warning_text"), 1.6, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap))
    painter.drawLine(QPointF(x, y - half * 0.42), QPointF(x, y + half * 0.12))
    painter.drawPoint(QPointF(x, y + half * 0.5))
