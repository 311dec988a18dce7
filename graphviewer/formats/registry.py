"""Which formats can be read and written: one module of this package per format, found by looking.

A format is added by dropping a module here that declares ``@reader`` and, where it can be written, ``@writer``.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from graphviewer.formats.source import Source
from graphviewer.model.document import Document
from graphviewer.model.progress import Progress, silent


@dataclass(frozen=True)
class Options:
    """How to read.

    Attributes:
        salvage: open the complete nodes of a damaged file instead of refusing it.
        tags: tag set of the MetaGraph to open, where a file has several; None: the only one, or the one to serve.
    """

    salvage: bool = False
    tags: Sequence[str] | None = None
    progress: Progress = silent


Read = Callable[[Source, Options], Document]
Recognise = Callable[[Source], str | None]
Write = Callable[[Document], Iterator[bytes]]


@dataclass(frozen=True)
class Reader:
    """One kind of content.

    Attributes:
        kind: the word that scripts see.
        label: the words that people see.
        rank: place in the order of asking; recognisers that look at magic bytes come before those that guess.
        recognise: a detail (may be empty) when the content is of this kind, else None; never raises on hostile bytes.
        read: content -> Document.
    """

    kind: str
    label: str
    rank: int
    recognise: Recognise
    read: Read


@dataclass(frozen=True)
class Writer:
    """One way to save: the suffix that chooses it, and the bytes in pieces, so that none is ever in memory whole."""

    suffix: str
    label: str
    write: Write


def reader(*, kind: str, label: str, rank: int, recognise: Recognise) -> Callable[[Read], Reader]:
    """Declare the decorated function as the reader of a kind of content."""
    return lambda read: Reader(kind, label, rank, recognise, read)


def writer(*, suffix: str, label: str) -> Callable[[Write], Writer]:
    """Declare the decorated function as the writer behind a suffix."""
    return lambda write: Writer(suffix, label, write)


def _declared(kind: type[Any]) -> Iterator[Any]:
    package = Path(__file__).parent
    for module in sorted(info.name for info in pkgutil.iter_modules([str(package)]) if not info.ispkg):
        found = vars(import_module(f"graphviewer.formats.{module}")).values()
        yield from (value for value in found if isinstance(value, kind))


@cache
def readers() -> tuple[Reader, ...]:
    """All readers, in the order in which their recognisers are asked."""
    return tuple(sorted(dict.fromkeys(_declared(Reader)), key=lambda found: (found.rank, found.kind)))


@cache
def writers() -> dict[str, Writer]:
    """All writers by suffix."""
    return {found.suffix: found for found in _declared(Writer)}
