"""Chips on the canvas: what they say of the nodes that they stand for."""

from __future__ import annotations

import numpy as np
import pytest
from canvas_graphs import document

from graphviewer.gui.canvas.look import Look
from graphviewer.gui.canvas.measure import box_widths
from graphviewer.gui.canvas.scene import Scene
from graphviewer.gui.style.theme import load_theme
from graphviewer.layout.nested import NestedLayout
from graphviewer.layout.style import Style
from graphviewer.model.overlay import Overlay

pytestmark = [pytest.mark.usefixtures("qapp"), pytest.mark.screen]

ROWS = (
    ("net/a", "VariableV2"),
    ("net/b", "VariableV2"),
    ("net/c", "VariableV2"),
    ("save/file", "Placeholder"),
    ("save/RestoreV2", "RestoreV2", "save/file"),
    *((f"save/Assign_{at}", "Assign", f"net/{name}", f"save/RestoreV2:{at}") for at, name in enumerate("abc")),
    ("save/all", "NoOp", *(f"^save/Assign_{at}" for at in range(3))),
)


@pytest.fixture
def made():
    return document(ROWS)


def shown(made, **fields) -> Scene:
    widths = box_widths(made.scopes, Look(load_theme("light")).lettering)
    layout = NestedLayout(made.scopes, widths).styled(Style(tucked=True))
    opened = [made.scopes.by_path[path] for path in ("net", "save")]
    return Scene(layout.draw(opened), layout.scopes, **fields)


def chip(scene: Scene, made) -> int:
    return int(scene.box_of_node[made.graph.index["save/Assign_0"]])


def test_that_a_chip_says_how_many_more_it_stands_for_and_its_text_fits(made):
    scene = shown(made)
    box, lettering = chip(scene, made), Look(load_theme("light")).lettering
    assert scene.label(box) == "Assign_0 +2" and scene.size[box] == 3
    room = scene.drawing.w[box] - 2 * 0.7 * 12
    assert lettering.fit(scene.label(box), room / 12).text == scene.label(box)


def test_that_every_node_behind_a_chip_is_seen_there(made):
    scene = shown(made)
    boxes = {int(scene.box_of_node[made.graph.index[f"save/Assign_{at}"]]) for at in range(3)}
    assert boxes == {chip(scene, made)}
    assert scene.items_behind(chip(scene, made)) == [
        int(made.scopes.leaf[made.graph.index[f"save/Assign_{at}"]]) for at in range(3)
    ]
    assert scene.items_behind(0) == []
    assert all(scene.shows(int(item)) for item in made.scopes.leaf)


def test_that_a_chip_has_the_category_of_all_that_it_stands_for(made):
    codes = np.zeros(len(ROWS), np.int8)
    last = made.graph.index["save/Assign_2"]
    codes[last] = 1
    scene = shown(made, overlay=Overlay("search", ("other", "hit"), codes, [""] * len(ROWS)))
    assert scene.shares[chip(scene, made)].tolist() == [2, 1]
    assert scene.category[chip(scene, made)] == 1
    hidden = shown(made, overlay=scene.overlay, hidden=frozenset(["other"]))
    assert not hidden.is_hidden[chip(hidden, made)]


def test_that_a_node_behind_a_chip_lights_its_own_edges_alone(made):
    item = int(made.scopes.leaf[made.graph.index["save/Assign_1"]])
    scene = shown(made, selection=frozenset([item]))
    assert scene.selected == (chip(scene, made),)
    around = {made.scopes.path(int(scene.drawing.item[box])) for box in scene.lit.boxes_in.tolist()}
    assert around == {"net/b", "save/RestoreV2"}
