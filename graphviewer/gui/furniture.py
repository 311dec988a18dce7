"""Menus, toolbar, panels, banner and status bar of a window: all that stands around the stage."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, QSettings, Qt
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import (
    QComboBox,
    QDockWidget,
    QFrame,
    QHBoxLayout,
    QLabel,
    QMenu,
    QProgressBar,
    QPushButton,
    QSizePolicy,
    QTabBar,
    QToolBar,
    QToolButton,
    QWidget,
)

from graphviewer.errors import GraphViewerError
from graphviewer.gui.actions import ACTIONS
from graphviewer.gui.panels.changes import ChangesPanel
from graphviewer.gui.panels.endpoints import EndpointsPanel
from graphviewer.gui.panels.inspector import Inspector
from graphviewer.gui.panels.jobs import JobsPanel
from graphviewer.gui.panels.operations import OperationsPanel
from graphviewer.gui.panels.outline import Outline
from graphviewer.gui.panels.problems import ProblemsPanel
from graphviewer.gui.panels.proof import ProofPanel
from graphviewer.gui.panels.search import SearchPanel
from graphviewer.gui.panels.variables import VariablesPanel
from graphviewer.gui.stage.choice_bar import ChoiceBar
from graphviewer.gui.state.lenses import LENSES
from graphviewer.gui.state.session import Selection
from graphviewer.gui.state.versions import Comparison
from graphviewer.gui.style.theme import Theme, icon
from graphviewer.gui.words.describe import page_style
from graphviewer.gui.words.line import Line
from graphviewer.gui.words.texts import label, readable
from graphviewer.gui.work.jobs import Run

if TYPE_CHECKING:
    from graphviewer.gui.window import Window

_LAYOUT = 3  # of the saved arrangement; raise it when panels come or go
ROOM = 250
"""Pixels of height for a panel below the canvas that has something to show."""


class Banner(QFrame):
    """A line above the stage that says what went wrong and what to do; never a box that must be clicked away."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("banner")
        self.text = QLabel(wordWrap=True, textFormat=Qt.TextFormat.PlainText)
        self.text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.text.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.button = QPushButton()
        self.button.clicked.connect(self._take_offer)
        self._offer: Callable[[], None] = self.hide
        close = QToolButton(text="✕", autoRaise=True)
        close.clicked.connect(self.hide)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(10, 4, 6, 4)
        layout.addWidget(self.text, 1)
        layout.addWidget(self.button)
        layout.addWidget(close)
        self.hide()

    def show_error(self, error: GraphViewerError) -> None:
        """Show what an error says."""
        self._show(f"{error.message}\n{error.hint}".strip(), "banner")

    def show_notice(self, text: str) -> None:
        """Show what to know about something that went well."""
        self._show(text, "notice")

    def _show(self, text: str, name: str) -> None:
        if self.objectName() != name:
            self.setObjectName(name)
            for widget in (self, self.text):
                widget.style().unpolish(widget)
                widget.style().polish(widget)
        self.text.setText(readable(text))
        self.button.hide()
        self.show()

    def offer(self, text: str, run: Callable[[], None]) -> None:
        """Add a button that does something about the error."""
        self._offer = run
        self.button.setText(text)
        self.button.show()

    def _take_offer(self) -> None:
        self.button.hide()
        self._offer()


