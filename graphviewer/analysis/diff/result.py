"""The outcome of a comparison: arrays for drawing, changes for reading, JSON for scripts."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphviewer.analysis.diff.generated import base_name
from graphviewer.analysis.diff.titles import titles
from graphviewer.analysis.ops import VARIABLE_OPS
from graphviewer.model.document import Document
from graphviewer.model.graph import Ints
from graphviewer.model.overlay import Overlay

FORMAT_VERSION = 1

STATUSES = ("removed", "added", "converted", "spliced", "renamed", "changed", "rewired", "unchanged")
"""One per node of either side, the first that fits; a gone node that consumers now read past is ``spliced``."""

REMOVED, ADDED, CONVERTED, SPLICED, RENAMED, CHANGED, REWIRED, UNCHANGED = range(len(STATUSES))

UNCHANGED_REASON = "the same on both sides"


class Change(NamedTuple):
    """One node that is not the same on both sides; a tuple, for a comparison may make half a million of them.

    Attributes:
        status: one of ``STATUSES``.
        before, after: the node's name on each side; None where it is absent.
        reason: one line for people.
        match: how the two sides were recognised as one node, one of ``pairing.MATCHES``: ``pinned``, ``provenance``,
            ``name``, ``prefix``, ``structure``; ``none`` for a node of one side only. A removal that an operation
            reported has ``provenance``, one that a person asked for ``pinned``.
        details: what differs, as ``[before, after]`` pairs: ``op``, ``device``, ``dtype``, ``shape``, ``value``,
            ``inputs``, and by attribute name ``functions`` and ``attributes``; ``conversion`` says which one,
            ``difference`` how far values are apart, ``role`` what a removed node was for. Values are digests and
            statistics, never bytes.
        before_node, after_node: node numbers, -1 where absent.
    """

    status: str
    before: str | None
    after: str | None
    reason: str
    match: str
    details: Mapping[str, Any] = MappingProxyType({})
    before_node: int = -1
    after_node: int = -1

    @property
    def name(self) -> str:
        """The name to show: that of the second graph, where there is one."""
        return (self.after if self.after is not None else self.before) or ""

    def to_json(self) -> dict[str, Any]:
        """The entry that the contract fixes."""
        return {
            "status": self.status,
            "before": self.before,
            "after": self.after,
            "reason": self.reason,
            "match": self.match,
            "details": dict(self.details),
        }


@dataclass(frozen=True, eq=False)
class FunctionChange:
    """One library function that is not the same on both sides.

    Attributes:
        status: ``removed``, ``added`` or ``changed``.
        before, after: its name on each side; None where it is absent.
        reason: one line for people.
        match: how the two sides were recognised: ``name``, ``structure`` (called from the same place), ``none``.
        details: what differs in what is declared: ``arguments``, ``results`` and ``attributes``, pairs of texts by
            name.
        inside: what became of its nodes: a comparison of two documents in which the arguments come first, then the
            nodes, then the results. None where it is on one side only.
    """

    status: str
    before: str | None
    after: str | None
    reason: str
    match: str
    details: Mapping[str, Any] = field(default_factory=dict)
    inside: Diff | None = None

    def to_json(self) -> dict[str, Any]:
        """An entry of ``functions``."""
        plain = {key: getattr(self, key) for key in ("status", "before", "after", "reason", "match")}
        if self.details:
            plain["details"] = dict(self.details)
        if self.inside is not None:
            plain["summary"] = self.inside.summary()
            plain["changes"] = [change.to_json() for change in self.inside.changes]
        return plain


@dataclass(frozen=True, eq=False)
class Diff:
    """Two documents and what became of every node.

    Attributes:
        changes: all nodes but the unchanged, in order of ``STATUSES``, then in file order.
        match: int32 [nodes before], the node of ``after``, -1 where it is gone.
        origin: int32 [nodes after], the node of ``before``, -1 where it is new. Several nodes can have one origin: the
            ports of a cut pipeline become one placeholder each.
        status_before, status_after: int8 [nodes], index into ``STATUSES``.
        functions: library functions that are not the same on both sides, compared inside.
        function_names: name in the second library of every function that both have, by its name in the first. What
            differs in such a function is told in ``functions``, and not of the nodes that call it.
        signatures: what differs between the SignatureDefs, where both files can have some.
    """

    before: Document
    after: Document
    changes: tuple[Change, ...]
    match: Ints
    origin: Ints
    status_before: NDArray[np.int8]
    status_after: NDArray[np.int8]
    functions: tuple[FunctionChange, ...] = ()
    function_names: Mapping[str, str] = field(default_factory=dict)
    signatures: tuple[Change, ...] = ()

    @property
    def same(self) -> bool:
        """Every node is unchanged, in functions too.

        A function that only one side has does not count: nothing calls it, or its caller would have changed. Nor do
        signatures: they name parts of a graph, and most files have none.
        """
        return not self.changes and not any(one.inside is not None for one in self.functions)

    @property
    def titles(self) -> tuple[str, str]:
        """What the two are called, told apart where they have one name."""
        return titles(self.before, self.after)

    @cached_property
    def renamed_functions(self) -> Mapping[str, str]:
        """Name in the second library of the functions that are called otherwise there, by name in the first."""
        return {old: new for old, new in self.function_names.items() if old != new}

    @property
    def note(self) -> str:
        """What differs although the graphs are the same, in words; empty where nothing does, or the graphs differ."""
        count = len(self.renamed_functions)
        if not count or not self.same:
            return ""
        are_generated = all(base_name(old) == base_name(new) for old, new in self.renamed_functions.items())
        names = "generated names" if are_generated else "names"
        return f"only {names} of functions differ: {count:,} function{'s' * (count != 1)}"

    @cached_property
    def leaves_values_out(self) -> bool:
        """Whether both sides have variables with values in files of their own: a comparison of nodes reads none."""
        places = [document.checkpoint for document in (self.before, self.after)]
        if places[0] is None or places[1] is None or os.path.realpath(places[0]) == os.path.realpath(places[1]):
            return False
        return all(
            document.kind == "checkpoint" or not VARIABLE_OPS.isdisjoint(document.graph.ops)
            for document in (self.before, self.after)
        )

    def summary(self) -> dict[str, int]:
        """Nodes per status, all statuses listed; a node that is on both sides counts once."""
        return dict(self._summary)

    def summary_inside(self) -> dict[str, int]:
        """Nodes per status inside functions that differ, but the unchanged; a function counts once for all calls."""
        counts = dict.fromkeys(STATUSES, 0)
        for change in (change for one in self.functions if one.inside is not None for change in one.inside.changes):
            counts[change.status] += 1
        return counts

    @cached_property
    def _summary(self) -> Mapping[str, int]:
        counts = dict.fromkeys(STATUSES, 0)
        for change in self.changes:
            counts[change.status] += 1
        counts["unchanged"] = int(np.count_nonzero(self.status_after == UNCHANGED))
        return counts

    def overlay_before(self) -> Overlay:
        """The statuses laid over the first graph; the same object each time."""
        return self._overlay_before

    @cached_property
    def _overlay_before(self) -> Overlay:
        reasons = _reasons(len(self.status_before), ((one.before_node, one.reason) for one in self.changes))
        return Overlay("diff", STATUSES, self.status_before, reasons)

    def overlay_after(self) -> Overlay:
        """The statuses laid over the second graph; the same object each time."""
        return self._overlay_after

    @cached_property
    def _overlay_after(self) -> Overlay:
        reasons = _reasons(len(self.status_after), ((one.after_node, one.reason) for one in self.changes))
        return Overlay("diff", STATUSES, self.status_after, reasons)

    @cached_property
    def change_before(self) -> dict[int, Change]:
        """Changes by node of the first graph; the first where a node became several."""
        found: dict[int, Change] = {}
        for change in self.changes:
            if change.before_node >= 0:
                found.setdefault(change.before_node, change)
        return found

    @cached_property
    def change_after(self) -> dict[int, Change]:
        """Changes by node of the second graph."""
        return {change.after_node: change for change in self.changes if change.after_node >= 0}

    def to_json(self) -> dict[str, Any]:
        """The document that the contract fixes for ``diff --json``; see ``resources/schema/diff-1.json``."""
        more: dict[str, Any] = {
            key: [one.to_json() for one in found]
            for key, found in (("functions", self.functions), ("signatures", self.signatures))
            if found
        }
        if self.renamed_functions:
            more["function_names"] = dict(self.renamed_functions)
        if self.leaves_values_out:
            more["values_compared"] = False
        return {
            "version": FORMAT_VERSION,
            "before": _side(self.before, len(self.match)),
            "after": _side(self.after, len(self.origin)),
            "summary": self.summary(),
            "changes": [change.to_json() for change in self.changes],
            **more,
        }


def _side(document: Document, nodes: int) -> dict[str, Any]:
    return {"path": str(document.path) if document.path is not None else document.title, "nodes": nodes}


def _reasons(count: int, known: Any) -> Sequence[str]:
    reasons = [UNCHANGED_REASON] * count
    for node, reason in known:
        if node >= 0:
            reasons[node] = reason
    return reasons
