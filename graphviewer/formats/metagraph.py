"""MetaGraphDef: ``.meta`` files, a graph with its saver, collections and signatures; binary and text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from google.protobuf.message import DecodeError

from graphviewer import protos
from graphviewer.formats.decode import Loaded, damaged, load_graph, no_versions, skipped
from graphviewer.formats.encode import encode_graph, graph_size
from graphviewer.formats.recognise import looks_like_graph, looks_like_meta_graph
from graphviewer.formats.registry import Options, reader, writer
from graphviewer.formats.source import Source
from graphviewer.formats.text import first_field, parse_text
from graphviewer.formats.wire import BYTES, Truncated, WireError, header, walk
from graphviewer.model.document import Document

GRAPH_DEF = 2
_FIELDS = {
    "meta_info_def",
    "graph_def",
    "saver_def",
    "collection_def",
    "signature_def",
    "asset_file_def",
    "object_graph_def",
}


def _recognise(source: Source) -> str | None:
    if looks_like_graph(source, 0, source.size):
        return None
    return "" if looks_like_meta_graph(source, 0, source.size) else None


def _recognise_text(source: Source) -> str | None:
    return "text" if first_field(source) in _FIELDS else None


@reader(kind="metagraph", label="MetaGraphDef", rank=31, recognise=_recognise)
def read_metagraph(source: Source, options: Options) -> Document:
    """Parse a binary MetaGraphDef.

    Raises:
        ReadError: damaged, with the byte offset.
    """
    loaded, meta = load_meta_graph(source, 0, source.size, options)
    return document_of("metagraph", loaded, meta, source)


@reader(kind="metagraph", label="MetaGraphDef text", rank=21, recognise=_recognise_text)
def read_metagraph_text(source: Source, options: Options) -> Document:
    """Parse a text MetaGraphDef.

    Raises:
        ReadError: broken, with line and column.
    """
    raw = parse_text(source, "MetaGraphDef", options.progress)
    return read_metagraph.read(Source.of_bytes(raw, source.path), options)


def document_of(kind: str, loaded: Loaded, meta: Any, source: Source, **more: Any) -> Document:
    """A document around a MetaGraphDef that was read in parts."""
    problems = (*loaded.problems, *no_versions(loaded.graph_def))
    payloads = loaded.left_in(source)
    return Document(kind, loaded.graph_def, meta=meta, payloads=payloads, problems=problems, **more)


def load_meta_graph(source: Source, begin: int, end: int, options: Options) -> tuple[Loaded, Any]:
    """The graph of the MetaGraphDef in ``begin:end``, and the MetaGraphDef without it.

    Raises:
        ReadError: damaged, with the byte offset; ``options.salvage`` opens the complete nodes with a problem instead.
    """
    loaded, meta = Loaded(), protos.MetaGraphDef()
    position = begin
    try:
        for part in walk(source, begin, end):
            position = part.start
            if part.number == GRAPH_DEF and part.wire == BYTES:
                loaded = load_graph(source, part.begin, part.end, options)
            else:
                meta.MergeFromString(source.read(part.start, part.end - part.start))
    except (WireError, DecodeError) as error:
        fault = error if isinstance(error, WireError) else WireError(position, "a field does not parse")
        cut = fault.field if isinstance(fault, Truncated) else None
        if cut is not None and cut.number == GRAPH_DEF:
            loaded = load_graph(source, cut.begin, cut.end, options)
        if not options.salvage:
            raise damaged(source, fault, len(loaded.graph_def.node)) from error
        if not loaded.problems:  # the graph inside has said so already
            loaded.problems.append(skipped(source, fault, len(loaded.graph_def.node)))
    return loaded, meta


@writer(suffix=".meta", label="MetaGraphDef, binary")
def write_metagraph(document: Document) -> Iterator[bytes]:
    """The graph with its saver, collections and signatures.

    Raises:
        ReadError: the file that holds the large constants changed since it was opened.
    """
    info, rest = protos.MetaGraphDef(), protos.MetaGraphDef()
    if document.meta is not None:
        info.meta_info_def.CopyFrom(document.meta.meta_info_def)
        rest.CopyFrom(document.meta)
        rest.ClearField("meta_info_def")
        rest.ClearField("graph_def")
    yield info.SerializeToString(deterministic=True) + header(GRAPH_DEF, graph_size(document))
    yield from encode_graph(document)
    yield rest.SerializeToString(deterministic=True)
