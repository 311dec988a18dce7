"""A fault of a file, tied to a node where there is one."""

from typing import Literal, NamedTuple

Severity = Literal["error", "warning", "info"]


class Problem(NamedTuple):
    """What is wrong, where, and what to do about it.

    Attributes:
        kind: a stable word for scripts: ``dangling``, ``duplicate``, ``no-versions`` ...
        reason: one sentence.
        node, function: where; empty when the whole file is meant.
    """

    kind: str
    severity: Severity
    reason: str
    hint: str = ""
    node: str = ""
    function: str = ""
