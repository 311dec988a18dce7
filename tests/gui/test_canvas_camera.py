"""Where the window looks at a drawing."""

import numpy as np
import pytest
from PySide6.QtCore import QPointF, QRectF

from graphviewer.gui.canvas.camera import FIT_SCALE, MARGIN, READABLE_SCALE, Camera, beginning, fit
from graphviewer.gui.canvas.camera import whole as whole_camera


def test_that_fit_shows_all_of_a_small_graph():
    camera = fit((300, 200), (1400, 900), start=(150, 0))
    assert camera.scale == FIT_SCALE
    assert camera.rect.contains(QRectF(0, 0, 300, 200))


def test_that_a_wide_graph_is_first_seen_where_most_boxes_are_not_between_the_first_two():
    places = [0, 9_000, 9_100, 9_250, 20_000, 20_100]
    bounds = np.array([[x, 0, x + 80, 40] for x in places], float).T
    x, y = beginning(bounds, (1_400, 900))
    assert 9_000 < x < 9_330 and y == 0
    camera = fit((20_200, 800), (1_400, 900), start=(x, y))
    assert camera.rect.left() < 9_000 and camera.rect.right() > 9_330


def test_that_a_drawing_that_runs_to_the_right_is_first_seen_at_its_left_where_most_boxes_are():
    bounds = np.array([[0, y, 80, y + 40] for y in (0, 9_000, 9_100, 9_250)], float).T
    camera = fit((30_000, 9_400), (1_400, 900), start=beginning(bounds, (1_400, 900), is_sideways=True))
    assert camera.left < 0
    assert camera.rect.top() < 9_000 and camera.rect.bottom() > 9_290


def test_that_fit_of_a_long_graph_starts_at_its_top_and_can_be_read():
    camera = fit((5_000, 400_000), (1400, 900), start=(4_000, 0))
    assert camera.scale == READABLE_SCALE
    assert camera.top < 0
    assert camera.rect.left() < 4_000 < camera.rect.right()
    assert camera.rect.right() <= 5_000 + 60


def test_that_zooming_keeps_the_point_under_the_pointer():
    camera, at = Camera(0.7, 12.0, -30.0, 800, 600), QPointF(123, 456)
    before, after = camera.to_scene(at), camera.zoomed(1.9, at, 0.01).to_scene(at)
    assert (after - before).manhattanLength() < 1e-9


def test_that_a_motion_of_the_camera_begins_and_ends_where_it_should():
    one, other = Camera(0.5, 0.0, 0.0, 800, 600), Camera(2.0, 900.0, -200.0, 800, 600)
    for t, end in ((0.0, one), (1.0, other)):
        assert one.between(other, t) == pytest.approx(end)
    assert one.scale < one.between(other, 0.5).scale < other.scale


def test_that_all_of_a_drawing_is_shown_with_room_for_the_flags_around_it():
    camera = whole_camera((4_000, 200), (1_400, 900))
    assert camera.to_pixel(QPointF(0, 0)).x() == pytest.approx(MARGIN)
    assert camera.to_pixel(QPointF(4_000, 0)).x() == pytest.approx(1_400 - MARGIN)


def test_that_two_ways_to_one_view_show_the_same_picture(canvas):
    view = Camera(453 / 498, -183.21943708609274, -30.78145695364239, 500, 509)
    seen = set()
    for noise in (-2e-16, 0.0, 3e-16):
        canvas.show_camera(view._replace(scale=view.scale + noise, top=view.top - 40 * noise))
        seen.add(canvas.camera)
    assert len(seen) == 1
