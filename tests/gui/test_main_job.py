"""The main job in the real window: open, click an output, freeze in the background, see what changed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QMimeData, QPoint, Qt, QUrl
from PySide6.QtGui import QDropEvent

from graphviewer.formats import open_document
from graphviewer.gui.state.selection import AFTER, Selection
from graphviewer.gui.state.versions import Comparison
from graphviewer.model.names import Endpoint
from tests.gui.conftest import WAIT

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from graphviewer.gui.window import Window

OUTPUT, INPUT = "net_1/probabilities", "images"


def reveal(window: Window, qtbot: QtBot, name: str) -> None:
    window.session.select(Selection(name), reveal=True)
    pane = window.stage.left
    item = Selection(name).item(pane.subject.document.scopes)
    qtbot.waitUntil(lambda: pane.drawing is not None and item in pane.drawing.item, timeout=WAIT)


def freeze(window: Window, qtbot: QtBot) -> Comparison:
    window.session.type_endpoints("outputs", OUTPUT)
    window.session.type_endpoints("inputs", INPUT)
    window.run_operation("freeze")
    qtbot.waitUntil(lambda: isinstance(window.session.current, Comparison), timeout=WAIT)
    shown = window.furniture.changes.model
    qtbot.waitUntil(lambda: shown.changes is window.session.current.changes, timeout=WAIT)  # a turn of the loop later
    return window.session.current


@pytest.mark.screen
def test_that_a_clicked_node_is_selected_everywhere(opened: Window, qtbot: QtBot, click: Callable) -> None:
    reveal(opened, qtbot, OUTPUT)
    opened.session.select(None)
    click(opened.stage.left, OUTPUT)
    assert opened.session.selection == Selection(OUTPUT)
    scopes = opened.session.version.document.unfolded.scopes
    outline = opened.furniture.outline
    assert scopes.path(outline.model.item(outline.tree.currentIndex())) == OUTPUT
    assert OUTPUT in opened.furniture.inspector.page.toPlainText()


@pytest.mark.screen
def test_that_o_marks_the_clicked_node_and_roles_follow(opened: Window, qtbot: QtBot, click: Callable) -> None:
    reveal(opened, qtbot, OUTPUT)
    click(opened.stage.left, OUTPUT)
    qtbot.keyClick(opened.stage.left.canvas, Qt.Key.Key_O)
    assert opened.session.family.outputs == [Endpoint(OUTPUT)]
    qtbot.waitUntil(lambda: opened.session.version.roles is not None, timeout=WAIT)
    counts = opened.session.version.roles.counts()
    assert counts["inference"] > 5 and counts["gradient"] > 5
    wanted, legend = f"inference {counts['inference']:,}", opened.stage.legend

    def is_in_legend() -> bool:
        return wanted in [chip.text() for chip in legend.findChildren(type(opened.stage.merged_button))]

    qtbot.waitUntil(is_in_legend, timeout=WAIT)  # it is filled in a turn of its own


def test_that_an_initializer_is_refused_as_output_with_the_reason(opened: Window, qtbot: QtBot) -> None:
    graph = opened.session.version.document.graph
    assign = next(name for name, op in zip(graph.names, graph.ops, strict=True) if op == "Assign")
    with qtbot.waitSignal(opened.session.failed) as blocker:
        opened.session.toggle_endpoint("outputs", Endpoint(assign))
    assert "cannot be an output" in blocker.args[0].message
    assert opened.session.family.outputs == []
    assert opened.furniture.banner.isVisible()


def test_that_a_freeze_runs_in_the_worker_and_opens_before_and_after(opened: Window, qtbot: QtBot) -> None:
    comparison = freeze(opened, qtbot)
    before, after = comparison.before.document, comparison.after.document
    assert OUTPUT in after.graph.index and len(after.graph) < len(before.graph)
    assert not {"VariableV2", "VarHandleOp", "IteratorGetNext"} & set(after.graph.ops)
    assert after.graph.ops[after.graph.index[INPUT]] == "Placeholder"
    assert sum(comparison.diff.summary().values()) >= len(before.graph)
    assert all(change.reason for change in comparison.diff.changes)
    assert opened.furniture.changes.model.rowCount() == len(comparison.diff.changes)
    assert "→" in opened.furniture.changes.bars.totals[0].text


def test_that_a_row_of_the_changes_goes_to_the_node_in_both_views(opened: Window, qtbot: QtBot) -> None:
    comparison = freeze(opened, qtbot)
    changes = comparison.diff.changes
    row = next(row for row, change in enumerate(changes) if change.status == "converted")
    opened.furniture.changes.go_to(row)
    assert opened.session.selection == Selection(changes[row].after, side=AFTER)
    for pane in (opened.stage.left, opened.stage.right):
        item = opened.session.selection.item(pane.subject.document.scopes)
        qtbot.waitUntil(
            lambda pane=pane, item=item: pane.drawing is not None and item in pane.drawing.item, timeout=WAIT
        )


def test_that_both_views_pan_zoom_and_open_scopes_together(opened: Window, qtbot: QtBot) -> None:
    freeze(opened, qtbot)
    left, right = opened.stage.left, opened.stage.right
    qtbot.waitUntil(lambda: left.drawing is not None and right.drawing is not None, timeout=WAIT)
    left.canvas.zoom(1.5)
    assert right.canvas.camera.scale == pytest.approx(left.canvas.camera.scale)
    rect = right.canvas.view_rect()
    left.canvas.pan(40, 25)
    moved = right.canvas.view_rect().topLeft() - rect.topLeft()
    assert (moved.x(), moved.y()) != (0, 0)
    opened.session.expand_below("")
    opened_scopes = [int(pane.drawing.is_open.sum()) for pane in (left, right)]
    qtbot.waitUntil(
        lambda: all(
            int(pane.drawing.is_open.sum()) > before for pane, before in zip((left, right), opened_scopes, strict=True)
        ),
        timeout=WAIT,
    )


def test_that_the_merged_view_shows_nodes_of_both_sides(opened: Window, qtbot: QtBot) -> None:
    comparison = freeze(opened, qtbot)
    opened.stage.toggle_merged()
    assert comparison.is_merged_shown and opened.stage.right.subject is None
    document = opened.stage.left.subject.document
    assert set(comparison.before.document.graph.names) <= set(document.graph.names)


def test_that_the_original_file_is_never_touched_and_save_writes_the_result(
    opened: Window, qtbot: QtBot, tmp_path: Path
) -> None:
    source = opened.session.version.document.path
    stamp = source.stat().st_mtime_ns
    comparison = freeze(opened, qtbot)
    for suffix in (".pb", ".pbtxt"):
        target = tmp_path / f"frozen{suffix}"
        opened.files.save(comparison.after, target)
        qtbot.waitUntil(lambda target=target: target.exists(), timeout=WAIT)
        qtbot.waitUntil(lambda: not opened.background.busy(), timeout=WAIT)
        assert list(open_document(target).graph.names) == list(comparison.after.document.graph.names)
    assert source.stat().st_mtime_ns == stamp
    assert sorted(path.name for path in tmp_path.iterdir() if "frozen" in path.name) == ["frozen.pb", "frozen.pbtxt"]


@pytest.mark.screen
def test_that_a_dropped_file_opens(window: Window, qtbot: QtBot, tmp_path: Path) -> None:
    file = tmp_path / "dropped.pbtxt"
    file.write_text('node { name: "a" op: "Placeholder" } node { name: "b" op: "Relu" input: "a" }')
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(file))])
    action, button, key = Qt.DropAction.CopyAction, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    window.dropEvent(QDropEvent(QPoint(10, 10).toPointF(), action, data, button, key))
    qtbot.waitUntil(lambda: window.session.version is not None, timeout=WAIT)
    assert list(window.session.version.document.graph.names) == ["a", "b"]


def test_that_a_file_which_is_no_graph_is_named_for_what_it_is(window: Window, qtbot: QtBot, tmp_path: Path) -> None:
    file = tmp_path / "page.pb"
    file.write_text("<!DOCTYPE html><html><body>404</body></html>")
    window.open_path(file)
    qtbot.waitUntil(window.furniture.banner.isVisible, timeout=WAIT)
    assert "web page" in window.furniture.banner.text.text()
    assert window.session.version is None
