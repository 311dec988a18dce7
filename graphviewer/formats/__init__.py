"""Bytes to Document and back: one module per format, found by content."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from graphviewer.errors import WriteError
from graphviewer.formats.registry import Options, writers
from graphviewer.formats.sniff import Sniffed, reader_for, sniff
from graphviewer.formats.source import open_source
from graphviewer.formats.writing import write_atomically
from graphviewer.model.document import Document
from graphviewer.model.progress import Progress, silent

__all__ = ["Sniffed", "open_document", "save_document", "sniff"]


def open_document(
    path: str | Path,
    *,
    checkpoint: str | Path | None = None,
    tags: Sequence[str] | None = None,
    salvage: bool = False,
    progress: Progress = silent,
) -> Document:
    """Open a file."""
    path = Path(path)
    with open_source(path) as source:
        document = reader_for(source).read(source, Options(salvage, tags, progress))
    return replace(document, path=path, title=path.name, checkpoint=Path(checkpoint) if checkpoint else None)


def save_document(document: Document, path: str | Path, *, force: bool = False) -> None:
    """Write a document; the suffix chooses the format (``.pb``, ``.pbtxt``, ``.meta``).

    Raises:
        WriteError: unknown suffix, a file that is there (without ``force``), or it cannot be written; an old file is
            still intact.
        ReadError: the file that holds the document's large constants changed since it was opened.
    """
    path = Path(path)
    found = writers().get(path.suffix.lower())
    if found is None:
        known = ", ".join(f"{each.suffix} ({each.label})" for each in writers().values())
        raise WriteError(f"'{path.suffix}' is no format that can be written.", f"Use one of {known}.")
    write_atomically(path, found.write(document), force=force)
