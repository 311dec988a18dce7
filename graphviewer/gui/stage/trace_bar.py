"""The line under the canvas that says what is traced or isolated, and how far."""

from __future__ import annotations

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QSizePolicy, QSpinBox, QToolButton, QWidget

from graphviewer.gui.words.texts import tip

MOST_LEVELS = 999


class TraceBar(QFrame):
    """Hidden while nothing is traced or isolated."""

    levels_changed = Signal(int)  # -1 for all
    isolate_clicked = Signal()
    show_all_clicked = Signal()
    closed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("traceBar")
        self.text = QLabel(textFormat=Qt.TextFormat.PlainText)
        self.text.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.levels_label = QLabel("Levels", objectName="subtle")
        self.levels = QSpinBox(minimum=0, maximum=MOST_LEVELS, specialValueText="all")
        self.levels.setToolTip("How many edges away; [ fewer, ] more")
        self.levels.setFixedWidth(76)
        self.isolate = QPushButton("Isolate")
        self.isolate.setToolTip("Draw only what is lit (Shift+I)")
        self.show_all = QPushButton("Show All")
        self.show_all.setToolTip("Draw the whole graph again (Shift+A)")
        self.close_button = QToolButton(text="✕", autoRaise=True)
        self.close_button.setToolTip("Leave (Esc)")
        layout = QHBoxLayout(self)
        layout.setContentsMargins(10, 4, 6, 4)
        for widget in (self.levels_label, self.levels, self.isolate, self.show_all, self.close_button):
            widget.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        layout.addWidget(self.text, 1)
        for widget in (self.levels_label, self.levels, self.isolate, self.show_all, self.close_button):
            layout.addWidget(widget)
        self.levels.valueChanged.connect(lambda value: self.levels_changed.emit(value or -1))
        self.isolate.clicked.connect(self.isolate_clicked)
        self.show_all.clicked.connect(self.show_all_clicked)
        self.close_button.clicked.connect(self.closed)
        self.hide()

    def show_state(self, text: str, full: str, *, levels: int | None, can_isolate: bool, is_isolated: bool) -> None:
        """Say what is under way.

        Args:
            text: one line; empty hides the bar.
            full: the same at length, shown on hover.
            levels: -1 for all; None where there are no levels.
            can_isolate: something is lit that can be drawn by itself.
            is_isolated: a part is drawn in place of the whole.
        """
        self.text.setText(text)
        self.text.setToolTip(tip(full))
        with QSignalBlocker(self.levels):
            self.levels.setValue(max(levels or 0, 0))
        for widget in (self.levels_label, self.levels):
            widget.setVisible(levels is not None)
        self.isolate.setVisible(can_isolate)
        self.show_all.setVisible(is_isolated)
        self.setVisible(bool(text))
