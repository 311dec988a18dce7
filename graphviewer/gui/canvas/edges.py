"""Paint edges: straight when far, curved when near, with arrows, counts and shapes where they can be read."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QPainter, QPen

from graphviewer.gui.canvas.easel import Easel
from graphviewer.gui.canvas.edge_classes import EDGE_CLASSES
from graphviewer.gui.canvas.edge_texts import LABEL_SCALE, write_labels
from graphviewer.gui.canvas.shapes import Floats, draw_lines, groups

Indices = NDArray[np.intp]

CURVED_SCALE, ARROW_SCALE = 0.35, 0.5
"""Scales from which edges bend, and have arrow heads."""

DASHED = ("control", "removed")
DASH, GAP = 4.0, 3.0
"""Classes of edges that are dashed; pixels of a dash, and between two."""

SHORTEST = 2.0
"""Edges whose extent is less than this many pixels are left out."""

STEPS = 12
_U = np.linspace(0.0, 1.0, STEPS + 1)
# A cubic that leaves and arrives along the flow; its control points are at half the way.
_ACROSS = _U * _U * (3 - 2 * _U)
_WITH_FLOW = 1.5 * _U * (1 - _U) + _U**3

FEW_CURVES, MOST_CURVES = 40, 240
"""More curves of a selection than the first are thin; beyond the second they are left out, being a solid surface."""


class Segments(NamedTuple):
    """Straight pieces in pixels, and the edge that each belongs to (a position in the list of edges asked for)."""

    lines: Floats
    edge: Indices


def edges_in_view(ink: Easel) -> Indices:
    """Edges of the drawing that touch the view and are long enough to see."""
    left, top, right, bottom = ink.scene.edge_bounds
    rect, shortest = ink.camera.rect, SHORTEST / ink.camera.scale
    seen = (left <= rect.right()) & (right >= rect.left()) & (top <= rect.bottom()) & (bottom >= rect.top())
    seen &= (right - left > shortest) | (bottom - top > shortest)
    return ink.scene.routed[seen].astype(np.intp)


def segments(ink: Easel, edges: Indices) -> Segments:
    """The pieces of some edges' polylines."""
    drawing, camera = ink.scene.drawing, ink.camera
    first, counts = drawing.offsets[:-1][edges], np.diff(drawing.offsets)[edges]
    pieces = counts - 1
    owner = np.repeat(np.arange(len(edges)), pieces)
    within = np.arange(len(owner)) - np.repeat(np.cumsum(pieces) - pieces, pieces)
    at = first[owner] + within
    points = drawing.points.astype(np.float64)[np.stack([at, at + 1])] if len(at) else np.zeros((2, 0, 2))
    x, y = camera.x(points[..., 0]), camera.y(points[..., 1])
    return Segments(np.stack([x[0], y[0], x[1], y[1]], axis=1), owner)


def curved(pieces: Segments, is_sideways: bool) -> Segments:
    """Each slanted piece as a curve of short pieces that leaves and arrives along the flow; others stay as they are."""
    x0, y0, x1, y1 = pieces.lines.T
    bends = np.minimum(np.abs(x1 - x0), np.abs(y1 - y0)) > 0.5
    bends &= np.abs(y1 - y0 if is_sideways else x1 - x0) > 1.5
    bent = pieces.lines[bends]
    start, way = bent[:, None, :2], (bent[:, 2:] - bent[:, :2])[:, None, :]
    points = start + way * np.stack([_WITH_FLOW, _ACROSS] if is_sideways else [_ACROSS, _WITH_FLOW], axis=1)
    short = np.concatenate([points[:, :-1], points[:, 1:]], axis=2).reshape(-1, 4)
    return Segments(
        np.concatenate([pieces.lines[~bends], short]),
        np.concatenate([pieces.edge[~bends], np.repeat(pieces.edge[bends], STEPS)]),
    )


def _visible(pieces: Segments, width: float, height: float) -> Segments:
    seen = _is_visible(pieces.lines, width, height)
    return Segments(pieces.lines[seen], pieces.edge[seen])


def _is_visible(lines: Floats, width: float, height: float) -> NDArray[np.bool_]:
    x0, y0, x1, y1 = lines.T
    seen = (np.maximum(x0, x1) > -8) & (np.minimum(x0, x1) < width + 8)
    return seen & (np.maximum(y0, y1) > -8) & (np.minimum(y0, y1) < height + 8)


