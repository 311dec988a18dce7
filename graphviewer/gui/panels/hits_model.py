"""The answer to a search as a list."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from graphviewer.gui.panels.search_row import Row
from graphviewer.gui.state.selection import BEFORE, Selection
from graphviewer.gui.words.texts import tip
from graphviewer.model.overlay import role_label

if TYPE_CHECKING:
    from graphviewer.analysis.search import Hits
    from graphviewer.model.document import Document
    from graphviewer.model.graph import Ints
    from graphviewer.model.overlay import Overlay

Index = QModelIndex | QPersistentModelIndex
ROW = int(Qt.ItemDataRole.UserRole)

MOST_ROWS = 2_000
"""Hits in the list, which lays out all its rows at once (16,000 take 30 ms). The overlay shows all hits."""


class OnlyBefore(NamedTuple):
    """Hits in the first of two graphs side by side whose twins, if they have any, are no hits in the second."""

    document: Document
    hits: Hits
    items: Ints


def hits_only_before(twins: Ints, before: tuple[Document, Hits], after: Hits) -> OnlyBefore:
    """The hits in the graph before that are none in the one after.

    Args:
        twins: int32 [items before], the item after, -1 for none.
        before: the graph, and its hits.
        after: the hits in the other one.
    """
    document, hits = before
    return OnlyBefore(document, hits, hits.items[~np.isin(twins[hits.items], after.items)])


class HitsModel(QAbstractListModel):
    """Hits as rows; what a row says is worked out when it is looked at.

    Attributes:
        document, hits: the graph that is searched, and the answer; both None where nothing is asked.
        only_before: of two graphs side by side, the hits in the one before that are none in the other; they come last.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.document: Document | None = None
        self.hits: Hits | None = None
        self.only_before: OnlyBefore | None = None
        self._roles: Overlay | None = None
        self._rows: dict[int, Row] = {}

    def set_hits(self, document: Document | None, hits: Hits | None, only_before: OnlyBefore | None = None) -> None:
        """Show other hits."""
        self.beginResetModel()
        self.document, self.hits, self.only_before, self._rows = document, hits, only_before, {}
        self.endResetModel()

    def set_roles(self, roles: Overlay | None) -> None:
        """Tell what the nodes are for; they may become known while hits are shown."""
        if roles is not self._roles:
            self._roles, self._rows = roles, {}
            if self.rowCount():
                self.dataChanged.emit(self.index(0), self.index(self.rowCount() - 1))

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else min(self.total, MOST_ROWS)

    @property
    def total(self) -> int:
        """Hits of all graphs, each once."""
        more = len(self.only_before.items) if self.only_before is not None else 0
        return more + (len(self.hits) if self.hits is not None else 0)

    def selection(self, row: int) -> Selection:
        """What a row is about."""
        assert self.document is not None and self.hits is not None
        if row < len(self.hits):
            return Selection.of(self.document.scopes, int(self.hits.items[row]))
        assert self.only_before is not None
        item = int(self.only_before.items[row - len(self.hits)])
        return Selection.of(self.only_before.document.scopes, item, BEFORE)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid() or self.hits is None:
            return None
        if role == ROW:
            return self.row(index.row())
        if role == Qt.ItemDataRole.DisplayRole:
            return self.row(index.row()).path
        if role == Qt.ItemDataRole.ToolTipRole:
            row = self.row(index.row())
            return tip("\n".join(filter(None, [row.path, row.op, role_label(row.role), *row.chips])))
        return None

    def row(self, number: int) -> Row:
        """What a row says."""
        if number not in self._rows:
            assert self.document is not None and self.hits is not None
            before = self.only_before
            if number < len(self.hits) or before is None:
                self._rows[number] = Row.of(self.document, self.hits, int(self.hits.items[number]), self._roles)
            else:
                item = int(before.items[number - len(self.hits)])
                self._rows[number] = Row.of(before.document, before.hits, item)
        return self._rows[number]
