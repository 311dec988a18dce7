"""Layers for an acyclic graph: every edge leads to a later layer, and the total span of the edges is least."""

import numpy as np

from graphviewer.layout.arrays import Ints
from graphviewer.layout.cycles import topological_order
from graphviewer.layout.simplex import Spans, network_simplex

# Nodes and edges the exact method may look at: 0.5 s at worst. Real graphs need a few per cent of it.
WORK = 20_000_000

Edge = tuple[int, int]
"""Least span and weight of a reduced edge."""


def span_layers(n: int, source: Ints, target: Ints) -> Ints:
    """Layers with least total edge span.

    Nodes whose best place depends on one neighbour only are taken out first. That is exact, and it swallows nearly
    all of a neural network: chains, constants, branches that meet again.

    Args:
        n: number of nodes.
        source, target: int [edges], acyclic.

    Returns:
        int64 [n], not normalised; components do not depend on each other.
    """
    reduction = _Reduction(n, source.tolist(), target.tolist())
    nodes = reduction.reduce()
    layer = [0] * n
    if nodes:
        spans = reduction.spans(nodes)
        first = _longest_path(len(nodes), spans)
        for node, value in zip(nodes, network_simplex(first, spans, WORK), strict=True):
            layer[node] = value
    for node, anchor, offset in reversed(reduction.moved):
        layer[node] = layer[anchor] + offset
    return np.array(layer, np.int64)


def _longest_path(n: int, spans: Spans) -> list[int]:
    order = topological_order(n, spans.tail, spans.head)
    by_tail = np.argsort(spans.tail, kind="stable")
    start = np.searchsorted(spans.tail[by_tail], np.arange(n + 1)).tolist()
    head, length = spans.head[by_tail].tolist(), spans.length[by_tail].tolist()
    layer = [0] * n
    for node in order:
        for at in range(start[node], start[node + 1]):
            layer[head[at]] = max(layer[head[at]], layer[node] + length[at])
    return layer


class _Reduction:
    """Merges nodes into neighbours that they are bound to stay next to.

    A node with one predecessor moves next to it unless its outgoing edges weigh more, and the same the other way
    round. The edges of a merged node go on to its anchor; parallel ones become one. Each merge removes an edge at
    least as heavy as the number of edges it moves, so all merges together cost no more than the number of edges.
    """

    def __init__(self, n: int, source: list[int], target: list[int]) -> None:
        self.into: list[dict[int, Edge]] = [{} for _ in range(n)]
        self.out: list[dict[int, Edge]] = [{} for _ in range(n)]
        self.moved: list[tuple[int, int, int]] = []
        for tail, head in zip(source, target, strict=True):
            self._connect(tail, head, 1, 1)

    def _connect(self, tail: int, head: int, length: int, weight: int) -> None:
        known = self.out[tail].get(head)
        if known:
            length, weight = max(length, known[0]), weight + known[1]
        self.out[tail][head] = self.into[head][tail] = (length, weight)

    def reduce(self) -> list[int]:
        """Merge as long as anything can be merged; the nodes that are left, in order."""
        todo = list(range(len(self.out) - 1, -1, -1))
        while todo:
            node = todo.pop()
            for near, far in ((self.into, self.out), (self.out, self.into)):
                if len(near[node]) == 1:
                    ((anchor, (length, weight)),) = near[node].items()
                    if weight >= sum(edge[1] for edge in far[node].values()):
                        todo.extend(self._merge(node, anchor, length, near is self.into))
                        break
        return [node for node in range(len(self.out)) if self.out[node] or self.into[node]]

    def _merge(self, node: int, anchor: int, length: int, after: bool) -> list[int]:
        """Take ``node`` out, put its far edges on ``anchor``; the nodes that may have become mergeable."""
        near, far = (self.into, self.out) if after else (self.out, self.into)
        self.moved.append((node, anchor, length if after else -length))
        del far[anchor][node]
        moved, far[node], near[node] = far[node], {}, {}
        for end, (more, weight) in moved.items():
            del near[end][node]
            tail, head = (anchor, end) if after else (end, anchor)
            self._connect(tail, head, length + more, weight)
        return [*moved, anchor]

    def spans(self, nodes: list[int]) -> Spans:
        """The edges among the nodes that are left, numbered by position in ``nodes``."""
        place = {node: at for at, node in enumerate(nodes)}
        rows = [
            (place[tail], place[head], length, weight)
            for tail in nodes
            for head, (length, weight) in self.out[tail].items()
        ]
        return Spans(*np.array(rows, np.int64).T)
