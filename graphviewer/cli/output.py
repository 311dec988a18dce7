"""What reaches the terminal: escaped names, colour only where it is wanted, tables, one line of progress."""

from __future__ import annotations

import json
import os
import re
import sys
import textwrap
import time
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

import click

from graphviewer.cli.streams import drop

_UNSAFE = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff\ufff9-\ufffb]"
)
_SHORT = {"\n": "\\n", "\t": "\\t", "\r": "\\r"}
_ROW = "\n  "
_FIRST_PROGRESS = 0.3  # seconds; quicker work needs no progress line
_NEXT_PROGRESS = 0.1
_PIPE_WIDTH = 10_000  # results that go into a file or another program are never wrapped
_SHORT_LIST = 1_000  # entries
_LEAST_ROOM = 40  # columns for a text that wraps
_BELOW = "    "


def clean(text: str) -> str:
    """Text from a file without anything that a terminal obeys: control characters, direction marks, surrogates."""
    return _UNSAFE.sub(lambda found: _escape(found.group()), str(text))


def _escape(character: str) -> str:
    code = ord(character)
    return _SHORT.get(character) or (f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}")


def say(text: str = "") -> None:
    """A line of the result, on standard output; give names through ``clean`` first where you style them."""
    click.echo(text)


def styled(text: str, **style: Any) -> str:
    """Cleaned text in a style; the style is dropped where the output is no terminal."""
    return click.style(clean(text), **style)


def say_json(value: Mapping[str, Any]) -> None:
    """The result as one JSON document, in ASCII so that no name can steer the terminal; long lists entry by line."""
    click.echo("{\n" + ",\n".join(f"  {json.dumps(key)}: {_indented(one)}" for key, one in value.items()) + "\n}")


def _indented(value: Any) -> str:
    """A value of the outermost object as ``indent=2`` writes it, which is written in Python and slow for long lists."""
    if isinstance(value, list) and len(value) > _SHORT_LIST:
        return "[\n    " + ",\n    ".join(json.dumps(entry, allow_nan=False) for entry in value) + "\n  ]"
    return json.dumps(value, indent=2, allow_nan=False).replace("\n", "\n  ")


def note(text: str) -> None:
    """A message beside the result, on standard error."""
    _tell(styled(text, fg="yellow"))


def _tell(text: str, **how: Any) -> None:
    """Write on standard error, as far as that takes it: no work fails because nobody hears of it."""
    try:
        click.echo(text, err=True, **how)
    except OSError:
        drop(sys.stderr)


def say_error(message: str, hint: str = "") -> None:
    """One sentence and a hint, on standard error.

    The rows of a table keep their lines: they begin with two spaces, which is how they are told from a line break that
    comes with a name out of a file.
    """
    text = _ROW.join(map(clean, message.split(_ROW)))
    _tell(f"{click.style('graphviewer:', fg='red', bold=True)} {text}")
    if hint:
        _tell(clean(hint))


def shortened(text: str, longest: int = 60) -> str:
    """A cleaned name that fits on a line: of a longer one, its beginning and end."""
    whole = clean(text)
    return whole if len(whole) <= longest else f"{whole[: longest // 2]}…{whole[-(longest // 2 - 1) :]}"


def number(value: int) -> str:
    """``1736`` as ``1,736``."""
    return f"{value:,}"


def size(count: int) -> str:
    """Bytes as people read them."""
    amount = float(count)
    for unit in ("B", "kB", "MB", "GB"):
        if amount < 1000 or unit == "GB":
            break
        amount /= 1000
    return f"{amount:.0f} {unit}" if unit == "B" or amount >= 100 else f"{amount:.1f} {unit}"


def counted(count: int, noun: str) -> str:
    """``1 node``, ``2 nodes``."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """A table whose last column wraps at the width of the terminal; numbers, as told by their header, go right.

    On a terminal too narrow for that, the text of the last column stands below each row.

    Args:
        columns: headers; one that starts with ``>`` is aligned right.
        rows: texts, cleaned here.
    """
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    screen = Console().width if sys.stdout.isatty() else _PIPE_WIDTH
    below: list[str] = []
    room = screen - _width_before_last(columns, rows)
    if room < _LEAST_ROOM and any(width(row[-1]) > room for row in rows):
        below = [row[-1] for row in rows]
        columns, rows = columns[:-1], [row[:-1] for row in rows]
    grid = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for name in columns:
        last = name is columns[-1]
        grid.add_column(
            name.lstrip(">"),
            justify="right" if name[:1] == ">" else "left",
            overflow="fold",
            no_wrap=not last or bool(below),
        )
    for row in rows:
        grid.add_row(*(Text(clean(cell)) for cell in row))
    console = Console(width=_PIPE_WIDTH if below else screen, highlight=False, emoji=False, markup=False)
    with console.capture() as printed:
        console.print(grid)
    for number, line in enumerate(printed.get().splitlines()):
        click.echo(line.rstrip())
        if number and below:
            _say_below(below[number - 1], screen)


def _width_before_last(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> int:
    """Columns of the terminal that all but the last column of a table take, with the gaps after them."""
    widest = [max(map(width, map(clean, cells))) for cells in zip(columns, *rows, strict=True)]
    return sum(widest[:-1]) + 2 * (len(widest) - 1)


def _say_below(text: str, most: int) -> None:
    lines = textwrap.wrap(clean(text), max(most, 2 * len(_BELOW)), initial_indent=_BELOW, subsequent_indent=_BELOW)
    for line in lines:
        click.echo(line)


def width(text: str) -> int:
    """Columns that a text takes on a terminal; ideographs take two."""
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in text)


class ProgressLine:
    """Progress of the work as one line that is written over, on standard error, only on a terminal."""

    def __init__(self) -> None:
        self._next = time.monotonic() + _FIRST_PROGRESS
        self._shown = False
        self._wanted = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"

    def __call__(self, fraction: float, message: str) -> None:
        """Show how far the work is, at most ten times a second."""
        now = time.monotonic()
        if self._wanted and now >= self._next:
            self._next = now + _NEXT_PROGRESS
            self._shown = True
            _tell(f"\r\x1b[K{fraction:4.0%} {clean(message)[:70]}", nl=False, color=True)

    def __enter__(self) -> ProgressLine:
        return self

    def __exit__(self, *_: object) -> None:
        if self._shown:
            _tell("\r\x1b[K", nl=False, color=True)
