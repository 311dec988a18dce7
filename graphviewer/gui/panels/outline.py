"""The scope tree of the current version, filtered while typing."""

from __future__ import annotations

from typing import Any

import numpy as np
from PySide6.QtCore import QAbstractItemModel, QModelIndex, QPersistentModelIndex, Qt
from PySide6.QtWidgets import QHeaderView, QLineEdit, QTreeView, QVBoxLayout, QWidget

from graphviewer.gui.state.selection import AFTER, ANY, Selection
from graphviewer.gui.state.session import Session
from graphviewer.gui.state.versions import Comparison
from graphviewer.gui.words.texts import tip
from graphviewer.model.scopes import ROOT, Scopes

Index = QModelIndex | QPersistentModelIndex


class OutlineModel(QAbstractItemModel):
    """Items of a scope tree; keeps no object per item."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.scopes: Scopes | None = None
        self._visible: np.ndarray | None = None
        self._rows: dict[int, list[int]] = {}

    def set_scopes(self, scopes: Scopes | None, text: str = "") -> None:
        """Show another tree, or the same one with another filter."""
        self.beginResetModel()
        self.scopes, self._rows, self._visible = scopes, {}, None
        if scopes is not None and text:
            self._visible = _matching_items(scopes, text.lower())
        self.endResetModel()

    def children_of(self, item: int) -> list[int]:
        """The visible children of an item."""
        if item not in self._rows and self.scopes is not None:
            children = self.scopes.children(item)
            if self._visible is not None:
                children = children[self._visible[children]]
            self._rows[item] = children.tolist()
        return self._rows.get(item, [])

    def item(self, index: Index) -> int:
        """The item behind an index; the root for an invalid one."""
        return int(index.internalId()) if index.isValid() else ROOT

    def index_of(self, item: int) -> QModelIndex:
        """The index of an item; invalid where the filter hides it."""
        if self.scopes is None or item == ROOT:
            return QModelIndex()
        siblings = self.children_of(int(self.scopes.parent[item]))
        return self.createIndex(siblings.index(item), 0, item) if item in siblings else QModelIndex()

    def index(self, row: int, column: int, parent: Index = QModelIndex()) -> QModelIndex:  # noqa: B008
        rows = self.children_of(self.item(parent))
        return self.createIndex(row, column, rows[row]) if 0 <= row < len(rows) else QModelIndex()

    def parent(self, index: Index = QModelIndex()) -> Any:  # type: ignore[override]  # noqa: B008
        if not index.isValid() or self.scopes is None:
            return QModelIndex()
        return self.index_of(int(self.scopes.parent[self.item(index)]))

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return len(self.children_of(self.item(parent))) if self.scopes is not None else 0

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 2

    def hasChildren(self, parent: Index = QModelIndex()) -> bool:  # noqa: B008
        return self.scopes is not None and bool(self.scopes.is_scope[self.item(parent)])

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if self.scopes is None or not index.isValid():
            return None
        item = self.item(index)
        if role == Qt.ItemDataRole.DisplayRole:
            return self.scopes.labels[item] if index.column() == 0 else self._detail(item)
        if role == Qt.ItemDataRole.ToolTipRole:
            return tip(self.scopes.path(item))
        if role == Qt.ItemDataRole.TextAlignmentRole and index.column() == 1:
            return int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        return None

    def _detail(self, item: int) -> str:
        assert self.scopes is not None
        node = int(self.scopes.node[item])
        return self.scopes.graph.ops[node] if node >= 0 else f"{self.scopes.size[item]:,}"


def _matching_items(scopes: Scopes, text: str) -> np.ndarray:
    """bool [items]: items that hold a node whose name or op contains ``text`` (lower case)."""
    graph = scopes.graph
    hits = [text in name.lower() or text in op.lower() for name, op in zip(graph.names, graph.ops, strict=True)]
    rows = np.zeros((len(scopes), 1), np.int32)
    rows[scopes.leaf[np.flatnonzero(hits)]] = 1
    return np.asarray(scopes.roll_up(rows)[:, 0] > 0)


class Outline(QWidget):
    """Filter line and tree; selecting a row selects the node or scope everywhere."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self.filter = QLineEdit(placeholderText="Filter by name or op", clearButtonEnabled=True)
        self.model = OutlineModel(self)
        self.tree = QTreeView(uniformRowHeights=True, headerHidden=True, alternatingRowColors=False)
        self.tree.setModel(self.model)
        self.tree.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.tree.header().setStretchLastSection(False)
        self.tree.header().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        self.tree.header().setSectionResizeMode(1, QHeaderView.ResizeMode.Fixed)
        self.tree.header().resizeSection(1, 88)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(6, 6, 6, 6)
        layout.addWidget(self.filter)
        layout.addWidget(self.tree)
        self._following = False
        self.filter.textChanged.connect(self._refresh)
        self.tree.selectionModel().currentChanged.connect(self._row_chosen)
        self.tree.activated.connect(self._row_activated)
        session.current_changed.connect(self._refresh)
        session.selection_changed.connect(self._follow)

    def _refresh(self) -> None:
        version, text = self._session.version, self.filter.text().strip()
        self.model.set_scopes(version.document.unfolded.scopes if version else None, text)
        if text and self.model.scopes is not None:
            self._open_filtered()
        self._follow()

    def _open_filtered(self, limit: int = 300) -> None:
        """Open matching scopes breadth first, until ``limit`` rows show."""
        level, shown = [ROOT], 0
        while level and shown < limit:
            following = []
            for item in level:
                children = self.model.children_of(item)
                shown += len(children)
                self.tree.expand(self.model.index_of(item))
                following += [child for child in children if self.model.scopes.is_scope[child]]
                if shown >= limit:
                    break
            level = following

    def _row_chosen(self, index: QModelIndex) -> None:
        if not self._following and index.isValid() and self.model.scopes is not None:
            self._session.select(Selection.of(self.model.scopes, self.model.item(index), self._side), reveal=True)

    def _row_activated(self, index: QModelIndex) -> None:
        scopes = self.model.scopes
        if scopes is not None and scopes.is_scope[self.model.item(index)]:
            self._session.toggle(scopes.path(self.model.item(index)), self._side)

    @property
    def _side(self) -> int:
        """The tree is that of the graph after, where two are side by side."""
        current = self._session.current
        return AFTER if isinstance(current, Comparison) and not current.is_merged_shown else ANY

    def _follow(self) -> None:
        """Show the session's selection, without selecting it again."""
        selection, scopes, current = self._session.selection, self.model.scopes, self._session.current
        if selection is not None and isinstance(current, Comparison):
            selection = current.twins.seen(selection, AFTER)
        item = selection.item(scopes) if selection is not None and scopes is not None else None
        self._following = True
        index = self.model.index_of(item) if item is not None else QModelIndex()
        self.tree.setCurrentIndex(index)
        if index.isValid():
            self.tree.scrollTo(index)
        self._following = False
