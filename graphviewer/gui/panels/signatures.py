"""The signatures of a file: a click chooses the inputs and outputs of one."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QListWidget, QListWidgetItem, QSizePolicy, QVBoxLayout, QWidget

from graphviewer.errors import GraphViewerError
from graphviewer.gui.state.session import Session
from graphviewer.gui.words.signatures import Named, Signature, signatures_of
from graphviewer.gui.words.texts import tip
from graphviewer.model.document import Document
from graphviewer.model.names import Endpoint

_KEY = Qt.ItemDataRole.UserRole
_MOST_ROWS = 3


def choose_signature(session: Session, key: str) -> None:
    """Make the inputs and outputs of a signature the chosen ones; what this version has no node for is left out."""
    version = session.version
    signature = next((one for one in signatures_of(version.document) if one.key == key), None) if version else None
    if version is None or signature is None:
        return
    inputs, outputs = (_present(version.document, side) for side in (signature.inputs, signature.outputs))
    if not outputs:
        text = f"The signature '{key}' has no output that this version computes."
        session.failed.emit(GraphViewerError(text, "Choose outputs by hand, or another signature."))
        return
    session.set_endpoints(outputs=outputs, inputs=inputs)
    gone = [one.name for one in (*signature.inputs, *signature.outputs) if one.endpoint not in (*inputs, *outputs)]
    lacking = f"; not in this version: {', '.join(gone)}" if gone else ""
    session.said.emit(f"{key}: {len(inputs):,} in, {len(outputs):,} out{lacking}.")


def _present(document: Document, tensors: Sequence[Named]) -> list[Endpoint]:
    return [one.endpoint for one in tensors if one.endpoint.node in document.graph.index]


class SignatureList(QWidget):
    """One row per signature; hidden where the file has none."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._signatures: Sequence[Signature] = ()
        self.list = QListWidget(objectName="suggestions")
        self.list.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.list.setSelectionMode(QListWidget.SelectionMode.NoSelection)
        self.list.itemClicked.connect(lambda item: choose_signature(session, item.data(_KEY)))
        self.list.itemActivated.connect(lambda item: choose_signature(session, item.data(_KEY)))
        layout = QVBoxLayout(self)
        layout.setContentsMargins(6, 4, 6, 0)
        layout.setSpacing(3)
        layout.addWidget(QLabel("<b>Signatures</b>"))
        layout.addWidget(QLabel("Click one for its inputs and outputs", objectName="subtle"))
        layout.addWidget(self.list)
        session.current_changed.connect(self.refresh)
        session.endpoints_changed.connect(self._mark)
        self.refresh()

    def refresh(self) -> None:
        """Show the signatures of the current version."""
        version = self._session.version
        self._signatures = signatures_of(version.document) if version is not None else ()
        self.list.clear()
        for one in self._signatures:
            item = QListWidgetItem(self.list)
            item.setData(_KEY, one.key)
            item.setToolTip(tip(_tip(one)))
        self._mark()
        rows = min(len(self._signatures), _MOST_ROWS)
        self.list.setFixedHeight(sum(self.list.sizeHintForRow(row) for row in range(rows)) + 4)
        self.setVisible(bool(self._signatures))

    def _mark(self) -> None:
        """Tick the signature whose endpoints are the chosen ones."""
        family, version = self._session.family, self._session.version
        for row, one in enumerate(self._signatures):
            sides = [_present(version.document, side) for side in (one.inputs, one.outputs)]
            is_chosen = bool(sides[1]) and [set(side) for side in sides] == [set(family.inputs), set(family.outputs)]
            self.list.item(row).setText(f"{'✓ ' if is_chosen else ''}{one.key}\n{one.line}")


def _tip(signature: Signature) -> str:
    lines = [signature.key]
    lines += [f"in {one.name}: {one.endpoint}, {one.text}" for one in signature.inputs]
    lines += [f"out {one.name}: {one.endpoint}, {one.text}" for one in signature.outputs]
    return "\n".join(lines)
