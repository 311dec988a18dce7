"""The canvas moves: views glide, boxes glide, a hand on the picture stops both."""

import numpy as np
import pytest
from canvas_graphs import corner, leaf, scene
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QProxyStyle, QStyle

from graphviewer.gui.canvas.view import GraphCanvas

pytestmark = pytest.mark.screen

LEFT, RIGHT = Qt.MouseButton.LeftButton, Qt.MouseButton.RightButton


def is_middle(canvas: GraphCanvas, item: int) -> bool:
    off = canvas.view_rect().center() - canvas.item_rect(item).center()
    return off.manhattanLength() < 1e-5


def test_that_zooming_glides_in_less_than_a_fifth_of_a_second(canvas, qtbot, made):
    canvas.animate = True
    moves = []
    canvas.view_changed.connect(moves.append)
    canvas.zoom_to(leaf(made, "net/prob"))
    assert canvas._motion.duration() < 200
    qtbot.waitUntil(lambda: canvas._motion.state() == canvas._motion.State.Stopped)
    assert is_middle(canvas, leaf(made, "net/prob"))
    assert len(moves) >= 1


def test_that_a_hand_on_the_picture_stops_its_motion(canvas, made):
    canvas.animate = True
    canvas.zoom_to(leaf(made, "net/prob"))
    canvas.pan(3, 3)
    assert canvas._motion.state() == canvas._motion.State.Stopped


def test_that_nothing_glides_when_the_system_wants_no_motion(canvas, made):
    class Still(QProxyStyle):
        def styleHint(self, hint, option=None, widget=None, data=None):
            if hint == QStyle.StyleHint.SH_Widget_Animation_Duration:
                return 0
            return super().styleHint(hint, option, widget, data)

    style = Still("fusion")
    canvas.setStyle(style)
    canvas.animate = True
    canvas.zoom_to(leaf(made, "net/prob"))
    assert canvas._motion.state() == canvas._motion.State.Stopped
    assert is_middle(canvas, leaf(made, "net/prob"))
    canvas.setStyle(None)


@pytest.mark.parametrize("animate", [False, True])
def test_that_a_scope_that_opens_stays_where_it_is(canvas, qtbot, made, animate):
    item = made.scopes.by_path["net/drop"]
    canvas.animate = animate
    before, scale = corner(canvas, item), canvas.camera.scale
    canvas.set_scene(scene(made, ("net", "net/drop")), anchor=item)
    assert (corner(canvas, item) - before).manhattanLength() < 1e-6
    assert canvas.camera.scale == scale
    qtbot.waitUntil(lambda: canvas._motion.state() == canvas._motion.State.Stopped)
    assert canvas._artist._moving is None


def test_that_boxes_glide_from_the_scope_that_held_them(canvas, made):
    from graphviewer.gui.canvas.motion import start_places

    before, after = canvas.scene_shown, scene(made, ("net", "net/drop"))
    start = start_places(before, after, canvas.camera, canvas.camera)
    inner = after.box_of_item[leaf(made, "net/drop/mul")]
    assert start[:, inner].tolist() == before.bounds[:, before.box_of_item[made.scopes.by_path["net/drop"]]].tolist()
    moving = after.moved(start)
    assert (np.diff(moving.drawing.offsets) == 0).all()
    assert moving.bounds[:, inner] == pytest.approx(start[:, inner])


def test_that_a_scope_closed_by_its_stuck_title_does_not_vanish_above(canvas, made):
    item = made.scopes.by_path["net"]
    canvas.zoom(3.0)
    below = corner(canvas, item).y() + 400
    canvas.pan(0, -below)
    assert corner(canvas, item).y() < 0
    canvas.set_scene(scene(made, ()), anchor=item)
    assert corner(canvas, item).y() >= 0
