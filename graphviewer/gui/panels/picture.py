"""An array as an image, each value a square of its own when it is enlarged."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QImage, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from graphviewer.gui.panels.tensor_parts import Picture
from graphviewer.gui.style.theme import Theme

_MARGIN = 4.0


class PictureView(QWidget):
    """Paints a picture as large as there is room, without smoothing where it is enlarged."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.image = QImage()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)

    def sizeHint(self) -> QSize:
        return QSize(200, 140)

    def minimumSizeHint(self) -> QSize:
        return QSize(60, 40)

    def set_theme(self, theme: Theme) -> None:
        """Paint the frame in another colour."""
        self._theme = theme
        self.update()

    def show_picture(self, picture: Picture | None) -> None:
        """Show other pixels, or none."""
        self.image = QImage()
        if picture is not None:
            height, width = picture.pixels.shape[:2]
            is_grey = picture.pixels.ndim == 2
            kind = QImage.Format.Format_Grayscale8 if is_grey else QImage.Format.Format_RGB888
            stride = width if is_grey else 3 * width
            self.image = QImage(picture.pixels.tobytes(), width, height, stride, kind).copy()  # of memory of its own
        self.update()

    def scale(self) -> float:
        """Pixels of the screen per pixel of the picture: a whole number where it is enlarged, so that all are alike."""
        room = self.rect().adjusted(int(_MARGIN), int(_MARGIN), -int(_MARGIN), -int(_MARGIN))
        found = min(room.width() / self.image.width(), room.height() / self.image.height())
        return float(int(found)) if found >= 1 else max(found, 0.0)

    def paintEvent(self, event: QPaintEvent) -> None:
        if self.image.isNull():
            return
        scale = self.scale()
        area = QRectF(0, 0, self.image.width() * scale, self.image.height() * scale)
        area.moveCenter(QRectF(self.rect()).center())
        area.moveTo(round(area.left()), round(area.top()))
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, scale < 1)
            painter.drawImage(area, self.image)
            painter.setPen(QPen(self._theme.color("window.border_strong"), 1))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(area.adjusted(-0.5, -0.5, 0.5, 0.5))
