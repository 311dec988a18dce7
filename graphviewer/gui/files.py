"""Dialogs that name files: open, compare with, save; what was opened before; what is not saved yet."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtGui import QCursor
from PySide6.QtWidgets import QFileDialog, QMenu, QMessageBox

from graphviewer.errors import WriteError
from graphviewer.gui.state.versions import Version
from graphviewer.gui.words.texts import label

if TYPE_CHECKING:
    from graphviewer.gui.window import Window

_RECENT = 8
_READABLE = "TensorFlow files (*.pb *.pbtxt *.meta *.index *.ckpt *.tfevents* checkpoint *.gz);;All files (*)"
_WRITABLE = "GraphDef, binary (*.pb);;GraphDef, text (*.pbtxt);;MetaGraphDef (*.meta)"


class Files(QObject):
    """What a window does with files.

    Attributes:
        ask_discard: asks whether results that are not saved may be lost; given their titles.
    """

    def __init__(self, window: Window) -> None:
        super().__init__(window)
        self._window = window
        self.ask_discard: Callable[[list[str]], bool] = self._ask_discard

    def ask_open(self) -> None:
        """Let the user pick a file."""
        path, _ = QFileDialog.getOpenFileName(self._window, "Open", self.last_folder(), _READABLE)
        if path:
            self._window.open_path(Path(path))

    def ask_open_folder(self) -> None:
        """Let the user pick a folder."""
        path = QFileDialog.getExistingDirectory(self._window, "Open Folder", self.last_folder())
        if path:
            self._window.open_path(Path(path))

    def ask_compare(self) -> None:
        """Let the user pick another open version, or a file, and compare the current version with it."""
        version = self._window.session.version
        others = [other for other in self._window.session.versions() if other is not version]
        if version is None:
            return
        if not others:
            self._compare_with_file(version)
            return
        menu = QMenu(self._window)
        for other in others:
            menu.addAction(label(other.title), lambda other=other: self._window.analyst.compare(other, version))
        menu.addSeparator()
        menu.addAction("A File…", lambda: self._compare_with_file(version))
        menu.exec(QCursor.pos())

    def _compare_with_file(self, version: Version) -> None:
        path, _ = QFileDialog.getOpenFileName(self._window, "Compare With", self.last_folder(), _READABLE)
        if path:
            analyst = self._window.analyst
            self._window.open_path(Path(path), then=lambda other, _loaded: analyst.compare(version, other))

    def ask_save(self) -> None:
        """Let the user name a file for the current version."""
        version = self._window.session.version
        if version is None:
            return
        name = f"{Path(version.family.title).stem}-{version.label.lower().replace(' ', '-')}.pb"
        start = str(Path(self.last_folder()) / name)
        path, kind = QFileDialog.getSaveFileName(self._window, "Save As", start, _WRITABLE)
        if path:
            suffix = kind.rpartition("*")[2].rstrip(")") if not Path(path).suffix else ""
            self.save(version, Path(path + suffix))

    def save(self, version: Version, path: Path) -> None:
        """Write a version to the file the user named (the dialog asked before replacing one)."""

        def work() -> None:
            from graphviewer.formats import save_document

            save_document(version.document, path, force=True)

        def done(_nothing: None) -> None:
            version.is_saved = True
            self._window.say(f"Saved {path} ({path.stat().st_size:,} bytes).")

        self._window.background.submit("save", f"save-{path}", work, done, self._window.tell)

    def ask_picture(self) -> None:
        """Let the user name a picture of what the canvas shows."""
        path, _ = QFileDialog.getSaveFileName(self._window, "Save Picture", "graph.png", "PNG (*.png)")
        target = Path(path) if Path(path).suffix.lower() == ".png" else Path(f"{path}.png")
        if path and self._window.stage.left.canvas.grab().save(str(target), "PNG"):
            self._window.say(f"Saved {target}.")
        elif path:
            self._window.tell(WriteError(f"{target} could not be written.", "Is the folder there, and writable?"))

    # -- what is not saved --------------------------------------------------------------------------------------

    def may_lose(self, versions: list[Version]) -> bool:
        """Whether versions may go: all are saved, or the user says so."""
        titles = [version.title for version in versions if not version.is_saved]
        return not titles or self.ask_discard(titles)

    def _ask_discard(self, titles: list[str]) -> bool:
        box = QMessageBox(self._window)
        box.setIcon(QMessageBox.Icon.Question)
        box.setWindowTitle("Not saved")
        what = "This result is" if len(titles) == 1 else f"{len(titles)} results are"
        box.setText(f"{what} not saved.")
        box.setInformativeText("\n".join(titles[:10]))
        discard = box.addButton("Discard", QMessageBox.ButtonRole.DestructiveRole)
        box.setDefaultButton(box.addButton("Keep", QMessageBox.ButtonRole.RejectRole))
        box.exec()
        return box.clickedButton() is discard

    # -- what was opened before ---------------------------------------------------------------------------------

    def recent(self) -> list[str]:
        """Paths opened before, newest first."""
        found = self._window.store.value("recent") or []
        return [found] if isinstance(found, str) else list(found)

    def remember(self, path: Path) -> None:
        """Put a path in front of the recent ones."""
        absolute = str(path.absolute())
        recent = [absolute, *[one for one in self.recent() if one != absolute]][:_RECENT]
        self._window.store.setValue("recent", recent)
        self._window.stage.welcome.set_recent(recent)

    def last_folder(self) -> str:
        recent = self.recent()
        return str(Path(recent[0]).parent) if recent else str(Path.cwd())
