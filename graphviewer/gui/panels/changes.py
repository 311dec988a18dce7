"""Every change of a comparison with its reason, and the totals before and after."""

from __future__ import annotations

from collections.abc import Callable
from weakref import WeakKeyDictionary, ref

from PySide6.QtCore import QAbstractItemModel, QModelIndex, QPersistentModelIndex, QSortFilterProxyModel, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QComboBox,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QVBoxLayout,
    QWidget,
)

from graphviewer.gui.panels.bars import BeforeAfterBars, Total
from graphviewer.gui.panels.change_groups import GROUPINGS, GroupsModel
from graphviewer.gui.panels.changes_model import REASON, SIGNS, ChangesModel
from graphviewer.gui.panels.tables import as_list
from graphviewer.gui.state.selection import AFTER, BEFORE, Selection
from graphviewer.gui.state.session import Session
from graphviewer.gui.state.versions import Comparison
from graphviewer.gui.style.theme import Theme

_FILTERING = "filter-changes"


class FromItsBeginning(QStyledItemDelegate):
    """Cuts a sentence at its end; of a name the end must be seen."""

    def initStyleOption(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> None:
        super().initStyleOption(option, index)
        option.textElideMode = Qt.TextElideMode.ElideRight


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
        self._filters: WeakKeyDictionary[Comparison, tuple[int, str]] = WeakKeyDictionary()
        self._filtered: Callable[[], Comparison | None] = lambda: None
        self.model = ChangesModel(theme, self)
        self.shown_groups = QSortFilterProxyModel(self, filterCaseSensitivity=Qt.CaseSensitivity.CaseInsensitive)
        self.shown_groups.setFilterKeyColumn(-1)
        self.shown_groups.setSourceModel(self.groups)
        self.table = QTableView(sortingEnabled=False, wordWrap=False)
        self.table.setModel(self.model)
        self._lay_out()
        self.grouping.currentTextChanged.connect(self._group)
        self.status.currentTextChanged.connect(self._filter)
        self.filter.textChanged.connect(self._filter)
        self.table.clicked.connect(self._go)
        self.table.setContextMenuPolicy(Qt.ContextMenuPolicy.ActionsContextMenu)
        self.table.addAction("Copy All Rows Shown", self.copy_rows)
        self.table.activated.connect(self._go)
        session.current_changed.connect(self.refresh)
        session.overlay_changed.connect(self._group_roles)

    def _lay_out(self) -> None:
        as_list(self.table)
        self.table.setItemDelegateForColumn(REASON, FromItsBeginning(self.table))
        self.table.horizontalHeader().setStretchLastSection(True)
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
        self.table.setMinimumHeight(48)

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
        if not self.is_listing:
            self.groups.show_rows(GROUPINGS[text](current) if isinstance(current, Comparison) else ())
        self._show_model(self.model if self.is_listing else self.shown_groups)
        self.status.setEnabled(self.is_listing)
        self._size_columns()
        self._filter()

    def _show_model(self, model: QAbstractItemModel) -> None:
        if self.table.model() is not model:
            chosen = self.table.selectionModel()
            self.table.setModel(model)
            chosen.deleteLater()  # the table makes another one and leaves this one behind

    def _group_roles(self) -> None:
        """Roles arrive later than the comparison, and reasons with them."""
        if isinstance(self._session.current, Comparison):
            self.model.take_reasons(self._session.current)
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
        if comparison is not None:
            self._swap_filter(comparison)
        self._group()
        self.totals.setVisible(comparison is None)
        self.bars.setVisible(comparison is not None)
        self.bars.show_totals(totals_of(comparison) if comparison is not None else ())

    def _swap_filter(self, comparison: Comparison) -> None:
        """Each comparison has a filter of its own; one that is made anew takes over that of the one before."""
        before, filtering = self._filtered(), (self.status.currentIndex(), self.filter.text())
        if before is comparison:
            return
        if before is not None:
            self._filters[before] = filtering
        if before is None or (before.before, before.after) != (comparison.before, comparison.after):
            filtering = self._filters.get(comparison, (0, ""))
        self._filtered = ref(comparison)
        for widget in (self.status, self.filter):
            widget.blockSignals(True)
        self.status.setCurrentIndex(filtering[0])
        self.filter.setText(filtering[1])
        for widget in (self.status, self.filter):
            widget.blockSignals(False)

    def _filter(self) -> None:
        status = self.status.currentText() if self.status.currentIndex() else ""
        text, model, background = self.filter.text().strip(), self.model, self._session.background
        background.drop(_FILTERING)
        if not self.is_listing:
            self.shown_groups.setFilterFixedString(text)
        elif text:
            work = lambda: model.fitting(status, text)  # noqa: E731
            background.submit("filter", _FILTERING, work, model.show_rows, self._session.failed.emit)
        else:
            model.show_rows(model.fitting(status, ""))

    def _go(self, index: QModelIndex) -> None:
        if self.is_listing:
            self.go_to(self.model.rows[index.row()])
        elif (selection := self.groups.rows[self.shown_groups.mapToSource(index).row()].selection) is not None:
            self._session.select(selection, reveal=True)

    def go_to(self, row: int) -> None:
        """Select the node of a change, by its number among all, in all views."""
        change = self.model.changes[row]
        side = BEFORE if change.after is None else AFTER
        self._session.select(Selection(change.name, False, side), reveal=True)

    def copy_rows(self) -> None:
        """Put the rows that are shown on the clipboard."""

        def then(text: str) -> None:
            QGuiApplication.clipboard().setText(text)
            lines = text.count("\n")
            self._session.said.emit(f"{lines:,} {'row is' if lines == 1 else 'rows are'} on the clipboard.")

        model, rows = self.model, self.model.rows
        if self.is_listing:
            work = lambda: model.text_of(rows)  # noqa: E731
            self._session.background.submit("filter", "copy-changes", work, then, self._session.failed.emit)
        else:
            then(self.groups.as_text())

    def step(self, by: int) -> None:
        """Go to the next (1) or previous (-1) change in the table's order."""
        if not self.is_listing:
            self.grouping.setCurrentIndex(0)
        rows = self.model.rowCount()
        if rows:
            at = self.table.currentIndex().row()
            row = (at + by) % rows if at >= 0 else (0 if by > 0 else rows - 1)
            self.table.selectRow(row)
            self._go(self.model.index(row, 0))


def totals_of(comparison: Comparison) -> list[Total]:
    """Nodes, parameters, bytes and op kinds before and after."""
    before, after = comparison.totals
    return [
        Total("Nodes", before.nodes, after.nodes),
        Total("Params", before.parameters, after.parameters),
        Total("Graph bytes", before.bytes, after.bytes),
        Total("Ops", len(before.ops), len(after.ops)),
    ]
