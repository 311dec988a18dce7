"""A view that shows the whole drawing goes on doing so when the window becomes larger or smaller."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, QTimer

from graphviewer.gui.canvas.camera import fit, whole

if TYPE_CHECKING:
    from graphviewer.gui.canvas.view import GraphCanvas


class Refit(QObject):
    """Fits a canvas anew when its size changes, as long as nobody has moved or zoomed it since it was fitted.

    Both ways of fitting are kept: at a size that can be read, and all of the drawing, however small.
    """

    def __init__(self, canvas: GraphCanvas) -> None:
        super().__init__(canvas)
        self._canvas = canvas
        self._timer = QTimer(self, singleShot=True, interval=0)
        self._timer.timeout.connect(lambda: self._again())
        self._again: Callable[[], None] = canvas.fit
        canvas.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Before the canvas itself follows its new size: look whether it is fitted to the old one."""
        if event.type() == QEvent.Type.Resize and not self._timer.isActive():
            how = self._how_fitted()
            if how is not None:
                self._again = how
                self._timer.start()
        return super().eventFilter(watched, event)

    def _how_fitted(self) -> Callable[[], None] | None:
        """What fits the canvas as it is fitted now; None where it is not."""
        scene, camera = self._canvas.scene_shown, self._canvas.camera
        if not len(scene.drawing):
            return None
        extent, size = (scene.drawing.width, scene.drawing.height), (camera.width, camera.height)
        if camera.is_near(fit(extent, size, scene.start(*size)).steady()):
            return self._canvas.fit
        return self._canvas.show_all if camera.is_near(whole(extent, size).steady()) else None
