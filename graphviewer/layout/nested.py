"""Scope trees with some scopes open: every open scope is a layered layout of its own inside its box."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property
from heapq import heappop, heappush
from typing import Literal

import numpy as np

from graphviewer.layout.arrays import Floats, Ints, Mask
from graphviewer.layout.assembly import Assembly
from graphviewer.layout.auxiliary import Tucks, find_tucks
from graphviewer.layout.drawing import (
    CHIP_HEIGHT,
    LEAF_HEIGHT,
    LEAST_WIDTH,
    MOST_WIDTH,
    PADDING,
    SCOPE_HEIGHT,
    TITLE_HEIGHT,
    Drawing,
)
from graphviewer.layout.layered import Placement, Topology, place, prepare, turned
from graphviewer.layout.stacks import stacked
from graphviewer.layout.style import Style
from graphviewer.layout.tucking import Tucked, chip_widths
from graphviewer.model.scopes import ROOT, Scopes

HUB_DEGREE, SCOPE_HUB_DEGREE = 24, 96
"""Neighbours beyond which an op, or a scope, wrecks a layout (RestoreV2 feeds every variable)."""
READABLE = 400
"""Boxes a first picture should not exceed."""
KEPT = 1_000
"""Placements kept for the next drawing; one of 1,000 boxes takes 0.1 MB."""
CHARACTER, LABEL_MARGIN, SCOPE_MARGIN = 7.0, 16.0, 32.0


def label_widths(scopes: Scopes, first: int = 0) -> Floats:
    """Widths that labels need by their number of characters, within limits; for scopes with room for their count.

    Returns:
        float64 [items from ``first`` on].
    """
    is_scope, size = scopes.is_scope[first:], scopes.size[first:]
    length = np.array([len(label) for label in scopes.labels[first:]], np.float64)
    digits = np.where(is_scope, np.floor(np.log10(np.maximum(size, 1))) + 1, 0)
    margin = np.where(is_scope, SCOPE_MARGIN, LABEL_MARGIN)
    return np.clip(CHARACTER * (length + digits) + margin, LEAST_WIDTH, MOST_WIDTH)


def hub_edges(scopes: Scopes, tucks: Tucks) -> Mask:
    """Sibling edges that stay out of the layering because an end has too many neighbours.

    An op is a hub with more than ``HUB_DEGREE`` neighbours on one side. Scopes as such have many neighbours: one must
    also be connected to more than half of its siblings, or to more than ``SCOPE_HUB_DEGREE``. Data edges
    count apart from control edges, so that a NoOp that waits for hundreds of nodes keeps its few data edges. The edges
    of chips count as those of the boxes that they are beside.

    Returns:
        bool [sibling edges].
    """
    edges, count = scopes.sibling_edges, len(scopes)
    siblings = np.bincount(scopes.parent[1:], minlength=count)[np.maximum(scopes.parent, 0)]
    hub, ends = np.zeros(len(edges.a), np.bool_), (tucks.laid_out(edges.a), tucks.laid_out(edges.b))
    apart = ends[0] != ends[1]
    for kind in (edges.control & apart, ~edges.control & apart):
        a, b = (end[kind] for end in ends)
        degree = np.maximum(np.bincount(a, minlength=count), np.bincount(b, minlength=count))
        is_hub = (degree > HUB_DEGREE) & (~scopes.is_scope | (2 * degree > siblings) | (degree > SCOPE_HUB_DEGREE))
        hub[kind] = is_hub[a] | is_hub[b]
    return hub


@dataclass(frozen=True, eq=False)
class _LayoutEdges:
    """The sibling edges that take part in layering, by parent, as places among the siblings."""

    source: Ints
    target: Ints
    start: list[int]
    laid_out: Mask

    @classmethod
    def of(cls, scopes: Scopes, hub: Mask, tucks: Tucks) -> _LayoutEdges:
        """The edges of ``scopes``, those of chips leading to and from the boxes that they are beside."""
        edges = scopes.sibling_edges
        a, b = tucks.laid_out(edges.a), tucks.laid_out(edges.b)
        keep = ~(hub | edges.control) & (a != b)
        start = np.r_[0, np.cumsum(keep)][edges.start]
        place_of = _places_among(scopes, tucks.is_main)
        return cls(place_of[a[keep]], place_of[b[keep]], start.tolist(), keep)


def _places_among(scopes: Scopes, chosen: Mask) -> Ints:
    """int64 [items]: positions among those siblings that are ``chosen`` (bool [items])."""
    order = np.argsort(scopes.parent, kind="stable")
    position, place = np.arange(len(order)), scopes.place[order].astype(np.int64)
    others = np.r_[0, np.cumsum(~chosen[order])]
    found = np.empty(len(order), np.int64)
    found[order] = place - (others[position] - others[position - place])
    return found


class NestedLayout:
    """Drawings of one scope tree.

    Layouts are kept: equal scopes share one, and a scope that opens moves what is around it without changing any
    order. Not for several threads at once.
    """

    def __init__(
        self,
        scopes: Scopes,
        widths: Floats | None = None,
        *,
        direction: Literal["down", "right"] = "down",
        tucked: bool = False,
    ) -> None:
        """A layout of ``scopes``.

        Args:
            scopes: the tree.
            widths: float [items], widths of closed boxes; by the length of their labels if absent.
            direction: where edges lead.
            tucked: ops that only serve others are chips.
        """
        self.scopes = scopes
        self._given = label_widths(scopes) if widths is None else np.asarray(widths, np.float64)
        self._sideways, self._is_tucked = direction == "right", tucked
        self._topologies: dict[tuple[int, bytes, bytes], Topology] = {}
        self._topology_of: dict[int, Topology] = {}
        self._placements: dict[tuple[int, bytes, bytes, bytes], Placement] = {}
        self._styled: dict[Style, NestedLayout] = {}
        self._last: tuple[list[int], Drawing] | None = None

    def styled(self, style: Style) -> NestedLayout:
        """The layout of the same graph in another style; made once."""
        if style not in self._styled:
            scopes = stacked(self.scopes) if style.stacked else self.scopes
            widths = self._given
            if len(scopes) > len(self.scopes):
                widths = np.r_[widths, label_widths(scopes, len(widths))]
            made = NestedLayout(scopes, widths, direction=style.direction, tucked=style.tucked)
            made._topologies = self._topologies
            self._styled[style] = made
        return self._styled[style]

    @cached_property
    def _hub(self) -> Mask:
        return hub_edges(self.scopes, self._tucks)

    @cached_property
    def _edges(self) -> _LayoutEdges:
        return _LayoutEdges.of(self.scopes, self._hub, self._tucks)

    @cached_property
    def _tucks(self) -> Tucks:
        return find_tucks(self.scopes) if self._is_tucked else Tucks.none(len(self.scopes))

    @cached_property
    def _closed(self) -> tuple[Floats, Floats]:
        """Widths and heights of closed boxes."""
        heights = np.where(self.scopes.is_scope, SCOPE_HEIGHT, LEAF_HEIGHT)
        if not self._is_tucked:
            return self._given, heights
        more = self._tucks.behind(self.scopes)
        counts = np.where(more > 0, CHARACTER * (np.floor(np.log10(np.maximum(more, 1))) + 3), 0.0)
        return (
            chip_widths(self._given + counts, self._tucks.host, self._sideways),
            np.where(self._tucks.host >= 0, CHIP_HEIGHT, heights),
        )

    def visible_scopes(self, open_items: Collection[int]) -> list[int]:
        """The open scopes that show: those in ``open_items`` around which all scopes are open, the root first."""
        is_open = np.zeros(len(self.scopes), np.bool_)
        is_open[np.fromiter(open_items, np.int64, len(open_items))] = True
        is_open &= self.scopes.is_scope & self._tucks.is_drawn
        is_open[ROOT] = True
        found = [np.array([ROOT])]
        for items in self.scopes.levels[1:]:
            here = is_open[items] & is_open[self.scopes.parent[items]]
            is_open[items] = here
            if not here.any():
                break
            found.append(items[here])
        visible: list[int] = np.concatenate(found).tolist()
        return visible

    def draw(self, open_items: Collection[int]) -> Drawing:
        """Boxes and edges with exactly these scopes open.

        Args:
            open_items: scopes; those inside closed ones and leaves are of no consequence. The root is always open.
        """
        visible = self.visible_scopes(open_items)
        if self._last is not None and self._last[0] == visible:  # a tab that is shown again
            return self._last[1]
        w, h = self._closed[0].copy(), self._closed[1].copy()
        placements = [self._arrange(item, w, h) for item in reversed(visible)][::-1]
        made = Assembly(self.scopes, self._hub, self._edges.laid_out, self._tucks, visible, placements, w, h).drawing()
        self._last = visible, made
        return made

    def _arrange(self, item: int, w: Floats, h: Floats) -> Placement:
        """Lay out the children of an open scope and set the scope's own size."""
        children = self._tucks.drawn(self.scopes.children(item))
        host = self._tucks.host[children]
        chips = np.flatnonzero(host >= 0)
        topology = self._topology(item, len(children) - len(chips))
        sizes = (w[children], h[children])
        places = np.full(len(children), -1, np.int64)
        places[chips] = np.searchsorted(children, host[chips])  # children come in order of their numbers
        key = (id(topology), sizes[0].tobytes(), sizes[1].tobytes(), places.tobytes() if len(chips) else b"")
        placement = self._placements.get(key)
        if placement is None:
            if len(chips):
                placement = Tucked(places, *sizes, self._sideways).place(topology)
            elif self._sideways:
                placement = turned(place(topology, sizes[1], sizes[0]))
            else:
                placement = place(topology, *sizes)
            if len(self._placements) >= KEPT:
                self._placements.clear()
            self._placements[key] = placement
        w[item] = max(self._given[item], placement.width + 2 * PADDING)
        h[item] = placement.height + 2 * PADDING + TITLE_HEIGHT
        return placement

    def _topology(self, item: int, count: int) -> Topology:
        topology = self._topology_of.get(item)
        if topology is None:
            first, last = self._edges.start[item], self._edges.start[item + 1]
            source, target = self._edges.source[first:last], self._edges.target[first:last]
            key = (count, source.tobytes(), target.tobytes())
            topology = self._topologies.get(key)
            if topology is None:
                topology = self._topologies[key] = prepare(count, source, target)
            self._topology_of[item] = topology
        return topology


