"""What a comparison says, as HTML fragments: of one node, and of all that is no node. Every text is escaped here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from graphviewer.analysis.diff.values import told
from graphviewer.gui.state.selection import AFTER, ANY, BEFORE, Selection
from graphviewer.gui.words.legend import uncompared
from graphviewer.gui.words.texts import escaped, link
from graphviewer.model.overlay import role_label

if TYPE_CHECKING:
    from graphviewer.analysis.diff import Change, Diff, FunctionChange
    from graphviewer.gui.state.versions import Comparison

_MOST, _MOST_INSIDE = 40, 8  # entries of a list; of nodes that differ inside one function
_LONGEST = 200
_HOW = {
    "pinned": "by hand: they are pinned as the same",
    "provenance": "the operation reported it",
    "name": "by name",
    "prefix": "by name, under another prefix or scope",
    "structure": "by structure: the same op at the same place",
    "none": "no twin on the other side",
}
_PAIRS = ("op", "dtype", "shape", "device", "inputs")
_NESTED = ("attributes", "functions")
_STATISTICS = ("min", "max", "mean", "elements", "not_finite", "digest", "problem")


def changes_of(comparison: Comparison, selection: Selection) -> list[Change]:
    """What became of the selected node: one change, or two where both sides have a node of the name."""
    unfolded, diff = comparison.unfolded, comparison.diff
    version, seen = comparison.inspected(selection)
    sides = (BEFORE, AFTER) if selection.side == ANY and version is comparison.after else (seen.side,)
    found = []
    for side in sides:
        document = (diff.before, diff.after)[side].unfolded
        node = document.graph.index.get(seen.path, -1)
        change = unfolded.change(side, node) if node >= 0 else None
        if change is not None:
            found.append(change)
    return [change for at, change in enumerate(found) if change not in found[:at]]


def describe_change(comparison: Comparison, selection: Selection) -> str:
    """The section about the selected node: what became of it, why, how that was found, and what differs."""
    found = changes_of(comparison, selection)
    if not found:
        return f"<h4>Change</h4>{_without_change(comparison, selection)}"
    return "<h4>Change</h4>" + "".join(line for change in found for line in _change_lines(change))


def _without_change(comparison: Comparison, selection: Selection) -> str:
    """What the drawing says of a node that has no change of its own: it is the same, or all around it is gone."""
    _version, seen = comparison.inspected(selection)
    overlay = comparison.unfolded.overlays[seen.side]
    node = (comparison.diff.before, comparison.diff.after)[seen.side].unfolded.graph.index.get(seen.path, -1)
    status = overlay.category(node) if node >= 0 else None
    if status in (None, "unchanged"):
        return "<p class='subtle'>Unchanged.</p>"
    return f"<p><b>{escaped(str(status))}</b> — {escaped(overlay.reasons[node])}</p>"


def _change_lines(change: Change) -> Iterator[str]:
    yield f"<p><b>{escaped(change.status)}</b> — {escaped(change.reason)}</p>"
    if change.before != change.after and change.before is not None and change.after is not None:
        yield f"<p>{link('node', change.before)} → {link('node', change.after)}</p>"
    yield f"<p class='subtle'>Match: {escaped(_HOW.get(change.match, change.match))}.</p>"
    rows = list(_detail_rows(change.details))
    if rows:
        head = "<tr><td></td><td class='key'>before</td><td class='key'>after</td></tr>"
        yield f"<table>{head}{''.join(rows[:_MOST])}</table>"
    if len(rows) > _MOST:
        yield f"<p class='subtle'>and {len(rows) - _MOST:,} more</p>"


def _detail_rows(details: Mapping[str, Any]) -> Iterator[str]:
    """Old and new values, a row each; then what only one text says."""
    for key in _PAIRS:
        if key in details:
            yield from _pair_rows(key, *details[key])
    for group in _NESTED:
        for name, (old, new) in details.get(group, {}).items():
            yield from _pair_rows(name, old, new)
    for key, pair in details.items():
        if key == "value" or key.startswith("value of "):
            yield from _value_rows(key, *pair)
    apart = details.get("difference")
    if apart:
        yield _wide_row("difference", told(apart))
    if "conversion" in details:
        yield _wide_row("conversion", str(details["conversion"]).replace("_", " "))
    if "role" in details:
        yield _wide_row("role", role_label(str(details["role"])))
    if "function" in details:
        yield _wide_row("function", str(details["function"]))


def _pair_rows(key: str, old: Any, new: Any) -> Iterator[str]:
    if isinstance(old, list) and isinstance(new, list) and key == "inputs":
        for slot in range(max(len(old), len(new))):
            sides = [side[slot] if slot < len(side) else None for side in (old, new)]
            if sides[0] != sides[1]:
                yield _row(f"input {slot}", *sides)
    else:
        yield _row(key, old, new)


def _value_rows(key: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    """Two tensors: how they read, then the statistics that differ."""
    yield _row(key, old.get("text"), new.get("text"))
    for fact in _STATISTICS:
        if old.get(fact) != new.get(fact):
            yield _row(fact.replace("_", " "), old.get(fact), new.get(fact))


def _row(key: str, old: Any, new: Any) -> str:
    cells = "".join(f"<td>{escaped(_text(value))}</td>" for value in (old, new))
    return f"<tr><td class='key'>{escaped(key)}</td>{cells}</tr>"


def _wide_row(key: str, text: str) -> str:
    return f"<tr><td class='key'>{escaped(key)}</td><td colspan='2'>{escaped(text)}</td></tr>"


def _text(value: Any) -> str:
    """One value in a cell: ``—`` for none at all, a shape with ``?`` for unknown sizes, never very long."""
    if value is None:
        return "—"
    if value == "":
        return "(empty)"
    if isinstance(value, list):
        value = "[" + ", ".join("?" if one in (-1, None) else str(one) for one in value) + "]"
    text = f"{value:,.7g}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else str(value)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def describe_comparison(comparison: Comparison) -> str:
    """What differs beside the nodes: signatures and functions."""
    diff = comparison.diff
    title = f"<h3>{' → '.join(map(escaped, comparison.titles))}</h3>"
    values = f"<p class='subtle'>{escaped(uncompared(comparison))}</p>" if diff.leaves_values_out else ""
    return title + _counts(diff) + values + _signatures(diff.signatures) + _functions(diff.functions)


def _counts(diff: Diff) -> str:
    if diff.same:
        return "<p>The same: no node is changed.</p>"
    rows = "".join(f"<tr><td>{status}</td><td>{count:,}</td></tr>" for status, count in diff.summary().items() if count)
    return f"<h4>Nodes</h4><table>{rows}</table>"


def _signatures(changes: Sequence[Change]) -> str:
    if not changes:
        return ""
    parts = [f"<h4>Signatures that differ ({len(changes):,})</h4>"]
    for change in changes[:_MOST]:
        parts.append(f"<p><b>{escaped(change.name)}</b> {escaped(change.status)}</p>")
        rows = [_row("method", *change.details["method"])] if "method" in change.details else []
        for side in ("inputs", "outputs"):
            rows += [_row(f"{side[:-1]} {name}", *pair) for name, pair in change.details.get(side, {}).items()]
        parts.append(f"<table>{''.join(rows)}</table>" if rows else f"<p class='subtle'>{escaped(change.reason)}</p>")
    return "".join(parts) + _more(changes)


def _functions(changes: Sequence[FunctionChange]) -> str:
    if not changes:
        return ""
    parts = [f"<h4>Functions that differ ({len(changes):,})</h4>"]
    for change in changes[:_MOST]:
        name = (change.after if change.after is not None else change.before) or ""
        parts.append(f"<p><b>{escaped(name)}</b> {escaped(change.status)}: {escaped(change.reason)}</p>")
        inside = change.inside.changes if change.inside is not None else ()
        rows = "".join(_inside_row(one) for one in inside[:_MOST_INSIDE])
        parts.append(f"<table>{rows}</table>{_more(inside, _MOST_INSIDE)}" if rows else "")
    return "".join(parts) + _more(changes)


def _inside_row(change: Change) -> str:
    cells = "".join(f"<td>{escaped(text)}</td>" for text in (change.name, change.reason))
    return f"<tr><td class='key'>{escaped(change.status)}</td>{cells}</tr>"


def _more(found: Sequence[object], shown: int = _MOST) -> str:
    return f"<p class='subtle'>and {len(found) - shown:,} more</p>" if len(found) > shown else ""
