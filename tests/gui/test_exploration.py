"""Traces, paths, isolated parts and bookmarks, in the real window."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import pytest
from PySide6.QtCore import QPointF, Qt

from graphviewer.analysis.neighbourhood import lit
from graphviewer.gui.state.session import Selection
from graphviewer.model.overlay import Overlay
from tests.gui.conftest import WAIT

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from graphviewer.gui.window import Window

FIRST, LAST = "images", "net_1/probabilities"


def reveal(window: Window, qtbot: QtBot, name: str) -> None:
    window.session.select(Selection(name), reveal=True)
    pane = window.stage.left
    qtbot.waitUntil(
        lambda: pane.drawing is not None and Selection(name).item(pane.subject.document.scopes) in pane.drawing.item,
        timeout=WAIT,
    )


def press(window: Window, qtbot: QtBot, key: Qt.Key, *modifiers: Qt.KeyboardModifier) -> None:
    qtbot.keyClick(window.stage.left.canvas, key, *modifiers)


def trace(window: Window, qtbot: QtBot) -> Overlay:
    """The trace, once it is there and known to the bar."""
    qtbot.waitUntil(lambda: window.session.overlay_kind == "trace", timeout=WAIT)
    return window.session.version.lenses["trace"]


def lit_names(window: Window, overlay: Overlay) -> set[str]:
    names = window.session.version.document.unfolded.graph.names
    return {names[node] for node in np.flatnonzero(lit(overlay))}


def test_that_a_lights_up_all_ancestors_and_brackets_change_the_levels(opened: Window, qtbot: QtBot) -> None:
    reveal(opened, qtbot, LAST)
    press(opened, qtbot, Qt.Key.Key_A)
    overlay, graph = trace(opened, qtbot), opened.session.version.document.unfolded.graph
    assert np.array_equal(lit(overlay), graph.ancestors([graph.index[LAST]]))
    count = int(lit(overlay).sum()) - 1
    assert opened.furniture.state.text() == f"{count:,} nodes above {LAST}."
    bar = opened.exploration.bar
    assert bar.isVisible() and bar.levels.text() == "all"
    press(opened, qtbot, Qt.Key.Key_BracketLeft)
    qtbot.waitUntil(lambda: bar.levels.value() == 3, timeout=WAIT)
    assert int(lit(opened.session.version.lenses["trace"]).sum()) - 1 < count
    assert "within 3 levels; more beyond" in opened.furniture.state.text()
    press(opened, qtbot, Qt.Key.Key_BracketRight)
    qtbot.waitUntil(lambda: bar.levels.value() == 4, timeout=WAIT)
    press(opened, qtbot, Qt.Key.Key_Escape)
    assert opened.session.overlay_kind == "roles" and not bar.isVisible()
    assert opened.session.selection == Selection(LAST)


def test_that_the_selection_of_a_scope_starts_from_all_its_nodes(opened: Window, qtbot: QtBot) -> None:
    opened.session.select(Selection("net_1", is_scope=True))
    press(opened, qtbot, Qt.Key.Key_D)
    overlay, scopes = trace(opened, qtbot), opened.session.version.document.unfolded.scopes
    assert overlay.counts()["start"] == len(scopes.nodes_inside(scopes.by_path["net_1"]))


@pytest.mark.screen
def test_that_shift_click_picks_a_second_node_and_p_lights_the_path(
    opened: Window, qtbot: QtBot, click: Callable
) -> None:
    reveal(opened, qtbot, FIRST)
    reveal(opened, qtbot, LAST)
    pane = opened.stage.left
    click(pane, FIRST)
    item = Selection(LAST).item(pane.subject.document.scopes)
    pane.canvas.zoom_to(item, animate=False)
    where = pane.canvas.camera.to_pixel(QPointF(pane.canvas.item_rect(item).center())).toPoint()
    shift = Qt.KeyboardModifier.ShiftModifier
    qtbot.mouseClick(pane.canvas.viewport(), Qt.MouseButton.LeftButton, shift, where)
    assert (opened.session.selection, opened.session.second) == (Selection(FIRST), Selection(LAST))
    assert len(pane.canvas.scene_shown.selection) == 2
    press(opened, qtbot, Qt.Key.Key_P)
    overlay, graph = trace(opened, qtbot), opened.session.version.document.unfolded.graph
    assert {graph.names[node] for node in np.flatnonzero(overlay.codes == 0)} == {FIRST, LAST}
    assert "on the shortest way" in opened.exploration.bar.text.text()
    assert not opened.exploration.bar.levels.isVisible()


def test_that_nodes_without_a_way_between_them_say_so(opened: Window, qtbot: QtBot) -> None:
    opened.session.select(Selection("input/count"))
    opened.session.select(Selection("net/convolution1/kernel"))
    press(opened, qtbot, Qt.Key.Key_P)
    qtbot.waitUntil(lambda: "No way leads" in opened.furniture.state.text(), timeout=WAIT)
    assert opened.session.overlay_kind == "roles"


def test_that_isolating_draws_the_neighbours_only_and_show_all_brings_everything_back(
    opened: Window, qtbot: QtBot
) -> None:
    reveal(opened, qtbot, LAST)
    expanded, pane = set(opened.session.family.expanded), opened.stage.left
    view = pane.canvas.view_rect()
    shift = Qt.KeyboardModifier.ShiftModifier
    press(opened, qtbot, Qt.Key.Key_I, shift)
    qtbot.waitUntil(lambda: opened.exploration.is_isolated, timeout=WAIT)
    qtbot.waitUntil(lambda: pane.drawing is not None, timeout=WAIT)
    graph = opened.session.version.document.unfolded.graph
    around = graph.ancestors([graph.index[LAST]]) & False
    near = {*graph.inputs(graph.index[LAST], control=True), *graph.consumers(graph.index[LAST], control=True)}
    around[[*near, graph.index[LAST]]] = True
    assert set(pane.subject.document.graph.names) == {graph.names[node] for node in np.flatnonzero(around)}
    assert opened.exploration.bar.show_all.isVisible()
    press(opened, qtbot, Qt.Key.Key_A, shift)
    assert pane.subject.document is opened.session.version.document.unfolded
    assert opened.session.family.expanded == expanded
    qtbot.waitUntil(lambda: pane.drawing is not None, timeout=WAIT)
    assert abs(pane.canvas.view_rect().center().y() - view.center().y()) < view.height() * 0.2


def test_that_a_trace_can_be_isolated_with_its_colours_and_esc_leaves_step_by_step(
    opened: Window, qtbot: QtBot
) -> None:
    reveal(opened, qtbot, LAST)
    press(opened, qtbot, Qt.Key.Key_A)
    names = lit_names(opened, trace(opened, qtbot))
    opened.exploration.bar.isolate.click()
    qtbot.waitUntil(lambda: opened.exploration.is_isolated and opened.stage.left.drawing is not None, timeout=WAIT)
    scene = opened.stage.left.canvas.scene_shown
    assert set(scene.scopes.graph.names) == names
    assert scene.overlay.kind == "trace" and scene.overlay.counts()["start"] == 1
    assert "other" not in scene.overlay.counts()
    assert "other" not in opened.stage.legend._counts()
    assert not opened.exploration.bar.isolate.isVisible(), "it is what is drawn"
    opened.back_out()
    assert opened.session.overlay_kind == "roles" and opened.exploration.is_isolated
    opened.back_out()
    assert not opened.exploration.is_isolated
    opened.back_out()
    assert opened.session.selection is None


def test_that_going_to_a_node_outside_an_isolated_part_shows_all(opened: Window, qtbot: QtBot) -> None:
    reveal(opened, qtbot, LAST)
    opened.exploration.isolate()
    qtbot.waitUntil(lambda: opened.exploration.is_isolated, timeout=WAIT)
    reveal(opened, qtbot, "input/count")
    assert not opened.exploration.is_isolated


def test_that_a_trace_ends_when_another_tab_is_shown(opened: Window, qtbot: QtBot) -> None:
    reveal(opened, qtbot, LAST)
    press(opened, qtbot, Qt.Key.Key_B)
    trace(opened, qtbot)
    first = opened.session.current
    opened.open_sample()
    qtbot.waitUntil(lambda: opened.session.current is not first, timeout=WAIT)
    assert opened.session.overlay_kind == "roles" and not opened.exploration.bar.isVisible()


def test_that_bookmarks_bring_back_a_node(opened: Window, qtbot: QtBot) -> None:
    opened.session.select(Selection(LAST))
    press(opened, qtbot, Qt.Key.Key_1, Qt.KeyboardModifier.ControlModifier)
    opened.session.select(None)
    press(opened, qtbot, Qt.Key.Key_1)
    assert opened.session.selection == Selection(LAST)
    press(opened, qtbot, Qt.Key.Key_2)
    assert opened.session.selection == Selection(LAST)
