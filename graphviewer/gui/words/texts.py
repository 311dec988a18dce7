"""Texts from files, made safe for the places where Qt would read more into them."""

from __future__ import annotations

from html import escape
from urllib.parse import quote


def tip(text: str) -> str:
    """A tooltip that shows ``text`` as it is: Qt takes a tooltip that looks like HTML for HTML."""
    return f"<qt>{escape(text)}</qt>".replace("\n", "<br>")


def link(kind: str, path: str, text: str | None = None) -> str:
    """A link to a ``node`` or ``scope``."""
    return f"<a href='{kind}:{quote(path, safe='')}'>{escape(path if text is None else text)}</a>"


def label(text: str) -> str:
    """A tab, menu or button text that shows ``text`` as it is: Qt takes ``&x`` for a shortcut."""
    return text.replace("&", "&&")
