"""Recognise nodes by what they do and where they stand, whatever they are called.

Every free node has a colour: a number for its op and attributes. Linked nodes have the colour of their link, the same on
both sides. Mixing in the neighbours' colours, round by round and in both directions, makes a colour stand for an ever
larger neighbourhood (Weisfeiler and Leman, 1968); nodes whose colour occurs once on each side are the same node.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphviewer.analysis.diff.contents import exact_contents, loose_contents
from graphviewer.analysis.diff.pairing import STRUCTURE, Pairing
from graphviewer.model.graph import Graph, Ints, Mask

Colours = NDArray[np.uint64]

_DEPTHS = (16, 8, 4, 3, 2)
"""Rounds of colouring. The more context agrees the surer; nearer to an edit less context is left that can agree."""

_SURE = 4  # rounds that need no look at the neighbours; fewer might fit by chance
_MOST_ROUNDS = 1_000
_MOST_TIES = 64
_CONTROL = np.uint64(0x9E3779B97F4A7C15)
_IN, _OUT = np.uint64(0xD1B54A32D192ED03), np.uint64(0x8CB92BA72F3D8DD7)


def by_structure(pairing: Pairing) -> None:
    """Link nodes of equal op and attributes in equal surroundings, then those whose attributes or values differ.

    Works outwards from what is linked, then inwards from the farthest neighbourhoods that agree. Nodes that cannot be
    told apart (equal branches) are linked in file order.
    """
    for contents in (exact_contents, loose_contents):
        if pairing.is_done:
            return
        sides = _sides(pairing, contents)
        _spread(pairing, sides)
        for depth in _DEPTHS:
            if not pairing.is_done and _link_deep(pairing, sides, depth):
                _spread(pairing, sides)
        if not pairing.is_done:
            _spread(pairing, sides, whole=False)
        for _ in range(_MOST_TIES):
            if pairing.is_done or not _link_ties(pairing, sides):
                break
            _spread(pairing, sides)


class _Side:
    """One graph while it is coloured: the nodes that were free at the start, and the edges at them.

    Args:
        graph: the graph.
        free: numbers of its free nodes, rising.
        contents: uint64 [free], colour of op and attributes.
    """

    def __init__(self, graph: Graph, free: Ints, contents: Colours) -> None:
        self.graph, self.free, self.contents = graph, free, contents
        is_free = np.zeros(len(graph), np.bool_)
        is_free[free] = True
        into, out = np.flatnonzero(is_free[graph.dst]), graph.out_edges[is_free[graph.src[graph.out_edges]]]
        tag = _mixed((graph.port + 2).astype(np.uint64) * np.uint64(65_599) + graph.slot.astype(np.uint64))
        tag[graph.control] = _CONTROL  # control inputs have no order
        self._ends = ((graph.dst[into], graph.src[into]), (graph.src[out], graph.dst[out]))
        self._tags = (tag[into] ^ _IN, tag[out] ^ _OUT)
        self._is_data = tuple(~graph.control[edges] for edges in (into, out))
        self._starts = tuple(np.append(np.searchsorted(own, free), len(own)) for own, _ in self._ends)

    def start(self, linked: Ints) -> Colours:
        """Colours of all nodes before the first round: of the link, of the content, or 0 for a node without partner.

        Args:
            linked: int32 [nodes], number of the link, -1 where there is none.
        """
        colours = np.zeros(len(self.graph), np.uint64)
        colours[self.free] = self.contents
        is_linked = linked >= 0
        colours[is_linked] = _mixed(linked[is_linked].astype(np.uint64) + np.uint64(1 << 40))
        return colours

    def next(self, colours: Colours, linked: Ints) -> Colours:
        """Colours after one more round; linked nodes keep theirs."""
        sums = [self._sum(direction, colours) for direction in (0, 1)]
        following = colours.copy()
        following[self.free] = _mixed(colours[self.free] * np.uint64(3) + sums[0] + sums[1])
        is_linked = linked >= 0
        following[is_linked] = colours[is_linked]
        return following

    def places(self, direction: int, linked: Ints, *, whole: bool) -> tuple[Ints, Colours]:
        """Unlinked nodes with linked inputs (0) or consumers (1), and colours of content and place.

        Args:
            direction: 0 or 1.
            linked: int32 [nodes], number of the link, -1 where there is none.
            whole: only nodes of which all data inputs, or consumers, are linked; else one will do.
        """
        _, other = self._ends[direction]
        data = self._is_data[direction]
        known = data & (linked[other] >= 0)
        count = self._count(direction, known)
        ready = (count > 0) & (linked[self.free] < 0)
        if whole:
            ready &= count == self._count(direction, data)
        ready = np.flatnonzero(ready)
        values = _mixed(self.start(linked)[other] ^ self._tags[direction])
        sums = _segments(np.where(known, values, np.uint64(0)), self._starts[direction])
        return self.free[ready], _mixed(self.contents[ready] + sums[ready])

    def degree(self) -> Ints:
        """int [free]: edges at every node."""
        return np.asarray(np.diff(self._starts[0]) + np.diff(self._starts[1]))

    def open_ends(self, linked: Ints) -> Ints:
        """int [free]: neighbours that are not linked."""
        return np.asarray(sum(self._count(way, linked[self._ends[way][1]] < 0) for way in (0, 1)))

    def _sum(self, direction: int, colours: Colours) -> Colours:
        values = _mixed(colours[self._ends[direction][1]] ^ self._tags[direction])
        return _segments(values, self._starts[direction])

    def _count(self, direction: int, which: Mask) -> Ints:
        return _segments(which.astype(np.int64), self._starts[direction])


def _sides(pairing: Pairing, contents: Callable[..., Any]) -> tuple[_Side, _Side]:
    free = [np.flatnonzero(~settled) for settled in (pairing.settled_before, pairing.settled_after)]
    colours = contents(pairing.before, free[0].tolist(), pairing.after, free[1].tolist())
    graphs = (pairing.before.graph, pairing.after.graph)
    before, after = (
        _Side(graph, nodes.astype(np.int32), _mixed(np.array(numbers, np.uint64)))
        for graph, nodes, numbers in zip(graphs, free, colours, strict=True)
    )
    return before, after


def _linked(pairing: Pairing) -> tuple[Ints, Ints]:
    """Numbers of links by node of either side: the node of the second graph."""
    own = np.where(pairing.origin >= 0, np.arange(len(pairing.origin), dtype=np.int32), np.int32(-1))
    return pairing.match, own.astype(np.int32)


def _spread(pairing: Pairing, sides: tuple[_Side, _Side], *, whole: bool = True) -> None:
    """Link nodes that alone read, or alone feed, the same linked nodes; outwards from what is linked, layer by layer.

    Args:
        pairing: what is linked.
        sides: both graphs.
        whole: all that they read, or feed, must be linked; else at least one node.
    """
    for _ in range(_MOST_ROUNDS):
        found = 0
        for direction in (0, 1):
            places = [
                side.places(direction, links, whole=whole) for side, links in zip(sides, _linked(pairing), strict=True)
            ]
            found += _link_unique(pairing, *places)
        if not found or pairing.is_done:
            return


def _link_unique(pairing: Pairing, before: tuple[Ints, Colours], after: tuple[Ints, Colours]) -> int:
    pairs = _unique_pairs(before, after)
    if len(pairs[0]):
        pairing.link(*pairs, STRUCTURE)
    return len(pairs[0])


def _unique_pairs(before: tuple[Ints, Colours], after: tuple[Ints, Colours]) -> tuple[Ints, Ints]:
    """Nodes whose colour occurs once on each side."""
    (colours, first), (others, second) = (_once(*side) for side in (before, after))
    _, here, there = np.intersect1d(colours, others, assume_unique=True, return_indices=True)
    return first[here], second[there]


def _once(nodes: Ints, colours: Colours) -> tuple[Colours, Ints]:
    distinct, at, count = np.unique(colours, return_index=True, return_counts=True)
    return distinct[count == 1], nodes[at[count == 1]]


def _deep(pairing: Pairing, sides: tuple[_Side, _Side], depth: int) -> list[tuple[Ints, Colours]]:
    """Nodes that still look for a partner and are connected to something, with their colours after some rounds."""
    found = []
    for side, linked in zip(sides, _linked(pairing), strict=True):
        colours = side.start(linked)
        for _ in range(depth):
            colours = side.next(colours, linked)
        nodes = side.free[(linked[side.free] < 0) & (side.degree() > 0)]
        found.append((nodes, colours[nodes]))
    return found


def _link_deep(pairing: Pairing, sides: tuple[_Side, _Side], depth: int) -> bool:
    before, after = _unique_pairs(*_deep(pairing, sides, depth))
    if depth < _SURE and len(before):
        keep = _supported(pairing, before, after)
        before, after = before[keep], after[keep]
    if len(before):
        pairing.link(before, after, STRUCTURE)
    return len(before) > 0


def _supported(pairing: Pairing, before: Ints, after: Ints) -> Mask:
    """bool [pairs]: at least half of the edges of a pair lead to pairs, these or linked ones, on both sides."""
    old, new = pairing.before.graph, pairing.after.graph
    match = pairing.match.copy()
    match[before] = after
    both = (match[old.src] >= 0) & (match[old.dst] >= 0)
    mine = _edge_keys(match[old.src[both]], match[old.dst[both]], old.port[both], old.slot[both])
    agrees = np.isin(_edge_keys(new.src, new.dst, new.port, new.slot), mine)
    agreeing = np.bincount(new.src[agrees], minlength=len(new)) + np.bincount(new.dst[agrees], minlength=len(new))
    degree, degree_there = (np.diff(graph.in_start) + np.diff(graph.out_start) for graph in (old, new))
    return np.asarray(2 * agreeing[after] >= np.maximum(degree[before], degree_there[after]))


def _edge_keys(src: Ints, dst: Ints, port: Ints, slot: Ints) -> Colours:
    place = np.where(port < 0, 0, slot)
    columns: Iterable[Any] = (src, dst, port + 1, place)
    key = np.zeros(len(src), np.uint64)
    for column in columns:
        key = _mixed(key + column.astype(np.uint64))
    return key


def _link_ties(pairing: Pairing, sides: tuple[_Side, _Side]) -> bool:
    """Link nodes that cannot be told apart, as many on one side as on the other, in file order.

    All those whose neighbours are all linked; else one group, whose choice settles others.
    """
    groups = _equal_groups(*_deep(pairing, sides, _DEPTHS[0]))
    if not groups:
        return False
    before = sides[0]
    closed = np.ones(len(before.graph), np.bool_)
    closed[before.free] = before.open_ends(pairing.match) == 0
    chosen = [group for group in groups if closed[group[0]].all()] or [min(groups, key=lambda group: len(group[0]))]
    for mine, theirs in chosen:
        pairing.link(mine, theirs, STRUCTURE)
    return True


def _equal_groups(before: tuple[Ints, Colours], after: tuple[Ints, Colours]) -> list[tuple[Ints, Ints]]:
    """Nodes of one colour, as many on either side."""
    theirs = {colour: nodes for colour, nodes in _by_colour(*after)}
    pairs = ((nodes, theirs.get(colour)) for colour, nodes in _by_colour(*before))
    return [(nodes, others) for nodes, others in pairs if others is not None and len(others) == len(nodes)]


def _by_colour(nodes: Ints, colours: Colours) -> Iterable[tuple[int, Ints]]:
    order = np.argsort(colours, kind="stable")
    bounds = np.flatnonzero(np.diff(colours[order])) + 1 if len(order) else np.zeros(0, np.int64)
    for group in np.split(order, bounds) if len(order) else ():
        yield int(colours[group[0]]), nodes[group]


def _segments(values: Any, start: Any) -> Any:
    """Sums of ``values[start[i]:start[i+1]]``, overflow and all."""
    total = np.zeros(len(values) + 1, values.dtype)
    np.cumsum(values, out=total[1:])
    return total[start[1:]] - total[start[:-1]]


def _mixed(values: Colours) -> Colours:
    """Spread the bits of every number (the finaliser of splitmix64, Steele et al. 2014)."""
    values = values + np.uint64(0x9E3779B97F4A7C15)
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(values ^ (values >> np.uint64(31)))
