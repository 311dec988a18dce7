"""Start the window: ``graphviewer [PATH]``."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from PySide6.QtCore import QBuffer, QIODevice, QTimer
from PySide6.QtWidgets import QApplication

from graphviewer.errors import GraphViewerError
from graphviewer.formats.writing import write_atomically
from graphviewer.gui.timings import Timings

if TYPE_CHECKING:
    from graphviewer.gui.state.loading import Loaded
    from graphviewer.gui.state.versions import Version
    from graphviewer.gui.window import Window

_SWITCH_INTERVAL = 0.0001  # a busy thread hands the GIL over after 0.1 ms: each of the many calls of a frame waits


def application() -> QApplication:
    """The one QApplication, in the style that every theme builds on."""
    from graphviewer.gui.style.theme import load_font

    existing = QApplication.instance()
    if isinstance(existing, QApplication):
        return existing
    if sys.platform.startswith("linux") and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    app = QApplication(sys.argv[:1])
    app.setApplicationName("graphviewer")
    app.setStyle("Fusion")
    app.setFont(load_font())
    sys.setswitchinterval(_SWITCH_INTERVAL)
    return app


class Start:
    """Opens what the command line names, and does what it asks for once the picture is there."""

    def __init__(self, window: Window, timings: Timings | None, quit_after: bool, screenshot: Path | None) -> None:
        self._window, self._timings = window, timings
        self._quit_after, self._screenshot = quit_after, screenshot
        self.exit_code = 0

    def open(
        self, path: Path | None, diff: Path | None, checkpoint: Path | None, tags: tuple[str, ...] | None = None
    ) -> None:
        """Open a file, and a second one to compare it with."""
        if path is None:
            QTimer.singleShot(0, self._finish)
            return
        self._window.session.failed.connect(self._fail)
        self._begin = time.perf_counter()
        self._window.stage.left.canvas.painted.connect(self._painted)
        self._awaited = "compared" if diff is not None else "opened"

        def opened(version: Version, loaded: Loaded) -> None:
            if self._timings is not None:
                for key in ("read", "model", "layout"):
                    self._timings.mark(f"{key}_s", getattr(loaded.moments, key))
            if diff is not None:
                self._window.open_path(diff, then=lambda other, _loaded: self._window.analyst.compare(version, other))
                self._window.analyst.compared.connect(self._compared)

        self._window.open_path(path, checkpoint, then=opened, tags=tags)

    def _compared(self, _comparison: object) -> None:
        self._awaited = "opened"

    def _painted(self) -> None:
        """The end of a paint that holds a drawing."""
        drawing = self._window.stage.left.drawing
        if drawing is None or self._awaited == "compared":
            return
        self._window.stage.left.canvas.painted.disconnect(self._painted)
        if self._timings is not None:
            self._timings.mark("first_picture_s")
            self._timings.values["open_s"] = round(time.perf_counter() - self._begin, 4)
            version = self._window.session.version
            self._timings.values |= {"boxes": len(drawing), "nodes": len(version.document.graph)}
        QTimer.singleShot(0, self._finish)

    def _fail(self, error: GraphViewerError) -> None:
        self.exit_code = error.exit_code
        if self._quit_after:
            print(f"graphviewer: {error.message}\n{error.shell}".strip(), file=sys.stderr)
            self._window.close()

    def _finish(self) -> None:
        if self._timings is not None:
            print(json.dumps(self._timings.line()), flush=True)
        if self._screenshot is not None:
            self._await_quiet(time.perf_counter() + 20)
        elif self._quit_after:
            self._window.close()

    def _await_quiet(self, deadline: float) -> None:
        """Take the picture once suggestions, checks and roles have arrived."""
        if (self._window.background.busy() or self._window.jobs.is_busy()) and time.perf_counter() < deadline:
            QTimer.singleShot(50, lambda: self._await_quiet(deadline))
            return
        QTimer.singleShot(250, self._take_screenshot)

    def _take_screenshot(self) -> None:
        if self._screenshot is not None:
            try:  # a file that is there was asked about before the window opened
                write_atomically(self._screenshot, [_picture(self._window)], force=True)
            except GraphViewerError as error:
                self._fail(error)
        if self._quit_after:
            self._window.close()


def _picture(window: Window) -> bytes:
    """The window as it looks now, as a PNG."""
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    window.grab().save(buffer, "PNG")  # type: ignore[call-overload]
    return bytes(buffer.data().data())


def _end(window: Window) -> None:
    """Close for a signal: nobody is there to be asked, but folders and the worker must go."""
    window.files.ask_discard = lambda titles: True
    window.close()


def run(
    path: Path | None,
    *,
    diff: Path | None = None,
    checkpoint: Path | None = None,
    tags: tuple[str, ...] | None = None,
    timings: bool = False,
    quit_after: bool = False,
    screenshot: Path | None = None,
) -> int:
    """Show the window and wait until it is closed.

    Args:
        path: file, checkpoint prefix or folder; None shows the welcome page.
        diff: second file, to compare ``path`` with.
        checkpoint: prefix to use in place of the one found beside the graph.
        tags: which graph of a SavedModel.
        timings: print one line of JSON when the first picture is there.
        quit_after: close the window after the first picture (and the screenshot).
        screenshot: PNG to write once the window has come to rest.

    Returns:
        The exit code of the process.
    """
    clock = Timings() if timings else None
    app = application()
    from graphviewer.gui.scratch import sweep
    from graphviewer.gui.window import Window

    window = Window()
    if quit_after:
        window.files.ask_discard = lambda titles: True
    window.files.is_remembering = diff is None and not quit_after  # git compares files that are gone tomorrow
    window.show()
    app.processEvents()
    if clock is not None:
        clock.mark("window_s")
    window.stage.prepare()  # the window is there to be seen; a quarter of a second now is one saved at the first file
    for name in (signal.SIGINT, signal.SIGTERM):
        signal.signal(name, lambda _number, _frame: _end(window))
    window.background.submit("sweep", "sweep", sweep, lambda _count: None, lambda _error: None)
    start = Start(window, clock, quit_after, screenshot)
    start.open(path, diff, checkpoint, tags)
    code = app.exec() or (start.exit_code if quit_after else 0)
    if window.background.is_working():
        _leave(window, code)
    return code


def _leave(window: Window, code: int) -> NoReturn:
    """End the process while lanes still work.

    Python's own end would take them out of whatever they are in; of numpy's C++ (``unique``) that aborts the process.
    """
    window.store.sync()
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(code)
