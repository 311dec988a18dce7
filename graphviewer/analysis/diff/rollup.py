"""A comparison summed up: by scope, by op, by role."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from graphviewer.analysis.diff.result import STATUSES, UNCHANGED, Change, Diff
from graphviewer.analysis.diff.scope_names import scopes_of
from graphviewer.model.overlay import NONE, Overlay
from graphviewer.model.scopes import Scopes

Counts = dict[str, dict[str, int]]


def rollup(diff: Diff, scopes: Scopes) -> NDArray[np.int32]:
    """Nodes per status inside every item of a scope tree: int32 [items, statuses].

    Args:
        diff: the comparison.
        scopes: the scope tree of either of its two graphs. For both in one tree, see ``analysis.merge``.

    Raises:
        ValueError: the tree belongs to neither graph.
    """
    for document, overlay in ((diff.after, diff.overlay_after), (diff.before, diff.overlay_before)):
        if scopes.graph is document.graph:
            return overlay().by_item(scopes)
    raise ValueError("the scope tree belongs to neither side of the comparison")


def by_scope(scopes: Scopes, overlay: Overlay, depth: int = 1) -> Counts:
    """Nodes per scope and status, scopes in order of appearance, those without a change left out.

    Args:
        scopes: the tree of either graph, or of the merged one (``analysis.merge``).
        overlay: the statuses of its nodes.
        depth: how many levels; a node counts in every scope around it.
    """
    table = np.asarray(overlay.by_item(scopes))
    changed = changed_inside(table)
    return {
        path: {STATUSES[code]: count for code, count in enumerate(table[item].tolist()) if count}
        for path, item in scopes.by_path.items()
        if 0 < scopes.depth[item] <= depth and changed[item]
    }


def in_words(counts: Mapping[str, int]) -> str:
    """``3 removed, 2 converted``; unchanged nodes are left out."""
    return ", ".join(f"{count:,} {status}" for status, count in counts.items() if count and status != "unchanged")


def renamed_scope(changes: Iterable[Change]) -> str:
    """`` (old/ → new/)`` where all renamed nodes among some changes are below one renamed scope; empty otherwise."""
    scopes = set()
    for change in changes:
        if change.status == "renamed" and change.before is not None and change.after is not None:
            scopes.add(scopes_of(change.before, change.after))
            if len(scopes) > 1:
                return ""
    pair = next(iter(scopes), None)
    if pair is None or not all(pair):
        return ""
    return f" ({pair.old}/ → {pair.new}/)"


def by_op(diff: Diff) -> Counts:
    """Nodes per op and status, unchanged ones left out, most changes first.

    A node whose op changed counts under the op it had.
    """
    ops = [
        (diff.before.node(one.before_node) if one.before_node >= 0 else diff.after.node(one.after_node)).op
        for one in diff.changes
    ]
    return _count(ops, [change.status for change in diff.changes])


def by_role(diff: Diff, roles: Overlay) -> Counts:
    """Nodes of the first graph per role and status, unchanged ones included, most nodes first.

    Args:
        diff: the comparison.
        roles: the roles of the first graph's nodes.
    """
    known = np.flatnonzero(roles.codes != NONE).tolist()
    names = [roles.categories[int(roles.codes[node])] for node in known]
    return _count(names, [STATUSES[int(diff.status_before[node])] for node in known])


def _count(groups: Sequence[str], statuses: Sequence[str]) -> Counts:
    table: Counts = {}
    for group, status in zip(groups, statuses, strict=True):
        row = table.setdefault(group, {})
        row[status] = row.get(status, 0) + 1
    largest_first = sorted(table.items(), key=lambda row: (-sum(row[1].values()), row[0]))
    return {group: {status: row[status] for status in STATUSES if status in row} for group, row in largest_first}


def changed_inside(table: NDArray[np.int32]) -> NDArray[np.int32]:
    """int32 [items]: nodes that are not unchanged, from the result of ``rollup``."""
    return np.asarray(table.sum(axis=1) - table[:, UNCHANGED], np.int32)
