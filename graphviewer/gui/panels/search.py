"""Search while typing: a line, its hits as a list and as an overlay."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QLineEdit, QListView, QTextBrowser, QToolButton, QVBoxLayout, QWidget

from graphviewer.gui.panels.hits_model import MOST_ROWS, HitsModel, OnlyBefore, hits_only_before
from graphviewer.gui.panels.search_row import RowDelegate
from graphviewer.gui.state.lenses import Lenses, Shown
from graphviewer.gui.state.session import Session
from graphviewer.gui.state.versions import Comparison
from graphviewer.gui.style.theme import Theme, icon

if TYPE_CHECKING:
    from graphviewer.analysis.search import Hits, SearchIndex
    from graphviewer.model.document import Document
    from graphviewer.model.overlay import Overlay


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
        self._searched_roles: Overlay | None = None
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
        self._searched_roles = asked[-1][2]
        current = self._session.current
        twins = current.twins.items.before if isinstance(current, Comparison) and len(graphs) > 1 else None
        self._prepare()

        def work() -> tuple[Hits, list[Overlay], OnlyBefore | None]:
            found = [(document, index.search(query, roles)) for document, index, roles in asked]
            only_before = hits_only_before(twins, found[0], found[-1][1]) if twins is not None else None
            return found[-1][1], [search_overlay(document, hits) for document, hits in found], only_before

        def done(found: tuple[Hits, list[Overlay], OnlyBefore | None]) -> None:
            if graphs == self._lenses.shown():
                self._take(graphs, *found)

        self._session.background.submit("search", "search", work, done, self._session.failed.emit)

    def _take(self, graphs: list[Shown], hits: Hits, overlays: list[Overlay], only_before: OnlyBefore | None) -> None:
        same = self.model.hits is not None and self.model.hits.query == hits.query
        at = self.list.currentIndex().row() if same else -1
        self.model.set_hits(graphs[-1].document, hits, only_before)
        self._show_roles()
        if 0 <= at < self.model.rowCount():
            self.list.setCurrentIndex(self.model.index(at))
        if self.model.total:
            self._lenses.show("search", graphs, overlays)
        else:
            self._lenses.leave("search")
        self._nodes = int((graphs[-1].document.scopes.node[hits.items] >= 0).sum())
        self._show_state()
        self.searched.emit()

    def _show_roles(self) -> None:
        graphs = self._lenses.shown()
        if self.model.hits is None or not graphs or graphs[-1].document is not self.model.document:
            return
        roles = _roles(graphs[-1])
        is_news = roles is not None and self._searched_roles is None
        if is_news and any(term.field == "role" for term in self.model.hits.query.terms):
            self.search()
        self.model.set_roles(roles)
        self._show_state()

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
            button.setEnabled(self.has_hits)
        if problem:
            text = f"<span style='color: {self._theme.color('window.warning').name()}'>{escape(problem)}</span>"
        elif hits is None:
            text = ""
        else:
            before = self.model.only_before
            only_before = len(before.items) if before is not None else 0
            at = self.list.currentIndex().row()
            text = self._roles_text(hits) or _count_text(hits, self._nodes, at, only_before)
        self.state.setText(text)
        self.state.setVisible(bool(text))
        self.list.setVisible(hits is not None)
        self.help.setVisible(hits is None)

    def _roles_text(self, hits: Hits) -> str:
        """Why a question about roles found nothing, where it is because roles are not known."""
        asks = any(term.field == "role" for term in hits.query.terms)
        graphs = self._lenses.shown()
        if len(hits) or not asks or not graphs or _roles(graphs[-1]) is not None:
            return ""
        family = self._session.family
        if family is not None and family.outputs:
            return "What nodes are for is being worked out …"
        return "What nodes are for is known once an output is chosen: press O on a node, or pick one under Endpoints."

    @property
    def has_hits(self) -> bool:
        """Whether there is something to step through."""
        return self.model.total > 0

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


def _count_text(hits: Hits, nodes: int, at: int, only_before: int) -> str:
    if not len(hits) and only_before:
        return f"{f'{at + 1:,} of ' if at >= 0 else ''}{only_before:,} in the graph before"
    if not len(hits):
        return f"Nothing found: {hits.note}." if hits.note else "Nothing found."
    scopes = len(hits) - nodes
    text = f"{at + 1:,} of " if at >= 0 else ""
    text += f"{nodes:,} node{'s' if nodes != 1 else ''}" if nodes else ""
    text += (" + " if nodes else "") + f"{scopes:,} scope{'s' if scopes != 1 else ''}" if scopes else ""
    text += f" · {only_before:,} more in the graph before" if only_before else ""
    if len(hits) + only_before > MOST_ROWS:
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
