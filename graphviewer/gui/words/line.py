"""A label of one line that takes the room that there is."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QLabel, QSizePolicy, QWidget

from graphviewer.gui.words.texts import tip


class Line(QLabel):
    """One line of text, elided where there is no room; all of it is in the tooltip.

    Args:
        elided: where it is cut: sentences at their end, names in their middle.
    """

    def __init__(
        self, parent: QWidget | None = None, *, elided: Qt.TextElideMode = Qt.TextElideMode.ElideRight
    ) -> None:
        super().__init__(parent, textFormat=Qt.TextFormat.PlainText)
        self._elided = elided
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)

    @property
    def shown(self) -> str:
        """What there is room for."""
        line = " ".join(self.text().split())
        return self.fontMetrics().elidedText(line, self._elided, self.contentsRect().width())

    def say(self, text: str) -> None:
        """Show another text."""
        self.setText(text)
        self.setToolTip(tip(text) if text else "")

    def paintEvent(self, event: QPaintEvent) -> None:
        with QPainter(self) as painter:
            middle = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
            self.style().drawItemText(
                painter,
                self.contentsRect(),
                middle,
                self.palette(),
                self.isEnabled(),
                self.shown,
                self.foregroundRole(),
            )
