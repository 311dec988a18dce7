"""What people and machines do to a window in the wrong moment."""

from __future__ import annotations

import gc
import os
import struct
import weakref
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog

from graphviewer.gui.state.session import Selection
from graphviewer.gui.state.versions import Comparison
from graphviewer.model.names import Endpoint
from tests.gui.conftest import WAIT
from tests.gui.test_main_job import freeze

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from graphviewer.gui.window import Window

OTHER = (
    'node { name: "only" op: "Placeholder" } node { name: "after" op: "Relu" input: "only" } versions { producer: 9 }'
)
CHANGED = 'node { name: "evil" op: "NoOp" } versions { producer: 9 }'


def open_text(window: Window, qtbot: QtBot, path: Path, text: str = OTHER) -> None:
    path.write_text(text)
    known = len(window.session.tabs)
    window.open_path(path)
    qtbot.waitUntil(lambda: len(window.session.tabs) > known, timeout=WAIT)
    qtbot.waitUntil(lambda: window.stage.left.drawing is not None and not window.jobs.is_busy(), timeout=WAIT)


def test_that_a_click_while_another_tab_is_being_drawn_selects_nothing(
    opened: Window, qtbot: QtBot, tmp_path: Path
) -> None:
    open_text(opened, qtbot, tmp_path / "small.pbtxt")
    opened.session.show_tab(opened.session.tabs[0])
    qtbot.waitUntil(lambda: opened.stage.left.drawing is not None, timeout=WAIT)
    shown = len(opened.stage.left.canvas.scene_shown.scopes)
    opened.session.select(None)
    opened.session.show_tab(opened.session.tabs[1])
    opened.stage.left.canvas.item_clicked.emit(shown - 1, Qt.KeyboardModifier.NoModifier)
    opened.stage.left.canvas.item_activated.emit(shown - 1)
    opened.stage.left.canvas.pan(5, 5)
    assert opened.session.selection is None


def test_that_a_file_which_changed_on_disk_is_said_and_not_read(window: Window, qtbot: QtBot, tmp_path: Path) -> None:
    path = tmp_path / "graph.pbtxt"
    open_text(window, qtbot, path)
    window.session.type_endpoints("outputs", "after")
    qtbot.waitUntil(lambda: not window.jobs.is_busy(), timeout=WAIT)
    path.write_text(CHANGED)
    window.run_operation("extract")
    qtbot.waitUntil(window.furniture.banner.isVisible, timeout=WAIT)
    assert "changed on disk" in window.furniture.banner.text.text()
    assert not window.jobs.active()


def test_that_a_node_of_another_tab_cannot_be_marked_here(opened: Window, qtbot: QtBot, tmp_path: Path) -> None:
    opened.session.select(Selection("net_1/probabilities"))
    open_text(opened, qtbot, tmp_path / "small.pbtxt")
    assert opened.session.selection is None or not opened.furniture._actions["output"].isEnabled()
    for kind in ("outputs", "inputs"):
        with qtbot.waitSignal(opened.session.failed) as told:
            opened.session.toggle_endpoint(kind, Endpoint("net_1/probabilities"))
        assert "no such node" in told.args[0].message
        assert getattr(opened.session.family, kind) == []


def test_that_a_result_whose_tab_was_closed_does_not_come_back(opened: Window, qtbot: QtBot) -> None:
    opened.session.type_endpoints("outputs", "net_1/probabilities")
    opened.session.type_endpoints("inputs", "images")
    qtbot.waitUntil(lambda: not opened.jobs.is_busy(), timeout=WAIT)
    opened.run_operation("freeze")
    qtbot.waitUntil(lambda: bool(opened.jobs.active()), timeout=WAIT)
    opened.close_tab()
    qtbot.waitUntil(lambda: not opened.jobs.active() and not opened.background.busy(), timeout=WAIT)
    assert opened.session.tabs == []


