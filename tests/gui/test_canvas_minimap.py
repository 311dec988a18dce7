"""The map in the corner of the canvas."""

import pytest
from canvas_graphs import centre, document, leaf, roles, scene
from PySide6.QtCore import QPoint, QRect, Qt

from graphviewer.gui.canvas.view import GraphCanvas

pytestmark = pytest.mark.screen

LEFT, RIGHT = Qt.MouseButton.LeftButton, Qt.MouseButton.RightButton


def test_that_the_minimap_shows_only_where_it_helps(canvas, made):
    canvas.fit()
    assert not canvas.minimap.isVisible()
    canvas.zoom_to(leaf(made, "net/call"))
    canvas.zoom(3.0)
    assert canvas.minimap.isVisible()
    canvas.minimap.setVisible(False)
    canvas.pan(1, 1)
    assert not canvas.minimap.isVisible()


def test_that_dragging_on_the_minimap_moves_the_view(canvas, qtbot):
    canvas.zoom(4.0)
    canvas.grab()
    drawing, minimap = canvas.scene_shown.drawing, canvas.minimap
    qtbot.mousePress(minimap, LEFT, pos=minimap.rect().center())
    middle = canvas.view_rect().center()
    assert middle.x() == pytest.approx(drawing.width / 2, rel=0.05)
    assert middle.y() == pytest.approx(drawing.height / 2, rel=0.05)
    qtbot.mouseRelease(minimap, LEFT)


def test_that_a_minimap_of_a_very_long_graph_is_wide_enough_to_be_seen(canvas):
    chain = document([("n0", "Relu"), *((f"n{at}", "Relu", f"n{at - 1}") for at in range(1, 400))])
    canvas.set_scene(scene(chain, ()))
    assert canvas.scene_shown.drawing.height > 50 * canvas.scene_shown.drawing.width
    assert min(canvas.minimap.width(), canvas.minimap.height()) >= 50


def on_map(canvas: GraphCanvas, item: int) -> bool:
    """Whether the map lies over an item's box."""
    rect = canvas.item_rect(item)
    ends = [canvas.camera.to_pixel(point).toPoint() for point in (rect.topLeft(), rect.bottomRight())]
    return canvas.minimap.geometry().intersects(QRect(*ends))


def put_below(canvas: GraphCanvas, item: int, place: QPoint) -> None:
    """Move the picture so that the middle of an item is at a pixel."""
    way = place - centre(canvas, item)
    canvas.pan(way.x(), way.y())


def test_that_the_minimap_goes_where_it_covers_least_when_the_view_has_come_to_rest(canvas, made):
    item = leaf(made, "net/prob")
    canvas.zoom_to(item)
    canvas.zoom(2.0)
    place = canvas.minimap.geometry().center()
    put_below(canvas, item, place)
    assert on_map(canvas, item)  # not while the view moves
    canvas.set_scene(scene(made, overlay=roles(made)))
    assert not on_map(canvas, item)


def test_that_the_minimap_makes_way_for_what_is_selected(canvas, made):
    item = leaf(made, "net/prob")
    canvas.zoom_to(item)
    canvas.zoom(2.0)
    put_below(canvas, item, canvas.minimap.geometry().center())
    canvas.set_selection([leaf(made, "images")])
    assert on_map(canvas, item)
    canvas.set_selection([item])
    assert not on_map(canvas, item)


def test_that_boxes_below_the_minimap_shine_through(canvas, made):
    item = leaf(made, "net/prob")
    canvas.zoom_to(item)
    canvas.zoom(2.0)
    canvas.pan(3000, 3000)
    canvas.minimap.place()
    assert canvas.minimap.opacity == 1
    put_below(canvas, item, canvas.minimap.geometry().center())
    assert canvas.minimap.opacity < 1
