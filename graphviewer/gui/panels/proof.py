"""Whether the result computes the same as the original, and what a node computes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QTableWidget, QTableWidgetItem, QVBoxLayout, QWidget

from graphviewer.gui.state.session import Session
from graphviewer.gui.state.versions import Comparison, Version
from graphviewer.gui.words.texts import tip
from graphviewer.gui.work.prover import Prover, speed_line

_NOTHING = "Open a graph first."
_VERIFY = "Runs original and result on the same made-up inputs, in the background, and compares every output."
_RUN = "Runs the graph forward once on made-up inputs: the selected node, or the chosen outputs."
_VERDICTS = {"same": "✓ The same", "different": "✕ Different", "cannot": "? Not verified"}


class ProofPanel(QWidget):
    """Two buttons, the verdict in words, and a table of outputs."""

    def __init__(self, session: Session, prover: Prover, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session, self._prover = session, prover
        self._ran: tuple[Version, Mapping[str, Any]] | None = None
        self.verify_button, self.run_button = QPushButton("Verify", objectName="primary"), QPushButton("Run")
        self.cancel_button = QPushButton("Cancel", visible=False)
        self.cancel_button.clicked.connect(prover.cancel)
        self.verify_button.setToolTip(_VERIFY)
        self.run_button.setToolTip(_RUN)
        self.words = QLabel(wordWrap=True, textFormat=Qt.TextFormat.PlainText)
        self.table = QTableWidget(showGrid=False)
        self.table.verticalHeader().hide()
        self.table.horizontalHeader().setDefaultAlignment(Qt.AlignmentFlag.AlignLeft)
        self.table.horizontalHeader().setStretchLastSection(True)
        self.table.setEditTriggers(QTableWidget.EditTrigger.NoEditTriggers)
        line = QHBoxLayout()
        line.addWidget(self.words, 1)
        line.addWidget(self.cancel_button)
        line.addWidget(self.run_button)
        line.addWidget(self.verify_button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(6, 4, 6, 4)
        layout.addLayout(line)
        layout.addWidget(self.table, 1)
        layout.addStretch()
        self.verify_button.clicked.connect(self.verify)
        self.run_button.clicked.connect(self.run)
        prover.changed.connect(self.refresh)
        prover.ran.connect(self._show_run)
        for signal in (session.current_changed, session.selection_changed, session.endpoints_changed):
            signal.connect(self.refresh)
        self.refresh()

    def _pair(self) -> tuple[Version, Version] | None:
        """What Verify compares: both sides of the comparison, or a result and what it was made from."""
        current = self._session.current
        if isinstance(current, Comparison):
            return current.before, current.after
        return (current.parent, current) if current is not None and current.parent is not None else None

    def verify(self) -> None:
        """Verify the current result."""
        pair = self._pair()
        if pair is not None:
            self._ran = None
            self._prover.verify(*pair)

    def run(self) -> None:
        """Run the selected node, or the chosen outputs."""
        version = self._session.version
        if version is not None:
            self._prover.run(version, self._targets(version))

    def _targets(self, version: Version) -> list[str]:
        selection, index = self._session.selection, version.document.graph.index
        if selection is not None and not selection.is_scope and selection.path in index:
            return [selection.path]
        return [str(one) for one in version.family.outputs if one.node in index]

    def refresh(self) -> None:
        """Show what is known about the current tab."""
        version, pair = self._session.version, self._pair()
        self.cancel_button.setVisible(self._prover.is_running)
        if self._ran is not None and self._ran[0] not in self._session.tabs:
            self._ran = None
        self.verify_button.setEnabled(pair is not None and not self._prover.is_running)
        self.run_button.setEnabled(version is not None and not self._prover.is_running)
        found = self._prover.verdict(*pair) if pair is not None else None
        if self._prover.is_running:
            self.words.setText(f"Running: {self._prover.state or 'waiting for the background process'} …")
        elif version is None:
            self.words.setText(_NOTHING)
        elif self._ran is not None and self._ran[0] is version:
            self._fill_run(self._ran[1])
            return
        elif found is not None:
            self._fill_verdict(found)
            return
        else:
            self.words.setText(_VERIFY if pair is not None else _RUN)
        self.table.hide()

    def _fill_verdict(self, found: Mapping[str, Any]) -> None:
        parts = [f"{_VERDICTS[found['verdict']]}: {found['reason']}.", speed_line(found), found["hint"]]
        self.words.setText("  ".join(part for part in parts if part))
        rows = [
            (one["name"], _number(one["max_abs"]), _number(one["max_rel"]), "equal" if one["nan_equal"] else "differ")
            for one in found["outputs"]
        ]
        self._fill(("Output", "Largest difference", "Relative", "NaNs"), rows)

    def _show_run(self, version: Version, found: Mapping[str, Any]) -> None:
        self._ran = (version, found)

    def _fill_run(self, found: Mapping[str, Any]) -> None:
        fed = ", ".join(str(feed["name"]) for feed in found["feeds"])
        self.words.setText(f"Ran once on made-up values for {fed}." if fed else "Ran once; nothing had to be fed.")
        rows = [
            (one["name"], one["dtype"], str(one["shape"]), *(_number(one[key]) for key in ("min", "max", "mean")))
            for one in found["outputs"]
        ]
        self._fill(("Tensor", "Dtype", "Shape", "Min", "Max", "Mean"), rows)

    def _fill(self, titles: tuple[str, ...], rows: list[tuple[str, ...]]) -> None:
        self.table.clear()
        self.table.setColumnCount(len(titles))
        self.table.setRowCount(len(rows))
        self.table.setHorizontalHeaderLabels(titles)
        for at, row in enumerate(rows):
            for column, text in enumerate(row):
                item = QTableWidgetItem(text)
                item.setToolTip(tip(text))
                self.table.setItem(at, column, item)
        for column in range(len(titles)):
            self.table.setColumnWidth(column, 140 if column else 300)
        self.table.setVisible(bool(rows))


def _number(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, int | float) else "—"
