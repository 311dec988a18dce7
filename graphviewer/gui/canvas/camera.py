"""Where the window looks at a scene, and how the two kinds of coordinates relate."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF

MAX_SCALE = 8.0
READABLE_SCALE = 0.62
"""At this scale a box's name is 7.5 pixels high, the least that can be read with ease."""

MARGIN = 28.0
"""Pixels kept free around a drawing: flags stand out of its boxes."""

FIT_SCALE, CLOSE_SCALE = 1.15, 1.2
"""Fit does not blow up small graphs beyond the first, nor zooming to a box beyond the second."""


class Camera(NamedTuple):
    """A view: ``scale`` pixels per scene unit, the scene point at the top left corner, the size in pixels."""

    scale: float
    left: float
    top: float
    width: float
    height: float

    @property
    def rect(self) -> QRectF:
        """What is seen, in scene units."""
        return QRectF(self.left, self.top, self.width / self.scale, self.height / self.scale)

    @classmethod
    def of_rect(cls, rect: QRectF, width: float, height: float) -> Camera:
        """The camera that shows all of ``rect``, in the middle of a window of this size."""
        scale = min(width / max(rect.width(), 1e-9), height / max(rect.height(), 1e-9))
        middle = rect.center()
        return cls(scale, middle.x() - width / scale / 2, middle.y() - height / scale / 2, width, height)

    def steady(self) -> Camera:
        """The same view without the noise of arithmetic, which would move a line that lies between two pixels."""
        return self._replace(scale=round(self.scale, 10), left=round(self.left, 6), top=round(self.top, 6))

    def x(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Scene to pixels, across."""
        return (x - self.left) * self.scale

    def y(self, y: NDArray[np.float64]) -> NDArray[np.float64]:
        """Scene to pixels, down."""
        return (y - self.top) * self.scale

    def to_scene(self, pixel: QPointF) -> QPointF:
        """Pixels to scene."""
        return QPointF(self.left + pixel.x() / self.scale, self.top + pixel.y() / self.scale)

    def to_pixel(self, point: QPointF) -> QPointF:
        """Scene to pixels."""
        return QPointF((point.x() - self.left) * self.scale, (point.y() - self.top) * self.scale)

    def moved(self, dx: float, dy: float) -> Camera:
        """The picture moved by so many pixels to the right and down."""
        return self._replace(left=self.left - dx / self.scale, top=self.top - dy / self.scale)

    def zoomed(self, factor: float, at: QPointF, smallest: float) -> Camera:
        """Zoomed so that the scene stays where it is under the pixel ``at``."""
        scale = min(max(self.scale * factor, smallest), MAX_SCALE)
        fixed = self.to_scene(at)
        return self._replace(scale=scale, left=fixed.x() - at.x() / scale, top=fixed.y() - at.y() / scale)

    def resized(self, width: float, height: float) -> Camera:
        """The same scale and middle in a window of another size."""
        across, down = (width - self.width) / 2, (height - self.height) / 2
        return self._replace(width=width, height=height).moved(across, down)

    def close_up(self, rect: QRectF) -> Camera:
        """``rect`` in the middle, large enough to read; its top where it is higher than the window."""
        whole = Camera.of_rect(rect.adjusted(-60, -60, 60, 60), self.width, self.height)
        scale = min(max(whole.scale, READABLE_SCALE), CLOSE_SCALE)
        middle, height = rect.center(), self.height / scale
        top = middle.y() - height / 2 if rect.height() < height else rect.top() - 30 / scale
        return self._replace(scale=scale, left=middle.x() - self.width / scale / 2, top=top)

    def containing(self, rect: QRectF) -> Camera:
        """The view moved no more than needed for ``rect`` to be in it, clear of its borders."""
        seen = self.rect.adjusted(*(margin / self.scale for margin in (40, 60, -40, -60)))
        dx = _least_move(rect.left(), rect.right(), seen.left(), seen.right())
        dy = _least_move(rect.top(), rect.bottom(), seen.top(), seen.bottom())
        return self._replace(left=self.left + dx, top=self.top + dy)

    def is_near(self, other: Camera) -> bool:
        """Nothing in the window is a thousandth of a pixel away from where ``other`` shows it."""
        corners = (abs(self.left - other.left) + abs(self.top - other.top)) * self.scale
        stretch = abs(self.scale / other.scale - 1) * max(self.width, self.height)
        return self[3:] == other[3:] and corners + stretch < 1e-3

    def between(self, other: Camera, t: float) -> Camera:
        """A view on the way to ``other`` (t in 0..1), zooming evenly to the eye."""
        scale = self.scale ** (1 - t) * other.scale**t
        # The share of the way that moves is that of the visible width, so that the path looks straight.
        change = 1 / other.scale - 1 / self.scale
        share = t if abs(change) < 1e-9 else (1 / scale - 1 / self.scale) / change
        middle = self.rect.center() * (1 - share) + other.rect.center() * share
        return Camera(
            scale,
            middle.x() - other.width / scale / 2,
            middle.y() - other.height / scale / 2,
            other.width,
            other.height,
        )


def _least_move(low: float, high: float, seen_low: float, seen_high: float) -> float:
    """How far a view must move along one axis to show a stretch; its beginning where it is longer than the view."""
    if low < seen_low:
        return low - seen_low
    return max(0.0, min(high - seen_high, low - seen_low))


def beginning(
    bounds: NDArray[np.float64], window: tuple[float, float], *, is_sideways: bool = False
) -> tuple[float, float]:
    """The middle of what to look at first in a drawing that is larger than the window: never empty ground.

    That is where the drawing begins, at its top or at its left, and there the stretch that holds most boxes.

    Args:
        bounds: float64 [4, boxes], left, top, right and bottom of the boxes.
        window: width and height in the same units.
        is_sideways: the drawing runs from left to right.

    Returns:
        x and y, in the units of ``bounds``.
    """
    if not bounds.shape[1]:
        return 0.0, 0.0
    along = 0 if is_sideways else 1
    begin = bounds[along].min()
    first = np.flatnonzero(bounds[along] <= begin + window[along] / 2)
    densest = _densest((bounds[1 - along, first] + bounds[3 - along, first]) / 2, window[1 - along])
    return (float(begin), densest) if is_sideways else (densest, float(begin))


def _densest(places: NDArray[np.float64], span: float) -> float:
    """The middle of the first stretch of this length that holds most of some places."""
    places = np.sort(places)
    ends = np.searchsorted(places, places + span * 0.9, side="right")
    at = int(np.argmax(ends - np.arange(len(places))))
    return float(places[at] + places[ends[at] - 1]) / 2


def fit(
    extent: tuple[float, float], window: tuple[float, float], start: tuple[float, float], margin: float = MARGIN
) -> Camera:
    """The camera that shows a drawing, never below readable names.

    Args:
        extent: width and height of the drawing, in scene units.
        window: width and height of the window, in pixels.
        start: what is in the middle where the drawing is larger than the window; never so that less of it is seen.
        margin: pixels kept free at each side.
    """
    (width, height), (across, down) = extent, window
    inner_across, inner_down = max(across - 2 * margin, 1), max(down - 2 * margin, 1)
    scale = max(min(inner_across / max(width, 1e-9), inner_down / max(height, 1e-9), FIT_SCALE), READABLE_SCALE)
    left, top = (
        _first_edge(*one, margin / scale)
        for one in ((width, across / scale, start[0]), (height, down / scale, start[1]))
    )
    return Camera(scale, left, top, across, down)


def whole(extent: tuple[float, float], window: tuple[float, float]) -> Camera:
    """The camera that shows all of a drawing, however small; sizes as in ``fit``."""
    (width, height), (across, down) = extent, window
    room = MARGIN * max(width / max(across - 2 * MARGIN, 1), height / max(down - 2 * MARGIN, 1))
    return Camera.of_rect(QRectF(0, 0, width, height).adjusted(-room, -room, room, room), across, down)


def _first_edge(extent: float, seen: float, middle: float, margin: float) -> float:
    """Where a view of this length begins along one axis, all in scene units."""
    if extent <= seen - 2 * margin:
        return (extent - seen) / 2
    return min(max(middle - seen / 2, -margin), extent + margin - seen)
