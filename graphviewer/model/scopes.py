"""Name scopes as a tree, and every edge summed onto the siblings it connects."""

from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from graphviewer.model.graph import Graph, Ints, Mask

ROOT = 0


@dataclass(frozen=True, eq=False)
class SiblingEdges:
    """Edges of the graph lifted to the lowest level at which their ends differ, one per (a, b), sorted by parent.

    Attributes:
        a, b: int32 [m], items with the same parent; ``a`` feeds ``b``.
        count: int32 [m], graph edges behind this one.
        control: bool [m], all of them are control edges.
        start: int32 [items+1], edges ``start[p]:start[p+1]`` connect children of item p.
    """

    a: Ints
    b: Ints
    count: Ints
    control: Mask
    start: Ints


@dataclass(frozen=True, eq=False)
class Scopes:
    """The scope tree of a graph. Item 0 is the root; an item is a scope or, as a leaf, one node.

    A node whose name is also a scope becomes a leaf labelled ``(name)`` inside that scope.

    Attributes:
        parent: int32 [items], -1 for the root.
        labels: last part of each item's path.
        depth: int32 [items], 0 for the root.
        node: int32 [items], the node of a leaf, -1 for a scope.
        leaf: int32 [nodes], the item of each node.
    """

    graph: Graph
    parent: Ints
    labels: Sequence[str]
    depth: Ints
    node: Ints
    leaf: Ints

    def __len__(self) -> int:
        return len(self.labels)

    @cached_property
    def is_scope(self) -> Mask:
        """bool [items]: the item is a scope."""
        return np.asarray(self.node < 0)

    @cached_property
    def _children(self) -> tuple[Ints, Ints]:
        order = (np.argsort(self.parent[1:], kind="stable") + 1).astype(np.int32)
        start = np.searchsorted(self.parent[order], np.arange(len(self) + 1)).astype(np.int32)
        return order, start

    def children(self, item: int) -> Ints:
        """Items directly inside ``item``, in order of first appearance."""
        order, start = self._children
        return order[start[item] : start[item + 1]]

    @cached_property
    def place(self) -> Ints:
        """int32 [items]: each item's position among its siblings."""
        order, start = self._children
        place = np.zeros(len(self), np.int32)
        place[order] = np.arange(len(order)) - start[self.parent[order]]
        return place

    @cached_property
    def size(self) -> Ints:
        """int32 [items]: nodes inside (1 for a leaf)."""
        return self.roll_up((self.node >= 0).astype(np.int32)[:, None])[:, 0].astype(np.int32)

    @cached_property
    def levels(self) -> list[Ints]:
        """Items by depth, the root first."""
        order = np.argsort(self.depth, kind="stable").astype(np.int32)
        return np.split(order, np.cumsum(np.bincount(self.depth))[:-1])

    def roll_up(self, values: NDArray[np.generic]) -> NDArray[np.generic]:
        """Sum per-item rows [items, k] up the tree; the root's row is the total."""
        total = values.copy()
        for items in self.levels[:0:-1]:
            np.add.at(total, self.parent[items], total[items])
        return total

    def path(self, item: int) -> str:
        """The item's full name: the node's name for a leaf, ``a/b`` for a scope, empty for the root."""
        if self.node[item] >= 0:
            return self.graph.names[self.node[item]]
        parts = []
        while item > 0:
            parts.append(self.labels[item])
            item = int(self.parent[item])
        return "/".join(reversed(parts))

    @cached_property
    def by_path(self) -> dict[str, int]:
        """Scopes by path (``''`` is the root)."""
        paths = {ROOT: ""}
        for item in np.flatnonzero(self.is_scope)[1:].tolist():
            above = paths[int(self.parent[item])]
            paths[item] = f"{above}/{self.labels[item]}" if above else self.labels[item]
        return {path: item for item, path in paths.items()}

    def ancestors(self, item: int) -> list[int]:
        """The scopes around ``item``, innermost first, the root last."""
        above = []
        while (item := int(self.parent[item])) >= 0:
            above.append(item)
        return above

    def nodes_inside(self, item: int) -> list[int]:
        """All nodes inside an item (itself for a leaf)."""
        stack, nodes = [item], []
        while stack:
            current = stack.pop()
            if self.node[current] >= 0:
                nodes.append(int(self.node[current]))
            else:
                stack.extend(self.children(current).tolist())
        return sorted(nodes)

    @cached_property
    def sibling_edges(self) -> SiblingEdges:
        """Every edge of the graph on the sibling pair it connects (475,000 edges: 60 ms)."""
        graph = self.graph
        ones = np.ones(len(graph.src), np.int32)
        return sum_on_siblings(self, self.leaf[graph.src], self.leaf[graph.dst], ones, graph.control)


