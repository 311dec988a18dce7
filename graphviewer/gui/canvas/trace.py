"""What a selection lights up: drawn edges at its boxes, and the real edges that cross the borders of scopes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from graphviewer.layout.drawing import Drawing
from graphviewer.model.scopes import lift_to_siblings

if TYPE_CHECKING:
    from graphviewer.gui.canvas.scene import Scene

Ints = NDArray[np.int32]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Trace:
    """Lit edges and neighbours; "in" flows into the selection, "out" flows out of it.

    Attributes:
        edges_in, edges_out: drawn edges with points.
        source, target: int32 [curves], boxes joined by no drawn edge, to be joined by a curve.
        is_in: bool [curves], the curve flows into the selection.
        control: bool [curves], only control edges run between the two.
        boxes_in, boxes_out: the boxes at the other ends.
    """

    edges_in: Ints
    edges_out: Ints
    source: Ints
    target: Ints
    is_in: Mask
    control: Mask
    boxes_in: Ints
    boxes_out: Ints


def inside_boxes(drawing: Drawing, box: int) -> Mask:
    """bool [boxes]: ``box`` and all boxes inside it. Boxes come outer before inner, so depth orders the work."""
    inside = np.zeros(len(drawing), bool)
    inside[box] = True
    if drawing.is_open[box]:
        for depth in range(int(drawing.depth[box]) + 1, int(drawing.depth.max(initial=0)) + 1):
            level = np.flatnonzero(drawing.depth == depth)
            found = inside[drawing.parent[level]]
            if not found.any():
                break
            inside[level[found]] = True
    return inside


def lift_pairs(drawing: Drawing, source: Ints, target: Ints) -> Ints:
    """int32 [pairs]: the drawn edge between two boxes, or between the open scopes around them that are siblings."""
    a, b = source.copy(), target.copy()
    alive = (a >= 0) & (b >= 0)
    a[~alive] = b[~alive] = 0
    if not len(drawing):
        return np.full(len(a), -1, np.int32)
    a, b = lift_to_siblings(a, b, drawing.parent, drawing.depth)
    key = drawing.source.astype(np.int64) * len(drawing) + drawing.target
    order = np.argsort(key, kind="stable")
    wanted = a.astype(np.int64) * len(drawing) + b
    at = np.minimum(np.searchsorted(key[order], wanted), max(len(key) - 1, 0))
    if not len(key):
        return np.full(len(a), -1, np.int32)
    edge = order[at]
    return np.where(alive & (key[edge] == wanted) & (a != b), edge, -1).astype(np.int32)


def trace(scene: Scene, boxes: Sequence[int]) -> Trace:
    """What the boxes light up (resnet152, 475,000 edges: 8 ms the first time, 3 ms then)."""
    drawing, graph = scene.drawing, scene.scopes.graph
    inside = np.zeros(len(drawing) + 1, bool)  # the last one stands for nodes that are not drawn
    for box in boxes:
        inside[:-1] |= inside_boxes(drawing, box)
    pairs = []
    if boxes:
        source, target = scene.box_of_node[graph.src], scene.box_of_node[graph.dst]
        speaks = _speaking(scene)
        within_source, within_target = inside[source] & speaks[graph.src], inside[target] & speaks[graph.dst]
        for crossing in (within_target & ~within_source, within_source & ~within_target):
            pairs.append(_unique(source[crossing], target[crossing], graph.control[crossing], len(drawing)))
    else:
        nothing = np.zeros(0, np.int32)
        pairs = [(nothing, nothing, np.zeros(0, bool))] * 2
    chosen = np.zeros(len(drawing), bool)
    chosen[list(boxes)] = True
    has_points = np.diff(drawing.offsets) >= 2
    edges_in = np.flatnonzero(has_points & chosen[drawing.target] & ~chosen[drawing.source])
    edges_out = np.flatnonzero(has_points & chosen[drawing.source] & ~chosen[drawing.target])
    (source_in, target_in, control_in), (source_out, target_out, control_out) = pairs
    source, target = np.concatenate([source_in, source_out]), np.concatenate([target_in, target_out])
    control = np.concatenate([control_in, control_out])
    is_in = np.arange(len(source)) < len(source_in)
    shown = has_points | ~(drawing.hub | drawing.control)  # a chip lies beside its box: no line has to say so
    drawn = _pair_keys(drawing.source[shown], drawing.target[shown], len(drawing))
    extra = ~np.isin(_pair_keys(source, target, len(drawing)), drawn)
    return Trace(
        edges_in.astype(np.int32),
        edges_out.astype(np.int32),
        source[extra],
        target[extra],
        is_in[extra],
        control[extra],
        np.unique(source_in[~control_in]),
        np.unique(target_out[~control_out]),
    )


def _speaking(scene: Scene) -> Mask:
    """bool [nodes]: all but those for which a chip stands while others of the same chip are selected."""
    scopes = scene.scopes
    speaks = np.ones(len(scopes.graph), bool)
    for item in scene.selection:
        box = int(scene.box_of_item[item]) if 0 <= item < len(scopes) else -1
        if box >= 0 and scene.more[box]:
            for other in scene.items_behind(box):
                if other not in scene.selection:
                    speaks[scopes.nodes_inside(other)] = False
            speaks[scopes.nodes_inside(item)] = True
    return speaks


def _pair_keys(source: Ints, target: Ints, count: int) -> NDArray[np.int64]:
    return source.astype(np.int64) * count + target


def _unique(source: Ints, target: Ints, control: Mask, count: int) -> tuple[Ints, Ints, Mask]:
    """One entry per pair of drawn boxes; control only where no data flows."""
    drawn = (source >= 0) & (target >= 0)
    keys, back = np.unique(_pair_keys(source[drawn], target[drawn], count), return_inverse=True)
    data = np.bincount(back, ~control[drawn], len(keys)) > 0
    return (keys // count).astype(np.int32), (keys % count).astype(np.int32), ~data
