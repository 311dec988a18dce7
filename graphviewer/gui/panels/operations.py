"""Pick an operation, see what it does and with what, and run it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QCheckBox,
    QFileDialog,
    QFormLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QScrollArea,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from graphviewer.gui.operator import Operator
from graphviewer.gui.session import Session
from graphviewer.operations.registry import Operation, Parameter, operations


class CheckpointField(QWidget):
    """The path of a checkpoint, typed or picked; empty means the one beside the graph."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.path = QLineEdit(clearButtonEnabled=True)
        pick = QToolButton(text="…")
        pick.setToolTip("Pick a checkpoint's .index file")
        pick.clicked.connect(self._pick)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self.path)
        layout.addWidget(pick)

    def _pick(self) -> None:
        kinds = "Checkpoints (*.index *.ckpt checkpoint);;All files (*)"
        chosen, _ = QFileDialog.getOpenFileName(self, "Checkpoint", self.path.text(), kinds)
        if chosen:
            self.path.setText(chosen)


class OperationCard(QWidget):
    """One operation: what it does, its parameters, Run."""

    def __init__(self, operation: Operation, session: Session, operator: Operator) -> None:
        super().__init__()
        self._operation, self._session, self._operator = operation, session, operator
        self.setObjectName("card")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        doc = QLabel(operation.doc.split("\n\n")[0].replace("\n", " "), wordWrap=True, objectName="subtle")
        doc.setToolTip(operation.doc)
        self.run_button = QPushButton(operation.label)
        self.run_button.clicked.connect(self.run)
        self._fields: dict[str, tuple[Parameter, QWidget]] = {}
        form = QFormLayout()
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        for parameter in operation.parameters:
            widget = self._field(parameter)
            self._fields[parameter.name] = (parameter, widget)
            form.addRow("" if parameter.kind == "flag" else parameter.label, widget)
        layout = QVBoxLayout(self)
        layout.addWidget(QLabel(f"<b>{operation.label}</b>"))
        layout.addWidget(doc)
        layout.addLayout(form)
        layout.addWidget(self.run_button, alignment=Qt.AlignmentFlag.AlignRight)

    def _field(self, parameter: Parameter) -> QWidget:
        if parameter.kind == "flag":
            widget: QWidget = QCheckBox(parameter.label, checked=bool(parameter.default))
        elif parameter.kind == "checkpoint":
            widget = CheckpointField()
        elif parameter.kind == "endpoints":
            widget = QLabel(wordWrap=True, textFormat=Qt.TextFormat.PlainText)
        else:
            widget = QLineEdit(str(parameter.default or ""))
        widget.setToolTip(parameter.doc)
        return widget

    def refresh(self) -> None:
        """Show the endpoints and the checkpoint that a run would use."""
        version, family = self._session.version, self._session.family
        ready = version is not None
        for name, (parameter, widget) in self._fields.items():
            if parameter.kind == "endpoints":
                chosen = getattr(family, name, []) if family else []
                missing = "none chosen: pick one with O or I" if parameter.required else "none: all as they are"
                widget.setText("\n".join(map(str, chosen)) or missing)
                ready = ready and (bool(chosen) or not parameter.required)
            elif parameter.kind == "checkpoint":
                found = version.document.checkpoint if version else None
                widget.path.setPlaceholderText(found.name if found else "no checkpoint beside the graph")
                widget.path.setToolTip(str(found or ""))
        self.run_button.setEnabled(ready)

    def parameters(self) -> Mapping[str, Any]:
        """The values to run with, JSON-able."""
        version, family = self._session.version, self._session.family
        values: dict[str, Any] = {}
        for name, (parameter, widget) in self._fields.items():
            if parameter.kind == "endpoints":
                values[name] = [str(endpoint) for endpoint in getattr(family, name)]
            elif parameter.kind == "flag":
                values[name] = widget.isChecked()
            elif parameter.kind == "checkpoint":
                found = version.document.checkpoint if version else None
                text = widget.path.text().strip()
                values[name] = str(Path(text).expanduser()) if text else (str(found) if found else None)
            else:
                values[name] = widget.text()
        return values

    def run(self) -> None:
        """Run the operation on the current version, in the background."""
        version = self._session.version
        if version is not None:
            self._operator.run(self._operation.id, self._operation.label, version, self.parameters())


class OperationsPanel(QScrollArea):
    """Every operation of the registry as a card."""

    def __init__(self, session: Session, operator: Operator, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        body = QWidget()
        layout = QVBoxLayout(body)
        layout.setContentsMargins(6, 6, 6, 6)
        self.cards = {one.id: OperationCard(one, session, operator) for one in operations().values()}
        for name in sorted(self.cards, key=lambda name: name != "freeze"):
            layout.addWidget(self.cards[name])
        layout.addStretch(1)
        self.setWidget(body)
        for signal in (session.endpoints_changed, session.current_changed):
            signal.connect(partial(self.refresh))
        self.refresh()

    def refresh(self) -> None:
        """Refresh every card."""
        for card in self.cards.values():
            card.refresh()