def sum_on_siblings(scopes: Scopes, a: Ints, b: Ints, count: Ints, control: Mask) -> SiblingEdges:
    """Edges between any items, summed on the siblings they connect.

    Args:
        scopes: the tree.
        a, b: int32 [edges], items; an edge inside one item is left out.
        count: int32 [edges], graph edges behind each.
        control: bool [edges], all of them are control edges.
    """
    a, b = lift_to_siblings(a, b, scopes.parent, scopes.depth)
    apart = a != b
    key = a[apart].astype(np.int64) * len(scopes) + b[apart]
    order = np.argsort(key, kind="stable")
    key = key[order]
    first = np.flatnonzero(np.diff(key, prepend=-1)) if len(key) else np.zeros(0, np.int64)
    a, b = (key[first] // len(scopes)).astype(np.int32), (key[first] % len(scopes)).astype(np.int32)
    data = ~control[apart][order]
    counts, is_control = np.zeros(0, np.int32), np.zeros(0, np.bool_)
    if len(first):
        counts = np.add.reduceat(count[apart][order], first).astype(np.int32)
        is_control = np.add.reduceat(data.astype(np.int32), first) == 0
    by_parent = np.argsort(scopes.parent[a], kind="stable")
    a, b = a[by_parent], b[by_parent]
    start = np.searchsorted(scopes.parent[a], np.arange(len(scopes) + 1)).astype(np.int32)
    return SiblingEdges(a, b, counts[by_parent], is_control[by_parent], start)


def lift_to_siblings(a: Ints, b: Ints, parent: Ints, depth: Ints) -> tuple[Ints, Ints]:
    """Move the ends of each edge up until they are siblings, or one item."""
    a, b = a.copy(), b.copy()
    while (deeper := depth[a] > depth[b]).any():
        a[deeper] = parent[a[deeper]]
    while (deeper := depth[b] > depth[a]).any():
        b[deeper] = parent[b[deeper]]
    while (apart := parent[a] != parent[b]).any():
        a[apart], b[apart] = parent[a[apart]], parent[b[apart]]
    return a, b


def _scope_paths(names: Sequence[str]) -> dict[str, int]:
    """All scopes, each after those around it: what stands before a slash in a name. Their items are not known yet."""
    items = {"": ROOT}
    for name in names:
        path, missing = name.rpartition("/")[0], []
        while path not in items:
            missing.append(path)
            path = path.rpartition("/")[0]
        for new in reversed(missing):
            items[new] = -1
    return items


class _Builder:
    """Numbers scopes and nodes in order of first appearance, scopes before what is in them.

    Compact arrays, for a million nodes may have as many scopes.

    Attributes:
        items: item of each scope by path; -1 where it has not appeared.
        scopes: items of the scopes, in order.
        scope_parents, scope_labels: of each scope.
        leaf_parents, leaf_labels: of each node.
    """

    def __init__(self, items: dict[str, int]) -> None:
        self.items = items
        self.scopes, self.scope_parents, self.scope_labels = array("i", [ROOT]), array("i", [-1]), [""]
        self.leaf_parents, self.leaf_labels = array("i"), list[str]()
        self._shared: dict[str, str] = {}

    def add(self, name: str) -> None:
        """Number the next node, and the scopes that appear with it."""
        above, _, last = name.rpartition("/")
        if name in self.items and name:
            above, last = name, f"({last})"
        parent = self.items[above]
        self.leaf_parents.append(parent if parent >= 0 else self._scope(above))
        self.leaf_labels.append(self._shared.setdefault(last, last))

    def _scope(self, path: str) -> int:
        missing = []
        while self.items[path] < 0:
            missing.append(path)
            path = path.rpartition("/")[0]
        item = self.items[path]
        for new in reversed(missing):
            last = new.rpartition("/")[2]
            self.scope_parents.append(item)
            self.scope_labels.append(self._shared.setdefault(last, last))
            item = self.items[new] = len(self.leaf_labels) + len(self.scopes)
            self.scopes.append(item)
        return item

    def tree(self, graph: Graph) -> Scopes:
        """The numbered items as a tree."""
        scopes = np.array(self.scopes, np.int32)
        count = len(scopes) + len(self.leaf_labels)
        is_leaf = np.ones(count, np.bool_)
        is_leaf[scopes] = False
        leaf = np.flatnonzero(is_leaf).astype(np.int32)
        parent, node = np.full(count, -1, np.int32), np.full(count, -1, np.int32)
        parent[scopes], parent[leaf] = np.array(self.scope_parents, np.int32), np.array(self.leaf_parents, np.int32)
        node[leaf] = np.arange(len(leaf), dtype=np.int32)
        labels = [""] * count
        for items, texts in ((scopes, self.scope_labels), (leaf, self.leaf_labels)):
            for item, text in zip(items.tolist(), texts, strict=True):
                labels[item] = text
        made = Scopes(graph, parent, labels, depths(parent), node, leaf)
        vars(made)["by_path"] = self.items  # what the cached property would make again from the labels
        return made


def depths(parent: Ints) -> Ints:
    """int32 [items]: how many items are above each."""
    depth = np.zeros(len(parent), np.int32)
    item, above = np.arange(len(parent)), parent
    while len(item := item[above >= 0]):
        above = parent[above[above >= 0]]
        depth[item] += 1
    return depth


def build_scopes(graph: Graph) -> Scopes:
    """The scope tree of a graph's names; 400 nested scopes and empty parts (``a//b``) are legal.

    Items are numbered in order of first appearance, scopes before what is in them (a million nodes in 750,000 scopes:
    2.5 s).
    """
    builder = _Builder(_scope_paths(graph.names))
    for name in graph.names:
        builder.add(name)
    return builder.tree(graph)
