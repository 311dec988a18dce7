"""How wide boxes must be for their texts, for a whole graph at once and away from the GUI thread."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from graphviewer.gui.canvas.kinds import Kind, kinds_of
from graphviewer.gui.canvas.lettering import LONGEST, Lettering
from graphviewer.gui.canvas.names import DETAIL, NAME
from graphviewer.layout.drawing import LEAST_WIDTH, MOST_WIDTH
from graphviewer.model.scopes import Scopes

Floats = NDArray[np.float64]

LEAF_MARGIN, SCOPE_MARGIN, SLANT_MARGIN = 34.0, 46.0, 12.0
"""What a leaf needs beside its text (round ends, a sign), a scope (triangle, a sign), and a slanted box on top."""

_BLOCK = 5_000
"""Texts measured at once, so that neither memory nor the time in one C call grows with the graph."""


def box_widths(scopes: Scopes, lettering: Lettering) -> Floats:
    """Widths of closed boxes, within the layout's limits (16,500 nodes: 15 ms).

    Returns:
        float64 [items], for ``NestedLayout``.
    """
    regular, bold = (lettering.advances(bold=bold) for bold in (False, True))
    leaves, closed = np.flatnonzero(~scopes.is_scope), np.flatnonzero(scopes.is_scope)
    name, detail = np.zeros(len(scopes)), np.zeros(len(scopes))
    name[leaves] = _ems([scopes.labels[item] for item in leaves.tolist()], regular)
    name[closed] = _ems([scopes.labels[item] for item in closed.tolist()], bold)
    ops, codes = scopes.graph.op_codes
    if ops:
        detail[scopes.leaf] = _ems(ops, regular)[codes]
    digits = np.floor(np.log10(np.maximum(scopes.size, 1))) + 1
    detail = np.where(scopes.is_scope, (digits + digits // 4 * 0.6 + 6) * 0.62, detail)
    margin = np.where(scopes.is_scope, SCOPE_MARGIN, LEAF_MARGIN)
    margin[scopes.leaf] += SLANT_MARGIN * (kinds_of(ops)[codes] == Kind.PLACEHOLDER)
    return np.clip(np.maximum(NAME * name, DETAIL * detail) + margin, LEAST_WIDTH, MOST_WIDTH)


def _ems(texts: Sequence[str], advances: Floats) -> Floats:
    """Widths of texts by the sum of their letters' advances; letters beyond the table count as a full em."""
    known: dict[str, float] = {}  # names repeat: a million nodes have some thousands of labels
    widths = np.empty(len(texts))
    for begin in range(0, len(texts), _BLOCK):
        block = texts[begin : begin + _BLOCK]
        new = list(dict.fromkeys(text for text in block if text not in known))
        known.update(zip(new, _sums([text[:LONGEST] for text in new], advances).tolist(), strict=True))
        widths[begin : begin + len(block)] = [known[text] for text in block]
    return widths


def _sums(texts: Sequence[str], advances: Floats) -> Floats:
    letters = np.frombuffer("".join(texts).encode("utf-32-le", "replace"), np.uint32)
    widths = np.append(advances, 1.0)[np.minimum(letters, len(advances))]
    ends = np.cumsum(np.fromiter(map(len, texts), np.int64, len(texts)))
    total = np.concatenate([[0.0], np.cumsum(widths)])
    return total[ends] - total[np.concatenate([[0], ends[:-1]])] if len(texts) else np.zeros(0)
