"""The variables of the current version against its checkpoint, their values, and the lines that restore them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from weakref import WeakKeyDictionary

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QSortFilterProxyModel, Qt
from PySide6.QtGui import QFontDatabase, QGuiApplication, QResizeEvent
from PySide6.QtWidgets import (
    QComboBox,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QPushButton,
    QSizePolicy,
    QSplitter,
    QTableView,
    QTabWidget,
    QVBoxLayout,
    QWidget,
)

from graphviewer.gui.panels.histogram import Histogram
from graphviewer.gui.panels.tables import as_list, give_names_the_rest
from graphviewer.gui.panels.variables_model import COLUMNS, STATUS, STATUSES, VariablesModel, note
from graphviewer.gui.state.session import Selection, Session
from graphviewer.gui.state.versions import Version
from graphviewer.gui.style.theme import Theme
from graphviewer.gui.work.jobs import Callbacks, Jobs
from graphviewer.worker.protocol import Failed

_WIDTHS = (130, 150, 108, 62, 80, 60, 46, 58, 58, 58)
_NAME, _LEAST_NAME = COLUMNS.index("Variable"), 130
_URGENT = {"only_graph": 0, "differs": 1, "only_checkpoint": 2, "both": 3}
"""The order of the rows until a column is clicked: what has no value first."""
_AT_ONCE = 100
"""Variables per job when all values are asked for: other questions get their turn in between."""


class _Rows(QSortFilterProxyModel):
    """The rows of a status whose name or note holds a text."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(
            parent, filterCaseSensitivity=Qt.CaseSensitivity.CaseInsensitive, sortRole=Qt.ItemDataRole.UserRole
        )
        self._status = ""

    def show_status(self, status: str) -> None:
        """Show rows of one status; empty: of all."""
        self._status = status
        self.invalidate()

    def filterAcceptsRow(self, row: int, parent: QModelIndex | QPersistentModelIndex) -> bool:
        status = self.sourceModel().index(row, 0, parent).data(STATUS)
        return self._status in ("", status) and super().filterAcceptsRow(row, parent)


class _Table(QTableView):
    """Its names take the room that the other columns leave, and never too little to be read."""

    def __init__(self) -> None:
        super().__init__(sortingEnabled=True, wordWrap=False)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.give_names_the_rest()

    def give_names_the_rest(self) -> None:
        """Fit the columns to the width of the table."""
        give_names_the_rest(self, _NAME, _LEAST_NAME)


