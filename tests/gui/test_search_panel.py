"""Search while typing, in the real window."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from PySide6.QtCore import Qt

from graphviewer.gui.state.session import Selection
from tests.gui.conftest import WAIT

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from graphviewer.gui.window import Window


def type_in(window: Window, qtbot: QtBot, text: str) -> None:
    """Ctrl+F, type, and wait for an answer that knows attributes."""
    panel = window.furniture.search
    window.focus_search()
    panel.entry.setText(text)
    qtbot.waitUntil(lambda: panel.model.hits is not None and panel.model.hits.query.text == text, timeout=WAIT)
    qtbot.waitUntil(lambda: panel.model.hits is not None and not panel.model.hits.note, timeout=WAIT)


def names(window: Window) -> list[str]:
    model = window.furniture.search.model
    return [model.row(number).path for number in range(model.rowCount())]


@pytest.mark.screen
@pytest.mark.parametrize("key", ["Ctrl+F", "/"])
def test_that_a_key_leads_to_the_line_and_the_outline_keeps_its_filter(opened: Window, qtbot: QtBot, key: str) -> None:
    opened.furniture.outline.filter.setText("conv")
    canvas = opened.stage.left.canvas
    canvas.setFocus()
    if key == "/":
        qtbot.keyClick(canvas, Qt.Key.Key_Slash)
    else:
        qtbot.keyClick(canvas, Qt.Key.Key_F, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(opened.furniture.search.entry.hasFocus, timeout=WAIT)
    assert opened.furniture.outline.filter.text() == "conv"


@pytest.mark.screen
def test_that_hits_are_listed_and_lit_and_esc_brings_the_former_overlay_back(opened: Window, qtbot: QtBot) -> None:
    type_in(opened, qtbot, "op:Softmax")
    found = set(names(opened))
    graph = opened.session.version.document.graph
    assert found == {name for name, op in zip(graph.names, graph.ops, strict=True) if op == "Softmax"}
    assert opened.session.overlay_kind == "search"
    overlay = opened.stage.left.canvas.scene_shown.overlay
    assert {graph.names[node] for node in np.flatnonzero(overlay.codes == 0)} == found
    assert opened.stage.legend._flow.count() == 2
    qtbot.keyClick(opened.furniture.search.entry, Qt.Key.Key_Escape)
    assert opened.session.overlay_kind == "roles"
    assert opened.stage.left.canvas.hasFocus()


def test_that_enter_and_f3_open_what_hides_the_next_hit(opened: Window, qtbot: QtBot) -> None:
    type_in(opened, qtbot, "op:Softmax")
    hits, pane = names(opened), opened.stage.left
    entry = opened.furniture.search.entry
    qtbot.keyClick(entry, Qt.Key.Key_Return)
    assert opened.session.selection == Selection(hits[0])
    item = Selection(hits[0]).item(pane.subject.document.scopes)
    qtbot.waitUntil(lambda: item in pane.drawing.item, timeout=WAIT)
    qtbot.keyClick(entry, Qt.Key.Key_F3)
    assert opened.session.selection == Selection(hits[1])
    qtbot.keyClick(entry, Qt.Key.Key_F3, Qt.KeyboardModifier.ShiftModifier)
    assert opened.session.selection == Selection(hits[0])
    qtbot.keyClick(entry, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    assert opened.session.selection == Selection(hits[-1]), "before the first comes the last"


def test_that_f3_lights_the_hits_again_after_esc(opened: Window, qtbot: QtBot) -> None:
    type_in(opened, qtbot, "op:Softmax")
    opened.back_out()
    qtbot.keyClick(opened.stage.left.canvas, Qt.Key.Key_F3)
    qtbot.waitUntil(lambda: opened.session.overlay_kind == "search", timeout=WAIT)


def test_that_a_closed_scope_with_one_hit_is_lit(opened: Window, qtbot: QtBot) -> None:
    opened.session.collapse_all()
    type_in(opened, qtbot, "net_1/probabilities")
    scene = opened.stage.left.canvas.scene_shown
    qtbot.waitUntil(lambda: opened.stage.left.canvas.scene_shown.overlay is not None, timeout=WAIT)
    scene = opened.stage.left.canvas.scene_shown
    category = {scene.label(box): int(scene.category[box]) for box in scene.solids.tolist()}
    assert category["net_1"] == 0
    assert category["gradients"] == 1


def test_that_what_cannot_be_read_is_said_and_nothing_found_keeps_the_colours(opened: Window, qtbot: QtBot) -> None:
    panel = opened.furniture.search
    opened.focus_search()
    panel.entry.setText("/[/")
    assert "regular expression" in panel.state.text()
    type_in(opened, qtbot, "zzqqzz op:Nothing")
    assert panel.state.text().startswith("Nothing found")
    assert opened.session.overlay_kind == "roles"


def test_that_a_row_tells_name_scope_op_and_what_matched(opened: Window, qtbot: QtBot) -> None:
    type_in(opened, qtbot, "conv padding=SAME op:Conv2D")
    row = opened.furniture.search.model.row(0)
    assert (row.op, row.op_matches, row.chips) == ("Conv2D", True, ("padding=SAME",))
    assert [row.name[begin:end].lower() for begin, end in row.spans] == ["conv"]
    assert row.path == f"{row.scope}/{row.name}"
    opened.furniture.search.list.grab()


def test_that_roles_can_be_searched_once_an_output_is_chosen(opened: Window, qtbot: QtBot) -> None:
    opened.session.type_endpoints("outputs", "net_1/probabilities")
    qtbot.waitUntil(lambda: opened.session.version.roles is not None, timeout=WAIT)
    type_in(opened, qtbot, "role:gradient")
    assert len(names(opened)) == opened.session.version.roles.counts()["gradient"]


def test_that_an_emptied_line_explains_the_language(opened: Window, qtbot: QtBot) -> None:
    type_in(opened, qtbot, "conv")
    opened.furniture.search.entry.clear()
    assert opened.session.overlay_kind == "roles"
    assert "op:Conv2D" in opened.furniture.search.help.toPlainText().replace("\N{NO-BREAK SPACE}", " ")


def test_that_rows_tell_the_role_once_it_is_known_and_scopes_from_nodes(opened: Window, qtbot: QtBot) -> None:
    type_in(opened, qtbot, "probabilities")
    rows = {row.path: row for row in map(opened.furniture.search.model.row, range(len(names(opened))))}
    assert rows["net_1/probabilities"].role == ""
    opened.session.type_endpoints("outputs", "net_1/probabilities")
    model = opened.furniture.search.model
    qtbot.waitUntil(lambda: any(model.row(at).role for at in range(model.rowCount())), timeout=WAIT)
    rows = {row.path: row for row in map(model.row, range(model.rowCount()))}
    assert rows["net_1/probabilities"].role == "inference"
    type_in(opened, qtbot, "convolution1")
    rows = {row.path: row for row in map(model.row, range(model.rowCount()))}
    assert rows["net/convolution1"].name == "convolution1/"


def test_that_what_only_repeats_the_path_is_no_chip(opened: Window, qtbot: QtBot) -> None:
    type_in(opened, qtbot, "images")
    model = opened.furniture.search.model
    for row in map(model.row, range(model.rowCount())):
        assert not any(row.path in chip for chip in row.chips)


def test_that_a_question_about_roles_says_what_it_needs_and_is_answered_then(opened: Window, qtbot: QtBot) -> None:
    panel = opened.furniture.search
    type_in(opened, qtbot, "role:loss")
    assert "once an output is chosen" in panel.state.text()
    opened.session.type_endpoints("outputs", "net_1/probabilities")
    qtbot.waitUntil(lambda: panel.model.rowCount() > 0, timeout=WAIT)
    assert "chosen" not in panel.state.text()
    assert "loss/Mean" in names(opened)
