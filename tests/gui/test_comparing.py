"""Two small graphs compared in a real window: what the inspector says, pins, changes only, a dropped file, a report."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDropEvent, QGuiApplication
from PySide6.QtWidgets import QLabel, QStyleOptionViewItem, QToolButton

from graphviewer import protos
from graphviewer.gui.panels.changes_model import REASON
from graphviewer.gui.state.selection import BEFORE
from graphviewer.gui.state.session import Selection
from graphviewer.gui.state.versions import Comparison
from graphviewer.model.making import const_node
from graphviewer.model.names import Endpoint
from tests.comparison_graphs import calling, floats
from tests.function_graphs import nested
from tests.gui.conftest import WAIT

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from graphviewer.gui.stage.pane import Pane
    from graphviewer.gui.window import Window

Click = Callable[["Pane", str], None]


def _graph(weights: list[float], activation: str, tail: str) -> protos.GraphDef:
    graph_def = protos.GraphDef()
    graph_def.node.add(name="x", op="Placeholder").attr["dtype"].type = 1
    graph_def.node.append(const_node("net/w", 1, values=np.array(weights, np.float32)))
    for name, op, inputs in (
        ("net/mul", "Mul", ["x", "net/w"]),
        ("net/act", activation, ["net/mul"]),
        ("same/a", "Abs", ["net/act"]),
        ("same/b", "Neg", ["same/a"]),
        (tail, "Sqrt", ["same/b"]),
    ):
        graph_def.node.add(name=name, op=op, input=inputs).attr["T"].type = 1
    return graph_def


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    paths = tmp_path / "first.pb", tmp_path / "second.pb"
    paths[0].write_bytes(_graph([1.0, 2.0, 3.0], "Relu", "old_tail").SerializeToString())
    second = _graph([1.0, 2.5, 3.0], "Tanh", "new_tail")
    second.node.add(name="extra", op="Exp", input=["new_tail"]).attr["T"].type = 1
    paths[1].write_bytes(second.SerializeToString())
    return paths


@pytest.fixture
def compared(window: Window, files: tuple[Path, Path], qtbot: QtBot) -> Window:
    """A window that compares the two files, all scopes open."""
    for count, path in enumerate(files, 1):
        window.open_path(path)
        qtbot.waitUntil(lambda count=count: len(window.session.versions()) == count, timeout=WAIT)
    window.analyst.compare(*window.session.versions())
    qtbot.waitUntil(lambda: window.comparing.comparison is not None, timeout=WAIT)
    window.session.expand_below()
    _settle(window, qtbot)
    return window


def _settle(window: Window, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: not window.background.busy(), timeout=WAIT)


def _text(window: Window) -> str:
    return window.furniture.inspector.page.toPlainText()


def _status(comparison: Comparison, name: str) -> dict[tuple[str | None, str | None], str]:
    return {(one.before, one.after): one.match for one in comparison.diff.changes if name in (one.before, one.after)}


def test_that_the_inspector_shows_what_differs_as_old_and_new(compared: Window) -> None:
    compared.session.select(Selection("net/act"))
    text = _text(compared)
    assert "changed" in text and "Match: by name." in text
    assert "Relu" in text and "Tanh" in text
    compared.session.select(Selection("net/w"))
    text = _text(compared)
    assert "1 of 3 elements, by up to 0.5" in text
    assert "mean" in text and "2.166667" in text
    compared.session.select(Selection("same/a"))
    assert "Unchanged." in _text(compared)


def test_that_without_a_selection_the_inspector_speaks_of_the_comparison(compared: Window) -> None:
    compared.session.select(None)
    text = _text(compared)
    assert "first.pb → second.pb" in text and "unchanged" in text


def test_that_the_twin_of_a_renamed_node_is_selected_beside_it(compared: Window) -> None:
    assert ("old_tail", "new_tail") in _status(compared.comparing.comparison, "new_tail")
    compared.session.select(Selection("new_tail"), reveal=True)
    for pane, name in ((compared.stage.left, "old_tail"), (compared.stage.right, "new_tail")):
        item = Selection(name).item(pane.scopes)
        assert pane.item_of(compared.session.selection) == item
        assert pane.canvas.scene_shown.selection == {item}


@pytest.mark.screen
def test_that_a_pin_begun_on_one_side_and_clicked_on_the_other_links_the_two(
    compared: Window, click: Click, qtbot: QtBot
) -> None:
    first = compared.comparing.comparison
    assert ("old_tail", "extra") not in _status(first, "extra")
    click(compared.stage.left, "old_tail")
    qtbot.keyClick(compared.stage.left.canvas, Qt.Key.Key_S)
    bar = compared.comparing.bar
    assert bar.isVisible() and "old_tail" in bar.text.text()
    click(compared.stage.left, "x")
    assert compared.comparing.waiting == (0, "old_tail"), "a click on the same side chooses nothing"
    click(compared.stage.right, "extra")
    qtbot.waitUntil(lambda: compared.comparing.comparison not in (None, first), timeout=WAIT)
    again = compared.comparing.comparison
    assert _status(again, "extra") == {("old_tail", "extra"): "pinned"}
    assert len([tab for tab in compared.session.tabs if isinstance(tab, Comparison)]) == 1
    pin = next(one for one in bar.findChildren(QToolButton) if "old_tail" in one.text() and one.isVisible())
    qtbot.mouseClick(pin, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: compared.comparing.comparison not in (None, again), timeout=WAIT)
    assert compared.comparing.comparison.pins == ()
    assert ("old_tail", "extra") not in _status(compared.comparing.comparison, "extra")
    assert not bar.isVisible()


def test_that_a_node_can_be_pinned_as_having_no_twin(compared: Window, click: Click, qtbot: QtBot) -> None:
    first = compared.comparing.comparison
    click(compared.stage.right, "net/act")
    compared.comparing.pin()
    assert compared.comparing.waiting == (1, "net/act"), "the side is that of the view that was clicked"
    qtbot.mouseClick(compared.comparing.bar.has_none, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: compared.comparing.comparison not in (None, first), timeout=WAIT)
    assert set(_status(compared.comparing.comparison, "net/act")) == {("net/act", None), (None, "net/act")}


def _pin(window: Window, qtbot: QtBot, click: Click, old: str, new: str) -> str:
    """Pin two nodes with the mouse; what the status bar says."""
    shown, said = window.comparing.comparison, []
    window.session.said.connect(said.append)
    click(window.stage.left, old)
    window.comparing.pin()
    click(window.stage.right, new)
    qtbot.waitUntil(lambda: window.comparing.comparison not in (None, shown), timeout=WAIT)
    _settle(window, qtbot)
    return next(text for text in said if "pinned" in text)


def test_that_a_pin_of_two_kinds_of_node_is_made_and_said(compared: Window, click: Click, qtbot: QtBot) -> None:
    said = _pin(compared, qtbot, click, "old_tail", "extra")
    assert said == "'old_tail' and 'extra' are pinned as the same node, though one is a Sqrt and the other a Exp."
    assert compared.comparing.comparison.pins == (("old_tail", "extra"),)


def test_that_a_second_pin_of_a_node_takes_the_first_one_out_and_says_so(
    compared: Window, click: Click, qtbot: QtBot
) -> None:
    _pin(compared, qtbot, click, "old_tail", "extra")
    said = _pin(compared, qtbot, click, "old_tail", "new_tail")
    assert said == "'old_tail' and 'new_tail' are pinned as the same node. 'old_tail' = 'extra' is pinned no more."
    assert compared.comparing.comparison.pins == (("old_tail", "new_tail"),)


def test_that_pins_outlive_another_tab_and_another_view(compared: Window, click: Click, qtbot: QtBot) -> None:
    _pin(compared, qtbot, click, "old_tail", "extra")
    pinned = compared.comparing.comparison
    compared.session.show_tab(compared.session.versions()[0])
    compared.analyst.compare(*compared.session.versions())
    assert compared.comparing.comparison is pinned
    compared.stage.toggle_merged()
    _settle(compared, qtbot)
    assert compared.comparing.bar.isVisible() and pinned.pins == (("old_tail", "extra"),)


def test_that_a_node_of_one_side_is_refused_as_a_twin_in_the_merged_view_with_a_sentence(
    compared: Window, click: Click, qtbot: QtBot
) -> None:
    said: list[str] = []
    compared.session.said.connect(said.append)
    compared.stage.toggle_merged()
    _settle(compared, qtbot)
    click(compared.stage.left, "extra")
    compared.comparing.pin()
    assert compared.comparing.waiting == (1, "extra")
    click(compared.stage.left, "extra")
    assert said[-1] == "'extra' is not in the graph before. Click another node; Esc ends."
    assert compared.comparing.waiting == (1, "extra")


def test_that_escape_ends_the_choice_of_a_twin(compared: Window, click: Click, qtbot: QtBot) -> None:
    click(compared.stage.left, "net/act")
    compared.comparing.pin()
    qtbot.keyClick(compared.stage.left.canvas, Qt.Key.Key_Escape)
    assert compared.comparing.waiting is None and not compared.comparing.bar.isVisible()


def test_that_a_pin_can_be_made_in_the_merged_view(compared: Window, click: Click, qtbot: QtBot) -> None:
    first = compared.comparing.comparison
    compared.stage.toggle_merged()
    _settle(compared, qtbot)
    click(compared.stage.left, "net/act")
    compared.comparing.pin()
    click(compared.stage.left, "extra")
    qtbot.waitUntil(lambda: compared.comparing.comparison not in (None, first), timeout=WAIT)
    assert compared.comparing.comparison.pins == (("net/act", "extra"),)
    assert compared.comparing.comparison.is_merged_shown


def test_that_changes_only_closes_what_is_the_same_and_shows_it_again(compared: Window, qtbot: QtBot) -> None:
    session = compared.session
    assert session.family.expanded >= {"net", "same"}
    compared.stage.changes_button.click()
    assert session.family.expanded == {"net"}
    assert "unchanged" in session.hidden["diff"]
    compared.stage.changes_button.click()
    assert session.family.expanded >= {"net", "same"}
    assert "unchanged" not in session.hidden["diff"]
    _settle(compared, qtbot)


def test_that_two_files_of_one_name_are_told_apart_by_their_folders(
    window: Window, files: tuple[Path, Path], qtbot: QtBot
) -> None:
    for count, (folder, path) in enumerate(zip(("old", "new"), files, strict=True), 1):
        place = path.parent / folder / "deep" / "graph.pb"
        place.parent.mkdir(parents=True)
        path.rename(place)
        window.open_path(place)
        qtbot.waitUntil(lambda count=count: len(window.session.versions()) == count, timeout=WAIT)
    window.analyst.compare(*window.session.versions())
    qtbot.waitUntil(lambda: window.comparing.comparison is not None, timeout=WAIT)
    assert window.comparing.comparison.title == "old ↔ new"
    assert [title.text() for title in window.stage.titles] == ["before: old/graph.pb", "after: new/graph.pb"]
    _settle(window, qtbot)


def test_that_the_first_look_says_how_many_changes_there_are_and_what_colours_mean(compared: Window) -> None:
    left, right = compared.stage.titles
    assert (left.detail, right.detail) == ("", "1 added")
    assert left.minimumSizeHint().width() == 0, "a long name makes no pane wider"
    headline = compared.stage.legend.findChild(QLabel, "changeCount").text()
    counts = compared.comparing.comparison.counts()
    assert headline == f"<b>{sum(counts.values()) - counts['unchanged']} changes</b>"
    tips = [chip.toolTip() for chip in compared.stage.legend.findChildren(QToolButton, "chip")]
    assert any(one == "added: only the graph after has it\nClick to hide 1 node." for one in tips)


def test_that_two_exports_of_one_graph_are_told_to_differ_in_generated_names_only(
    window: Window, tmp_path: Path, qtbot: QtBot
) -> None:
    graph = nested().graph_def.SerializeToString()
    for count, generated in enumerate((b"f_1234", b"f_5678"), 1):
        path = tmp_path / f"{count}.pb"
        path.write_bytes(graph.replace(b"square", generated))
        window.open_path(path)
        qtbot.waitUntil(lambda count=count: len(window.session.versions()) == count, timeout=WAIT)
    window.analyst.compare(*window.session.versions())
    qtbot.waitUntil(lambda: window.stage.legend.findChild(QLabel, "changeCount") is not None, timeout=WAIT)
    headline = window.stage.legend.findChild(QLabel, "changeCount").text()
    assert headline == "<b>No changes</b>, only generated names of functions differ: 1 function"
    _settle(window, qtbot)


def test_that_graphs_without_anything_in_common_are_both_seen_at_first(
    window: Window, tmp_path: Path, qtbot: QtBot
) -> None:
    wide, narrow = protos.GraphDef(), protos.GraphDef()
    names = [f"a_placeholder_with_a_long_name_{number}" for number in range(22)]
    for name in names:
        wide.node.add(name=name, op="Placeholder").attr["dtype"].type = 1
    wide.node.add(name="sum", op="AddN", input=names).attr["T"].type = 1
    narrow.node.append(const_node("one", 3, values=np.array([1], np.int32)))
    for name, graph in (("wide", wide), ("narrow", narrow)):
        (tmp_path / f"{name}.pb").write_bytes(graph.SerializeToString())
        window.open_path(tmp_path / f"{name}.pb")
        qtbot.waitUntil(lambda name=name: f"{name}.pb" in window.windowTitle(), timeout=WAIT)
    window.analyst.compare(*window.session.versions())
    qtbot.waitUntil(lambda: window.comparing.comparison is not None, timeout=WAIT)
    _settle(window, qtbot)
    qtbot.waitUntil(lambda: all(pane.drawing is not None for pane in window.stage.all_panes()), timeout=WAIT)
    assert [pane._is_view_empty() for pane in window.stage.all_panes()] == [False, False]


@pytest.mark.screen
def test_that_the_rows_that_are_shown_can_be_copied(compared: Window, qtbot: QtBot) -> None:
    panel, said = compared.furniture.changes, []
    compared.session.said.connect(said.append)
    panel.filter.setText("extra")
    qtbot.waitUntil(lambda: panel.model.rowCount() == 1, timeout=WAIT)
    panel.table.actions()[0].trigger()
    qtbot.waitUntil(lambda: "1 row is on the clipboard." in said, timeout=WAIT)
    head, row = QGuiApplication.clipboard().text().splitlines()
    assert head.split("\t") == ["Status", "Node", "Op", "Reason"]
    assert row.split("\t")[:3] == ["added", "extra", "Exp"]
    panel.filter.clear()
    panel.grouping.setCurrentText("by op kind")
    panel.copy_rows()
    assert QGuiApplication.clipboard().text().startswith("Group\tBefore\tAfter\tDifference\tNodes by status\n")


def test_that_the_table_soon_says_what_removed_nodes_were_for(window: Window, tmp_path: Path, qtbot: QtBot) -> None:
    whole = _graph([1.0, 2.0, 3.0], "Relu", "tail")
    whole.node.add(name="unread", op="Exp", input=["net/mul"]).attr["T"].type = 1
    for count, graph in enumerate((whole, _graph([1.0, 2.0, 3.0], "Relu", "tail")), 1):
        (tmp_path / f"{count}.pb").write_bytes(graph.SerializeToString())
        window.open_path(tmp_path / f"{count}.pb")
        qtbot.waitUntil(lambda count=count: len(window.session.versions()) == count, timeout=WAIT)
    window.analyst.compare(*window.session.versions())
    qtbot.waitUntil(lambda: window.comparing.comparison is not None, timeout=WAIT)
    model = window.furniture.changes.model
    qtbot.waitUntil(lambda: str(model.index(0, 3).data()).startswith("unused: "), timeout=WAIT)
    window.session.select(Selection("unread"))
    assert "unused" in _text(window)
    assert window.furniture.changes.grouping.findText("by role") > 0 and window.comparing.comparison.roles is not None
    window.session.set_endpoints(outputs=[Endpoint("unread")])  # chosen afterwards: the reasons follow
    qtbot.waitUntil(lambda: str(model.index(0, 3).data()).startswith("inference: "), timeout=WAIT)


@pytest.mark.screen
def test_that_the_bars_show_both_numbers(compared: Window) -> None:
    panel = compared.furniture.changes
    totals = {total.label: total for total in panel.bars.totals}
    assert (totals["Nodes"].text, totals["Nodes"].share) == ("7 → 8", "+14 %")
    assert totals["Ops"].before == 7
    assert panel.bars.isVisible() and not panel.totals.isVisible()
    picture = panel.bars.grab().toImage()
    accent = compared.theme.color("window.accent")
    assert any(picture.pixelColor(x, picture.height() - 6) == accent for x in range(picture.width()))


def _drop(window: Window, *paths: Path) -> None:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    where, left = QPointF(QPoint(20, 20)), Qt.MouseButton.LeftButton
    window.dropEvent(QDropEvent(where, Qt.DropAction.CopyAction, data, left, Qt.KeyboardModifier.NoModifier))


@pytest.mark.screen
def test_that_a_second_file_that_is_dropped_can_be_compared_with_the_first(
    window: Window, files: tuple[Path, Path], qtbot: QtBot
) -> None:
    bar = window.comparing.bar
    _drop(window, files[0])
    qtbot.waitUntil(lambda: len(window.session.versions()) == 1, timeout=WAIT)
    assert not bar.isVisible(), "nothing to compare with"
    _drop(window, files[1])
    qtbot.waitUntil(bar.isVisible, timeout=WAIT)
    assert bar.compare.text() == "Compare with first.pb"
    qtbot.mouseClick(bar.compare, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: window.comparing.comparison is not None, timeout=WAIT)
    found = window.comparing.comparison
    assert (found.before.title, found.after.title) == ("first.pb", "second.pb")
    assert not bar.isVisible()


def test_that_two_files_dropped_at_once_can_be_compared(window: Window, files: tuple[Path, Path], qtbot: QtBot) -> None:
    _drop(window, *files)
    qtbot.waitUntil(lambda: len(window.session.versions()) == 2, timeout=WAIT)
    assert window.comparing.bar.compare.text() == "Compare with first.pb"


@pytest.mark.screen
def test_that_the_report_is_written_with_both_pictures(compared: Window, tmp_path: Path, qtbot: QtBot) -> None:
    path = tmp_path / "report.html"
    compared.comparing.save_report(compared.comparing.comparison, path)
    qtbot.waitUntil(path.exists, timeout=WAIT)
    page = path.read_text("utf-8")
    assert page.count("data:image/png;base64,") == 2
    assert "net/act" in page
    qtbot.waitUntil(lambda: compared.furniture.state.text().startswith("Saved"), timeout=WAIT)


def test_that_what_is_selected_stays_in_sight_in_the_merged_view_and_back(compared: Window, qtbot: QtBot) -> None:
    stage = compared.stage
    compared.session.expand(["net"])
    compared.session.select(Selection("extra"), reveal=True)
    _settle(compared, qtbot)
    for _ in range(2):
        stage.left.canvas.zoom_to(stage.left.item_of(Selection("x")), animate=False)
        stage.toggle_merged()
        _settle(compared, qtbot)
        pane = stage.panes()[-1]
        qtbot.waitUntil(lambda pane=pane: _is_seen(pane, "extra"), timeout=WAIT)


def _is_seen(pane: Pane, name: str) -> bool:
    rect = pane.canvas.item_rect(pane.item_of(Selection(name))) if pane.drawing is not None else None
    return rect is not None and pane.canvas.view_rect().intersects(rect)


def test_that_hits_of_the_graph_before_are_listed_too(compared: Window, qtbot: QtBot) -> None:
    panel = compared.furniture.search
    panel.entry.setText("/(extra|old_tail)$/")
    qtbot.waitUntil(lambda: panel.model.total == 2, timeout=WAIT)
    assert [panel.model.row(row).path for row in range(2)] == ["extra", "old_tail"]
    assert "1 more in the graph before" in panel.state.text()
    panel.step(-1)
    assert compared.session.selection == Selection("old_tail", False, BEFORE)
    lit = [pane.canvas.scene_shown.overlay.counts().get("hit", 0) for pane in compared.stage.panes()]
    assert lit == [1, 1]
    panel.entry.setText("old_tail")
    qtbot.waitUntil(lambda: panel.model.total == 1, timeout=WAIT)
    assert panel.state.text() == "1 in the graph before"


def test_that_a_reason_is_cut_at_its_end(compared: Window) -> None:
    option = QStyleOptionViewItem()
    table = compared.furniture.changes.table
    table.itemDelegateForColumn(REASON).initStyleOption(option, table.model().index(0, REASON))
    assert option.textElideMode == Qt.TextElideMode.ElideRight


def test_that_a_graph_beside_its_inlined_twin_is_told_how_to_be_compared(
    window: Window, tmp_path: Path, qtbot: QtBot
) -> None:
    ops = ["Relu", "Exp", "Neg", "Abs", "Sqrt", "Tanh", "Elu", "Sin", "Cos"]
    body = [(f"n{at}", op, ["x" if at == 0 else f"n{at - 1}:y:0"]) for at, op in enumerate(ops)]
    inlined = protos.GraphDef()
    for at, op in enumerate(ops):
        floats(inlined, f"m{at}", op, [f"m{at - 1}"] if at else [])
    for name, graph_def in (("calls.pb", calling(body)), ("flat.pb", inlined)):
        (tmp_path / name).write_bytes(graph_def.SerializeToString())
        window.open_path(tmp_path / name)
        qtbot.waitUntil(lambda name=name: any(one.title == name for one in window.session.versions()), timeout=WAIT)
    window.analyst.compare(*window.session.versions())
    bar = window.comparing.bar
    qtbot.waitUntil(lambda: "calls.pb calls functions" in bar.text.text(), timeout=WAIT)
    assert bar.isVisible() and not bar.has_none.isVisible()
    assert window.comparing.back_out()
    assert not bar.isVisible()
    _settle(window, qtbot)
