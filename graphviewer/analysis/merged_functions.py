"""Functions of a merged graph: those that differ hold the nodes of both sides, so that opened calls show the change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphviewer import protos
from graphviewer.analysis.diff import ADDED, REMOVED, UNCHANGED, Diff
from graphviewer.model.bodies import Opened, Unfolded
from graphviewer.model.function_body import FunctionBody
from graphviewer.model.overlay import ADDED as ADDED_EDGE
from graphviewer.model.overlay import KEPT as KEPT_EDGE
from graphviewer.model.overlay import REMOVED as REMOVED_EDGE
from graphviewer.model.overlay import Overlay

if TYPE_CHECKING:
    from graphviewer.analysis.merge import Merged

Codes = NDArray[np.int8]


class MergedBody(NamedTuple):
    """A function with the nodes of both sides: those after, then those that only the first graph has.

    That holds for its arguments, its nodes and its results, which keep this order.

    Attributes:
        function: FunctionDef.
        codes, reasons: by number in its ``FunctionBody``.
        kept: int32, by the same number: inputs that the node has after; lost ones come behind them.
        new_inputs: (number, place) of the inputs that a node did not have before.
    """

    function: Any
    codes: Codes
    reasons: Sequence[str]
    kept: NDArray[np.int32]
    new_inputs: frozenset[tuple[int, int]]


def merged_bodies(diff: Diff) -> dict[str, MergedBody]:
    """The functions that differ inside, merged, by their name after."""
    return {
        one.after: _merged(one.inside, diff.before.functions[one.before], diff.after.functions[one.after])
        for one in diff.functions
        if one.inside is not None and one.before is not None and one.after is not None
    }


def lonely_functions(diff: Diff) -> dict[str, int]:
    """Status of the functions that only one side has, by the name that they have in the merged library."""
    before, after = diff.before.functions, diff.after.functions
    known = set(diff.function_names.values())
    gone = {name: REMOVED for name in before if name not in after}
    return {**gone, **{name: ADDED for name in after if name not in known}}


class _Gone(NamedTuple):
    """What only the first of two functions has, by its number there."""

    arguments: Sequence[int]
    nodes: Sequence[int]
    results: Sequence[int]

    @classmethod
    def of(cls, inside: Diff, old: Any) -> _Gone:
        """Nodes without a twin."""
        first, last = len(old.signature.input_arg), len(inside.match) - len(old.signature.output_arg)
        gone = np.flatnonzero(inside.match < 0)
        arguments, results = gone < first, gone >= last
        return cls(gone[arguments].tolist(), gone[~arguments & ~results].tolist(), gone[results].tolist())


def _merged(inside: Diff, old: Any, new: Any) -> MergedBody:
    gone, renames = _Gone.of(inside, old), _renames(old, new, inside)
    function = protos.FunctionDef()
    function.CopyFrom(new)
    new_inputs = _compare_inputs(inside, old, function, renames, len(gone.arguments))
    _add_gone_nodes(function, old, gone, renames)
    _add_gone_results(function, old, inside, gone, renames)
    first = len(new.signature.input_arg)
    end = first + len(new.node_def)
    overlays = inside.overlay_before(), inside.overlay_after()
    groups = ((0, first, gone.arguments), (first, end, gone.nodes), (end, None, gone.results))
    codes = [part for low, high, lost in groups for part in (overlays[1].codes[low:high], overlays[0].codes[lost])]
    why = [(overlays[1].reasons[low:high], [overlays[0].reasons[one] for one in lost]) for low, high, lost in groups]
    sizes = [0] * (first + len(gone.arguments)) + [len(node.input) for node in new.node_def] + [0] * len(gone.nodes)
    sizes += [1] * len(new.signature.output_arg) + [0] * len(gone.results)
    return MergedBody(
        function,
        np.concatenate(codes).astype(np.int8),
        [reason for pair in why for part in pair for reason in part],
        np.array(sizes, np.int32),
        frozenset(new_inputs),
    )


def _compare_inputs(
    inside: Diff, old: Any, function: Any, renames: Mapping[str, str], more: int
) -> set[tuple[int, int]]:
    """Put the inputs that nodes lost behind their own.

    Args:
        inside: the comparison of the two functions.
        old: the first one.
        function: a copy of the second one, to which inputs are added.
        renames: names in ``function`` by names in ``old``.
        more: arguments that will be put before the nodes.

    Returns:
        (number, place) of inputs that are new, as in ``MergedBody``. A result has one input: a lost one is not shown.
    """
    arguments, last = len(old.signature.input_arg), len(inside.match) - len(old.signature.output_arg)
    first, found = len(function.signature.input_arg), set[tuple[int, int]]()
    end = first + len(function.node_def)
    for before, after in enumerate(inside.match.tolist()[arguments:last]):
        if first <= after < end:
            had = [_translated(text, renames) for text in old.node_def[before].input]
            node = function.node_def[after - first]
            found.update((after + more, slot) for slot, text in enumerate(node.input) if text not in had)
            node.input.extend(text for text in had if text not in set(node.input))
    more += int((inside.match[arguments:last] < 0).sum())
    for before, after in enumerate(inside.match.tolist()[last:]):
        if after >= end:
            was = _translated(old.ret[old.signature.output_arg[before].name], renames)
            if was != function.ret[function.signature.output_arg[after - end].name]:
                found.add((after + more, 0))
    return found


def _add_gone_nodes(function: Any, old: Any, gone: _Gone, renames: Mapping[str, str]) -> None:
    """Put the arguments and nodes that only the first function has behind those of the second one."""
    for number in gone.arguments:
        argument = function.signature.input_arg.add()
        argument.CopyFrom(old.signature.input_arg[number])
        argument.name = renames[argument.name]
    for number in gone.nodes:
        was, node = old.node_def[number - len(old.signature.input_arg)], function.node_def.add()
        node.CopyFrom(was)
        node.name = renames[was.name]
        node.input[:] = [_translated(text, renames) for text in was.input]


def _add_gone_results(function: Any, old: Any, inside: Diff, gone: _Gone, renames: Mapping[str, str]) -> None:
    last = len(inside.match) - len(old.signature.output_arg)
    for number in gone.results:
        result = old.signature.output_arg[number - last]
        added = function.signature.output_arg.add()
        taken = {one.name for one in function.signature.output_arg}
        added.CopyFrom(result)
        while added.name in taken:
            added.name += " (before)"
        function.ret[added.name] = _translated(old.ret[result.name], renames)


def _renames(old: Any, new: Any, inside: Diff) -> dict[str, str]:
    """Names in the merged function by names in the first one, as inputs write them."""
    names = [
        [*(one.name for one in side.signature.input_arg), *(one.name for one in side.node_def)] for side in (old, new)
    ]
    found: dict[str, str] = {}
    taken = set(names[1])
    for name, after in zip(names[0], inside.match.tolist(), strict=False):
        free = names[1][after] if 0 <= after < len(names[1]) else name
        while (after < 0 or after >= len(names[1])) and free in taken:
            free += " (before)"
        taken.add(free)
        found.setdefault(name, free)
    return found


def _translated(text: str, renames: Mapping[str, str]) -> str:
    """An input of a function's node under the names of the merged one."""
    sign, name = ("^", text[1:]) if text.startswith("^") else ("", text)
    node, colon, rest = name.partition(":")
    return f"{sign}{renames.get(node, node)}{colon}{rest}"


