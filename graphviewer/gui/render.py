"""Pictures of graphs as PNG or SVG, painted by the canvas's own functions, without a window or a screen."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Literal, NamedTuple

from PySide6.QtCore import QBuffer, QIODevice, QPointF, QRect, QRectF, QSize
from PySide6.QtGui import QGuiApplication, QImage, QPaintDevice, QPainter, QPen

from graphviewer.errors import WriteError
from graphviewer.formats.writing import write_atomically
from graphviewer.gui.canvas.camera import Camera
from graphviewer.gui.canvas.lettering import CAPITAL, Writing
from graphviewer.gui.canvas.look import Look
from graphviewer.gui.canvas.measure import box_widths
from graphviewer.gui.canvas.paint import paint
from graphviewer.gui.canvas.scene import Endpoints, Scene
from graphviewer.gui.stage import legend_strip
from graphviewer.gui.style.theme import load_theme
from graphviewer.layout.nested import NestedLayout
from graphviewer.layout.opening import first_open
from graphviewer.model.bodies import calling_ops, extended
from graphviewer.model.document import Document
from graphviewer.model.overlay import Overlay
from graphviewer.model.scopes import Scopes

MOST_PIXELS = 120_000_000
"""A larger PNG is refused: it would need half a gigabyte, and few programs could show it."""

NATURAL_LIMIT = 6000
"""Without a wished size, a picture is as large as its drawing, but no side of a PNG is longer than this."""

LARGEST_SCALE = 2.0
"""A small drawing does not fill a large picture."""

MARGIN, TITLE_LINE, LEGEND_SPACE = 24.0, 34.0, 16.0
"""Free space around a drawing, height of a title, space above and below the legend (pixels)."""


@dataclass(frozen=True, eq=False)
class Picture:
    """One drawing of a picture, with a title where there are several."""

    scene: Scene
    title: str = ""


class Painted(NamedTuple):
    """What was written.

    Attributes:
        width, height: of the picture, in pixels.
        scale: of its drawings: 1.0 for their own size, less where the picture would have been too large.
        natural: width and height that it would have had.
    """

    width: int
    height: int
    scale: float
    natural: tuple[int, int]


def ensure_application() -> QGuiApplication:
    """The running application, or one that needs no screen."""
    existing = QGuiApplication.instance()
    return existing if isinstance(existing, QGuiApplication) else _own_application()


@lru_cache(maxsize=1)
def _own_application() -> QGuiApplication:
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    return QGuiApplication(["graphviewer"])


def scene_of(
    document: Document,
    *,
    expand: Collection[str] | Literal["all"] | None = None,
    overlay: Overlay | None = None,
    outputs: Iterable[str] = (),
    inputs: Iterable[str] = (),
) -> Scene:
    """Lay out a document for a picture.

    Args:
        document: what to draw.
        expand: paths of scopes to open, with those around them; ``all``; the default opens until 20 boxes show.
        overlay: colours.
        outputs: names of nodes with an output's flag.
        inputs: names of nodes with an input's flag.
    """
    ensure_application()
    scopes, index = document.unfolded.scopes, document.graph.index
    layout = NestedLayout(scopes, box_widths(scopes, Look(load_theme("light")).lettering))
    flags = Endpoints(*(tuple(index[name] for name in names if name in index) for names in (outputs, inputs)))
    drawing = layout.draw(first_open(document) if expand is None else _open_items(scopes, expand))
    overlay = None if overlay is None else extended(overlay, document.unfolded)
    return Scene(drawing, scopes, overlay=overlay, endpoints=flags, functions=calling_ops(document.unfolded))


def _open_items(scopes: Scopes, expand: Collection[str] | Literal["all"]) -> frozenset[int]:
    if expand == "all":
        return frozenset(item for item in range(1, len(scopes)) if scopes.is_scope[item])
    found = {scopes.by_path[path] for path in expand if path in scopes.by_path}
    return frozenset(found.union(*(scopes.ancestors(item) for item in found))) - {0}


def render(
    pictures: Sequence[Picture],
    path: Path,
    *,
    theme: str = "light",
    size: tuple[int, int] | None = None,
    longest: int = NATURAL_LIMIT,
    force: bool = False,
) -> Painted:
    """Write a picture of one drawing, or of several side by side, with the legend of their overlays.

    Args:
        pictures: what to draw, from left to right.
        path: its suffix, .png or .svg, says the format.
        theme: ``light`` or ``dark``.
        size: width and height of the picture in pixels; as large as the drawings are by default.
        longest: side of a PNG without a wished size, in pixels; an SVG keeps the size of the drawings.
        force: replace an existing file.

    Raises:
        WriteError: another suffix, a size that is out of reason, or the file cannot be written.
    """
    ensure_application()
    look = Look(load_theme(theme))
    kind = path.suffix.lower()
    natural, scale = _natural_size(pictures, look, math.inf)[0], 1.0
    width, height = size or natural
    if size is None and kind == ".png":
        (width, height), scale = _natural_size(pictures, look, longest)
    if kind not in (".png", ".svg"):
        raise WriteError(f"'{path.name}' is neither .png nor .svg.", "Name the picture accordingly.")
    if width < 16 or height < 16 or (kind == ".png" and width * height > MOST_PIXELS):
        raise WriteError(
            f"{width} x {height} pixels is no size for a picture.",
            "Give another size, such as 1600x1000.",
            shell="Give another size: --size 1600x1000.",
        )
    content = _svg(pictures, look, width, height) if kind == ".svg" else _png(pictures, look, width, height)
    write_atomically(path, [content], force=force)
    return Painted(width, height, scale, natural)


def _png(pictures: Sequence[Picture], look: Look, width: int, height: int) -> bytes:
    image = QImage(width, height, QImage.Format.Format_RGB32)
    _paint_all(image, pictures, look, width, height)
    return _bytes(lambda buffer: image.save(buffer, "PNG"))


def _svg(pictures: Sequence[Picture], look: Look, width: int, height: int) -> bytes:
    from PySide6.QtSvg import QSvgGenerator

    def write(buffer: QBuffer) -> None:
        generator = QSvgGenerator()
        generator.setOutputDevice(buffer)
        generator.setSize(QSize(width, height))
        generator.setViewBox(QRect(0, 0, width, height))
        generator.setTitle("graphviewer")
        generator.setDescription("")
        _paint_all(generator, pictures, look, width, height)

    return _bytes(write)


def _bytes(write: Callable[[QBuffer], object]) -> bytes:
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    write(buffer)
    return bytes(buffer.data().data())


def _natural_size(pictures: Sequence[Picture], look: Look, longest: float) -> tuple[tuple[int, int], float]:
    """Width and height of a picture whose drawings are not longer than this, and the scale that this takes."""
    extents = [(picture.scene.drawing.width, picture.scene.drawing.height) for picture in pictures]
    width = max(sum(across + 2 * MARGIN for across, _ in extents), 320.0)
    height = max(max(down for _, down in extents) + 2 * MARGIN, 120.0)
    scale = min(1.0, longest / max(width, height))
    width, height = max(width * scale, 320.0), height * scale
    rows = legend_strip.lines(look, legend_strip.entries(picture.scene for picture in pictures), width)
    return (round(width), round(height + _legend_height(rows) + _title_height(pictures))), scale


def _legend_height(rows: Sequence[object]) -> float:
    return len(rows) * legend_strip.LINE + LEGEND_SPACE if rows else 0.0


def _title_height(pictures: Sequence[Picture]) -> float:
    return TITLE_LINE if any(picture.title for picture in pictures) else 0.0


def _paint_all(device: QPaintDevice, pictures: Sequence[Picture], look: Look, width: int, height: int) -> None:
    rows = legend_strip.lines(look, legend_strip.entries(picture.scene for picture in pictures), width)
    legend, title = _legend_height(rows), _title_height(pictures)
    shares = [picture.scene.drawing.width + 2 * MARGIN for picture in pictures]
    left, down = 0.0, max(height - legend - title, 1.0)
    with QPainter(device) as painter:
        painter.fillRect(QRectF(0, 0, width, height), look.theme.color("canvas.background"))
        for picture, share in zip(pictures, shares, strict=True):
            across = width * share / sum(shares)
            _paint_one(painter, picture, look, QRectF(left, title, across, down))
            left += across
        if rows:
            legend_strip.paint_legend(painter, look, rows, QRectF(0, height - legend, width, legend))


def _paint_one(painter: QPainter, picture: Picture, look: Look, rect: QRectF) -> None:
    drawing = picture.scene.drawing
    width, height = max(drawing.width, 1.0), max(drawing.height, 1.0)
    margin = min(MARGIN, min(rect.width(), rect.height()) / 8)
    scale = min((rect.width() - 2 * margin) / width, (rect.height() - 2 * margin) / height, LARGEST_SCALE)
    across, down = rect.width() / scale, rect.height() / scale
    camera = Camera(scale, (width - across) / 2, (height - down) / 2, rect.width(), rect.height())
    painter.save()
    painter.translate(rect.topLeft())
    painter.setClipRect(QRectF(0, 0, rect.width(), rect.height()))
    paint(painter, picture.scene, camera, look)
    painter.restore()
    if picture.title:
        _paint_title(painter, picture.title, look, QRectF(rect.left(), 0, rect.width(), rect.top()))
    if rect.left() > 0:
        painter.setPen(QPen(look.color("window.border"), 1))
        painter.drawLine(QPointF(rect.left(), 0), rect.bottomLeft())


def _paint_title(painter: QPainter, title: str, look: Look, rect: QRectF) -> None:
    size, writing = 13.0, Writing(look.lettering)
    fitted = writing.lettering.fit(title, (rect.width() - 2 * MARGIN) / size, True)
    left = rect.left() + (rect.width() - fitted.width * size) / 2
    writing.add(left, rect.center().y() + CAPITAL / 2 * size, fitted.text, size, look.color("window.text"), True)
    painter.fillRect(rect, look.theme.color("window.surface"))
    writing.draw(painter)
