"""Name scopes as a tree, and every edge summed onto the siblings it connects."""

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

    def roll_up(self, values: NDArray[np.generic]) -> NDArray[np.generic]:
        """Sum per-item rows [items, k] up the tree; the root's row is the total."""
        total = values.copy()
        order = np.argsort(self.depth, kind="stable")
        bounds = np.searchsorted(self.depth[order], np.arange(int(self.depth.max(initial=0)) + 2))
        for level in range(len(bounds) - 2, 0, -1):
            items = order[bounds[level] : bounds[level + 1]]
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
        a, b, control = self.leaf[graph.src], self.leaf[graph.dst], graph.control
        a, b = _lift_to_siblings(a, b, self.parent, self.depth)
        apart = a != b
        key = a[apart].astype(np.int64) * len(self) + b[apart]
        order = np.argsort(key, kind="stable")
        key = key[order]
        first = np.flatnonzero(np.diff(key, prepend=-1)) if len(key) else np.zeros(0, np.int64)
        a, b = (key[first] // len(self)).astype(np.int32), (key[first] % len(self)).astype(np.int32)
        count = np.diff(first, append=len(key)).astype(np.int32)
        data = ~control[apart][order]
        is_control = np.add.reduceat(data.astype(np.int32), first) == 0 if len(first) else np.zeros(0, bool)
        by_parent = np.argsort(self.parent[a], kind="stable")
        a, b = a[by_parent], b[by_parent]
        start = np.searchsorted(self.parent[a], np.arange(len(self) + 1)).astype(np.int32)
        return SiblingEdges(a, b, count[by_parent], np.asarray(is_control)[by_parent], start)


def _lift_to_siblings(a: Ints, b: Ints, parent: Ints, depth: Ints) -> tuple[Ints, Ints]:
    """Move the ends of each edge up until they are siblings, or one item."""
    a, b = a.copy(), b.copy()
    while (deeper := depth[a] > depth[b]).any():
        a[deeper] = parent[a[deeper]]
    while (deeper := depth[b] > depth[a]).any():
        b[deeper] = parent[b[deeper]]
    while (apart := parent[a] != parent[b]).any():
        a[apart], b[apart] = parent[a[apart]], parent[b[apart]]
    return a, b


class _Builder:
    """Numbers scopes in order of first appearance, parents before children.

    Attributes:
        ids: number of each scope by path, the root 0.
        parent: number of the scope around each.
        labels: last part of the path.
        depth: 0 for the root.
        first: the node at whose name the scope appears.
    """

    def __init__(self) -> None:
        self.ids = {"": ROOT}
        self.parent, self.labels, self.depth, self.first = [-1], [""], [0], [-1]

    def scope(self, path: str, node: int) -> int:
        """The scope ``path``, made with all its parents where it is new."""
        missing = []
        while path not in self.ids:
            missing.append(path)
            path = path.rpartition("/")[0]
        scope = self.ids[path]
        for new in reversed(missing):
            self.parent.append(scope)
            self.labels.append(new.rpartition("/")[2])
            self.depth.append(self.depth[scope] + 1)
            self.first.append(node)
            scope = self.ids[new] = len(self.labels) - 1
        return scope


def _used_paths(names: Sequence[str]) -> set[str]:
    """All scopes: what stands before a slash in a name."""
    used: set[str] = set()
    for path in {name.rpartition("/")[0] for name in names}:
        while path and path not in used:
            used.add(path)
            path = path.rpartition("/")[0]
    return used


def build_scopes(graph: Graph) -> Scopes:
    """The scope tree of a graph's names; 400 nested scopes and empty parts (``a//b``) are legal.

    Items are numbered in order of first appearance, scopes before what is in them (a million nodes: 2 s).
    """
    names = graph.names
    used, tree = _used_paths(names), _Builder()
    ids, share = tree.ids, dict[str, str]().setdefault
    inside = np.empty(len(names), np.int32)
    endings: list[str] = []
    for number, name in enumerate(names):
        above, _, last = name.rpartition("/")
        if name in used:
            above, last = name, f"({last})"
        scope = ids.get(above)
        inside[number] = tree.scope(above, number) if scope is None else scope
        endings.append(share(last, last))
    return _numbered(graph, tree, inside, endings)


def _numbered(graph: Graph, tree: _Builder, inside: Ints, endings: Sequence[str]) -> Scopes:
    """Scopes and leaves as items of one tree.

    Args:
        graph: the graph.
        tree: its scopes.
        inside: int32 [nodes], the scope around each node.
        endings: labels of the leaves.
    """
    numbers, first = np.arange(len(inside), dtype=np.int32), np.array(tree.first, np.int32)
    # A node comes behind the nodes before it and the scopes that have appeared by then; likewise a scope.
    leaf = numbers + np.searchsorted(first, numbers, "right").astype(np.int32)
    scopes = np.maximum(first, 0) + np.arange(len(first), dtype=np.int32)
    count = len(leaf) + len(scopes)
    parent, node = np.full(count, -1, np.int32), np.full(count, -1, np.int32)
    parent[leaf], node[leaf] = scopes[inside], numbers
    parent[scopes[1:]] = scopes[np.array(tree.parent[1:], np.int64)]
    depth = np.zeros(count, np.int32)
    depth[scopes] = tree.depth
    depth[leaf] = depth[parent[leaf]] + 1
    labels = [""] * count
    for items, texts in ((scopes, tree.labels), (leaf, endings)):
        for item, text in zip(items.tolist(), texts, strict=True):
            labels[item] = text
    made = Scopes(graph, parent, labels, depth, node, leaf)
    # What the cached property would make again from the labels.
    vars(made)["by_path"] = dict(zip(tree.ids, scopes.tolist(), strict=True))
    return made
