"""Texts from files, made safe for the places where Qt would read more into them."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from typing import Any
from urllib.parse import quote

_MOST_PARTS = 40


def tip(text: str) -> str:
    """A tooltip that shows ``text`` as it is: Qt takes a tooltip that looks like HTML for HTML."""
    return f"<qt>{escape(text)}</qt>".replace("\n", "<br>")


def link(kind: str, path: str, text: str | None = None) -> str:
    """A link to a ``node`` or ``scope``."""
    return f"<a href='{kind}:{quote(path, safe='')}'>{escape(path if text is None else text)}</a>"


def label(text: str) -> str:
    """A tab, menu or button text that shows ``text`` as it is: Qt takes ``&x`` for a shortcut."""
    return text.replace("&", "&&")


def shape_text(shape: Any) -> str:
    """A TensorShapeProto as ``[?, 28, 28, 1]``; ``?`` for unknown rank."""
    if shape.unknown_rank:
        return "?"
    return "[" + ", ".join("?" if dim.size < 0 else str(dim.size) for dim in shape.dim) + "]"


def shortened(path: str, fits: Callable[[str], bool]) -> str:
    """A path whose middle scopes are left out until it fits, ``net/…/unit2/conv``; the last try where none fits.

    Args:
        fits: whether a text has room.
    """
    parts = path.split("/")
    tails = range(2, len(parts)) if len(parts) <= _MOST_PARTS else range(len(parts) - _MOST_PARTS, len(parts))
    tries = (path, *("/".join((parts[0], "…", *parts[at:])) for at in tails))
    return next((text for text in tries if fits(text)), tries[-1])
