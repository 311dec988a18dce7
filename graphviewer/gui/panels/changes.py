"""Every change of a comparison with its reason, and the totals before and after."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, QSortFilterProxyModel, Qt
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QLabel, QLineEdit, QTableView, QVBoxLayout, QWidget

from graphviewer.gui.panels.bars import BeforeAfterBars, Total
from graphviewer.gui.panels.change_groups import GROUPINGS, GroupsModel
from graphviewer.gui.state.session import Selection, Session
from graphviewer.gui.state.versions import Comparison
from graphviewer.gui.style.theme import Theme
from graphviewer.gui.words.texts import tip

if TYPE_CHECKING:
    from graphviewer.analysis.diff import Change

Index = QModelIndex | QPersistentModelIndex
SIGNS = {"removed": "−", "added": "+", "converted": "→", "spliced": "⤳", "renamed": "≈", "changed": "~", "rewired": "⇄"}
_COLUMNS = ("Status", "Node", "Op", "Reason")


class ChangesModel(QAbstractTableModel):
    """Changes as rows."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.theme = theme
        self.changes: Sequence[Change] = ()
        self._comparison: Comparison | None = None

    def set_comparison(self, comparison: Comparison | None) -> None:
        """Show the changes of another comparison."""
        self.beginResetModel()
        self._comparison = comparison
        self.changes = comparison.diff.changes if comparison else ()
        self.endResetModel()

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self.changes)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return len(_COLUMNS)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if orientation == Qt.Orientation.Horizontal and role == Qt.ItemDataRole.DisplayRole:
            return _COLUMNS[section]
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        change = self.changes[index.row()]
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
        role = str(change.details.get("role", "")).replace("_", " ")
        return f"{role}: {change.reason}" if role and role not in change.reason else change.reason

    def _op(self, change: Change) -> str:
        assert self._comparison is not None
        before, after = self._comparison.before.document.graph, self._comparison.after.document.graph
        sides = [
            graph.ops[graph.index[name]]
            for graph, name in ((before, change.before), (after, change.after))
            if name is not None and name in graph.index
        ]
        return " → ".join(dict.fromkeys(sides))


class ChangesPanel(QWidget):
    """Filter, counts and table; a click goes to the node."""

    def __init__(self, session: Session, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self.totals = QLabel("Run an operation, or compare two versions.", objectName="totals", wordWrap=True)
        self.bars = BeforeAfterBars(theme)
        self.grouping = QComboBox()
        self.grouping.addItems(["each change", *GROUPINGS])
        self.groups = GroupsModel(self)
        self.status = QComboBox()
        self.status.addItems(["all changes", *SIGNS])
        self.filter = QLineEdit(placeholderText="Filter by name, op or reason", clearButtonEnabled=True)
        self.model = ChangesModel(theme, self)
        self.shown = QSortFilterProxyModel(self, filterCaseSensitivity=Qt.CaseSensitivity.CaseInsensitive)
        self.shown.setSourceModel(self.model)
        self.table = QTableView(sortingEnabled=False, showGrid=False, wordWrap=False)
        self.table.setModel(self.shown)
        self._lay_out()
        self.grouping.currentTextChanged.connect(self._group)
        self.status.currentTextChanged.connect(self._filter)
        self.filter.textChanged.connect(self._filter)
        self.table.clicked.connect(self._go)
        self.table.activated.connect(self._go)
        session.current_changed.connect(self.refresh)
        session.overlay_changed.connect(self._group_roles)

    def _lay_out(self) -> None:
        self.table.setSelectionBehavior(QTableView.SelectionBehavior.SelectRows)
        self.table.setSelectionMode(QTableView.SelectionMode.SingleSelection)
        self.table.verticalHeader().hide()
        self.table.verticalHeader().setDefaultSectionSize(22)
        self.table.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        header = self.table.horizontalHeader()
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft)
        header.setStretchLastSection(True)
        self._size_columns()
        line = QHBoxLayout()
        line.addWidget(self.totals, 1)
        line.addWidget(self.grouping)
        line.addWidget(self.status)
        line.addWidget(self.filter, 1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(6, 4, 6, 4)
        layout.addWidget(self.bars)
        layout.addLayout(line)
        layout.addWidget(self.table)

    def _size_columns(self) -> None:
        widths = (104, 250, 150) if self.is_listing else (240, 90, 90, 100)
        for column, width in enumerate(widths):
            self.table.setColumnWidth(column, width)

    @property
    def is_listing(self) -> bool:
        """Whether every change has a row of its own."""
        return self.grouping.currentIndex() == 0

    def _group(self) -> None:
        """List the changes, or sum them up."""
        current, text = self._session.current, self.grouping.currentText()
        if self.is_listing:
            self.shown.setSourceModel(self.model)
        else:
            self.groups.set_groups(GROUPINGS[text](current) if isinstance(current, Comparison) else ())
            self.shown.setSourceModel(self.groups)
        self.status.setEnabled(self.is_listing)
        self._size_columns()
        self._filter()

    def _group_roles(self) -> None:
        """Roles arrive later than the comparison."""
        if self.grouping.currentText() == "by role":
            self._group()

    def set_theme(self, theme: Theme) -> None:
        """Colour the statuses anew."""
        self.model.theme = theme
        self.bars.set_theme(theme)
        self.table.viewport().update()

    def refresh(self) -> None:
        """Show the current comparison, or say how to get one."""
        current = self._session.current
        comparison = current if isinstance(current, Comparison) else None
        self.model.set_comparison(comparison)
        self._group()
        self.totals.setVisible(comparison is None)
        self.bars.setVisible(comparison is not None)
        self.bars.show_totals(totals_of(comparison) if comparison is not None else ())

    def _filter(self) -> None:
        status = self.status.currentText()
        text = self.filter.text().strip()
        self.shown.setFilterKeyColumn(0 if not text else -1)
        every = not self.is_listing or self.status.currentIndex() == 0
        self.shown.setFilterFixedString(text or ("" if every else status))

    def _go(self, index: QModelIndex) -> None:
        row = self.shown.mapToSource(index).row()
        if self.is_listing:
            self.go_to(row)
        elif (selection := self.groups.groups[row].selection) is not None:
            self._session.select(selection, reveal=True)

    def go_to(self, row: int) -> None:
        """Select the node of a change in all views."""
        change = self.model.changes[row]
        self._session.select(Selection(change.after or change.before or ""), reveal=True)

    def step(self, by: int) -> None:
        """Go to the next (1) or previous (-1) change in the table's order."""
        if not self.is_listing:
            self.grouping.setCurrentIndex(0)
        rows = self.shown.rowCount()
        if rows:
            at = self.table.currentIndex().row()
            row = (at + by) % rows if at >= 0 else (0 if by > 0 else rows - 1)
            self.table.selectRow(row)
            self._go(self.shown.index(row, 0))


def totals_of(comparison: Comparison) -> list[Total]:
    """Nodes, parameters, bytes and op kinds before and after."""
    before, after = comparison.totals
    return [
        Total("Nodes", before.nodes, after.nodes),
        Total("Params", before.parameters, after.parameters),
        Total("Bytes", before.bytes, after.bytes),
        Total("Ops", len(before.ops), len(after.ops)),
    ]
