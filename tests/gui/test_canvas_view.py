"""The canvas as a widget: looking around, and what it shows."""

import pytest
from canvas_graphs import centre, leaf, roles, scene
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QPointingDevice, QWheelEvent
from PySide6.QtWidgets import QApplication

from graphviewer.gui.canvas.camera import MAX_SCALE, READABLE_SCALE
from graphviewer.gui.canvas.view import GraphCanvas
from graphviewer.gui.style.theme import load_theme
from graphviewer.layout.nested import NestedLayout

pytestmark = pytest.mark.screen

LEFT, RIGHT = Qt.MouseButton.LeftButton, Qt.MouseButton.RightButton


def wheel(canvas, angle=(0, 0), pixels=(0, 0), modifiers=Qt.KeyboardModifier.NoModifier, touchpad=False, at=(300, 200)):
    phase = Qt.ScrollPhase.ScrollUpdate if touchpad else Qt.ScrollPhase.NoScrollPhase
    device = QPointingDevice.primaryPointingDevice()
    spot = QPointF(*at)
    event = QWheelEvent(
        spot, spot, QPoint(*pixels), QPoint(*angle), Qt.MouseButton.NoButton, modifiers, phase, False,
        Qt.MouseEventSource.MouseEventNotSynthesized, device,
    )  # fmt: skip
    QApplication.sendEvent(canvas.viewport(), event)


def test_that_fit_brings_the_whole_graph_into_view(canvas):
    drawing = canvas.scene_shown.drawing
    assert canvas.view_rect().contains(0, 0)
    assert canvas.view_rect().contains(drawing.width, drawing.height)


def test_that_the_view_box_and_the_camera_agree(canvas):
    canvas.zoom(1.7, QPointF(100, 50))
    canvas.pan(33, -21)
    seen, rect = canvas._view_box.viewRect(), canvas.view_rect()
    assert seen.getRect() == pytest.approx(rect.getRect(), abs=1e-6)
    assert canvas._view_box.mapSceneToView(QPointF(0, 0)).x() == pytest.approx(rect.left(), abs=1e-6)


def test_that_the_wheel_zooms_at_the_pointer(canvas):
    before, scale = canvas.camera.to_scene(QPointF(300, 200)), canvas.camera.scale
    wheel(canvas, angle=(0, 120))
    assert canvas.camera.scale > scale
    assert (canvas.camera.to_scene(QPointF(300, 200)) - before).manhattanLength() < 1e-6
    wheel(canvas, angle=(0, -120))
    assert canvas.camera.scale == pytest.approx(scale)


def test_that_two_fingers_move_the_picture_and_ctrl_zooms_it(canvas):
    start, scale = canvas.view_rect(), canvas.camera.scale
    wheel(canvas, pixels=(10, -25), touchpad=True)
    assert canvas.camera.scale == scale
    assert canvas.view_rect().top() == pytest.approx(start.top() + 25 / scale)
    wheel(canvas, angle=(0, 120), touchpad=True, modifiers=Qt.KeyboardModifier.ControlModifier)
    assert canvas.camera.scale > scale


def test_that_the_wheel_moves_the_picture_where_the_settings_say_so(canvas):
    canvas.wheel_zooms = False
    top, scale = canvas.view_rect().top(), canvas.camera.scale
    wheel(canvas, angle=(0, -120))
    assert canvas.camera.scale == scale
    assert canvas.view_rect().top() > top


def test_that_zoom_has_ends(canvas):
    for _ in range(60):
        canvas.zoom(2.0)
    assert canvas.camera.scale == MAX_SCALE
    for _ in range(60):
        canvas.zoom(0.5)
    assert 0 < canvas.camera.scale <= READABLE_SCALE


