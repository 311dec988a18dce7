"""Search while typing: a line, its hits as a list and as an overlay."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from PySide6.QtCore import QAbstractListModel, QEvent, QModelIndex, QObject, QPersistentModelIndex, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QLineEdit, QListView, QTextBrowser, QToolButton, QVBoxLayout, QWidget

from graphviewer.gui.panels.search_row import Row, RowDelegate
from graphviewer.gui.state.lenses import Lenses, Shown
from graphviewer.gui.state.session import Selection, Session
from graphviewer.gui.style.theme import Theme, icon
from graphviewer.gui.words.texts import tip
from graphviewer.model.overlay import role_label

if TYPE_CHECKING:
    from graphviewer.analysis.search import Hits, SearchIndex
    from graphviewer.model.document import Document
    from graphviewer.model.overlay import Overlay

Index = QModelIndex | QPersistentModelIndex
ROW = int(Qt.ItemDataRole.UserRole)

MOST_ROWS = 2_000
"""Hits in the list, which lays out all its rows at once (16,000 take 30 ms). The overlay shows all hits."""


class HitsModel(QAbstractListModel):
    """Hits as rows; what a row says is worked out when it is looked at."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.document: Document | None = None
        self.hits: Hits | None = None
        self._roles: Overlay | None = None
        self._rows: dict[int, Row] = {}

    def set_hits(self, document: Document | None, hits: Hits | None) -> None:
        """Show other hits."""
        self.beginResetModel()
        self.document, self.hits, self._rows = document, hits, {}
        self.endResetModel()

    def set_roles(self, roles: Overlay | None) -> None:
        """Tell what the nodes are for; they may become known while hits are shown."""
        if roles is not self._roles:
            self._roles, self._rows = roles, {}
            if self.rowCount():
                self.dataChanged.emit(self.index(0), self.index(self.rowCount() - 1))

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if self.hits is None or parent.isValid() else min(len(self.hits), MOST_ROWS)

    def selection(self, row: int) -> Selection:
        """What a row is about."""
        assert self.document is not None and self.hits is not None
        return Selection.of(self.document.scopes, int(self.hits.items[row]))

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
            self._rows[number] = Row.of(self.document, self.hits, int(self.hits.items[number]), self._roles)
        return self._rows[number]


