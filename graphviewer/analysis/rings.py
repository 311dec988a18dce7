"""Cycles in arrays of edges, found without recursion."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from graphviewer.model.graph import Ints, Mask


def rings(src: Ints, dst: Ints, count: int) -> Iterator[list[int]]:
    """Cycles that no two of share a node, at least one for each knot of cycles; every node reads the next one.

    475,000 edges without a cycle: 0.1 s.

    Args:
        src, dst: edges between nodes 0..count-1.
    """
    stuck = _not_reached(src, dst, count)
    if not stuck.any():
        return
    inside = stuck[src] & stuck[dst]
    src, dst = src[inside], dst[inside]
    knot = _knots(src, dst, count)
    together = knot[src] == knot[dst]
    yield from _walk(dict(zip(dst[together].tolist(), src[together].tolist(), strict=True)))


def _knots(src: Ints, dst: Ints, count: int) -> Ints:
    """int32 [count]: the strongly connected component of each node."""
    from scipy.sparse import coo_array  # late: only damaged graphs pay for the import
    from scipy.sparse.csgraph import connected_components

    matrix = coo_array((np.ones(len(src), np.int8), (src, dst)), shape=(count, count))
    labels: Ints = connected_components(matrix, connection="strong")[1]
    return labels


def _not_reached(src: Ints, dst: Ints, count: int) -> Mask:
    """bool [count]: nodes that no topological order reaches: those on cycles, and behind them (Kahn's algorithm)."""
    order = np.argsort(src, kind="stable")
    start = np.searchsorted(src[order], np.arange(count + 1)).tolist()
    after = dst[order].tolist()
    waiting = np.bincount(dst, minlength=count).tolist()
    ready = [node for node in range(count) if not waiting[node]]
    while ready:
        node = ready.pop()
        for reached in after[start[node] : start[node + 1]]:
            waiting[reached] -= 1
            if not waiting[reached]:
                ready.append(reached)
    return np.array(waiting, np.int64) > 0


def _walk(before: dict[int, int]) -> Iterator[list[int]]:
    """The rings of a map from each node to one that it reads."""
    walked: dict[int, int] = {}
    for start in sorted(before):
        path: list[int] = []
        node = start
        while node not in walked and node in before:
            walked[node] = start
            path.append(node)
            node = before[node]
        if path and walked.get(node) == start:
            yield path[path.index(node) :]
