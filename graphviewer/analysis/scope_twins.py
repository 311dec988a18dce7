"""Which scope of one graph is which scope of the other: the one that holds the nodes that its own were linked to."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from graphviewer.model.graph import Ints
from graphviewer.model.scopes import ROOT, Scopes


class ScopeTwins(NamedTuple):
    """Twins of all items of two scope trees.

    Attributes:
        before: int32 [items before], the item of the other tree; -1 where there is none, as for the root.
        after: the same for the items after.
    """

    before: Ints
    after: Ints


def scope_twins(before: Scopes, after: Scopes, match: Ints) -> ScopeTwins:
    """Link scopes by the vote of the nodes inside, nodes by their match.

    A linked pair of nodes votes for the scopes around them pairwise, from the inside out: in ``import/net/w`` and
    ``net/w`` for ``import/net`` and ``net``. So a scope that only one side has gets no twin, and scopes that were
    renamed or moved get theirs. Where votes are equal, and where no node inside is linked, the same path decides.

    Args:
        before: the first tree.
        after: the second tree.
        match: int32 [nodes before], the node after, -1 where it is gone.
    """
    known = np.flatnonzero(match >= 0)
    pairs = before.leaf[known], after.leaf[match[known]]
    votes = [*_votes(before, after, *pairs)]
    a, b, count = (np.concatenate([vote[at] for vote in votes]) for at in range(3)) if votes else _nothing()
    a, b, count = _summed(a, b, count, len(after))
    same_path = _same_paths(before, after)
    twins = ScopeTwins(
        _elected(a, b, count, same_path, len(after)),
        _elected(b, a, count, _inverse(same_path, len(after)), len(before)),
    )
    twins.before[pairs[0]], twins.after[pairs[1]] = pairs[1], pairs[0]
    return twins


def _nothing() -> tuple[Ints, Ints, Ints]:
    none = np.zeros(0, np.int32)
    return none, none, none


def _votes(before: Scopes, after: Scopes, a: Ints, b: Ints) -> Iterator[tuple[Ints, Ints, Ints]]:
    """Pairs of scopes, level by level outwards, each with the pairs of nodes that stand for it."""
    count = np.ones(len(a), np.int32)
    while len(a):
        a, b = before.parent[a], after.parent[b]
        inside = (a >= 0) & (b >= 0) & ((a > ROOT) | (b > ROOT))
        a, b, count = _summed(a[inside], b[inside], count[inside], len(after))
        yield a, b, count


def _summed(a: Ints, b: Ints, count: Ints, width: int) -> tuple[Ints, Ints, Ints]:
    """Each pair once, with its counts added."""
    keys, places = np.unique(a.astype(np.int64) * width + b, return_inverse=True)
    total = np.bincount(places, weights=count, minlength=len(keys)).astype(np.int32)
    return (keys // width).astype(np.int32), (keys % width).astype(np.int32), total


def _elected(a: Ints, b: Ints, count: Ints, same_path: Ints, size: int) -> Ints:
    """For each item of a tree its ``b`` with most votes; the one of the same path where neither has any.

    Args:
        a, b, count: int32 [pairs], items of this tree and of the other, and the votes for them.
        same_path: int32 [items], the scope of the other tree of the same path, -1 for none.
        size: items of the other tree.
    """
    is_free = np.ones(size, np.bool_)
    is_free[b] = False
    twins = np.where((same_path >= 0) & is_free[same_path], same_path, -1).astype(np.int32)
    order = np.lexsort((same_path[a] == b, count, a))
    twins[a[order]] = b[order]  # the last one of each stays
    twins[twins == ROOT] = -1
    twins[ROOT] = -1
    return twins


def _same_paths(before: Scopes, after: Scopes) -> Ints:
    """int32 [items before]: the scope after of the same path, -1 for none."""
    found = np.full(len(before), -1, np.int32)
    for path, item in before.by_path.items():
        found[item] = after.by_path.get(path, -1)
    return found


def _inverse(links: Ints, size: int) -> Ints:
    found = np.full(size, -1, np.int32)
    known = np.flatnonzero(links >= 0)
    found[links[known]] = known
    return found
