"""The scope tree of the current version, filtered while typing."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex
from PySide6.QtWidgets import QLineEdit, QVBoxLayout, QWidget

from graphviewer.gui.panels.outline_tree import OutlineModel, OutlineTree
from graphviewer.gui.state.selection import AFTER, ANY, Selection
from graphviewer.gui.state.session import Session
from graphviewer.gui.state.versions import Comparison


class Outline(QWidget):
    """Filter line and tree; selecting a row selects the node or scope everywhere."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self.filter = QLineEdit(placeholderText="Filter by name or op", clearButtonEnabled=True)
        self.model = OutlineModel(self)
        self.tree = OutlineTree(self.model)
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
        version = self._session.version
        scopes = version.document.unfolded.scopes if version else None
        self.model.set_scopes(scopes, self.filter.text().strip())
        self.tree.scrollToTop()
        self._follow()

    def _row_chosen(self, index: QModelIndex, before: QModelIndex) -> None:
        is_other = index.row() != before.row() or not before.isValid()
        if not self._following and index.isValid() and is_other and self.model.scopes is not None:
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
        index = self.model.reach(item) if item is not None else QModelIndex()
        self.tree.setCurrentIndex(index)
        if index.isValid():
            self.tree.scrollTo(index)
        self._following = False
