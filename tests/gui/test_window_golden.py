"""Pictures of the whole window, looked at once and kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDockWidget

from graphviewer.gui.state.session import Selection
from tests.gui.conftest import WAIT
from tests.gui.test_main_job import freeze

if TYPE_CHECKING:
    from PySide6.QtGui import QImage
    from pytestqt.qtbot import QtBot

    from graphviewer.gui.window import Window

pytestmark = pytest.mark.screen

SIZE = (1280, 800)
BELOW = 222  # pixels


def settle(window: Window, qtbot: QtBot) -> None:
    """Wait until nothing is on its way and two looks see the same; no caret blinks in the picture."""

    def is_still() -> bool:
        before = window.grab().toImage()
        qtbot.wait(150)
        return not window.jobs.is_busy() and not window.background.busy() and window.grab().toImage() == before

    qtbot.waitUntil(lambda: not window.jobs.is_busy() and not window.background.busy(), timeout=WAIT)
    window.stage.focus_canvas()
    qtbot.waitUntil(is_still, timeout=WAIT)
    level(window)
    qtbot.waitUntil(is_still, timeout=WAIT)


def level(window: Window) -> None:
    """Give the panels below one height: what Qt gives them depends on how often it laid the window out before."""
    area = Qt.DockWidgetArea.BottomDockWidgetArea
    below = [dock for dock in window.findChildren(QDockWidget) if window.dockWidgetArea(dock) == area]
    window.resizeDocks(below, [BELOW] * len(below), Qt.Orientation.Vertical)


def dress(window: Window, theme: str) -> None:
    window.resize(*SIZE)
    if window.theme.name != theme:
        window.switch_theme()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_that_a_training_graph_with_its_roles_looks_as_it_did(
    opened: Window, qtbot: QtBot, golden: Callable[[QImage, str], None], theme: str
) -> None:
    dress(opened, theme)
    opened.session.type_endpoints("outputs", "net_1/probabilities")
    opened.session.type_endpoints("inputs", "images")
    opened.session.select(Selection("images"), reveal=True)
    settle(opened, qtbot)
    opened.stage.left.canvas.fit()
    settle(opened, qtbot)
    golden(opened.grab().toImage(), f"window_roles_{theme}")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_that_before_and_after_a_freeze_look_as_they_did(
    opened: Window, qtbot: QtBot, golden: Callable[[QImage, str], None], theme: str
) -> None:
    dress(opened, theme)
    freeze(opened, qtbot)
    settle(opened, qtbot)
    opened.stage.left.canvas.fit()
    opened.session.select(Selection("images"), reveal=True)
    settle(opened, qtbot)
    golden(opened.grab().toImage(), f"window_comparison_{theme}")
