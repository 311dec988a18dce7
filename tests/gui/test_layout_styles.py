"""Direction, stacks, chips, edge widths and hub annotations in the window."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import golden_graphs
import numpy as np
import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtWidgets import QMenu

from graphviewer.formats import save_document
from graphviewer.gui.canvas.edge_texts import OUT_OF, stub_places
from graphviewer.gui.canvas.hits import other_ends, stub_at
from graphviewer.gui.state.session import Selection
from graphviewer.model.document import Document
from graphviewer.protos import GraphDef
from tests.gui.conftest import WAIT

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from graphviewer.gui.window import Window

STACK = "net/stage1/unit2…5 ×4"


@pytest.fixture
def network(window: Window, qtbot: QtBot, tmp_path: Path) -> Window:
    """A window on a small training graph, collapsed."""
    graph = GraphDef()
    for name, op, *inputs in golden_graphs.training():
        node = graph.node.add(name=name, op=op, input=inputs)
        node.attr["T"].type = 1
        if name == "images":
            shape = node.attr["_output_shapes"].list.shape.add()
            for size in (8, 224, 224, 3):
                shape.dim.add(size=size)
    graph.versions.producer = 1
    path = tmp_path / "training.pb"
    save_document(Document("graphdef", graph), path)
    window.open_path(path)
    qtbot.waitUntil(lambda: window.stage.left.drawing is not None, timeout=WAIT)
    qtbot.waitUntil(lambda: not window.jobs.is_busy() and not window.background.busy(), timeout=WAIT)
    show(window, qtbot, ())
    return window


def show(window: Window, qtbot: QtBot, paths: tuple[str, ...]) -> None:
    """Open exactly these scopes."""
    drawing = window.stage.left.drawing
    window.session._set_expanded(set(window.session.family.expanded), add=False, anchor=None)
    window.session.expand(paths)
    qtbot.waitUntil(lambda: not window.background.busy() and window.stage.left.drawing is not drawing, timeout=WAIT)


def settle(window: Window, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: not window.background.busy(), timeout=WAIT)


def drawn(window: Window) -> set[str]:
    pane = window.stage.left
    return {pane.scopes.path(item) for item in pane.drawing.item.tolist()}


def test_that_repeated_units_are_one_box_that_opens_and_closes(network: Window, qtbot: QtBot) -> None:
    show(network, qtbot, ("net/stage1",))
    assert STACK in drawn(network) and "net/stage1/unit3" not in drawn(network)
    pane = network.stage.left
    stack = pane.scopes.by_path[STACK]
    pane.canvas.item_clicked.emit(stack, Qt.KeyboardModifier.NoModifier)
    assert "unit3" in network.furniture.inspector.page.toPlainText()
    pane.canvas.item_activated.emit(stack)
    settle(network, qtbot)
    assert {f"net/stage1/unit{number}" for number in range(1, 6)} <= drawn(network)
    pane.canvas.item_activated.emit(stack)
    settle(network, qtbot)
    assert "net/stage1/unit3" not in drawn(network)


def test_that_a_node_inside_a_stack_is_revealed_and_all_below_opens_stacks(network: Window, qtbot: QtBot) -> None:
    network.session.select(Selection("net/stage1/unit4/add"), reveal=True)
    qtbot.waitUntil(lambda: "net/stage1/unit4/add" in drawn(network), timeout=WAIT)
    network.session.collapse_all()
    settle(network, qtbot)
    show(network, qtbot, ("net/stage1",))
    network.session.expand_below(STACK)
    settle(network, qtbot)
    assert {"net/stage1/unit2/relu", "net/stage1/unit5/relu"} <= drawn(network)
    network.session.expand_below("")
    settle(network, qtbot)
    pane = network.stage.left
    assert len(pane.drawing) + len(pane.drawing.behind) == len(pane.scopes) - 1


def test_that_settings_turn_the_drawing_and_take_stacks_and_chips_away(network: Window, qtbot: QtBot) -> None:
    show(network, qtbot, ("net/stage1/unit1/bn1",))
    pane = network.stage.left
    down = pane.drawing
    chip = pane.scopes.leaf[pane.subject.document.graph.index["net/stage1/unit1/bn1/mean"]]
    assert down.h[down.item.tolist().index(chip)] < 20
    network._apply_settings(network.settings.but(direction="right", stacks=False, tuck=False))
    settle(network, qtbot)
    right = pane.drawing
    assert right.width > right.height and down.height > down.width
    assert STACK not in drawn(network) and "net/stage1/unit3" in drawn(network)
    assert right.h[right.item.tolist().index(chip)] > 20


def test_that_edges_are_as_wide_as_their_tensors(network: Window) -> None:
    scene = network.stage.left.canvas.scene_shown
    index, box = network.session.version.document.graph.index, scene.box_of_node
    edges = {
        (int(a), int(b)): at for at, (a, b) in enumerate(zip(scene.drawing.source, scene.drawing.target, strict=True))
    }
    images = edges[int(box[index["images"]]), int(box[index["net/stem"]])]
    labels = edges[int(box[index["labels"]]), int(box[index["loss/xent"]])]
    assert scene.edge_width[images] > 2 > scene.edge_width[labels]


def open_saver(network: Window, qtbot: QtBot) -> None:
    """Open a graph whose saver has 60 nodes, and that scope."""
    rows = golden_graphs.large_saver(60)
    graph = GraphDef()
    for name, op, *inputs in rows:
        graph.node.add(name=name, op=op, input=inputs)
    path = network.session.version.file.parent / "saver.pb"
    save_document(Document("graphdef", graph), path)
    network.open_path(path)
    pane = network.stage.left
    qtbot.waitUntil(lambda: network.session.family.title == "saver.pb" and pane.drawing is not None, timeout=WAIT)
    settle(network, qtbot)
    show(network, qtbot, ("save",))


@pytest.mark.screen
def test_that_a_click_on_a_chip_with_a_count_lists_what_it_stands_for_and_goes_there(network, qtbot) -> None:
    open_saver(network, qtbot)
    pane = network.stage.left
    canvas, index = pane.canvas, pane.subject.document.graph.index
    chip = int(pane.scopes.leaf[index["save/Assign_0"]])
    canvas.zoom_to(chip, animate=False)
    canvas.viewport().repaint()
    assert canvas.scene_shown.label(int(canvas.scene_shown.box_of_item[chip])) == "Assign_0 +53"
    middle = canvas.camera.to_pixel(canvas.item_rect(chip).center()).toPoint()
    qtbot.mouseClick(canvas.viewport(), Qt.MouseButton.LeftButton, pos=middle)
    assert network.session.selection == Selection("save/Assign_0")
    menu = canvas.findChild(QMenu)
    texts = [action.text() for action in menu.actions()]
    assert texts[:2] == ["save/Assign_0", "save/Assign_1"] and texts[-1] == "and 14 more"
    canvas.pan(5000, 0)
    menu.actions()[7].trigger()
    menu.close()
    assert network.session.selection == Selection("save/Assign_7")
    assert canvas.scene_shown.selected == (int(canvas.scene_shown.box_of_item[chip]),)
    assert canvas.view_rect().contains(canvas.item_rect(chip))


def test_that_a_node_in_a_scope_for_which_a_chip_stands_is_revealed_as_that_chip(network, qtbot, tmp_path) -> None:
    graph = GraphDef()
    for name, op, *inputs in (
        ("net/w", "VariableV2"),
        ("net/w/init/shape", "Const"),
        ("net/w/init/zeros", "Fill", "net/w/init/shape"),
        ("net/w/Assign", "Assign", "net/w", "net/w/init/zeros"),
        ("net/relu", "Relu", "net/w"),
    ):
        graph.node.add(name=name, op=op, input=inputs)
    save_document(Document("graphdef", graph), tmp_path / "variable.pb")
    network.open_path(tmp_path / "variable.pb")
    pane = network.stage.left
    qtbot.waitUntil(lambda: network.session.family.title == "variable.pb" and pane.drawing is not None, timeout=WAIT)
    show(network, qtbot, ())
    network.session.select(Selection("net/w/init/shape"), reveal=True)
    qtbot.waitUntil(lambda: "net/w/Assign" in drawn(network), timeout=WAIT)
    settle(network, qtbot)
    chip = pane.scopes.leaf[pane.subject.document.graph.index["net/w/Assign"]]
    qtbot.waitUntil(lambda: pane._pending is None, timeout=WAIT)
    scene = pane.canvas.scene_shown
    assert scene.selected == (int(scene.box_of_item[chip]),)


@pytest.mark.screen
def test_that_a_click_on_a_hubs_count_lists_what_it_feeds_and_goes_there(network: Window, qtbot: QtBot) -> None:
    open_saver(network, qtbot)
    network._apply_settings(network.settings.but(tuck=False))
    settle(network, qtbot)
    pane = network.stage.left
    canvas, scopes = pane.canvas, pane.scopes
    restore = int(scopes.leaf[pane.subject.document.graph.index["save/RestoreV2"]])
    canvas.zoom_to(restore, animate=False)
    x, _, tip = stub_places(rect_of(canvas, restore), OUT_OF, canvas.camera.scale)
    place = QPointF(float(x[0]), float(tip[0]))
    stub = stub_at(canvas.scene_shown, canvas.camera, place)
    assert stub is not None and scopes.path(int(pane.drawing.item[stub.box])) == "save/RestoreV2"
    assert len(other_ends(canvas.scene_shown, stub)) == 54
    qtbot.mouseClick(canvas.viewport(), Qt.MouseButton.LeftButton, pos=place.toPoint())
    menu = canvas.findChild(QMenu)
    texts = [action.text() for action in menu.actions()]
    assert texts[0] == "save/Assign_0" and texts[-1] == "and 14 more"
    menu.actions()[7].trigger()
    menu.close()
    assert network.session.selection == Selection("save/Assign_7")


def rect_of(canvas, item: int) -> np.ndarray:
    rect = canvas.item_rect(item)
    corner = canvas.camera.to_pixel(rect.topLeft())
    scale = canvas.camera.scale
    return np.array([[corner.x(), corner.y(), rect.width() * scale, rect.height() * scale]])
