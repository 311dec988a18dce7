"""What stands around the stage: tab bars, banner, and texts that are made once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from PySide6.QtCore import QSettings, Qt
from PySide6.QtWidgets import QDockWidget, QTabBar

from graphviewer.errors import GraphViewerError
from graphviewer.gui.state.session import Selection
from graphviewer.gui.words.texts import LONGEST_NAME
from graphviewer.model.overlay import role_label
from tests.gui.conftest import WAIT

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from graphviewer.gui.window import Window

DIRECT = Qt.FindChildOption.FindDirectChildrenOnly


def tabs_in_sight(window: Window) -> list[str]:
    bars = [bar for bar in window.findChildren(QTabBar, options=DIRECT) if bar.isVisible()]
    return [bar.tabText(at) for bar in bars for at in range(bar.count())]


def docks(window: Window) -> list[str]:
    return [dock.windowTitle() for dock in window.findChildren(QDockWidget, options=DIRECT)]


@pytest.mark.parametrize("is_restored", [False, True])
def test_that_every_panel_has_one_tab(is_restored: bool, window: Window, qtbot: QtBot, tmp_path) -> None:
    if is_restored:
        store = QSettings(str(tmp_path / "arranged.ini"), QSettings.Format.IniFormat)
        window.furniture.save_state(store)
        window.furniture.restore_state(store)
    window.resize(1600, 1000)
    qtbot.wait(20)
    assert all(docks(window))
    assert sorted(tabs_in_sight(window)) == sorted(set(docks(window)) - {"Endpoints"})


def test_that_an_error_about_an_endless_name_leaves_room_for_the_graph(window: Window) -> None:
    window.tell(GraphViewerError(f"There is no node '{'n' * 100_000}'.", "Look elsewhere."))
    for label in (window.furniture.banner.text, window.furniture.state):
        assert "There is no node" in label.text() and len(label.text()) < LONGEST_NAME + 60
    assert window.furniture.banner.text.text().endswith("Look elsewhere.")


def test_that_the_tip_of_a_chip_says_for_how_many_nodes_it_stands(opened: Window, qtbot: QtBot) -> None:
    pane = opened.stage.left
    opened.session.expand_below("")
    qtbot.waitUntil(lambda: bool(pane.drawing is not None and len(pane.drawing.behind)), timeout=WAIT)
    scene = pane.canvas.scene_shown
    box = int(np.argmax(scene.more))
    assert f"Stands for {scene.more[box]:,} more nodes" in pane.canvas.tooltip(int(scene.drawing.item[box]))
    plain = int(np.flatnonzero(scene.more == 0)[0])
    assert "Stands for" not in pane.canvas.tooltip(int(scene.drawing.item[plain]))


def test_that_the_help_of_search_is_made_anew_for_other_colours_only(opened: Window, monkeypatch) -> None:
    made: list[str] = []
    panel = opened.furniture.search
    monkeypatch.setattr(panel.help, "setHtml", made.append)
    opened.session.current_changed.emit()
    assert not made and "op:" in panel.help.toPlainText()
    opened.switch_theme()
    assert len(made) == 1


def test_that_inspector_and_legend_call_a_role_the_same(opened: Window, qtbot: QtBot) -> None:
    opened.session.type_endpoints("outputs", "net_1/probabilities")
    version = opened.session.version
    qtbot.waitUntil(lambda: version.roles is not None, timeout=WAIT)
    code = list(version.roles.categories).index("training_forward")
    node = int(np.flatnonzero(version.roles.codes == code)[0])

    opened.session.select(Selection(version.document.graph.names[node]))
    assert f"Role: {role_label('training_forward')}" in opened.furniture.inspector.page.toPlainText()