def test_that_closed_tabs_leave_memory(opened: Window, qtbot: QtBot) -> None:
    comparison = freeze(opened, qtbot)
    document = weakref.ref(comparison.after.document)
    del comparison
    while opened.session.tabs:
        opened.session.close_tab(opened.session.tabs[-1])
    opened.session.select(None)
    qtbot.waitUntil(lambda: not opened.jobs.is_busy() and not opened.background.busy(), timeout=WAIT)
    qtbot.wait(50)
    gc.collect()
    assert document() is None


def test_that_results_that_are_not_saved_are_asked_about_and_saved_ones_are_not(
    opened: Window, qtbot: QtBot, tmp_path: Path
) -> None:
    comparison = freeze(opened, qtbot)
    asked: list[list[str]] = []
    opened.files.ask_discard = lambda titles: bool(asked.append(titles))
    assert not opened.close() and opened.isVisible()
    assert asked == [[comparison.after.title]]
    opened.files.save(comparison.after, tmp_path / "kept.pb")
    qtbot.waitUntil(lambda: comparison.after.is_saved, timeout=WAIT)
    assert opened.close() and len(asked) == 1


def test_that_closing_while_a_file_is_written_waits_for_it(opened: Window, qtbot: QtBot, tmp_path: Path) -> None:
    target = tmp_path / "saved.pbtxt"
    opened.files.save(opened.session.version, target)
    opened.close()
    qtbot.waitUntil(lambda: not opened.isVisible(), timeout=WAIT)
    assert target.stat().st_size > 10_000
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".saved")] == []


@pytest.mark.screen
@pytest.mark.parametrize(("name", "written"), [("a.png", "a.png"), ("b", "b.png"), ("gone/c.png", None)])
def test_that_a_picture_is_written_or_the_failure_told(
    opened: Window, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, written: str | None
) -> None:
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_arguments: (str(tmp_path / name), ""))
    opened.files.ask_picture_of_view()
    if written is None:
        assert "could not be written" in opened.furniture.banner.text.text()
    else:
        assert (tmp_path / written).stat().st_size > 1_000


@pytest.mark.screen
@pytest.mark.parametrize(
    ("name", "kind", "written", "begins"),
    [
        ("all", "Whole graph (*.png)", "all.png", b"\x89PNG"),
        ("all.svg", "Whole graph (*.svg)", "all.svg", b"<?xml"),
        ("all.png", "Whole graph (*.svg)", "all.png.svg", b"<?xml"),
    ],
)
def test_that_the_whole_graph_can_be_a_picture(
    opened: Window,
    qtbot: QtBot,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    kind: str,
    written: str,
    begins: bytes,
) -> None:
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_arguments: (str(tmp_path / name), kind))
    opened.stage.left.canvas.zoom(8)
    opened.files.ask_picture()
    qtbot.waitUntil(lambda: "Saved" in opened.furniture.state.text(), timeout=WAIT)
    content = (tmp_path / written).read_bytes()
    assert content.startswith(begins)
    drawing = opened.stage.left.drawing
    size = struct.unpack(">II", content[16:24]) if begins != b"<?xml" else None
    assert size is None or (size[0] >= drawing.width and size[1] >= drawing.height)


@pytest.mark.screen
def test_that_both_sides_of_a_comparison_are_in_its_picture(opened: Window, qtbot: QtBot, tmp_path: Path) -> None:
    freeze(opened, qtbot)
    panes = opened.stage.panes()
    qtbot.waitUntil(lambda: all(pane.drawing is not None for pane in panes), timeout=WAIT)
    opened.files.save_whole(tmp_path / "both.png")
    qtbot.waitUntil(lambda: "Saved" in opened.furniture.state.text(), timeout=WAIT)
    width = struct.unpack(">I", (tmp_path / "both.png").read_bytes()[16:20])[0]
    assert width >= sum(pane.drawing.width for pane in panes)


