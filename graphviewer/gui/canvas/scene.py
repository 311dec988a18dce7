"""A scene: everything the canvas paints, as immutable arrays made once per change, never per frame."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from graphviewer.gui.canvas.camera import READABLE_SCALE, beginning
from graphviewer.gui.canvas.edge_classes import edge_classes
from graphviewer.gui.canvas.flags import Endpoints, Flag
from graphviewer.gui.canvas.kinds import Kind, kinds_of
from graphviewer.gui.canvas.trace import Trace, inside_boxes, lift_pairs, trace
from graphviewer.layout.drawing import Drawing, empty_drawing
from graphviewer.model.graph import Graph
from graphviewer.model.overlay import NONE, Overlay
from graphviewer.model.scopes import Scopes, build_scopes

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]
Mask = NDArray[np.bool_]

MIXED = -2
"""Category of a box whose nodes do not agree."""

UNIFORM_SHARE = 0.97
"""A scope with this share of one category is painted as that category."""

WARNING_MARKERS = frozenset({"training_mode", "random"})


@dataclass(frozen=True, eq=False)
class Scene:
    """What is drawn, and what is laid over it.

    Attributes:
        overlay: colours; None for plain boxes.
        hidden: categories of the overlay whose nodes are ghosts.
        endpoints: nodes with flags.
        selection: items of the scope tree; one whose box is not drawn lights the scope around it.
        functions: ops that look like calls: names of library functions, and ops that call one by an attribute.
        op_first: write the op large and the name small.
        edge_status: int8 [edges], what a comparison says of them (``model.overlay.EDGE_STATUSES``); edges inside
            functions come behind, and it says nothing of them.
        shape_of: text of the tensor that a node puts out, for edges; called for edges in view only.
        node_bytes: int64 [nodes] size of what a node puts out, 0 where unknown; makes edges wide.
    """

    drawing: Drawing
    scopes: Scopes
    overlay: Overlay | None = None
    hidden: frozenset[str] = frozenset()
    endpoints: Endpoints = field(default_factory=Endpoints)
    selection: frozenset[int] = frozenset()
    functions: frozenset[str] = frozenset()
    op_first: bool = False
    edge_status: NDArray[np.int8] | None = None
    shape_of: Callable[[int], str] | None = None
    node_bytes: NDArray[np.int64] | None = None

    def with_selection(self, items: Iterable[int]) -> Scene:
        """The same scene with other items selected; what does not depend on them is not made again."""
        return self._carry(replace(self, selection=frozenset(items)), ("selected", "lit"))

    def moved(self, bounds: Floats) -> Scene:
        """The same boxes at other places and without edges: a step of a motion."""
        left, top, right, bottom = bounds.astype(np.float32)
        nowhere = np.zeros(len(self.drawing.source) + 1, np.int32)
        drawing = replace(self.drawing, x=left, y=top, w=right - left, h=bottom - top, offsets=nowhere)
        gone = ("bounds", "routed", "edge_bounds", "is_sideways", "lit", "hub_counts")
        return self._carry(replace(self, drawing=drawing, selection=frozenset()), gone)

    def _carry(self, changed: Scene, but: Collection[str]) -> Scene:
        """Hand what was worked out over to a changed copy."""
        fields = self.__dataclass_fields__
        known = {name: value for name, value in self.__dict__.items() if name not in fields and name not in but}
        changed.__dict__.update(known)
        return changed

    # -- boxes --------------------------------------------------------------------------------------------------

    @cached_property
    def bounds(self) -> Floats:
        """float64 [4, boxes]: left, top, right, bottom; float32 is too coarse for what is 400,000 units away."""
        drawing = self.drawing
        left, top = drawing.x.astype(np.float64), drawing.y.astype(np.float64)
        return np.stack([left, top, left + drawing.w, top + drawing.h])

    @cached_property
    def node(self) -> Ints:
        """int32 [boxes]: the node of a leaf, -1 for a scope."""
        return self.scopes.node[self.drawing.item]

    @cached_property
    def kind(self) -> NDArray[np.int8]:
        """int8 [boxes]: ``Kind``."""
        kind = np.where(self.drawing.is_open, Kind.FRAME, Kind.SCOPE).astype(np.int8)
        leaf = self.node >= 0
        ops = self.scopes.graph.ops
        kind[leaf] = kinds_of([ops[node] for node in self.node[leaf].tolist()], self.functions)
        return kind

    @cached_property
    def frames(self) -> Ints:
        """int32: open boxes, outer before inner."""
        return np.flatnonzero(self.drawing.is_open).astype(np.int32)

    @cached_property
    def solids(self) -> Ints:
        """int32: closed boxes and leaves."""
        return np.flatnonzero(~self.drawing.is_open).astype(np.int32)

    @cached_property
    def box_of_item(self) -> Ints:
        """int32 [items]: the box of an item, or of the nearest drawn scope around it; -1 where there is none."""
        box = np.full(len(self.scopes), -1, np.int32)
        box[self.drawing.item] = np.arange(len(self.drawing))
        box[self.drawing.behind] = self.drawing.behind_box
        for items in self.scopes.levels[1:]:
            items = items[box[items] < 0]
            box[items] = box[self.scopes.parent[items]]
        return box

    @cached_property
    def box_of_node(self) -> Ints:
        """int32 [nodes]: where each node is to be seen."""
        return self.box_of_item[self.scopes.leaf]

    @cached_property
    def selected(self) -> tuple[int, ...]:
        """The selected boxes."""
        items = [item for item in self.selection if 0 <= item < len(self.scopes)]
        return tuple(sorted({int(self.box_of_item[item]) for item in items} - {-1}))

    @cached_property
    def more(self) -> Ints:
        """int32 [boxes]: nodes that are not drawn because this box, a chip, stands for them."""
        drawing = self.drawing
        return np.bincount(drawing.behind_box, self.scopes.size[drawing.behind], len(drawing)).astype(np.int32)

    def shows(self, item: int) -> bool:
        """Whether an item has a box, or a chip stands for it or for a scope around it."""
        box = int(self.box_of_item[item])
        return box >= 0 and bool(self.drawing.item[box] == item or self.more[box] > 0)

    def items_behind(self, box: int) -> list[int]:
        """The items that a chip stands for, its own first; none for a box that stands for itself."""
        behind = self.drawing.behind[self.drawing.behind_box == box].tolist()
        return [int(self.drawing.item[box]), *behind] if behind else []

    @cached_property
    def size(self) -> Ints:
        """int32 [boxes]: nodes inside, or behind, each box."""
        return self.scopes.size[self.drawing.item] + self.more

    def label(self, box: int) -> str:
        """The name on a box, and for how many more nodes it stands."""
        name, more = self.scopes.labels[self.drawing.item[box]], int(self.more[box])
        return f"{name} +{more:,}" if more else name

    def op(self, box: int) -> str:
        """The op of a leaf; empty for a scope."""
        node = int(self.node[box])
        return self.scopes.graph.ops[node] if node >= 0 else ""

    def box_at(self, x: float, y: float) -> int:
        """The innermost box at a point of the scene, -1 where there is none."""
        left, top, right, bottom = self.bounds
        hit = np.flatnonzero((left <= x) & (x < right) & (top <= y) & (y < bottom))
        return int(hit[-1]) if len(hit) else -1

    def boxes_near(self, x: float, y: float, most: int) -> list[int]:
        """The closed boxes and leaves nearest to a point of the scene, the nearest one first."""
        left, top, right, bottom = self.bounds[:, self.solids]
        across = np.maximum(np.maximum(left - x, x - right), 0)
        down = np.maximum(np.maximum(top - y, y - bottom), 0)
        return self.solids[np.argsort(across + down, kind="stable")[:most]].tolist()

    # -- overlay ------------------------------------------------------------------------------------------------

    @cached_property
    def shares(self) -> Ints:
        """int32 [boxes, categories]: nodes of each category inside each box."""
        if self.overlay is None:
            return np.zeros((len(self.drawing), 0), np.int32)
        table, drawing = self.overlay.by_item(self.scopes), self.drawing
        shares = table[drawing.item]
        np.add.at(shares, drawing.behind_box, table[drawing.behind])
        return shares

    @cached_property
    def told(self) -> tuple[Ints, Ints]:
        """``shares``, and int32 [boxes] of how many nodes: what a box tells of the nodes inside.

        One search hit among a thousand other nodes is what a reader looks for: where a box holds anything of another
        category, ``other`` nodes do not count.
        """
        shares, inside = self.shares, np.maximum(self.size, 1)
        if self.overlay is not None and "other" in self.overlay.categories:
            speaking = shares.copy()
            speaking[:, list(self.overlay.categories).index("other")] = 0
            known = speaking.sum(axis=1)
            shares = np.where((known > 0)[:, None], speaking, shares)
            inside = np.where(known > 0, known, inside)
        return shares.astype(np.int32), inside.astype(np.int32)

    @cached_property
    def category(self) -> Ints:
        """int32 [boxes]: index into the overlay's categories, NONE (-1), or MIXED (-2)."""
        shares, inside = self.told
        if not shares.shape[1]:
            return np.full(len(self.drawing), NONE, np.int32)
        largest = shares.argmax(axis=1).astype(np.int32)
        most, known = shares[np.arange(len(shares)), largest], shares.sum(axis=1)
        category = np.where(most >= UNIFORM_SHARE * inside, largest, MIXED)
        return np.where(known == 0, NONE, category).astype(np.int32)

    @cached_property
    def is_hidden(self) -> Mask:
        """bool [boxes]: all nodes inside are of hidden categories."""
        if self.overlay is None or not self.hidden:
            return np.zeros(len(self.drawing), bool)
        columns = [at for at, name in enumerate(self.overlay.categories) if name in self.hidden]
        return self.shares[:, columns].sum(axis=1) >= self.size

    @cached_property
    def holds_first(self) -> Mask:
        """bool [boxes]: some node inside has the overlay's first category (``inference`` among roles)."""
        return self.shares[:, 0] > 0 if self.shares.shape[1] else np.ones(len(self.drawing), bool)

    @cached_property
    def stands_out(self) -> Mask:
        """bool [boxes]: edges between two of these are strong, others faint."""
        if self.overlay is None or "other" not in self.overlay.categories:
            return self.holds_first
        return self.category != list(self.overlay.categories).index("other")

    @cached_property
    def warned(self) -> Mask:
        """bool [boxes]: holds a node of the inference path that is random or in training mode."""
        warned = np.zeros(len(self.drawing), bool)
        if self.overlay is not None:
            for node, markers in self.overlay.markers.items():
                if markers & WARNING_MARKERS and self.overlay.category(node) == "inference":
                    warned[self.box_of_node[node]] = True
        return warned

    @cached_property
    def flags(self) -> tuple[Flag, ...]:
        """The flags to show; that of a chosen endpoint hides a suggestion for the same box."""
        flags: dict[tuple[int, bool], Flag] = {}
        ends = self.endpoints
        for nodes, is_output, is_chosen in (
            (ends.outputs, True, True),
            (ends.inputs, False, True),
            (ends.suggested_outputs, True, False),
            (ends.suggested_inputs, False, False),
        ):
            for node in nodes:
                if 0 <= node < len(self.box_of_node) and (box := int(self.box_of_node[node])) >= 0:
                    flags.setdefault((box, is_output), Flag(box, is_output, is_chosen))
        return tuple(flags.values())

    # -- edges --------------------------------------------------------------------------------------------------

    @cached_property
    def routed(self) -> Ints:
        """int32: edges with points, both ends shown."""
        drawing = self.drawing
        shown = np.diff(drawing.offsets) >= 2
        shown &= ~self.is_hidden[drawing.source] & ~self.is_hidden[drawing.target]
        return np.flatnonzero(shown).astype(np.int32)

    @cached_property
    def edge_bounds(self) -> Floats:
        """float64 [4, routed edges]: left, top, right, bottom of each edge in ``routed``."""
        offsets, points = self.drawing.offsets, self.drawing.points.astype(np.float64)
        if not len(self.routed):
            return np.zeros((4, 0))
        starts = offsets[:-1][self.routed]
        stops = offsets[1:][self.routed]
        # reduceat over [start, stop) pairs: every second result is the gap between edges and is dropped.
        pairs = np.stack([starts, stops], axis=1).ravel()
        padded = np.concatenate([points, points[-1:]])
        low, high = (f.reduceat(padded, pairs, axis=0)[::2] for f in (np.minimum, np.maximum))
        return np.concatenate([low.T, high.T])

    @cached_property
    def is_sideways(self) -> bool:
        """The drawing runs from left to right: most edges leave their source's right side, not its bottom."""
        drawing = self.drawing
        first = drawing.points.astype(np.float64)[drawing.offsets[:-1][self.routed]]
        _, _, right, bottom = self.bounds[:, drawing.source[self.routed]]
        at_right, at_bottom = np.abs(first[:, 0] - right) < 0.5, np.abs(first[:, 1] - bottom) < 0.5
        return bool(at_right.sum() > at_bottom.sum())

    @cached_property
    def edge_class(self) -> NDArray[np.int8]:
        """int8 [edges]: index into ``EDGE_CLASSES``."""
        return edge_classes(self)

    @cached_property
    def edge_of_graph_edge(self) -> Ints:
        """int32 [graph edges]: the drawn edge that stands for it, -1 where none does."""
        graph = self.scopes.graph
        return lift_pairs(self.drawing, self.box_of_node[graph.src], self.box_of_node[graph.dst])

    @cached_property
    def edge_width(self) -> Floats:
        """float64 [edges]: width in pixels, 1 to 3, by the log of the bytes that flow, or of the edges."""
        drawing = self.drawing
        if self.node_bytes is None or not self.node_bytes.any():
            return 1.0 + np.clip(np.log2(np.maximum(drawing.count, 1)) - 2, 0, 6) / 6
        graph = self.scopes.graph
        flows = np.flatnonzero(~graph.control & (self.node_bytes[graph.src] > 0))
        edges = lift_pairs(drawing, self.box_of_node[graph.src[flows]], self.box_of_node[graph.dst[flows]])
        size = np.zeros(len(drawing.source), np.int64)
        np.maximum.at(size, edges[edges >= 0], self.node_bytes[graph.src[flows[edges >= 0]]])
        return 1.0 + np.clip(np.log2(np.maximum(size, 1)) - 10, 0, 16) / 8

    @cached_property
    def hub_counts(self) -> Ints:
        """int32 [2, boxes]: edges into, and out of, each box that are drawn as stubs."""
        drawing = self.drawing
        hub = drawing.hub & ~drawing.control
        counts = (np.bincount(ends[hub], drawing.count[hub], len(drawing)) for ends in (drawing.target, drawing.source))
        return np.stack(list(counts)).astype(np.int32)

    @cached_property
    def lit(self) -> Trace:
        """What the selection lights up: its edges, their real ends, and the boxes there."""
        return trace(self, self.selected)

    def start(self, across: float, down: float) -> tuple[float, float]:
        """The middle, in scene units, of what a window of so many pixels shows first of a large drawing."""
        window = across / READABLE_SCALE, down / READABLE_SCALE
        return beginning(self.bounds[:, self.solids], window, is_sideways=self.is_sideways)

    def inside(self, box: int) -> Mask:
        """bool [boxes]: ``box`` and all boxes inside it."""
        return inside_boxes(self.drawing, box)


def empty_scene() -> Scene:
    """A scene without boxes."""
    return Scene(empty_drawing(), build_scopes(Graph.from_nodes([])))
