"""Events files of TensorBoard, for the graphs in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from google.protobuf.message import DecodeError

from graphviewer import protos
from graphviewer.errors import ReadError
from graphviewer.formats.decode import LAZY_ABOVE, load_graph, no_versions
from graphviewer.formats.event_graphs import GRAPH, META_GRAPH, EventGraph, Place, contents
from graphviewer.formats.metagraph import GRAPH_DEF, document_of, load_meta_graph
from graphviewer.formats.registry import Options, reader
from graphviewer.formats.source import Source
from graphviewer.formats.tfrecord import is_intact, is_record, records
from graphviewer.formats.wire import walk
from graphviewer.model.document import Document
from graphviewer.model.problem import Problem

EVENT_GRAPHS = "graphs"
_VERSION = b"brain.Event"
_MOST_NAMED = 12


def _recognise(source: Source) -> str | None:
    if not is_record(source):
        return None
    first = next(records(source))
    return "" if _VERSION in source.read(first.begin, min(first.end - first.begin, 64)) else None


@reader(kind="tfevents", label="TensorBoard events", rank=11, recognise=_recognise)
def read_tfevents(source: Source, options: Options) -> Document:
    """The graph asked for, else the newest GraphDef, as TensorBoard shows it; else a MetaGraphDef, else the largest
    traced graph.

    ``document.extra["graphs"]`` lists them all. A file without graphs is an empty document.

    Raises:
        ReadError: the graph is damaged, or none has this name; the hint lists those there are.
    """
    graphs, problems = contents(source)
    if not graphs and options.tags is None:
        reason = f"{source.name} holds no graph, only other events such as scalars."
        hint = "Open the events file of the training run, or write the graph with a FileWriter."
        problems = (*problems, Problem("no-graph", "warning", reason, hint))
        return Document("tfevents", protos.GraphDef(), problems=problems, extra={EVENT_GRAPHS: ()})
    chosen = _newest(graphs) if options.tags is None else _named(source, graphs, options.tags)
    document = _read(source, chosen, options)
    listed = tuple(replace(each, shown=each is chosen) for each in graphs)
    return replace(document, extra={EVENT_GRAPHS: listed}, problems=(*problems, *document.problems))


def _newest(graphs: Sequence[EventGraph]) -> EventGraph:
    for what in (GRAPH, META_GRAPH):
        found = [each for each in graphs if each.what == what]
        if found:
            return found[-1]
    return max(graphs, key=lambda each: each.place.length)


def _named(source: Source, graphs: Sequence[EventGraph], tags: Sequence[str]) -> EventGraph:
    name = ",".join(tags)  # the tag of a run may hold commas
    found = next((each for each in graphs if each.name == name), None)
    if found is None:
        names = [each.name for each in graphs]
        listed = ", ".join(names[:_MOST_NAMED]) + (f" and {len(names) - _MOST_NAMED} more" * (len(names) > _MOST_NAMED))
        raise ReadError(f"{source.name} has no graph '{name}'.", f"There are: {listed or 'none'}.")
    return found


def _read(source: Source, chosen: EventGraph, options: Options) -> Document:
    _verify(source, chosen.place)
    if chosen.what == META_GRAPH:
        loaded, meta = load_meta_graph(source, chosen.place.begin, chosen.place.end, options)
        return document_of("tfevents", loaded, meta, source)
    loaded = load_graph(source, chosen.place.begin, chosen.place.end, options)
    problems = (*loaded.problems, *no_versions(loaded.graph_def))
    document = Document("tfevents", loaded.graph_def, payloads=loaded.left_in(source), problems=problems)
    return document if chosen.meta is None else _with_meta(document, source, chosen.meta)


def _verify(source: Source, place: Place) -> None:
    record = place.record
    if record.end - record.begin <= LAZY_ABOVE and not is_intact(source, record):
        where = f"the record at byte {record.begin:,}"
        raise ReadError(f"{source.name} is damaged: {where} does not fit its checksum.", "Copy or download it again.")


def _with_meta(document: Document, source: Source, place: Place) -> Document:
    """The document with saver and collections of a MetaGraphDef of the same graph; as it was where that is damaged."""
    meta = protos.MetaGraphDef()
    try:
        for part in walk(source, place.begin, place.end):
            if part.number != GRAPH_DEF:
                meta.MergeFromString(source.read(part.start, part.end - part.start))
    except DecodeError:
        return document
    return replace(document, meta=meta)
