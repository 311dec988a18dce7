"""A comparison summed up: by op kind, by scope, by role."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from graphviewer.gui.panels.tables import TableModel, as_lines
from graphviewer.gui.state.session import Selection
from graphviewer.gui.state.versions import Comparison
from graphviewer.model.overlay import role_label

_GONE, _NEW = ("removed", "spliced"), ("added",)
_DEEPEST = 2  # scopes further inside are in the drawing, rolled up on their boxes


class Group(NamedTuple):
    """One row: nodes before and after, and how many of each status."""

    name: str
    before: int
    after: int
    statuses: Mapping[str, int]
    selection: Selection | None = None

    @property
    def text(self) -> str:
        """The statuses in words, unchanged ones last."""
        return ", ".join(f"{count:,} {status}" for status, count in self.statuses.items() if count)


def by_op_kind(comparison: Comparison) -> list[Group]:
    """Every op of either side, the largest change first."""
    from graphviewer.analysis.diff import by_op

    before, after = (totals.ops for totals in comparison.totals)
    statuses = by_op(comparison.diff)
    rows = [Group(op, before.get(op, 0), after.get(op, 0), statuses.get(op, {})) for op in {**before, **after}]
    return sorted(rows, key=lambda row: (-abs(row.after - row.before), row.name))


def by_scope(comparison: Comparison) -> list[Group]:
    """The outer scopes of both graphs in one tree, in order of appearance."""
    scopes, overlay = comparison.merged.document.scopes, comparison.merged.overlay
    table = overlay.by_item(scopes)
    rows = []
    for path, item in scopes.by_path.items():
        if 0 < scopes.depth[item] <= _DEEPEST:
            counts = dict(zip(overlay.categories, table[item].tolist(), strict=True))
            rows.append(_group(path, counts, Selection(path, is_scope=True)))
    return rows


def by_role_of_before(comparison: Comparison) -> list[Group]:
    """Roles of the nodes before, most nodes first; empty until the roles are known."""
    from graphviewer.analysis.diff import by_role

    roles = comparison.roles
    if roles is None:
        return []
    return [_group(role_label(role), counts) for role, counts in by_role(comparison.diff, roles).items()]


def _group(name: str, counts: Mapping[str, int], selection: Selection | None = None) -> Group:
    total = sum(counts.values())
    gone, new = (sum(counts.get(status, 0) for status in side) for side in (_GONE, _NEW))
    return Group(name, total - new, total - gone, counts, selection)


GROUPINGS = {"by op kind": by_op_kind, "by scope": by_scope, "by role": by_role_of_before}


class GroupsModel(TableModel):
    """Groups as rows."""

    HEADINGS = ("Group", "Before", "After", "Difference", "Nodes by status")
    NUMBERS = frozenset({1, 2, 3})

    def as_text(self) -> str:
        """All groups as lines with tabs between the columns, headings first."""
        rows = ((one.name, str(one.before), str(one.after), str(one.after - one.before), one.text) for one in self.rows)
        return as_lines(self.HEADINGS, rows)

    def text(self, row: Group, column: int) -> str:
        change = row.after - row.before
        return (row.name, f"{row.before:,}", f"{row.after:,}", f"{change:+,}" if change else "", row.text)[column]
