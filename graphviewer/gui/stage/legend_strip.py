"""The legend of a picture: a line of swatches, signs, names and counts, wrapped to the picture's width."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from PySide6.QtCore import QRectF
from PySide6.QtGui import QColor, QPainter, QPen

from graphviewer.gui.canvas.lettering import CAPITAL, Writing
from graphviewer.gui.canvas.look import Look
from graphviewer.gui.canvas.scene import Scene
from graphviewer.gui.canvas.signs import sign, title

LINE, SIZE, SWATCH, SPACE, INSET = 26.0, 12.0, 13.0, 18.0, 20.0
"""Height of a line, of its text and of a swatch; space between entries, and left and right (pixels)."""


class Entry(NamedTuple):
    """A category that some node has."""

    kind: str
    name: str
    nodes: int

    @property
    def text(self) -> str:
        """What stands beside the swatch; statuses of a comparison have no count, each side has its own."""
        mark = sign(self.kind, self.name)
        count = "" if self.kind == "diff" else f"  {self.nodes:,}"
        return f"{mark + ' ' if mark else ''}{title(self.kind, self.name)}{count}"


def entries(scenes: Iterable[Scene]) -> list[Entry]:
    """The categories of all overlays in legend order; a category of several scenes with its largest count."""
    counts: dict[tuple[str, str], int] = {}
    for scene in scenes:
        if scene.overlay is not None:
            found = scene.overlay.counts()
            for name in scene.overlay.categories:
                key = (scene.overlay.kind, name)
                counts[key] = max(counts.get(key, 0), found.get(name, 0))
    return [Entry(*key, count) for key, count in counts.items() if count]


def lines(look: Look, found: Sequence[Entry], width: float) -> list[list[Entry]]:
    """Entries broken into lines of this width."""
    rows: list[list[Entry]] = []
    left = width
    for entry in found:
        needed = SWATCH + 6 + look.lettering.fit(entry.text, 1000).width * SIZE + SPACE
        if left + needed > width - 2 * INSET + SPACE:
            rows.append([])
            left = 0.0
        rows[-1].append(entry)
        left += needed
    return rows


def paint_legend(painter: QPainter, look: Look, rows: Sequence[Sequence[Entry]], rect: QRectF) -> None:
    """Paint the legend into a strip of the picture."""
    painter.fillRect(rect, look.theme.color("window.surface"))
    painter.setPen(QPen(look.color("window.border"), 1))
    painter.drawLine(rect.topLeft(), rect.topRight())
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    writing = Writing(look.lettering)
    top = rect.top() + (rect.height() - LINE * len(rows)) / 2
    for row in rows:
        _paint_row(painter, look, writing, row, rect.left() + INSET, top + LINE / 2)
        top += LINE
    writing.draw(painter)


def _paint_row(
    painter: QPainter, look: Look, writing: Writing, row: Sequence[Entry], left: float, middle: float
) -> None:
    for entry in row:
        colors = look.theme.category(entry.kind, entry.name)
        painter.setPen(QPen(colors.edge, 1))
        painter.setBrush(QColor(colors.mark))
        painter.drawRoundedRect(QRectF(left, middle - SWATCH / 2, SWATCH, SWATCH), 3, 3)
        left += SWATCH + 6
        fitted = look.lettering.fit(entry.text, 1000)
        writing.add(left, middle + CAPITAL / 2 * SIZE, fitted.text, SIZE, look.color("window.text"))
        left += fitted.width * SIZE + SPACE
