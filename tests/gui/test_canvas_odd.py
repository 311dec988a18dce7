"""Deep and odd graphs: all are drawn, and the canvas stays smooth on them."""

from __future__ import annotations

import time

import numpy as np
import pytest
from canvas_graphs import document
from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QImage, QPainter

from graphviewer.gui.canvas.camera import Camera, fit
from graphviewer.gui.canvas.look import Look
from graphviewer.gui.canvas.measure import box_widths
from graphviewer.gui.canvas.paint import paint
from graphviewer.gui.canvas.scene import Scene
from graphviewer.gui.style.theme import load_theme
from graphviewer.layout.nested import NestedLayout
from graphviewer.layout.style import Style

pytestmark = [pytest.mark.usefixtures("qapp"), pytest.mark.screen]

SMOOTH = 0.05
"""CPU seconds that a frame may take on a slow machine; a tenth of it is usual."""


def chain(count=20_000):
    return [("op0", "Placeholder"), *((f"op{at}", "Relu", f"op{at - 1}") for at in range(1, count))]


def crowded(children=5_000):
    return [(f"scope/op{at}", "Relu", *([f"scope/op{at // 2}"] if at % 3 else [])) for at in range(children)]


def nested(depth=400):
    paths = ["/".join(f"s{level}" for level in range(above)) for above in range(1, depth)]
    return [("x", "Placeholder"), *((f"{path}/op", "Relu", "x") for path in paths)]


def long_names(letters=5_000):
    return [(f"{'n' * letters}{at}", "Relu") for at in range(200)] + [("/".join(["p" * 50] * 99), "Relu")]


def isolated(count=10_000):
    return [(f"op{at}", "NoOp") for at in range(count)]


@pytest.mark.parametrize("rows", [chain, crowded, nested, long_names, isolated], ids=lambda rows: rows.__name__)
def test_that_it_is_drawn_whole_and_every_frame_is_quick(rows):
    made, look = document(rows()), Look(load_theme("light"))
    layout = NestedLayout(made.scopes, box_widths(made.scopes, look.lettering)).styled(Style(stacked=True, tucked=True))
    scopes = layout.scopes
    drawing = layout.draw(np.flatnonzero(scopes.is_scope).tolist())
    assert len(drawing) == len(scopes) - 1
    assert np.isfinite(drawing.points).all() and drawing.width < 2e6 and drawing.height < 2e6
    scene = Scene(drawing, scopes, selection=frozenset([int(scopes.leaf[0])]))
    image = QImage(1000, 700, QImage.Format.Format_RGB32)
    cameras = [Camera.of_rect(QRectF(0, 0, drawing.width, drawing.height), 1000, 700)]
    cameras.append(fit((drawing.width, drawing.height), (1000, 700), scene.start(1000, 700)))
    for box in np.linspace(0, len(drawing) - 1, 9).astype(int).tolist():
        left, top, right, bottom = scene.bounds[:, box].tolist()
        cameras.append(cameras[1].close_up(QRectF(left, top, right - left, bottom - top)))
    cameras += [camera.zoomed(0.3, QPointF(500, 350), 1e-6) for camera in cameras[2:6]]
    times = []
    for camera in cameras * 2:
        image.fill(0)
        begin = time.process_time()
        with QPainter(image) as painter:
            paint(painter, scene, camera, look)
        times.append(time.process_time() - begin)
        raw = np.frombuffer(image.constBits(), np.uint32)
        assert (raw != raw[0]).any()
    assert np.percentile(times[len(cameras) :], 95) < SMOOTH
