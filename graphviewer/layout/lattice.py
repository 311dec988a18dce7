"""Rows of slots: every node and every bend of a long edge gets a slot, and edges lead from row to row."""

from dataclasses import dataclass

import numpy as np

from graphviewer.layout.arrays import Floats, Ints, Mask

REAL_WEIGHT, MIXED_WEIGHT, BEND_WEIGHT = 1.0, 2.0, 8.0
"""How strongly segments pull their ends straight: node to node, node to bend, bend to bend."""


@dataclass(frozen=True, eq=False)
class Side:
    """The neighbours of all slots in the rows above (or below, or both).

    Attributes:
        start: int64 [slots+1]; neighbours of slot i are ``slot[start[i]:start[i+1]]``.
        slot: int64 [ends].
        weight: float64 [ends], pull of each neighbour; the pulls on one slot sum up to 1.
        pull: float64 [slots], the sum before it was divided out.
    """

    start: Ints
    slot: Ints
    weight: Floats
    pull: Floats


@dataclass(frozen=True, eq=False)
class Lattice:
    """Slots in rows. A row holds one layer of one component; slots are numbered row by row, in their order.

    Attributes:
        slot: int64 [nodes], the slot of each node, -1 for a node without edges.
        row: int64 [slots].
        start: int64 [rows+1]; row r holds the slots ``start[r]:start[r+1]``.
        first_row: int64 [components+1].
        is_bend: bool [slots], the slot holds no node, a long edge passes here.
        upper, lower: int64 [segments], slots in neighbouring rows, sorted by (upper, lower).
        chain: int64 [...], slots along each edge from its upper to its lower end.
        chain_start: int64 [edges+1]; edge e runs along ``chain[chain_start[e]:chain_start[e+1]]``; an edge that
            is not drawn has no slots.
    """

    slot: Ints
    row: Ints
    start: Ints
    first_row: Ints
    is_bend: Mask
    upper: Ints
    lower: Ints
    chain: Ints
    chain_start: Ints

    def side(self, slot: Ints, neighbour: Ints) -> Side:
        """Neighbours by slot, where ``slot[i]`` and ``neighbour[i]`` are the ends of one segment."""
        count = len(self.row)
        order = np.lexsort((neighbour, slot))
        slot, neighbour = slot[order], neighbour[order]
        bends = self.is_bend[slot].astype(np.int64) + self.is_bend[neighbour]
        weight = np.array([REAL_WEIGHT, MIXED_WEIGHT, BEND_WEIGHT])[bends]
        pull = np.bincount(slot, weight, count).astype(np.float64)
        start = np.zeros(count + 1, np.int64)
        np.cumsum(np.bincount(slot, minlength=count), out=start[1:])
        return Side(start, neighbour, weight / pull[slot], pull)

    def reordered(self, order: Ints) -> "Lattice":
        """The same lattice with slot ``order[i]`` renumbered as i; each row keeps its range of numbers."""
        new = np.empty(len(order), np.int64)
        new[order] = np.arange(len(order))
        upper, lower = new[self.upper], new[self.lower]
        by_upper = np.lexsort((lower, upper))
        return Lattice(
            slot=np.where(self.slot >= 0, new[self.slot], -1) if len(order) else self.slot,
            row=self.row,
            start=self.start,
            first_row=self.first_row,
            is_bend=self.is_bend[order],
            upper=upper[by_upper],
            lower=lower[by_upper],
            chain=new[self.chain],
            chain_start=self.chain_start,
        )


def bend_budget(n: int) -> int:
    """How many bends a layout may have; the longest edges beyond it are not drawn."""
    return 6 * n + 40_000


def build_lattice(layer: Ints, component: Ints, upper: Ints, lower: Ints) -> Lattice:
    """Rows, bends and segments of a layered graph.

    Args:
        layer: int64 [nodes]; each edge leads to a greater one.
        component: int64 [nodes], numbered without gaps.
        upper, lower: int64 [edges], nodes.

    Returns:
        The lattice with slots in the order of the nodes, bends between the ends of their edges.
    """
    n = len(layer)
    linked = np.zeros(n, np.bool_)
    linked[upper] = linked[lower] = True
    row, first_row = _rows(layer, component, linked)
    bends = row[lower] - row[upper] - 1
    by_span = np.argsort(bends, kind="stable")
    drawn = np.ones(len(upper), np.bool_)
    drawn[by_span[np.cumsum(bends[by_span]) > bend_budget(n)]] = False
    bends = np.where(drawn, bends, 0)
    edge = np.repeat(np.arange(len(upper)), bends)
    step = np.arange(len(edge)) - np.repeat(np.cumsum(bends) - bends, bends)
    nodes = np.flatnonzero(linked)
    slot_row = np.r_[row[nodes], row[upper[edge]] + 1 + step]
    place = np.r_[nodes.astype(np.float64), (upper[edge] + lower[edge]) / 2]
    order = np.lexsort((place, slot_row))
    new = np.empty(len(order), np.int64)
    new[order] = np.arange(len(order))
    slot = np.full(n, -1, np.int64)
    slot[nodes] = new[: len(nodes)]
    chain, chain_start = _chains(slot[upper], slot[lower], drawn, bends, new[len(nodes) :])
    follows = np.ones(len(chain), np.bool_)
    follows[chain_start[:-1][drawn]] = False
    at = np.flatnonzero(follows)
    tops, bottoms = chain[at - 1], chain[at]
    by_upper = np.lexsort((bottoms, tops))
    rows = int(first_row[-1])
    return Lattice(
        slot=slot,
        row=slot_row[order],
        start=np.searchsorted(slot_row[order], np.arange(rows + 1)),
        first_row=first_row,
        is_bend=order >= len(nodes),
        upper=tops[by_upper],
        lower=bottoms[by_upper],
        chain=chain,
        chain_start=chain_start,
    )


def _rows(layer: Ints, component: Ints, linked: Mask) -> tuple[Ints, Ints]:
    """Row of each linked node and the first row of each component that has edges."""
    row = np.full(len(layer), -1, np.int64)
    layer, (_, component) = layer[linked], np.unique(component[linked], return_inverse=True)
    count = int(component.max(initial=-1)) + 1
    lowest = np.full(count, np.iinfo(np.int64).max)
    np.minimum.at(lowest, component, layer)
    layer = layer - lowest[component]
    height = np.zeros(count, np.int64)
    np.maximum.at(height, component, layer + 1)
    first_row = np.r_[0, np.cumsum(height)]
    row[linked] = first_row[component] + layer
    return row, first_row


def _chains(upper: Ints, lower: Ints, drawn: Mask, bends: Ints, bend_slots: Ints) -> tuple[Ints, Ints]:
    """Slots along each edge: its upper end, its bends, its lower end."""
    length = np.where(drawn, bends + 2, 0)
    start = np.r_[0, np.cumsum(length)]
    chain = np.empty(int(start[-1]), np.int64)
    inner = np.ones(len(chain), np.bool_)
    first, last = start[:-1][drawn], start[1:][drawn] - 1
    inner[first] = inner[last] = False
    chain[first], chain[last], chain[inner] = upper[drawn], lower[drawn], bend_slots
    return chain, start
