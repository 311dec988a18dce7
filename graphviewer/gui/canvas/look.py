"""How a scene looks in a theme: colours per kind of box and category, resolved once."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from PySide6.QtGui import QColor, QFont

from graphviewer.gui.canvas.edge_classes import EDGE_CLASSES
from graphviewer.gui.canvas.kinds import Kind
from graphviewer.gui.canvas.lettering import Lettering
from graphviewer.gui.canvas.scene import Scene
from graphviewer.gui.style.theme import Theme, load_font

GHOST = len(Kind)
FIRST_CATEGORY = GHOST + 1


class BoxStyle(NamedTuple):
    """Colours of a box; ``far`` is all of it when it is a few pixels large."""

    fill: QColor
    edge: QColor
    text: QColor
    muted: QColor
    far: QColor
    is_dashed: bool = False


def mix(one: QColor, other: QColor, share: float) -> QColor:
    """The opaque colour between two, ``share`` of the way to ``other``."""
    return QColor.fromRgbF(*(a + (b - a) * share for a, b in zip(_rgb(one), _rgb(other), strict=True)))


def ink_on(color: QColor) -> QColor:
    """Black or white, whichever is easier to read on a colour."""
    return QColor("#101418" if color.lightnessF() > 0.5 or color.greenF() > 0.55 else "#FFFFFF")


def _rgb(color: QColor) -> tuple[float, float, float]:
    return color.redF(), color.greenF(), color.blueF()


class Look:
    """A theme and a font, ready to paint with."""

    def __init__(self, theme: Theme, font: QFont | None = None) -> None:
        self.theme = theme
        self.lettering = Lettering(font or load_font())
        self._colors: dict[str, QColor] = {}
        self.edges = {name: self.color(f"edges.{name}") for name in EDGE_CLASSES}
        self._styles = lru_cache(maxsize=8)(self._all_styles)
        self._marks = lru_cache(maxsize=8)(self._all_marks)

    def color(self, token: str) -> QColor:
        """A colour of the theme. One object per token: never change it."""
        if token not in self._colors:
            self._colors[token] = self.theme.color(token)
        return self._colors[token]

    def frame(self, depth: int) -> QColor:
        """The ground of an open scope; neighbours in depth differ."""
        return self.color("canvas.frame_even" if depth % 2 == 0 else "canvas.frame_odd")

    def ground(self, depth: int) -> QColor:
        """What lies behind a box at this depth."""
        return self.color("canvas.background") if depth == 0 else self.frame(depth - 1)

    def _all_styles(self, kind: str, categories: tuple[str, ...]) -> list[BoxStyle]:
        text, muted = self.color("canvas.text"), self.color("canvas.muted")
        plain = {
            Kind.OP: ("box", "box_edge"),
            Kind.CONSTANT: ("constant", "constant_edge"),
            Kind.VARIABLE: ("box", "box_edge"),
            Kind.PLACEHOLDER: ("box", "box_edge"),
            Kind.CALL: ("box", "box_edge"),
            Kind.SCOPE: ("scope", "scope_edge"),
            Kind.FRAME: ("frame_even", "frame_edge"),
        }
        styles = []
        for shape in Kind:
            fill, edge = (self.color(f"canvas.{token}") for token in plain[shape])
            styles.append(BoxStyle(fill, edge, text, muted, edge))
        ghost = self.color("canvas.ghost")
        styles.append(BoxStyle(self.color("canvas.background"), ghost, ghost, ghost, ghost, is_dashed=True))
        for name in categories:
            found = self.theme.category(kind, name)
            faded = mix(found.text, found.fill, 0.2)
            far = mix(found.edge, found.mark, 0.4)
            dashed = (kind, name) in (("diff", "removed"), ("roles", "unused"))
            styles.append(BoxStyle(found.fill, found.edge, found.text, faded, far, dashed))
        return styles

    def scene_styles(self, scene: Scene) -> list[BoxStyle]:
        """The styles that ``style_of`` numbers."""
        overlay = scene.overlay
        return self._styles(overlay.kind, tuple(overlay.categories)) if overlay else self._styles("", ())

    def marks(self, scene: Scene) -> list[QColor]:
        """The saturated colour of each category of the scene's overlay."""
        overlay = scene.overlay
        return self._marks(overlay.kind, tuple(overlay.categories)) if overlay else []

    def _all_marks(self, kind: str, categories: tuple[str, ...]) -> list[QColor]:
        return [self.theme.category(kind, name).mark for name in categories]


def style_of(scene: Scene, boxes: NDArray[np.signedinteger]) -> NDArray[np.int16]:
    """int16 [n]: number of the style of each of ``boxes``."""
    category = scene.category[boxes]
    style = np.where(category >= 0, category + FIRST_CATEGORY, scene.kind[boxes])
    return np.where(scene.is_hidden[boxes], GHOST, style).astype(np.int16)
