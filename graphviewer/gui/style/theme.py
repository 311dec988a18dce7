"""Colours, font and icons of the window: tokens in resources/themes, read once, used by Qt and by the canvas."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

from PySide6.QtCore import QByteArray, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontDatabase, QGuiApplication, QIcon, QPainter, QPalette, QPixmap
from PySide6.QtWidgets import QApplication

from graphviewer.gui.style.stylesheet import stylesheet
from graphviewer.resources import resource

THEMES = ("light", "dark")
FONT_FILES = ("fonts/DejaVuSans.ttf", "fonts/DejaVuSans-Bold.ttf")
FONT_FAMILY = "DejaVu Sans"

FALLBACK_FAMILIES = (
    "Noto Sans CJK SC",
    "Noto Sans SC",
    "Source Han Sans SC",
    "PingFang SC",
    "Microsoft YaHei",
    "Hiragino Sans",
    "WenQuanYi Micro Hei",
    "Noto Sans",
)
"""Families asked, in this order, for what DejaVu Sans lacks (Chinese, Japanese, Korean)."""

ICON_SIZES = (16, 20, 32, 48)


class CategoryColors(NamedTuple):
    """The colours of one category of an overlay."""

    mark: QColor
    fill: QColor
    edge: QColor
    text: QColor


@dataclass(frozen=True, eq=False)
class Theme:
    """Named colours.

    Attributes:
        name: ``light`` or ``dark``.
        tokens: colour by dotted name: ``canvas.background``, ``roles.gradient.fill``.
    """

    name: str
    tokens: Mapping[str, QColor]

    @property
    def is_dark(self) -> bool:
        """Light text on a dark ground."""
        return self.name == "dark"

    def color(self, token: str) -> QColor:
        """The colour of a token; a category without a field (``roles.gradient``) means its ``mark``.

        Raises:
            KeyError: no such token.
        """
        found = self.tokens.get(token)
        return QColor(found if found is not None else self.tokens[f"{token}.mark"])

    def category(self, kind: str, name: str) -> CategoryColors:
        """The colours of ``name`` in overlays of ``kind``; those of a plain node where the theme has none."""
        prefix = f"{kind}.{name}"
        if f"{prefix}.mark" in self.tokens:
            return CategoryColors(*(self.color(f"{prefix}.{field}") for field in CategoryColors._fields))
        fields = ("window.accent", "canvas.box", "canvas.box_edge", "canvas.text")
        return CategoryColors(*map(self.color, fields))

    @cached_property
    def stylesheet(self) -> str:
        """The Qt stylesheet of the window (for the Fusion style)."""
        return stylesheet(self)

    @cached_property
    def palette(self) -> QPalette:
        """The Qt palette of the window, for what no stylesheet reaches."""
        role = QPalette.ColorRole
        palette = QPalette()
        for target, token in {
            role.Window: "background",
            role.WindowText: "text",
            role.Base: "surface",
            role.AlternateBase: "raised",
            role.Text: "text",
            role.PlaceholderText: "muted",
            role.Button: "raised",
            role.ButtonText: "text",
            role.BrightText: "error",
            role.Highlight: "accent",
            role.HighlightedText: "accent_text",
            role.Accent: "accent",
            role.Link: "link",
            role.LinkVisited: "link",
            role.ToolTipBase: "tooltip",
            role.ToolTipText: "tooltip_text",
            role.Light: "raised",
            role.Midlight: "hover",
            role.Mid: "border",
            role.Dark: "border_strong",
            role.Shadow: "border_strong",
        }.items():
            palette.setColor(target, self.color(f"window.{token}"))
        for target in (role.WindowText, role.Text, role.ButtonText):
            palette.setColor(QPalette.ColorGroup.Disabled, target, self.color("window.border_strong"))
        return palette


def _flatten(table: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    for key, value in table.items():
        if isinstance(value, Mapping):
            yield from _flatten(value, f"{prefix}{key}.")
        else:
            yield prefix + key, value


@lru_cache(maxsize=len(THEMES))
def load_theme(name: str) -> Theme:
    """The theme of a name in ``THEMES``.

    Raises:
        ValueError: the file holds a text that is no colour.
    """
    table = tomllib.loads(resource(f"themes/{name}.toml").read_text("utf-8"))
    tokens = {token: QColor(text) for token, text in _flatten(table)}
    if wrong := [token for token, color in tokens.items() if not color.isValid()]:
        raise ValueError(f"themes/{name}.toml: no colour: {', '.join(wrong)}")
    return Theme(name, tokens)


def choose_theme(setting: str = "system") -> Theme:
    """The theme for a setting: ``light``, ``dark``, or ``system`` for what the desktop prefers."""
    if setting in THEMES:
        return load_theme(setting)
    scheme = QGuiApplication.styleHints().colorScheme()
    return load_theme("dark" if scheme == Qt.ColorScheme.Dark else "light")


def apply_theme(app: QApplication, theme: Theme) -> None:
    """Dress the whole application: Fusion style, palette, stylesheet.

    Another stylesheet in the place of one makes Qt dress each widget as often as it has parents, which takes twice as
    long as none and then the other. Nothing is painted in between.
    """
    if app.styleSheet() == theme.stylesheet:
        return
    app.setStyleSheet("")
    if app.style().name() != "fusion":
        app.setStyle("Fusion")
    app.setPalette(theme.palette)
    app.setStyleSheet(theme.stylesheet)


def load_font(pixel_size: int = 13) -> QFont:
    """The bundled font with fallbacks for other scripts; the system's own where the files are missing."""
    _register_fonts()
    font = QFont()
    font.setFamilies([FONT_FAMILY, *FALLBACK_FAMILIES])
    font.setPixelSize(pixel_size)
    font.setStyleStrategy(QFont.StyleStrategy.PreferAntialias)
    return font


@lru_cache(maxsize=1)
def _register_fonts() -> None:
    for file in FONT_FILES:
        try:
            QFontDatabase.addApplicationFont(str(resource(file)))
        except FileNotFoundError:
            return


def icon(name: str, theme: Theme, token: str = "window.text") -> QIcon:
    """The icon resources/icons/``name``.svg, its ``currentColor`` replaced by a colour of the theme.

    Raises:
        FileNotFoundError: no icon has this name.
    """
    found = QIcon()
    states = {QIcon.Mode.Normal: token, QIcon.Mode.Disabled: "window.border_strong"}
    for mode, colour in states.items():
        for size in ICON_SIZES:
            found.addPixmap(tinted(name, theme.color(colour), size), mode)
    return found


def tinted(name: str, color: QColor, size: int) -> QPixmap:
    """One icon as a square of ``size`` pixels in one colour."""
    return QPixmap(_drawn(name, color.name(), size))


@lru_cache(maxsize=1024)
def _drawn(name: str, color: str, size: int) -> QPixmap:
    """An icon, drawn once: switching the theme shows every one again."""
    from PySide6.QtSvg import QSvgRenderer

    text = resource(f"icons/{name}.svg").read_text("utf-8").replace("currentColor", color)
    pixmap = QPixmap(size, size)
    pixmap.fill(Qt.GlobalColor.transparent)
    with QPainter(pixmap) as painter:
        QSvgRenderer(QByteArray(text.encode())).render(painter, QRectF(0, 0, size, size))
    return pixmap
