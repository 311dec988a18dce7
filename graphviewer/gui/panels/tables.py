"""What the tables of the panels have in common: rows under headings, numbers to the right, one row chosen at a time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt
from PySide6.QtWidgets import QTableView, QWidget

Index = QModelIndex | QPersistentModelIndex
RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
_ROW = 22  # pixels


class TableModel(QAbstractTableModel):
    """Rows whose texts are asked for when they are looked at; the rows themselves are texts, or what a subclass reads.

    Attributes:
        HEADINGS: one per column.
        NUMBERS: columns that are aligned right.
        rows: what is shown.
    """

    HEADINGS: ClassVar[tuple[str, ...]] = ()
    NUMBERS: ClassVar[frozenset[int]] = frozenset()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.rows: Sequence[Any] = ()

    def show_rows(self, rows: Sequence[Any]) -> None:
        """Show other rows."""
        self.beginResetModel()
        self.rows = rows
        self.endResetModel()

    def refresh_columns(self, first: int, last: int) -> None:
        """Say that the same rows have other texts in these columns."""
        if self.rows:
            self.dataChanged.emit(self.index(0, first), self.index(len(self.rows) - 1, last))

    def text(self, row: Any, column: int) -> str:
        """What stands in a column of a row."""
        return str(row[column])

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self.rows)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self.HEADINGS)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if orientation == Qt.Orientation.Horizontal and role == Qt.ItemDataRole.DisplayRole:
            return self.HEADINGS[section]
        return super().headerData(section, orientation, role)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if role == Qt.ItemDataRole.DisplayRole:
            return self.text(self.rows[index.row()], index.column())
        if role == Qt.ItemDataRole.TextAlignmentRole and index.column() in self.NUMBERS:
            return RIGHT
        return None


def as_lines(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Rows as lines with tabs between the columns, headings first: what spreadsheets paste."""
    return "\n".join("\t".join(row) for row in (headings, *rows))


def as_list(table: QTableView) -> None:
    """Make a table one of whole rows without numbers, of which one at a time is chosen."""
    table.setShowGrid(False)
    table.setSelectionBehavior(QTableView.SelectionBehavior.SelectRows)
    table.setSelectionMode(QTableView.SelectionMode.SingleSelection)
    table.setTextElideMode(Qt.TextElideMode.ElideMiddle)
    table.verticalHeader().hide()
    table.verticalHeader().setDefaultSectionSize(_ROW)
    table.horizontalHeader().setDefaultAlignment(Qt.AlignmentFlag.AlignLeft)
    table.horizontalHeader().setHighlightSections(False)


def give_names_the_rest(table: QTableView, names: int, least: int) -> None:
    """Let the column of the names take the room that the other columns leave, and never too little to be read."""
    columns = range(table.model().columnCount())
    others = sum(table.columnWidth(at) for at in columns if at != names)  # a hidden one has none
    table.setColumnWidth(names, max(table.viewport().width() - others, least))
