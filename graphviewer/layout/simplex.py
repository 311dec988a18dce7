"""Layers of least total edge span: the network simplex method of Gansner, Koutsofios, North and Vo (1993).

Pure Python and a little numpy: on the graphs left over by ``layers`` it is faster than a general LP solver, and it
does not cost the half second that importing one takes.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from graphviewer.layout.arrays import Ints
from graphviewer.layout.cycles import adjacency


class Spans(NamedTuple):
    """A layering problem: least sum of ``weight * (y[head] - y[tail])`` with each span at least ``length``."""

    tail: Ints
    head: Ints
    length: Ints
    weight: Ints


def network_simplex(layer: Sequence[int], spans: Spans, work: int) -> list[int]:
    """Improve feasible layers until their total span is least.

    Args:
        layer: feasible layers [n].
        spans: the edges, at least one; both ends differ.
        work: how many edges and nodes may be looked at; when they are used up, the layers so far are returned,
            which are feasible and no worse than ``layer``.

    Returns:
        Layers [n], not normalised.
    """
    n = len(layer)
    spans = _connected(n, spans)
    tree = _Tree(np.array(layer, np.int64), spans)
    cost = n + len(spans.tail)
    while (work := work - cost) > 0 and tree.pivot():
        pass
    result: list[int] = tree.layer.tolist()
    return result


def _connected(n: int, spans: Spans) -> Spans:
    """Join the components by edges of no weight that never bind, so that one tree spans them all."""
    label = components(n, spans.tail, spans.head)
    first = np.unique(label, return_index=True)[1]
    more = len(first) - 1
    if not more:
        return spans
    # Feasible at any layers that a solution may have.
    never = np.full(more, -int(np.abs(spans.length).sum()) - n)
    return Spans(
        np.r_[spans.tail, first[:-1]],
        np.r_[spans.head, first[1:]],
        np.r_[spans.length, never],
        np.r_[spans.weight, np.zeros(more, np.int64)],
    )


def components(n: int, source: Ints, target: Ints) -> Ints:
    """Label of each node's weakly connected component, numbered by first node."""
    start, ends = adjacency(n, np.r_[source, target], np.r_[target, source])
    label = [-1] * n
    count = 0
    for root in range(n):
        if label[root] >= 0:
            continue
        label[root] = count
        stack = [root]
        while stack:
            node = stack.pop()
            for end in ends[start[node] : start[node + 1]]:
                if label[end] < 0:
                    label[end] = count
                    stack.append(end)
        count += 1
    return np.array(label, np.int64)


