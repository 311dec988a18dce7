"""What is selected belongs to a file: another file that is opened or shown has a selection of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from graphviewer.gui.state.session import Selection
from graphviewer.protos import GraphDef
from tests.gui.conftest import WAIT

if TYPE_CHECKING:
    from pathlib import Path

    from pytestqt.qtbot import QtBot

    from graphviewer.gui.window import Window

ONE, TWO = Selection("net/one"), Selection("net/two")


@pytest.fixture
def two(window: Window, tmp_path: Path, qtbot: QtBot) -> Window:
    """A window with two files, of which each has a node of its own and one that both have; the first is shown."""
    for number, name in enumerate(("one", "two"), 1):
        graph_def = GraphDef()
        for node in (f"net/{name}", "net/both"):
            graph_def.node.add(name=node, op="Placeholder").attr["dtype"].type = 1
        (tmp_path / f"{name}.pb").write_bytes(graph_def.SerializeToString())
        window.open_path(tmp_path / f"{name}.pb")
        qtbot.waitUntil(lambda count=number: len(window.session.tabs) == count, timeout=WAIT)
    window.session.show_tab(window.session.tabs[0])
    return window


def shown(window: Window) -> tuple[str, str]:
    """The breadcrumb and the first line of the inspector."""
    return window.stage.breadcrumb.text(), window.furniture.inspector.page.toPlainText().split("\n")[0]


def test_that_each_file_has_its_own_selection(two: Window) -> None:
    session, (first, second) = two.session, two.session.tabs
    session.select(ONE)
    chosen = shown(two)
    session.show_tab(second)
    assert session.selection is None
    assert "net" not in shown(two)[0]
    assert "Not in this version" not in two.furniture.inspector.page.toPlainText()
    session.select(TWO)
    session.show_tab(first)
    assert (session.selection, shown(two)) == (ONE, chosen)
    session.close_tab(first)
    assert session.selection == TWO
    session.close_tab(second)
    assert session.selection is None


def test_that_back_and_forward_stay_in_the_file(two: Window) -> None:
    session, (first, second) = two.session, two.session.tabs
    for selection in (ONE, Selection("net/both")):
        session.select(selection)
    session.show_tab(second)
    assert not session.can_go_back
    session.select(TWO)
    assert not session.can_go_back
    session.show_tab(first)
    session.go_back()
    assert session.selection == ONE


def test_that_a_comparison_of_files_takes_the_selection_along_and_changes_no_other(two: Window, qtbot: QtBot) -> None:
    session, (first, second) = two.session, two.session.tabs
    session.select(Selection("net/both"))
    two.analyst.compare(first, second)
    qtbot.waitUntil(lambda: len(session.tabs) == 3, timeout=WAIT)
    assert session.selection == Selection("net/both")
    session.show_tab(second)
    assert session.selection == Selection("net/both")
    session.select(TWO)
    session.show_tab(first)
    assert session.selection == Selection("net/both")


def test_that_another_tab_marks_nothing_while_nodes_are_picked(two: Window) -> None:
    session, (first, second) = two.session, two.session.tabs
    session.select(ONE)
    session.show_tab(second)
    two.pick("outputs")
    session.show_tab(first)
    assert (session.selection, first.family.outputs) == (ONE, [])
    session.select(Selection("net/both"))
    assert [one.node for one in first.family.outputs] == ["net/both"]


def test_that_the_status_line_speaks_of_no_file_that_is_closed(two: Window) -> None:
    said = two.furniture.state
    two.close_tab()
    assert "one.pb" not in said.text()
    assert said.text().startswith("two.pb: ")
    two.close_tab()
    assert said.text() == ""
