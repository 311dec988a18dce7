"""Ctrl+K: actions and nodes by a few letters of their name."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from PySide6.QtCore import QEvent, QModelIndex, QObject, QPersistentModelIndex, QRectF, Qt
from PySide6.QtGui import QFontMetricsF, QKeyEvent, QPainter, QPalette
from PySide6.QtWidgets import (
    QDialog,
    QLabel,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)

from graphviewer.gui.words.texts import shortened, tip

Index = QModelIndex | QPersistentModelIndex
_INSET = 7.0
_BETWEEN = re.compile(r"[\s_-]+")


class Entry(NamedTuple):
    """One line: what it says, what stands beside it, what choosing it does, and other words that people type for it."""

    text: str
    note: str
    run: Callable[[], None]
    words: str = ""


def matches(text: str, entries: Iterable[Entry], limit: int = 200) -> list[Entry]:
    """Entries that contain every word of ``text``, those that start with it first.

    An action is also found by its other words, and where the words are joined, as in ``remove_training_nodes``.
    """
    words = text.lower().split()
    if not words:
        return list(entries)[:limit]
    parts = list(filter(None, _BETWEEN.split(text.lower())))
    found = [entry for entry in entries if _fits(entry, words) or (entry.words and _fits(entry, parts))]
    return sorted(found, key=lambda entry: (not entry.text.lower().startswith(text.lower()), len(entry.text)))[:limit]


def _fits(entry: Entry, words: Sequence[str]) -> bool:
    text = f"{entry.text} {entry.words}".lower() if entry.words else entry.text.lower()
    return all(word in text for word in words)


class _Line(QStyledItemDelegate):
    """An entry's text, its middle left out where there is no room, and its note at the right."""

    def initStyleOption(self, option: QStyleOptionViewItem, index: Index) -> None:
        super().initStyleOption(option, index)
        option.text = ""

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        super().paint(painter, option, index)
        entry: Entry = index.data(Qt.ItemDataRole.UserRole)
        palette, metrics = option.palette, QFontMetricsF(option.font)
        rect = QRectF(option.rect).adjusted(_INSET, 0, -_INSET, 0)
        note = metrics.elidedText(entry.note, Qt.TextElideMode.ElideMiddle, rect.width() * 0.4)
        room = rect.width() - (metrics.horizontalAdvance(note) + 2 * _INSET if note else 0)
        text = shortened(entry.text, lambda text: metrics.horizontalAdvance(text) <= room)
        text = metrics.elidedText(text, Qt.TextElideMode.ElideMiddle, room)
        middle = Qt.AlignmentFlag.AlignVCenter
        painter.save()
        painter.setFont(option.font)
        painter.setPen(palette.color(QPalette.ColorRole.Text))
        painter.drawText(rect, Qt.AlignmentFlag.AlignLeft | middle, text)
        painter.setPen(palette.color(QPalette.ColorRole.PlaceholderText))
        painter.drawText(rect, Qt.AlignmentFlag.AlignRight | middle, note)
        painter.restore()


class Palette(QDialog):
    """A line to type in and what matches it."""

    def __init__(self, actions: Sequence[Entry], nodes: Sequence[Entry], parent: QWidget | None = None) -> None:
        super().__init__(parent, Qt.WindowType.Popup)
        self.setObjectName("palette")
        self._actions, self._nodes = actions, nodes
        self.entry = QLineEdit(placeholderText="Type an action or a node's name")
        self.list = QListWidget()
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setItemDelegate(_Line(self.list))
        layout = QVBoxLayout(self)
        layout.setContentsMargins(8, 8, 8, 8)
        layout.addWidget(self.entry)
        layout.addWidget(self.list)
        self.empty = QLabel(objectName="subtle", wordWrap=True, textFormat=Qt.TextFormat.PlainText)
        self.empty.setAlignment(Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignTop)
        self.empty.setContentsMargins(12, 24, 12, 0)
        layout.addWidget(self.empty, 1)
        self.resize(560, 420)
        self.entry.textChanged.connect(self._fill)
        self.entry.returnPressed.connect(lambda: self._choose(self.list.currentItem()))
        self.entry.installEventFilter(self)
        self.list.itemClicked.connect(self._choose)
        self._fill("")

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Arrow keys in the line move in the list."""
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            step = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1}.get(Qt.Key(event.key()))
            if step:
                self.list.setCurrentRow(max(0, min(self.list.count() - 1, self.list.currentRow() + step)))
                return True
        return super().eventFilter(watched, event)

    def _fill(self, text: str) -> None:
        self.list.clear()
        pool = [*matches(text, self._actions), *(matches(text, self._nodes) if text else ())]
        for entry in pool:
            item = QListWidgetItem(entry.text, self.list)
            item.setToolTip(tip("\n".join(filter(None, (entry.text, entry.note)))))
            item.setData(Qt.ItemDataRole.UserRole, entry)
        self.list.setCurrentRow(0)
        self.list.setVisible(bool(pool))
        self.empty.setVisible(not pool)
        nodes = "no node's name holds this." if self._nodes else "there is no graph to look in."
        self.empty.setText(f"Nothing found: no action that can be done now is called so, and {nodes}")

    def _choose(self, item: QListWidgetItem | None) -> None:
        if item is not None:
            self.accept()
            item.data(Qt.ItemDataRole.UserRole).run()
