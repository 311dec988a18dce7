"""A comparison as text: counts, a tree of scopes, or every change."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from graphviewer.analysis.diff import RENAMED, STATUSES, UNCHANGED, Change, Diff, FunctionChange, by_op
from graphviewer.analysis.diff.declarations import declared
from graphviewer.analysis.diff.inlined import caller
from graphviewer.analysis.diff.purposes import role_sentences
from graphviewer.analysis.diff.rollup import changed_inside, renamed_scope
from graphviewer.analysis.diff.values import far
from graphviewer.analysis.diff.variables import Order, VariablesDiff
from graphviewer.analysis.merge import MergedScopes, merged_scopes
from graphviewer.cli.output import clean, counted, number, say, styled, table
from graphviewer.model.overlay import Overlay
from graphviewer.model.scopes import ROOT, Scopes

_ROWS = 30
_OPS = 12
_ROLES = 8
_FUNCTIONS = 6
_SIGNS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "removed": ("−", "red"),
        "added": ("+", "green"),
        "converted": ("→", "blue"),
        "spliced": ("⊘", "bright_black"),
        "renamed": ("✎", "cyan"),
        "changed": ("~", "yellow"),
        "rewired": ("⇄", "yellow"),
        "unchanged": (" ", "white"),
    }
)


def head(diff: Diff) -> Iterator[str]:
    """Both sides and the counts, in one or two lines; a line on what was not compared."""
    yield from _counted(diff)
    if diff.leaves_values_out:
        yield "  " + styled("values of variables were not compared: --values does", dim=True)


def _counted(diff: Diff) -> Iterator[str]:
    names = [clean(name) for name in diff.titles]
    nodes = f"{number(len(diff.match))} → {number(len(diff.origin))} nodes"
    if diff.same:
        yield f"{names[0]} and {names[1]}: the same, {counted(len(diff.match), 'node')}"
        if diff.note:
            yield "  " + styled(diff.note, dim=True)
        return
    if not diff.changes:
        yield f"{names[0]} and {names[1]}: the same {counted(len(diff.match), 'node')}, but functions differ"
        return
    yield f"{names[0]} → {names[1]}: {nodes}"
    yield "  " + _counts(diff.summary())
    inside = diff.summary_inside()
    if any(inside.values()):
        yield f"  and in functions {_counts(inside)}"
    if calling := caller(diff):
        advice = "calls functions, the other graph has them inlined: compare after 'graphviewer apply inline-functions'"
        yield f"  {clean(calling)} {advice}"


def _counts(summary: Mapping[str, int]) -> str:
    return ", ".join(_count(status, count) for status, count in summary.items() if count)


def _count(status: str, count: int) -> str:
    sign, colour = _SIGNS[status]
    return styled(f"{sign} {number(count)} {status}".strip(), fg=colour)


def statistics(diff: Diff) -> Iterator[str]:
    """The ops with most changes."""
    table = by_op(diff)
    width = max((len(clean(op)) for op in list(table)[:_OPS]), default=0)
    for op, row in list(table.items())[:_OPS]:
        yield f"  {clean(op):<{width}}  " + ", ".join(_count(status, count) for status, count in row.items())
    if len(table) > _OPS:
        yield f"  and {counted(len(table) - _OPS, 'other op')}"


def by_role(diff: Diff, roles: Overlay) -> Iterator[str]:
    """What the nodes that went away were for."""
    for sentence in role_sentences(diff, roles)[:_ROLES]:
        yield "  " + styled(sentence, dim=True)


def functions(diff: Diff, *, full: bool) -> Iterator[str]:
    """Functions that differ: how many, and the first few; all of them with all their nodes on request."""
    if not diff.functions:
        return
    found = Counter(one.status for one in diff.functions)
    yield "functions: " + ", ".join(_count(status, count) for status, count in found.items())
    changed = [one for one in diff.functions if full or one.inside is not None]
    for one in changed[: None if full else _FUNCTIONS]:
        sign, colour = _SIGNS[one.status]
        name = clean(one.after if one.after is not None else one.before or "")
        yield f"  {styled(sign, fg=colour)} {styled(name, fg=colour)}  {styled(one.reason, dim=True)}"
        if full:
            yield from _inside(one)
    if len(changed) > _FUNCTIONS and not full:
        yield f"  and {number(len(changed) - _FUNCTIONS)} more"


def _inside(function: FunctionChange) -> Iterator[str]:
    """What the reason of a function leaves out of its declaration, and what differs among its nodes."""
    for text in declared(function.details):
        if text not in function.reason:
            yield f"    {styled(clean(text), dim=True)}"
    for change in function.inside.changes if function.inside is not None else ():
        yield "    " + _line(change)


def signatures(diff: Diff) -> Iterator[str]:
    """Signatures that differ."""
    for change in diff.signatures:
        sign, colour = _SIGNS[change.status]
        yield f"{styled(sign, fg=colour)} signature {styled(change.name, fg=colour)}  {styled(change.reason, dim=True)}"


def values(found: VariablesDiff, order: Order, *, full: bool) -> None:
    """Print values that differ, as a table."""
    titles, counts = [*map(clean, found.titles)], found.counts
    first, second = titles
    if found.same:
        say(f"{first} and {second}: the same, {counted(counts[1], 'value')}")
        return
    say(f"{first} → {second}: {number(counts[0])} → {number(counts[1])} values")
    say("  " + _counts(found.summary()))
    left_out = [
        f"{counted(count, 'constant')} of {title}" for count, title in zip(found.left_out, titles, strict=True) if count
    ]
    if left_out:
        say(f"  not told: {' and '.join(left_out)} that the other side lacks and that may be sizes or axes")
    changes = found.sorted(order)
    shown = changes if full else changes[:_ROWS]
    columns = ("", ">max |difference|", ">differing", ">elements", "name", "")
    table(columns, [_value_row(change) for change in shown])
    if len(shown) < len(changes):
        say(f"and {number(len(changes) - len(shown))} more (--full)")


def _value_row(change: Change) -> tuple[str, ...]:
    apart = change.details.get("difference", {})
    only_strange = "max_abs" in apart and not apart["max_abs"] and far(apart).startswith(":")
    largest = "" if "max_abs" not in apart else far(apart)[2:] if only_strange else f"{apart['max_abs']:.6g}"
    differing = number(apart["differing"]) if apart else ""
    elements = number(change.details.get("elements", 0))
    reason = "" if apart and change.status == "changed" else change.reason
    if apart and not only_strange:
        reason = reason or far(apart).partition(": ")[2]
    return _SIGNS[change.status][0], largest, differing, elements, change.name, reason


def every_change(diff: Diff) -> Iterator[str]:
    """One line per node that is not the same."""
    for change in diff.changes:
        yield _line(change)


def _line(change: Change) -> str:
    sign, colour = _SIGNS[change.status]
    name = change.name
    if change.status == "renamed" and change.before != change.after:
        name = f"{change.before} ✎ {change.after}"
    return f"{styled(sign, fg=colour)} {styled(name, fg=colour)}  {styled(change.reason, dim=True)}"


def by_scope(diff: Diff) -> Iterator[str]:
    """Changes summed up by scope: the scopes with most changes are opened until the picture is clear, or full."""
    merged = merged_scopes(diff)
    scopes = merged.scopes
    table = np.asarray(merged.overlay.by_item(scopes))
    items = np.array(_chosen(scopes, table))
    changed = changed_inside(table)
    largest = np.sort(np.argsort(-changed[items], kind="stable")[:_ROWS])
    for item in items[largest].tolist():
        if scopes.is_scope[item] and changed[item] > 1:
            inside = scopes.nodes_inside(item) if table[item][RENAMED] else ()
            yield _scope_line(scopes.path(item) + "/", table[item]) + _renamed(diff, merged, inside)
        else:
            yield _line(_change(diff, merged, _changed_node(merged, item)))
    rest = np.delete(items, largest)
    if len(rest):
        counts = table[rest].sum(axis=0)
        counts[UNCHANGED] = 0
        yield _scope_line(f"and {number(len(rest))} more scopes and nodes", counts)


def _renamed(diff: Diff, merged: MergedScopes, nodes: Iterable[int]) -> str:
    """What the scope of the renamed among some nodes was called, where that is one."""
    return renamed_scope(_change(diff, merged, node) for node in nodes if merged.overlay.codes[node] == RENAMED)


def _changed_node(merged: MergedScopes, item: int) -> int:
    """The node that an item is, or the first inside that is not the same."""
    scopes, codes = merged.scopes, merged.overlay.codes
    return next((node for node in scopes.nodes_inside(item) if codes[node] != UNCHANGED), int(scopes.node[item]))


def _change(diff: Diff, merged: MergedScopes, node: int) -> Change:
    after = int(merged.from_after[node])
    return diff.change_after[after] if after >= 0 else diff.change_before[int(merged.from_before[node])]


def _scope_line(path: str, counts: NDArray[np.int32]) -> str:
    found = {status: count for status, count in zip(STATUSES, counts.tolist(), strict=True) if count}
    changed = [status for status in found if status != "unchanged"]
    sign, colour = _SIGNS[changed[0]] if len(changed) == 1 else ("*", "white")
    return f"{styled(sign, fg=colour)} {styled(path, fg=colour)}  " + ", ".join(
        f"{number(count)} {status}" for status, count in found.items()
    )


def _chosen(scopes: Scopes, table: NDArray[np.int32]) -> Sequence[int]:
    """The items to print, in tree order: scopes opened by number of changes while at most ``_ROWS`` rows come of it.

    A scope all of whose nodes share one status says it all in one row and stays closed.
    """
    changed = changed_inside(table)
    mixed = (table > 0).sum(axis=1) > 1
    rows, closed, opened = 1, [(-int(changed[ROOT]), ROOT)], set[int]()
    while closed:
        _, item = heapq.heappop(closed)
        inside = [child for child in scopes.children(item).tolist() if changed[child]]
        if item != ROOT and rows - 1 + len(inside) > _ROWS:
            continue
        rows += len(inside) - 1
        opened.add(item)
        for child in inside:
            if scopes.is_scope[child] and mixed[child]:
                heapq.heappush(closed, (-int(changed[child]), child))
    return list(_in_order(scopes, opened, changed))


def _in_order(scopes: Scopes, opened: set[int], changed: NDArray[np.int32]) -> Iterator[int]:
    stack = [ROOT]
    while stack:
        item = stack.pop()
        if item in opened:
            stack.extend(child for child in reversed(scopes.children(item).tolist()) if changed[child])
        else:
            yield item