class VariablesPanel(QWidget):
    """Asks the worker when it is looked at: for the rows once per version, for values as they are wanted."""

    def __init__(self, session: Session, jobs: Jobs, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session, self._jobs = session, jobs
        self._found: WeakKeyDictionary[Version, Mapping[str, Any]] = WeakKeyDictionary()
        self._values: WeakKeyDictionary[Version, dict[str, Mapping[str, Any]]] = WeakKeyDictionary()
        self._shown: Version | None = None
        self._seen = False
        self._names: dict[str, str] = {}
        self.totals = QLabel(objectName="totals", wordWrap=True, textFormat=Qt.TextFormat.PlainText)
        self.status = QComboBox()
        self.filter = QLineEdit(placeholderText="Filter by name", clearButtonEnabled=True)
        self.all_values = QPushButton("Values of all")
        self.all_values.setToolTip("Read every variable and fill in minimum, maximum and mean")
        self.model = VariablesModel(theme, self)
        self.rows = _Rows(self)
        self.table = _Table()
        self.histogram = Histogram(theme)
        self.numbers = QLabel(objectName="subtle", wordWrap=True, textFormat=Qt.TextFormat.PlainText)
        self.lines = QPlainTextEdit(readOnly=True, lineWrapMode=QPlainTextEdit.LineWrapMode.NoWrap)
        self.copy = QPushButton("Copy")
        self.offer = QLabel(objectName="warning", wordWrap=True, textFormat=Qt.TextFormat.PlainText)
        self._build()
        self._connect()
        self.refresh()

    def _build(self) -> None:
        self.status.addItem("all", "")
        for status, text in STATUSES.items():
            self.status.addItem(text, status)
        self.totals.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.rows.setSourceModel(self.model)
        self.rows.setFilterKeyColumn(1)
        self.table.setModel(self.rows)
        self.table.sortByColumn(-1, Qt.SortOrder.AscendingOrder)
        as_list(self.table)
        for column, width in enumerate(_WIDTHS):
            self.table.setColumnWidth(column, width)
        self.lines.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        self._lay_out()

    def _lay_out(self) -> None:
        values, paste = QWidget(), QWidget()
        column = QVBoxLayout(values)
        column.setContentsMargins(4, 4, 4, 4)
        column.addWidget(self.histogram, 1)
        column.addWidget(self.numbers)
        column = QVBoxLayout(paste)
        column.setContentsMargins(4, 4, 4, 4)
        column.addWidget(self.offer)
        column.addWidget(self.lines, 1)
        column.addWidget(self.copy, 0, Qt.AlignmentFlag.AlignRight)
        self.pages = QTabWidget()
        self.pages.addTab(values, "Values")
        self.pages.addTab(paste, "Lines to paste")
        self.pages.setMinimumHeight(80)  # what lies behind another panel decides nothing about the height of all
        split = QSplitter(Qt.Orientation.Horizontal, childrenCollapsible=False)
        split.addWidget(self.table)
        split.addWidget(self.pages)
        split.setStretchFactor(0, 4)
        split.setStretchFactor(1, 1)
        split.setSizes([840, 260])
        line = QHBoxLayout()
        for widget, stretch in ((self.totals, 2), (self.status, 0), (self.filter, 1), (self.all_values, 0)):
            line.addWidget(widget, stretch)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(6, 4, 6, 4)
        layout.addLayout(line)
        layout.addWidget(split, 1)

    def _connect(self) -> None:
        self.status.activated.connect(lambda _at: self.rows.show_status(self.status.currentData()))
        self.filter.textChanged.connect(self.rows.setFilterFixedString)
        self.table.clicked.connect(self._go)
        self.table.activated.connect(self._go)
        self.all_values.clicked.connect(self._ask_all_values)
        self.copy.clicked.connect(self._copy)
        self._session.current_changed.connect(self.refresh)
        self._session.selection_changed.connect(self._follow_selection)

    def set_theme(self, theme: Theme) -> None:
        """Use other colours."""
        self.model.theme = theme
        self.histogram.set_theme(theme)
        self.table.viewport().update()

    def set_seen(self, seen: bool) -> None:
        """Whether the panel is in front: Qt calls a panel behind another tab visible, too."""
        self._seen = seen
        self.refresh()

    # -- rows ---------------------------------------------------------------------------------------------------

    def refresh(self) -> None:
        """Show the variables of the current version; ask for them when the panel can be seen."""
        version = self._session.version
        if version is not None and version not in self._found and self._seen:
            self._ask(version)
        if version is not self._shown or version is None:
            self._show(version)

    def _ask(self, version: Version) -> None:
        checkpoint = version.document.checkpoint
        request = {"path": str(version.file), "checkpoint": str(checkpoint) if checkpoint is not None else None}

        def done(found: Mapping[str, Any]) -> None:
            self._found[version] = found
            if version is self._session.version:
                self._show(version)

        def failed(failure: Failed) -> None:
            if version is self._session.version:
                self.totals.setText(f"{failure.message} {failure.hint}")

        self._jobs.submit("variables", request, Callbacks(done, failed), key=f"variables-{id(version)}")

    def _show(self, version: Version | None) -> None:
        found = self._found.get(version) if version is not None else None
        self._shown = version if found is not None else None
        self._show_values({})
        self._names = _drawn_names(version) if version is not None and found is not None else {}
        if version is None or found is None:
            self.model.set_rows((), {})
            self.totals.setText("Looking for variables …" if version is not None else "")
            self._show_lines((), "")
            return
        rows = sorted(found["variables"], key=lambda row: _URGENT[row["status"]])
        self.model.set_rows(rows, self._values.setdefault(version, {}), self._names)
        self._show_value_columns()
        self.totals.setText(totals_text(found))
        for at, status in enumerate(STATUSES, 1):
            self.status.setItemText(at, f"{STATUSES[status]} ({found['counts'].get(status, 0):,})")
        self.all_values.setText("Values of all")
        self.all_values.setEnabled(found["checkpoint"] is not None)
        self._show_lines(found["lines"], found["offer"]["text"] if found["offer"] else "")
        self.table.setColumnHidden(COLUMNS.index("Status"), set(found["counts"]) == {"only_checkpoint"})
        self.table.setColumnHidden(COLUMNS.index("Checkpoint"), not any(map(note, found["variables"])))
        self.table.setColumnHidden(COLUMNS.index("Parts"), not any(row["slices"] for row in found["variables"]))
        self.table.give_names_the_rest()
        self._follow_selection()

    def _show_lines(self, lines: Sequence[str], offer: str) -> None:
        self.lines.setPlainText("\n".join(lines))
        self.copy.setEnabled(bool(lines))
        self.offer.setText(offer)
        self.offer.setVisible(bool(offer))
        self.pages.setTabEnabled(1, bool(lines))

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self.lines.toPlainText() + "\n")
        self._session.said.emit("The lines are on the clipboard.")

    # -- selection ----------------------------------------------------------------------------------------------

    def _go(self, index: QModelIndex) -> None:
        row = self.model.rows[self.rows.mapToSource(index).row()]
        name = row["name"] or self._names.get(row["key"])
        if name:
            self._session.select(Selection(name), reveal=True)
        self._want_values(row)

    def _follow_selection(self) -> None:
        """Go to the row of the selected variable."""
        selection = self._session.selection
        if selection is None or selection.is_scope or not self._seen:
            return
        for at, row in enumerate(self.model.rows):
            if selection.path in (row["name"], self._names.get(row["key"] or "")):
                index = self.rows.mapFromSource(self.model.index(at, 0))
                if index.isValid() and index.row() != self.table.currentIndex().row():
                    self.table.selectRow(index.row())
                self._want_values(row)
                return

    # -- values -------------------------------------------------------------------------------------------------

    def _want_values(self, row: Mapping[str, Any]) -> None:
        """Show the values of a row, reading them first where nobody has."""
        version, key = self._shown, row["key"]
        prefix = self._found[version]["checkpoint"] if version is not None else None
        if prefix is None or key is None or row["status"] == "only_graph":
            self._show_values({"error": "The checkpoint has no value for this variable."})
        elif key in self.model.values:
            self._show_values(self.model.values[key])
        else:
            self._show_values({"error": "Reading …"})
            self._ask_values(prefix, [key], lambda: self._show_values(self.model.values.get(key, {})), "one")

    def _ask_values(self, prefix: str, keys: Sequence[str], then: Any, kind: str) -> None:
        version = self._shown

        def done(found: Mapping[str, Any]) -> None:
            if version is self._shown:
                self.model.add_values(found["values"])
                self._show_value_columns()
                then()

        def failed(failure: Failed) -> None:
            if version is self._shown:
                self._show_values({"error": f"{failure.message} {failure.hint}"})

        request = {"checkpoint": prefix, "keys": list(keys)}
        self._jobs.submit("values", request, Callbacks(done, failed), key=f"values-{kind}-{id(self)}")

    def _ask_all_values(self) -> None:
        version = self._shown
        if version is None or (prefix := self._found[version]["checkpoint"]) is None:
            return
        missing = [
            row["key"]
            for row in self.model.rows
            if row["key"] is not None and row["status"] != "only_graph" and row["key"] not in self.model.values
        ]
        self.all_values.setEnabled(not missing)
        self.all_values.setText(f"Values of all ({len(missing):,} to go)" if missing else "Values of all")
        if missing:
            self._ask_values(prefix, missing[:_AT_ONCE], self._ask_all_values, "all")

    def _show_value_columns(self) -> None:
        """Minimum, maximum and mean take no room before they are known of any variable."""
        for name in ("Min", "Max", "Mean"):
            self.table.setColumnHidden(COLUMNS.index(name), not self.model.values)
        self.table.give_names_the_rest()

    def _show_values(self, values: Mapping[str, Any]) -> None:
        self.histogram.show_bars(values.get("bars", ()), values.get("least") or 0.0, values.get("most") or 0.0)
        self.numbers.setText(numbers_text(values))


