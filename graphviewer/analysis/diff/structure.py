"""Recognise nodes by what they do and where they stand, whatever they are called.

Every free node has a colour: a number for its op and attributes. Linked nodes have the colour of their link, the same
on both sides. Mixing in the neighbours' colours, round by round and in both directions, makes a colour stand for an
ever larger neighbourhood (Weisfeiler and Leman, 1968); nodes whose colour occurs once on each side are the same node.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphviewer.analysis.diff.contents import Contents, exact_contents, family_contents, loose_contents, op_family
from graphviewer.analysis.diff.nodes import conversion
from graphviewer.analysis.diff.pairing import STRUCTURE, Pairing
from graphviewer.model.graph import Graph, Ints, Mask
from graphviewer.protos import op_def

Colours = NDArray[np.uint64]

_FAR, _NEAR = (4, 8, 16), (3, 2)
"""Rounds of colouring. Far from an edit much context agrees; near to it little is left, which might fit by chance."""

_MOST_STAGES = 8
_MOST_ROUNDS = 4_000
_MOST_TIES = 64
_CONTROL = np.uint64(0x9E3779B97F4A7C15)
_IN, _OUT = np.uint64(0xD1B54A32D192ED03), np.uint64(0x8CB92BA72F3D8DD7)
READS, FEEDS = 0, 1
_NOTHING = np.zeros(0, np.int32)


class _Pass(NamedTuple):
    """One way to look at nodes.

    Attributes:
        contents: numbers of op and attributes.
        partly: directions in which one linked neighbour is enough at last; READS, FEEDS.
        ties: link also what cannot be told apart.
    """

    contents: Callable[..., Contents]
    partly: tuple[int, ...]
    ties: bool


_PASSES = (
    _Pass(exact_contents, (READS, FEEDS), ties=True),
    _Pass(loose_contents, (), ties=False),
    _Pass(family_contents, (READS,), ties=False),
)


def by_structure(pairing: Pairing) -> None:
    """Link nodes of equal op and attributes in equal surroundings, then those whose attributes or values differ.

    Works outwards from what is linked, then inwards from the farthest neighbourhoods that agree. Nodes that cannot be
    told apart (equal branches) are linked in file order.
    """
    for look in _PASSES:
        if pairing.is_done:
            return
        sides = _sides(pairing, look.contents)
        if not _has_candidates(sides):
            continue
        _spread(pairing, sides)
        for _ in range(_MOST_STAGES):
            if pairing.is_done or not _link_deep(pairing, sides):
                break
            _spread(pairing, sides)
        if look.partly and not pairing.is_done:
            _spread(pairing, sides, look.partly, whole=False)
            _spread(pairing, sides)
        for _ in range(_MOST_TIES if look.ties else 0):
            if pairing.is_done or not _link_ties(pairing, sides):
                break
            _spread(pairing, sides)


def _has_candidates(sides: tuple[_Side, _Side]) -> bool:
    """Nodes of equal content are free on both sides."""
    before, after = (side.start()[side.free()] for side in sides)
    return bool(np.intersect1d(before, after).size)


class _Side:
    """One graph while it is coloured.

    Args:
        graph: the graph.
        linked: int32 [nodes], number of the link, -1 where there is none; the pairing's own, so always up to date.
        opaque: bool [nodes], linked to a node of another op, whose inputs and outputs mean something else.
        free: numbers of the nodes that look for a partner, rising.
        contents: uint64 [free], colour of op and attributes.
        salt: of this side, so that opaque nodes of the two never look alike.
    """

    def __init__(
        self, graph: Graph, linked: Ints, opaque: Mask, free: Ints, contents: Colours, salt: np.uint64
    ) -> None:
        self.graph, self._linked, self._opaque, self._free = graph, linked, opaque, free
        self._contents = np.zeros(len(graph), np.uint64)
        self._contents[free] = contents
        self._contents[opaque] = _mixed(np.flatnonzero(opaque).astype(np.uint64) ^ salt)
        tag = _mixed((graph.port + 2).astype(np.uint64) * np.uint64(65_599) + graph.slot.astype(np.uint64))
        tag[graph.control] = _CONTROL  # control inputs have no order
        out = graph.out_edges
        self._starts = (graph.in_start, graph.out_start)
        self._other = (graph.src, graph.dst[out])
        self._tags = (tag ^ _IN, tag[out] ^ _OUT)
        says_place = np.array([not _takes_a_list(op) for op in graph.ops], np.bool_)[graph.dst]
        self._is_place = (~graph.control, (~graph.control & says_place)[out])

    def free(self) -> Ints:
        """Nodes that still look for a partner."""
        self._free = self._free[self._linked[self._free] < 0]
        return self._free

    def connected(self) -> Ints:
        """Nodes that still look for a partner and have any edge."""
        free = self.free()
        degree = sum(start[free + 1] - start[free] for start in self._starts)
        return free[np.asarray(degree) > 0]

    def start(self) -> Colours:
        """uint64 [nodes], colours before the first round: of the link, of the content, 0 for a node without partner."""
        colours = self._contents.copy()
        is_linked = (self._linked >= 0) & ~self._opaque
        colours[is_linked] = _mixed(self._linked[is_linked].astype(np.uint64) + np.uint64(1 << 40))
        return colours

    def next(self, colours: Colours) -> Colours:
        """Colours after one more round; linked nodes keep theirs."""
        free = self.free()
        mixed = colours[free] * np.uint64(3)
        for direction in (READS, FEEDS):
            edges, bounds = self._edges(direction, free)
            values = _mixed(colours[self._other[direction][edges]] ^ self._tags[direction][edges])
            mixed = mixed + _segments(values, bounds)
        following = colours.copy()
        following[free] = _mixed(mixed)
        return following

    def places(self, direction: int, nodes: Ints, colours: Colours, *, whole: bool) -> tuple[Ints, Colours]:
        """The nodes whose inputs (READS) or consumers (FEEDS) are linked, and colours of their content and place.

        Args:
            direction: where to look.
            nodes: to choose from; all are free.
            colours: of ``start``.
            whole: only nodes of which all data inputs, or consumers, are linked; else one will do. To be the third in
                a list of inputs says nothing.
        """
        edges, bounds = self._edges(direction, nodes)
        other, place = self._other[direction][edges], self._is_place[direction][edges]
        known = place & (self._linked[other] >= 0) & ~self._opaque[other]
        count = _segments(known.astype(np.int64), bounds)
        ready = count > 0
        if whole:
            ready &= count == _segments(place.astype(np.int64), bounds)
        values = np.where(known, _mixed(colours[other] ^ self._tags[direction][edges]), np.uint64(0))
        return nodes[ready], _mixed(self._contents[nodes[ready]] + _segments(values, bounds)[ready])

    def around(self, direction: int, nodes: Ints) -> Ints:
        """Free nodes that read ``nodes`` (READS), or feed them (FEEDS)."""
        other_way = FEEDS if direction == READS else READS
        edges, _ = self._edges(other_way, nodes)
        found = np.unique(self._other[other_way][edges])
        return found[(self._linked[found] < 0) & (self._contents[found] > 0)]

    def open_ends(self, nodes: Ints) -> Ints:
        """int [nodes]: neighbours that are not linked."""
        found = np.zeros(len(nodes), np.int64)
        for direction in (READS, FEEDS):
            edges, bounds = self._edges(direction, nodes)
            found += _segments((self._linked[self._other[direction][edges]] < 0).astype(np.int64), bounds)
        return found.astype(np.int32)

    def _edges(self, direction: int, nodes: Ints) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The edges of each node in a row, for FEEDS in order of source; where each node's begin, and the end."""
        start = self._starts[direction]
        first, count = start[nodes].astype(np.int64), (start[nodes + 1] - start[nodes]).astype(np.int64)
        bounds = np.zeros(len(nodes) + 1, np.int64)
        np.cumsum(count, out=bounds[1:])
        return np.arange(bounds[-1]) + np.repeat(first - bounds[:-1], count), bounds


