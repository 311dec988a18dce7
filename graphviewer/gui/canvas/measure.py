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


def box_widths(scopes: Scopes, lettering: Lettering) -> Floats:
    """Widths of closed boxes, within the layout's limits (16,500 nodes: 15 ms).

    Returns:
        float64 [items], for ``NestedLayout``.
    """
    name = np.where(
        scopes.is_scope,
        _ems(scopes.labels, lettering.advances(bold=True)),
        _ems(scopes.labels, lettering.advances(bold=False)),
    )
    detail = np.zeros(len(scopes))
    ops = scopes.graph.ops
    table = {op: at for at, op in enumerate(dict.fromkeys(ops))}
    ems = _ems(list(table), lettering.advances(bold=False))
    code = np.fromiter((table[op] for op in ops), np.intp, len(ops))
    detail[scopes.leaf] = ems[code]
    digits = np.floor(np.log10(np.maximum(scopes.size, 1))) + 1
    detail = np.where(scopes.is_scope, (digits + digits // 4 * 0.6 + 6) * 0.62, detail)
    margin = np.where(scopes.is_scope, SCOPE_MARGIN, LEAF_MARGIN)
    margin[scopes.leaf] += SLANT_MARGIN * (kinds_of(ops) == Kind.PLACEHOLDER)
    return np.clip(np.maximum(NAME * name, DETAIL * detail) + margin, LEAST_WIDTH, MOST_WIDTH)


def _ems(texts: Sequence[str], advances: Floats) -> Floats:
    """Widths of texts by the sum of their letters' advances; letters beyond the table count as a full em."""
    cut = [text[:LONGEST] for text in texts]
    letters = np.frombuffer("".join(cut).encode("utf-32-le", "replace"), np.uint32)
    widths = np.append(advances, 1.0)[np.minimum(letters, len(advances))]
    ends = np.cumsum(np.fromiter(map(len, cut), np.int64, len(cut)))
    total = np.concatenate([[0.0], np.cumsum(widths)])
    return total[ends] - total[np.concatenate([[0], ends[:-1]])] if len(cut) else np.zeros(0)
