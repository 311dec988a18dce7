"""A comparison as one HTML file that needs nothing else: pictures, totals, summaries, and a table to search in.

Names and texts come from files and may be hostile: all are escaped, the script only ever sets text, and the page's own
policy forbids it to load anything.
"""

from __future__ import annotations

import base64
import json
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from graphviewer.analysis.diff import MATCHES, STATUSES, Change, Diff, by_op, by_role, by_scope
from graphviewer.analysis.diff.purposes import role_sentences
from graphviewer.analysis.merge import merge
from graphviewer.analysis.stats import Statistics, statistics
from graphviewer.model.document import Document
from graphviewer.model.overlay import Overlay, role_label
from graphviewer.resources import resource

THEMES = ("light", "dark")

Draw = Callable[[str], bytes]
"""A PNG of the comparison in the theme of that name."""

_POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'"
_PNG_WIDTH = slice(16, 20)  # the bytes of a PNG that tell its width
_SMALLEST = 0.62  # of a picture's own size
_WORDS = re.compile(r"(?<=[/_.:-])(?=[^/_.:-])|(?<=[a-z0-9])(?=[A-Z])")
_MOST_GROUPS = 24
_MOST_SENTENCES = 8
_COLOURS = ("background", "surface", "border", "border_strong", "text", "muted", "accent")


@dataclass(frozen=True)
class _Total:
    """One number of both graphs."""

    label: str
    before: int
    after: int
    text: Callable[[int], str] = "{:,}".format


def report(diff: Diff, roles: Overlay | None, draw: Draw) -> str:
    """The whole page.

    Args:
        diff: the comparison.
        roles: of the first graph's nodes, for the summary by role.
        draw: makes the pictures; called once for each theme.
    """
    title = escape(" → ".join(diff.titles))
    parts = [
        f"<h1>{title}</h1>",
        *_head(diff, roles),
        "<h2>Before and after</h2>",
        _bars(_totals(statistics(diff.before), statistics(diff.after))),
        "<h2>Both graphs</h2>",
        _picture({theme: draw(theme) for theme in THEMES}),
        *_summaries(diff, roles),
        *_others("Functions", [(one.status, one.before, one.after, one.reason) for one in diff.functions]),
        *_others("Signatures", [(one.status, one.before, one.after, one.reason) for one in diff.signatures]),
        "<h2>Changes</h2>",
        *_table(diff),
    ]
    body = "\n".join(parts)
    script = resource("report/report.js").read_text("utf-8") if not diff.same else ""
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n<title>{title}</title>\n'
        f"<style>\n{_style()}</style>\n</head>\n<body>\n<main>\n{body}\n</main>\n<script>\n{script}</script>\n"
        f"</body>\n</html>\n"
    )


def _style() -> str:
    """Colours of both themes as variables, then the rules."""
    light, dark = (_variables(theme) for theme in THEMES)
    switch = (
        f":root {{ color-scheme: light dark; {light} }}\n@media (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}"
    )
    return f"{switch}\n{resource('report/report.css').read_text('utf-8')}"


def _variables(theme: str) -> str:
    colours = tomllib.loads(resource(f"themes/{theme}.toml").read_text("utf-8"))
    found = {name.replace("_", "-"): colours["window"][name] for name in _COLOURS}
    for status in STATUSES:
        found |= {f"{status}-{part}": value for part, value in colours["diff"][status].items()}
    return " ".join(f"--{name}: {value};" for name, value in found.items())


def _head(diff: Diff, roles: Overlay | None) -> Iterator[str]:
    if diff.same:
        yield f"<p>The same: {len(diff.match):,} nodes, none of them changed.</p>"
        if diff.note:
            yield f'<p class="muted">{escape(diff.note[:1].upper() + diff.note[1:])}.</p>'
    else:
        yield f"<p>{len(diff.match):,} → {len(diff.origin):,} nodes.</p>"
    if diff.leaves_values_out:
        yield '<p class="muted">Values of variables were not compared: --values does, without --html.</p>'
    sentences = role_sentences(diff, roles)[:_MOST_SENTENCES] if roles is not None else []
    if sentences:
        text = ", ".join(sentences)
        yield f'<p class="muted">{escape(text[:1].upper() + text[1:])}.</p>'
    chips = (
        f'<li class="status-{status}"><b>{count:,}</b>{status}</li>'
        for status, count in diff.summary().items()
        if count
    )
    yield f'<ul class="chips">{"".join(chips)}</ul>'


def _totals(before: Statistics, after: Statistics) -> list[_Total]:
    return [
        _Total("Nodes", before.nodes, after.nodes),
        _Total("Edges", before.edges, after.edges),
        _Total("Op kinds", len(before.ops), len(after.ops)),
        _Total("Functions", before.functions, after.functions),
        _Total("Variables", before.variables, after.variables),
        _Total("Parameters", before.parameters, after.parameters),
        _Total("Size", before.bytes, after.bytes, _bytes),
    ]


def _bytes(count: int) -> str:
    amount, unit = float(count), "B"
    for unit in ("B", "kB", "MB", "GB"):
        if amount < 1000 or unit == "GB":
            break
        amount /= 1000
    return f"{amount:.0f} B" if unit == "B" else f"{amount:.1f} {unit}"


def _bars(totals: Sequence[_Total]) -> str:
    rows = []
    for total in totals:
        most = max(total.before, total.after)
        if most:
            widths = (100 * value / most for value in (total.before, total.after))
            bars = "".join(
                f'<div class="bar {side}" style="width:{width:.2f}%"></div>'
                for side, width in zip(("before", "after"), widths, strict=True)
            )
            numbers = f"{total.text(total.before)} → {total.text(total.after)}"
            rows.append(
                f'<div class="label">{total.label}</div><div class="track">{bars}</div>'
                f'<div class="numbers">{numbers}</div>'
            )
    return f'<div class="bars">{"".join(rows)}</div>'


