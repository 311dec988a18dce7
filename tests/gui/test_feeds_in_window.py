"""What a run is fed, chosen in the Proof panel."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from PySide6.QtWidgets import QFileDialog, QInputDialog

from graphviewer.gui.panels.feeds import FILE, MADE_UP, NUMBER, FeedRow
from graphviewer.gui.state.session import Selection
from graphviewer.gui.words.line import Line
from tests.gui.conftest import WAIT

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from graphviewer.gui.window import Window

SLOW = 4 * WAIT  # TensorFlow is imported in the worker
GRAPH = """
node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } }
       attr { key: "shape" value { shape { dim { size: -1 } dim { size: 2 } } } } }
node { name: "rate" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } }
       attr { key: "shape" value { shape { } } } }
node { name: "other" op: "Placeholder" attr { key: "dtype" value { type: DT_INT32 } } }
node { name: "y" op: "Mul" input: "x" input: "rate" attr { key: "T" value { type: DT_FLOAT } } }
node { name: "z" op: "Identity" input: "other" attr { key: "T" value { type: DT_INT32 } } }
versions { producer: 1000 }
"""


def shown(window: Window, qtbot: QtBot, folder: Path) -> dict[str, FeedRow]:
    (folder / "graph.pbtxt").write_text(GRAPH)
    window.open_path(folder / "graph.pbtxt")
    qtbot.waitUntil(lambda: window.session.version is not None, timeout=WAIT)
    window.session.type_endpoints("outputs", "y")
    qtbot.waitUntil(lambda: not window.jobs.is_busy(), timeout=WAIT)
    window.furniture.raise_panel("proof")
    qtbot.waitUntil(lambda: bool(window.furniture.proof.feeds.rows), timeout=WAIT)
    return rows(window)


def rows(window: Window) -> dict[str, FeedRow]:
    return {row.name: row for row in window.furniture.proof.feeds.rows}


def test_that_the_inputs_of_the_outputs_or_of_the_selected_node_are_listed(
    window: Window, qtbot: QtBot, tmp_path: Path
) -> None:
    assert set(shown(window, qtbot, tmp_path)) == {"x", "rate"}
    assert {row.kind.currentText() for row in rows(window).values()} == {MADE_UP}
    window.session.select(Selection("z"))
    assert "other" in rows(window)


@pytest.mark.screen
def test_that_a_long_name_of_an_input_is_cut_in_its_middle_and_whole_in_its_tooltip(
    window: Window, qtbot: QtBot, tmp_path: Path
) -> None:
    name = "input/pipeline/IteratorGetNext/of/the/training/examples"
    path = tmp_path / "long.pbtxt"
    path.write_text(GRAPH.replace('"rate"', f'"{name}"'))
    window.open_path(path)
    qtbot.waitUntil(lambda: window.session.version is not None, timeout=WAIT)
    window.session.type_endpoints("outputs", "y")
    window.furniture.raise_panel("proof")
    qtbot.waitUntil(lambda: name in rows(window), timeout=WAIT)
    (line,) = (one for one in window.furniture.proof.feeds.findChildren(Line) if one.text() == name)
    qtbot.waitUntil(line.isVisible, timeout=WAIT)
    assert "…" in line.shown and line.shown[-1] == name[-1]
    assert line.fontMetrics().horizontalAdvance(line.shown) <= line.width()
    assert name in line.toolTip().replace("\u200b", "")


def test_that_a_run_takes_files_and_numbers(window: Window, qtbot: QtBot, tmp_path: Path) -> None:
    found = shown(window, qtbot, tmp_path)
    np.savez(tmp_path / "values.npz", x=np.ones((3, 2), np.float32), unused=np.zeros(1))
    found["x"].take(FILE, f"{tmp_path / 'values.npz'}:x")
    found["rate"].take(NUMBER, "2.5")
    window.run_node()
    qtbot.waitUntil(lambda: "Ran once" in window.furniture.proof.words.text(), timeout=SLOW)
    assert "Given: " in window.furniture.proof.words.text()
    table = window.furniture.proof.table
    assert [table.item(0, column).text() for column in (2, 3, 4)] == ["[3, 2]", "2.5", "2.5"]


def test_that_a_file_that_does_not_fit_is_told_and_stays_for_correction(
    window: Window, qtbot: QtBot, tmp_path: Path
) -> None:
    np.save(tmp_path / "wrong.npy", np.ones((3, 7), np.float32))
    shown(window, qtbot, tmp_path)["x"].take(FILE, str(tmp_path / "wrong.npy"))
    window.run_node()
    qtbot.waitUntil(window.furniture.banner.isVisible, timeout=SLOW)
    assert "wrong.npy has the shape [3, 7]" in window.furniture.banner.text.text()
    assert rows(window)["x"].given() == str(tmp_path / "wrong.npy")


def test_that_what_was_given_comes_back_with_the_input(window: Window, qtbot: QtBot, tmp_path: Path) -> None:
    shown(window, qtbot, tmp_path)["rate"].take(NUMBER, "0.5")
    window.session.set_endpoints(outputs=[])
    window.session.type_endpoints("outputs", "z")
    assert "rate" not in rows(window) or rows(window)["rate"].given() == "0.5"
    window.session.type_endpoints("outputs", "y")
    assert rows(window)["rate"].given() == "0.5"


def test_that_picking_an_archive_of_several_arrays_asks_which(
    window: Window, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = shown(window, qtbot, tmp_path)
    np.savez(tmp_path / "batch.npz", labels=np.zeros(3), x=np.ones((3, 2)))
    asked: list[tuple[list[str], int]] = []

    def choose(_parent: object, _title: str, _label: str, names: list[str], at: int, _editable: bool) -> tuple:
        asked.append((names, at))
        return names[at], True

    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_arguments: (str(tmp_path / "batch.npz"), ""))
    monkeypatch.setattr(QInputDialog, "getItem", choose)
    found["x"].kind.setCurrentText(FILE)
    found["x"].pick.click()
    assert asked == [(["labels", "x"], 1)]
    assert found["x"].given() == f"{tmp_path / 'batch.npz'}:x"
