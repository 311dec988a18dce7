"""What is wrong with the current graph, node by node."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QTreeWidget, QTreeWidgetItem, QVBoxLayout, QWidget

from graphviewer.gui.state.session import Selection, Session
from graphviewer.gui.words.texts import readable, tip
from graphviewer.gui.work.analyst import Analyst
from graphviewer.model.problem import Problem

_SIGNS = {"error": "✕ error", "warning": "! warning", "info": "i info"}
_MOST = 1_000


class ProblemsPanel(QWidget):
    """The problems of the current version; a click goes to the node."""

    def __init__(self, session: Session, analyst: Analyst, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self.state = QLabel(objectName="subtle", wordWrap=True, textFormat=Qt.TextFormat.PlainText)
        self.list = QTreeWidget(rootIsDecorated=False, uniformRowHeights=True)
        self.list.setHeaderLabels(["Severity", "Node", "Problem", "What to do"])
        for column, width in enumerate((90, 260, 420)):
            self.list.setColumnWidth(column, width)
        self.list.itemClicked.connect(self._go)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(6, 4, 6, 4)
        layout.addWidget(self.state)
        layout.addWidget(self.list, 1)
        layout.addStretch()
        session.current_changed.connect(self.refresh)
        analyst.checked.connect(self.refresh)

    def refresh(self) -> None:
        """Show the problems of the current version."""
        version = self._session.version
        self.list.clear()
        self.list.hide()
        if version is None:
            self.state.setText("")
        elif version.problems is None:
            self.state.setText("Checking …")
        else:
            self._show(version.problems, version.problem_count, version.notes)

    def _show(self, found: Sequence[Problem], total: int, notes: Sequence[str]) -> None:
        more = f"; the first {_MOST:,} are listed" if total > _MOST else ""
        count = f"{total:,} problem{'s' if total != 1 else ''} found{more}." if found else "No problems found."
        self.state.setText(readable(" ".join([count, *notes])))
        self.list.setVisible(bool(found))
        for problem in found[:_MOST]:
            row = [_SIGNS[problem.severity], problem.node, problem.reason, problem.hint]
            item = QTreeWidgetItem(self.list, row)
            item.setData(0, Qt.ItemDataRole.UserRole, problem.node)
            for column, text in enumerate(row):
                item.setToolTip(column, tip(text))

    def _go(self, item: QTreeWidgetItem) -> None:
        name = item.data(0, Qt.ItemDataRole.UserRole)
        if name:
            self._session.select(Selection(name), reveal=True)
