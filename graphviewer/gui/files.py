"""Dialogs that name files: open, compare with, save; what was opened before; what is not saved yet."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QRectF
from PySide6.QtGui import QCursor, QImage, QPainter
from PySide6.QtWidgets import QFileDialog, QMenu, QMessageBox

from graphviewer.errors import GraphViewerError, WriteError
from graphviewer.gui.state.versions import Version
from graphviewer.gui.words.texts import label

if TYPE_CHECKING:
    from graphviewer.gui.canvas.view import GraphCanvas
    from graphviewer.gui.window import Window

_RECENT = 8
_LEGEND_SPACE = 16  # pixels above and below the legend of a picture
_READABLE = "TensorFlow files (*.pb *.pbtxt *.meta *.index *.ckpt *.tfevents* checkpoint *.gz);;All files (*)"
_PICTURES = MappingProxyType({"Whole graph (*.png)": ".png", "Whole graph (*.svg)": ".svg"})
_VIEW = "View (*.png)"
_WRITABLE = "GraphDef, binary (*.pb);;GraphDef, text (*.pbtxt);;MetaGraphDef (*.meta)"


class Files(QObject):
    """What a window does with files.

    Attributes:
        ask_discard: asks whether results that are not saved may be lost; given their titles.
        is_remembering: whether what is opened is listed as recent.
    """

    def __init__(self, window: Window) -> None:
        super().__init__(window)
        self._window = window
        self.ask_discard: Callable[[list[str]], bool] = self._ask_discard
        self.is_remembering = True

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
        if self._window.session.version is not None:
            self._ask_save(self._window.session.version)

    def _ask_save(self, version: Version) -> None:
        name = f"{Path(version.family.title).stem}-{version.label.lower().replace(' ', '-')}.pb"
        start = str(Path(self.last_folder()) / name)
        path, kind = QFileDialog.getSaveFileName(self._window, "Save As", start, _WRITABLE)
        if path:
            suffix = kind.rpartition("*")[2].rstrip(")") if not Path(path).suffix else ""
            self.save(version, Path(path + suffix))

    def save(self, version: Version, path: Path) -> None:
        """Write a version to the file the user named (the dialog asked before replacing one).

        A file that an open version was read from is never replaced: its large constants are still read from there.
        """
        sources = [source for known in self._window.session.versions() for source in _sources(known)]

        def work() -> None:
            from graphviewer.formats import save_document
            from graphviewer.formats.inputs import refuse_to_replace

            refuse_to_replace(path, [*sources, *_sources(version)], because="is open here")
            save_document(version.document, path, force=True)

        def done(_nothing: None) -> None:
            version.is_saved = True
            self._window.furniture.banner.hide()
            self._window.say(f"Saved {path} ({path.stat().st_size:,} bytes).")

        def failed(error: GraphViewerError) -> None:
            self._window.tell(error)
            self._window.furniture.banner.offer("Save As…", lambda: self._ask_save(version))

        self._window.background.submit("save", f"save-{path}", work, done, failed)

    # -- pictures -----------------------------------------------------------------------------------------------

    def ask_picture(self) -> None:
        """Let the user name a picture of the whole graph as it is opened now, with the legend."""
        target = self._ask_target("Save Picture of the Whole Graph", _PICTURES)
        if target is not None:
            self.save_whole(target)

    def ask_picture_of_view(self) -> None:
        """Let the user name a picture of what the canvas shows, with the legend."""
        target = self._ask_target("Save Picture of the View", {_VIEW: ".png"})
        if target is not None:
            self.save_view(target)

    def _ask_target(self, title: str, kinds: Mapping[str, str]) -> Path | None:
        name = f"{Path(self._window.session.family.title).stem or 'graph'}.png"
        start = str(Path(self.last_folder()) / name)
        path, kind = QFileDialog.getSaveFileName(self._window, title, start, ";;".join(kinds))
        if not path:
            return None
        suffix = kinds.get(kind, ".png")
        return Path(path) if Path(path).suffix.lower() == suffix else Path(f"{path}{suffix}")

    def save_view(self, target: Path) -> None:
        """Write what the canvases show now, side by side, and the legend below; the minimap is no part of it."""
        panes = [pane for pane in self._window.stage.panes() if pane.drawing is not None]
        image = picture_of_views([pane.canvas for pane in panes])
        if image.save(str(target), "PNG"):
            self._window.say(f"Saved {target} ({target.stat().st_size:,} bytes).")
        else:
            self._window.tell(WriteError(f"{target} could not be written.", "Is the folder there, and writable?"))

    def save_whole(self, target: Path) -> None:
        """Write a picture of all that is drawn, both sides of a comparison, as ``.png`` or ``.svg``."""
        panes = [pane for pane in self._window.stage.panes() if pane.drawing is not None]
        titles = [title.text() for title in self._window.stage.titles] if len(panes) > 1 else [""]
        scenes = [pane.canvas.scene_shown.with_selection(()) for pane in panes]
        theme = self._window.theme.name

        def work() -> None:
            from graphviewer.gui.render import Picture, render

            render([Picture(*one) for one in zip(scenes, titles, strict=True)], target, theme=theme, force=True)

        def done(_nothing: None) -> None:
            self._window.say(f"Saved {target} ({target.stat().st_size:,} bytes).")

        self._window.say(f"Painting {target.name} …")
        self._window.background.submit("save", f"save-{target}", work, done, self._window.tell)

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
        if not self.is_remembering:
            return
        absolute = str(path.absolute())
        recent = [absolute, *[one for one in self.recent() if one != absolute]][:_RECENT]
        self._window.store.setValue("recent", recent)
        self._window.stage.welcome.set_recent(recent)

    def last_folder(self) -> str:
        recent = self.recent()
        return str(Path(recent[0]).parent) if recent else str(Path.cwd())


def picture_of_views(canvases: Sequence[GraphCanvas]) -> QImage:
    """The canvases as they look now, from left to right, with the legend of their overlays below them."""
    from graphviewer.gui.canvas.paint import paint
    from graphviewer.gui.stage import legend_strip

    look, scenes = canvases[0].look, [canvas.scene_shown.with_selection(()) for canvas in canvases]
    width = sum(round(canvas.camera.width) for canvas in canvases)
    height = max(round(canvas.camera.height) for canvas in canvases)
    rows = legend_strip.lines(look, legend_strip.entries(scenes), width)
    below = len(rows) * legend_strip.LINE + (_LEGEND_SPACE if rows else 0)
    ratio = canvases[0].devicePixelRatioF()
    image = QImage(round(width * ratio), round((height + below) * ratio), QImage.Format.Format_RGB32)
    image.setDevicePixelRatio(ratio)
    with QPainter(image) as painter:
        painter.fillRect(QRectF(0, 0, width, height + below), look.theme.color("canvas.background"))
        left = 0.0
        for canvas, scene in zip(canvases, scenes, strict=True):
            painter.save()
            painter.translate(left, 0)
            painter.setClipRect(QRectF(0, 0, canvas.camera.width, canvas.camera.height))
            paint(painter, scene, canvas.camera, look)
            painter.restore()
            left += canvas.camera.width
        legend_strip.paint_legend(painter, look, rows, QRectF(0, height, width, below))
    return image


def _sources(version: Version) -> Iterator[Path | None]:
    """What a version, and those that it was made from, were read from."""
    known: Version | None = version
    while known is not None:
        yield from (known.file, known.document.path, known.document.checkpoint)
        known = known.parent
