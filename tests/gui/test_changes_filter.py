"""The filter of the changes: by status, by text in any column, and what a click on a filtered row means."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QSettings

from graphviewer.formats import save_document
from graphviewer.gui.window import Window
from graphviewer.model.document import Document
from graphviewer.protos import GraphDef

WAIT = 20_000


def graph(*ops: tuple[str, str, str]) -> Document:
    """A graph of (name, op, input) entries."""
    graph_def = GraphDef()
    for name, op, source in ops:
        graph_def.node.add(name=name, op=op, input=[source] if source else [])
    return Document("graphdef", graph_def)


@pytest.fixture
def panel(qtbot, tmp_path):
    """The changes of x -> Relu -> Tanh against x -> Relu6 -> Sigmoid."""
    before = graph(("x", "Placeholder", ""), ("up", "Relu", "x"), ("down", "Tanh", "up"))
    after = graph(("x", "Placeholder", ""), ("up", "Relu6", "x"), ("side", "Sigmoid", "up"))
    window = Window(QSettings(str(tmp_path / "ini"), QSettings.Format.IniFormat))
    window.files.ask_discard = lambda titles: True
    qtbot.addWidget(window)
    window.show()
    for name, document in (("before.pb", before), ("after.pb", after)):
        path = Path(tmp_path / name)
        save_document(document, path)
        known = len(window.session.versions())
        window.open_path(path)
        qtbot.waitUntil(lambda known=known: len(window.session.versions()) > known, timeout=WAIT)
    with qtbot.waitSignal(window.analyst.compared, timeout=WAIT):
        window.analyst.compare(*window.session.versions())
    yield window.furniture.changes
    window.close()


def names(panel) -> list[str]:
    """The second column."""
    return [panel.table.model().index(row, 1).data() for row in range(panel.table.model().rowCount())]


def test_that_a_status_leaves_only_changes_of_that_status(panel):
    everything = names(panel)
    panel.status.setCurrentText("removed")
    gone = names(panel)
    panel.status.setCurrentIndex(0)
    assert gone == ["down"]
    assert names(panel) == everything
    assert len(everything) > 1


def test_that_a_text_is_looked_for_in_names_ops_and_reasons_of_the_chosen_status(panel, qtbot):
    panel.filter.setText("SIGMOID")
    qtbot.waitUntil(lambda: names(panel) == ["side"], timeout=WAIT)
    panel.status.setCurrentText("removed")
    qtbot.waitUntil(lambda: names(panel) == [], timeout=WAIT)


def test_that_a_filtered_row_goes_to_its_own_node(panel):
    panel.status.setCurrentText("added")
    assert names(panel) == ["side"]
    panel.step(1)
    assert panel._session.selection.path == "side"


def test_that_groups_are_filtered_too_and_the_listing_comes_back(panel, qtbot):
    panel.grouping.setCurrentText("by op kind")
    panel.filter.setText("tanh")
    model = panel.table.model()
    assert [model.index(row, 0).data() for row in range(model.rowCount())] == ["Tanh"]
    panel.filter.clear()
    panel.grouping.setCurrentIndex(0)
    assert "down" in names(panel)
