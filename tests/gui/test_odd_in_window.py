"""Deep and odd graphs driven through the whole window: nothing keeps its thread from answering."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QPointF, QTimer
from PySide6.QtWidgets import QApplication
from test_canvas_odd import chain, crowded, isolated, long_names, nested

from graphviewer.formats import save_document
from graphviewer.gui.state.session import Selection
from graphviewer.model.document import Document
from graphviewer.protos import GraphDef
from tests.gui.conftest import WAIT

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from graphviewer.gui.window import Window

LONGEST = 0.05
"""CPU seconds that the window's thread may spend between two looks at its events on a machine that is not loaded."""

SLOWNESS = 2.5
"""Machines on which tests run share caches and cores: their CPU seconds are up to so much longer."""


class Watchdog:
    """The most CPU time that this thread spent between two turns of the event loop: a timer of 1 ms looks at it.

    CPU time of the thread, for wall time also passes while other programs, or threads that hold the GIL, run.
    """

    def __init__(self) -> None:
        self.longest, self.at, self.step = 0.0, "", ""
        self._before = time.thread_time()
        self._timer = QTimer(interval=1)
        self._timer.timeout.connect(self._beat)
        self._timer.start()

    def _beat(self) -> None:
        now = time.thread_time()
        if now - self._before > self.longest:
            self.longest, self.at = now - self._before, self.step
        self._before = now

    @contextmanager
    def watching(self, step: str) -> Iterator[None]:
        """Name what is done next."""
        self.step = step
        self._before = time.thread_time()
        yield
        self._beat()


def written(rows: list[tuple[str, ...]], path: Path) -> Path:
    graph = GraphDef()
    for name, op, *inputs in rows:
        graph.node.add(name=name, op=op, input=inputs)
    save_document(Document("graphdef", graph), path)
    return path


def rest(window: Window, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: not window.background.busy() and not window.jobs.is_busy(), timeout=WAIT)
    qtbot.wait(30)
    qtbot.waitUntil(lambda: not window.background.busy(), timeout=WAIT)


def look_around(window: Window) -> None:
    canvas = window.stage.left.canvas
    for step in range(16):
        canvas.zoom(1.2 if step % 8 < 4 else 1 / 1.2, QPointF(300, 200))
        canvas.pan(30, -canvas.scene_shown.drawing.height * canvas.camera.scale / 30)
        QApplication.processEvents()


def steps(window: Window, rows: list[tuple[str, ...]]) -> Iterator[tuple[str, Callable[[], object]]]:
    """What a person does with a graph, one after the other."""
    session, canvas, furniture = window.session, window.stage.left.canvas, window.furniture
    yield "expand all", lambda: session.expand_below("")
    yield "look around", lambda: look_around(window)
    yield "zoom out", lambda: canvas.zoom(1e-9)
    yield "fit", canvas.fit
    yield "select the last", lambda: session.select(Selection(rows[-1][0]), reveal=True)
    yield "select the first", lambda: session.select(Selection(rows[0][0]), reveal=True)
    yield "search", lambda: furniture.search.entry.setText("op1")
    yield "search all", lambda: furniture.search.entry.setText("r")
    yield "no search", furniture.search.entry.clear
    yield "filter the outline", lambda: furniture.outline.filter.setText("1")
    yield "no filter", furniture.outline.filter.clear
    yield "collapse all", session.collapse_all


@pytest.mark.parametrize("rows", [chain, crowded, nested, long_names, isolated], ids=lambda rows: rows.__name__)
def test_that_the_window_answers_whatever_is_done_with_it(rows, window: Window, qtbot: QtBot, tmp_path: Path) -> None:
    made = rows()
    path = written(made, tmp_path / "odd.pb")
    rest(window, qtbot)
    dog, pane = Watchdog(), window.stage.left
    with dog.watching("open"):
        window.open_path(path)
        qtbot.waitUntil(lambda: pane.drawing is not None, timeout=WAIT)
        rest(window, qtbot)
    for name, do in steps(window, made):
        with dog.watching(name):
            do()
            rest(window, qtbot)
    assert session_is_whole(window, len(made))
    assert dog.longest < SLOWNESS * LONGEST, dog.at


def session_is_whole(window: Window, nodes: int) -> bool:
    return len(window.session.version.document.graph) == nodes and window.stage.left.drawing is not None