def initial_open(
    scopes: Scopes, at_least: int = 20, *, within: int = ROOT, closed: Collection[int] = ()
) -> frozenset[int]:
    """Scopes to open for the first picture: the largest, then the next, until enough boxes show or all is open.

    A scope with so many children that the picture could not be read stays closed as long as there is another one.
    If only such scopes are left, the largest is opened all the same: Keras puts a whole network into one scope.

    Args:
        scopes: the tree.
        at_least: how many boxes to show, frames of open scopes not counted.
        within: the scope to look at; it is opened itself.
        closed: scopes that stay closed.
    """
    counts = np.bincount(scopes.parent[1:], minlength=len(scopes)).tolist()
    opened = {within}
    shown = counts[within]
    waiting: list[tuple[int, int]] = []
    crowded: list[tuple[int, int]] = []
    item = within
    while True:
        children = scopes.children(item)
        for child in children[scopes.is_scope[children]].tolist():
            if child not in closed:
                heappush(waiting, (-int(scopes.size[child]), child))
        while waiting and shown + counts[waiting[0][1]] > READABLE:
            heappush(crowded, heappop(waiting))
        if shown >= at_least or not (waiting or crowded):
            return frozenset(opened)
        item = heappop(waiting or crowded)[1]
        opened.add(item)
        shown += counts[item] - 1
