"""Clicks that come when what was clicked is shown no more: they must not do to one tab what was meant for another."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QTabBar, QToolButton

from graphviewer.analysis.suggestion import Suggestion
from graphviewer.gui.stage.legend import Chip
from graphviewer.gui.state.versions import Comparison, Version
from graphviewer.layout.style import Style
from graphviewer.model.names import Endpoint
from tests.gui.conftest import WAIT

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from graphviewer.gui.window import Window

TEXT = """
node {{ name: "x" op: "Placeholder" attr {{ key: "dtype" value {{ type: DT_FLOAT }} }} }}
node {{ name: "{middle}" op: "Relu" input: "x" attr {{ key: "T" value {{ type: DT_FLOAT }} }} }}
node {{ name: "y" op: "Abs" input: "{middle}" attr {{ key: "T" value {{ type: DT_FLOAT }} }} }}
versions {{ producer: 9 }}
"""


def settle(window: Window, qtbot: QtBot) -> None:
    def is_quiet() -> bool:
        return not (window.background.busy() or window.jobs.is_busy() or window.session.turns.busy())

    qtbot.waitUntil(is_quiet, timeout=WAIT)


@pytest.fixture
def two(window: Window, qtbot: QtBot, tmp_path: Path) -> tuple[Version, Version]:
    """Two files with nodes of the same names; the first one has an output and is shown."""
    for name in ("first", "second"):
        path = tmp_path / f"{name}.pbtxt"
        path.write_text(TEXT.format(middle=name))
        window.open_path(path)
        qtbot.waitUntil(lambda name=name: f"{name}.pbtxt" in window.windowTitle(), timeout=WAIT)
    first, second = window.session.versions()
    window.session.show_tab(first)
    window.session.type_endpoints("outputs", "y")
    settle(window, qtbot)
    return first, second


def remove_button(window: Window) -> QToolButton:
    listing = window.furniture.endpoints.outputs.chosen
    return listing.itemWidget(listing.item(0)).findChild(QToolButton)


def test_that_an_endpoint_of_another_tab_is_not_chosen_here_by_its_cross(window: Window, two) -> None:
    cross = remove_button(window)
    window.session.show_tab(two[1])
    cross.click()
    assert (two[0].family.outputs, two[1].family.outputs) == ([Endpoint("y")], [])


def test_that_a_second_click_on_a_cross_does_not_choose_it_again(window: Window, two) -> None:
    cross = remove_button(window)
    cross.click()
    cross.click()
    assert two[0].family.outputs == []


@pytest.mark.parametrize("closing", [False, True])
def test_that_a_suggestion_for_another_tab_is_neither_taken_nor_selected_here(
    window: Window, two, qtbot: QtBot, closing: bool
) -> None:
    listing = window.furniture.endpoints.inputs.suggestions
    suggestion = listing.item(0)
    assert suggestion.data(Qt.ItemDataRole.UserRole) == Endpoint("x")
    if closing:
        for tab in two:
            window.session.close_tab(tab)
    else:
        window.session.show_tab(two[1])
    listing.itemClicked.emit(suggestion)
    listing.itemActivated.emit(suggestion)
    assert window.session.selection is None and two[1].family.inputs == []


def test_that_a_chip_of_another_overlay_hides_nothing(window: Window, two) -> None:
    chip = window.stage.legend.findChildren(Chip)[0]
    window.session.show_overlay("none")
    chip.click()
    assert not any(window.session.hidden.values())


def test_that_the_cross_of_a_tab_that_is_closed_closes_nothing(window: Window, two) -> None:
    cross = window.stage.tabs.tabButton(0, QTabBar.ButtonPosition.RightSide)
    cross.click()
    cross.click()
    assert window.session.tabs == [two[1]]


@pytest.mark.parametrize("gone", [0, 1])
def test_that_no_comparison_comes_of_a_tab_that_is_closed_meanwhile(window, two, qtbot: QtBot, gone: int) -> None:
    window.analyst.compare(*two)
    window.session.close_tab(two[gone])
    settle(window, qtbot)
    window.analyst.compare(*two)
    settle(window, qtbot)
    assert window.session.tabs == [two[1 - gone]]


def test_that_a_comparison_that_is_closed_while_it_is_made_again_stays_closed(window, two, qtbot: QtBot) -> None:
    window.analyst.compare(*two)
    qtbot.waitUntil(lambda: isinstance(window.session.current, Comparison), timeout=WAIT)
    window.analyst.compare(*two, [("first", None)])
    window.session.close_tab(window.session.current)
    settle(window, qtbot)
    assert window.session.tabs == list(two)


def test_that_a_file_that_is_closed_is_no_longer_offered_for_a_comparison(window, two, qtbot: QtBot) -> None:
    window.session.show_tab(two[1])
    window.comparing._offer(*two)
    assert window.comparing.bar.isVisible()
    window.session.close_tab(two[0])
    assert not window.comparing.bar.isVisible()


def test_that_a_version_is_told_in_a_few_words_whatever_its_size(two) -> None:
    assert len(repr(two[0])) < 100


def beginning(window: Window) -> bool:
    """Whether the view is where a first look would be."""
    canvas = window.stage.left.canvas
    shown = canvas.camera
    canvas.fit()
    return shown == canvas.camera


def test_that_a_view_of_the_drawing_before_is_not_come_back_to_when_graphs_are_drawn_in_another_way(
    window: Window, two, qtbot: QtBot
) -> None:
    window.stage.left.canvas.zoom(1.7)
    window.session.show_tab(two[1])
    settle(window, qtbot)
    window.session.set_style(Style(direction="right"))
    settle(window, qtbot)
    window.session.show_tab(two[0])
    settle(window, qtbot)
    assert beginning(window)


def test_that_a_tab_left_before_it_was_drawn_is_not_shown_where_another_one_was_looked_at(
    window: Window, two, qtbot: QtBot
) -> None:
    window.stage.show_anew()
    settle(window, qtbot)
    window.stage.left.canvas.zoom(1.7)
    looked_at = window.stage.left.canvas.camera
    window.analyst.compare(*two)
    qtbot.waitUntil(lambda: isinstance(window.session.current, Comparison), timeout=WAIT)
    window.stage.toggle_merged()
    settle(window, qtbot)
    comparison = window.session.current
    window.session.show_tab(two[0])
    window.stage.show_anew()  # and left at once
    window.session.show_tab(comparison)
    window.session.show_tab(two[0])
    settle(window, qtbot)
    assert beginning(window) and window.stage.left.canvas.camera != looked_at


def test_that_the_legend_speaks_of_what_is_coloured_in_a_comparison(window: Window, two, qtbot: QtBot) -> None:
    window.analyst.compare(*two)
    qtbot.waitUntil(lambda: isinstance(window.session.current, Comparison), timeout=WAIT)
    window.session.show_overlay("roles")
    settle(window, qtbot)
    told = [chip.text() for chip in window.stage.legend.findChildren(Chip) if chip.isVisible()]
    assert told == ["inference 3"], "the graph before has roles, the one after has none"
    window.stage.toggle_merged()
    settle(window, qtbot)
    assert not [chip for chip in window.stage.legend.findChildren(Chip) if chip.isVisible()]
    assert "side by side" in window.stage.legend.findChild(QLabel).text()


def test_that_what_was_said_of_a_name_goes_with_its_tab(window: Window, two) -> None:
    outputs = window.furniture.endpoints.outputs
    outputs.entry.setText("nowhere")
    outputs.entry.returnPressed.emit()
    assert outputs.problem.isVisible()
    window.session.show_tab(two[1])
    assert not outputs.problem.isVisible()


def test_that_a_scope_opened_before_its_tab_was_drawn_opens_when_it_is(
    window: Window, two, qtbot: QtBot, tmp_path: Path
) -> None:
    many = tmp_path / "many.pbtxt"
    many.write_text("".join(f'node {{ name: "{name}/a" op: "NoOp" }}\n' for name in "bcdefghijk"))
    window.open_path(many)
    qtbot.waitUntil(lambda: window.session.current not in two, timeout=WAIT)
    settle(window, qtbot)
    tab = window.session.current
    window.session.collapse_all()
    window.session.show_tab(two[0])
    settle(window, qtbot)
    window.session.show_tab(tab)
    window.session.toggle("k")
    settle(window, qtbot)
    scene = window.stage.left.canvas.scene_shown
    assert scene.drawing.is_open.any() and scene.scopes.by_path["k"] in scene.drawing.item
    assert window.stage.left.drawing is scene.drawing


def test_that_a_suggested_second_output_of_a_node_is_chosen_as_such(
    window: Window, qtbot: QtBot, tmp_path: Path
) -> None:
    two = 'node { name: "y" op: "Unpack" input: "first" attr { key: "num" value { i: 2 } } }'
    (tmp_path / "two.pbtxt").write_text(TEXT.format(middle="first").replace('name: "y"', 'name: "z"') + two)
    window.open_path(tmp_path / "two.pbtxt")
    qtbot.waitUntil(lambda: window.session.version is not None, timeout=WAIT)
    settle(window, qtbot)
    version = window.session.version
    version.suggested_outputs = [Suggestion("y", 2.0, "An end."), Suggestion("y:1", 2.0, "An end.")]
    window.session.type_endpoints("outputs", "y")
    settle(window, qtbot)
    offered = window.furniture.endpoints.outputs.suggestions
    offered.itemActivated.emit(offered.item(0))
    assert version.family.outputs == [Endpoint("y"), Endpoint("y", 1)]
