"""Which graphs an events file holds, and where: found by the headers of its records, without parsing one graph."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache, partial
from pathlib import Path
from typing import NamedTuple

from graphviewer.formats.decode import count_nodes
from graphviewer.formats.metagraph import GRAPH_DEF
from graphviewer.formats.source import Source, open_source
from graphviewer.formats.tfrecord import Record, records
from graphviewer.formats.wire import BYTES, VARINT, Field, WireError, number_of, walk
from graphviewer.model.problem import Problem

GRAPH, META_GRAPH, TRACED = "graph", "metagraph", "traced"
_STEP, _GRAPH_DEF, _SUMMARY, _RUN_METADATA, _META_GRAPH_DEF = 2, 4, 5, 8, 9  # Event
_PLUGIN_NAMES = frozenset({b"graph_run_metadata", b"graph_run_metadata_graph"})
_IN_EVERY_PLUGIN_NAME = b"graph_run_metadata"
_PATH_OF_PLUGIN = (9, 1, 1)  # Summary.Value.metadata, SummaryMetadata.plugin_data, PluginData.plugin_name
_PATH_OF_TENSOR = (8, 8)  # Summary.Value.tensor, TensorProto.string_val
_TAG = 1  # of a Summary.Value, and of a TaggedRunMetadata
_GRAPHS_OF_RUN = ((4, 2), (4, 1), (3,))  # function_graphs: before optimisation, partitions; partition_graphs
_SMALL = 1 << 16
_LONGEST_TAG = 200
_FILES_REMEMBERED = 8


class Place(NamedTuple):
    """Where the bytes of a graph are, and the record around them."""

    begin: int
    end: int
    record: Record

    @property
    def length(self) -> int:
        """Bytes of the graph."""
        return self.end - self.begin


@dataclass(frozen=True)
class EventGraph:
    """One graph of an events file; ``document.extra["graphs"]`` lists them all in file order.

    Attributes:
        name: by which ``tags=`` of ``open_document`` chooses it: ``graph@100``; of several at one step ``graph@100:2``;
            of a traced run its tag, ``train_step@3``.
        what: ``graph``, ``metagraph`` (one without a GraphDef of its own) or ``traced``.
        step: of the event.
        place: the GraphDef, or the MetaGraphDef.
        meta: MetaGraphDef of the same graph, for its saver and collections.
        shown: it is the one in the document.
    """

    name: str
    what: str
    step: int
    place: Place
    meta: Place | None = None
    shown: bool = False


class Contents(NamedTuple):
    """What an events file holds; ``problems`` say where it breaks off."""

    graphs: tuple[EventGraph, ...]
    problems: tuple[Problem, ...]


def contents(source: Source) -> Contents:
    """The graphs of an events file; a file that is on disk is walked once, for as long as it stays as it is."""
    if source.on_disk:
        return _remembered(source.path, source.size, source.mtime_ns)
    return _scan(source)


@lru_cache(maxsize=_FILES_REMEMBERED)
def _remembered(path: Path, _size: int, _mtime_ns: int) -> Contents:
    """Choosing another graph must not take the walk over a gigabyte of events again."""
    with open_source(path) as source:
        return _scan(source)


class _Found(NamedTuple):
    name: str
    what: str
    step: int
    place: Place


def _scan(source: Source) -> Contents:
    found: list[_Found] = []
    problems: list[Problem] = []
    for record in records(source):
        if not record.complete:
            reason = f"{source.name} breaks off at byte {record.begin:,}: it is being written, or was cut short."
            problems.append(Problem("truncated", "warning", reason, "Later events are missing."))
            break
        try:
            found.extend(_in_event(source, record))
        except WireError as error:
            problems.append(Problem("damaged", "warning", f"{source.name} is damaged: {error}.", ""))
            break
    return Contents(tuple(_joined(source, _told_apart(found))), tuple(problems))


def _in_event(source: Source, record: Record) -> list[_Found]:
    """The graphs of one event."""
    parts = partial(walk, source, record.begin, record.end)
    graphs = [graph for part in parts() if part.wire == BYTES for graph in _in_field(source, part)]
    if not graphs:
        return []
    step = next((number_of(source, part) for part in parts() if (part.number, part.wire) == (_STEP, VARINT)), 0)
    return [_Found(f"{name}@{step}", what, step, Place(begin, end, record)) for name, what, begin, end in graphs]


def _in_field(source: Source, part: Field) -> Iterator[tuple[str, str, int, int]]:
    """The graphs in one field of an Event: name, what, begin, end."""
    if part.number == _GRAPH_DEF:
        yield GRAPH, GRAPH, part.begin, part.end
    elif part.number == _META_GRAPH_DEF:
        yield META_GRAPH, META_GRAPH, part.begin, part.end
    elif part.number == _RUN_METADATA:
        tag = _tag(source, part)
        for run in _inside(source, part, (2,)):
            yield from ((tag, TRACED, graph.begin, graph.end) for graph in _of_run(source, run))
    elif part.number == _SUMMARY and _may_be_traced(source, part):
        yield from _in_summary(source, part)


def _may_be_traced(source: Source, part: Field) -> bool:
    """Most events hold a scalar or a picture: a look for the plugin's name is ten times as fast as a walk."""
    return part.length > _SMALL or _IN_EVERY_PLUGIN_NAME in source.read(part.begin, part.length)