def test_that_dragging_moves_the_picture_and_clicks_nothing(canvas, qtbot, made):
    start = centre(canvas, leaf(made, "net/conv"))
    rect = canvas.view_rect()
    with qtbot.assertNotEmitted(canvas.item_clicked), qtbot.assertNotEmitted(canvas.background_clicked):
        qtbot.mousePress(canvas.viewport(), LEFT, pos=start)
        qtbot.mouseMove(canvas.viewport(), start + QPoint(30, 12))
        qtbot.mouseMove(canvas.viewport(), start + QPoint(60, 40))
        qtbot.mouseRelease(canvas.viewport(), LEFT, pos=start + QPoint(60, 40))
    moved = (rect.topLeft() - canvas.view_rect().topLeft()) * canvas.camera.scale
    assert (moved.x(), moved.y()) == pytest.approx((60, 40))


def test_that_every_move_is_announced_once(canvas, qtbot):
    with qtbot.waitSignals([canvas.view_changed], check_params_cbs=[lambda rect: rect == canvas.view_rect()]):
        canvas.pan(5, 5)


def test_that_a_view_can_be_given_to_another_canvas(canvas, qtbot, made):
    other = GraphCanvas(load_theme("dark"))
    qtbot.addWidget(other)
    other.resize(900, 700)
    other.show()
    other.set_scene(scene(made))
    canvas.zoom(1.4, QPointF(10, 10))
    other.look_like(canvas.camera)
    assert other.view_rect().getRect() == pytest.approx(canvas.view_rect().getRect())


def test_that_a_larger_window_shows_more_at_the_same_scale(canvas, qtbot):
    middle, scale = canvas.view_rect().center(), canvas.camera.scale
    canvas.resize(1100, 760)
    qtbot.waitUntil(lambda: canvas.camera.width == 1100)
    assert canvas.camera.scale == scale
    assert (canvas.view_rect().center() - middle).manhattanLength() < 1e-6


def test_that_zooming_to_an_item_shows_it_large_enough_to_read(canvas, made):
    canvas.zoom(0.01)
    canvas.zoom_to(leaf(made, "net/prob"))
    assert canvas.camera.scale >= READABLE_SCALE
    assert canvas.view_rect().contains(canvas.item_rect(leaf(made, "net/prob")))


def test_that_an_item_in_view_needs_no_move_and_one_outside_the_least(canvas, made):
    item = leaf(made, "images")
    canvas.zoom_to(item)
    rect = canvas.view_rect()
    canvas.ensure_visible(item)
    assert canvas.view_rect() == rect
    canvas.pan(0, -5000)
    canvas.ensure_visible(item)
    assert canvas.view_rect().contains(canvas.item_rect(item))
    assert canvas.view_rect().left() == pytest.approx(rect.left())


# -- scenes -----------------------------------------------------------------------------------------------------------


def test_that_another_overlay_keeps_the_view(canvas, made):
    rect = canvas.view_rect()
    canvas.set_scene(scene(made, overlay=roles(made)))
    assert canvas.view_rect() == rect


def test_that_nothing_can_be_shown_too(canvas, qtbot):
    canvas.set_scene(None)
    canvas.fit()
    canvas.grab()
    assert canvas.item_at(QPointF(100, 100)) == -1
    assert (canvas.central_items(1), canvas.walk("up"), canvas.item_rect(0)) == ([], -1, None)
    assert not canvas.minimap.isVisible()


def test_that_the_central_item_is_the_one_in_the_middle(canvas, made):
    canvas.zoom_to(leaf(made, "net/call"))
    assert canvas.central_items(1) == [leaf(made, "net/call")]


def test_that_another_theme_paints_other_colours(canvas):
    light = canvas.grab().toImage().pixelColor(3, 3)
    canvas.set_theme(load_theme("dark"))
    dark = canvas.grab().toImage().pixelColor(3, 3)
    assert (light, dark) == tuple(load_theme(name).color("canvas.background") for name in ("light", "dark"))


def test_that_painting_is_announced(canvas, qtbot):
    with qtbot.waitSignal(canvas.painted):
        canvas.viewport().update()


def test_that_a_sideways_drawing_can_be_shown(canvas, made):
    from graphviewer.gui.canvas.scene import Scene

    canvas.set_scene(Scene(NestedLayout(made.scopes, direction="right").draw(()), made.scopes))
    canvas.fit()
    before = canvas.grab().toImage()
    canvas.set_selection([leaf(made, "images")])
    assert canvas.grab().toImage() != before
