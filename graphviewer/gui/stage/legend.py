"""The legend of the current overlay: counts, and what is shown or hidden."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QIcon, QPainter, QPixmap
from PySide6.QtWidgets import QLabel, QToolButton, QWidget

from graphviewer.gui.canvas.look import ink_on
from graphviewer.gui.canvas.signs import sign, title
from graphviewer.gui.state.session import Session
from graphviewer.gui.state.versions import Comparison, Version
from graphviewer.gui.style.flow import FlowLayout
from graphviewer.gui.style.theme import CategoryColors, Theme, load_font
from graphviewer.gui.words.legend import advice_for, explained, headline_of, uncompared
from graphviewer.model.overlay import Overlay

SWATCH = 15
"""Side of a swatch in pixels."""


def swatch(colors: CategoryColors, mark: str, size: int = SWATCH) -> QIcon:
    """A small square of a category's colour, with its sign for those who cannot tell the colours apart."""
    pixmap = QPixmap(size * 2, size * 2)
    pixmap.setDevicePixelRatio(2)
    pixmap.fill(Qt.GlobalColor.transparent)
    with QPainter(pixmap) as painter:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setBrush(colors.mark)
        painter.setPen(colors.edge)
        painter.drawRoundedRect(QRectF(1, 1, size - 2, size - 2), 3, 3)
        font = load_font(size - 4)
        font.setBold(True)
        painter.setFont(font)
        painter.setPen(ink_on(colors.mark))
        painter.drawText(QRectF(0, 0, size, size), Qt.AlignmentFlag.AlignCenter, mark)
    return QIcon(pixmap)


class Chip(QToolButton):
    """As wide as what is in it: Qt's own width leaves a gap, which costs lines where there are many chips."""

    def sizeHint(self) -> QSize:
        text = self.fontMetrics().horizontalAdvance(self.text())
        return QSize(SWATCH + text + 18, super().sizeHint().height())

    minimumSizeHint = sizeHint


class Legend(QWidget):
    """A chip per category: click hides its nodes or shows them again."""

    def __init__(self, session: Session, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("legend")
        self._session, self._theme = session, theme
        self._flow = FlowLayout(self, spacing=4)
        self._shown: tuple | None = None
        for signal in (session.overlay_changed, session.current_changed, session.endpoints_changed):
            signal.connect(session.turns.later(self.refresh))
        self.refresh()

    def set_theme(self, theme: Theme) -> None:
        """Draw the chips in other colours."""
        self._theme = theme
        self.refresh()

    def refresh(self) -> None:
        """Rebuild the chips for the overlay that is shown, where they would be others."""
        counts, kind = self._counts(), self._session.overlay_kind
        current = self._session.current
        advice = advice_for(current) if not counts and kind == "roles" and current is not None else ""
        headline = headline_of(current) if kind == "diff" and counts and isinstance(current, Comparison) else ""
        hidden = frozenset(self._session.hidden.get(kind, ()))
        shown = (kind, advice, headline, tuple(counts.items()), hidden, self._theme)
        if shown == self._shown:
            return
        self._shown = shown
        self.hide()  # else each chip that is added would lay out the whole window
        self._flow.clear()
        if advice:
            self._add(QLabel(advice, self, objectName="subtle"))
        if headline:
            told = QLabel(headline, self, objectName="changeCount")
            told.setMinimumHeight(SWATCH + 7)  # of a chip: the line has one middle
            told.setToolTip(uncompared(current) if isinstance(current, Comparison) else "")
            self._add(told)
        for category, count in counts.items():
            self._add(self._chip(category, count))
        self.setVisible(bool(counts or advice))

    def _add(self, widget: QWidget) -> None:
        self._flow.addWidget(widget)
        widget.show()

    def _counts(self) -> dict[str, int]:
        current, kind = self._session.current, self._session.overlay_kind
        if kind == "diff" and isinstance(current, Comparison):
            return {status: count for status, count in current.counts().items() if count}
        overlay: Overlay | None = current.overlay(kind) if current else None
        if isinstance(current, Version) and current.isolated is not None:
            overlay = current.shown_overlay(kind)
        return overlay.counts() if overlay is not None else {}

    def _inside(self) -> Mapping[str, int]:
        """Of a comparison, the counts inside functions, which texts about the graph itself leave out."""
        current = self._session.current
        return current.diff.summary_inside() if isinstance(current, Comparison) else {}

    def _chip(self, category: str, count: int) -> Chip:
        kind = self._session.overlay_kind
        hidden = category in self._session.hidden.get(kind, set())
        chip = Chip(self)
        chip.setObjectName("chip")
        chip.setText(f"{title(kind, category)} {count:,}{' (hidden)' if hidden else ''}")
        chip.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        colors = self._theme.category(kind, category)
        chip.setIcon(swatch(colors, sign(kind, category)))
        chip.setIconSize(QSize(SWATCH, SWATCH))
        chip.setCheckable(True)
        chip.setChecked(not hidden)
        inside = self._inside().get(category, 0) if kind == "diff" else 0
        chip.setToolTip(explained(kind, category, count, inside, hidden=hidden))
        chip.clicked.connect(lambda: self._toggle(category))
        return chip

    def _toggle(self, category: str) -> None:
        """Hide a category, or show it again; not one of an overlay that is shown no more."""
        if not self._session.turns.awaits(self.refresh):
            self._session.toggle_category(category)
