"""The canvas as a widget: hands on it, and what it says."""

import numpy as np
import pytest
from canvas_graphs import document, leaf, roles, scene
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QContextMenuEvent, QKeyEvent, QPointingDevice, QWheelEvent
from PySide6.QtWidgets import QApplication, QProxyStyle, QStyle, QToolTip

from graphviewer.gui.canvas.camera import MAX_SCALE, READABLE_SCALE
from graphviewer.gui.canvas.view import GraphCanvas
from graphviewer.gui.style.theme import load_theme
from graphviewer.layout.nested import NestedLayout

LEFT, RIGHT = Qt.MouseButton.LeftButton, Qt.MouseButton.RightButton


@pytest.fixture
def made():
    return document()


@pytest.fixture
def canvas(qtbot, made):
    shown = GraphCanvas(load_theme("light"))
    qtbot.addWidget(shown)
    shown.animate = False
    shown.resize(900, 700)
    shown.show()
    shown.set_scene(scene(made))
    shown.fit()
    qtbot.waitExposed(shown)
    shown.grab()  # paints, so that titles are where they are
    return shown


def centre(canvas: GraphCanvas, item: int) -> QPoint:
    return canvas.camera.to_pixel(canvas.item_rect(item).center()).toPoint()


def corner(canvas: GraphCanvas, item: int) -> QPointF:
    return canvas.camera.to_pixel(canvas.item_rect(item).topLeft())


def wheel(canvas, angle=(0, 0), pixels=(0, 0), modifiers=Qt.KeyboardModifier.NoModifier, touchpad=False, at=(300, 200)):
    phase = Qt.ScrollPhase.ScrollUpdate if touchpad else Qt.ScrollPhase.NoScrollPhase
    device = QPointingDevice.primaryPointingDevice()
    spot = QPointF(*at)
    event = QWheelEvent(
        spot, spot, QPoint(*pixels), QPoint(*angle), Qt.MouseButton.NoButton, modifiers, phase, False,
        Qt.MouseEventSource.MouseEventNotSynthesized, device,
    )  # fmt: skip
    QApplication.sendEvent(canvas.viewport(), event)


# -- looking around ---------------------------------------------------------------------------------------------


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
    with qtbot.assertNotEmitted(canvas.view_changed):
        canvas.set_view_rect(canvas.view_rect())


def test_that_a_view_can_be_given_to_another_canvas(canvas, qtbot, made):
    other = GraphCanvas(load_theme("dark"))
    qtbot.addWidget(other)
    other.resize(900, 700)
    other.show()
    other.set_scene(scene(made))
    canvas.zoom(1.4, QPointF(10, 10))
    other.set_view_rect(canvas.view_rect())
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


# -- motion -----------------------------------------------------------------------------------------------------


def test_that_zooming_glides_in_less_than_a_fifth_of_a_second(canvas, qtbot, made):
    canvas.animate = True
    moves = []
    canvas.view_changed.connect(moves.append)
    canvas.zoom_to(leaf(made, "net/prob"))
    assert canvas._motion.duration() < 200
    qtbot.waitUntil(lambda: canvas._motion.state() == canvas._motion.State.Stopped)
    assert canvas.view_rect().center() == canvas.item_rect(leaf(made, "net/prob")).center()
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
    assert canvas.view_rect().center() == canvas.item_rect(leaf(made, "net/prob")).center()
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


# -- pointing and clicking --------------------------------------------------------------------------------------


def test_that_a_click_names_the_item_and_the_keys_held(canvas, qtbot, made):
    item = leaf(made, "net/conv")
    with qtbot.waitSignal(canvas.item_clicked) as clicked:
        qtbot.mouseClick(canvas.viewport(), LEFT, Qt.KeyboardModifier.ControlModifier, centre(canvas, item))
    assert clicked.args == [item, Qt.KeyboardModifier.ControlModifier]


def test_that_the_ground_of_an_open_scope_is_background_but_belongs_to_it_in_menus(canvas, qtbot, made):
    net = made.scopes.by_path["net"]
    rect = canvas.item_rect(net)
    ground = canvas.camera.to_pixel(rect.bottomLeft() + QPointF(5, -5)).toPoint()
    assert canvas.item_at(QPointF(ground)) == -1
    with qtbot.waitSignal(canvas.background_clicked):
        qtbot.mouseClick(canvas.viewport(), LEFT, pos=ground)
    with qtbot.waitSignal(canvas.context_menu) as asked:
        event = QContextMenuEvent(QContextMenuEvent.Reason.Mouse, ground, canvas.mapToGlobal(ground))
        QApplication.sendEvent(canvas.viewport(), event)
    assert asked.args[0] == net


def test_that_the_title_of_an_open_scope_is_the_scope(canvas, qtbot, made):
    net = made.scopes.by_path["net"]
    title = (corner(canvas, net) + QPointF(60, 8)).toPoint()
    with qtbot.waitSignal(canvas.item_clicked) as clicked:
        qtbot.mouseClick(canvas.viewport(), LEFT, pos=title)
    assert clicked.args[0] == net


