"""Paint frames of open scopes, and boxes: each at the detail that its size on screen deserves."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QPen, QPolygonF

from graphviewer.gui.canvas.camera import Camera
from graphviewer.gui.canvas.easel import Easel
from graphviewer.gui.canvas.kinds import Kind
from graphviewer.gui.canvas.look import style_of
from graphviewer.gui.canvas.scene import Scene
from graphviewer.gui.canvas.shapes import Floats, draw_lines, draw_rects, groups, snapped
from graphviewer.layout.drawing import CHIP_HEIGHT

SPECK = 3.0
"""Boxes lower than this many pixels are spots of colour."""

SHAPED = 15.0
"""Boxes at least this high have their shape, and text if it can be read."""

SHAPED_CHIP = 9.0
"""The same for the small chips beside boxes."""

ROUND, CLOSE = 10.0, 3.0
"""Pixels beyond which no frame's corner is round; frames that are less than the second apart are one."""

DRUM_BULGE = 0.11
"""How far the ends of a variable's drum bulge, as a share of its height."""


class Shown(NamedTuple):
    """Boxes in view, in pixels.

    Attributes:
        box: int [n].
        rect: float64 [n, 4], left, top, width, height.
    """

    box: NDArray[np.intp]
    rect: Floats

    def only(self, keep: NDArray[np.bool_] | NDArray[np.intp]) -> Shown:
        """Some of them."""
        return Shown(self.box[keep], self.rect[keep])


def in_view(scene: Scene, camera: Camera, boxes: NDArray[np.int32], margin: float = 0.0) -> Shown:
    """Those of ``boxes`` that touch the view, or nearly (``margin`` in pixels)."""
    left, top, right, bottom = scene.bounds[:, boxes]
    extra, rect = margin / camera.scale, camera.rect
    near = (left < rect.right() + extra) & (right > rect.left() - extra)
    near &= (top < rect.bottom() + extra) & (bottom > rect.top() - extra)
    found = np.flatnonzero(near)
    x, y = camera.x(left[found]), camera.y(top[found])
    w, h = (right[found] - left[found]) * camera.scale, (bottom[found] - top[found]) * camera.scale
    return Shown(boxes[found].astype(np.intp), np.stack([x, y, w, h], axis=1))


def clamped(rect: Floats) -> Floats:
    """Rectangles cut well outside any window: Qt's rasteriser has 16 bits for a coordinate."""
    low = np.maximum(rect[:, :2], -3000)
    high = np.minimum(rect[:, :2] + rect[:, 2:], 12000)
    return np.concatenate([low, np.maximum(high - low, 0)], axis=1)


def are_shaped(scene: Scene, shown: Shown) -> NDArray[np.bool_]:
    """bool [n]: boxes high enough for their shape and a text."""
    least = np.where(scene.drawing.h[shown.box] <= CHIP_HEIGHT, SHAPED_CHIP, SHAPED)
    return np.asarray(shown.rect[:, 3] >= least)


def _seen_frames(ink: Easel, frames: Shown) -> Shown:
    """Frames of which anything can be seen: of hundreds inside each other most are behind one that fills the view.

    From afar frames lie so close around each other that one stands for several.
    """
    parent = np.searchsorted(frames.box, ink.scene.drawing.parent[frames.box])  # a frame in view is inside one in view
    left, top, w, h = frames.rect.T
    fills = (left < -ROUND) & (top < -ROUND)
    fills &= (left + w > ink.camera.width + ROUND) & (top + h > ink.camera.height + ROUND)
    seen = np.arange(len(fills)) >= (np.flatnonzero(fills)[-1] if fills.any() else 0)
    coarse = np.floor(np.stack([left, top, left + w, top + h], axis=1) / CLOSE)
    inner = np.flatnonzero(ink.scene.drawing.parent[frames.box] >= 0)
    seen[inner] &= (coarse[inner] != coarse[parent[inner]]).any(axis=1)
    return frames.only(seen)


def paint_frames(ink: Easel, frames: Shown) -> None:
    """Paint the grounds of open scopes, outer before inner."""
    painter, frames = ink.painter, _seen_frames(ink, frames)
    for depth, level in groups(ink.scene.drawing.depth[frames.box]):
        rect = frames.rect[level]
        large = rect[:, 3] >= 24
        painter.setPen(QPen(ink.color("canvas.frame_edge"), 1))
        painter.setBrush(ink.look.frame(depth))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        draw_rects(painter, np.floor(clamped(rect[~large])))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, True)
        for x, y, w, h in snapped(clamped(rect[large])).tolist():
            radius = min(9.0, h / 5)
            painter.drawRoundedRect(QRectF(x, y, w, h), radius, radius)


def paint_boxes(ink: Easel, shown: Shown) -> None:
    """Paint closed scopes and leaves, without their texts."""
    height, style = shown.rect[:, 3], style_of(ink.scene, shown.box)
    specks = (height < SPECK) & (shown.rect[:, 2] >= 0.4)
    shaped = are_shaped(ink.scene, shown)
    plain = (height >= SPECK) & ~shaped
    ink.painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
    _paint_specks(ink, shown.rect[specks], style[specks])
    _paint_plain(ink, shown.rect[plain], style[plain])
    ink.painter.setRenderHint(QPainter.RenderHint.Antialiasing, True)
    _paint_shaped(ink, shown.only(shaped), style[shaped])
    _paint_bars(ink, shown.only(shaped))


