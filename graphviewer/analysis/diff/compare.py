"""Compare two documents: link their nodes, settle what is equal, describe the rest."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from graphviewer.analysis.diff.functions import FunctionPairs
from graphviewer.analysis.diff.library import compare_functions, link_functions
from graphviewer.analysis.diff.matching import MATCHERS
from graphviewer.analysis.diff.nodes import NodeComparer, conversion, takes_values, words
from graphviewer.analysis.diff.pairing import PROVENANCE, STRUCTURE, UNMATCHED, Pairing, Pin
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
)
from graphviewer.analysis.diff.signatures import compare_signatures
from graphviewer.analysis.diff.splices import spliced
from graphviewer.analysis.diff.wiring import same_inputs
from graphviewer.model.document import Document
from graphviewer.model.progress import Progress, silent
from graphviewer.model.provenance import Origin, Provenance, Removal
from graphviewer.protos import function_names

_REPORT_EVERY = 4096


def compare(
    before: Document,
    after: Document,
    provenance: Provenance | None = None,
    progress: Progress = silent,
    *,
    pins: Sequence[Pin] = (),
) -> Diff:
    """Give every node of both graphs one status, and compare functions and signatures inside.

    Nodes are linked by pins and provenance where there are any, then by name, by renamed scope, by what they do and
    where they stand. Provenance gives links and reasons; statuses say what is seen in the two graphs, so that a result
    in a window and its file are told alike. What does not count: order of nodes and of control inputs, encoding of
    tensors, attributes left at their default, debug information, names of functions, counters in texts, ``versions``.
    What differs inside a function is told there, and not of the nodes that call it.

    Args:
        before: the first graph.
        after: the second graph.
        provenance: what the operation reported that made ``after`` from ``before``.
        progress: hears how many linked nodes are compared.
        pins: names of nodes that a person says are the same, whatever is found; (name, None) and (None, name) say that
            a node has no partner.

    Raises:
        ReadError: a file with large constants changed on disk meanwhile.
        UnknownNameError: a pinned node is not there.
    """
    pairing = Pairing(before, after, provenance, pins)
    _match(pairing)
    functions = FunctionPairs(before.functions, after.functions)
    how = link_functions(pairing, functions)
    diff = _settle(pairing, functions, progress)
    changes = compare_functions(functions, how, _compare_bodies)
    signatures = compare_signatures(before, after, pairing.translate)
    return replace(diff, functions=changes, function_names=functions.links, signatures=signatures)


def _compare_bodies(pairing: Pairing, functions: FunctionPairs) -> Diff:
    _match(pairing)
    return _settle(pairing, functions, silent)


def _match(pairing: Pairing) -> None:
    for matcher in MATCHERS:
        matcher(pairing)


def _settle(pairing: Pairing, functions: FunctionPairs, progress: Progress) -> Diff:
    status_before = np.full(len(pairing.names_before), REMOVED, np.int8)
    status_after = np.full(len(pairing.names_after), ADDED, np.int8)
    changes: list[tuple[int, Change]] = []
    for one_before, one_after, status, change in _settle_pairs(pairing, functions, progress):
        status_after[one_after] = status
        if pairing.match[one_before] == one_after:
            status_before[one_before] = status
        if change is not None:
            changes.append((status, change))
    for node, change in _gone(pairing):
        status = STATUSES.index(change.status)
        status_before[node] = status
        changes.append((status, change))
    changes += [(ADDED, change) for change in _new(pairing)]
    changes.sort(key=lambda entry: (entry[0], entry[1].before_node, entry[1].after_node))
    ordered = tuple(change for _, change in changes)
    return Diff(pairing.before, pairing.after, ordered, pairing.match, pairing.origin, status_before, status_after)


def _settle_pairs(
    pairing: Pairing, functions: FunctionPairs, progress: Progress
) -> Iterator[tuple[int, int, int, Change | None]]:
    """Every link as (node before, node after, status, change); no change for an unchanged node."""
    differing = functions.differing()
    comparer = NodeComparer(functions, pairing.translate, pairing.renames, frozenset(pairing.names_after))
    old, new = pairing.before.graph_def.node, pairing.after.graph_def.node
    wiring = cache(lambda: same_inputs(pairing).tolist())  # not needed while all nodes are equal byte for byte
    total = len(pairing.origin)
    for before, after in pairing.pairs():
        if after % _REPORT_EVERY == 0:
            progress(after / total, "comparing nodes")
        left, right = old[before], new[after]
        alike = left == right or (wiring()[after] and comparer.alike(left, right))
        if (
            alike
            and not (differing and not differing.isdisjoint(function_names(left.attr.values())))
            and _same_payload(pairing, before, after)
        ):
            yield _unchanged_or_renamed(pairing, before, after)
        else:
            status, reason, details = _judge(pairing, comparer, before, after, reads_same=wiring()[after])
            change = None if status == UNCHANGED else _linked(pairing, before, after, status, reason, details)
            yield before, after, status, change


def _unchanged_or_renamed(pairing: Pairing, before: int, after: int) -> tuple[int, int, int, Change | None]:
    """The outcome for two nodes that differ in nothing but, perhaps, their name."""
    name = pairing.names_before[before]
    if name == pairing.names_after[after]:
        return before, after, UNCHANGED, None
    reason = _reason(pairing.origins.get(after), f"called {name} before")
    return before, after, RENAMED, _linked(pairing, before, after, RENAMED, reason, {})


def _same_payload(pairing: Pairing, before: int, after: int) -> bool:
    """Whether two otherwise equal nodes also have equal content left in their files; read only at equal lengths."""
    left, right = _payload_length(pairing.before, before), _payload_length(pairing.after, after)
    if left < 0 and right < 0:
        return True
    if left != right or pairing.before.payloads is None or pairing.after.payloads is None:
        return False
    return pairing.before.payloads.read(before) == pairing.after.payloads.read(after)


def _payload_length(document: Document, node: int) -> int:
    if document.payloads is None or node not in document.payloads.by_node:
        return -1
    return document.payloads.by_node[node].length


def _judge(
    pairing: Pairing, comparer: NodeComparer, before: int, after: int, *, reads_same: bool
) -> tuple[int, str, dict[str, Any]]:
    """Status, reason and details of two linked nodes that are not equal byte for byte."""
    left, right = pairing.before.full_node(before), pairing.after.full_node(after)
    content = comparer.content(left, right)
    inputs = {} if reads_same else comparer.inputs(left, right)
    details = {**content, **inputs}
    origin = pairing.origins.get(after)
    converted = _conversion(left, right, content, origin)
    name, new_name = pairing.names_before[before], pairing.names_after[after]
    if converted and (content or name != new_name):
        details = {"conversion": converted, **details}
        return CONVERTED, _reason(origin, converted), details
    if name != new_name:
        extra = f"; also {words(content)}" if content else ""
        extra += "; its inputs differ too" if inputs else ""
        return RENAMED, _reason(origin, f"called {name} before") + extra, details
    if content:
        also = "; its inputs differ too" if inputs else ""
        return CHANGED, _reason(origin, words(content)) + also, details
    if inputs:
        return REWIRED, _reason(origin, comparer.rewiring(left, right)), details
    return UNCHANGED, "", {}


def _conversion(before: Any, after: Any, content: Mapping[str, Any], origin: Origin | None) -> str:
    """The conversion that the two nodes show, in the words of the operation where it reported one."""
    told = conversion(before.op, after.op) or ("handle → value" if content and takes_values(before, after) else "")
    return origin.rule.replace("->", "→") if told and origin is not None and "->" in origin.rule else told


def _reason(origin: Origin | None, otherwise: str) -> str:
    return origin.reason if origin is not None and origin.reason else otherwise


def _linked(pairing: Pairing, before: int, after: int, status: int, reason: str, details: dict[str, Any]) -> Change:
    name, new_name = pairing.names_before[before], pairing.names_after[after]
    return Change(STATUSES[status], name, new_name, reason, pairing.how[after], details, before, after)


def _gone(pairing: Pairing) -> Iterator[tuple[int, Change]]:
    """The nodes of the first graph that are in the second no more."""
    gone = np.flatnonzero(pairing.match < 0)
    passed = spliced(pairing, gone.tolist())
    ops, details = pairing.before.graph.ops, cache(lambda op: {"op": [op, None]})  # one for all nodes of an op
    for node in gone.tolist():
        name, op = pairing.names_before[node], ops[node]
        if node in passed:
            status, match = SPLICED, STRUCTURE
            reason = f"this {op} is gone; what read it now reads {passed[node]}"
        else:
            status, reason = REMOVED, f"this {op} is in the first graph only"
            match = pairing.alone.get((0, node), UNMATCHED)
        removal = pairing.removals.get(node)
        if removal is not None:
            reason, match = _reported(removal, status, op, reason), PROVENANCE
        yield node, Change(STATUSES[status], name, None, reason, match, details(op), node, -1)


def _reported(removal: Removal, status: int, op: str, seen: str) -> str:
    """The operation's reason, where it is one for the status that is seen."""
    if (removal.rule == "spliced") == (status == SPLICED):
        return removal.reason or f"{removal.rule} by the operation"
    return seen if status == SPLICED else f"this {op} passed its input on, and nothing that is left read it"


def _new(pairing: Pairing) -> Iterator[Change]:
    """The nodes of the second graph that were not in the first."""
    for node in np.flatnonzero(pairing.origin < 0).tolist():
        op = pairing.after.node(node).op
        origin = pairing.origins.get(node)
        reason = _reason(origin, f"this {op} is in the second graph only")
        match = pairing.alone.get((1, node), UNMATCHED)
        yield Change("added", None, pairing.names_after[node], reason, match, {"op": [None, op]}, -1, node)
