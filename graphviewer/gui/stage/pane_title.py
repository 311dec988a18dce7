"""The line above each of two graphs side by side: which one it is, and what only it has."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QIcon, QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QLabel, QSizePolicy, QWidget

from graphviewer.gui.words.texts import tip

_INSET, _GAP, _ICON = 10, 6, 15
"""Pixels left and right, between the parts, and the side of the icon."""


class PaneTitle(QLabel):
    """A name that is elided where it has no room, and a count at the right; neither makes the pane wider."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent, objectName="paneTitle", textFormat=Qt.TextFormat.PlainText)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.detail, self._icon = "", QIcon()

    def say(self, text: str, detail: str, icon: QIcon) -> None:
        """Show a name, and what only this graph has, beside the icon of that status."""
        self.setText(text)
        self.detail, self._icon = detail, icon
        self.setToolTip(tip(f"{text}\n{detail}"))
        self.update()

    def minimumSizeHint(self) -> QSize:
        return QSize(0, super().minimumSizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        QFrame.paintEvent(self, event)
        rect, metrics = QRectF(self.rect()).adjusted(_INSET, 0, -_INSET, 0), self.fontMetrics()
        wanted = metrics.horizontalAdvance(self.detail) + _ICON + 2 * _GAP
        has_detail = bool(self.detail) and wanted < rect.width() / 2
        room = rect.width() - (wanted + _GAP if has_detail else 0)
        vertical = Qt.AlignmentFlag.AlignVCenter
        with QPainter(self) as painter:
            painter.setPen(self.palette().color(self.foregroundRole()))
            shown = metrics.elidedText(self.text(), Qt.TextElideMode.ElideMiddle, int(room))
            painter.drawText(rect, Qt.AlignmentFlag.AlignLeft | vertical, shown)
            if has_detail:
                painter.drawText(rect, Qt.AlignmentFlag.AlignRight | vertical, self.detail)
                left, top = rect.right() - wanted + _GAP, rect.center().y() - _ICON / 2
                self._icon.paint(painter, int(left), int(top), _ICON, _ICON)
