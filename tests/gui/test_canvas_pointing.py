"""The canvas under hands: pointing, clicking, keys, and what it says."""

import pytest
from canvas_graphs import centre, corner, leaf
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QContextMenuEvent, QKeyEvent
from PySide6.QtWidgets import QApplication, QToolTip

from graphviewer.gui.canvas.view import GraphCanvas

pytestmark = pytest.mark.screen

LEFT, RIGHT = Qt.MouseButton.LeftButton, Qt.MouseButton.RightButton


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


# -- keys -------------------------------------------------------------------------------------------------------------


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