@pytest.mark.parametrize("path", ["net", "gradients"])
def test_that_a_triangle_opens_or_closes_with_one_click(canvas, qtbot, made, path):
    item = made.scopes.by_path[path]
    canvas.zoom_to(item)
    canvas.grab()
    spot = (corner(canvas, item) + QPointF(9, 12)).toPoint()
    with qtbot.waitSignal(canvas.item_activated) as activated, qtbot.assertNotEmitted(canvas.item_clicked):
        qtbot.mouseClick(canvas.viewport(), LEFT, pos=spot)
    assert activated.args == [item]


def test_that_a_double_click_activates(canvas, qtbot, made):
    item = made.scopes.by_path["gradients"]
    with qtbot.waitSignal(canvas.item_activated) as activated:
        qtbot.mouseDClick(canvas.viewport(), LEFT, pos=centre(canvas, item))
    assert activated.args == [item]


def test_that_a_right_button_does_not_select(canvas, qtbot, made):
    with qtbot.assertNotEmitted(canvas.item_clicked):
        qtbot.mouseClick(canvas.viewport(), RIGHT, pos=centre(canvas, leaf(made, "net/conv")))


def test_that_hovering_is_announced_only_when_the_item_changes(canvas, qtbot, made):
    item, seen = leaf(made, "net/conv"), []
    canvas.item_hovered.connect(seen.append)
    for spot in (centre(canvas, item), centre(canvas, item) + QPoint(3, 1), QPoint(2, 2)):
        qtbot.mouseMove(canvas.viewport(), spot)
    assert seen == [item, -1]
    assert canvas.hovered == -1


def test_that_hovering_paints_no_new_frame(canvas, qtbot, made):
    frame = canvas._artist._frame
    qtbot.mouseMove(canvas.viewport(), centre(canvas, leaf(made, "net/conv")))
    canvas.grab()
    assert canvas._artist._frame is frame


def test_that_the_tooltip_speaks_about_the_item(canvas, monkeypatch, made):
    from PySide6.QtGui import QHelpEvent

    shown, item = [], leaf(made, "net/conv")
    monkeypatch.setattr(QToolTip, "showText", lambda pos, text, widget: shown.append(text))
    canvas.tooltip = lambda item: f"item {item}"
    spot = centre(canvas, item)
    QApplication.sendEvent(canvas.viewport(), QHelpEvent(QEvent.Type.ToolTip, spot, canvas.mapToGlobal(spot)))
    assert shown == [f"<qt>item {item}</qt>"]


# -- keys -------------------------------------------------------------------------------------------------------


def press(canvas: GraphCanvas, key: Qt.Key, modifiers=Qt.KeyboardModifier.NoModifier) -> QKeyEvent:
    event = QKeyEvent(QEvent.Type.KeyPress, key, modifiers)
    canvas.keyPressEvent(event)
    return event


def test_that_arrows_walk_and_enter_activates(canvas, qtbot, made):
    canvas.set_selection([leaf(made, "net/call")])
    with qtbot.waitSignal(canvas.item_clicked) as clicked:
        press(canvas, Qt.Key.Key_Down)
    assert clicked.args[0] == leaf(made, "net/prob")
    with qtbot.waitSignal(canvas.item_activated) as activated:
        press(canvas, Qt.Key.Key_Return)
    assert activated.args == [leaf(made, "net/call")]


def test_that_other_keys_are_left_to_the_window(canvas):
    assert not press(canvas, Qt.Key.Key_F).isAccepted()
    assert not press(canvas, Qt.Key.Key_Left, Qt.KeyboardModifier.AltModifier).isAccepted()
    assert press(canvas, Qt.Key.Key_Plus).isAccepted()


# -- scenes -----------------------------------------------------------------------------------------------------


def test_that_another_overlay_keeps_the_view(canvas, made):
    rect = canvas.view_rect()
    canvas.set_scene(scene(made, overlay=roles(made)))
    assert canvas.view_rect() == rect


def test_that_nothing_can_be_shown_too(canvas, qtbot):
    canvas.set_scene(None)
    canvas.fit()
    canvas.grab()
    assert canvas.item_at(QPointF(100, 100)) == -1
    assert (canvas.central_item(), canvas.walk("up"), canvas.item_rect(0)) == (-1, -1, None)
    assert not canvas.minimap.isVisible()


def test_that_the_central_item_is_the_one_in_the_middle(canvas, made):
    canvas.zoom_to(leaf(made, "net/call"))
    assert canvas.central_item() == leaf(made, "net/call")


def test_that_another_theme_paints_other_colours(canvas):
    light = canvas.grab().toImage().pixelColor(3, 3)
    canvas.set_theme(load_theme("dark"))
    dark = canvas.grab().toImage().pixelColor(3, 3)
    assert (light, dark) == tuple(load_theme(name).color("canvas.background") for name in ("light", "dark"))


def test_that_painting_is_announced(canvas, qtbot):
    with qtbot.waitSignal(canvas.painted):
        canvas.viewport().update()


# -- minimap ----------------------------------------------------------------------------------------------------


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


def test_that_a_sideways_drawing_can_be_shown(canvas, made):
    from graphviewer.gui.canvas.scene import Scene

    canvas.set_scene(Scene(NestedLayout(made.scopes, direction="right").draw(()), made.scopes))
    canvas.fit()
    before = canvas.grab().toImage()
    canvas.set_selection([leaf(made, "images")])
    assert canvas.grab().toImage() != before
