"""Bytes to Document and back: one module per format, found by content."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from graphviewer.errors import WriteError
from graphviewer.formats.checkpoint import data_files, find_checkpoint, index_problem, open_checkpoint, stem_of
from graphviewer.formats.locate import SAVED_MODELS, locate
from graphviewer.formats.paths import require_readable_kind, unreadable
from graphviewer.formats.registry import Options, writers
from graphviewer.formats.sniff import Sniffed, reader_for, sniff
from graphviewer.formats.source import open_source
from graphviewer.formats.table import checkpoint_document
from graphviewer.formats.writing import write_atomically
from graphviewer.model.document import Document
from graphviewer.model.problem import Problem
from graphviewer.model.progress import Progress, silent

__all__ = ["Sniffed", "open_document", "save_document", "sniff"]

_WITH_TAGS = frozenset({"savedmodel", "tfevents"})
_VARIABLE_OPS = frozenset({"Variable", "VariableV2", "VarHandleOp"})


def open_document(
    path: str | Path,
    *,
    checkpoint: str | Path | None = None,
    tags: Sequence[str] | None = None,
    salvage: bool = False,
    alone: bool = False,
    progress: Progress = silent,
) -> Document:
    """Open a file, a checkpoint by its prefix, or a folder; its content decides what it is, never its suffix.

    Opening runs nothing. What lies beside each other is put together: the checkpoint beside a graph with variables, the
    ``.meta`` beside a checkpoint.

    Args:
        checkpoint: prefix of the checkpoint to use in place of the one that lies beside the graph.
        tags: tag set of the graph to show, where a SavedModel has several.
        salvage: open the complete nodes of a damaged file, with a problem that says so.
        alone: open just what the path names: a checkpoint without its graph, a graph without its checkpoint.
        progress: told how far reading is; may raise Cancelled.

    Raises:
        ReadError: it cannot be opened; the message says what it is or where it breaks, the hint what to do. Kinds of
            it: DamagedError (``salvage`` helps), RunsCodeError (a Keras file), CheckpointError.
        CheckpointError: the checkpoint is missing or damaged.
    """
    path = Path(path)
    found = locate(path, alone=alone)
    given = _given(checkpoint) if checkpoint is not None else None
    if found.graph is None:
        document = checkpoint_document(found.checkpoint or path)
        return replace(document, title=path.name, checkpoint=given or document.checkpoint)
    with open_source(found.graph) as source:
        document = reader_for(source).read(source, Options(salvage, tags, progress))
    if tags is not None and document.kind not in _WITH_TAGS:
        document = replace(document, problems=(*document.problems, _without_tags(tags)))
    if given is None and _has_variables(document):
        beside = found.checkpoint or find_checkpoint(found.graph)
        given = None if alone else beside
        if beside is None or beside.parent != found.graph.parent:
            document = replace(document, problems=(*document.problems, *_without_index(found.graph)))
    in_folder = document.kind == "savedmodel" and found.graph.name in SAVED_MODELS
    shown = found.graph.parent if in_folder else found.graph
    return replace(document, path=shown, title=shown.resolve().name, checkpoint=given)


def _without_tags(tags: Sequence[str]) -> Problem:
    return Problem("no-tags", "info", f"The file holds one graph and no tags: '{','.join(tags)}' chose nothing.")


def _without_index(graph: Path) -> list[Problem]:
    """A problem where the data of a graph's checkpoint is there, and its index is not."""
    places = [stem_of(graph), graph.with_suffix("")]
    if graph.name in SAVED_MODELS:
        places = [graph.parent / "variables" / "variables"]
    lost = [place for place in places if not place.with_name(place.name + ".index").exists()]
    data = next((files[0] for files in map(data_files, lost) if files), None)
    return [] if data is None else [index_problem(data)]


def _given(checkpoint: str | Path) -> Path:
    """The prefix that the user's choice means."""
    require_readable_kind(Path(checkpoint))
    try:
        prefix = find_checkpoint(checkpoint)
    except OSError as error:
        raise unreadable(Path(checkpoint), error) from error
    return prefix if prefix is not None else open_checkpoint(checkpoint).prefix


def _has_variables(document: Document) -> bool:
    return any(node.op in _VARIABLE_OPS for node in document.graph_def.node)


def save_document(document: Document, path: str | Path, *, force: bool = False) -> None:
    """Write a document; the suffix chooses the format (``.pb``, ``.pbtxt``, ``.meta``).

    Raises:
        WriteError: unknown suffix, a file that is there (without ``force``), or it cannot be written; an old file is
            still intact.
        ReadError: the file that holds the document's large constants changed since it was opened.
    """
    path = Path(path)
    if document.kind == "checkpoint":
        raise WriteError(f"{document.title} is a checkpoint: it holds variables and no graph.", "Open the graph too.")
    found = writers().get(path.suffix.lower())
    if found is None:
        known = ", ".join(f"{each.suffix} ({each.label})" for each in writers().values())
        raise WriteError(f"'{path.suffix}' is no format that can be written.", f"Use one of {known}.")
    write_atomically(path, found.write(document), force=force)
