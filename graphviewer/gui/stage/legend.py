"""The legend of the current overlay: counts, and what is shown or hidden."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QColor, QIcon, QPainter, QPixmap
from PySide6.QtWidgets import QLabel, QToolButton, QWidget

from graphviewer.gui.state.session import Session
from graphviewer.gui.state.versions import Comparison, Version
from graphviewer.gui.style.flow import FlowLayout
from graphviewer.gui.style.theme import Theme
from graphviewer.model.overlay import Overlay


def swatch(color: QColor, edge: QColor, size: int = 12) -> QIcon:
    """A small square of a category's colour."""
    pixmap = QPixmap(size * 2, size * 2)
    pixmap.setDevicePixelRatio(2)
    pixmap.fill(Qt.GlobalColor.transparent)
    with QPainter(pixmap) as painter:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setBrush(color)
        painter.setPen(edge)
        painter.drawRoundedRect(1, 1, size - 2, size - 2, 3, 3)
    return QIcon(pixmap)


class Legend(QWidget):
    """A chip per category: click hides its nodes or shows them again."""

    def __init__(self, session: Session, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("legend")
        self._session, self._theme = session, theme
        self._flow = FlowLayout(self, spacing=4)
        for signal in (session.overlay_changed, session.current_changed, session.endpoints_changed):
            signal.connect(self.refresh)
        self.refresh()

    def set_theme(self, theme: Theme) -> None:
        """Draw the chips in other colours."""
        self._theme = theme
        self.refresh()

    def refresh(self) -> None:
        """Rebuild the chips for the overlay that is shown."""
        self._flow.clear()
        counts = self._counts()
        is_waiting = not counts and self._session.overlay_kind == "roles" and self._session.version is not None
        self.setVisible(bool(counts) or is_waiting)
        if is_waiting:
            self._flow.addWidget(QLabel("Choose an output to see what each node is for.", objectName="subtle"))
        for category, count in counts.items():
            self._flow.addWidget(self._chip(category, count))

    def _counts(self) -> dict[str, int]:
        current, kind = self._session.current, self._session.overlay_kind
        if kind == "diff" and isinstance(current, Comparison):
            return {status: count for status, count in current.diff.summary().items() if count}
        overlay: Overlay | None = current.overlay(kind) if current else None
        if isinstance(current, Version) and current.isolated is not None:
            overlay = current.shown_overlay(kind)
        return overlay.counts() if overlay is not None else {}

    def _chip(self, category: str, count: int) -> QToolButton:
        kind = self._session.overlay_kind
        hidden = category in self._session.hidden.get(kind, set())
        chip = QToolButton(self)
        chip.setObjectName("chip")
        chip.setText(f"{category.replace('_', ' ')} {count:,}{' (hidden)' if hidden else ''}")
        chip.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        colors = self._theme.category(kind, category)
        chip.setIcon(swatch(colors.mark, colors.edge))
        chip.setIconSize(QSize(12, 12))
        chip.setCheckable(True)
        chip.setChecked(not hidden)
        chip.setToolTip(f"Click to {'show' if hidden else 'hide'} {count:,} nodes: {category}")
        chip.clicked.connect(lambda: self._session.toggle_category(category))
        return chip
