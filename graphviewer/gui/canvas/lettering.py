"""Texts on the canvas: made harmless, elided in the middle, measured once, drawn at any scale."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter

BASE = 16
"""Pixels per em of the font that texts are measured in; unhinted, so that widths are in proportion at every size."""

LONGEST = 240
"""Letters looked at: a name of megabytes is cut in its middle before it is measured."""

CAPITAL = 0.73
"""Height of a capital letter in ems; a baseline this far below the top of a text, halved, centres it."""

_CACHED, _LATIN = 60_000, 0x180


def harmless(text: str) -> str:
    """A name on one line, without control or direction-changing characters, cut in its middle when it is very long."""
    if len(text) > LONGEST:
        half = LONGEST // 2
        text = f"{text[:half]}…{text[-half:]}"
    return text if text.isprintable() else "".join(c if c.isprintable() else "�" for c in text)


class Fitted(NamedTuple):
    """A text that fits, and its width in ems."""

    text: str
    width: float


class Lettering:
    """The canvas's font at any size, with a memory of what fits where.

    Not for use by two threads at a time.
    """

    def __init__(self, font: QFont) -> None:
        self._fonts = [QFont(font), QFont(font)]
        self._fonts[1].setBold(True)
        for one in self._fonts:
            one.setPixelSize(BASE)
            one.setHintingPreference(QFont.HintingPreference.PreferNoHinting)
            one.setKerning(False)
            strategy = QFont.StyleStrategy
            one.setStyleStrategy(strategy.PreferAntialias | strategy.NoSubpixelAntialias)
        self._metrics = [QFontMetricsF(one) for one in self._fonts]
        letters = [chr(code) for code in range(_LATIN)]
        self._advances = [np.array([*map(metrics.horizontalAdvance, letters)]) / BASE for metrics in self._metrics]
        self._fitted: dict[tuple[str, int, bool], Fitted] = {}

    def font(self, *, bold: bool) -> QFont:
        """The font of size ``BASE``, to paint with under a scaled painter."""
        return self._fonts[bold]

    def fit(self, text: str, ems: float, bold: bool = False) -> Fitted:
        """``text`` in at most ``ems`` (rounded down to eighths), elided in the middle; empty where nothing fits."""
        key = (text, int(ems * 8), bold)
        found = self._fitted.get(key)
        if found is None:
            if len(self._fitted) > _CACHED:
                self._fitted.clear()
            found = self._fitted[key] = self._fit(harmless(text), int(ems * 8) / 8, bold)
        return found

    def _fit(self, text: str, ems: float, bold: bool) -> Fitted:
        metrics = self._metrics[bold]
        width = metrics.horizontalAdvance(text) / BASE
        if width <= ems:
            return Fitted(text, width)
        text = metrics.elidedText(text, Qt.TextElideMode.ElideMiddle, ems * BASE)
        width = metrics.horizontalAdvance(text) / BASE
        return Fitted(text, width) if width <= ems and text.strip("…") else Fitted("", 0.0)

    def advances(self, *, bold: bool) -> NDArray[np.float64]:
        """float64 [_LATIN]: the width in ems of each character up to U+017F."""
        return self._advances[bold]


class Writing:
    """Texts of one frame, gathered by size and colour so that the painter's state changes seldom."""

    def __init__(self, lettering: Lettering) -> None:
        self.lettering = lettering
        self._lines: dict[tuple[float, int, bool], list[tuple[float, float, str]]] = {}

    def add(self, x: float, y: float, text: str, pixels: float, color: QColor, bold: bool = False) -> None:
        """Write ``text`` from (x, baseline y)."""
        if text:
            self._lines.setdefault((pixels, color.rgba(), bold), []).append((x, y, text))

    def draw(self, painter: QPainter) -> None:
        """Draw all that was added, and forget it."""
        base = painter.transform()
        for (pixels, rgba, bold), lines in self._lines.items():
            scale = pixels / BASE
            painter.setFont(self.lettering.font(bold=bold))
            painter.setPen(QColor.fromRgba(rgba))
            painter.scale(scale, scale)
            for x, y, text in lines:
                painter.drawText(QPointF(x / scale, y / scale), text)
            painter.setTransform(base)
        self._lines.clear()
