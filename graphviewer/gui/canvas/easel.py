"""What every painting function needs, as one value."""

from __future__ import annotations

from typing import NamedTuple

from PySide6.QtGui import QColor, QPainter

from graphviewer.gui.canvas.camera import Camera
from graphviewer.gui.canvas.look import Look
from graphviewer.gui.canvas.scene import Scene


class Easel(NamedTuple):
    """A painter whose units are pixels with (0, 0) at the window's top left corner, and what to paint with it."""

    painter: QPainter
    scene: Scene
    look: Look
    camera: Camera

    def color(self, token: str) -> QColor:
        """A colour of the theme."""
        return self.look.color(token)
