"""Which scopes to open so that the changes of a comparison are seen and little else."""

from __future__ import annotations

import heapq

import numpy as np

from graphviewer.analysis.diff import UNCHANGED
from graphviewer.analysis.merge import Merged
from graphviewer.model.bodies import extended

MOST_BOXES = 120
"""More boxes than this are no picture any more: the scopes with fewest changes stay closed, rolled up."""


def changed_scopes(merged: Merged, most: int = MOST_BOXES) -> frozenset[str]:
    """Paths of the scopes to open: those with most changes first, while the boxes stay few.

    A scope stays closed where all its nodes share one status: its own box says that.
    """
    shown = merged.document.unfolded
    scopes, table = shown.scopes, extended(merged.overlay, shown).by_item(shown.scopes)
    changed = table.sum(axis=1) - table[:, UNCHANGED]
    is_mixed = np.count_nonzero(table, axis=1) > 1
    boxes, opened, waiting = 0, set[int](), [(-int(changed[0]), 0)]
    while waiting:
        _, item = heapq.heappop(waiting)
        children = scopes.children(item).tolist()
        if item and boxes + len(children) > most:
            continue
        boxes += len(children)
        opened.add(item)
        for child in children:
            if scopes.is_scope[child] and changed[child] and is_mixed[child]:
                heapq.heappush(waiting, (-int(changed[child]), child))
    return frozenset(scopes.path(item) for item in opened if item)