def test_that_a_file_that_was_opened_is_not_written_over(window: Window, qtbot: QtBot, tmp_path: Path) -> None:
    path = tmp_path / "graph.pbtxt"
    open_text(window, qtbot, path)
    before = path.read_bytes()
    window.session.type_endpoints("outputs", "after")
    window.run_operation("extract")
    qtbot.waitUntil(lambda: isinstance(window.session.current, Comparison), timeout=WAIT)
    for version in window.session.versions():
        window.files.save(version, path)
        banner = window.furniture.banner
        qtbot.waitUntil(lambda banner=banner: banner.isVisible(), timeout=WAIT)
        assert "is open here" in banner.text.text()
        assert banner.button.text() == "Save As…"
        banner.hide()
    result = window.session.current.after
    assert path.read_bytes() == before and not result.is_saved
    window.files.save(result, tmp_path / "other.pb")
    qtbot.waitUntil(lambda: result.is_saved, timeout=WAIT)


def test_that_a_source_whose_tab_was_closed_is_not_written_over(window: Window, qtbot: QtBot, tmp_path: Path) -> None:
    path = tmp_path / "graph.pbtxt"
    open_text(window, qtbot, path)
    window.session.type_endpoints("outputs", "after")
    window.run_operation("extract")
    qtbot.waitUntil(lambda: isinstance(window.session.current, Comparison), timeout=WAIT)
    result = window.session.current.after
    window.session.close_tab(result.parent)
    window.files.save(result, path)
    qtbot.waitUntil(window.furniture.banner.isVisible, timeout=WAIT)
    assert "is open here" in window.furniture.banner.text.text()


def test_that_names_with_outer_spaces_can_be_outputs(window: Window, qtbot: QtBot, tmp_path: Path) -> None:
    text = 'node { name: "x" op: "Placeholder" } node { name: " y " op: "Relu" input: "x" } versions { producer: 9 }'
    open_text(window, qtbot, tmp_path / "spaces.pbtxt", text)
    window.session.toggle_endpoint("outputs", Endpoint(" y "))
    qtbot.waitUntil(lambda: not window.jobs.is_busy(), timeout=WAIT)
    window.run_operation("extract")
    qtbot.waitUntil(lambda: isinstance(window.session.current, Comparison), timeout=WAIT)


@pytest.mark.screen
def test_that_a_suggestion_is_taken_by_a_double_click_once(opened: Window, qtbot: QtBot) -> None:
    panel = opened.furniture.endpoints.outputs
    opened.show()
    first = panel.suggestions.item(0)
    name = first.data(Qt.ItemDataRole.UserRole)
    spot = panel.suggestions.visualItemRect(first).center()
    qtbot.mouseClick(panel.suggestions.viewport(), Qt.MouseButton.LeftButton, pos=spot)
    qtbot.mouseDClick(panel.suggestions.viewport(), Qt.MouseButton.LeftButton, pos=spot)
    assert opened.session.family.outputs == [name]


def test_that_the_session_folder_is_the_users_alone(window: Window) -> None:
    folder = window._folder.path
    assert os.stat(folder).st_mode & 0o077 == 0


def test_that_the_view_is_never_left_where_nothing_is_when_scopes_close(opened: Window, qtbot: QtBot) -> None:
    pane, session = opened.stage.left, opened.session
    session.expand_below()
    qtbot.waitUntil(lambda: not opened.background.busy(), timeout=WAIT)
    drawing = pane.drawing
    lowest = int(drawing.item[(drawing.y + drawing.h * ~drawing.is_open).argmax()])
    pane.canvas.zoom_to(lowest, animate=False)
    session.collapse_all()
    qtbot.waitUntil(lambda: pane.drawing is not drawing, timeout=WAIT)
    assert not pane._is_view_empty()


def test_that_a_view_moved_to_where_nothing_is_stays_there(opened: Window, qtbot: QtBot) -> None:
    pane = opened.stage.left
    pane.canvas.pan(100_000, 0)
    moved, drawing = pane.canvas.camera, pane.drawing
    opened.session.toggle("net")
    qtbot.waitUntil(lambda: pane.drawing is not drawing, timeout=WAIT)
    assert pane.canvas.camera.scale == moved.scale and pane._is_view_empty()
