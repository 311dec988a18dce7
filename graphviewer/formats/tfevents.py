"""Events files of TensorBoard, for the graphs in them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from graphviewer import protos
from graphviewer.errors import ReadError
from graphviewer.formats.decode import LAZY_ABOVE, NODE, load_graph, no_versions
from graphviewer.formats.metagraph import GRAPH_DEF, document_of, load_meta_graph
from graphviewer.formats.registry import Options, reader
from graphviewer.formats.source import Source
from graphviewer.formats.tfrecord import Record, is_intact, is_record, records
from graphviewer.formats.wire import BYTES, Field, WireError, walk
from graphviewer.model.document import Document
from graphviewer.model.problem import Problem

_VERSION = b"brain.Event"
_GRAPH_DEF, _SUMMARY, _RUN_METADATA, _META_GRAPH_DEF = 4, 5, 8, 9  # Event
_PLUGINS = {b"graph_run_metadata", b"graph_run_metadata_graph"}
_PATH_OF_PLUGIN = (9, 1, 1)  # Summary.Value.metadata, SummaryMetadata.plugin_data, PluginData.plugin_name
_PATH_OF_TENSOR = (8, 8)  # Summary.Value.tensor, TensorProto.string_val
_GRAPHS_OF_RUN = ((4, 2), (4, 1), (3,))  # function_graphs: before optimisation, partitions; partition_graphs


class _Found(NamedTuple):
    """A graph in the file: ``what`` it is, and where its bytes are."""

    what: str
    begin: int
    end: int
    record: Record


def _recognise(source: Source) -> str | None:
    if not is_record(source):
        return None
    first = next(records(source))
    return "" if _VERSION in source.read(first.begin, min(first.end - first.begin, 64)) else None


@reader(kind="tfevents", label="TensorBoard events", rank=11, recognise=_recognise)
def read_tfevents(source: Source, options: Options) -> Document:
    """The newest GraphDef in the file, as TensorBoard shows it; else a MetaGraphDef, else the largest traced graph.

    ``document.extra["graphs"]`` says how many of each there are. A file without graphs is an empty document.

    Raises:
        ReadError: the graph is damaged.
    """
    found, problems = _scan(source)
    kinds: dict[str, list[_Found]] = {}
    for each in found:
        kinds.setdefault(each.what, []).append(each)
    extra = {"graphs": {what: len(each) for what, each in kinds.items()}}
    document = _newest(source, kinds, options)
    if document is None:
        reason = f"{source.name} holds no graph, only other events such as scalars."
        hint = "Open the events file of the training run, or write the graph with a FileWriter."
        document = Document("tfevents", protos.GraphDef(), problems=(Problem("no-graph", "warning", reason, hint),))
    return replace(document, extra=extra, problems=(*problems, *document.problems))


def _newest(source: Source, kinds: dict[str, list[_Found]], options: Options) -> Document | None:
    graphs, metas = kinds.get("GraphDef"), kinds.get("MetaGraphDef")
    if graphs:
        document = _read(source, graphs[-1], options)
        return _with_meta(document, source, metas[-1], options) if metas else document
    if metas:
        chosen = metas[-1]
        _verify(source, chosen)
        loaded, meta = load_meta_graph(source, chosen.begin, chosen.end, options)
        return document_of("tfevents", loaded, meta, source)
    traced = kinds.get("traced graph")
    return _read(source, max(traced, key=lambda each: each.end - each.begin), options) if traced else None


def _read(source: Source, found: _Found, options: Options) -> Document:
    _verify(source, found)
    loaded = load_graph(source, found.begin, found.end, options)
    problems = (*loaded.problems, *no_versions(loaded.graph_def))
    return Document("tfevents", loaded.graph_def, payloads=loaded.left_in(source), problems=problems)


def _verify(source: Source, found: _Found) -> None:
    record = found.record
    if record.end - record.begin <= LAZY_ABOVE and not is_intact(source, record):
        where = f"the record at byte {record.begin:,}"
        raise ReadError(f"{source.name} is damaged: {where} does not fit its checksum.", "Copy or download it again.")


def _with_meta(document: Document, source: Source, found: _Found, options: Options) -> Document:
    """The document with saver and collections of a MetaGraphDef, where that is of the same graph."""
    inside = [part for part in walk(source, found.begin, found.end) if part.number == GRAPH_DEF]
    nodes = sum(part.number == NODE for graph in inside for part in walk(source, graph.begin, graph.end))
    if nodes != len(document.graph_def.node):
        return document
    meta = protos.MetaGraphDef()
    for part in walk(source, found.begin, found.end):
        if part.number != GRAPH_DEF:
            meta.MergeFromString(source.read(part.start, part.end - part.start))
    return replace(document, meta=meta)


def _scan(source: Source) -> tuple[list[_Found], list[Problem]]:
    """All graphs of a file, without parsing one."""
    found: list[_Found] = []
    for record in records(source):
        if not record.complete:
            reason = f"{source.name} breaks off at byte {record.begin:,}: it is being written, or was cut short."
            return found, [Problem("truncated", "warning", reason, "Later events are missing.")]
        try:
            for part in walk(source, record.begin, record.end):
                if part.wire == BYTES:
                    found.extend(_Found(what, begin, end, record) for what, begin, end in _graphs(source, part))
        except WireError as error:
            return found, [Problem("damaged", "warning", f"{source.name} is damaged: {error}.", "")]
    return found, []


def _graphs(source: Source, part: Field) -> Iterator[tuple[str, int, int]]:
    """The graphs in one field of an Event: what, begin, end."""
    if part.number == _GRAPH_DEF:
        yield "GraphDef", part.begin, part.end
    elif part.number == _META_GRAPH_DEF:
        yield "MetaGraphDef", part.begin, part.end
    elif part.number == _RUN_METADATA:
        for run in _inside(source, part, (2,)):
            yield from _traced(source, run)
    elif part.number == _SUMMARY:
        for value in _inside(source, part, (1,)):
            names = {source.read(name.begin, min(name.length, 64)) for name in _inside(source, value, _PATH_OF_PLUGIN)}
            if names & _PLUGINS:
                for run in _inside(source, value, _PATH_OF_TENSOR):
                    yield from _traced(source, run)


def _traced(source: Source, run: Field) -> Iterator[tuple[str, int, int]]:
    """The graphs in a RunMetadata."""
    for path in _GRAPHS_OF_RUN:
        graphs = _inside(source, run, path)
        if graphs:
            yield from (("traced graph", graph.begin, graph.end) for graph in graphs if graph.length)
            return


def _inside(source: Source, outer: Field, path: tuple[int, ...]) -> list[Field]:
    """All messages that a path of field numbers leads to."""
    level = [outer]
    for number in path:
        level = [
            part
            for above in level
            for part in walk(source, above.begin, above.end)
            if part.number == number and part.wire == BYTES
        ]
    return level
