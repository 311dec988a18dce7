"""Functions in the window: a call opens in place, and what is inside can be looked at like all else."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from graphviewer import protos
from graphviewer.formats import save_document
from graphviewer.gui.render import scene_of
from graphviewer.gui.state.session import Selection
from graphviewer.gui.words.describe import describe_briefly, describe_node, describe_scope, node_count
from graphviewer.model.document import Document
from graphviewer.model.names import Endpoint
from graphviewer.model.overlay import Overlay
from tests.function_graphs import add_function, call, nested
from tests.gui.conftest import WAIT

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from graphviewer.gui.window import Window

INNER = "call/scope/inner/mul"


@pytest.fixture
def functions(window: Window, qtbot: QtBot, tmp_path: Path) -> Window:
    """A window that shows a graph with nested calls."""
    file = tmp_path / "functions.pb"
    save_document(nested(), file)
    window.open_path(file)
    qtbot.waitUntil(lambda: window.stage.left.drawing is not None, timeout=WAIT)
    return window


def page(document: Document, name: str, roles: Overlay | None = None) -> str:
    return describe_node(document, document.graph.index[name], roles)


def test_that_a_node_in_a_nested_call_is_clicked_described_and_found(
    functions: Window, qtbot: QtBot, click: Callable
) -> None:
    session, pane = functions.session, functions.stage.left
    session.select(Selection(INNER), reveal=True)
    item = session.selection.item(pane.subject.document.scopes)
    qtbot.waitUntil(lambda: pane.drawing is not None and item in pane.drawing.item, timeout=WAIT)
    session.select(None)
    click(pane, INNER)
    assert session.selection == Selection(INNER)
    text = functions.furniture.inspector.page.toPlainText()
    assert "In function square, called by call/scope/inner" in text and "Mul" in text
    outline = functions.furniture.outline
    assert outline.model.scopes.path(outline.model.item(outline.tree.currentIndex())) == INNER


def test_that_the_outline_filters_inside_functions(functions: Window) -> None:
    outline = functions.furniture.outline
    outline.filter.setText("mul")
    scopes = outline.model.scopes
    assert outline.model.children_of(0) == [scopes.by_path["call"]]


def test_that_a_node_inside_a_function_can_be_neither_output_nor_input(functions: Window, qtbot: QtBot) -> None:
    for kind in ("outputs", "inputs"):
        with qtbot.waitSignal(functions.session.failed) as blocker:
            functions.session.toggle_endpoint(kind, Endpoint(INNER))
        assert "inside a function" in blocker.args[0].message
    assert not functions.session.family.outputs and not functions.session.family.inputs


def test_that_expand_below_opens_calls_in_calls(functions: Window, qtbot: QtBot) -> None:
    functions.session.collapse_all()
    functions.session.expand_below("call")
    assert functions.session.family.expanded >= {"call", "call/scope", "call/scope/inner"}


def test_that_a_call_says_what_it_runs_and_leaves_its_arguments_out_of_its_consumers() -> None:
    shown = nested().unfolded
    text = page(shown, "call")
    assert "scope:call'>ƒ outer</a> (f, 3 nodes)" in text
    assert "Consumers (1)" in text
    assert "Body of function <b>outer</b>" in describe_scope(shown, shown.scopes.by_path["call"], None)


def test_that_arguments_and_results_say_where_they_come_from() -> None:
    shown = nested().unfolded
    assert "Argument 0 of the function, given as <a href='node:x'>x</a>" in page(shown, "call/a")
    assert "Result 0 of the function" in page(shown, "call/r")


def test_that_a_closed_call_leads_to_where_its_function_is_open() -> None:
    graph_def = protos.GraphDef()
    call(graph_def.node, "start", "PartitionedCall", [], f="loop<b>")
    loop = add_function(graph_def, "loop<b>", [], [], {})
    call(loop.node_def, "again", "PartitionedCall", [], f="loop<b>")
    text = page(Document("graphdef", graph_def).unfolded, "start/again")
    assert "it calls itself" in text and "Opened in <a href='scope:start'>" in text
    assert "loop<b>" not in text and "loop&lt;b&gt;" in text


def test_that_a_tooltip_names_the_node_in_full() -> None:
    shown = nested().unfolded
    item = int(shown.scopes.leaf[shown.graph.index[INNER]])
    assert INNER in describe_briefly(shown, item, None)


def test_that_a_picture_paints_what_is_inside_a_call_in_its_role() -> None:
    document = nested()
    roles = Overlay("roles", ("inference", "loss"), np.array([0, 1, 0], np.int8), ["", "", ""])
    scene = scene_of(document, expand="all", overlay=roles)
    names = {scene.scopes.path(int(item)) for item in scene.drawing.item}
    assert INNER in names
    box = int(scene.box_of_node[scene.scopes.graph.index[INNER]])
    assert scene.overlay.categories[scene.category[box]] == "loss"


def test_that_counts_tell_the_nodes_of_the_graph_from_those_in_functions(functions: Window, qtbot: QtBot) -> None:
    document = functions.session.version.document
    own, drawn = len(document.graph), len(document.unfolded.graph)
    assert node_count(document) == f"{own} nodes and {drawn - own} in functions"
    assert node_count(document) in functions.furniture.inspector.page.toPlainText()
    functions.session.select(Selection(INNER))
    functions.exploration.isolate()
    qtbot.waitUntil(lambda: functions.exploration.is_isolated, timeout=WAIT)
    assert f"of {node_count(document)}: " in functions.furniture.state.text()
