"""Which edges to turn round so that a graph has no cycles."""

from collections.abc import Iterable

import numpy as np

from graphviewer.layout.arrays import Ints, Mask


def adjacency(n: int, key: Ints, other: Ints) -> tuple[list[int], list[int]]:
    """Flat lists (start, ends): ``ends[start[v]:start[v + 1]]`` are the ``other`` ends of the edges whose ``key`` is v.

    A Python walk over such lists beats one numpy call per node.
    """
    order = np.argsort(key, kind="stable")
    start = np.zeros(n + 1, np.int64)
    np.cumsum(np.bincount(key, minlength=n), out=start[1:])
    return start.tolist(), other[order].tolist()


def topological_order(n: int, source: Ints, target: Ints) -> list[int]:
    """Nodes, each after all that feed it; nodes on or behind a cycle are missing."""
    start, ends = adjacency(n, source, target)
    waiting = np.bincount(target, minlength=n).tolist()
    order = [node for node in range(n) if not waiting[node]]
    for node in order:
        for end in ends[start[node] : start[node + 1]]:
            waiting[end] -= 1
            if not waiting[end]:
                order.append(end)
    return order


def against_flow(n: int, source: Ints, target: Ints) -> Mask:
    """Edges that close cycles: with them turned round the graph is acyclic.

    Only strongly connected components lose edges. Three orders compete in each of them, and the one with the fewest
    edges against it wins: two depth-first orders, and the order of the nodes themselves (files list nodes roughly as
    they were made). The first search does not walk into the nodes at which the flow first enters the component from
    outside: those of a TF1 loop are its Merge nodes, so exactly the NextIteration edges are turned.

    Args:
        n: number of nodes.
        source, target: int [edges]; no self edges.

    Returns:
        bool [edges].
    """
    if len(topological_order(n, source, target)) == n:
        return np.zeros(len(source), np.bool_)
    label = np.array(_strong_components(n, *adjacency(n, source, target)), np.int64)
    inside = np.flatnonzero(label[source] == label[target])
    start, ends = adjacency(n, source[inside], target[inside])
    entry = _first_entries(n, label, source, target)
    roots = np.r_[np.flatnonzero(entry), np.flatnonzero(~entry)].tolist()
    searches = [_finish_rank(roots, start, ends, closed) for closed in (entry.tolist(), [False] * n)]
    ranks = (*searches, np.arange(n))
    wrong = np.array([rank[source[inside]] > rank[target[inside]] for rank in ranks])
    cost = np.array([np.bincount(label[source[inside]], weights=bad, minlength=n) for bad in wrong])
    best = np.argmin(cost, axis=0)[label[source[inside]]]
    result = np.zeros(len(source), np.bool_)
    result[inside] = wrong[best, np.arange(len(inside))]
    return result


def _first_entries(n: int, label: Ints, source: Ints, target: Ints) -> Mask:
    """bool [n]: the nodes of each component that are fed from outside by what comes earliest in the flow."""
    outside = np.flatnonzero(label[source] != label[target])
    # Tarjan numbers the components against the flow.
    outside = outside[np.argsort(-label[source[outside]], kind="stable")]
    depth = [0] * (int(label.max()) + 1)
    for before, after in zip(label[source[outside]].tolist(), label[target[outside]].tolist(), strict=True):
        depth[after] = max(depth[after], depth[before] + 1)
    feeding = np.array(depth)[label[source[outside]]]
    earliest = np.full(len(depth), n + 1)
    np.minimum.at(earliest, label[target[outside]], feeding)
    entry = np.zeros(n, np.bool_)
    entry[target[outside][feeding == earliest[label[target[outside]]]]] = True
    return entry


def _finish_rank(roots: Iterable[int], start: list[int], ends: list[int], closed: list[bool]) -> Ints:
    """Ranks by reverse finishing time of a depth-first search that enters ``closed`` nodes only as roots."""
    n = len(closed)
    cursor, seen = list(start), bytearray(n)
    rank, latest = [0] * n, n
    for root in roots:
        path = [] if seen[root] else [root]
        seen[root] = 1
        while path:
            node = path[-1]
            at = cursor[node]
            if at < start[node + 1]:
                cursor[node] = at + 1
                end = ends[at]
                if not seen[end] and not closed[end]:
                    seen[end] = 1
                    path.append(end)
            else:
                path.pop()
                latest -= 1
                rank[node] = latest
    return np.array(rank, np.int64)


def _strong_components(n: int, start: list[int], ends: list[int]) -> list[int]:
    """Label of each node's strongly connected component (Tarjan 1972, without recursion)."""
    label, found, low = [-1] * n, [0] * n, [0] * n
    cursor, open_nodes = list(start), []
    labels = count = 0
    for root in range(n):
        path = [] if found[root] else [root]
        while path:
            node = path[-1]
            if not found[node]:
                count += 1
                found[node] = low[node] = count
                open_nodes.append(node)
            at = cursor[node]
            if at < start[node + 1]:
                cursor[node] = at + 1
                end = ends[at]
                if not found[end]:
                    path.append(end)
                elif label[end] < 0:
                    low[node] = min(low[node], found[end])
                continue
            path.pop()
            if path:
                low[path[-1]] = min(low[path[-1]], low[node])
            if low[node] == found[node]:
                while label[node] < 0:
                    label[open_nodes.pop()] = labels
                labels += 1
    return label