class Furniture:
    """Builds and keeps the parts around the stage."""

    def __init__(self, window: Window) -> None:
        self._window = window
        session = window.session
        self.outline = Outline(session)
        self.search = SearchPanel(session, window.lenses, window.theme)
        self.endpoints = EndpointsPanel(session)
        self.inspector = Inspector(session)
        self.operations = OperationsPanel(session, window.operator)
        self.changes = ChangesPanel(session, window.theme)
        self.problems = ProblemsPanel(session, window.analyst)
        window.analyst.checked.connect(lambda _version: self.inspector.refresh())
        self.variables = VariablesPanel(session, window.jobs, window.theme)
        self.jobs = JobsPanel(window.jobs)
        self.proof = ProofPanel(session, window.prover, window.theme)
        self.choices = ChoiceBar(session, window.opener)
        self.banner = Banner()
        self._docks: dict[str, QDockWidget] = {}
        self._actions: dict[str, QAction] = {}
        self._build_actions()
        self._build_toolbar()
        self._build_docks()
        self._build_status()
        self.restore_state(window.store)
        for signal in (session.selection_changed, session.endpoints_changed, session.overlay_changed):
            signal.connect(self.refresh_actions)
        for signal in (self.search.searched, window.exploration.traced, window.exploration.isolated_changed):
            signal.connect(self.refresh_actions)

    # -- actions ------------------------------------------------------------------------------------------------

    def _build_actions(self) -> None:
        window = self._window
        menus: dict[str, QMenu] = {}
        for spec in ACTIONS:
            action = QAction(spec.text, window)
            action.setObjectName(spec.id)
            if spec.shortcut:
                action.setShortcuts([QKeySequence(key) for key in spec.shortcut.split("|")])
            action.triggered.connect(lambda _checked=False, spec=spec: spec.run(window))
            if spec.menu not in menus:
                above, _, title = spec.menu.rpartition("/")
                menus[spec.menu] = menus[above].addMenu(title) if above else window.menuBar().addMenu(title)
            menus[spec.menu].addAction(action)
            self._actions[spec.id] = action
        self._panels_menu = menus["View"].addMenu("Panels")
        more = menus["Operations"].addMenu("More")
        more.aboutToShow.connect(lambda: self.operations.request(lambda: self._fill_operations(more)))

    def _fill_operations(self, menu: QMenu) -> None:
        """Every operation of the registry, looked for when the menu is first opened."""
        if menu.isEmpty():
            for name, card in self.operations.cards.items():
                action = menu.addAction(label(card.heading.text()), lambda name=name: self._window.run_operation(name))
                action.setToolTip(card.heading.toolTip())

    def show_picking(self, kind: str) -> None:
        """Press the button of the pick mode that is on."""
        for name in ("outputs", "inputs"):
            self._actions[f"pick-{name}"].setCheckable(True)
            self._actions[f"pick-{name}"].setChecked(kind == name)

    def refresh_actions(self) -> None:
        """Enable what can be done now."""
        for spec in ACTIONS:
            self._actions[spec.id].setEnabled(spec.enabled(self._window))
        self._refresh_overlay()

    def show_context_menu(self, selection: Selection, where: QPoint) -> None:
        """What can be done with a node or scope."""
        ids = ["expand", "collapse", "expand-all"] if selection.is_scope else ["output", "input"]
        menu = QMenu(self._window)
        for name in ids:
            menu.addAction(self._actions[name])
        menu.addSeparator()
        for name in ("ancestors", "descendants", "both", "path", "isolate"):
            menu.addAction(self._actions[name])
        menu.addSeparator()
        if not selection.is_scope:
            self._offer_run(menu, selection)
        if self._actions["pin"].isEnabled():
            menu.addAction(self._actions["pin"])
        menu.addAction(self._actions["copy-name"])
        menu.exec(where)

    def _offer_run(self, menu: QMenu, selection: Selection) -> None:
        """Run the graph up to a node; one inside a function is not run alone."""
        current = self._window.session.current
        version, named = current.inspected(selection) if isinstance(current, Comparison) else (current, selection)
        run = menu.addAction("Run to Here", self._window.run_node)
        run.setEnabled(version is not None and named.path in version.document.graph.index)
        menu.addSeparator()

    # -- toolbar ------------------------------------------------------------------------------------------------

    def _build_toolbar(self) -> None:
        bar = QToolBar("Toolbar", objectName="toolbar", movable=False)
        bar.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        menu = ""
        for spec in ACTIONS:
            if spec.in_toolbar:
                if menu and spec.menu != menu:
                    bar.addSeparator()
                menu = spec.menu
                bar.addAction(self._actions[spec.id])
                keys = f" ({spec.shortcut.replace('|', ' or ')})" if spec.shortcut else ""
                self._actions[spec.id].setToolTip(spec.text.rstrip("…") + keys)
                if spec.menu == "View":
                    bar.widgetForAction(self._actions[spec.id]).setToolButtonStyle(
                        Qt.ToolButtonStyle.ToolButtonIconOnly
                    )
        self.overlay = QComboBox(objectName="overlay")
        for kind in ("roles", "diff", "search", "trace", "none"):
            self.overlay.addItem(f"Overlay: {kind}", kind)
        self.overlay.activated.connect(lambda _at: self._window.session.show_overlay(self.overlay.currentData()))
        spacer = QWidget()
        spacer.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        bar.addWidget(spacer)
        find = QPushButton("Search…   Ctrl+K", objectName="find")
        find.clicked.connect(self._window.show_palette)
        bar.addWidget(find)
        bar.addWidget(self.overlay)
        self._window.addToolBar(bar)
        self.toolbar = bar

    def _refresh_overlay(self) -> None:
        session = self._window.session
        self.overlay.setCurrentIndex(self.overlay.findData(session.overlay_kind))
        diff = self.overlay.model().item(self.overlay.findData("diff"))
        diff.setEnabled(isinstance(session.current, Comparison))
        for kind in LENSES:
            is_there = session.current is not None and kind in session.current.lenses
            self.overlay.model().item(self.overlay.findData(kind)).setEnabled(is_there)

    # -- panels -------------------------------------------------------------------------------------------------

    def _build_docks(self) -> None:
        window, area = self._window, Qt.DockWidgetArea
        size = window.size()
        window.setDockOptions(window.DockOption.AllowTabbedDocks | window.DockOption.AllowNestedDocks)
        window.setCorner(Qt.Corner.BottomLeftCorner, area.LeftDockWidgetArea)
        window.setCorner(Qt.Corner.BottomRightCorner, area.RightDockWidgetArea)
        plan = (
            ("outline", "Outline", self.outline, area.LeftDockWidgetArea),
            ("search", "Search", self.search, area.LeftDockWidgetArea),
            ("endpoints", "Endpoints", self.endpoints, area.LeftDockWidgetArea),
            ("inspector", "Inspector", self.inspector, area.RightDockWidgetArea),
            ("operations", "Operations", self.operations, area.RightDockWidgetArea),
            ("changes", "Changes", self.changes, area.BottomDockWidgetArea),
            ("problems", "Problems", self.problems, area.BottomDockWidgetArea),
            ("variables", "Variables", self.variables, area.BottomDockWidgetArea),
            ("jobs", "Jobs", self.jobs, area.BottomDockWidgetArea),
            ("proof", "Proof", self.proof, area.BottomDockWidgetArea),
        )
        for name, title, panel, where in plan:
            dock = QDockWidget(title, window, objectName=f"dock-{name}")
            dock.setWidget(panel)
            window.addDockWidget(where, dock)
            self._panels_menu.addAction(dock.toggleViewAction())
            self._docks[name] = dock
        window.tabifyDockWidget(self._docks["outline"], self._docks["search"])
        window.tabifyDockWidget(self._docks["inspector"], self._docks["operations"])
        window.tabifyDockWidget(self._docks["changes"], self._docks["problems"])
        window.tabifyDockWidget(self._docks["problems"], self._docks["variables"])
        window.tabifyDockWidget(self._docks["variables"], self._docks["jobs"])
        self._docks["variables"].visibilityChanged.connect(self.variables.set_seen)
        self._docks["operations"].visibilityChanged.connect(self.operations.set_seen)
        self._docks["proof"].visibilityChanged.connect(self.proof.set_seen)
        self.operations.choice_wanted.connect(lambda: self.raise_panel("operations"))
        window.tabifyDockWidget(self._docks["jobs"], self._docks["proof"])
        for name in ("problems", "variables", "jobs", "proof"):
            dock = self._docks[name]
            dock.visibilityChanged.connect(lambda seen, dock=dock: self._give_room(dock) if seen else None)
        for name in ("outline", "inspector", "changes"):
            self._docks[name].raise_()
        sides = [self._docks["outline"], self._docks["inspector"]]
        window.resizeDocks(sides, [290, 310], Qt.Orientation.Horizontal)
        window.resizeDocks([self._docks["changes"]], [min(ROOM, size.height() // 5)], Qt.Orientation.Vertical)
        window.resizeDocks([self._docks["outline"], self._docks["endpoints"]], [330, 470], Qt.Orientation.Vertical)
        window.resize(size)  # adding docks made it as wide as the widest of them would like to be

    def raise_panel(self, name: str) -> None:
        """Show a panel in front of those it shares its place with, and give it room below the canvas."""
        dock = self._docks[name]
        dock.show()
        dock.raise_()
        self._give_room(dock)

    def _give_room(self, dock: QDockWidget) -> None:
        is_below = self._window.dockWidgetArea(dock) == Qt.DockWidgetArea.BottomDockWidgetArea
        if is_below and dock.height() < ROOM and not dock.isFloating():
            self._window.resizeDocks([dock], [ROOM], Qt.Orientation.Vertical)

    def save_state(self, store: QSettings) -> None:
        """Remember the arrangement."""
        store.setValue("geometry", self._window.saveGeometry())
        store.setValue("state", self._window.saveState(_LAYOUT))

    def restore_state(self, store: QSettings) -> None:
        """Arrange the panels as they were left."""
        if store.value("geometry") is not None:
            self._window.restoreGeometry(store.value("geometry"))
            self._window.restoreState(store.value("state"), _LAYOUT)
        self._hide_stray_tabs()

    def _hide_stray_tabs(self) -> None:
        """Qt leaves tab bars behind when docks are arranged: they belong to none, and lie wherever they were.

        Those that do not follow when docks are called something else are the strays.
        """
        titles = {dock: dock.windowTitle() for dock in self._docks.values()}
        for dock in titles:
            dock.setWindowTitle("")
        for bar in self._window.findChildren(QTabBar, options=Qt.FindChildOption.FindDirectChildrenOnly):
            if any(bar.tabText(at) for at in range(bar.count())):
                bar.hide()
        for dock, title in titles.items():
            dock.setWindowTitle(title)

    def set_theme(self, theme: Theme) -> None:
        """Use other colours."""
        for spec in ACTIONS:
            if spec.icon:
                self._actions[spec.id].setIcon(icon(spec.icon, theme))
        self.inspector.set_style(page_style(theme))
        self.changes.set_theme(theme)
        self.variables.set_theme(theme)
        self.proof.set_theme(theme)
        self.search.set_theme(theme)

    # -- status bar ---------------------------------------------------------------------------------------------

    def _build_status(self) -> None:
        bar = self._window.statusBar()
        self.state = Line()
        self.progress = QProgressBar(maximum=1000, textVisible=False)
        self.progress.setFixedWidth(180)
        self.cancel = QPushButton("Cancel")
        self.cancel.clicked.connect(self._cancel_newest)
        bar.addWidget(self.state, 1)
        bar.addPermanentWidget(self.progress)
        bar.addPermanentWidget(self.cancel)
        self.progress.hide()
        self.cancel.hide()
        self._window.stage.layout().insertWidget(0, self.banner)
        self._window.stage.pages.widget(1).layout().insertWidget(1, self.choices)
        self._window.stage.pages.widget(1).layout().insertWidget(1, self._window.comparing.bar)

    def show_run(self, run: Run) -> None:
        """Show how far a job is."""
        busy = bool(self._window.jobs.active())
        self.progress.setVisible(busy)
        self.cancel.setVisible(busy)
        if run.is_active:
            self.progress.setValue(int(run.fraction * 1000))

    def _cancel_newest(self) -> None:
        for run in self._window.jobs.active()[-1:]:
            self._window.jobs.cancel(run.number)
