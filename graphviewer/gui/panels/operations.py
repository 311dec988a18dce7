"""Pick an operation, see what it does and with what, and run it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QFormLayout,
    QFrame,
    QLabel,
    QLineEdit,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from graphviewer.errors import GraphViewerError, OperationError
from graphviewer.gui.panels.fields import CheckpointField, ChoiceField
from graphviewer.gui.state.session import Session
from graphviewer.gui.words.texts import tip
from graphviewer.gui.work.operator import Operator

if TYPE_CHECKING:
    from graphviewer.gui.state.versions import Version
    from graphviewer.operations.registry import Choice, Operation, Parameter


_LEAST_WIDTH = 250
"""Pixels that the cards' texts and buttons need; what needs more gets a scroll bar."""
_LATER_MS = 1_000
"""After the first graph came: by then it is on the screen."""


class _Question(NamedTuple):
    """What the choices that a document leaves depend on."""

    file: str
    outputs: tuple[str, ...]
    checkpoint: str | None


class OperationCard(QFrame):
    """One operation: a heading that folds, what it does, its parameters, Run.

    What is below the heading is made when it is first unfolded or asked for: few cards ever are.
    """

    choice_wanted = Signal()  # Run was pressed, and the document leaves a choice to the user

    def __init__(self, operation: Operation, session: Session, operator: Operator) -> None:
        super().__init__()
        self.setObjectName("card")
        self._operation, self._session, self._operator = operation, session, operator
        self._fields: dict[str, tuple[Parameter, QWidget]] = {}
        self._choices: dict[str, tuple[QFormLayout, ChoiceField]] = {}
        self._asked: _Question | None = None
        self._answered: _Question | None = None
        self._runs_when_known = False
        self.heading = QToolButton(text=operation.label, checkable=True, autoRaise=True, objectName="cardHeading")
        self.heading.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.heading.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.heading.setToolTip(tip(operation.doc))
        self.heading.toggled.connect(self._fold)
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(4, 4, 4, 4)
        self._layout.addWidget(self.heading)
        self._fold(False)

    @cached_property
    def body(self) -> QWidget:
        """All but the heading."""
        made = QWidget()
        self._fill_body(made)
        self._layout.addWidget(made)
        return made

    @cached_property
    def run_button(self) -> QPushButton:
        """Runs the operation, once all that it needs is chosen."""
        made = QPushButton("Run", objectName="primary")
        made.clicked.connect(self.run)
        return made

    @property
    def is_ready(self) -> bool:
        """Whether there is a graph, and the endpoints are chosen that the operation needs."""
        family = self._session.family
        needed = [one.name for one in self._operation.parameters if one.kind == "endpoints" and one.required]
        return self._session.version is not None and all(getattr(family, name, ()) for name in needed)

    def _fill_body(self, body: QWidget) -> None:
        doc = QLabel(self._operation.doc.split("\n\n")[0].replace("\n", " "), wordWrap=True, objectName="subtle")
        doc.setToolTip(tip(self._operation.doc))
        layout = QVBoxLayout(body)
        layout.setContentsMargins(8, 0, 8, 6)
        layout.addWidget(doc)
        plain = [one for one in self._operation.parameters if not one.advanced or one.choices is not None]
        layout.addLayout(self._form(plain))
        advanced = [one for one in self._operation.parameters if one not in plain]
        if advanced:
            more, details = QToolButton(text="More options", checkable=True, autoRaise=True), QWidget(visible=False)
            details.setLayout(self._form(advanced))
            more.toggled.connect(details.setVisible)
            layout.addWidget(more)
            layout.addWidget(details)
        layout.addWidget(self.run_button, alignment=Qt.AlignmentFlag.AlignRight)

    def _form(self, parameters: Sequence[Parameter]) -> QFormLayout:
        form = QFormLayout()
        form.setContentsMargins(0, 0, 0, 0)
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        for parameter in parameters:
            widget = self._field(parameter)
            self._fields[parameter.name] = (parameter, widget)
            if parameter.kind == "flag":
                form.addRow(widget)
            else:
                form.addRow(parameter.label, widget)
            if isinstance(widget, ChoiceField):
                self._choices[parameter.name] = form, widget
                form.setRowVisible(widget, False)
        return form

    def _fold(self, is_open: bool) -> None:
        self.heading.setArrowType(Qt.ArrowType.DownArrow if is_open else Qt.ArrowType.RightArrow)
        if is_open or "body" in vars(self):
            self.body.setVisible(is_open)
        self.refresh()
        self._ask_choices(is_seen=is_open)

    def _field(self, parameter: Parameter) -> QWidget:
        if parameter.kind == "flag":
            widget: QWidget = QCheckBox(parameter.label, checked=bool(parameter.default))
        elif parameter.kind == "checkpoint":
            widget = CheckpointField()
            widget.changed.connect(lambda: self._ask_choices())
        elif parameter.choices is not None:
            widget = ChoiceField(str(parameter.default or ""))
        elif parameter.kind == "endpoints":
            widget = QLabel(wordWrap=True, textFormat=Qt.TextFormat.PlainText)
            widget.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        else:
            widget = QLineEdit(str(parameter.default or ""))
        widget.setToolTip(tip(parameter.doc))
        return widget

    def refresh(self) -> None:
        """Show the endpoints and the checkpoint that a run would use."""
        if "body" not in vars(self):
            return
        version, family = self._session.version, self._session.family
        for name, (parameter, widget) in self._fields.items():
            if parameter.kind == "endpoints":
                chosen = getattr(family, name, []) if family else []
                key = {"outputs": "O", "inputs": "I"}.get(name, "O")
                missing = f"none chosen: press {key} on a node" if parameter.required else "none: all as they are"
                widget.setText("\n".join(map(str, chosen)) or missing)
            elif parameter.kind == "checkpoint":
                widget.show_default(version.document if version else None)
        self.run_button.setEnabled(self.is_ready)
        self._ask_choices(is_seen=self.heading.isChecked())

    # -- what the document leaves to choose ---------------------------------------------------------------------

    def _question(self, version: Version) -> _Question:
        given = self.parameters()
        return _Question(str(version.file), tuple(given.get("outputs", ())), given.get("checkpoint"))

    def _ask_choices(self, *, is_seen: bool = True) -> None:
        """Ask what there is to choose from, where the card can be seen and the answer may be another one now."""
        version = self._session.version
        if version is None or not self._choices or not is_seen:
            return
        question = self._question(version)
        if question == self._asked:
            return
        self._asked, self._runs_when_known = question, False

        def then(found: Mapping[str, Sequence[Choice]]) -> None:
            if question == self._asked:
                self._take_choices(question, found)

        self._operator.ask_choices(self._operation.id, version, question.outputs, question.checkpoint, then)

    def _take_choices(self, question: _Question, found: Mapping[str, Sequence[Choice]]) -> None:
        self._answered = question
        for name, (form, field) in self._choices.items():
            field.offer(found.get(name, ()))
            form.setRowVisible(field, field.is_needed)
        if self._runs_when_known:
            self._runs_when_known = False
            self.run()

    def parameters(self) -> Mapping[str, Any]:
        """The values to run with, JSON-able."""
        assert self.body
        version, family = self._session.version, self._session.family
        values: dict[str, Any] = {}
        for name, (parameter, widget) in self._fields.items():
            if parameter.kind == "endpoints":
                values[name] = [str(endpoint) for endpoint in getattr(family, name)]
            elif parameter.kind == "flag":
                values[name] = widget.isChecked()
            elif isinstance(widget, ChoiceField):
                values[name] = widget.value()
            elif parameter.kind == "checkpoint":
                found = version.document.checkpoint if version else None
                text = widget.path.text().strip()
                values[name] = str(Path(text).expanduser()) if text else (str(found) if found else None)
            else:
                values[name] = widget.text()
        return values

    def run(self) -> None:
        """Run the operation on the current version, in the background, once it is known what there is to choose."""
        version = self._session.version
        if version is None:
            return
        assert self.body
        if self._choices and self._answered != self._question(version):
            self._ask_choices()
            self._runs_when_known = True
        elif missing := [parameter for parameter, field in self._fields.values() if _is_missing(field)]:
            text = f"{self._operation.label} needs a choice: {missing[0].label.lower()}."
            self._session.failed.emit(OperationError(text, "Choose one in the operation's form, then run it again."))
            self.choice_wanted.emit()
        else:
            self._operator.run(self._operation.id, self._operation.label, version, self.parameters())


