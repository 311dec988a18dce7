"""Short, even motion; none where the system asks for none."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from PySide6.QtCore import QEasingCurve, QVariantAnimation
from PySide6.QtWidgets import QStyle, QWidget

from graphviewer.gui.canvas.camera import Camera
from graphviewer.gui.canvas.scene import Floats, Scene

MILLISECONDS = 170

MOST_MOVING = 2500
"""A drawing of more boxes changes at once: its motion would not be smooth."""


class Motion(QVariantAnimation):
    """Calls a function with 0 < t <= 1 as time goes, ending with exactly 1 unless it is stopped."""

    def __init__(self, widget: QWidget) -> None:
        super().__init__(widget)
        self._widget = widget
        self._show: Callable[[float], None] | None = None
        self.setStartValue(0.0)
        self.setEndValue(1.0)
        self.setDuration(MILLISECONDS)
        self.setEasingCurve(QEasingCurve.Type.OutCubic)
        self.valueChanged.connect(self._step)

    def is_wanted(self) -> bool:
        """Whether the system's style moves things at all."""
        return self._widget.style().styleHint(QStyle.StyleHint.SH_Widget_Animation_Duration) > 0

    def begin(self, show: Callable[[float], None]) -> None:
        """Move from now on; at once to the end where the system wants no motion."""
        self.stop()
        if self.is_wanted():
            self._show = show
            self.start()
        else:
            show(1.0)

    def stop(self) -> None:
        """Stay where the motion has come to."""
        self._show = None
        super().stop()

    def _step(self, t: float) -> None:
        if self._show is not None:
            self._show(t)


def start_places(before: Scene, after: Scene, before_camera: Camera, after_camera: Camera) -> Floats:
    """Where the boxes of ``after`` come from: their own old place, or that of the closed scope they were in.

    Returns:
        float64 [4, boxes], in the scene units of ``after``, so that nothing jumps in the window.
    """
    old = before.box_of_item[after.drawing.item]
    shift = np.array([after_camera.left - before_camera.left, after_camera.top - before_camera.top] * 2)
    places = before.bounds[:, np.maximum(old, 0)] + shift[:, None]
    return np.where(old >= 0, places, after.bounds)
