"""Deep and odd graphs driven through the whole window: nothing keeps its thread from answering."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QPointF
from PySide6.QtWidgets import QApplication
from test_canvas_odd import chain, crowded, isolated, long_names, nested

from graphviewer.formats import save_document
from graphviewer.gui.state.session import Selection
from graphviewer.model.document import Document
from graphviewer.protos import GraphDef
from tests.gui.conftest import WAIT
from tests.gui.watchdog import LONGEST, SLOWNESS, Watchdog

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from graphviewer.gui.window import Window


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
