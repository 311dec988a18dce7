"""The Variables panel: graph against checkpoint, values on demand, lines to paste; checkpoints as documents."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QLabel

from graphviewer.gui.panels.variables import VariablesPanel
from graphviewer.gui.panels.variables_model import COLUMNS
from graphviewer.gui.state.session import Selection
from graphviewer.resources import resource
from tests.gui.conftest import WAIT
from tests.unit.checkpoint_files import write_bundle

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from graphviewer.gui.window import Window

GRAPH = """
node { name: "net/w" op: "VariableV2" attr { key: "dtype" value { type: DT_FLOAT } }
       attr { key: "shape" value { shape { dim { size: 2 } dim { size: 3 } } } } }
node { name: "net/b" op: "VariableV2" attr { key: "dtype" value { type: DT_FLOAT } }
       attr { key: "shape" value { shape { dim { size: 3 } } } } }
node { name: "head" op: "VariableV2" attr { key: "dtype" value { type: DT_FLOAT } }
       attr { key: "shape" value { shape { dim { size: 5 } } } } }
versions { producer: 1000 }
"""


@pytest.fixture
def tuned(tmp_path: Path) -> Path:
    """A graph beside a checkpoint that fits one of its three variables."""
    (tmp_path / "model.pbtxt").write_text(GRAPH)
    values = {
        "net/w": np.arange(6, dtype=np.float32).reshape(2, 3),
        "net/b": np.zeros(4, np.float32),
        "extra": np.array([1.5, np.nan], np.float32),
    }
    write_bundle(tmp_path / "model", values)
    return tmp_path / "model.pbtxt"


def shown(window: Window, qtbot: QtBot, path: Path, rows: int) -> VariablesPanel:
    window.open_path(path)
    qtbot.waitUntil(lambda: window.session.version is not None, timeout=WAIT)
    window.furniture.raise_panel("variables")
    panel = window.furniture.variables
    qtbot.waitUntil(lambda: panel.model.rowCount() == rows, timeout=WAIT)
    return panel


def row_of(panel: VariablesPanel, name: str) -> int:
    return next(at for at in range(panel.rows.rowCount()) if panel.rows.index(at, 1).data() == name)


def text(panel: VariablesPanel, name: str, column: str) -> str:
    return panel.rows.index(row_of(panel, name), COLUMNS.index(column)).data()


def test_that_graph_and_checkpoint_are_compared(window: Window, qtbot: QtBot, tuned: Path) -> None:
    panel = shown(window, qtbot, tuned, 4)
    found = {name: text(panel, name, "Status") for name in ("net/w", "net/b", "head", "extra")}
    assert found == {"net/w": "✓ in both", "net/b": "≠ differs", "head": "✕ only graph", "extra": "+ only checkpoint"}
    assert panel.totals.text().startswith("33%")
    assert text(panel, "net/b", "Checkpoint") == "has float32 [4]"
    assert text(panel, "net/w", "Bytes") == "24"
    panel.rows.show_status("differs")
    assert panel.rows.rowCount() == 1


def test_that_a_click_selects_the_node_and_reads_its_values(window: Window, qtbot: QtBot, tuned: Path) -> None:
    panel = shown(window, qtbot, tuned, 4)
    assert text(panel, "net/w", "Max") == ""
    panel._go(panel.rows.index(row_of(panel, "net/w"), 0))
    assert window.session.selection == Selection("net/w")
    qtbot.waitUntil(lambda: text(panel, "net/w", "Max") == "5", timeout=WAIT)
    assert "6 values: 0, 1, 2, 3 …" in panel.numbers.text()
    assert "mean 2.5" in panel.numbers.text()


def test_that_the_selected_node_is_followed(window: Window, qtbot: QtBot, tuned: Path) -> None:
    panel = shown(window, qtbot, tuned, 4)
    window.session.select(Selection("net/b"))
    assert panel.rows.index(panel.table.currentIndex().row(), 1).data() == "net/b"
    window.session.select(Selection("head"))
    assert "no value" in panel.numbers.text()


def test_that_values_of_all_are_read_and_odd_ones_told(window: Window, qtbot: QtBot, tuned: Path) -> None:
    panel = shown(window, qtbot, tuned, 4)
    panel.all_values.click()
    qtbot.waitUntil(lambda: text(panel, "extra", "Mean") == "1.5", timeout=WAIT)
    panel._go(panel.rows.index(row_of(panel, "extra"), 0))
    assert "1 are NaN or infinite" in panel.numbers.text()


@pytest.mark.screen
def test_that_the_lines_are_copied(window: Window, qtbot: QtBot, tuned: Path) -> None:
    panel = shown(window, qtbot, tuned, 4)
    panel.copy.click()
    lines = QGuiApplication.clipboard().text()
    assert "assign(session, 'net/w', read('net/w'))" in lines
    assert "# the graph has no initializer for 'head': assign it a value" in lines


def test_that_a_checkpoint_alone_is_drawn_and_its_rows_go_to_the_drawing(
    window: Window, qtbot: QtBot, tmp_path: Path
) -> None:
    write_bundle(tmp_path / "alone", {"net/w": np.ones((2, 2), np.float32), "net/b": np.zeros(2, np.float32)})
    panel = shown(window, qtbot, tmp_path / "alone", 2)
    assert window.session.version.document.kind == "checkpoint"
    advice = " ".join(one.text() for one in window.stage.legend.findChildren(QLabel))
    assert "checkpoint holds variables only" in advice and "output" not in advice
    assert "2 variables" in window.furniture.state.text()
    assert panel.table.isColumnHidden(COLUMNS.index("Status"))
    panel._go(panel.rows.index(0, 0))
    assert window.session.selection == Selection("net/b")
    qtbot.waitUntil(lambda: "2 values: 0, 0" in panel.numbers.text(), timeout=WAIT)
    assert "Variable" in window.furniture.inspector.page.toPlainText()


def test_that_a_graph_without_checkpoint_says_so(window: Window, qtbot: QtBot, tmp_path: Path) -> None:
    (tmp_path / "bare.pbtxt").write_text(GRAPH)
    panel = shown(window, qtbot, tmp_path / "bare.pbtxt", 3)
    assert "no checkpoint" in panel.totals.text()
    assert not panel.copy.isEnabled()


def test_that_the_panel_asks_nothing_while_nobody_looks(window: Window, qtbot: QtBot) -> None:
    window.furniture.raise_panel("jobs")
    window.open_path(resource("samples/digits"))
    qtbot.waitUntil(lambda: window.session.version is not None, timeout=WAIT)
    qtbot.waitUntil(lambda: not window.jobs.is_busy(), timeout=WAIT)
    assert window.furniture.variables.model.rowCount() == 0


@pytest.mark.screen
def test_that_the_first_click_on_bytes_brings_the_largest_up_and_keeps_the_selected_row(
    window: Window, qtbot: QtBot, tuned: Path
) -> None:
    panel = shown(window, qtbot, tuned, 4)
    window.session.select(Selection("net/b"))
    header, column = panel.table.horizontalHeader(), COLUMNS.index("Bytes")
    at = QPoint(header.sectionViewportPosition(column) + header.sectionSize(column) // 2, header.height() // 2)
    qtbot.mouseClick(header.viewport(), Qt.MouseButton.LeftButton, pos=at)
    sizes = [panel.rows.index(row, column).data() for row in range(panel.rows.rowCount())]
    assert sizes == ["24", "20", "12", "8"]
    assert panel.table.currentIndex().siblingAtColumn(1).data() == "net/b"
    assert [index.siblingAtColumn(1).data() for index in panel.table.selectionModel().selectedRows()] == ["net/b"]


def test_that_numbers_in_names_sort_by_their_value(window: Window, qtbot: QtBot, tmp_path: Path) -> None:
    write_bundle(tmp_path / "alone", {f"layer_{number}": np.zeros(1, np.float32) for number in (10, 9, 2)})
    panel = shown(window, qtbot, tmp_path / "alone", 3)
    panel.table.sortByColumn(1, Qt.SortOrder.AscendingOrder)
    assert [panel.rows.index(row, 1).data() for row in range(3)] == ["layer_2", "layer_9", "layer_10"]


def test_that_what_gets_no_value_comes_first_and_is_counted(window: Window, qtbot: QtBot, tuned: Path) -> None:
    panel = shown(window, qtbot, tuned, 4)
    statuses = [panel.rows.index(row, 0).data() for row in range(panel.rows.rowCount())]
    assert statuses == ["✕ only graph", "≠ differs", "+ only checkpoint", "✓ in both"]
    told = "33% of the graph's variables get a value, 1 stays uninitialised, 1 has another shape or type"
    assert panel.totals.text() == told


@pytest.mark.screen
def test_that_no_column_must_be_scrolled_to(window: Window, qtbot: QtBot, tuned: Path) -> None:
    panel = shown(window, qtbot, tuned, 4)
    assert panel.table.isColumnHidden(COLUMNS.index("Min"))
    panel._ask_all_values()
    qtbot.waitUntil(lambda: not panel.table.isColumnHidden(COLUMNS.index("Min")), timeout=WAIT)
    window.resize(1600, 1000)
    qtbot.wait(50)
    assert panel.table.horizontalScrollBar().maximum() == 0
    assert panel.table.columnWidth(COLUMNS.index("Variable")) >= 130
