"""SavedModel: ``saved_model.pb`` or ``.pbtxt``, one or several MetaGraphDefs told apart by their tags."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from graphviewer.errors import ReadError
from graphviewer.formats.decode import Loaded, damaged, skipped
from graphviewer.formats.metagraph import document_of, load_meta_graph
from graphviewer.formats.recognise import looks_like_graph, looks_like_saved_model
from graphviewer.formats.registry import Options, reader
from graphviewer.formats.source import Source
from graphviewer.formats.text import first_field, parse_text
from graphviewer.formats.wire import BYTES, Truncated, WireError, walk
from graphviewer.model.document import Document

METAGRAPHS = "metagraphs"
SERVE = "serve"
_META_GRAPHS = 2


@dataclass(frozen=True)
class MetaGraphInfo:
    """One MetaGraphDef of a SavedModel; ``document.extra["metagraphs"]`` lists them all in file order.

    Attributes:
        tags: its tag set, sorted; ``tags=`` of ``open_document`` chooses by it.
        shown: it is the one in the document.
        nodes, edges, ops: of the graph, without function bodies.
        functions: in the library.
        signatures: keys of its SignatureDefs.
    """

    tags: tuple[str, ...]
    shown: bool
    nodes: int
    edges: int
    functions: int
    ops: Mapping[str, int]
    signatures: tuple[str, ...]


def _recognise(source: Source) -> str | None:
    if looks_like_graph(source, 0, source.size):
        return None
    return "" if looks_like_saved_model(source) else None


def _recognise_text(source: Source) -> str | None:
    return "text" if first_field(source) in {"saved_model_schema_version", "meta_graphs"} else None


@reader(kind="savedmodel", label="SavedModel", rank=32, recognise=_recognise)
def read_savedmodel(source: Source, options: Options) -> Document:
    """Parse a binary SavedModel: the MetaGraphDef with the tags asked for, else the only one, else the one to serve.

    Raises:
        ReadError: damaged (with the byte offset), or no MetaGraphDef with these tags; the hint lists those there are.
    """
    found = _load_all(source, options)
    if not found:
        raise ReadError(f"{source.name} is a SavedModel without a graph.", "Export the model again.")
    tag_sets = [_tags(meta) for _, meta in found]
    chosen = _choose(source, tag_sets, options.tags)
    loaded, meta = found[chosen]
    infos = tuple(_info(*each, shown=number == chosen) for number, each in enumerate(found))
    return document_of("savedmodel", loaded, meta, source, extra={METAGRAPHS: infos})


@reader(kind="savedmodel", label="SavedModel text", rank=22, recognise=_recognise_text)
def read_savedmodel_text(source: Source, options: Options) -> Document:
    """Parse a text SavedModel.

    Raises:
        ReadError: broken, with line and column.
    """
    raw = parse_text(source, "SavedModel", options.progress)
    return read_savedmodel.read(Source.of_bytes(raw, source.path), options)


def _load_all(source: Source, options: Options) -> list[tuple[Loaded, Any]]:
    found: list[tuple[Loaded, Any]] = []
    try:
        for part in walk(source, 0, source.size):
            if part.number == _META_GRAPHS and part.wire == BYTES:
                found.append(load_meta_graph(source, part.begin, part.end, options))
    except WireError as error:
        cut = error.field if isinstance(error, Truncated) else None
        if cut is not None and cut.number == _META_GRAPHS:
            found.append(load_meta_graph(source, cut.begin, cut.end, options))
        if not options.salvage or not found:
            raise damaged(source, error, sum(len(loaded.graph_def.node) for loaded, _ in found)) from error
        last = found[-1][0]
        if not last.problems:  # the graph inside has said so already
            last.problems.append(skipped(source, error, len(last.graph_def.node)))
    return found


def _tags(meta: Any) -> tuple[str, ...]:
    return tuple(sorted(meta.meta_info_def.tags))


def _choose(source: Source, tag_sets: Sequence[tuple[str, ...]], wanted: Sequence[str] | None) -> int:
    """Which MetaGraphDef to show."""
    if wanted is not None:
        key = tuple(sorted(wanted))
        if key not in tag_sets:
            listed = "; ".join(", ".join(tags) or "(no tags)" for tags in tag_sets)
            raise ReadError(f"{source.name} has no graph with the tags {', '.join(key)}.", f"There are: {listed}.")
        return tag_sets.index(key)
    preference = [tags == (SERVE,) for tags in tag_sets], [SERVE in tags for tags in tag_sets]
    return next((choice.index(True) for choice in preference if True in choice), 0)


def _info(loaded: Loaded, meta: Any, *, shown: bool) -> MetaGraphInfo:
    graph = loaded.graph_def
    ops = Counter(node.op for node in graph.node)
    edges = sum(len(node.input) for node in graph.node)
    signatures = tuple(sorted(meta.signature_def))
    return MetaGraphInfo(_tags(meta), shown, len(graph.node), edges, len(graph.library.function), ops, signatures)