def _in_summary(source: Source, part: Field) -> Iterator[tuple[str, str, int, int]]:
    for value in _inside(source, part, (1,)):
        names = {source.read(name.begin, min(name.length, 64)) for name in _inside(source, value, _PATH_OF_PLUGIN)}
        if names & _PLUGIN_NAMES:
            tag = _tag(source, value)
            for run in _inside(source, value, _PATH_OF_TENSOR):
                yield from ((tag, TRACED, graph.begin, graph.end) for graph in _of_run(source, run))


def _tag(source: Source, message: Field) -> str:
    found = _inside(source, message, (_TAG,))
    raw = source.read(found[-1].begin, min(found[-1].length, _LONGEST_TAG)) if found else b""
    return raw.decode("utf-8", "replace") or "run"


def _of_run(source: Source, run: Field) -> list[Field]:
    """The graphs in a RunMetadata."""
    levels = (_inside(source, run, path) for path in _GRAPHS_OF_RUN)
    return [graph for graph in next((graphs for graphs in levels if graphs), []) if graph.length]


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


def _told_apart(found: Sequence[_Found]) -> list[_Found]:
    """A number behind names that several graphs have."""
    counts, seen = Counter(one.name for one in found), Counter[str]()
    result = []
    for one in found:
        seen[one.name] += 1
        result.append(one._replace(name=f"{one.name}:{seen[one.name]}") if counts[one.name] > 1 else one)
    return result


def _joined(source: Source, found: Sequence[_Found]) -> list[EventGraph]:
    """Each GraphDef with the MetaGraphDef that was written after it of the same graph; all others by themselves."""
    graphs: list[EventGraph] = []
    nodes = cache(partial(_nodes, source))  # many MetaGraphDefs may follow one GraphDef
    waiting = -1  # the newest GraphDef, as long as it has none
    for one in found:
        if one.what == META_GRAPH and waiting >= 0:
            count = nodes(graphs[waiting].place)
            if count is not None and count == _nodes_of_meta_graph(source, one.place):
                graphs[waiting] = replace(graphs[waiting], meta=one.place)
                waiting = -1
                continue
        if one.what == GRAPH:
            waiting = len(graphs)
        graphs.append(EventGraph(one.name, one.what, one.step, one.place))
    return graphs


def _nodes_of_meta_graph(source: Source, meta: Place) -> int | None:
    """How many nodes the graph in a MetaGraphDef has; None where it is damaged."""
    try:
        parts = walk(source, meta.begin, meta.end)
        counts = [_nodes(source, part) for part in parts if part.number == GRAPH_DEF and part.wire == BYTES]
    except WireError:
        return None
    return None if None in counts else sum(filter(None, counts))


def _nodes(source: Source, graph: Place | Field) -> int | None:
    """How many nodes a GraphDef has; None where it is damaged."""
    try:
        return count_nodes(source, graph.begin, graph.end)
    except WireError:
        return None
