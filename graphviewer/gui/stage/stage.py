"""The middle of the window: version tabs, breadcrumb, one or two canvases, legend, welcome page."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING
from urllib.parse import unquote
from weakref import WeakKeyDictionary, ref

from PySide6.QtCore import QPoint, QPointF, QRectF, Qt, QTimer, Signal
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLabel,
    QMenu,
    QSizePolicy,
    QSplitter,
    QStackedWidget,
    QTabBar,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from graphviewer.gui.canvas.signs import sign
from graphviewer.gui.stage.crumbs import crumbs
from graphviewer.gui.stage.legend import Legend, swatch
from graphviewer.gui.stage.pane_title import PaneTitle
from graphviewer.gui.stage.welcome import Welcome
from graphviewer.gui.state.session import Selection, Session
from graphviewer.gui.state.versions import Comparison, Tab, Version
from graphviewer.gui.words.texts import label, tip

if TYPE_CHECKING:
    from graphviewer.gui.canvas.camera import Camera
    from graphviewer.gui.stage.pane import Pane
    from graphviewer.gui.style.theme import Theme

NEAR = 40
"""Boxes around the middle of a view among which one is looked for that is on both sides."""


class Stage(QWidget):
    """Shows the session's current tab."""

    compare_requested = Signal(object, object)  # Version before, Version after
    menu_requested = Signal(object, QPoint)  # Selection, where
    panes_made = Signal()
    close_requested = Signal(object)  # Tab

    def __init__(self, session: Session, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session, self._theme = session, theme
        self.tabs = QTabBar(expanding=False, drawBase=False, usesScrollButtons=True)
        self.tabs.setElideMode(Qt.TextElideMode.ElideNone)
        self.tabs.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.breadcrumb = QLabel(objectName="breadcrumb", textFormat=Qt.TextFormat.RichText)
        self.breadcrumb.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.merged_button = QToolButton(text="Merged view", checkable=True)
        self.merged_button.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.merged_button.setToolTip("One drawing: removed nodes ghosted, added ones lit")
        self.changes_button = QToolButton(text="Changes only", checkable=True)
        self.changes_button.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.changes_button.setToolTip("Open what holds changes, close and ghost what is the same")
        self.titles = (PaneTitle(), PaneTitle())
        self.legend = Legend(session, theme)
        self.welcome = Welcome()
        self.tools = QVBoxLayout()  # for lines of what is under way: a trace, a part that is shown
        self.pages = QStackedWidget()
        self._cameras: WeakKeyDictionary[Tab, Camera] = WeakKeyDictionary()
        self._shown: Tab | None = None
        self._syncing = False
        self._lay_out()
        self._connect()
        self._show_current()

    def _lay_out(self) -> None:
        self.splitter = QSplitter(Qt.Orientation.Horizontal, childrenCollapsible=False)
        for title in self.titles:
            side = QWidget()
            column = QVBoxLayout(side)
            column.setContentsMargins(0, 0, 0, 0)
            column.setSpacing(0)
            column.addWidget(title)
            self.splitter.addWidget(side)
        graph = QWidget()
        column = QVBoxLayout(graph)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        line = QHBoxLayout()
        line.setContentsMargins(6, 2, 6, 2)
        line.setSpacing(4)
        line.addWidget(self.breadcrumb, 1)
        line.addWidget(self.changes_button)
        line.addWidget(self.merged_button)
        column.addWidget(self.tabs)
        column.addLayout(line)
        column.addWidget(self.splitter, 1)
        column.addLayout(self.tools)
        column.addWidget(self.legend)
        self.pages.addWidget(self.welcome)
        self.pages.addWidget(graph)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.addWidget(self.pages)

    def _connect(self) -> None:
        session = self._session
        self.tabs.currentChanged.connect(self._tab_chosen)
        self.tabs.customContextMenuRequested.connect(self._tab_menu)
        self.merged_button.toggled.connect(self._merge)
        self.breadcrumb.linkActivated.connect(self._crumb)
        session.tabs_changed.connect(self._fill_tabs)
        session.current_changed.connect(self._show_current)
        session.selection_changed.connect(self._show_breadcrumb)
        session.style_changed.connect(self._cameras.clear)  # every graph will lie elsewhere

    @cached_property
    def _panes(self) -> tuple[Pane, Pane]:
        """Made on first use: the canvas's library takes a quarter of a second to import, and the window shows first."""
        from graphviewer.gui.stage.pane import Pane

        left, right = Pane(self._session, self._theme, self), Pane(self._session, self._theme, self)
        for at, (pane, other) in enumerate(((left, right), (right, left))):
            self.splitter.widget(at).layout().addWidget(pane.canvas, 1)
            pane.canvas.view_changed.connect(lambda rect, pane=pane, other=other: self._follow(pane, other, rect))
            pane.led.connect(lambda pane=pane, other=other: self._follow(other, pane, other.canvas.view_rect()))
            pane.menu_requested.connect(self.menu_requested)
        QTimer.singleShot(0, self, self.panes_made.emit)
        return left, right

    def prepare(self) -> None:
        """Make the panes now, in the GUI thread: two threads that import the canvas's library at once break it."""
        assert self._panes

    @property
    def left(self) -> Pane:
        """The pane of a single graph, a merged one, or the one before."""
        return self._panes[0]

    @property
    def right(self) -> Pane:
        """The pane of the graph after."""
        return self._panes[1]

    # -- tabs ---------------------------------------------------------------------------------------------------

    def _fill_tabs(self) -> None:
        self.tabs.blockSignals(True)
        while self.tabs.count():
            button = self.tabs.tabButton(0, QTabBar.ButtonPosition.RightSide)
            self.tabs.removeTab(0)
            button.deleteLater()
        for tab in self._session.tabs:
            at = self.tabs.addTab(label(tab.title))
            self.tabs.setTabButton(at, QTabBar.ButtonPosition.RightSide, self._close_button(tab))
            self.tabs.setTabToolTip(at, tip(tab.summary if isinstance(tab, Version) and tab.summary else tab.title))
        if self._session.current in self._session.tabs:
            self.tabs.setCurrentIndex(self._session.tabs.index(self._session.current))
        self.tabs.blockSignals(False)

    def _close_button(self, tab: Tab) -> QToolButton:
        button = QToolButton(text="✕", autoRaise=True, objectName="closeTab")
        button.setToolTip("Close this tab")
        button.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # a Space must never close what is not saved
        known = ref(tab)  # a button outlives its tab by a turn of the event loop, and must not keep the graph in memory
        button.clicked.connect(lambda: self._ask_to_close(known()))
        return button

    def _ask_to_close(self, tab: Tab | None) -> None:
        """Pass the wish on, unless the tab is closed already."""
        if tab in self._session.tabs:
            self.close_requested.emit(tab)

    def _tab_chosen(self, at: int) -> None:
        if 0 <= at < len(self._session.tabs):
            self._session.show_tab(self._session.tabs[at])

    def _tab_menu(self, where: QPoint) -> None:
        at = self.tabs.tabAt(where)
        tab = self._session.tabs[at] if at >= 0 else None
        if not isinstance(tab, Version):
            return
        menu = QMenu(self)
        others = [other for other in self._session.versions() if other is not tab]
        for other in others:
            menu.addAction(
                label(f"Compare with {other.title}"), lambda other=other: self.compare_requested.emit(other, tab)
            )
        if not others:
            menu.addAction("Nothing to compare with: open a second file").setEnabled(False)
        menu.addAction("Close", lambda: self._ask_to_close(tab))
        menu.exec(self.tabs.mapToGlobal(where))

    # -- the current tab ----------------------------------------------------------------------------------------

    def _show_current(self) -> None:
        previous, tab = self._shown, self._session.current
        if previous is None and tab is None:
            return
        if previous is not None and self.left.is_in_place:
            self._cameras[previous] = self.left.canvas.camera
        self._shown = tab
        self.pages.setCurrentIndex(0 if tab is None else 1)
        if tab in self._session.tabs:
            self.tabs.blockSignals(True)
            self.tabs.setCurrentIndex(self._session.tabs.index(tab))
            self.tabs.blockSignals(False)
        for button in (self.merged_button, self.changes_button):
            button.setVisible(isinstance(tab, Comparison))
        self._fill_panes()
        self._show_breadcrumb()

    def _fill_panes(self) -> None:
        tab = self._shown
        known = self._cameras.get(tab) if tab is not None else None
        split = isinstance(tab, Comparison) and not tab.is_merged_shown
        self.splitter.widget(1).setVisible(split)
        for title in self.titles:
            title.setVisible(split)
        if isinstance(tab, Comparison):
            self.merged_button.setChecked(tab.is_merged_shown)
            self._show_titles(tab)
        from graphviewer.gui.stage.subjects import subjects_of

        left, right = subjects_of(tab)
        self.left.show_subject(left, fit=known is None)
        self.right.show_subject(right, fit=known is None)
        if known is not None:
            self.left.canvas.look_like(known)

    def _show_titles(self, tab: Comparison) -> None:
        counts, inside = tab.diff.summary(), tab.diff.summary_inside()
        sides = (("before", "removed"), ("after", "added"))
        for (side, status), title, name in zip(sides, self.titles, tab.titles, strict=True):
            icon = swatch(self._theme.category("diff", status), sign("diff", status))
            told = [f"{counts[status]:,} {status}"] if counts[status] else []
            told += [f"{inside[status]:,} {status} in functions"] if inside[status] else []
            title.say(f"{side}: {name}", ", ".join(told), icon)

    def _merge(self, checked: bool) -> None:
        if isinstance(self._shown, Comparison) and self._shown.is_merged_shown != checked:
            self._shown.is_merged_shown = checked
            self._cameras.pop(self._shown, None)
            self._fill_panes()
            self._session.overlay_changed.emit()  # its counts are others now
            if self._session.selection is not None:
                for pane in self.panes():  # what was looked at is looked at still
                    pane.reveal(self._session.selection)

    @property
    def is_comparing(self) -> bool:
        """Whether the current tab compares two versions."""
        return isinstance(self._shown, Comparison)

    def toggle_merged(self) -> None:
        """Split view to merged view, and back."""
        self.merged_button.toggle()

    def all_panes(self) -> tuple[Pane, ...]:
        """The panes there are; none before the first graph."""
        return vars(self).get("_panes", ())

    def panes(self) -> list[Pane]:
        """The panes that show something, left first."""
        return [pane for pane in self.all_panes() if pane.subject is not None]

    def show_anew(self, view: Camera | None = None) -> None:
        """Show the current tab as if for the first time: another part of its graph is to be seen, all or ``view``."""
        if self._shown is not None:
            self._cameras.pop(self._shown, None)
            if view is not None:
                self._cameras[self._shown] = view
        self._fill_panes()

    def focus_canvas(self) -> None:
        """Let keys go to the canvas."""
        for pane in self.panes()[:1]:
            pane.canvas.setFocus()

    def fit(self) -> None:
        """Bring the drawing into view at a size that can be read; once more, all of it, however small."""
        for pane in self.panes()[:1]:
            canvas, before = pane.canvas, pane.canvas.camera
            canvas.fit()
            if canvas.camera == before and pane.drawing is not None:
                canvas.show_all()

    def set_theme(self, theme: Theme) -> None:
        """Paint with other colours."""
        self._theme = theme
        self.legend.set_theme(theme)
        if isinstance(self._shown, Comparison):
            self._show_titles(self._shown)
        for links in (self.breadcrumb, self.welcome.recent):  # which keep their colours as long as their text
            text = links.text()
            links.clear()
            links.setText(text)
        for pane in self.all_panes():
            pane.canvas.set_theme(theme)

    # -- keeping two views in step ------------------------------------------------------------------------------

    def _follow(self, leader: Pane, follower: Pane, rect: QRectF) -> None:
        """Show the same part of the graph at the same scale in the other pane."""
        if self._syncing or follower.drawing is None or leader.drawing is None:
            return
        self._syncing = True
        try:
            corner = rect.topLeft() + self._offset(leader, follower)
            camera, scale = follower.canvas.camera, leader.canvas.camera.scale
            follower.canvas.show_camera(camera._replace(scale=scale, left=corner.x(), top=corner.y()))
        finally:
            self._syncing = False

    @staticmethod
    def _offset(leader: Pane, follower: Pane) -> QPointF:
        """How far the twin of the box in the middle of the leader's view is moved in the follower's drawing.

        Of the box nearest to the middle that has a twin: in the middle may be what only one graph has. Graphs without
        twins have the middles of their first rows below each other.
        """
        for item in leader.canvas.central_items(NEAR):
            twin = follower.item_of(leader.selection_of(item))
            here = leader.canvas.item_rect(item)
            there = follower.canvas.item_rect(twin) if twin is not None else None
            if here is not None and there is not None:
                return there.topLeft() - here.topLeft()
        return QPointF((follower.drawing.width - leader.drawing.width) / 2, 0)

    # -- breadcrumb ---------------------------------------------------------------------------------------------

    def _show_breadcrumb(self) -> None:
        family, selection = self._session.family, self._session.selection
        self.breadcrumb.setText(crumbs(family.title if family else "", selection.path if selection else ""))

    def _crumb(self, target: str) -> None:
        path = unquote(target).strip()
        if path:
            self._session.select(Selection(path, is_scope=True), reveal=True)
        else:
            self.fit()