def _picture(pictures: Mapping[str, bytes]) -> str:
    """The pictures, not smaller than can be read: a wide one is scrolled."""
    light, dark = (base64.b64encode(pictures[theme]).decode() for theme in THEMES)
    width = int.from_bytes(pictures["light"][_PNG_WIDTH], "big")
    return (
        '<figure tabindex="0"><picture><source media="(prefers-color-scheme: dark)" '
        f'srcset="data:image/png;base64,{dark}"><img alt="Both graphs side by side, changes coloured" '
        f'style="max-width: {width}px; min-width: {round(_SMALLEST * width)}px" '
        f'src="data:image/png;base64,{light}"></picture></figure>'
    )


def _summaries(diff: Diff, roles: Overlay | None) -> Iterator[str]:
    if diff.same:
        return
    merged = merge(diff.before, diff.after, diff)
    scopes = by_scope(merged.document.scopes, merged.overlay)
    yield '<div class="columns">'
    if roles is not None:
        named = {role_label(role): counts for role, counts in by_role(diff, roles).items()}
        yield _groups("By role", named)
    yield _groups("By scope", dict(sorted(scopes.items(), key=lambda row: -_changed(row[1]))))
    yield _groups("By op", by_op(diff))
    yield "</div>"


def _changed(counts: Mapping[str, int]) -> int:
    return sum(count for status, count in counts.items() if status != "unchanged")


def _groups(title: str, table: Mapping[str, Mapping[str, int]]) -> str:
    rows = []
    for name, counts in list(table.items())[:_MOST_GROUPS]:
        total = sum(counts.values())
        shares = "".join(
            f'<span class="status-{status}" style="width:{100 * count / total:.2f}%" title="{count:,} {status}"></span>'
            for status, count in counts.items()
        )
        words = ", ".join(f"{count:,} {status}" for status, count in counts.items())
        rows.append(f'<tr><td class="name">{_name(name)}</td><td>{words}<div class="share">{shares}</div></td></tr>')
    if len(table) > _MOST_GROUPS:
        rows.append(f'<tr><td class="muted" colspan="2">and {len(table) - _MOST_GROUPS:,} more</td></tr>')
    return f"<section><h2>{title}</h2><table>{''.join(rows)}</table></section>"


def _name(name: str) -> str:
    """A name that breaks between its words, where it has to."""
    return "<wbr>".join(map(escape, _WORDS.split(name)))


def _others(title: str, rows: Iterable[tuple[str, str | None, str | None, str]]) -> Iterator[str]:
    """A short table of what is not a node."""
    lines = [
        f'<tr><td><span class="status status-{status}">{status}</span></td>'
        f'<td class="name">{_name(after if after is not None else before or "")}</td><td>{escape(reason)}</td></tr>'
        for status, before, after, reason in rows
    ]
    if lines:
        more = f'<p class="muted">and {len(lines) - 100:,} more</p>' if len(lines) > 100 else ""
        yield f"<h2>{title}</h2><table>{''.join(lines[:100])}</table>{more}"


def _table(diff: Diff) -> Iterator[str]:
    if diff.same:
        yield '<p class="muted">None.</p>'
        return
    options = "".join(
        f'<option value="{code}">{status} ({count:,})</option>'
        for code, (status, count) in enumerate(diff.summary().items())
        if count and status != "unchanged"
    )
    yield (
        '<div class="tools"><input id="text" type="search" placeholder="Filter by name, op or reason" '
        'aria-label="Filter by name, op or reason">'
        f'<select id="status" aria-label="Status"><option value="">all statuses</option>{options}</select>'
        '<span id="count" class="muted" role="status"></span></div>'
        '<table><thead><tr><th class="status-column">Status</th><th>Node</th><th class="op-column">Op</th><th>Why</th>'
        '<th class="match-column">Found by</th></tr></thead><tbody id="rows"></tbody></table>'
        '<p><button id="more" hidden>Show more</button></p>'
        "<noscript><p>The table needs JavaScript; the summaries above do not.</p></noscript>"
    )
    yield f'<script type="application/json" id="changes">{_for_script(_data(diff))}</script>'


def _data(diff: Diff) -> dict[str, Any]:
    """The changes as rows that share their texts."""
    ops: dict[str, int] = {}
    reasons: dict[str, int] = {}
    rows = []
    for change in diff.changes:
        op = ops.setdefault(_op(diff.before, diff.after, change), len(ops))
        reason = reasons.setdefault(change.reason, len(reasons))
        place = (STATUSES.index(change.status), change.before, change.after, op, reason, MATCHES.index(change.match))
        rows.append([*place, _shown(change.details)])
    return {
        "statuses": STATUSES,
        "matches": ["" if match == "none" else match for match in MATCHES],
        "ops": list(ops),
        "reasons": list(reasons),
        "rows": rows,
    }


def _op(before: Document, after: Document, change: Change) -> str:
    old = before.node(change.before_node).op if change.before_node >= 0 else None
    new = after.node(change.after_node).op if change.after_node >= 0 else None
    return f"{old} → {new}" if old and new and old != new else str(new or old or "")


def _shown(details: Mapping[str, Any]) -> dict[str, Any] | int:
    """What the row does not say already; 0 for nothing."""
    return {key: value for key, value in details.items() if key not in ("op", "role")} or 0


def _for_script(value: Any) -> str:
    """JSON that cannot end the element it stands in, whatever names are in it."""
    text = json.dumps(value, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