@cache
def _takes_a_list(op: str) -> bool:
    """The op reads any number of tensors of one kind: ``AddN``, ``Pack``, ``SaveV2``."""
    definition = op_def(op)
    return definition is not None and any(one.number_attr or one.type_list_attr for one in definition.input_arg)


def _sides(pairing: Pairing, contents: Callable[..., Contents]) -> tuple[_Side, _Side]:
    free = [np.flatnonzero(~settled).astype(np.int32) for settled in (pairing.settled_before, pairing.settled_after)]
    numbers = contents(pairing.before, free[0].tolist(), pairing.after, free[1].tolist())
    colours = [_mixed(np.array(each, np.uint64)) for each in numbers]
    opaque = _opaque(pairing)
    return (
        _Side(pairing.before.graph, pairing.match, opaque[0], free[0], colours[0], _IN),
        _Side(pairing.after.graph, pairing.numbers, opaque[1], free[1], colours[1], _OUT),
    )


def _opaque(pairing: Pairing) -> tuple[Mask, Mask]:
    """bool [nodes] of either side: linked to a node of another op, versions and conversions not counted."""
    before, after = (np.zeros(len(side), np.bool_) for side in (pairing.match, pairing.origin))
    ops, others = pairing.before.graph.ops, pairing.after.graph.ops
    for old, new in pairing.pairs():
        op, other = ops[old], others[new]
        if op != other and op_family(op) != op_family(other) and not conversion(op, other):
            before[old] = after[new] = True
    return before, after


