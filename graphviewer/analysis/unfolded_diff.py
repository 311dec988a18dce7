"""A comparison as it is looked at: functions are opened inside their calls, and what differs in them is told there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphviewer.analysis.diff import ADDED, REMOVED, UNCHANGED, Change, Diff, FunctionChange
from graphviewer.model.bodies import Opened, Unfolded
from graphviewer.model.document import Document
from graphviewer.model.function_body import RESULT_OP, FunctionBody
from graphviewer.model.graph import Ints
from graphviewer.model.overlay import Overlay

Codes = NDArray[np.int8]
Reasons = Sequence[str]

_GONE: Mapping[int, tuple[int, str]] = {0: (REMOVED, "first"), 1: (ADDED, "second")}
"""By side: the status of what the other one does not have, and what the side is called."""


@dataclass(frozen=True, eq=False)
class UnfoldedDiff:
    """What became of every node of both graphs, those of functions included.

    Attributes:
        match: int32 [nodes of ``before.unfolded``], the node of ``after.unfolded``, -1 where it is gone.
        origin: int32 [nodes of ``after.unfolded``], the node of ``before.unfolded``, -1 where it is new.
        overlays: the statuses laid over either unfolded graph.
        changes: those of the diff, then those inside functions: each function once, where it is shown first, its nodes
            under the names and numbers they have there. ``details`` names the ``function``.
    """

    diff: Diff
    match: Ints
    origin: Ints
    overlays: tuple[Overlay, Overlay]
    changes: tuple[Change, ...]

    def carried(self, overlay: Overlay, side: int) -> Overlay:
        """What an overlay of the other side's unfolded graph says, laid over the twins on this side.

        Args:
            overlay: of all nodes of the other side; ``other`` is one of its categories.
            side: 0 for the graph before, 1 for the one after.
        """
        links = (self.match, self.origin)[side]
        other, reasons = overlay.categories.index("other"), overlay.reasons
        codes = np.where(links >= 0, overlay.codes[links], other).astype(np.int8)
        return Overlay(
            overlay.kind, overlay.categories, codes, [reasons[twin] if twin >= 0 else "" for twin in links.tolist()]
        )

    @cached_property
    def _inside(self) -> tuple[Mapping[str, Mapping[int, Change]], Mapping[str, Mapping[int, Change]]]:
        """By side, function and place in its body: the change there."""
        sides: tuple[dict[str, Mapping[int, Change]], ...] = ({}, {})
        for one in self.diff.functions:
            if one.inside is not None and one.before is not None and one.after is not None:
                sides[0][one.before], sides[1][one.after] = one.inside.change_before, one.inside.change_after
        return sides[0], sides[1]

    def change(self, side: int, node: int) -> Change | None:
        """What became of a node of a side's unfolded graph; None where it is the same, or all around it is gone."""
        documents = (self.diff.before.unfolded, self.diff.after.unfolded)
        document, plain = documents[side], (self.diff.change_before, self.diff.change_after)[side]
        around = document.around(node) if isinstance(document, Unfolded) else None
        if around is None:
            return plain.get(node)
        found = self._inside[side].get(around.function, {}).get(node - around.first)
        if found is None or self.overlays[side].category(node) != found.status:
            return None  # the whole call is gone, whatever its function is elsewhere
        twin = int((self.match, self.origin)[side][node])
        numbers = (node, twin) if side == 0 else (twin, node)
        return _named(found, around.function, documents, numbers)


class _Linked(NamedTuple):
    """Two functions that are one: their nodes linked by place, and statuses and reasons of both sides."""

    match: Ints
    origin: Ints
    codes: tuple[Codes, Codes]
    reasons: tuple[Reasons, Reasons]


def unfold_diff(diff: Diff) -> UnfoldedDiff:
    """Take a comparison inside the functions that are shown (9,300 nodes: 2 ms)."""
    documents = (diff.before.unfolded, diff.after.unfolded)
    weaver = _Weaver(diff, documents)
    overlays = weaver.overlays()
    inside = tuple(_changes_inside(diff.functions, documents, weaver.match, weaver.origin))
    return UnfoldedDiff(diff, weaver.match, weaver.origin, overlays, (*diff.changes, *inside))


