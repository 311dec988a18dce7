"""What is this file? Its content decides, never its suffix: a ``.pbtxt`` may be binary, a ``.pb`` text."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from graphviewer.errors import ReadError, RunsCodeError
from graphviewer.formats.foreign import Foreign, by_magic, by_structure
from graphviewer.formats.registry import Reader, readers
from graphviewer.formats.source import Source, open_source


class Sniffed(NamedTuple):
    """What a file is.

    Attributes:
        kind: as in ``Document.kind``; ``foreign`` for what cannot be opened.
        detail: more about it, or what the foreign file is; may be empty.
    """

    kind: str
    detail: str = ""


def sniff(path: str | Path) -> Sniffed:
    """What a file is, from its first and last bytes and its first fields (under 1 ms).

    Raises:
        ReadError: it cannot be read at all.
    """
    with open_source(Path(path)) as source:
        found = identify(source)
    if isinstance(found, Foreign):
        return Sniffed("foreign", found.what)
    return Sniffed(found[0].kind, found[1])


def identify(source: Source) -> tuple[Reader, str] | Foreign:
    """The reader for a source and a detail, or what the source is instead."""
    foreign = by_magic(source)
    if foreign is not None:
        return foreign
    for candidate in readers():
        detail = candidate.recognise(source)
        if detail is not None:
            return candidate, detail
    return by_structure(source)


def reader_for(source: Source) -> Reader:
    """The reader for a source.

    Raises:
        ReadError: none; the message says what the file is and the hint what to do with it.
        RunsCodeError: none, but its library could load it.
    """
    found = identify(source)
    if isinstance(found, Foreign):
        kind = RunsCodeError if found.runs_code else ReadError
        raise kind(f"{source.name} is {found.what}.", found.hint)
    return found[0]
