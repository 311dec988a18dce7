"""A real window for each test, on settings of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import canvas_graphs
import pytest
from PySide6.QtCore import QPointF, QSettings, Qt

from graphviewer.gui.state.session import Selection
from graphviewer.resources import resource

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from graphviewer.gui.canvas.view import GraphCanvas
    from graphviewer.gui.stage.pane import Pane
    from graphviewer.gui.window import Window
    from graphviewer.model.document import Document

WAIT = 60_000  # ms; the machine may be busy, and the worker may have to load TensorFlow


@pytest.fixture
def window(qtbot: QtBot, tmp_path: Path) -> Iterator[Window]:
    """An empty window, light theme, without animation."""
    from graphviewer.gui.window import Window

    store = QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat)
    store.setValue("settings/theme", "light")
    store.setValue("settings/animate", "false")
    made = Window(store)
    made.files.ask_discard = lambda titles: True
    made.show()
    qtbot.waitExposed(made)
    made.activateWindow()  # shortcuts need it, and a virtual screen has no window manager that would do it
    qtbot.waitUntil(made.isActiveWindow, timeout=WAIT)
    yield made
    made.close()
    qtbot.wait(20)
    made.deleteLater()


@pytest.fixture
def opened(window: Window, qtbot: QtBot) -> Window:
    """A window that shows the sample, suggestions included."""
    window.open_path(resource("samples/digits"))
    qtbot.waitUntil(lambda: window.stage.left.drawing is not None, timeout=WAIT)
    qtbot.waitUntil(lambda: bool(window.session.version.suggested_outputs), timeout=WAIT)
    return window


@pytest.fixture
def click(qtbot: QtBot) -> Callable[[Pane, str], None]:
    """``click(pane, name)`` clicks the middle of a node's box with the mouse, wherever it is on the canvas."""

    def press(pane: Pane, name: str) -> None:
        canvas = pane.canvas
        item = Selection(name).item(pane.subject.document.scopes)
        canvas.zoom_to(item, animate=False)
        canvas.viewport().repaint()  # title bars that stay in view are where the last paint put them
        middle = canvas.camera.to_pixel(canvas.item_rect(item).center())
        assert canvas.item_at(QPointF(middle)) == item
        qtbot.mouseClick(canvas.viewport(), Qt.MouseButton.LeftButton, pos=middle.toPoint())

    return press


@pytest.fixture
def made() -> Document:
    """The training graph in which every kind of box, edge and role occurs."""
    return canvas_graphs.document()


@pytest.fixture
def canvas(qtbot: QtBot, made: Document) -> GraphCanvas:
    """A canvas that shows it, without motion."""
    from graphviewer.gui.canvas.view import GraphCanvas
    from graphviewer.gui.style.theme import load_theme

    shown = GraphCanvas(load_theme("light"))
    qtbot.addWidget(shown)
    shown.animate = False
    shown.resize(900, 700)
    shown.show()
    shown.set_scene(canvas_graphs.scene(made))
    shown.fit()
    qtbot.waitExposed(shown)
    shown.grab()  # paints, so that titles are where they are
    return shown
