"""The changes of a comparison as rows of a table, all of them or those that fit a filter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from graphviewer.gui.canvas.signs import STATUS_SIGNS
from graphviewer.gui.panels.tables import Index, TableModel, as_lines
from graphviewer.gui.state.versions import Comparison
from graphviewer.gui.style.theme import Theme
from graphviewer.gui.words.texts import tip
from graphviewer.model.overlay import role_label

if TYPE_CHECKING:
    from graphviewer.analysis.diff import Change

SIGNS = {status: mark for status, mark in STATUS_SIGNS.items() if mark}
REASON = 3
"""The column of the sentences."""


class ChangesModel(TableModel):
    """Changes as rows.

    A filter of Qt's would ask for the texts of every row in the GUI thread: a fifth of a second for 15,000 changes.

    Attributes:
        changes: all of them.
        rows: numbers of those that are shown.
    """

    HEADINGS = ("Status", "Node", "Op", "Reason")

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.theme = theme
        self.changes: Sequence[Change] = ()
        self._comparison: Comparison | None = None

    def set_comparison(self, comparison: Comparison | None) -> None:
        """Show the changes of another comparison."""
        self._comparison = comparison
        self.changes = comparison.changes if comparison else ()
        self.show_rows(range(len(self.changes)))

    def take_reasons(self, comparison: Comparison) -> None:
        """Show the same changes with other reasons, the rows as they are."""
        if comparison is self._comparison and comparison.changes is not self.changes and self.rows:
            self.changes = comparison.changes
            self.refresh_columns(0, REASON)

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
        changes = [self.changes[row] for row in rows]
        return as_lines(self.HEADINGS, ([one.status, *(self._text(one, at) for at in (1, 2, 3))] for one in changes))

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        change = self.changes[self.rows[index.row()]]
        if role == Qt.ItemDataRole.ToolTipRole:
            return tip(f"{change.before or '—'} → {change.after or '—'}\n{change.reason}")
        if role == Qt.ItemDataRole.ForegroundRole and index.column() == 0:
            return self.theme.category("diff", change.status).text
        return super().data(index, role)

    def text(self, row: int, column: int) -> str:
        return self._text(self.changes[row], column)

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
