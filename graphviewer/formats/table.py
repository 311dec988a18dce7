"""Checkpoints as documents: no graph, but variables with shapes, so that info and the window can show them."""

from __future__ import annotations

from pathlib import Path

from graphviewer import protos
from graphviewer.formats.checkpoint import OBJECT_GRAPH_KEY, find_checkpoint, open_checkpoint
from graphviewer.formats.checkpoint.drawn import drawn_graph
from graphviewer.formats.registry import Options, reader
from graphviewer.formats.source import Source
from graphviewer.model.document import DRAWN, Document

VARIABLES = "variables"
_MAGIC = bytes.fromhex("57fb808b247547db")
_FOOTER = 48


def _recognise(source: Source) -> str | None:
    if source.size < _FOOTER or source.read(source.size - len(_MAGIC), len(_MAGIC)) != _MAGIC:
        return None
    return "index" if source.name.endswith(".index") else "table"


@reader(kind="checkpoint", label="checkpoint", rank=10, recognise=_recognise)
def read_checkpoint(source: Source, options: Options) -> Document:
    """The checkpoint that an index or a V1 table belongs to.

    Raises:
        CheckpointError: damaged or incomplete.
    """
    return checkpoint_document(find_checkpoint(source.path) or source.path)


def checkpoint_document(prefix: Path) -> Document:
    """A document without nodes; ``extra["variables"]`` maps each key to its shape, ``unfolded`` draws them.

    Raises:
        CheckpointError: its index is damaged or missing.
    """
    checkpoint = open_checkpoint(prefix)
    shapes = {
        key: tuple(checkpoint.shape(key))
        for key in checkpoint.keys()  # noqa: SIM118 - a list in the order of the index, by contract
        if key != OBJECT_GRAPH_KEY
    }
    problems = tuple(checkpoint.file_problems())
    extra = {VARIABLES: shapes, DRAWN: lambda: drawn_graph(checkpoint)}
    return Document("checkpoint", protos.GraphDef(), path=prefix, checkpoint=prefix, problems=problems, extra=extra)