def _paint_specks(ink: Easel, rect: Floats, style: NDArray[np.int16]) -> None:
    styles = ink.look.scene_styles(ink.scene)
    rect = np.concatenate([np.floor(rect[:, :2]), np.maximum(np.round(rect[:, 2:]), 1)], axis=1)
    ink.painter.setPen(Qt.PenStyle.NoPen)
    for number, members in groups(style):
        ink.painter.setBrush(styles[number].far)
        draw_rects(ink.painter, rect[members])


def _paint_plain(ink: Easel, rect: Floats, style: NDArray[np.int16]) -> None:
    styles = ink.look.scene_styles(ink.scene)
    rect = snapped(rect) - [0.5, 0.5, 0, 0]
    for number, members in groups(style):
        ink.painter.setBrush(styles[number].fill)
        ink.painter.setPen(styles[number].far)
        draw_rects(ink.painter, rect[members])


def _paint_shaped(ink: Easel, shown: Shown, style: NDArray[np.int16]) -> None:
    styles, painter = ink.look.scene_styles(ink.scene), ink.painter
    rects = snapped(clamped(shown.rect))
    kinds = ink.scene.kind[shown.box]
    for key, members in groups(style.astype(np.int32) * len(Kind) + kinds):
        number, kind = divmod(key, len(Kind))
        pen = QPen(styles[number].edge, 1)
        if styles[number].is_dashed:
            pen.setDashPattern([4, 3])
        painter.setPen(pen)
        painter.setBrush(styles[number].fill)
        _SHAPES[Kind(kind)](painter, rects[members])


def _paint_pills(painter: QPainter, rects: Floats) -> None:
    for x, y, w, h in rects.tolist():
        painter.drawRoundedRect(QRectF(x, y, w, h), h / 2, h / 2)


def _paint_constants(painter: QPainter, rects: Floats) -> None:
    """Nearly square corners, and a folded one."""
    for x, y, w, h in rects.tolist():
        painter.drawRoundedRect(QRectF(x, y, w, h), 2.5, 2.5)
    fold = np.minimum(rects[:, 3] * 0.28, 12)
    right, top = rects[:, 0] + rects[:, 2], rects[:, 1]
    draw_lines(painter, np.stack([right - fold, top, right, top + fold], axis=1))


def _paint_variables(painter: QPainter, rects: Floats) -> None:
    """Drums: a place where a value stays."""
    for x, y, w, h in rects.tolist():
        bulge = h * DRUM_BULGE
        painter.drawRoundedRect(QRectF(x, y, w, h), w / 2, bulge)
        painter.drawArc(QRectF(x, y, w, bulge * 2), 180 * 16, 180 * 16)


def _paint_placeholders(painter: QPainter, rects: Floats) -> None:
    """Slanted, as inputs are in flow charts."""
    for x, y, w, h in rects.tolist():
        slant = min(h * 0.35, w / 4)
        corners = ((x + slant, y), (x + w, y), (x + w - slant, y + h), (x, y + h))
        painter.drawConvexPolygon(QPolygonF([QPointF(*corner) for corner in corners]))


def _paint_calls(painter: QPainter, rects: Floats) -> None:
    """Pills with a second line inside: something runs in there."""
    _paint_pills(painter, rects)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    _paint_pills(painter, rects + np.array([3, 3, -6, -6]))


def _paint_scopes(painter: QPainter, rects: Floats) -> None:
    """Cards with a second one showing below: there is more inside."""
    for inset, drop in ((4.0, 3.0), (0.0, 0.0)):
        for x, y, w, h in rects.tolist():
            radius = min(h / 5, 8.0)
            painter.drawRoundedRect(QRectF(x + inset, y + drop, w - 2 * inset, h), radius, radius)


_SHAPES = {
    Kind.OP: _paint_pills,
    Kind.CONSTANT: _paint_constants,
    Kind.VARIABLE: _paint_variables,
    Kind.PLACEHOLDER: _paint_placeholders,
    Kind.CALL: _paint_calls,
    Kind.SCOPE: _paint_scopes,
}


def _paint_bars(ink: Easel, shown: Shown) -> None:
    """A bar along the bottom of each closed scope of several categories: its nodes by category."""
    scene, scale = ink.scene, ink.camera.scale
    box = shown.box
    at = np.flatnonzero((scene.kind[box] == Kind.SCOPE) & (scene.category[box] < 0) & ~scene.is_hidden[box])
    shares = scene.told[0][box[at]].astype(np.float64)
    if not shares.size:
        return
    x, y, w, h = shown.rect[at].T
    inset, thick = np.minimum(9 * scale, w / 4), np.full(len(at), float(np.clip(4 * scale, 2, 8)))
    # Shares of all nodes, so that nodes without a category leave the end of the bar empty.
    part = shares / scene.told[1][box[at]][:, None]
    ends = np.cumsum(part, axis=1) * (w - 2 * inset)[:, None]
    top = np.floor(y + h - thick - np.minimum(5 * scale, h / 6))
    ink.painter.setPen(Qt.PenStyle.NoPen)
    for column, mark in enumerate(ink.look.marks(scene)):
        some = np.flatnonzero(shares[:, column] > 0)
        width = np.maximum(part[some, column] * (w - 2 * inset)[some], 1)
        left = (x + inset)[some] + ends[some, column] - width
        ink.painter.setBrush(mark)
        draw_rects(ink.painter, np.stack([left, top[some], width, thick[some]], axis=1))