def totals_text(found: Mapping[str, Any]) -> str:
    """The share of the graph's variables that get a value, or what there is instead."""
    rows = found["variables"]
    if not rows:
        return "No variables."
    if found["checkpoint"] is None:
        return f"{len(rows):,} variables; there is no checkpoint beside the graph."
    if not found["lines"]:
        return f"{len(rows):,} variables in the checkpoint"
    text, counts = f"{found['coverage']:.0%} of the graph's variables get a value", found["counts"]
    told = {"only_graph": "{} {stay} uninitialised", "differs": "{} {have} another shape or type"}
    parts = [
        sentence.format(f"{count:,}", stay="stays" if count == 1 else "stay", have="has" if count == 1 else "have")
        for status, sentence in told.items()
        if (count := counts.get(status, 0))
    ]
    return ", ".join([text, *parts])


def numbers_text(values: Mapping[str, Any]) -> str:
    """What is known of a tensor's values, in a few lines."""
    if not values:
        return "Click a variable to see its values."
    if "error" in values:
        return values["error"]
    lines = [f"{values['count']:,} values: {values['sample']}"]
    if values["least"] is not None:
        mean, spread = (f"{one:.5g}" if one is not None else "too large" for one in (values["mean"], values["std"]))
        lines.append(f"mean {mean} ± {spread}, {values['zeros']:,} zeros")
    if values["odd"]:
        lines.append(f"⚠ {values['odd']:,} are NaN or infinite")
    return "\n".join(lines)


def _drawn_names(version: Version) -> dict[str, str]:
    """By key: the node that stands for it in the drawing of a checkpoint."""
    if version.document.kind != "checkpoint":
        return {}
    nodes = version.document.unfolded.graph_def.node
    return {node.attr["key"].s.decode("utf-8", "replace"): node.name for node in nodes if "key" in node.attr}
