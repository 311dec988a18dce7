"""Texts from files, made safe for the places where Qt would read more into them."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import escape
from typing import Any
from urllib.parse import quote

_MOST_PARTS = 40

LONGEST_NAME, LONGEST_TEXT = 120, 2_000
"""Characters of a name, and of a text with names in it, that are shown: files hold names of thousands."""

_LONGEST_READ = 20_000  # characters at either end of a text; more are not looked at
_LONG_WORD = re.compile(rf"\S{{{LONGEST_NAME + 1},}}")


def elided(name: str, most: int = LONGEST_NAME) -> str:
    """A name of at most ``most`` characters: without its middle scopes, or else without its middle letters."""
    if len(name) <= most:
        return name
    first, _, rest = name.partition("/")
    room = most - len(first) - len("/…")
    tail = rest[-room:] if room > most // 2 else ""
    if "/" in tail:
        return f"{first}/…{tail[tail.index('/') :]}"
    half = (most - 1) // 2
    return f"{name[:half]}…{name[-half:]}"


def readable(text: str) -> str:
    """A sentence whose long names are elided, and which itself is not endless."""
    if len(text) > 2 * _LONGEST_READ:
        text = f"{text[:_LONGEST_READ]}…{text[-_LONGEST_READ:]}"
    text = _LONG_WORD.sub(lambda found: elided(found[0]), text)
    return text if len(text) <= LONGEST_TEXT else f"{text[: LONGEST_TEXT - 1]}…"


def escaped(text: str) -> str:
    """HTML that shows a text from a file: escaped, and readable."""
    return escape(readable(text))


def tip(text: str) -> str:
    """A tooltip that shows ``text`` as it is: Qt takes a tooltip that looks like HTML for HTML."""
    return f"<qt>{escaped(text)}</qt>".replace("\n", "<br>")


def link(kind: str, path: str, text: str | None = None) -> str:
    """A link to a ``node`` or ``scope``."""
    return f"<a href='{kind}:{quote(path, safe='')}'>{escape(elided(path if text is None else text))}</a>"


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
