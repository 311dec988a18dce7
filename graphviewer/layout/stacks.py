"""Repeated sibling scopes (``unit2`` … ``unit36``) as one closed box that opens: a stack."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphviewer.layout.arrays import Ints
from graphviewer.layout.cycles import adjacency
from graphviewer.model.scopes import ROOT, Scopes, SiblingEdges, depths, sum_on_siblings

LEAST = 3
"""Members below which a stack says less than its members do."""

SMALLEST = 4
"""Nodes below which a scope is no burden to the reader."""

_NUMBERED = re.compile(r"(.*?)(\d{1,9})", re.DOTALL)
_FIRST, _SECOND, _MIX = (np.uint64(value) for value in (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0xBF58476D1CE4E5B9))

Hashes = NDArray[np.uint64]


@dataclass(frozen=True, eq=False)
class StackedScopes(Scopes):
    """A scope tree with stacks between some scopes and their parents; all other items keep their numbers.

    A stack's path is that of a scope beside its members, so the paths of the members stay the names they are.

    Attributes:
        plain: the tree without stacks.
    """

    plain: Scopes

    def path(self, item: int) -> str:
        if item < len(self.plain):
            return self.plain.path(item)
        above = self.plain.path(int(self.parent[item]))
        return f"{above}/{self.labels[item]}" if above else self.labels[item]

    @cached_property
    def sibling_edges(self) -> SiblingEdges:
        """Those of the plain tree, summed anew: an edge of a member to something outside is the stack's."""
        edges = self.plain.sibling_edges
        return sum_on_siblings(self, edges.a, edges.b, edges.count, edges.control)

    @cached_property
    def stacks(self) -> dict[str, tuple[str, ...]]:
        """Paths of the members by the path of their stack."""
        return {
            self.path(item): tuple(map(self.path, self.children(item).tolist()))
            for item in range(len(self.plain), len(self))
        }


class Stack(NamedTuple):
    """Sibling scopes that are alike, by number."""

    parent: int
    label: str
    members: list[int]


def stacked(scopes: Scopes) -> Scopes:
    """The tree with a stack around each run of repeated siblings; the tree itself where nothing repeats."""
    stacks = list(find_stacks(scopes))
    if not stacks:
        return scopes
    count = len(scopes)
    parent = np.r_[scopes.parent, np.array([stack.parent for stack in stacks], np.int32)]
    paths = dict(scopes.by_path)
    for number, stack in enumerate(stacks, count):
        parent[stack.members] = number
    none = np.full(len(stacks), -1, np.int32)
    labels = [*scopes.labels, *(stack.label for stack in stacks)]
    made = StackedScopes(
        scopes.graph, parent, labels, depths(parent), np.r_[scopes.node, none], scopes.leaf, plain=scopes
    )
    for number in range(count, len(made)):
        paths.setdefault(made.path(number), number)
    vars(made)["by_path"] = paths
    return made


def find_stacks(scopes: Scopes) -> Iterator[Stack]:
    """Sibling scopes with one name but for the number at its end, equal inside, in a chain or apart from each other."""
    groups: dict[tuple[int, str, int], list[tuple[int, int]]] = {}
    items = np.flatnonzero(scopes.is_scope & (scopes.size >= SMALLEST))
    columns = (items, scopes.parent[items], _signatures(scopes)[items])
    for item, parent, kind in zip(*(column.tolist() for column in columns), strict=True):
        found = _NUMBERED.fullmatch(scopes.labels[item]) if item != ROOT else None
        if found:
            groups.setdefault((parent, found[1], kind), []).append((int(found[2]), item))
    for (parent, stem, _), numbered in groups.items():
        if len(numbered) >= LEAST:
            numbered.sort()
            members = [item for _, item in numbered]
            if _is_run(scopes, parent, members):
                label = f"{stem}{numbered[0][0]}…{numbered[-1][0]} ×{len(members)}"
                yield Stack(parent, label, members)


def _is_run(scopes: Scopes, parent: int, members: list[int]) -> bool:
    """Each feeds the next at most, and no way leads out of them and back: one box for all closes no circle."""
    edges, count = scopes.sibling_edges, len(scopes.children(parent))
    here = slice(edges.start[parent], edges.start[parent + 1])
    data = ~edges.control[here]
    place_of = scopes.place.astype(np.int64)
    source, target = place_of[edges.a[here][data]], place_of[edges.b[here][data]]
    member = np.full(count, -1, np.int64)
    member[scopes.place[members]] = np.arange(len(members))
    leaves, enters = member[source], member[target]
    inside = (leaves >= 0) & (enters >= 0)
    steps = enters[inside] - leaves[inside]
    if not ((steps == 1).all() or (steps == -1).all()):  # gradients run against the numbers
        return False
    start, following = adjacency(count, source, target)
    seen = (member >= 0).tolist()
    stack = target[(leaves >= 0) & ~inside].tolist()
    while stack:
        place = stack.pop()
        if seen[place]:
            continue
        seen[place] = True
        for end in following[start[place] : start[place + 1]]:
            if member[end] >= 0:
                return False
            stack.append(end)
    return True


def _signatures(scopes: Scopes) -> Hashes:
    """uint64 [items]: equal for scopes with equal ops, scopes and edges inside."""
    ops, codes = scopes.graph.op_codes
    table = np.random.default_rng(0).integers(1, 2**63, len(ops) + 1, np.uint64)
    value = np.zeros(len(scopes), np.uint64)
    value[scopes.leaf] = table[codes]
    edges, depth = scopes.sibling_edges, scopes.depth
    order = np.argsort(depth[edges.a], kind="stable")
    bounds = np.searchsorted(depth[edges.a][order], np.arange(len(scopes.levels) + 1))
    for level in range(len(scopes.levels) - 1, 0, -1):
        items, inside = scopes.levels[level], order[bounds[level] : bounds[level + 1]]
        _add(value, scopes.parent[items], value[items] * _FIRST)
        a, b = edges.a[inside], edges.b[inside]
        _add(value, scopes.parent[a], value[a] * _FIRST + value[b] * _SECOND)
    return value


def _add(value: Hashes, target: Ints | NDArray[np.int32], terms: Hashes) -> None:
    mixed = (terms ^ (terms >> np.uint64(29))) * _MIX
    np.add.at(value, target, mixed ^ (mixed >> np.uint64(32)))
