"""Which linked nodes read the same, found for all at once on the edge arrays."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphviewer.analysis.diff.pairing import Pairing
from graphviewer.model.graph import Graph, Ints, Mask

_Numbers = NDArray[np.int64]


def same_inputs(pairing: Pairing) -> Mask:
    """bool [nodes after]: a linked node reads the same on both sides, renamed nodes taken as the same.

    False means: look closer. It is the answer for nodes with an input that leads nowhere, and for control inputs in
    another order.
    """
    before, after = pairing.before.graph, pairing.after.graph
    same = pairing.origin >= 0
    for graph, number in ((before, pairing.match), (after, pairing.numbers)):
        for node, _ in graph.dangling:
            if number[node] >= 0:
                same[number[node]] = False
    nodes = np.flatnonzero(same).astype(np.int32)
    for control in (True, False):
        mine = _inputs(before, pairing.origin[nodes], before.control == control)
        theirs = _inputs(after, nodes, after.control == control)
        nodes = nodes[_equal(pairing, mine, theirs)]
    same[:] = False
    same[nodes] = True
    return same


def _inputs(graph: Graph, nodes: Ints, wanted: Mask) -> tuple[_Numbers, _Numbers]:
    """The wanted edges into each node, in a row, and how many it has."""
    first, count = graph.in_start[nodes].astype(np.int64), np.diff(graph.in_start)[nodes].astype(np.int64)
    begin = np.cumsum(count) - count
    edges = np.arange(int(count.sum())) + np.repeat(first - begin, count)
    keep = wanted[edges]
    return edges[keep], np.bincount(np.repeat(np.arange(len(nodes)), count)[keep], minlength=len(nodes))


def _equal(pairing: Pairing, mine: tuple[_Numbers, _Numbers], theirs: tuple[_Numbers, _Numbers]) -> Mask:
    """bool [nodes]: as many edges on both sides, from linked nodes and ports, in the same order."""
    before, after = pairing.before.graph, pairing.after.graph
    same = mine[1] == theirs[1]
    old, new = (edges[np.repeat(same, count)] for edges, count in (mine, theirs))
    differs = (pairing.match[before.src[old]] != after.src[new]) | (before.port[old] != after.port[new])
    owner = np.repeat(np.arange(len(same)), np.where(same, mine[1], 0))
    same[owner[differs]] = False
    return np.asarray(same)
