"""Which scopes to open so that the changes of a comparison are seen and little else."""

from __future__ import annotations

import heapq
from dataclasses import replace

import numpy as np

from graphviewer.analysis.diff import UNCHANGED
from graphviewer.model.bodies import Unfolded
from graphviewer.model.document import Document
from graphviewer.model.overlay import NONE, Overlay

MOST_BOXES = 160
"""More boxes that hold a change are no picture any more: the scopes with fewest changes stay closed, rolled up."""

GHOSTS = 8
"""Boxes without a change that count as one: they are only faint outlines."""


def changed_scopes(shown: Document, overlay: Overlay, most: int = MOST_BOXES) -> frozenset[str]:
    """Paths of the scopes to open: those with most changes first, while the boxes stay few.

    A scope stays closed where all its nodes share one status: its own box says that.

    Args:
        shown: the merged graph, its functions opened.
        overlay: the statuses of all its nodes.
        most: boxes.
    """
    scopes, table = shown.scopes, _without_same_bodies(shown, overlay).by_item(shown.scopes)
    changed = table.sum(axis=1) - table[:, UNCHANGED]
    is_mixed = np.count_nonzero(table, axis=1) > 1
    boxes, opened, waiting = 0, set[int](), [(-int(changed[0]), 0)]
    while waiting:
        _, item = heapq.heappop(waiting)
        children = scopes.children(item)
        lit = int(np.count_nonzero(changed[children]))
        weight = lit + (len(children) - lit) // GHOSTS
        if item and boxes + weight > most:
            continue
        boxes += weight
        opened.add(item)
        for child in children.tolist():
            if scopes.is_scope[child] and changed[child] and is_mixed[child]:
                heapq.heappush(waiting, (-int(changed[child]), child))
    return frozenset(scopes.path(item) for item in opened if item)


def _without_same_bodies(shown: Document, overlay: Overlay) -> Overlay:
    """The overlay that says nothing of what is the same inside functions: a renamed call alone is no reason to open."""
    if not isinstance(shown, Unfolded):
        return overlay
    codes = overlay.codes.copy()
    codes[shown.main :][codes[shown.main :] == UNCHANGED] = NONE
    return replace(overlay, codes=codes)
