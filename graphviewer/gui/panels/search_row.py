"""A search hit as a row of two lines: its name, what was typed in bold, its op; its scope, and what else matched."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QFont, QFontMetricsF, QPainter, QPen
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from graphviewer.gui.style.theme import Theme
from graphviewer.gui.words.texts import shortened
from graphviewer.model.overlay import role_label

if TYPE_CHECKING:
    from graphviewer.analysis.search import Hits
    from graphviewer.model.document import Document
    from graphviewer.model.overlay import Overlay

ROW_HEIGHT, INSET, SPACE, SWATCH, LEAST_CHIP = 42, 8.0, 8.0, 9.0, 40.0


class Row(NamedTuple):
    """What a row says.

    Attributes:
        spans: begin and end in ``name`` of what was typed.
        chips: what matched besides name and op, as ``padding=SAME``; not what repeats the path.
        role: of the node, where it is known.
    """

    name: str
    scope: str
    op: str
    path: str
    spans: tuple[tuple[int, int], ...]
    op_matches: bool
    chips: tuple[str, ...]
    role: str = ""

    @classmethod
    def of(cls, document: Document, hits: Hits, item: int, roles: Overlay | None = None) -> Row:
        """The row of a hit."""
        scopes = document.scopes
        path, node = scopes.path(item), int(scopes.node[item])
        scope, _, name = path.rpartition("/")
        found = hits.matches(item)
        spans = [term.span(name) for term in hits.query.positive if term.field in ("", "name")]
        chips = [_chip(match.field, match.text) for match in found if match.field != "op" and path not in match.text]
        size = int(scopes.size[item])
        op = scopes.graph.ops[node] if node >= 0 else f"{size:,} node{'s' if size != 1 else ''}"
        op_matches = any(match.field == "op" for match in found)
        role = (roles.category(node) or "") if roles is not None and node >= 0 else ""
        shown = name if node >= 0 else f"{name}/"
        return cls(shown, scope, op, path, tuple(span for span in spans if span), op_matches, tuple(chips), role)


def _chip(field: str, text: str) -> str:
    if field in ("attribute", "colocation"):
        return text
    return f"{field} {role_label(text) if field == 'role' else text.replace('_', ' ')}"


class RowDelegate(QStyledItemDelegate):
    """Paints rows."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        return QSize(100, ROW_HEIGHT)

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        row: Row = index.data(Qt.ItemDataRole.UserRole)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        rect = QRectF(option.rect)
        self._paint_ground(painter, rect, option.state)
        inner = rect.adjusted(INSET, 4, -INSET, -4)
        upper = QRectF(inner.x(), inner.y(), inner.width(), inner.height() / 2)
        lower = upper.translated(0, inner.height() / 2)
        small = QFont(option.font)
        small.setPixelSize(max(option.font.pixelSize() - 2, 9) if option.font.pixelSize() > 0 else 11)
        self._paint_upper(painter, upper, option.font, small, row)
        self._paint_lower(painter, lower, small, row)
        painter.restore()

    def _paint_ground(self, painter: QPainter, rect: QRectF, state: QStyle.StateFlag) -> None:
        token = ""
        if state & QStyle.StateFlag.State_Selected:
            token = "window.accent_soft"
        elif state & QStyle.StateFlag.State_MouseOver:
            token = "window.hover"
        if token:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(self._theme.color(token))
            painter.drawRoundedRect(rect.adjusted(0, 1, 0, -1), 5, 5)

    def _paint_upper(self, painter: QPainter, rect: QRectF, font: QFont, small: QFont, row: Row) -> None:
        metrics = QFontMetricsF(small)
        op = metrics.elidedText(row.op, Qt.TextElideMode.ElideMiddle, rect.width() * 0.45)
        width = metrics.horizontalAdvance(op)
        painter.setFont(small)
        painter.setPen(self._theme.color("window.link" if row.op_matches else "window.muted"))
        painter.drawText(rect, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, op)
        left = self._paint_role(painter, rect, row.role) if row.role else 0.0
        self._paint_name(painter, rect.adjusted(left, 0, -width - SPACE, 0), font, row)

    def _paint_role(self, painter: QPainter, rect: QRectF, role: str) -> float:
        """The legend's swatch of a role; gives the room that it takes."""
        colors = self._theme.category("roles", role)
        painter.setPen(QPen(colors.edge, 1))
        painter.setBrush(colors.mark)
        painter.drawRoundedRect(QRectF(rect.x() + 0.5, rect.center().y() - SWATCH / 2, SWATCH, SWATCH), 2, 2)
        return SWATCH + 6

    def _paint_name(self, painter: QPainter, rect: QRectF, font: QFont, row: Row) -> None:
        metrics = QFontMetricsF(font)
        shown = metrics.elidedText(row.name, Qt.TextElideMode.ElideMiddle, rect.width())
        middle = rect.center().y() + (metrics.ascent() - metrics.descent()) / 2
        painter.setFont(font)
        painter.setPen(self._theme.color("window.text"))
        painter.drawText(QPointF(rect.x(), middle), shown)
        if shown == row.name:
            painter.setPen(QPen(self._theme.color("window.accent"), 2))
            for begin, end in row.spans:
                left = rect.x() + metrics.horizontalAdvance(shown[:begin])
                right = rect.x() + metrics.horizontalAdvance(shown[:end])
                painter.drawLine(QPointF(left, middle + 3), QPointF(right, middle + 3))

    def _paint_lower(self, painter: QPainter, rect: QRectF, small: QFont, row: Row) -> None:
        metrics = QFontMetricsF(small)
        painter.setFont(small)
        right, least = rect.right(), min(metrics.horizontalAdvance(row.scope), rect.width() * 0.5) + SPACE
        for chip in row.chips[:2]:
            text = metrics.elidedText(
                chip, Qt.TextElideMode.ElideMiddle, max(right - rect.x() - least - 10, LEAST_CHIP)
            )
            box = QRectF(0, rect.y() + 1, metrics.horizontalAdvance(text) + 10, rect.height() - 2)
            box.moveRight(right)
            if box.left() < rect.x() + least:
                break
            painter.setPen(QPen(self._theme.color("window.border_strong"), 1))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(box.adjusted(0.5, 0.5, -0.5, -0.5), 6, 6)
            painter.setPen(self._theme.color("window.link"))
            painter.drawText(box, Qt.AlignmentFlag.AlignCenter, text)
            right = box.left() - 4
        room = right - rect.x() - 4
        scope = shortened(row.scope or "top level", lambda text: metrics.horizontalAdvance(text) <= room)
        scope = metrics.elidedText(scope, Qt.TextElideMode.ElideMiddle, room)
        painter.setPen(self._theme.color("window.muted"))
        painter.drawText(rect, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, scope)