class _Tree:
    """A spanning tree of tight edges, rooted at node 0.

    The cut value of a tree edge is the change of the total span per unit by which the edge is stretched. It is the
    surplus (outgoing minus incoming weight) of the nodes below the edge, for the edges among them cancel out.

    Attributes:
        layer: int64 [n].
        above: the tree edge towards the root, -1 for the root.
        parent: the node at its other end.
        below: the children of each node.
        surplus: float [n], outgoing minus incoming weight of the subtree.
        cut: float [n], cut value of ``above``.
    """

    def __init__(self, layer: Ints, spans: Spans) -> None:
        n = len(layer)
        self.layer, self.spans = layer, spans
        self.tail, self.head = spans.tail.tolist(), spans.head.tolist()
        self.above, self.parent = [-1] * n, [-1] * n
        self.below: list[set[int]] = [set() for _ in range(n)]
        order = self._grow()
        surplus = np.bincount(spans.tail, spans.weight, n) - np.bincount(spans.head, spans.weight, n)
        for node in reversed(order[1:]):
            surplus[self.parent[node]] += surplus[node]
        self.surplus = surplus
        self.cut = np.zeros(n)
        for node in order[1:]:
            self._set_cut(node)

    def _slack(self) -> Ints:
        return self.layer[self.spans.head] - self.layer[self.spans.tail] - self.spans.length

    def _grow(self) -> list[int]:
        """Span all nodes with tight edges, moving what is reached so far where no tight edge leads on."""
        n = len(self.layer)
        tail, head, layer = self.spans.tail, self.spans.head, self.layer
        edges = np.arange(len(tail))
        start, around = adjacency(n, np.r_[tail, head], np.r_[edges, edges])
        inside = np.zeros(n, np.bool_)
        order: list[int] = []
        stack = [0]
        inside[0] = True
        slack = self._slack().tolist()
        while True:
            while stack:
                node = stack.pop()
                order.append(node)
                for edge in around[start[node] : start[node + 1]]:
                    end = self.head[edge] if self.tail[edge] == node else self.tail[edge]
                    if not slack[edge] and not inside[end]:
                        inside[end] = True
                        self._hang(end, edge, node)
                        stack.append(end)
            crossing = np.flatnonzero(inside[tail] != inside[head])
            if not len(crossing):
                return order
            gaps = self._slack()
            edge = int(crossing[np.argmin(gaps[crossing])])
            outwards = bool(inside[tail[edge]])
            layer[inside] += gaps[edge] if outwards else -gaps[edge]
            near, end = (self.tail[edge], self.head[edge]) if outwards else (self.head[edge], self.tail[edge])
            inside[end] = True
            self._hang(end, edge, near)
            stack.append(end)
            slack = self._slack().tolist()

    def _hang(self, node: int, edge: int, parent: int) -> None:
        self.above[node], self.parent[node] = edge, parent
        self.below[parent].add(node)

    def _set_cut(self, node: int) -> None:
        self.cut[node] = self.surplus[node] if self.tail[self.above[node]] == node else -self.surplus[node]

    def pivot(self) -> bool:
        """Exchange the tree edge with the most negative cut value; False when there is none: the span is least."""
        node = int(np.argmin(self.cut))
        if self.cut[node] >= 0:
            return False
        subtree = self._subtree(node)
        inside = np.zeros(len(self.layer), np.bool_)
        inside[subtree] = True
        tail_in, head_in = inside[self.spans.tail], inside[self.spans.head]
        downwards = self.tail[self.above[node]] == node
        # The entering edge runs against the leaving one, between the same two sides.
        candidates = np.flatnonzero(head_in & ~tail_in if downwards else tail_in & ~head_in)
        slack = self._slack()[candidates]
        best = int(np.argmin(slack))
        self.layer[subtree] += -slack[best] if downwards else slack[best]
        self._exchange(node, int(candidates[best]), downwards)
        return True

    def _subtree(self, node: int) -> list[int]:
        nodes = [node]
        for each in nodes:
            nodes.extend(self.below[each])
        return nodes

    def _exchange(self, top: int, edge: int, head_inside: bool) -> None:
        """Cut the subtree of ``top`` off and hang it up by ``edge``, re-rooted at that edge's inner end."""
        inner, outer = (self.head[edge], self.tail[edge]) if head_inside else (self.tail[edge], self.head[edge])
        moved = self.surplus[top]
        self._add_above(self.parent[top], -moved)
        self.below[self.parent[top]].discard(top)
        node, new_parent, new_edge, passed = inner, outer, edge, 0.0
        while True:
            old_parent, old_edge, old_surplus = self.parent[node], self.above[node], self.surplus[node]
            if node != top:
                self.below[old_parent].discard(node)
            self._hang(node, new_edge, new_parent)
            self.surplus[node] = moved - passed
            self._set_cut(node)
            if node == top:
                break
            node, new_parent, new_edge, passed = old_parent, node, old_edge, old_surplus
        self._add_above(outer, moved)

    def _add_above(self, node: int, surplus: float) -> None:
        while self.parent[node] >= 0:
            self.surplus[node] += surplus
            self._set_cut(node)
            node = self.parent[node]
        self.surplus[node] += surplus
