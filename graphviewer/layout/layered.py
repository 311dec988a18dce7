"""A layered layout of one graph: ``prepare`` what depends on its edges, then ``place`` boxes of any sizes.

The order of boxes never depends on their sizes, so a box that grows moves its neighbours but never jumps over them.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from graphviewer.layout.arrays import Floats, Ints, Mask
from graphviewer.layout.coordinates import Pulls, place_across
from graphviewer.layout.cycles import against_flow
from graphviewer.layout.lattice import Lattice, build_lattice
from graphviewer.layout.layers import span_layers
from graphviewer.layout.ordering import order_rows
from graphviewer.layout.packing import grid, shelves
from graphviewer.layout.routing import route, spread_ports
from graphviewer.layout.simplex import components

BLOCK_GAP = 32.0
GRID_GAP = 16.0
ROW_GAP, ROW_GAP_MOST = 36.0, 120.0
SLOPE = 0.12
"""Rows move apart by this part of the broadest edge between them, so that no edge runs too flat."""
CENTRED = 24.0
"""A box this much shorter than its row stands in the middle of it; a shorter one goes to the side of its edges."""


@dataclass(frozen=True, eq=False)
class Topology:
    """All of a layout that does not depend on sizes.

    Attributes:
        n: number of nodes.
        lattice: rows and orders of the nodes that have edges.
        turned: bool [edges], runs against the flow.
    """

    n: int
    lattice: Lattice
    turned: Mask

    @cached_property
    def pulls(self) -> Pulls:
        """Tables for placing, shared by all sizes."""
        return Pulls(self.lattice)

    @cached_property
    def alone(self) -> Ints:
        """Nodes without edges."""
        return np.flatnonzero(self.lattice.slot < 0)

    @cached_property
    def block_order(self) -> Ints:
        """Components, those with most nodes first."""
        rows = self.lattice.row[self.lattice.slot[self.lattice.slot >= 0]]
        block = np.searchsorted(self.lattice.first_row, rows, side="right") - 1
        return np.argsort(-np.bincount(block, minlength=len(self.lattice.first_row) - 1), kind="stable")

    @cached_property
    def leaning(self) -> Floats:
        """float64 [slots], share of its edges that a slot has upwards, 0 to 1."""
        lattice = self.lattice
        up = np.bincount(lattice.lower, minlength=len(lattice.row))
        return np.asarray(up / np.maximum(up + np.bincount(lattice.upper, minlength=len(lattice.row)), 1))


@dataclass(frozen=True, eq=False)
class Placement:
    """Where boxes stand; the flow runs down.

    Attributes:
        x, y: float64 [nodes], left and top, from 0.
        offsets: int64 [edges+1]; edge e runs along ``points[offsets[e]:offsets[e+1]]`` from source to target. Self
            edges, and the longest edges where bends would be too many, have no points.
        points: float64 [points, 2].
        width, height: extent of all boxes and edges.
    """

    x: Floats
    y: Floats
    offsets: Ints
    points: Floats
    width: float
    height: float


def prepare(n: int, source: ArrayLike, target: ArrayLike) -> Topology:
    """Break cycles, choose layers and order them.

    Args:
        n: number of nodes.
        source, target: int [edges], nodes 0..n-1. Cycles, self edges and parallel edges are fine.
    """
    source, target = np.asarray(source, np.int64), np.asarray(target, np.int64)
    apart = source != target
    turned = np.zeros(len(source), np.bool_)
    turned[apart] = against_flow(n, source[apart], target[apart])
    upper, lower = np.where(turned, target, source)[apart], np.where(turned, source, target)[apart]
    layer = span_layers(n, upper, lower)
    lattice = order_rows(build_lattice(layer, components(n, upper, lower), upper, lower))
    return Topology(n, _with_self_edges(lattice, apart), turned)


def _with_self_edges(lattice: Lattice, apart: Mask) -> Lattice:
    """The lattice with empty chains for the edges that have none."""
    length = np.zeros(len(apart), np.int64)
    length[apart] = np.diff(lattice.chain_start)
    return replace(lattice, chain_start=np.r_[0, np.cumsum(length)])


class Margins(NamedTuple):
    """Parts of boxes at which no edge may end: float64 [nodes], at their left and at their right side."""

    left: Floats
    right: Floats


def place(topology: Topology, w: ArrayLike, h: ArrayLike, margins: Margins | None = None) -> Placement:
    """Coordinates for boxes of given sizes.

    Args:
        topology: rows and orders.
        w, h: [nodes], widths and heights.
        margins: parts of ``w`` that edges keep away from; none if absent.
    """
    w, h = np.asarray(w, np.float64), np.asarray(h, np.float64)
    if len(topology.alone) == topology.n:
        x, y = grid(w, h, GRID_GAP)
        none = np.zeros(len(topology.turned) + 1, np.int64)
        return Placement(x, y, none, np.zeros((0, 2)), _extent(x + w), _extent(y + h))
    lattice = topology.lattice
    nodes = np.flatnonzero(lattice.slot >= 0)
    slots = lattice.slot[nodes]
    breadth, length = np.zeros(len(lattice.row)), np.zeros(len(lattice.row))
    breadth[slots], length[slots] = w[nodes], h[nodes]
    x = place_across(topology.pulls, breadth)
    across = spread_ports(lattice, *_port_sides(topology, nodes, x, breadth, margins))
    row_top, row_length = _rows_along(lattice, length, across)
    y = _align(topology, row_top, row_length, length)
    block = np.searchsorted(lattice.first_row, lattice.row, side="right") - 1
    move = _pack(topology, block, (x, y), (breadth, length), (w, h))
    x, y, row_top = x + move.slot_x, y + move.slot_y, row_top[lattice.row] + move.slot_y
    begin, end = _passages(lattice, y, length, row_top, row_top + row_length[lattice.row])
    offsets, points = route(lattice, topology.turned, across + move.slot_x[lattice.chain], begin, end)
    left, top = np.empty(topology.n), np.empty(topology.n)
    left[nodes], top[nodes] = x[slots] - w[nodes] / 2, y[slots]
    left[topology.alone], top[topology.alone] = move.alone_x, move.alone_y
    right = max(_extent(left + w), _extent(points[:, 0]))
    return Placement(left, top, offsets, points, right, max(_extent(top + h), _extent(points[:, 1])))


def _port_sides(
    topology: Topology, nodes: Ints, x: Floats, breadth: Floats, margins: Margins | None
) -> tuple[Floats, Floats]:
    """Centres and sizes of the sides of boxes at which edges may end; float64 [slots]."""
    if margins is None:
        return x, breadth
    left, right = np.zeros(len(x)), np.zeros(len(x))
    slots = topology.lattice.slot[nodes]
    left[slots], right[slots] = margins.left[nodes], margins.right[nodes]
    return x + (left - right) / 2, breadth - left - right


def _extent(values: Floats) -> float:
    return float(values.max(initial=0.0))


def _rows_along(lattice: Lattice, length: Floats, across: Floats) -> tuple[Floats, Floats]:
    """Top of each row within its component, and its length; flat edges get more room."""
    rows = len(lattice.start) - 1
    row_length = np.zeros(rows)
    np.maximum.at(row_length, lattice.row, length)
    gap = np.full(rows, ROW_GAP)
    row = lattice.row[lattice.chain]
    leads = np.flatnonzero(row[1:] == row[:-1] + 1)
    np.maximum.at(gap, row[leads], np.minimum(SLOPE * np.abs(across[leads + 1] - across[leads]), ROW_GAP_MOST))
    top = np.r_[0, np.cumsum(row_length + gap)[:-1]]
    first = lattice.first_row
    return top - np.repeat(top[first[:-1]], np.diff(first)), row_length


def _align(topology: Topology, row_top: Floats, row_length: Floats, length: Floats) -> Floats:
    """Top of each slot: in the middle of its row, or in a long row at the side where most of its edges are."""
    row = topology.lattice.row
    free = row_length[row] - length
    share = np.where(free <= CENTRED, 0.5, np.where(topology.leaning >= 0.5, 0.0, 1.0))
    return row_top[row] + free * share


def _passages(lattice: Lattice, y: Floats, length: Floats, top: Floats, bottom: Floats) -> tuple[Floats, Floats]:
    """Where each edge enters and leaves the slots of its chain: at bends the row, at its ends the box."""
    chain = lattice.chain
    begin, end = top[chain], bottom[chain]
    drawn = np.diff(lattice.chain_start) > 0
    first, last = lattice.chain_start[:-1][drawn], lattice.chain_start[1:][drawn] - 1
    begin[first] = (y + length)[chain[first]]
    end[last] = y[chain[last]]
    return begin, end


@dataclass(frozen=True)
class _Moves:
    slot_x: Floats
    slot_y: Floats
    alone_x: Floats
    alone_y: Floats


def _pack(
    topology: Topology,
    block: Ints,
    centre: tuple[Floats, Floats],
    slot_size: tuple[Floats, Floats],
    size: tuple[Floats, Floats],
) -> _Moves:
    """How far to move each component, and where the nodes without edges stand, as one more block at the end."""
    (x, y), (breadth, length), (w, h) = centre, slot_size, size
    count = len(topology.lattice.first_row) - 1
    left, right, bottom = np.full(count, np.inf), np.full(count, -np.inf), np.zeros(count)
    np.minimum.at(left, block, x - breadth / 2)
    np.maximum.at(right, block, x + breadth / 2)
    np.maximum.at(bottom, block, y + length)
    alone = topology.alone
    grid_x, grid_y = grid(w[alone], h[alone], GRID_GAP)
    order = topology.block_order
    broad, deep = (right - left)[order], bottom[order]
    if len(alone):
        broad = np.r_[broad, (grid_x + w[alone]).max()]
        deep = np.r_[deep, (grid_y + h[alone]).max()]
    across, along = shelves(broad, deep, BLOCK_GAP)
    to_x, to_y = np.empty(count), np.empty(count)
    to_x[order], to_y[order] = across[:count], along[:count]
    if len(alone):
        grid_x, grid_y = grid_x + across[-1], grid_y + along[-1]
    return _Moves((to_x - left)[block], to_y[block], grid_x, grid_y)


def turned(placement: Placement) -> Placement:
    """The same with the flow to the right."""
    return Placement(
        placement.y,
        placement.x,
        placement.offsets,
        placement.points[:, ::-1],
        placement.height,
        placement.width,
    )
