"""Golden pictures of what people meet: each was looked at, in both themes, for cut labels and edges through titles."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import golden_graphs
import pytest
from canvas_graphs import document, picture
from PySide6.QtCore import QRectF

from graphviewer.analysis.roles import classify
from graphviewer.gui.canvas.camera import Camera, fit
from graphviewer.gui.canvas.look import Look
from graphviewer.gui.canvas.measure import box_widths
from graphviewer.gui.canvas.scene import Endpoints, Scene
from graphviewer.gui.render import scene_of
from graphviewer.gui.style.theme import load_theme
from graphviewer.layout.nested import NestedLayout
from graphviewer.layout.style import Style
from graphviewer.model.names import Endpoint
from tests.function_graphs import branching, nested

pytestmark = [pytest.mark.usefixtures("qapp"), pytest.mark.screen]

WIDTH, HEIGHT = 900, 620


class Subject(NamedTuple):
    """What a picture shows: a graph, the open scopes, the node to look at (all of it where empty), an output."""

    rows: Callable[[], list[golden_graphs.Row]]
    opened: tuple[str, ...]
    look_at: str = ""
    output: str = ""
    direction: str = "down"
    tucked: bool = True


SUBJECTS = {
    "collapsed": Subject(golden_graphs.training, (), output="net/prob"),
    "stage": Subject(
        golden_graphs.training,
        ("net", "net/stage1", "net/stage1/unit2…5 ×4", "net/stage1/unit1", "net/stage1/unit1/bn1"),
        "net/stage1/unit1",
        "net/prob",
    ),
    "save": Subject(golden_graphs.large_saver, ("save",), "save"),
    "assigns": Subject(golden_graphs.large_saver, ("save",), "save", tucked=False),
    "cell": Subject(
        golden_graphs.nasnet_cell, ("cell", "cell/block_1", "cell/block_1/left", "cell/block_3"), output="next"
    ),
    "loop": Subject(golden_graphs.while_loop, ("while",), output="result"),
    "sideways": Subject(golden_graphs.while_loop, ("while",), output="result", direction="right"),
}


def shown(subject: Subject) -> tuple[Scene, Camera]:
    made = document(subject.rows())
    scopes = made.scopes
    layout = NestedLayout(scopes, box_widths(scopes, Look(load_theme("light")).lettering))
    layout = layout.styled(Style(subject.direction, stacked=True, tucked=subject.tucked))
    drawing = layout.draw({layout.scopes.by_path[path] for path in subject.opened})
    overlay = classify(made, [Endpoint(subject.output)]) if subject.output else None
    ends = Endpoints(outputs=[made.graph.index[subject.output]] if subject.output else ())
    scene = Scene(drawing, layout.scopes, overlay=overlay, endpoints=ends)
    if not subject.look_at:
        whole = QRectF(-16, -28, drawing.width + 40, drawing.height + 40)
        camera = Camera.of_rect(whole, WIDTH, HEIGHT)
        return scene, camera if camera.scale < 1.15 else fit(
            (drawing.width, drawing.height), (WIDTH, HEIGHT), scene.start(WIDTH, HEIGHT)
        )
    item = made.scopes.by_path.get(subject.look_at)
    if item is None:
        item = int(made.scopes.leaf[made.graph.index[subject.look_at]])
    left, top, right, bottom = scene.bounds[:, scene.box_of_item[item]].tolist()
    if right - left > WIDTH:  # its beginning
        return scene, Camera(1.0, left - 30, top - 30, WIDTH, HEIGHT)
    return scene, Camera(1.0, 0, 0, WIDTH, HEIGHT).close_up(QRectF(left, top, right - left, bottom - top))


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("name", SUBJECTS)
def test_that_it_looks_as_agreed(name, theme, golden):
    scene, camera = shown(SUBJECTS[name])
    golden(picture(scene, camera, theme), f"canvas_{name}_{theme}")


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("make", [nested, branching])
def test_that_functions_opened_in_place_look_as_agreed(make, theme, golden):
    scene = scene_of(make(), expand="all")
    whole = QRectF(-16, -28, scene.drawing.width + 40, scene.drawing.height + 40)
    golden(picture(scene, Camera.of_rect(whole, WIDTH, HEIGHT), theme), f"canvas_{make.__name__}_{theme}")
