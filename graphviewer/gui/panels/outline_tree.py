"""A scope tree as the rows of a table.

A tree view asks the model about every row that its open branches have (66 ms for 20,000 nodes side by side); a table
asks for the rows that are in view.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, QPoint, QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QWidget,
)

from graphviewer.gui.words.texts import elided, tip
from graphviewer.model.scopes import ROOT, Scopes

Index = QModelIndex | QPersistentModelIndex

_STEP, _LEAST_STEP = 20.0, 5.0  # pixels by which a level is further right than the one around it
_ARROW = (QPointF(-2, -4), QPointF(2, 0), QPointF(-2, 4))
_ROW_PADDING, _DETAIL_WIDTH = 7, 96  # pixels


class OutlineModel(QAbstractTableModel):
    """Items of a scope tree as far as the scopes around them are open; keeps no object per item."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.scopes: Scopes | None = None
        self.rows = np.zeros(0, np.int32)
        self._open: set[int] = set()
        self._visible: np.ndarray | None = None

    def set_scopes(self, scopes: Scopes | None, text: str = "") -> None:
        """Show another tree, or the same one with another filter; then scopes with hits are open, up to a limit."""
        self.beginResetModel()
        self.scopes, self._visible, self._open = scopes, None, set()
        if scopes is not None and text:
            self._visible = _matching_items(scopes, text.lower())
            self._open = set(self._first_scopes())
        self.rows = self._below(ROOT)
        self.endResetModel()

    def _first_scopes(self, limit: int = 300) -> Iterable[int]:
        """Scopes with hits breadth first, until ``limit`` rows show."""
        level, shown = [ROOT], 0
        while level:
            following: list[int] = []
            for item in level:
                yield item
                children = self.children_of(item)
                shown += len(children)
                if shown >= limit:
                    return
                following += [child for child in children if self.scopes.is_scope[child]]
            level = following

    # -- rows ---------------------------------------------------------------------------------------------------

    def children_of(self, item: int) -> list[int]:
        """The visible children of an item."""
        return self._children(item).tolist()

    def _children(self, item: int) -> np.ndarray:
        if self.scopes is None:
            return np.zeros(0, np.int32)
        children = self.scopes.children(item)
        return children if self._visible is None else children[self._visible[children]]

    def _below(self, item: int) -> np.ndarray:
        """The rows that show while an item is open."""
        rows = self._children(item)
        for scope in sorted(self._open, key=lambda one: int(self.scopes.depth[one])):
            at = np.flatnonzero(rows == scope)
            if len(at):
                rows = np.insert(rows, at[0] + 1, self._children(scope))
        return rows

    def item(self, index: Index) -> int:
        """The item behind an index; the root for an invalid one."""
        return int(self.rows[index.row()]) if index.isValid() else ROOT

    def index_of(self, item: int) -> QModelIndex:
        """The index of an item; invalid where the filter or a closed scope hides it."""
        at = np.flatnonzero(self.rows == item)
        return self.index(int(at[0]), 0) if len(at) else QModelIndex()

    def reach(self, item: int) -> QModelIndex:
        """The index of an item, after the scopes around it were opened."""
        if self.scopes is None or item == ROOT or not (self._visible is None or self._visible[item]):
            return QModelIndex()
        around = self.scopes.ancestors(item)[:-1]
        closed = [scope for scope in around if scope not in self._open]
        if closed:
            self._open.update(closed[:-1])  # with those inside, the outermost is opened at once
            self.open_at(self.index_of(closed[-1]))
        return self.index_of(item)

    def is_open(self, index: Index) -> bool:
        """Whether what is inside an item is shown below it."""
        return self.item(index) in self._open

    def open_at(self, index: Index) -> None:
        """Show what is inside a scope."""
        item, row = self.item(index), index.row()
        if index.isValid() and self.scopes.is_scope[item] and item not in self._open:
            self._open.add(item)
            below = self._below(item)
            if len(below):
                self.beginInsertRows(QModelIndex(), row + 1, row + len(below))
                self.rows = np.insert(self.rows, row + 1, below)
                self.endInsertRows()

    def close_at(self, index: Index) -> None:
        """Show a scope without what is inside."""
        item, row = self.item(index), index.row()
        if index.isValid() and item in self._open:
            self._open.discard(item)
            outside = np.flatnonzero(self.scopes.depth[self.rows[row + 1 :]] <= self.scopes.depth[item])
            count = int(outside[0]) if len(outside) else len(self.rows) - row - 1
            if count:
                self.beginRemoveRows(QModelIndex(), row + 1, row + count)
                self.rows = np.delete(self.rows, slice(row + 1, row + 1 + count))
                self.endRemoveRows()

    # -- what Qt asks -------------------------------------------------------------------------------------------

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self.rows)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 2

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if self.scopes is None or not index.isValid():
            return None
        item = self.item(index)
        if role == Qt.ItemDataRole.DisplayRole:
            return elided(self.scopes.labels[item]) if index.column() == 0 else self._detail(item)
        if role == Qt.ItemDataRole.ToolTipRole:
            return tip(self.scopes.path(item))
        if role == Qt.ItemDataRole.TextAlignmentRole and index.column() == 1:
            return int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        return None

    def _detail(self, item: int) -> str:
        node = int(self.scopes.node[item])
        return elided(self.scopes.graph.ops[node]) if node >= 0 else f"{self.scopes.size[item]:,}"


def _matching_items(scopes: Scopes, text: str) -> np.ndarray:
    """bool [items]: items that hold a node whose name or op contains ``text`` (lower case)."""
    graph = scopes.graph
    hits = [text in name.lower() or text in op.lower() for name, op in zip(graph.names, graph.ops, strict=True)]
    rows = np.zeros((len(scopes), 1), np.int32)
    rows[scopes.leaf[np.flatnonzero(hits)]] = 1
    return np.asarray(scopes.roll_up(rows)[:, 0] > 0)