def _spread(
    pairing: Pairing, sides: tuple[_Side, _Side], directions: Sequence[int] = (READS, FEEDS), *, whole: bool = True
) -> None:
    """Link nodes that alone read, or alone feed, the same linked nodes; outwards from what is linked, layer by layer.

    Args:
        pairing: what is linked.
        sides: both graphs.
        directions: where to look.
        whole: all that they read, or feed, must be linked; else at least one node.
    """
    near: list[tuple[Ints, Ints]] = []
    for _ in range(_MOST_ROUNDS):
        everywhere = not near
        near = near or [(side.free(), side.free()) for side in sides]
        linked = [_link_at(pairing, sides, direction, near, whole=whole) for direction in directions]
        new = [np.concatenate(each) for each in zip(*linked, strict=True)]
        if pairing.is_done or (everywhere and not len(new[0])):
            return
        near = (
            [(side.around(READS, nodes), side.around(FEEDS, nodes)) for side, nodes in zip(sides, new, strict=True)]
            if len(new[0])
            else []
        )


def _link_at(
    pairing: Pairing, sides: tuple[_Side, _Side], direction: int, near: list[tuple[Ints, Ints]], *, whole: bool
) -> tuple[Ints, Ints]:
    """Link what alone has its place among the nodes ``near``, by side and direction; the pairs."""
    links = (pairing.match, pairing.numbers)
    places = []
    for side, nodes, linked in zip(sides, near, links, strict=True):
        free = nodes[direction][linked[nodes[direction]] < 0]
        places.append(side.places(direction, free, side.start(), whole=whole))
    pairs = _unique_pairs(*places)
    if len(pairs[0]):
        pairing.link(*pairs, STRUCTURE)
    return pairs


def _unique_pairs(before: tuple[Ints, Colours], after: tuple[Ints, Colours]) -> tuple[Ints, Ints]:
    """Nodes whose colour occurs once on each side."""
    (colours, first), (others, second) = (_once(*side) for side in (before, after))
    _, here, there = np.intersect1d(colours, others, assume_unique=True, return_indices=True)
    return first[here], second[there]


def _once(nodes: Ints, colours: Colours) -> tuple[Colours, Ints]:
    distinct, at, count = np.unique(colours, return_index=True, return_counts=True)
    return distinct[count == 1], nodes[at[count == 1]]


def _deep(sides: tuple[_Side, _Side]) -> Iterator[list[tuple[Ints, Colours]]]:
    """Nodes that still look for a partner and are connected to something, with their colours after every round.

    Ends when no colour is on both sides: later ones cannot be either.
    """
    nodes = [side.connected() for side in sides]
    colours = [side.start() for side in sides]
    for _ in range(max(_FAR)):
        colours = [side.next(own) for side, own in zip(sides, colours, strict=True)]
        found = [(own, all_colours[own]) for own, all_colours in zip(nodes, colours, strict=True)]
        if not np.intersect1d(found[0][1], found[1][1]).size:
            return
        yield found


def _link_deep(pairing: Pairing, sides: tuple[_Side, _Side]) -> bool:
    """Link nodes that alone have their neighbourhood; as near a one as is sure."""
    near = {}
    for depth, found in enumerate(_deep(sides), 1):
        if depth in _NEAR:
            near[depth] = found
        if depth in _FAR:
            pairs = _unique_pairs(*found)
            if len(pairs[0]):
                pairing.link(*pairs, STRUCTURE)
                return True
    for depth in _NEAR:
        before, after = _unique_pairs(*near[depth]) if depth in near else (_NOTHING, _NOTHING)
        keep = _supported(pairing, before, after) if len(before) else np.zeros(0, np.bool_)
        if keep.any():
            pairing.link(before[keep], after[keep], STRUCTURE)
            return True
    return False


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
    rounds = list(_deep(sides))
    groups = _equal_groups(*rounds[-1]) if len(rounds) == max(_FAR) else []
    if not groups:
        return False
    closed = [group for group in groups if not sides[0].open_ends(group[0]).any()]
    for mine, theirs in closed or [min(groups, key=lambda group: len(group[0]))]:
        pairing.link(mine, theirs, STRUCTURE)
    return True


def _equal_groups(before: tuple[Ints, Colours], after: tuple[Ints, Colours]) -> list[tuple[Ints, Ints]]:
    """Nodes of one colour, as many on either side."""
    theirs = dict(_by_colour(*after))
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
