"""Files that jobs open, kept for the next question about them, and the outputs that are asked about."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from graphviewer.formats import open_document
from graphviewer.model.document import Document
from graphviewer.model.endpoints import endpoints_named
from graphviewer.model.progress import Progress

if TYPE_CHECKING:
    from graphviewer.analysis.endpoints import Taken


def opened(path: str, checkpoint: str | None, progress: Progress, tags: Sequence[str] | None = None) -> Document:
    """Open a file, or take it from the last ones opened when it has not changed: questions come in groups."""
    progress(0.0, f"reading {Path(path).name}")
    stamps = [(one.st_size, one.st_mtime_ns) for one in _statuses(Path(path))]
    return _kept(path, checkpoint, None if tags is None else tuple(tags), tuple(stamps))


def _statuses(path: Path) -> Iterator[os.stat_result]:
    """Of what a path names: a file or folder, or the index of a checkpoint that is named by its prefix."""
    for place in (path, path.with_name(path.name + ".index")):
        if place.exists():
            yield place.stat()


@lru_cache(maxsize=2)
def _kept(
    path: str, checkpoint: str | None, tags: tuple[str, ...] | None, stamps: tuple[tuple[int, int], ...]
) -> Document:
    return open_document(path, checkpoint=checkpoint, tags=tags)


def chosen_outputs(document: Document, names: Sequence[str]) -> Taken:
    """The chosen outputs, without a sentence, or those that count where nobody chose.

    Raises:
        UnknownNameError: a name means no node.
        NoOutputError: none was chosen and none suggests itself.
    """
    from graphviewer.analysis import endpoints

    if not names:
        return endpoints.take_outputs(document)
    return endpoints.Taken(tuple(endpoints_named(document, names, "outputs")), "")