class OutlineTree(QTableView):
    """Shows an outline as a tree does: arrows, indentation, and the arrow keys to open and close.

    Where the rows in view are many levels deep, the levels that all of them share are not indented.
    """

    def __init__(self, model: OutlineModel) -> None:
        super().__init__(objectName="outline", showGrid=False, tabKeyNavigation=False)
        self._outline = model
        self.step, self.shared = _STEP, 0
        self.setModel(model)
        self.setItemDelegate(_BranchDelegate(self, model))
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.setWordWrap(False)
        self.setMouseTracking(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.verticalHeader().hide()
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.verticalHeader().setMinimumSectionSize(1)
        self.verticalHeader().setDefaultSectionSize(self.fontMetrics().height() + _ROW_PADDING)
        header = self.horizontalHeader()
        header.hide()
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        header.setSectionResizeMode(1, QHeaderView.ResizeMode.Fixed)
        header.resizeSection(1, _DETAIL_WIDTH)
        self.doubleClicked.connect(self._double_clicked)

    def branch(self, index: Index) -> QRect:
        """Where the arrow of a row is, in the viewport; its name begins behind it."""
        rect = self.visualRect(index.siblingAtColumn(0))
        depth = int(self._outline.scopes.depth[self._outline.item(index)]) - 1
        left = min((depth - self.shared) * self.step, rect.width() / 2)
        return QRect(rect.x() + int(max(left, 0)), rect.y(), int(_STEP), rect.height())

    def _indent(self) -> None:
        """Choose the indentation for the rows in view."""
        rows, height = self._outline.rows, self.viewport().height()
        first, last = self.rowAt(0), self.rowAt(height - 1)
        seen = rows[max(first, 0) : last + 1 if last >= 0 else len(rows)]
        if self._outline.scopes is None or not len(seen):
            return
        depths = self._outline.scopes.depth[seen] - 1
        room, deepest = self.columnWidth(0) / 2, int(depths.max())
        self.shared = int(depths.min()) if deepest * _STEP > room else 0
        self.step = min(_STEP, max(room / max(deepest - self.shared, 1), _LEAST_STEP))

    def paintEvent(self, event: QPaintEvent) -> None:
        before = self.step, self.shared
        self._indent()
        if before != (self.step, self.shared):
            self.viewport().update()  # what scrolling moved was painted with another indentation
        super().paintEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if not self._toggled_at(event.position().toPoint(), event.button()):
            super().mousePressEvent(event)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        if not self._toggled_at(event.position().toPoint(), event.button()):
            super().mouseDoubleClickEvent(event)

    def _toggled_at(self, where: QPoint, button: Qt.MouseButton) -> bool:
        index = self.indexAt(where)
        on_arrow = button == Qt.MouseButton.LeftButton and index.isValid() and self.branch(index).contains(where)
        if on_arrow and self._outline.scopes.is_scope[self._outline.item(index)]:
            self.toggle(index)
            return True
        return False

    def _double_clicked(self, index: QModelIndex) -> None:
        self.toggle(index)

    def toggle(self, index: Index) -> None:
        """Open a scope, or close it."""
        (self._outline.close_at if self._outline.is_open(index) else self._outline.open_at)(index)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Right opens, then goes in; left closes, then goes out."""
        index, model, key = self.currentIndex(), self._outline, event.key()
        if not index.isValid() or key not in (Qt.Key.Key_Right, Qt.Key.Key_Left, Qt.Key.Key_Plus, Qt.Key.Key_Minus):
            super().keyPressEvent(event)
        elif key in (Qt.Key.Key_Left, Qt.Key.Key_Minus):
            if model.is_open(index):
                model.close_at(index)
            elif key == Qt.Key.Key_Left:
                self._go(model.index_of(int(model.scopes.parent[model.item(index)])))
        elif not model.is_open(index):
            model.open_at(index)
        elif key == Qt.Key.Key_Right:
            self._go(model.index(index.row() + 1, 0))

    def _go(self, index: QModelIndex) -> None:
        if index.isValid():
            self.setCurrentIndex(index)


class _BranchDelegate(QStyledItemDelegate):
    """Paints a row's arrow, and its name behind it."""

    def __init__(self, tree: OutlineTree, model: OutlineModel) -> None:
        super().__init__(tree)
        self._tree, self._model = tree, model

    def initStyleOption(self, option: QStyleOptionViewItem, index: Index) -> None:
        super().initStyleOption(option, index)
        option.state &= ~QStyle.StateFlag.State_HasFocus

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        if index.column() == 0:
            branch = self._tree.branch(index)
            self._paint_branch(painter, option, index, branch)
            option.rect = option.rect.adjusted(branch.right() + 1 - option.rect.x(), 0, 0, 0)
        super().paint(painter, option, index)

    def _paint_branch(self, painter: QPainter, option: QStyleOptionViewItem, index: Index, rect: QRect) -> None:
        model = self._model
        if option.state & QStyle.StateFlag.State_Selected:
            before = QRect(option.rect.x(), rect.y(), rect.right() + 1 - option.rect.x(), rect.height())
            painter.fillRect(before, option.palette.highlight())
        if model.scopes.is_scope[model.item(index)]:
            painter.save()
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(QPen(option.palette.text().color(), 1.3))
            painter.translate(QRectF(rect).center())
            painter.rotate(90 if model.is_open(index) else 0)
            painter.drawPolyline(_ARROW)
            painter.restore()
