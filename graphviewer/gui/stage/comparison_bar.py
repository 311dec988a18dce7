"""The line above the canvas for comparisons: a twin to choose, what is pinned, another file to compare with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QSizePolicy, QToolButton, QWidget

from graphviewer.gui.style.flow import FlowLayout
from graphviewer.gui.words.texts import label, tip

if TYPE_CHECKING:
    from graphviewer.analysis.diff import Pin

_LONGEST = 40  # characters of a name on a button


class ComparisonBar(QFrame):
    """Hidden while there is nothing to say."""

    cancelled = Signal()
    alone = Signal()  # the waiting node has no twin
    unpinned = Signal(object)  # Pin
    compare_clicked = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("choiceBar")
        self.text = QLabel(textFormat=Qt.TextFormat.PlainText)
        self.text.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.pins = QWidget()
        self._flow = FlowLayout(self.pins, spacing=4)
        self.has_none = QPushButton("It Has No Twin")
        self.compare = QPushButton(objectName="primary")
        self.close_button = QToolButton(text="✕", autoRaise=True)
        self.close_button.setToolTip("Leave (Esc)")
        layout = QHBoxLayout(self)
        layout.setContentsMargins(10, 3, 6, 3)
        layout.addWidget(self.text, 1)
        layout.addWidget(self.pins, 1)
        for widget in (self.has_none, self.compare, self.close_button):
            widget.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
            layout.addWidget(widget)
        self.has_none.clicked.connect(self.alone)
        self.compare.clicked.connect(self.compare_clicked)
        self.close_button.clicked.connect(self.cancelled)
        self.hide()

    def ask(self, text: str, *, is_busy: bool = False) -> None:
        """Say what is to be chosen, or what is being done about the choice."""
        self._show(text, none=not is_busy, close=not is_busy)

    def offer(self, text: str, button: str) -> None:
        """Offer a comparison."""
        self.compare.setText(label(button))
        self._show(text, compare=True, close=True)

    def advise(self, text: str) -> None:
        """Say what would help."""
        self._show(text, close=True)

    def show_pins(self, pins: Sequence[Pin]) -> None:
        """List the pins, each with a way to take it out; none: hide the bar."""
        self._flow.clear()
        if pins:
            self._flow.addWidget(QLabel("Pinned:", objectName="subtle"))
        for pin in pins:
            self._flow.addWidget(self._button(pin))
        if pins:
            self._show("", pins=True)
        else:
            self.hide()

    def _button(self, pin: Pin) -> QToolButton:
        old, new = (_short(name) if name is not None else "no twin" for name in pin)
        button = QToolButton(text=label(f"{old} = {new}  ✕"), objectName="choice")
        button.setToolTip(tip(f"{pin[0] or 'no twin'} = {pin[1] or 'no twin'}\nClick to take this pin out."))
        button.clicked.connect(lambda: self.unpinned.emit(pin))
        return button

    def _show(
        self, text: str, *, none: bool = False, compare: bool = False, pins: bool = False, close: bool = False
    ) -> None:
        self.text.setText(text)
        self.text.setToolTip(tip(text))
        self.text.setVisible(not pins)
        self.pins.setVisible(pins)
        self.has_none.setVisible(none)
        self.compare.setVisible(compare)
        self.close_button.setVisible(close)
        self.show()


def _short(name: str) -> str:
    """The end of a long name: that is where it differs from others."""
    return name if len(name) <= _LONGEST else "…" + name[1 - _LONGEST :]