def _is_missing(field: QWidget) -> bool:
    return isinstance(field, ChoiceField) and field.is_missing


class OperationsPanel(QScrollArea):
    """Every operation of the registry as a card.

    The operations take a tenth of a second to import, so that a thread does it, some time after the first graph came or
    when the cards are asked for.
    """

    choice_wanted = Signal()

    def __init__(self, session: Session, operator: Operator, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWidgetResizable(True)
        self.setMinimumWidth(_LEAST_WIDTH)  # Qt gives a panel that was squeezed no room back
        self._session, self._operator = session, operator
        self._waiting: list[Callable[[], None]] = []
        self._is_asked = False
        self._later = QTimer(self, singleShot=True, interval=_LATER_MS)
        self._later.timeout.connect(lambda: self.request(lambda: None))
        for signal in (session.endpoints_changed, session.current_changed):
            signal.connect(self.refresh)

    def request(self, then: Callable[[], None]) -> None:
        """Call ``then`` once there are cards: now, or when the operations are imported."""
        if "cards" in vars(self):
            then()
            return
        self._waiting.append(then)
        if not self._is_asked:
            from graphviewer.operations.registry import operations

            self._is_asked = True
            background = self._session.background
            background.submit("import", "operations", operations, lambda _known: self._make(), self._fail)

    def _fail(self, error: GraphViewerError) -> None:
        self._waiting, self._is_asked = [], False
        self._session.failed.emit(error)

    def _make(self) -> None:
        waiting, self._waiting = self._waiting, []
        assert self.cards
        for then in waiting:
            then()

    @cached_property
    def cards(self) -> dict[str, OperationCard]:
        """The cards by operation id; imports the operations where ``request`` has not."""
        from graphviewer.operations.registry import operations

        body = QWidget()
        layout = QVBoxLayout(body)
        layout.setContentsMargins(6, 6, 6, 6)
        found = {one.id: OperationCard(one, self._session, self._operator) for one in operations().values()}
        for name in sorted(found, key=lambda name: name != "freeze"):
            layout.addWidget(found[name])
            found[name].choice_wanted.connect(lambda name=name: self._want_choice(name))
        found["freeze"].heading.setChecked(True)
        layout.addStretch(1)
        self.setWidget(body)
        return found

    def set_seen(self, is_seen: bool) -> None:
        """Make the cards once the panel is looked at: behind another tab it is visible to Qt, but has no region."""
        if is_seen:
            QTimer.singleShot(0, self, lambda: self.request(self._seen))

    def _seen(self) -> None:
        if not self.visibleRegion().isEmpty():
            self.refresh_all()

    def show_card(self, operation: str) -> None:
        """Unfold one operation and bring it into view."""
        card = self.cards[operation]
        card.heading.setChecked(True)
        self.ensureWidgetVisible(card)

    def _want_choice(self, operation: str) -> None:
        self.choice_wanted.emit()
        self.show_card(operation)

    def refresh(self) -> None:
        """Refresh every card there is; with the first graph, begin to think of making them."""
        if "cards" in vars(self):
            self.refresh_all()
        elif not self._is_asked and self._session.version is not None:
            self._later.start()

    def refresh_all(self) -> None:
        """Refresh every card, made now if need be."""
        for card in self.cards.values():
            card.refresh()
