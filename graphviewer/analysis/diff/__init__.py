"""What differs between two graphs: one status for every node of either side, with the reason in words."""

from graphviewer.analysis.diff.compare import compare
from graphviewer.analysis.diff.pairing import MATCHES, Pin
from graphviewer.analysis.diff.result import (
    ADDED,
    CHANGED,
    CONVERTED,
    REMOVED,
    RENAMED,
    REWIRED,
    SPLICED,
    STATUSES,
    UNCHANGED,
    Change,
    Diff,
    FunctionChange,
)
from graphviewer.analysis.diff.rollup import by_op, by_role, by_scope, in_words, rollup

__all__ = [
    "ADDED",
    "CHANGED",
    "CONVERTED",
    "MATCHES",
    "REMOVED",
    "RENAMED",
    "REWIRED",
    "SPLICED",
    "STATUSES",
    "UNCHANGED",
    "Change",
    "Diff",
    "FunctionChange",
    "Pin",
    "by_op",
    "by_role",
    "by_scope",
    "compare",
    "in_words",
    "rollup",
]
