"""Outputs and inputs: what is chosen, what could be, and why."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QCompleter,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QSizePolicy,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from graphviewer.errors import UnknownNameError
from graphviewer.gui.panels.signatures import SignatureList
from graphviewer.gui.state.session import Selection, Session
from graphviewer.gui.words.texts import elided, readable, tip
from graphviewer.model.names import Endpoint

if TYPE_CHECKING:
    from graphviewer.analysis.suggestion import Suggestion


_ROOM, _LINE = 60, 32  # characters of a name: two lines of the list, or one


class EndpointList(QWidget):
    """The chosen outputs (or inputs), a line to type more, and ranked suggestions with their reasons."""

    def __init__(self, session: Session, kind: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session, self._kind = session, kind
        key = {"outputs": "O", "inputs": "I"}[kind]
        self.title = QLabel(f"<b>{kind.capitalize()}</b>")
        self.chosen = QListWidget(objectName="chosen")
        self.entry = QLineEdit(
            placeholderText=f"Type or paste a name, or press {key} on a node", clearButtonEnabled=True
        )
        self.problem = QLabel(objectName="problem", wordWrap=True, visible=False)
        self.heading = QLabel("Suggestions (double click to choose)", objectName="subtle")
        self.suggestions = QListWidget(objectName="suggestions")
        layout = QVBoxLayout(self)
        layout.setContentsMargins(6, 4, 6, 4)
        layout.setSpacing(3)
        for widget in (self.title, self.chosen, self.entry, self.problem, self.heading, self.suggestions):
            layout.addWidget(widget)
        self.chosen.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        layout.setStretchFactor(self.suggestions, 100)
        layout.addStretch(1)
        for listing in (self.chosen, self.suggestions):
            listing.setTextElideMode(Qt.TextElideMode.ElideMiddle)
            listing.itemClicked.connect(self._show)
            listing.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        # Names are short enough; of a reason, its begin: "…0% of the weights" would be another number.
        self.suggestions.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.suggestions.itemActivated.connect(self._use)
        self.entry.returnPressed.connect(self._typed)
        self.entry.textEdited.connect(self.problem.hide)
        self.entry.textEdited.connect(self._offer_names)
        session.current_changed.connect(self._forget_tab)
        for signal in (session.endpoints_changed, session.suggestions_changed, session.current_changed):
            signal.connect(session.turns.later(self.refresh))
        self.refresh()

    def refresh(self) -> None:
        """Show the current family's endpoints and candidates."""
        family = self._session.family
        chosen: list[Endpoint] = getattr(family, self._kind) if family else []
        self._fill_chosen(chosen)
        version = self._session.version
        candidates = getattr(version, f"suggested_{self._kind}") if version else ()
        self._fill_suggestions([one for one in candidates if one.endpoint not in chosen])
        self.setEnabled(family is not None)

    def _fill_chosen(self, chosen: Sequence[Endpoint]) -> None:
        self.chosen.clear()
        for endpoint in chosen:
            item = QListWidgetItem(self.chosen)
            item.setData(Qt.ItemDataRole.UserRole, endpoint)
            item.setToolTip(tip(str(endpoint)))
            self.chosen.setItemWidget(item, self._chosen_row(endpoint))
            item.setSizeHint(self.chosen.itemWidget(item).sizeHint())
        self.chosen.setVisible(bool(chosen))
        rows = min(len(chosen), 5)
        self.chosen.setFixedHeight(sum(self.chosen.sizeHintForRow(row) for row in range(rows)) + 4)

    def _chosen_row(self, endpoint: Endpoint) -> QWidget:
        row, remove = QWidget(), QToolButton(text="✕", autoRaise=True)
        layout = QHBoxLayout(row)
        layout.setContentsMargins(4, 0, 0, 0)
        version = self._session.version
        is_here = version is not None and endpoint.node in version.document.graph.index
        shown = elided(str(endpoint), _ROOM)
        label = QLabel(shown if is_here else f"{shown} (not here)", textFormat=Qt.TextFormat.PlainText)
        label.setEnabled(is_here)
        label.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        layout.addWidget(label, 1)
        remove.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        remove.setToolTip(f"No longer one of the {self._kind}")
        remove.clicked.connect(lambda: self._remove(endpoint))
        layout.addWidget(remove)
        return row

    def _fill_suggestions(self, candidates: Sequence[Suggestion]) -> None:
        self.suggestions.clear()
        for one in candidates:
            item = QListWidgetItem(f"{elided(one.name, _LINE)}\n{readable(one.reason)}", self.suggestions)
            item.setData(Qt.ItemDataRole.UserRole, one.endpoint)
            item.setToolTip(tip(f"{one.name}\nscore {one.score:g}: {one.reason}\n\nDouble click to choose it."))
        self.heading.setVisible(bool(candidates))
        self.suggestions.setVisible(bool(candidates))

    @property
    def _is_of_before(self) -> bool:
        """Whether the rows are those of another tab, or of what was chosen before: what is done to them is too late."""
        return self._session.turns.awaits(self.refresh)

    def _show(self, item: QListWidgetItem) -> None:
        if not self._is_of_before:
            self._session.select(Selection(item.data(Qt.ItemDataRole.UserRole).node), reveal=True)

    def _use(self, item: QListWidgetItem) -> None:
        if not self._is_of_before:
            self._session.toggle_endpoint(self._kind, item.data(Qt.ItemDataRole.UserRole))

    def _remove(self, endpoint: Endpoint) -> None:
        if not self._is_of_before:
            self._session.toggle_endpoint(self._kind, endpoint)

    def _typed(self) -> None:
        try:
            self._session.type_endpoints(self._kind, self.entry.text())
        except UnknownNameError as error:
            self.problem.setText(readable(str(error)))
            self.problem.show()
        else:
            self.entry.clear()

    def _forget_tab(self) -> None:
        """What was said of a name, and the names that are offered, are those of another graph."""
        self.problem.hide()
        self.entry.setCompleter(None)

    def _offer_names(self) -> None:
        """Complete names once someone types: 16,500 of them take 6 ms, which the first picture should not wait for."""
        version = self._session.version
        if self.entry.completer() is not None:
            return
        names = list(version.document.graph.names) if version else []
        completer = QCompleter(names if len(names) <= 50_000 else [], self.entry)
        completer.setFilterMode(Qt.MatchFlag.MatchContains)
        completer.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        completer.setMaxVisibleItems(12)
        self.entry.setCompleter(completer)


class EndpointsPanel(QWidget):
    """The file's signatures where it has some, then outputs, then inputs."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.outputs, self.inputs = EndpointList(session, "outputs", self), EndpointList(session, "inputs", self)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        self.signatures = SignatureList(session, self)
        layout.addWidget(self.signatures)
        layout.addWidget(self.outputs, 3)
        layout.addWidget(self.inputs, 2)
