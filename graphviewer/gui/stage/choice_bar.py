"""A line above the canvas: which graph, or which step, of those that a file or folder holds."""

from __future__ import annotations

from PySide6.QtWidgets import QComboBox, QFrame, QHBoxLayout, QLabel, QToolButton, QWidget

from graphviewer.gui.state.session import Session
from graphviewer.gui.state.versions import Version
from graphviewer.gui.words.texts import label
from graphviewer.gui.work.opening import Choice, Choices, Opener

_MOST_BUTTONS = 5


class ChoiceBar(QFrame):
    """Shown for a tab that could show something else; a click opens that in a tab of its own."""

    def __init__(self, session: Session, opener: Opener, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("choiceBar")
        self._session, self._opener = session, opener
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(10, 2, 10, 2)
        session.current_changed.connect(self.refresh)
        opener.opened.connect(self.refresh)
        self.hide()

    def refresh(self, *_event: object) -> None:
        """Show the choices of the current tab."""
        while (item := self._row.takeAt(0)) is not None:
            if item.widget() is not None:
                item.widget().deleteLater()
        current = self._session.current
        found = self._opener.choices(current) if isinstance(current, Version) else ()
        for choices in found:
            self._add(choices)
        self._row.addStretch(1)
        self.setVisible(bool(found))

    def _add(self, choices: Choices) -> None:
        self._row.addWidget(QLabel(choices.question, objectName="subtle"))
        if len(choices.choices) > _MOST_BUTTONS:
            self._row.addWidget(self._list(choices))
            return
        for choice in choices.choices:
            button = QToolButton(text=label(choice.label), checkable=True, checked=choice.is_shown)
            button.setObjectName("choice")
            button.clicked.connect(lambda _checked, choice=choice: self._choose(choice))
            self._row.addWidget(button)

    def _list(self, choices: Choices) -> QComboBox:
        box = QComboBox()
        box.addItems([choice.label for choice in choices.choices])
        box.setCurrentIndex(next((at for at, one in enumerate(choices.choices) if one.is_shown), -1))
        box.activated.connect(lambda at: self._choose(choices.choices[at]))
        return box

    def _choose(self, choice: Choice) -> None:
        self.refresh()
        if not choice.is_shown:
            self._opener.choose(choice.request)
