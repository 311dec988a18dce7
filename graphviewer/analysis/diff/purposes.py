"""What the nodes that went away were for: roles for the outputs that are still there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from graphviewer.analysis.diff.pairing import STRUCTURE, UNMATCHED
from graphviewer.analysis.diff.result import STATUSES, Change, Diff
from graphviewer.analysis.endpoints import suggest_outputs
from graphviewer.analysis.refusals import refuse_output
from graphviewer.analysis.roles import classify
from graphviewer.model.endpoints import endpoints_named
from graphviewer.model.names import Endpoint
from graphviewer.model.overlay import Overlay, role_label

_MOST_OUTPUTS = 32
_GONE = ("removed", "spliced")
_NEEDED = "inference"


def surviving_outputs(diff: Diff) -> list[Endpoint]:
    """The ends of the second graph by their names in the first: what a smaller graph was made for.

    None where one of them cannot be an output: then the second graph trains or saves still, and ends everywhere.
    """
    graph = diff.after.graph
    is_read, reads = (np.zeros(len(graph), np.bool_) for _ in range(2))
    is_read[graph.src[~graph.control]] = True
    reads[graph.dst[~graph.control]] = True
    ends = np.flatnonzero(~is_read & reads & (diff.origin >= 0))
    if not len(ends):  # nodes without any edge
        ends = np.flatnonzero(~is_read & (diff.origin >= 0))
    if any(refuse_output(diff.after, Endpoint(graph.names[end])) for end in ends[:_MOST_OUTPUTS].tolist()):
        return []
    return [Endpoint(diff.before.graph.names[node], 0) for node in diff.origin[ends[:_MOST_OUTPUTS]].tolist()]


def roles_of_before(diff: Diff) -> Overlay | None:
    """The roles of the first graph's nodes for what survived of it, or for the best suggestion where that still trains.

    None where nothing went away. A graph of 16,500 nodes takes half a second.
    """
    if not any(change.status in _GONE for change in diff.changes):
        return None
    outputs = surviving_outputs(diff) or [
        endpoint
        for best in suggest_outputs(diff.before, 1)
        for endpoint in endpoints_named(diff.before, [best.name], "outputs")
    ]
    return classify(diff.before, outputs)


def explained(diff: Diff, roles: Overlay | None) -> Diff:
    """The comparison with the role of every node that went away in its details and, where nothing else says why, its
    reason.

    Args:
        diff: the comparison.
        roles: of the first graph's nodes; None changes nothing.
    """
    if roles is None:
        return diff
    # Nodes of one op and one role share their details: fewer objects, and fewer for the collector to walk over.
    known: dict[tuple[str, str], Mapping[str, Any]] = {}
    return replace(diff, changes=tuple(_explained(change, roles, known) for change in diff.changes))


def _explained(change: Change, roles: Overlay, known: dict[tuple[str, str], Mapping[str, Any]]) -> Change:
    role = roles.category(change.before_node) if change.status in _GONE else None
    if role is None:
        return change
    reason = change.reason
    why = roles.reasons[change.before_node]
    op = change.details["op"][0]
    if role == _NEEDED and change.match == UNMATCHED:
        reason = f"{role_label(role)}: only in the first graph"  # what it did there is no reason to go
    elif change.status == "removed" and change.match in (UNMATCHED, STRUCTURE) and why:
        begin = why[:1] if why.startswith(op) else why[:1].lower()
        reason = f"{role_label(role)}: {begin}{why[1:].rstrip('.')}"
    details = known.get((op, role))
    if details is None:
        details = known[op, role] = {**change.details, "role": role}
    return Change(change.status, change.before, None, reason, change.match, details, change.before_node)


def role_sentences(diff: Diff, roles: Overlay) -> list[str]:
    """``all 2,512 gradient nodes removed``, ``2 of 20 loss nodes removed, all Identity``: for each role that lost any,
    most first.

    Nothing when all of them were unused: that says no more than that they are gone.
    """
    sentences = []
    for code, role in enumerate(roles.categories):
        of_role = roles.codes == code
        total = int(np.count_nonzero(of_role))
        for status in _GONE:
            gone = np.flatnonzero(of_role & (diff.status_before == STATUSES.index(status)))
            if len(gone):
                ops = {diff.before.graph.ops[node] for node in gone.tolist()}
                sentences.append((len(gone), total, role_label(role), status, ops.pop() if len(ops) == 1 else ""))
    if {role for _, _, role, _, _ in sentences} == {"unused"}:
        return []
    sentences.sort(key=lambda entry: -entry[0])
    return [_sentence(*entry) for entry in sentences]


def _sentence(count: int, total: int, role: str, status: str, op: str) -> str:
    """In words; ``op`` is what all of them are, where it is one: an optimizer without its spare reads still works."""
    noun = "node" if total == 1 else "nodes"
    if count < total:
        which = f", all {op}" if op and count > 1 else ""
        return f"{count:,} of {total:,} {role} {noun} {status}{which}"
    return f"the {role} node {status}" if total == 1 else f"all {total:,} {role} {noun} {status}"
