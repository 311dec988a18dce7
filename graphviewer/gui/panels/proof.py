"""Whether the result computes the same as the original, and what a node computes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QFileDialog,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QSplitter,
    QTableWidget,
    QTableWidgetItem,
    QVBoxLayout,
    QWidget,
)

from graphviewer.gui.panels.feeds import FeedsForm, inputs_of
from graphviewer.gui.panels.proof_words import (
    RUN_COLUMNS,
    VERDICT_COLUMNS,
    difference_row,
    run_row,
    run_words,
    verdict_words,
)
from graphviewer.gui.panels.result import ResultView
from graphviewer.gui.panels.tables import as_list, give_names_the_rest
from graphviewer.gui.state.session import Session
from graphviewer.gui.state.versions import Comparison, Version
from graphviewer.gui.style.theme import Theme
from graphviewer.gui.words.texts import tip
from graphviewer.gui.work.prover import Prover

_NOTHING = "Open a graph first."
_VERIFY = "Runs original and result on the same inputs, in the background, and compares every output."
_RUN = "Runs the graph forward once: the selected node, or the chosen outputs."
_KERAS = "\nBefore is the model as Keras runs it; after is this graph."
_INSTEAD = "Compares with an output of the original that draws no random numbers."
_MOST_OUTPUTS = 16
_NO_ORIGINAL = "Verify compares a result with what it was made from: apply an operation, or compare with another graph."
_LONGEST = 24
_GAP = 4  # pixels between columns
_LEAST_NAME, _WIDEST = 90, 220


class _Table(QTableWidget):
    """Rows of texts; the names in the first column take the room that the others leave."""

    def __init__(self) -> None:
        super().__init__(wordWrap=False)
        as_list(self)
        self.setEditTriggers(QTableWidget.EditTrigger.NoEditTriggers)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._give_names_the_rest()

    def fill(self, titles: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        """Show other rows under other headings."""
        self.clear()
        self.setColumnCount(len(titles))
        self.setRowCount(len(rows))
        self.setHorizontalHeaderLabels(titles)
        for at, row in enumerate(rows):
            for column, text in enumerate(row):
                item = QTableWidgetItem(text)
                item.setToolTip(tip(text))
                self.setItem(at, column, item)
        self.resizeColumnsToContents()
        for column in range(1, len(titles)):
            self.setColumnWidth(column, min(self.columnWidth(column) + _GAP, _WIDEST))
        self._give_names_the_rest()

    def _give_names_the_rest(self) -> None:
        give_names_the_rest(self, 0, max(self.viewport().width() // 4, _LEAST_NAME))


class ProofPanel(QWidget):
    """Two buttons, what to feed, the verdict in words, a table of outputs, and what one of them holds."""

    def __init__(self, session: Session, prover: Prover, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session, self._prover = session, prover
        self._ran: tuple[Version, Mapping[str, Any]] | None = None
        self.verify_button, self.run_button = QPushButton("Verify", objectName="primary"), QPushButton("Run")
        self.instead_button = QPushButton(visible=False)
        self.instead_button.setToolTip(_INSTEAD)
        self.instead_button.clicked.connect(self._verify_instead)
        self.cancel_button = QPushButton("Cancel", visible=False)
        self.cancel_button.clicked.connect(prover.cancel)
        self.verify_button.setToolTip(_VERIFY)
        self.run_button.setToolTip(_RUN)
        self.words = QLabel(wordWrap=True, textFormat=Qt.TextFormat.PlainText)
        self.feeds = FeedsForm()
        self._seen = False
        self.table = _Table()
        self.result = ResultView(session.background, theme)
        self._lay_out()
        self._connect()
        self.refresh()

    def _lay_out(self) -> None:
        line = QHBoxLayout()
        line.addWidget(self.words, 1)
        line.addWidget(self.instead_button)
        line.addWidget(self.cancel_button)
        line.addWidget(self.run_button)
        line.addWidget(self.verify_button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(6, 4, 6, 4)
        layout.addLayout(line)
        below = QSplitter(Qt.Orientation.Horizontal, childrenCollapsible=False)
        below.addWidget(self.feeds)
        below.addWidget(self.table)
        below.addWidget(self.result)
        below.setSizes([230, 400, 770])
        for at, stretch in enumerate((0, 1, 2)):
            below.setStretchFactor(at, stretch)
        layout.addWidget(below, 1)
        layout.addStretch()

    def _connect(self) -> None:
        session, prover = self._session, self._prover
        self.verify_button.clicked.connect(self.verify)
        self.run_button.clicked.connect(self.run)
        self.table.currentCellChanged.connect(lambda row, *_others: self._show_output(row))
        self.result.save_requested.connect(self._ask_save)
        prover.changed.connect(self.refresh)
        prover.ran.connect(self._show_run)
        signals = (
            session.current_changed,
            session.selection_changed,
            session.endpoints_changed,
            session.suggestions_changed,
            session.tabs_changed,
        )
        for signal in signals:
            signal.connect(self.refresh)

    def set_theme(self, theme: Theme) -> None:
        """Use other colours."""
        self.result.set_theme(theme)

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
            self._prover.verify(*pair, self.feeds.given())

    def _verify_instead(self) -> None:
        """Compare with the outputs that the last verdict names."""
        pair, found = self._pair(), self._verdict()
        if pair is not None and found is not None:
            self._prover.verify(*pair, self.feeds.given(), found["instead"])

    def _verdict(self) -> Mapping[str, Any] | None:
        """What is known about the current tab; of a graph that was made of a Keras model, against that."""
        pair, current = self._pair(), self._session.current
        if pair is not None:
            return self._prover.verdict(*pair)
        return current.origin_verdict if isinstance(current, Version) else None

    def run(self) -> None:
        """Run the selected node, or the chosen outputs."""
        version, targets = self._to_run()
        if version is not None:
            self._prover.run(version, targets, self.feeds.given())

    def _to_run(self) -> tuple[Version | None, list[str]]:
        """The graph that a run is of, and the tensors: all of the selected node, or else the chosen outputs."""
        current, selection, version = self._session.current, self._session.selection, self._session.version
        if version is None:
            return None, []
        if selection is not None and not selection.is_scope:
            owner, named = current.inspected(selection) if isinstance(current, Comparison) else (version, selection)
            if named.path in owner.document.graph.index:
                return owner, tensors_of(owner, named.path)
        return version, [str(one) for one in version.family.outputs if one.node in version.document.graph.index]

    def set_seen(self, is_seen: bool) -> None:
        """Whether the panel is in front: what to feed is looked for only then."""
        self._seen = is_seen
        self._refresh_feeds()

    def _refresh_feeds(self) -> None:
        version, targets = self._to_run() if self._seen else (self._session.version, [])
        if version is None:
            self.feeds.show_inputs(())
        elif self._seen and not self._prover.is_running:
            self.feeds.show_inputs(inputs_of(version, targets))

    def refresh(self) -> None:
        """Show what is known about the current tab."""
        self._refresh_feeds()
        version, pair = self._session.version, self._pair()
        self.cancel_button.setVisible(self._prover.is_running)
        self.result.hide()
        if self._ran is not None and self._ran[0] not in self._session.tabs:
            self._ran = None
        self.verify_button.setEnabled(pair is not None and not self._prover.is_running)
        self.verify_button.setToolTip(_VERIFY if pair is not None else _NO_ORIGINAL)
        self.run_button.setEnabled(version is not None and not self._prover.is_running)
        found = self._verdict()
        self._offer_instead(found["instead"] if found is not None and not self._prover.is_running else ())
        if self._prover.is_running:
            self.words.setText(f"Running: {self._prover.state or 'waiting for the background process'} …")
        elif version is None:
            self.words.setText(_NOTHING)
        elif self._ran is not None and self._ran[0] in self._shown_versions():
            self._fill_run(self._ran[1])
            return
        elif found is not None:
            self._fill_verdict(found)
            return
        else:
            self.words.setText(_VERIFY if pair is not None else f"{_RUN} {_NO_ORIGINAL}")
        self.table.hide()

    def _offer_instead(self, pairs: Sequence[str]) -> None:
        """Offer outputs to compare, each as ``ORIGINAL=RESULT``; none: offer nothing."""
        name = pairs[0].partition("=")[0] if pairs else ""
        self.instead_button.setText(f"Compare With {name if len(name) <= _LONGEST else '…' + name[-_LONGEST:]}")
        self.instead_button.setVisible(bool(pairs))

    def _fill_verdict(self, found: Mapping[str, Any]) -> None:
        against = "" if self._pair() is not None else _KERAS
        self.words.setText(verdict_words(found) + against)
        self._fill(VERDICT_COLUMNS, [difference_row(one) for one in found["outputs"]])

    def _shown_versions(self) -> tuple[Version, ...]:
        current = self._session.current
        if isinstance(current, Comparison):
            return current.before, current.after
        return () if current is None else (current,)

    def _show_run(self, version: Version, found: Mapping[str, Any]) -> None:
        self._ran = (version, found)

    def _fill_run(self, found: Mapping[str, Any]) -> None:
        self.words.setText(run_words(found["feeds"]))
        rows = list(map(run_row, found["outputs"]))
        at = max(self.table.currentRow(), 0)
        self._fill(RUN_COLUMNS, rows)
        self.table.setVisible(len(rows) > 1)  # of one, the view beside it says all
        if rows:
            self.table.selectRow(min(at, len(rows) - 1))
            self._show_output(min(at, len(rows) - 1))

    def _show_output(self, row: int) -> None:
        if self._ran is not None and 0 <= row < len(self._ran[1]["outputs"]):
            self.result.show_output(self._ran[1]["outputs"][row])
            self.result.show()

    def _ask_save(self, output: Mapping[str, Any]) -> None:
        """Let the user name a file for the values of a tensor."""
        values = Path(output["file"])
        path, _ = QFileDialog.getSaveFileName(self, "Save Values", values.name, "Array (*.npy)")
        if path:
            self._prover.save(values, Path(path if Path(path).suffix else f"{path}.npy"))

    def _fill(self, titles: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        self.table.blockSignals(True)  # the current row comes and goes with the rows
        self.table.fill(titles, rows)
        self.table.setVisible(bool(rows))
        self.table.blockSignals(False)


def tensors_of(version: Version, name: str) -> list[str]:
    """The tensors of a node that hold values, not handles of resources; the node where none is known."""
    from graphviewer.operations.tensor_types import output_dtypes
    from graphviewer.protos import DataType

    document = version.document
    dtypes = output_dtypes(document, document.graph.index[name]) or []
    ports = [port for port, dtype in enumerate(dtypes) if dtype not in (DataType.RESOURCE, DataType.VARIANT)]
    return [f"{name}:{port}" for port in ports[:_MOST_OUTPUTS]] if len(dtypes) > 1 and ports else [name]
