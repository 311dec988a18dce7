"""Numbers of two graphs as pairs of bars, before above after."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from graphviewer.gui.style.theme import Theme

_BAR, _GAP, _SPACE = 5.0, 2.0, 12.0
"""Height of a bar, space between the two, space between columns (pixels)."""

_THIN = 2.0  # a number that is small beside the other is still seen


class Total(NamedTuple):
    """One number of both graphs."""

    label: str
    before: int
    after: int

    @property
    def text(self) -> str:
        """``16,534 → 2,304``."""
        return f"{self.before:,}, the same" if self.before == self.after else f"{self.before:,} → {self.after:,}"

    @property
    def brief(self) -> str:
        """The same where there is little room: ``255M → 85.3M``."""
        if self.before == self.after:
            return f"{_brief(self.before)}, the same"
        return f"{_brief(self.before)} → {_brief(self.after)}"

    @property
    def share(self) -> str:
        """How much more or less, ``−86 %``; empty where that says nothing."""
        if not self.before or self.before == self.after:
            return ""
        share = 100 * (self.after - self.before) / self.before
        shown = f"{abs(share):.0f}" if abs(share) >= 0.5 else "<1"
        return f"{'−' if share < 0 else '+'}{shown} %" if share < 1000 else ""


def _brief(number: int) -> str:
    """Three digits and a unit from a thousand on."""
    for power, unit in ((12, "T"), (9, "G"), (6, "M"), (3, "k")):
        if number >= 10**power:
            return f"{number / 10**power:.3g}{unit}"
    return f"{number:,}"


class BeforeAfterBars(QWidget):
    """A column for each number: what it is, both values, and two bars of one scale."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.totals: Sequence[Total] = ()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        return QSize(560, self._height())

    def minimumSizeHint(self) -> QSize:
        return QSize(240, self._height())

    def _height(self) -> int:
        return round(2 * self.fontMetrics().height() + 2 * _BAR + 3 * _GAP)

    def set_theme(self, theme: Theme) -> None:
        """Paint in other colours."""
        self._theme = theme
        self.update()

    def show_totals(self, totals: Iterable[Total]) -> None:
        """Show other numbers; one that both graphs lack is left out."""
        self.totals = [total for total in totals if total.before or total.after]
        text = "\n".join(f"{total.label}: {total.text}  {total.share}".rstrip() for total in self.totals)
        self.setToolTip(text)
        self.setAccessibleName(text)
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        if not self.totals:
            return
        width = (self.width() - _SPACE * (len(self.totals) - 1)) / len(self.totals)
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            for at, total in enumerate(self.totals):
                self._paint_column(painter, total, QRectF(at * (width + _SPACE), 0, max(width, 20.0), self.height()))

    def _paint_column(self, painter: QPainter, total: Total, area: QRectF) -> None:
        metrics = self.fontMetrics()
        left, right = area.left(), area.right()
        fits = metrics.horizontalAdvance(total.text) <= area.width()
        texts = (f"{total.label} {total.share}", "muted"), (total.text if fits else total.brief, "text")
        for row, (text, token) in enumerate(texts):
            line = QRectF(left, row * metrics.height(), right - left, metrics.height())
            painter.setPen(self._theme.color(f"window.{token}"))
            shown = metrics.elidedText(text, Qt.TextElideMode.ElideRight, int(line.width()))
            painter.drawText(line, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, shown)
        painter.setPen(Qt.PenStyle.NoPen)
        top = 2 * metrics.height() + _GAP
        for value, token in ((total.before, "border_strong"), (total.after, "accent")):
            self._paint_bar(painter, QRectF(QPointF(left, top), QPointF(right, top + _BAR)), value, total, token)
            top += _BAR + _GAP

    def _paint_bar(self, painter: QPainter, track: QRectF, value: int, total: Total, token: str) -> None:
        painter.setBrush(self._theme.color("window.hover"))
        painter.drawRoundedRect(track, 2, 2)
        if value:
            full = track.width()
            track.setWidth(max(full * value / max(total.before, total.after), _THIN))
            painter.setBrush(self._theme.color(f"window.{token}"))
            painter.drawRoundedRect(track, 2, 2)
