"""Texts on edges: counts of bundles, shapes of tensors, and the short ends of edges at hubs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QPen

from graphviewer.gui.canvas.boxes import Shown
from graphviewer.gui.canvas.easel import Easel
from graphviewer.gui.canvas.lettering import CAPITAL, Writing
from graphviewer.gui.canvas.shapes import Floats, draw_lines

Indices = NDArray[np.intp]

STUB_SCALE, LABEL_SCALE, SHAPE_SCALE = 0.5, 0.78, 1.0
"""Scales from which stubs, counts, and shapes of tensors are shown."""


def text_pixels(scale: float) -> float:
    """The size of texts on edges."""
    return 9 * min(scale, 1.4)


def write_labels(ink: Easel, edges: Indices) -> None:
    """Counts on bundles, and the shape of the tensor on single edges; where two would collide, the larger bundle's."""
    texts = _label_texts(ink, edges)
    if not texts:
        return
    labelled = np.fromiter(texts, np.intp)
    x, y, room = _middles(ink, labelled)
    size, writing = text_pixels(ink.camera.scale), Writing(ink.look.lettering)
    depth = ink.scene.drawing.depth[ink.scene.drawing.source[labelled]]
    seen = (room >= size * 1.6) & (x > 0) & (x < ink.camera.width) & (y > 0) & (y < ink.camera.height)
    order = np.argsort(-ink.scene.drawing.count[labelled], kind="stable")
    taken: list[QRectF] = []
    ink.painter.setPen(Qt.PenStyle.NoPen)
    for at in order[seen[order]].tolist():
        fitted = writing.lettering.fit(texts[int(labelled[at])], 16)
        width = (fitted.width + 0.7) * size
        ground = QRectF(x[at] - width / 2, y[at] - size * 0.68, width, size * 1.36)
        if not any(ground.intersects(other) for other in taken):
            taken.append(ground)
            ink.painter.setBrush(ink.look.ground(int(depth[at])))
            ink.painter.drawRect(ground)
            left, baseline = x[at] - fitted.width * size / 2, y[at] + CAPITAL / 2 * size
            writing.add(left, baseline, fitted.text, size, ink.color("canvas.muted"))
    writing.draw(ink.painter)


def _label_texts(ink: Easel, edges: Indices) -> dict[int, str]:
    drawing, scene = ink.scene.drawing, ink.scene
    bundles = edges[drawing.count[edges] > 1]
    texts = {edge: f"{count:,}" for edge, count in _pairs(bundles, drawing.count)}
    if scene.shape_of is not None and ink.camera.scale >= SHAPE_SCALE:
        for edge, node in _pairs(edges, scene.node[drawing.source]):
            if node >= 0 and (shape := scene.shape_of(node)):
                texts[edge] = shape
    return texts


def _pairs(edges: Indices, values: NDArray[np.int32]) -> zip[tuple[int, int]]:
    return zip(edges.tolist(), values[edges].tolist(), strict=True)


def _middles(ink: Easel, edges: Indices) -> tuple[Floats, Floats, Floats]:
    """Where a text goes on each edge: the middle of its first long vertical stretch, with the height there."""
    drawing, camera = ink.scene.drawing, ink.camera
    first = drawing.offsets[:-1][edges]
    pieces = np.diff(drawing.offsets)[edges] - 1
    owner = np.repeat(np.arange(len(edges)), pieces)
    at = first[owner] + np.arange(len(owner)) - np.repeat(np.cumsum(pieces) - pieces, pieces)
    height = np.abs(drawing.points[at + 1, 1] - drawing.points[at, 1])
    # The tallest piece of each edge; ties go to the first.
    order = np.lexsort((-height, owner))
    best = order[np.searchsorted(owner[order], np.arange(len(edges)))]
    low, high = drawing.points[at[best]].astype(np.float64), drawing.points[at[best] + 1].astype(np.float64)
    middle = (low + high) / 2
    return camera.x(middle[:, 0]), camera.y(middle[:, 1]), height[best].astype(np.float64) * camera.scale


INTO, OUT_OF = 0, 1
"""The sides of a box: what feeds it, and what it feeds."""


def stub_places(rect: Floats, side: int, scale: float) -> tuple[Floats, Floats, Floats]:
    """Where stubs stand on boxes: x, y of the foot, y of the tip; all float64 [boxes], in pixels.

    Those of the two sides are in different corners, so that they do not meet between two boxes.
    """
    x, y, w, h = rect.T
    inset = np.minimum(16 * scale, w / 4)
    if side == INTO:
        return x + inset, y, y - 9 * scale
    return x + w - inset, y + h, y + h + 9 * scale


def paint_stubs(ink: Easel, shown: Shown) -> None:
    """Short ends, with a count, of edges that the layout took out because a neighbour has too many."""
    counts = ink.scene.hub_counts[:, shown.box]
    scale = ink.camera.scale
    if scale < STUB_SCALE or not counts.any():
        return
    writing, size = Writing(ink.look.lettering), text_pixels(scale)
    stem, dot = QPen(ink.look.edges["data"], 1), QPen(ink.look.edges["data"], 4)
    dot.setCapStyle(Qt.PenCapStyle.RoundCap)
    for side in (INTO, OUT_OF):
        some = np.flatnonzero(counts[side])
        foot_x, foot_y, tip_y = stub_places(shown.rect[some], side, scale)
        ink.painter.setPen(stem)
        draw_lines(ink.painter, np.stack([foot_x, foot_y, foot_x, tip_y], axis=1))
        ink.painter.setPen(dot)
        draw_lines(ink.painter, np.stack([foot_x, tip_y, foot_x + 0.01, tip_y], axis=1))
        if scale >= LABEL_SCALE:
            for at_x, at_y, count in zip(foot_x.tolist(), tip_y.tolist(), counts[side][some].tolist(), strict=True):
                text = writing.lettering.fit(f"{count:,}", 12).text if count > 1 else ""
                writing.add(at_x + 5, at_y + CAPITAL / 2 * size, text, size, ink.color("canvas.muted"))
    writing.draw(ink.painter)
