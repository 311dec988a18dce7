"""A comparison summed up: by op kind, by scope, by role."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt
from PySide6.QtWidgets import QWidget

from graphviewer.gui.state.session import Selection
from graphviewer.gui.state.versions import Comparison
from graphviewer.model.overlay import role_label

Index = QModelIndex | QPersistentModelIndex
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
_COLUMNS = ("Group", "Before", "After", "Difference", "Nodes by status")


class GroupsModel(QAbstractTableModel):
    """Groups as rows."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.groups: Sequence[Group] = ()

    def set_groups(self, groups: Iterable[Group]) -> None:
        """Show other rows."""
        self.beginResetModel()
        self.groups = list(groups)
        self.endResetModel()

    def as_text(self) -> str:
        """All groups as lines with tabs between the columns, headings first."""
        rows = [
            (one.name, str(one.before), str(one.after), str(one.after - one.before), one.text) for one in self.groups
        ]
        return "\n".join("\t".join(row) for row in [_COLUMNS, *rows])

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self.groups)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return len(_COLUMNS)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if orientation == Qt.Orientation.Horizontal and role == Qt.ItemDataRole.DisplayRole:
            return _COLUMNS[section]
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        group, column = self.groups[index.row()], index.column()
        if role == Qt.ItemDataRole.DisplayRole:
            change = group.after - group.before
            return (group.name, f"{group.before:,}", f"{group.after:,}", f"{change:+,}" if change else "", group.text)[
                column
            ]
        if role == Qt.ItemDataRole.TextAlignmentRole and column in (1, 2, 3):
            return int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        return None