def unfolded_overlay(merged: Merged) -> Overlay:
    """The statuses of a merged graph with those of the nodes inside functions behind."""
    plain, shown = merged.overlay, merged.document.unfolded
    if not isinstance(shown, Unfolded):
        return plain
    codes = np.full(len(shown.graph), UNCHANGED, np.int8)
    codes[: len(plain.codes)] = plain.codes
    reasons = list(plain.reasons)
    for one in shown.opened:
        here, why = _inside(merged, one, codes, reasons)
        codes[one.first : one.first + len(one.body)] = here
        reasons += why
    return Overlay(plain.kind, plain.categories, codes, reasons)


def with_reasons(overlay: Overlay, merged: Merged, before: Overlay) -> Overlay:
    """The statuses of a merged graph with the reasons that ``before`` has for the nodes of the first graph alone."""
    reasons = list(overlay.reasons)
    gone = np.flatnonzero(merged.from_after < 0)
    for node, old in zip(gone.tolist(), merged.from_before[gone].tolist(), strict=True):
        reasons[node] = before.reasons[old]
    return replace(overlay, reasons=reasons)


def _inside(merged: Merged, one: Opened, codes: Codes, reasons: Sequence[str]) -> tuple[Codes, Sequence[str]]:
    """Statuses and reasons of a function's nodes inside a call: those of the call, where all of it came or went."""
    count = len(one.body)
    around = int(codes[one.call]) if one.call >= 0 else merged.alone.get(one.function, UNCHANGED)
    if around in (ADDED, REMOVED):
        call = merged.document.unfolded.graph.names[one.call] if one.call >= 0 else one.function
        reason = f"inside {call}: {reasons[one.call]}" if one.call >= 0 else "this function is on one side only"
        return np.full(count, around, np.int8), [reason] * count
    body = merged.bodies.get(one.function)
    if body is not None and len(body.codes) == count:
        return body.codes, body.reasons
    status = merged.alone.get(one.function, UNCHANGED)
    reason = "this function is on one side only" if status != UNCHANGED else "the same on both sides"
    return np.full(count, status, np.int8), [reason] * count


def unfolded_edges(merged: Merged, overlay: Overlay) -> Codes:
    """int8 [edges of ``document.unfolded.graph``]: what became of each edge, inside functions too.

    Args:
        merged: the merged graph.
        overlay: ``unfolded_overlay`` of it.
    """
    shown = merged.document.unfolded
    parts = [merged.edge_status]
    for one in shown.opened if isinstance(shown, Unfolded) else ():
        of_call = int(overlay.codes[one.call]) if one.call >= 0 else UNCHANGED
        arguments = overlay.codes[one.first : one.first + (one.body.arguments if one.call >= 0 else 0)]
        given = np.full(len(arguments), KEPT_EDGE, np.int8)
        for status, edge in ((ADDED, ADDED_EDGE), (REMOVED, REMOVED_EDGE)):
            given[(arguments == status) | (of_call == status)] = edge
        parts.append(given)
        parts.append(_body_edges(merged.bodies.get(one.function), one.body, overlay.codes[one.first :]))
    return np.concatenate(parts).astype(np.int8)


def _body_edges(merged: MergedBody | None, body: FunctionBody, codes: Codes) -> Codes:
    found = np.full(len(body.src), KEPT_EDGE, np.int8)
    for status, edge in ((ADDED, ADDED_EDGE), (REMOVED, REMOVED_EDGE)):
        found[(codes[body.src] == status) | (codes[body.dst] == status)] = edge
    if merged is not None and len(merged.kept) == len(body):
        found[body.slot >= merged.kept[body.dst]] = REMOVED_EDGE
        ends = zip(body.dst.tolist(), body.slot.tolist(), strict=True)
        is_new = np.array([end in merged.new_inputs for end in ends], np.bool_).reshape(-1)
        found[is_new] = ADDED_EDGE
    return found