class _Weaver:
    """Links the nodes of functions shown on both sides, call by call, the outer ones first."""

    def __init__(self, diff: Diff, documents: tuple[Document, Document]) -> None:
        self._diff, self._documents = diff, documents
        counts = [len(document.graph) for document in documents]
        self.match, self.origin = np.full(counts[0], -1, np.int32), np.full(counts[1], -1, np.int32)
        self.match[: len(diff.match)], self.origin[: len(diff.origin)] = diff.match, diff.origin
        self._changed = {(one.before, one.after): one for one in diff.functions}
        self._old_names = {new: old for old, new in diff.function_names.items()}
        self._known: dict[tuple[str, str], _Linked] = {}
        self._shown = _first_shown(documents[0]), _first_shown(documents[1])
        self._link_sites()

    def _sites(self, side: int) -> Sequence[Opened]:
        document = self._documents[side]
        return document.opened if isinstance(document, Unfolded) else ()

    def _link_sites(self) -> None:
        there = {(one.call, one.attribute, "" if one.call >= 0 else one.function): one for one in self._sites(1)}
        for one in self._sites(0):
            call = int(self.match[one.call]) if one.call >= 0 else -1
            if one.call >= 0 and call < 0:
                continue
            twin = there.get(
                (call, one.attribute, "" if call >= 0 else self._diff.function_names.get(one.function, ""))
            )
            linked = self._linked(one.function, twin.function) if twin is not None else None
            if twin is not None and linked is not None:
                for array, links, here, other in (
                    (self.match, linked.match, one.first, twin.first),
                    (self.origin, linked.origin, twin.first, one.first),
                ):
                    array[here : here + len(links)] = np.where(links >= 0, links + other, -1)

    def _linked(self, old: str, new: str) -> _Linked | None:
        """Two functions as one; None where they are not."""
        if self._diff.function_names.get(old) != new:
            return None
        if (old, new) not in self._known:
            change = self._changed.get((old, new))
            inside = change.inside if change is not None else None
            self._known[old, new] = _of_diff(inside) if inside is not None else self._of_equal(old, new)
        return self._known[old, new]

    def _of_equal(self, old: str, new: str) -> _Linked:
        shown = self._shown[0].get(old), self._shown[1].get(new)
        return _same(*(None if one is None else one.body for one in shown))

    def overlays(self) -> tuple[Overlay, Overlay]:
        """The statuses of both sides with those of functions behind."""
        return self._overlay(0, self._diff.overlay_before()), self._overlay(1, self._diff.overlay_after())

    def _overlay(self, side: int, plain: Overlay) -> Overlay:
        names, links = self._documents[side].graph.names, (self.match, self.origin)[side]
        codes = np.full(len(links), _GONE[side][0], np.int8)
        codes[: len(plain.codes)] = plain.codes
        reasons = list(plain.reasons)
        for one in self._sites(side):
            linked = None if one.call >= 0 and links[one.call] < 0 else self._of_side(side, one.function)
            if linked is None:
                call = f"inside {names[one.call]}: {reasons[one.call]}" if one.call >= 0 else ""
                reasons += [call or f"this function is in the {_GONE[side][1]} graph only"] * len(one.body)
            else:
                codes[one.first : one.first + len(one.body)] = linked.codes[side]
                reasons += linked.reasons[side]
        return Overlay(plain.kind, plain.categories, codes, reasons)

    def _of_side(self, side: int, function: str) -> _Linked | None:
        """What a function of a side is linked to."""
        pair = (function, self._diff.function_names.get(function))
        old, new = pair if side == 0 else (self._old_names.get(function), function)
        return self._linked(old, new) if old is not None and new is not None else None


def _of_diff(inside: Diff) -> _Linked:
    overlays = (inside.overlay_before(), inside.overlay_after())
    return _Linked(
        inside.match,
        inside.origin,
        (inside.status_before, inside.status_after),
        (overlays[0].reasons, overlays[1].reasons),
    )


def _same(before: FunctionBody | None, after: FunctionBody | None) -> _Linked:
    """Two functions that do the same: arguments and results are linked by place, nodes by name."""
    bodies = tuple(body for body in (before, after) if body is not None)
    match, origin = (np.full(0 if body is None else len(body), -1, np.int32) for body in (before, after))
    if len(bodies) == 2 and len(match) == len(origin):
        first, last = bodies[0].arguments, len(match) - _results(bodies[0])
        index = {name: number for number, name in enumerate(bodies[1].names[first:last], first)}
        match[:] = np.arange(len(match))
        match[first:last] = [index.get(name, -1) for name in bodies[0].names[first:last]]
        known = np.flatnonzero(match >= 0)
        origin[match[known]] = known
    codes = [np.full(len(links), UNCHANGED, np.int8) for links in (match, origin)]
    reasons = [["the same on both sides"] * len(links) for links in (match, origin)]
    return _Linked(match, origin, (codes[0], codes[1]), (reasons[0], reasons[1]))


def _results(body: FunctionBody) -> int:
    count = 0
    for node in reversed(body.nodes):
        if node.op != RESULT_OP:
            break
        count += 1
    return count


def _changes_inside(
    functions: Sequence[FunctionChange], documents: tuple[Document, Document], match: Ints, origin: Ints
) -> Iterator[Change]:
    """Every change inside a function, where the function is shown first."""
    shown = [_first_shown(document) for document in documents]
    for one in functions:
        if one.inside is None or one.before is None or one.after is None:
            continue
        places = (found.get(name) for found, name in zip(shown, (one.before, one.after), strict=True))
        firsts = [-1 if place is None else place.first for place in places]
        for change in one.inside.changes:
            nodes = zip(firsts, (change.before_node, change.after_node), strict=True)
            old, new = (first + node if first >= 0 and node >= 0 else -1 for first, node in nodes)
            if new >= 0 and change.before_node >= 0:
                old = int(origin[new])
            elif old >= 0 and change.after_node >= 0:
                new = int(match[old])
            yield _named(change, one.after, documents, (old, new))


def _first_shown(document: Document) -> Mapping[str, Opened]:
    """By function, the first place where it is shown."""
    opened = document.opened if isinstance(document, Unfolded) else ()
    return {one.function: one for one in reversed(opened)}


def _named(change: Change, function: str, documents: tuple[Document, Document], numbers: tuple[int, int]) -> Change:
    """A change inside a function with the names that its nodes have in the unfolded graphs."""
    names = [
        document.graph.names[number] if number >= 0 else None if local is None else f"{function}/{local}"
        for document, number, local in zip(documents, numbers, (change.before, change.after), strict=True)
    ]
    details = {**change.details, "function": function}
    return change._replace(
        before=names[0], after=names[1], details=details, before_node=numbers[0], after_node=numbers[1]
    )
