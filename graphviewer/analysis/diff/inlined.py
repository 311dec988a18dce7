"""See that one graph calls functions whose nodes the other has in their place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from graphviewer.analysis.diff.result import ADDED, CHANGED, REMOVED, Diff
from graphviewer.analysis.ops import CALL_OPS
from graphviewer.model.document import Document
from graphviewer.protos import function_names

_FEWEST = 8  # nodes; a smaller body may be found anywhere
_SHARE = 0.5  # of the body's nodes that must be found on the other side
_TRIVIAL = frozenset({"Const", "Identity", "NoOp", "Placeholder", "ReadVariableOp", "VarHandleOp"})
_MOST_NODES = 200_000


def calling_side(diff: Diff) -> int | None:
    """The side (0 before, 1 after) that calls functions which the other one has inlined; None where neither does.

    Told by ops: most nodes inside the functions that are called on one side only must be of ops that the other side has
    on top of what both have.
    """
    sides = ((diff.before, diff.status_before, REMOVED), (diff.after, diff.status_after, ADDED))
    for side, (document, statuses, alone) in enumerate(sides):
        other, other_statuses, other_alone = sides[1 - side]
        calls = np.flatnonzero(document.graph.of_ops(CALL_OPS) & np.isin(statuses, (alone, CHANGED)))
        lone = np.flatnonzero(other_statuses == other_alone)
        if len(calls) and len(lone) >= _FEWEST:
            there = Counter(other.graph.ops[node] for node in lone.tolist())
            inside = Counter(_ops_inside(document, calls.tolist()))
            total, found = inside.total(), (inside & there).total()
            if total >= _FEWEST and found >= _SHARE * total:
                return side
    return None


def _ops_inside(document: Document, calls: Sequence[int]) -> Iterator[str]:
    """Ops of the nodes inside what is called, and inside what these call; one function once for all its calls."""
    waiting = [name for node in calls for name in function_names(document.node(node).attr.values())]
    known, count = set(waiting), 0
    while waiting and count < _MOST_NODES:
        body = document.functions.get(waiting.pop())
        for node in body.node_def if body is not None else ():
            count += 1
            if node.op not in _TRIVIAL and node.op not in CALL_OPS:
                yield node.op
            for name in function_names(node.attr.values()):
                if name not in known:
                    known.add(name)
                    waiting.append(name)


def caller(diff: Diff) -> str:
    """What the graph is called that calls what the other has inlined, in a sentence; empty where neither does."""
    side = calling_side(diff)
    if side is None:
        return ""
    return diff.titles[side]
