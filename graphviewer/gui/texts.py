"""Texts from files, made safe for the places where Qt would read more into them."""

from __future__ import annotations

from html import escape


def tip(text: str) -> str:
    """A tooltip that shows ``text`` as it is: Qt takes a tooltip that looks like HTML for HTML."""
    return f"<qt>{escape(text)}</qt>".replace("\n", "<br>")


def label(text: str) -> str:
    """A tab, menu or button text that shows ``text`` as it is: Qt takes ``&x`` for a shortcut."""
    return text.replace("&", "&&")
