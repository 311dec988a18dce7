"""Write what stands in boxes: name and op, a scope's name and count, the sign of the category."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QPen

from graphviewer.gui.canvas.boxes import DRUM_BULGE, Shown, are_shaped
from graphviewer.gui.canvas.camera import READABLE_SCALE
from graphviewer.gui.canvas.easel import Easel
from graphviewer.gui.canvas.kinds import Kind
from graphviewer.gui.canvas.lettering import CAPITAL, Writing
from graphviewer.gui.canvas.look import FIRST_CATEGORY, GHOST, BoxStyle, mix, style_of
from graphviewer.gui.canvas.shapes import draw_lines
from graphviewer.gui.canvas.signs import CALL_SIGN, sign

NAME, DETAIL = 12.0, 9.5
"""Sizes of a name, and of the line below it, in scene units."""

SMALLEST = 7.0
"""The fewest pixels that are still text."""

_PADS = {Kind.CONSTANT: 0.55, Kind.VARIABLE: 0.6, Kind.CALL: 0.9, Kind.PLACEHOLDER: 0.95}
"""Free space left and right of a text, in ems; 0.7 for other kinds."""


def name_pixels(height: float, scale: float) -> float:
    """The size of a name in a box of this height: in scale, but readable as long as the box has room for it."""
    return max(NAME * scale, min(7.5, height * 0.5))


class Box(NamedTuple):
    """A box to write into: number, rectangle and text size in pixels, style, kind, category, and its sign."""

    number: int
    rect: list[float]
    size: float
    style: BoxStyle
    kind: int
    category: int
    sign: tuple[str, QColor] | None

    @property
    def middle(self) -> float:
        """Half the way down."""
        return self.rect[1] + self.rect[3] / 2


def write_names(ink: Easel, shown: Shown) -> None:
    """Write into all boxes that are high enough."""
    scale = ink.camera.scale
    near = shown.only(are_shaped(ink.scene, shown))
    writing, chevrons = Writing(ink.look.lettering), []
    for box in _boxes(ink, near, scale):
        if box.kind == Kind.SCOPE:
            _write_scope(ink, writing, box)
            if scale >= READABLE_SCALE:
                chevrons.append((box.rect[0] + 0.95 * box.size, _scope_middle(ink, box), box.size))
        else:
            _write_leaf(ink, writing, box)
    writing.draw(ink.painter)
    if chevrons:
        _paint_chevrons(ink, np.array(chevrons))


def _boxes(ink: Easel, shown: Shown, scale: float) -> list[Box]:
    scene, look = ink.scene, ink.look
    styles, style = look.scene_styles(scene), style_of(scene, shown.box).tolist()
    overlay, marks = scene.overlay, look.marks(scene)
    signs = [sign(overlay.kind, name) for name in overlay.categories] if overlay else []
    # Some marks, yellow above all, are too pale for a letter on their own fill.
    inks = [mix(mark, styles[FIRST_CATEGORY + at].text, 0.4) for at, mark in enumerate(marks)]
    signed = [(text, color) if text else None for text, color in zip(signs, inks, strict=True)]
    kinds, categories = scene.kind[shown.box].tolist(), scene.category[shown.box].tolist()
    found = []
    for at, (number, rect) in enumerate(zip(shown.box.tolist(), shown.rect.tolist(), strict=True)):
        size = name_pixels(rect[3], scale)
        if size >= SMALLEST and style[at] != GHOST:
            code = categories[at]
            found.append(
                Box(number, rect, size, styles[style[at]], kinds[at], code, signed[code] if code >= 0 else None)
            )
    return found


def _write_leaf(ink: Easel, writing: Writing, box: Box) -> None:
    fit, size = writing.lettering.fit, box.size
    x, _, w, h = box.rect
    pad = _PADS.get(Kind(box.kind), 0.7) * size
    left, right = x + pad, x + w - pad
    mark = box.sign or ((CALL_SIGN, box.style.muted) if box.kind == Kind.CALL else None)
    if mark:
        is_bold = box.sign is not None  # a thin sign of 7 pixels is a smudge
        fitted = fit(mark[0], 2.0, is_bold)
        writing.add(left, box.middle + CAPITAL / 2 * size, fitted.text, size, mark[1], is_bold)
        left += (fitted.width + 0.3) * size
    middle_y = box.middle + (0.6 * DRUM_BULGE * h if box.kind == Kind.VARIABLE else 0.0)
    large, small = ink.scene.label(box.number), ink.scene.op(box.number)
    if ink.scene.op_first:
        large, small = small, large
    detail = DETAIL * ink.camera.scale
    two = detail >= SMALLEST and h >= 1.25 * (size + detail)
    name, middle = fit(large, (right - left) / size), (left + right) / 2
    baseline = middle_y + (-0.12 if two else CAPITAL / 2) * size
    writing.add(middle - name.width * size / 2, baseline, name.text, size, box.style.text)
    if two:
        op = fit(small, (right - left) / detail)
        writing.add(middle - op.width * detail / 2, baseline + 1.28 * detail, op.text, detail, box.style.muted)


def _scope_middle(ink: Easel, box: Box) -> float:
    """The middle of what a scope's bar of categories leaves free."""
    has_bar = ink.scene.overlay is not None and box.category < 0
    return box.middle - (2.5 * ink.camera.scale if has_bar else 0.0)


def _write_scope(ink: Easel, writing: Writing, box: Box) -> None:
    fit, size, detail = writing.lettering.fit, box.size, DETAIL * ink.camera.scale
    x, _, w, h = box.rect
    before = 1.75 if ink.camera.scale >= READABLE_SCALE else 0.7  # from afar the triangle gives its room to the name
    left, right, middle = x + before * size, x + w - 0.7 * size, _scope_middle(ink, box)
    if box.sign:
        fitted = fit(box.sign[0], 2.0, True)
        right -= (fitted.width + 0.2) * size
        writing.add(right + 0.2 * size, middle + CAPITAL / 2 * size, fitted.text, size, box.sign[1], True)
    nodes = int(ink.scene.size[box.number])
    if detail >= SMALLEST and h - 2 * (box.middle - middle) >= 1.25 * (size + detail):
        baseline = middle - 0.12 * size
        count = fit(f"{nodes:,} nodes" if nodes != 1 else "1 node", (right - left) / detail)
        writing.add(left, baseline + 1.28 * detail, count.text, detail, box.style.muted)
    else:
        baseline, small = middle + CAPITAL / 2 * size, size * 0.82
        count = fit(f"{nodes:,}", (right - left) / small)
        room = right - left - (count.width + 0.6) * small
        if fit(ink.scene.label(box.number), room / size, True).text == ink.scene.label(box.number):
            writing.add(right - count.width * small, baseline, count.text, small, box.style.muted)
    name = fit(ink.scene.label(box.number), (right - left) / size, True)
    writing.add(left, baseline, name.text, size, box.style.text, True)


def _paint_chevrons(ink: Easel, places: np.ndarray) -> None:
    """Triangles that point right: these scopes are closed.

    Args:
        ink: where to paint.
        places: float64 [n, 3], middle x, middle y, size of the text beside it.
    """
    x, y, size = places.T
    reach, half = size * 0.2, size * 0.28
    tip = np.stack([x + reach, y], axis=1)
    ink.painter.setPen(QPen(ink.color("canvas.muted"), 1.5, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap))
    for side in (-1, 1):
        draw_lines(ink.painter, np.concatenate([np.stack([x - reach, y + side * half], axis=1), tip], axis=1))
