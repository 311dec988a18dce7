"""How the values of a tensor are spread, as bars."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from graphviewer.gui.style.theme import Theme

_MARGIN, _LINE = 6.0, 16.0


class Histogram(QWidget):
    """Bars of counts between two ends; a mark where zero is."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._bars: Sequence[int] = ()
        self._least = self._most = 0.0
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)

    def sizeHint(self) -> QSize:
        return QSize(300, 110)

    def minimumSizeHint(self) -> QSize:
        return QSize(120, 44)

    def set_theme(self, theme: Theme) -> None:
        """Paint in other colours."""
        self._theme = theme
        self.update()

    def show_bars(self, bars: Sequence[int], least: float = 0.0, most: float = 0.0) -> None:
        """Show counts of equal steps from ``least`` to ``most``; no bars: show nothing."""
        self._bars, self._least, self._most = bars, least, most
        self.setToolTip(f"The highest bar stands for {max(bars):,} values" if bars else "")
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        if not self._bars:
            return
        area = QRectF(self.rect()).adjusted(_MARGIN, _MARGIN, -_MARGIN, -_LINE)
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            self._paint_bars(painter, area)
            self._paint_axis(painter, area)

    def _paint_bars(self, painter: QPainter, area: QRectF) -> None:
        tallest, width = max(self._bars), area.width() / len(self._bars)
        gap = 1.0 if width > 3 else 0.0
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._theme.color("window.accent"))
        for at, count in enumerate(self._bars):
            if count:
                # A bar of one value among millions is still seen.
                height = max(area.height() * count / tallest, 1.0)
                left = area.left() + at * width
                painter.drawRect(QRectF(left, area.bottom() - height, width - gap, height))

    def _paint_axis(self, painter: QPainter, area: QRectF) -> None:
        painter.setPen(QPen(self._theme.color("window.border_strong"), 1))
        painter.drawLine(area.bottomLeft(), area.bottomRight())
        text = self._theme.color("window.muted")
        if self._least < 0 < self._most:
            x = area.left() - self._least / (self._most - self._least) * area.width()
            painter.setPen(QPen(text, 1, Qt.PenStyle.DotLine))
            painter.drawLine(QPointF(x, area.top()), QPointF(x, area.bottom()))
        painter.setPen(text)
        line = QRectF(area.left(), area.bottom() + 1, area.width(), _LINE)
        painter.drawText(line, Qt.AlignmentFlag.AlignLeft, f"{self._least:.4g}")
        painter.drawText(line, Qt.AlignmentFlag.AlignRight, f"{self._most:.4g}")