class SearchPanel(QWidget):
    """Asks the index in the background, so that the window never waits for an answer."""

    searched = Signal()  # an answer is shown

    def __init__(self, session: Session, lenses: Lenses, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session, self._lenses = session, lenses
        self._indexes: WeakKeyDictionary[Document, SearchIndex] = WeakKeyDictionary()
        self.entry = QLineEdit(placeholderText="conv  op:Conv2D  shape:[?,10]  /regex/", clearButtonEnabled=True)
        self.state = QLabel(objectName="subtle", wordWrap=True, textFormat=Qt.TextFormat.RichText)
        self.model = HitsModel(self)
        self.list = QListView(uniformItemSizes=True)
        self.list.setModel(self.model)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        self.help = QTextBrowser(objectName="searchHelp")
        self._nodes = 0
        self.previous, self.next = QToolButton(autoRaise=True), QToolButton(autoRaise=True)
        self.previous.setToolTip("Previous hit (Shift+F3)")
        self.next.setToolTip("Next hit (F3, Enter)")
        self._lay_out()
        self._connect()
        self.set_theme(theme)
        self._show_state()

    def _lay_out(self) -> None:
        line = QHBoxLayout()
        line.setSpacing(2)
        line.addWidget(self.entry, 1)
        line.addWidget(self.previous)
        line.addWidget(self.next)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(6, 6, 6, 6)
        layout.addLayout(line)
        layout.addWidget(self.state)
        layout.addWidget(self.list, 1)
        layout.addWidget(self.help, 1)

    def _connect(self) -> None:
        self.entry.textChanged.connect(lambda _text: self.search())
        self.entry.installEventFilter(self)
        self.list.installEventFilter(self)
        self.list.clicked.connect(lambda index: self._go(index.row()))
        self.list.activated.connect(lambda index: self._go(index.row()))
        self.next.clicked.connect(lambda: self.step(1))
        self.previous.clicked.connect(lambda: self.step(-1))
        self._session.current_changed.connect(self._tab_changed)
        self._session.overlay_changed.connect(self._show_roles)

    def set_theme(self, theme: Theme) -> None:
        """Use other colours."""
        self._theme = theme
        self.previous.setIcon(icon("chevron-up", theme))
        self.next.setIcon(icon("chevron-down", theme))
        self.list.setItemDelegate(RowDelegate(theme, self.list))
        self.help.setHtml(_help(theme))
        self._show_state()

    # -- asking -------------------------------------------------------------------------------------------------

    def begin(self) -> None:
        """Go to the line, ready to type."""
        self.entry.setFocus()
        self.entry.selectAll()
        self._prepare()
        if self.entry.text() and not self._lenses.kind:
            self.search()

    def _index(self, graph: Shown) -> SearchIndex:
        from graphviewer.analysis.search import SearchIndex

        if graph.document not in self._indexes:
            self._indexes[graph.document] = SearchIndex(graph.document)
        return self._indexes[graph.document]

    def _prepare(self) -> None:
        """Read the attributes of what is on screen; until that is done, names and ops answer."""
        waiting = [index for index in map(self._index, self._lenses.shown()) if not index.is_complete]

        def work() -> None:
            for index in waiting:
                index.complete()

        if waiting:
            self._session.background.submit(
                "index", "index", work, lambda _none: self.search(), self._session.failed.emit
            )

    def search(self) -> None:
        """Answer what is in the line."""
        from graphviewer.analysis.search import QueryError, parse_query, search_overlay

        graphs = self._lenses.shown()
        try:
            query = parse_query(self.entry.text())
        except QueryError as error:
            self._show_nothing(error.message)
            return
        if not query or not graphs:
            self._show_nothing("")
            return
        asked = [(graph.document, self._index(graph), _roles(graph)) for graph in graphs]
        self._prepare()

        def work() -> list[tuple[Hits, Overlay]]:
            found = [(document, index.search(query, roles)) for document, index, roles in asked]
            return [(hits, search_overlay(document, hits)) for document, hits in found]

        def done(found: list[tuple[Hits, Overlay]]) -> None:
            if graphs == self._lenses.shown():
                self._take(graphs, found)

        self._session.background.submit("search", "search", work, done, self._session.failed.emit)

    def _take(self, graphs: list[Shown], found: list[tuple[Hits, Overlay]]) -> None:
        hits = found[-1][0]
        same = self.model.hits is not None and self.model.hits.query == hits.query
        at = self.list.currentIndex().row() if same else -1
        self.model.set_hits(graphs[-1].document, hits)
        self._show_roles()
        if 0 <= at < self.model.rowCount():
            self.list.setCurrentIndex(self.model.index(at))
        if len(hits):
            self._lenses.show("search", graphs, [overlay for _, overlay in found])
        else:
            self._lenses.leave("search")
        self._nodes = int((graphs[-1].document.scopes.node[hits.items] >= 0).sum())
        self._show_state()
        self.searched.emit()

    def _show_roles(self) -> None:
        graphs = self._lenses.shown()
        if self.model.hits is not None and graphs and graphs[-1].document is self.model.document:
            self.model.set_roles(_roles(graphs[-1]))

    def _show_nothing(self, problem: str) -> None:
        self._session.background.drop("search")
        self.model.set_hits(None, None)
        self._lenses.leave("search")
        self._show_state(problem)
        self.searched.emit()

    def _tab_changed(self) -> None:
        self.model.set_hits(None, None)
        if self.entry.text() and self._lenses.kind == "search":
            self.search()
        else:
            self._show_state()

    # -- the answer ---------------------------------------------------------------------------------------------

    def _show_state(self, problem: str = "") -> None:
        hits = self.model.hits
        for button in (self.previous, self.next):
            button.setEnabled(bool(hits))
        if problem:
            text = f"<span style='color: {self._theme.color('window.warning').name()}'>{escape(problem)}</span>"
        elif hits is None:
            text = ""
        else:
            text = _count_text(hits, self._nodes, self.list.currentIndex().row())
        self.state.setText(text)
        self.state.setVisible(bool(text))
        self.list.setVisible(hits is not None)
        self.help.setVisible(hits is None)

    @property
    def has_hits(self) -> bool:
        """Whether there is something to step through."""
        return bool(self.model.hits)

    def step(self, by: int) -> None:
        """Go to the next or previous hit, opening the scopes around it."""
        rows, at = self.model.rowCount(), self.list.currentIndex().row()
        if rows:
            self._go((at + by) % rows if at >= 0 else (0 if by > 0 else rows - 1))

    def _go(self, row: int) -> None:
        self.list.setCurrentIndex(self.model.index(row))
        if self._lenses.kind != "search":
            self.search()  # its overlay was left, or another one covers it
        self._session.select(self.model.selection(row), reveal=True)
        self._show_state()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Enter goes on, Shift+Enter back; the down arrow leads from the line into the list."""
        if event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            key, is_shifted = event.key(), bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
            if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and watched is self.entry:
                self.step(-1 if is_shifted else 1)
                return True
            if key in (Qt.Key.Key_Down, Qt.Key.Key_Up) and (watched is self.entry or not is_shifted):
                self.step(1 if key == Qt.Key.Key_Down else -1)
                return True
        return super().eventFilter(watched, event)


def _roles(graph: Shown) -> Overlay | None:
    """The roles of a graph's nodes, those inside functions included."""
    from graphviewer.model.bodies import extended

    roles = graph.tab.overlay("roles")
    return None if roles is None else extended(roles, graph.document)


def _count_text(hits: Hits, nodes: int, at: int) -> str:
    if not len(hits):
        return f"Nothing found: {hits.note}." if hits.note else "Nothing found."
    scopes = len(hits) - nodes
    text = f"{at + 1:,} of " if at >= 0 else ""
    text += f"{nodes:,} node{'s' if nodes != 1 else ''}" if nodes else ""
    text += (" + " if nodes else "") + f"{scopes:,} scope{'s' if scopes != 1 else ''}" if scopes else ""
    if len(hits) > MOST_ROWS:
        text += f" · the best {MOST_ROWS:,} are listed"
    if hits.similar:
        text += f" · similar to “{escape('”, “'.join(hits.similar))}”"
    return text + (f" · {hits.note}" if hits.note else "")


def _help(theme: Theme) -> str:
    from graphviewer.analysis.search import LANGUAGE

    muted, text = theme.color("window.muted").name(), theme.color("window.text").name()
    rows = "".join(
        f"<tr><td style='color: {text}; padding: 2px 10px 2px 0'>{escape(example).replace(' ', '&nbsp;')}</td>"
        f"<td style='color: {muted}; padding: 2px 0'>{escape(meaning)}</td></tr>"
        for example, meaning in LANGUAGE
    )
    return f"<table>{rows}</table>"
