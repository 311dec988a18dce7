"""The changes of a comparison as rows of a table, all of them or those that fit a filter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt
from PySide6.QtWidgets import QWidget

from graphviewer.gui.canvas.signs import STATUS_SIGNS
from graphviewer.gui.state.versions import Comparison
from graphviewer.gui.style.theme import Theme
from graphviewer.gui.words.texts import tip
from graphviewer.model.overlay import role_label

if TYPE_CHECKING:
    from graphviewer.analysis.diff import Change

Index = QModelIndex | QPersistentModelIndex
SIGNS = {status: mark for status, mark in STATUS_SIGNS.items() if mark}
_COLUMNS = ("Status", "Node", "Op", "Reason")
REASON = _COLUMNS.index("Reason")


class ChangesModel(QAbstractTableModel):
    """Changes as rows.

    A filter of Qt's would ask for the texts of every row in the GUI thread: a fifth of a second for 15,000 changes.

    Attributes:
        changes: all of them.
        rows: numbers of those that are shown.
    """

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.theme = theme
        self.changes: Sequence[Change] = ()
        self.rows: Sequence[int] = ()
        self._comparison: Comparison | None = None

    def set_comparison(self, comparison: Comparison | None) -> None:
        """Show the changes of another comparison."""
        self.beginResetModel()
        self._comparison = comparison
        self.changes = comparison.changes if comparison else ()
        self.rows = range(len(self.changes))
        self.endResetModel()

    def take_reasons(self, comparison: Comparison) -> None:
        """Show the same changes with other reasons, the rows as they are."""
        if comparison is self._comparison and comparison.changes is not self.changes and self.rows:
            self.changes = comparison.changes
            self.dataChanged.emit(self.index(0, 0), self.index(len(self.rows) - 1, len(_COLUMNS) - 1))

    def show_rows(self, rows: Sequence[int]) -> None:
        """Show only these changes."""
        self.beginResetModel()
        self.rows = rows
        self.endResetModel()

    def fitting(self, status: str, text: str) -> Sequence[int]:
        """Numbers of the changes of a status (any if empty) with a text in name, op or reason, in any case of letters.

        For a background thread where there is a text: it then reads all texts.
        """
        changes, text = self.changes, text.casefold()
        rows = [row for row, change in enumerate(changes) if not status or change.status == status]
        if not text:
            return rows
        return [row for row in rows if any(text in self._text(changes[row], column).casefold() for column in (1, 2, 3))]

    def text_of(self, rows: Sequence[int]) -> str:
        """Some changes, by number, as lines with tabs between the columns, headings first; for a background thread."""
        changes, columns = self.changes, range(len(_COLUMNS))
        lines = (
            "\t".join([changes[row].status, *(self._text(changes[row], at) for at in columns[1:])]) for row in rows
        )
        return "\n".join(["\t".join(_COLUMNS), *lines])

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self.rows)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return len(_COLUMNS)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if orientation == Qt.Orientation.Horizontal and role == Qt.ItemDataRole.DisplayRole:
            return _COLUMNS[section]
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        change = self.changes[self.rows[index.row()]]
        if role == Qt.ItemDataRole.DisplayRole:
            return self._text(change, index.column())
        if role == Qt.ItemDataRole.ToolTipRole:
            return tip(f"{change.before or '—'} → {change.after or '—'}\n{change.reason}")
        if role == Qt.ItemDataRole.ForegroundRole and index.column() == 0:
            return self.theme.category("diff", change.status).text
        return None

    def _text(self, change: Change, column: int) -> str:
        if column == 0:
            return f"{SIGNS.get(change.status, ' ')} {change.status}"
        if column == 1:
            renamed = change.before and change.after and change.before != change.after
            return f"{change.before} → {change.after}" if renamed else str(change.after or change.before)
        if column == 2:
            return self._op(change)
        role = role_label(str(change.details.get("role", "")))
        reason = f"{role}: {change.reason}" if role and role not in change.reason else change.reason
        return f"{reason} (in ƒ {change.details['function']})" if "function" in change.details else reason

    def _op(self, change: Change) -> str:
        assert self._comparison is not None
        versions = (self._comparison.before, self._comparison.after)
        before, after = (version.document.unfolded.graph for version in versions)
        sides = [
            graph.ops[graph.index[name]]
            for graph, name in ((before, change.before), (after, change.after))
            if name is not None and name in graph.index
        ]
        return " → ".join(dict.fromkeys(sides))