def paint_edges(ink: Easel) -> None:
    """Paint all edges in view."""
    edges = edges_in_view(ink)
    if not len(edges):
        return
    scale = ink.camera.scale
    pieces = _visible(segments(ink, edges), ink.camera.width, ink.camera.height)
    if scale >= CURVED_SCALE:
        pieces = curved(pieces, ink.scene.is_sideways)
    classes = ink.scene.edge_class[edges]
    wide = np.round(ink.scene.edge_width[edges] * 2) if scale >= CURVED_SCALE else np.full(len(edges), 2.0)
    ink.painter.setRenderHint(QPainter.RenderHint.Antialiasing, True)
    keys = (_ORDER[classes] * 16 + wide.astype(np.int64))[pieces.edge]
    for key, members in groups(keys):
        name = _BY_ORDER[key // 16]
        ink.painter.setPen(edge_pen(ink, name, (key % 16) / 2))
        lines = pieces.lines[members]
        draw_lines(ink.painter, dashes(lines) if name in DASHED else lines)
    if scale >= ARROW_SCALE:
        _paint_arrows(ink, edges, classes)


def write_edge_texts(ink: Easel) -> None:
    """Write on the edges in view, over their lines and those of the selection."""
    if ink.camera.scale >= LABEL_SCALE and len(edges := edges_in_view(ink)):
        write_labels(ink, edges)


_BY_ORDER = ("faint", "control", "data", "reference", "strong", "removed", "added")
_ORDER = np.array([_BY_ORDER.index(name) for name in EDGE_CLASSES])


def edge_pen(ink: Easel, name: str, width: float = 1.0) -> QPen:
    """The pen of an edge class."""
    pen = QPen(ink.look.edges[name], width)
    if width <= 1:
        pen.setCosmetic(True)  # the fast way through Qt's rasteriser
    if name in DASHED:
        pen.setDashPattern([DASH, GAP])
    return pen


def dashes(lines: Floats) -> Floats:
    """Of the short pieces of curves those that fall on a dash: the pen begins anew with each piece."""
    length = np.hypot(lines[:, 2] - lines[:, 0], lines[:, 3] - lines[:, 1])
    middle = np.cumsum(length) - length / 2
    return lines[(length >= DASH + GAP) | (middle % (DASH + GAP) < DASH)]


def arrow_heads(tips: Floats, back: Floats, size: float) -> Floats:
    """float64 [2n, 4]: two short lines at each tip, open towards where the edge comes from."""
    way = tips - back
    length = np.maximum(np.hypot(way[:, 0], way[:, 1]), 1e-6)
    unit = way / length[:, None] * size
    side = np.stack([-unit[:, 1], unit[:, 0]], axis=1) * 0.55
    wings = [tips - unit + side, tips - unit - side]
    return np.concatenate([np.concatenate([wing, tips], axis=1) for wing in wings])


def _paint_arrows(ink: Easel, edges: Indices, classes: NDArray[np.int8]) -> None:
    tips, back = _ends(ink, edges)
    inside = (tips[:, 0] > -9) & (tips[:, 0] < ink.camera.width + 9) & (tips[:, 1] > -9)
    inside &= tips[:, 1] < ink.camera.height + 9
    size = float(np.clip(6.5 * ink.camera.scale, 4, 9))
    for code, members in groups(np.where(inside, classes, -1)):
        if code >= 0:
            ink.painter.setPen(QPen(ink.look.edges[EDGE_CLASSES[code]], 1.0))
            draw_lines(ink.painter, arrow_heads(tips[members], back[members], size))


def _ends(ink: Easel, edges: Indices) -> tuple[Floats, Floats]:
    """The last point of each edge, and one straight behind it: curves arrive at right angles to the box's side."""
    drawing, camera = ink.scene.drawing, ink.camera
    x, y = drawing.points.astype(np.float64)[drawing.offsets[1:][edges] - 1].T
    left, top, right, bottom = ink.scene.bounds[:, drawing.target[edges]]
    side = np.argmin(np.abs(np.stack([y - top, bottom - y, x - left, right - x])), axis=0)
    tip = np.stack([camera.x(x), camera.y(y)], axis=1)
    return tip, tip + _OUTWARDS[side]


_OUTWARDS = np.array([[0.0, -10.0], [0.0, 10.0], [-10.0, 0.0], [10.0, 0.0]])


# -- selection --------------------------------------------------------------------------------------------------


def paint_trace(ink: Easel) -> None:
    """The selection's edges, and curves for the real edges that the drawing has not."""
    lit = ink.scene.lit
    ink.painter.setRenderHint(QPainter.RenderHint.Antialiasing, True)
    for edges, token in ((lit.edges_in, "canvas.lit_in"), (lit.edges_out, "canvas.lit_out")):
        _paint_lit_edges(ink, edges.astype(np.intp), ink.color(token))
    if ink.scene.overlay is None or ink.scene.overlay.kind != "trace":  # which tells more of the same
        _paint_curves(ink)


def _paint_lit_edges(ink: Easel, edges: Indices, color: QColor) -> None:
    if not len(edges):
        return
    pieces = _visible(segments(ink, edges), ink.camera.width, ink.camera.height)
    ink.painter.setPen(QPen(color, 2.0, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap))
    draw_lines(ink.painter, curved(pieces, ink.scene.is_sideways).lines)
    tips, back = _ends(ink, edges)
    draw_lines(ink.painter, arrow_heads(tips, back, float(np.clip(7 * ink.camera.scale, 5, 10))))


def _paint_curves(ink: Easel) -> None:
    lit, (left, top, right, bottom) = ink.scene.lit, ink.scene.bounds
    if not len(lit.source):
        return
    camera = ink.camera
    middle_x, middle_y = camera.x((left + right) / 2), camera.y((top + bottom) / 2)
    if ink.scene.is_sideways:  # from side to side as the layout's own edges run
        flow, ends = np.array([1.0, 0.0]), ((camera.x(right), middle_y), (camera.x(left), middle_y))
    else:
        flow, ends = np.array([0.0, 1.0]), ((middle_x, camera.y(bottom)), (middle_x, camera.y(top)))
    start = np.stack([ends[0][0][lit.source], ends[0][1][lit.source]], axis=1)
    stop = np.stack([ends[1][0][lit.target], ends[1][1][lit.target]], axis=1)
    nearest = np.argsort(np.abs(stop - start).sum(axis=1), kind="stable")[:MOST_CURVES]
    lines, arrows = _overlay_curves(start[nearest], stop[nearest], flow)
    width = 1.6 if len(nearest) <= FEW_CURVES else 1.0
    for is_in, token in ((True, "canvas.lit_in"), (False, "canvas.lit_out")):
        for control in (False, True):
            chosen = (lit.is_in[nearest] == is_in) & (lit.control[nearest] == control)
            pen = QPen(ink.color(token), 1.0 if control else width)
            pieces = lines[chosen].reshape(-1, 4)
            if control:
                pen.setDashPattern([DASH, GAP])
                pieces = dashes(pieces)
            ink.painter.setPen(pen)
            draw_lines(ink.painter, pieces[_is_visible(pieces, camera.width, camera.height)])
            pen.setStyle(Qt.PenStyle.SolidLine)
            ink.painter.setPen(pen)
            draw_lines(ink.painter, arrows[chosen].reshape(-1, 4))


def _overlay_curves(start: Floats, stop: Floats, flow: Floats) -> tuple[Floats, Floats]:
    """Curves that leave and arrive along the flow, even when the target lies before the source.

    Returns:
        float64 [n, steps, 4] pieces, and float64 [n, 2, 4] arrow heads.
    """
    u = np.linspace(0.0, 1.0, 3 * STEPS + 1)[:, None]
    weights = [(1 - u) ** 3, 3 * (1 - u) ** 2 * u, 3 * (1 - u) * u**2, u**3]
    lean = np.clip(np.abs(stop - start).sum(axis=1) * 0.25, 18, 260)
    reach = lean[:, None] * flow
    corners = (start, start + reach, stop - reach, stop)
    points = sum(weight[None] * corner[:, None, :] for weight, corner in zip(weights, corners, strict=True))
    lines = np.concatenate([points[:, :-1], points[:, 1:]], axis=2)
    heads = arrow_heads(stop, stop - 10 * flow, 7.0)
    return lines, np.stack(np.split(heads, 2), axis=1)
