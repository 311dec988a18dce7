"""What stands around the stage: tab bars, banner, and texts that are made once."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QRect, QSettings, Qt
from PySide6.QtWidgets import QDockWidget, QTabBar, QToolButton

from graphviewer.errors import GraphViewerError
from graphviewer.gui.files import picture_of_views
from graphviewer.gui.panels.fields import CheckpointField
from graphviewer.gui.state.session import Selection
from graphviewer.gui.words.texts import LONGEST_NAME
from graphviewer.gui.work.jobs import Run
from graphviewer.model.document import Document
from graphviewer.model.names import Endpoint
from graphviewer.model.overlay import role_label
from graphviewer.protos import GraphDef
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


@pytest.mark.screen
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


def test_that_the_help_of_search_is_made_anew_for_other_colours_only(opened: Window, monkeypatch, qtbot: QtBot) -> None:
    made: list[str] = []
    panel = opened.furniture.search
    monkeypatch.setattr(panel.help, "setHtml", made.append)
    opened.session.current_changed.emit()
    assert not made and "op:" in panel.help.toPlainText()
    opened.switch_theme()
    qtbot.waitUntil(lambda: len(made) == 1, timeout=WAIT)


def test_that_inspector_and_legend_call_a_role_the_same(opened: Window, qtbot: QtBot) -> None:
    opened.session.type_endpoints("outputs", "net_1/probabilities")
    version = opened.session.version
    qtbot.waitUntil(lambda: version.roles is not None, timeout=WAIT)
    code = list(version.roles.categories).index("training_forward")
    node = int(np.flatnonzero(version.roles.codes == code)[0])

    opened.session.select(Selection(version.document.graph.names[node]))
    assert f"Role: {role_label('training_forward')}" in opened.furniture.inspector.page.toPlainText()


@pytest.mark.screen
def test_that_a_long_message_is_cut_to_the_line_and_whole_in_its_tooltip(window: Window, qtbot: QtBot) -> None:
    line = window.furniture.state
    window.say("word " * 200)
    assert line.shown.endswith("…") and "\n" not in line.shown
    assert line.fontMetrics().horizontalAdvance(line.shown) <= line.width()
    assert line.toolTip().count("word") == 200


def test_that_the_advice_to_choose_an_output_ends_when_one_is_chosen(opened: Window, qtbot: QtBot) -> None:
    opened.run_operation("extract")
    qtbot.waitUntil(lambda: opened.furniture.state.text().startswith("Choose an output first"), timeout=WAIT)
    assert opened.furniture.banner.isVisibleTo(opened), "an output suggests itself"
    opened.session.type_endpoints("outputs", "net_1/probabilities")
    assert "Choose an output first" not in opened.furniture.state.text()
    assert not opened.furniture.banner.isVisibleTo(opened)


def test_that_an_operation_without_an_output_goes_on_with_what_suggests_itself(opened: Window, qtbot: QtBot) -> None:
    opened.run_operation("extract")
    button = opened.furniture.banner.button
    qtbot.waitUntil(lambda: button.isVisibleTo(opened), timeout=WAIT)
    assert button.text() == "Use 'net_1/probabilities'"
    button.click()
    assert opened.session.family.outputs == [Endpoint("net_1/probabilities")]
    qtbot.waitUntil(lambda: len(opened.session.versions()) == 2, timeout=WAIT)
    qtbot.waitUntil(lambda: not opened.background.busy() and not opened.jobs.is_busy(), timeout=WAIT)


def test_that_what_succeeds_takes_the_last_error_away(opened: Window, qtbot: QtBot, tmp_path: Path) -> None:
    banner = opened.furniture.banner
    opened.tell(GraphViewerError("It went wrong."))
    opened.files.save(opened.session.version, tmp_path / "saved.pb")
    qtbot.waitUntil(banner.isHidden, timeout=WAIT)
    opened.tell(GraphViewerError("It went wrong."))
    opened._show_run(Run(1, "Verify", message="verified"))
    assert not banner.isHidden()  # it goes on
    opened._show_run(Run(1, "Verify", message="verified", is_active=False))
    assert banner.isHidden()


def test_that_a_notice_looks_other_than_an_error(window: Window) -> None:
    banner = window.furniture.banner
    window.tell(GraphViewerError("It went wrong."))
    assert banner.objectName() == "banner"
    banner.show_notice("It can still compute as in training.")
    assert banner.objectName() == "notice" and banner.button.isHidden()


@pytest.mark.screen
@pytest.mark.parametrize("way", ["fit", "show_all"])
def test_that_a_fitted_view_stays_fitted_when_the_window_grows_until_someone_zooms(
    opened: Window, qtbot: QtBot, way: str
) -> None:
    canvas = opened.stage.left.canvas
    getattr(canvas, way)()
    opened.resize(opened.width() - 250, opened.height() - 150)
    qtbot.wait(50)
    small = canvas.camera
    getattr(canvas, way)()
    assert canvas.camera.is_near(small)
    canvas.zoom(1.5)
    zoomed = canvas.camera.scale
    opened.resize(opened.width() + 250, opened.height() + 150)
    qtbot.wait(50)
    assert canvas.camera.scale == zoomed


@pytest.mark.screen
def test_that_a_picture_of_the_view_has_the_legend_and_no_minimap(opened: Window, qtbot: QtBot) -> None:
    canvas = opened.stage.left.canvas
    plain = picture_of_views([canvas])
    assert plain.size() == canvas.size()
    canvas.minimap.setVisible(False)
    assert picture_of_views([canvas]) == plain
    opened.session.type_endpoints("outputs", "net_1/probabilities")
    qtbot.waitUntil(lambda: canvas.scene_shown.overlay is not None, timeout=WAIT)
    assert picture_of_views([canvas]).height() > plain.height()


@pytest.mark.parametrize(
    ("kind", "checkpoint", "text"),
    [
        ("graphdef", None, "none found"),
        ("savedmodel", "m/variables/variables", "the SavedModel's"),
        ("metagraph", "m/model.ckpt-7", "model.ckpt-7"),
    ],
)
def test_that_the_checkpoint_that_is_taken_by_itself_is_named(
    qtbot: QtBot, kind: str, checkpoint: str | None, text: str
) -> None:
    field = CheckpointField()
    qtbot.addWidget(field)
    field.show_default(Document(kind, GraphDef(), checkpoint=Path(checkpoint) if checkpoint else None))
    assert field.path.placeholderText() == text
    assert (checkpoint or "No checkpoint") in field.path.toolTip()


def test_that_the_arrows_beside_more_tabs_than_there_is_room_for_can_be_seen(window: Window, qtbot: QtBot) -> None:
    window.stage.pages.setCurrentIndex(1)
    for number in range(20):
        window.stage.tabs.addTab(f"a graph with a name {number}")
    arrows = window.stage.tabs.findChildren(QToolButton)
    arrow = next(one for one in arrows if one.arrowType() == Qt.ArrowType.RightArrow)
    qtbot.waitUntil(lambda: arrow.isEnabled() and arrow.height() > 20, timeout=WAIT)
    image = window.grab(QRect(arrow.mapTo(window, QPoint()), arrow.size())).toImage()
    lightness = [image.pixelColor(x, y).lightness() for x in range(image.width()) for y in range(image.height())]
    assert sum(max(lightness) - one > 60 for one in lightness) > 12
