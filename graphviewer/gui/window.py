"""The main window: panels around the stage, and what the actions do."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QSettings, Qt, QTimer
from PySide6.QtGui import QCloseEvent, QDragEnterEvent, QDropEvent, QGuiApplication
from PySide6.QtWidgets import QApplication, QMainWindow, QMessageBox

from graphviewer.errors import GraphViewerError
from graphviewer.gui.actions import ACTIONS
from graphviewer.gui.comparing import Comparing
from graphviewer.gui.dialogs.palette import Entry, Palette
from graphviewer.gui.dialogs.permission import ask_permission
from graphviewer.gui.dialogs.simple import ABOUT, SettingsDialog, keys_table, text_dialog
from graphviewer.gui.exploration import Exploration
from graphviewer.gui.files import Files
from graphviewer.gui.furniture import Furniture
from graphviewer.gui.garbage import GarbageCollector
from graphviewer.gui.scratch import Scratch
from graphviewer.gui.stage.refit import Refit
from graphviewer.gui.stage.stage import Stage
from graphviewer.gui.state.background import Background
from graphviewer.gui.state.lenses import Lenses
from graphviewer.gui.state.session import Selection, Session
from graphviewer.gui.state.settings import Settings
from graphviewer.gui.state.versions import Comparison, Tab, Version
from graphviewer.gui.style.theme import Theme, apply_theme, choose_theme
from graphviewer.gui.words.describe import describe_contents
from graphviewer.gui.words.texts import readable
from graphviewer.gui.work.analyst import Analyst
from graphviewer.gui.work.jobs import Jobs, Run
from graphviewer.gui.work.opening import Opener, Request
from graphviewer.gui.work.operator import Operator
from graphviewer.gui.work.prover import Prover
from graphviewer.gui.work.worker_client import WorkerClient
from graphviewer.model.names import Endpoint
from graphviewer.resources import resource

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from graphviewer.gui.state.loading import Loaded


class Window(QMainWindow):
    """One window with its session."""

    def __init__(self, store: QSettings | None = None) -> None:
        super().__init__()
        self.store = store or QSettings("graphviewer", "graphviewer")
        self.settings = Settings.load(self.store)
        self.theme: Theme = choose_theme(self.settings.theme)
        self.setWindowTitle("graphviewer")
        self.setAcceptDrops(True)
        self.resize(1400, 900)
        self.garbage = GarbageCollector(lambda: not (self.session.tabs or self.background.busy()), self)
        self.background = Background(self)
        self.session = Session(self.background, self)
        self.client = WorkerClient(self)
        self.jobs = Jobs(self.client, self)
        self._folder = Scratch()
        folder = self._folder.path
        self.analyst = Analyst(self.session, self.jobs, folder, self)
        self.operator = Operator(self.session, self.jobs, folder, self)
        self.prover = Prover(self.session, self.jobs, folder, self)
        self.prover.ask = self._may_touch
        self.opener = Opener(self.session, self.jobs, folder, self)
        self.stage = Stage(self.session, self.theme)
        self.setCentralWidget(self.stage)
        self.lenses = Lenses(self.session, self)
        self.exploration = Exploration(self.session, self.stage, self.lenses, self)
        self.files = Files(self)
        self.comparing = Comparing(self)
        self.furniture = Furniture(self)
        self._picking = self._advice = ""
        self._connect()
        self._dress()
        self.furniture.set_theme(self.theme)
        self._apply_canvas_settings()
        self.stage.welcome.set_recent(self.files.recent())
        self.furniture.refresh_actions()

    def _connect(self) -> None:
        session, stage = self.session, self.stage
        session.said.connect(self.say)
        session.failed.connect(self.tell)
        self.exploration.said.connect(self.say)
        session.current_changed.connect(self._retitle)
        session.selected.connect(self._picked)
        self.analyst.compared.connect(lambda _comparison: self.furniture.raise_panel("changes"))
        self.opener.opened.connect(self._opened)
        self.opener.offered.connect(self.furniture.banner.offer)
        self.opener.withdrawn.connect(self.furniture.banner.hide)
        self.jobs.run_changed.connect(self._show_run)
        self.operator.finished.connect(self.analyst.compare)
        self.operator.finished.connect(lambda _before, _after: self.furniture.banner.hide())
        self.operator.noticed.connect(self.furniture.banner.show_notice)
        self.operator.offered.connect(self.furniture.banner.offer)
        for signal in (session.endpoints_changed, session.current_changed):
            signal.connect(self._end_advice)
        stage.compare_requested.connect(self.analyst.compare)
        stage.close_requested.connect(self.close_one)
        stage.welcome.open_clicked.connect(self.files.ask_open)
        stage.welcome.sample_clicked.connect(self.open_sample)
        stage.welcome.recent_clicked.connect(lambda path: self.open_path(Path(path)))
        stage.menu_requested.connect(self.furniture.show_context_menu)
        stage.panes_made.connect(self._apply_canvas_settings)
        stage.panes_made.connect(lambda: Refit(stage.left.canvas))

    # -- opening and saving -------------------------------------------------------------------------------------

    def open_path(
        self,
        path: Path,
        checkpoint: Path | None = None,
        then: Callable[[Version, Loaded], None] | None = None,
        tags: tuple[str, ...] | None = None,
    ) -> None:
        """Open a file, checkpoint prefix or folder, in the background."""
        self.stage.prepare()
        self.opener.open(Request(path, checkpoint, tags), then)

    def _opened(self, version: Version, request: Request) -> None:
        self.say(f"{version.title}: {describe_contents(version.document)}")
        self.files.remember(request.remembered or request.path)
        self.analyst.examine(version)
        self.stage.focus_canvas()
        if version.document.kind == "checkpoint":
            self.furniture.raise_panel("variables")

    def open_sample(self) -> None:
        """Open the training run that ships with the program."""
        self.open_path(resource("samples/digits"))

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if event.mimeData().hasUrls():
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        self.comparing.open_dropped([Path(url.toLocalFile()) for url in event.mimeData().urls() if url.isLocalFile()])

    # -- telling ------------------------------------------------------------------------------------------------

    def say(self, text: str) -> None:
        """One calm line."""
        self._advice = ""
        self.furniture.state.say(readable(text))

    def advise(self, text: str) -> None:
        """One calm line that holds until outputs or inputs are chosen, or another graph is shown."""
        self.say(text)
        self._advice = text

    def _end_advice(self) -> None:
        if self._advice:
            self.say("")
            self.furniture.banner.hide()

    def tell(self, error: GraphViewerError) -> None:
        """Something went wrong: what, and what to do."""
        self.say(error.message)
        self.furniture.banner.show_error(error)

    def _show_run(self, run: Run) -> None:
        self.furniture.show_run(run)
        if not run.is_active:
            self.furniture.banner.hide()  # it is about what was before; who failed says so after this
        self.say(f"{run.title}: {run.message}" if run.is_active else run.message)

    def _retitle(self) -> None:
        tab = self.session.current
        name = f"{tab.family.title}: {tab.title}" if tab and tab.title != tab.family.title else tab.title if tab else ""
        self.setWindowTitle(f"{name} — graphviewer" if name else "graphviewer")
        self.furniture.refresh_actions()

    # -- actions ------------------------------------------------------------------------------------------------

    def close_tab(self) -> None:
        """Close the current tab."""
        if self.session.current is not None:
            self.close_one(self.session.current)

    def close_one(self, tab: Tab) -> None:
        """Close a tab, after asking where it is a result that is not saved."""
        if isinstance(tab, Comparison) or self.files.may_lose([tab]):
            self.session.close_tab(tab)
            left = self.session.current
            self.say(f"{left.title}: {describe_contents(left.document)}" if isinstance(left, Version) else "")

    def copy_name(self) -> None:
        """Put the selected name on the clipboard."""
        if self.session.selection is not None:
            QGuiApplication.clipboard().setText(self.session.selection.path)

    def copy_history(self, language: str) -> None:
        """Put what made the current version on the clipboard, as ``shell`` commands or ``python``."""
        from graphviewer.export.code import python_snippet, shell_commands

        version = self.session.version
        if version is not None:
            write = {"shell": shell_commands, "python": python_snippet}[language]
            QGuiApplication.clipboard().setText(write(*version.history()))
            self.say("What made this version is on the clipboard.")

    def focus_search(self) -> None:
        """Go to the search panel."""
        self.furniture.raise_panel("search")
        self.furniture.search.begin()

    def expand(self) -> None:
        """Open the selected scope."""
        selection = self.session.selection
        if selection is not None and selection.is_scope:
            self.session.expand([self.session.name_of(selection.path, selection.side)], selection)

    def collapse(self) -> None:
        """Close the selected scope, or the one around the selected node."""
        selection = self.session.selection
        if selection is None or self.session.family is None:
            return
        path = selection.path
        if not selection.is_scope or not self.session.is_open(path, selection.side):
            path = path.rpartition("/")[0]
        if path:
            scope = Selection(path, True, selection.side)
            self.session.collapse([self.session.name_of(path, selection.side)], scope)
            self.session.select(scope)

    def expand_below(self) -> None:
        """Open everything inside the selected scope, or everything."""
        selection = self.session.selection
        if selection is not None and selection.is_scope:
            self.session.expand_below(selection.path, selection.side)
        else:
            self.session.expand_below()

    def mark(self, kind: str) -> None:
        """Choose the selected node as output or input, or no longer."""
        selection = self.session.selection
        if selection is not None and not selection.is_scope:
            self.session.toggle_endpoint(kind, Endpoint(selection.path))

    def pick(self, kind: str) -> None:
        """Start or end pick mode: each click on a node marks it."""
        self._picking = "" if self._picking == kind else kind
        cursor = Qt.CursorShape.CrossCursor if self._picking else Qt.CursorShape.ArrowCursor
        for pane in self.stage.all_panes():
            pane.canvas.viewport().setCursor(cursor)
        self.furniture.show_picking(self._picking)
        self.say(f"Click nodes to mark them as {kind}; Esc ends." if self._picking else "")

    def _picked(self) -> None:
        if self._picking:
            self.mark(self._picking)

    def back_out(self) -> None:
        """Leave pick mode, or take the selection away."""
        if self._picking:
            self.pick(self._picking)
        elif not self.furniture.banner.isHidden():
            self.furniture.banner.hide()
        elif not self.comparing.back_out() and not self.exploration.back_out():
            self.session.select(None)
        self.stage.focus_canvas()

    def hide_category(self) -> None:
        """Hide the category of the node under the pointer."""
        for pane in self.stage.panes():
            item, scopes = pane.item_under_pointer(), pane.scopes
            overlay = pane.subject.overlay(self.session.overlay_kind)
            if item >= 0 and overlay is not None and scopes.node[item] >= 0:
                category = overlay.category(int(scopes.node[item]))
                if category is not None:
                    self.session.toggle_category(category)
                return

    def show_categories(self) -> None:
        """Show all categories again."""
        self.session.hidden[self.session.overlay_kind] = set()
        self.session.overlay_changed.emit()

    def run_operation(self, operation: str) -> None:
        """Run an operation with what is chosen; where something is missing, show its card."""
        version = self.session.version
        self.furniture.operations.request(lambda: self._run_operation(operation, version))

    def _run_operation(self, operation: str, version: Version | None) -> None:
        """Run it, unless another tab was chosen while the operations were imported."""
        card = self.furniture.operations.cards[operation]
        if version is not self.session.version:
            return
        if card.is_ready:
            card.run()
        else:
            self.furniture.raise_panel("operations")
            self.furniture.operations.show_card(operation)
            self.advise("Choose an output first: click a node and press O, or pick a suggestion.")
            self.operator.offer_outputs(version, lambda: self.run_operation(operation))

    def verify(self) -> None:
        """Prove that the current result computes what the original computes."""
        self.furniture.raise_panel("proof")
        self.furniture.proof.verify()

    def run_node(self) -> None:
        """Run the selected node, or the outputs, once."""
        self.furniture.raise_panel("proof")
        self.furniture.proof.run()

    def _may_touch(self, touches: Sequence[Mapping[str, str]]) -> bool:
        return ask_permission(touches, self)

    def step_change(self, by: int) -> None:
        """Go to the next or previous change."""
        self.furniture.changes.step(by)

    def show_palette(self) -> None:
        """Open the palette."""
        actions = [
            Entry(spec.text.rstrip("…"), spec.shortcut.replace("|", ", "), lambda spec=spec: spec.run(self), spec.words)
            for spec in ACTIONS
            if spec.enabled(self)
        ]
        version = self.session.version
        graph = version.document.unfolded.graph if version else None
        nodes = [
            Entry(name, op, lambda name=name: self._look_at(name))
            for name, op in (zip(graph.names, graph.ops, strict=True) if graph else ())
        ]
        palette = Palette(actions, nodes, self)
        palette.move(self.mapToGlobal(self.rect().center()) - palette.rect().center())
        palette.finished.connect(lambda _result: self.stage.focus_canvas())
        palette.show()
        palette.entry.setFocus()

    def _look_at(self, name: str) -> None:
        """Go to a node that was looked up by its name, and show what is known of it."""
        self.session.select(Selection(name), reveal=True)
        self.furniture.raise_panel("inspector")

    def show_keys(self) -> None:
        """Show the shortcut sheet."""
        text_dialog("Keyboard Shortcuts", keys_table(ACTIONS), self).exec()

    def show_about(self) -> None:
        """Say what this is."""
        QMessageBox.about(self, "About graphviewer", ABOUT)

    # -- settings -----------------------------------------------------------------------------------------------

    def show_settings(self) -> None:
        """Let the user change the settings."""
        dialog = SettingsDialog(self.settings, self)
        if dialog.exec():
            self._apply_settings(dialog.settings())

    def switch_theme(self) -> None:
        """Light to dark and back."""
        self._apply_settings(self.settings.but(theme="light" if self.theme.is_dark else "dark"))

    def _apply_settings(self, settings: Settings) -> None:
        self.settings = settings
        settings.save(self.store)
        theme = choose_theme(self.settings.theme)
        if theme is not self.theme:
            self.theme = theme
            self._dress()
            QTimer.singleShot(0, self, lambda: self.furniture.set_theme(self.theme))  # icons in a turn of their own
        self._apply_canvas_settings()

    def _dress(self) -> None:
        apply_theme(QApplication.instance(), self.theme)
        self.stage.set_theme(self.theme)

    def _apply_canvas_settings(self) -> None:
        self.session.set_style(self.settings.style)
        for pane in self.stage.all_panes():
            pane.canvas.animate = self.settings.animate
            pane.canvas.wheel_zooms = self.settings.wheel == "zoom"
            pane.canvas.minimap.setVisible(self.settings.minimap)

    def closeEvent(self, event: QCloseEvent) -> None:
        if self.background.awaits("save-"):
            event.ignore()
            self.say("Saving; the window closes when it is done.")
            QTimer.singleShot(100, self, self.close)
            return
        if not self.files.may_lose(self.session.versions()):
            event.ignore()
            return
        self.furniture.save_state(self.store)
        self.background.close()
        self.garbage.close()
        self.jobs.close()
        self._folder.remove()
        super().closeEvent(event)
