"""GraphDef bytes to GraphDef in pieces: no call is long, and large constants can stay in their file.

Parsing holds the GIL, so bytes are merged about 1 MB at a time (4 ms). Of a big file only the structure is read: the
content of large constants is remembered as offset and length (357 MB: 0.02 s and 23 MB instead of 0.5 s and 700 MB).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from google.protobuf.message import DecodeError

from graphviewer import protos
from graphviewer.errors import DamagedError, ReadError
from graphviewer.formats.registry import Options
from graphviewer.formats.source import Source
from graphviewer.formats.wire import BYTES, Field, Truncated, WireError, header, walk
from graphviewer.model.document import Payload, Payloads
from graphviewer.model.problem import Problem

LAZY_ABOVE = 64 << 20
LARGE_NODE = 16 << 10
_CHUNK = 1 << 20
NODE = 1
CONTENT_PATH = (5, 2, 8, 4)  # NodeDef.attr, its entry's value, AttrValue.tensor, TensorProto.tensor_content
_KEY = 1  # of an attr entry


@dataclass
class Loaded:
    """A GraphDef and what did not fit into it.

    Attributes:
        payloads: constants left in the file, by node number.
        problems: what was skipped, where reading was allowed to skip.
    """

    graph_def: Any = field(default_factory=protos.GraphDef)
    payloads: dict[int, Payload] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)

    def left_in(self, source: Source) -> Payloads | None:
        """The payloads, tied to the state of the file they are in."""
        if not self.payloads:
            return None
        return Payloads(source.path, source.size, source.mtime_ns, self.payloads)


def load_graph(source: Source, begin: int, end: int, options: Options) -> Loaded:
    """The GraphDef in ``begin:end`` of a source.

    Raises:
        ReadError: damaged, with the byte offset; ``options.salvage`` opens the complete nodes with a problem instead.
    """
    loaded = Loaded()
    lazy = source.on_disk and end - begin > LAZY_ABOVE
    chunk = begin
    try:
        for part in walk(source, begin, end):
            if lazy and part.number == NODE and part.wire == BYTES and part.length > LARGE_NODE:
                _merge(loaded, source, chunk, part.start, options)
                _merge_without_content(loaded, source, part, options)
                chunk = part.end
            elif part.end - chunk > _CHUNK:
                _merge(loaded, source, chunk, part.end, options)
                chunk = part.end
                options.progress((chunk - begin) / (end - begin), "Reading nodes")
        _merge(loaded, source, chunk, end, options)
    except WireError as error:
        if not options.salvage:
            complete = len(loaded.graph_def.node) + count_nodes(source, chunk, error.offset)
            raise damaged(source, error, complete) from error
        _merge(loaded, source, chunk, error.offset, options)
        loaded.problems.append(skipped(source, error, len(loaded.graph_def.node)))
    return loaded


def damaged(source: Source, error: WireError, complete: int) -> ReadError:
    """The error for a file that breaks off or turns into nonsense at a byte."""
    what = "is cut short" if isinstance(error, Truncated) else "is damaged"
    message, hint = f"{source.name} {what}: {error}.", "Copy or download it again"
    if not complete:
        return ReadError(message, f"{hint}.")
    return DamagedError(message, f"{hint}, or open its {complete:,} complete nodes.")


def skipped(source: Source, error: WireError, complete: int) -> Problem:
    """The problem of a document that was opened in part."""
    kind = "truncated" if isinstance(error, Truncated) else "damaged"
    reason = f"{source.name} was opened in part, {complete:,} complete nodes: {error}."
    return Problem(kind, "error", reason, "Copy or download the file again.")


def count_nodes(source: Source, begin: int, end: int) -> int:
    """How many nodes the GraphDef in ``begin:end`` has.

    Raises:
        WireError: the bytes are damaged.
    """
    return sum(part.number == NODE for part in walk(source, begin, end)) if end > begin else 0


def _merge(loaded: Loaded, source: Source, begin: int, end: int, options: Options) -> None:
    """Parse ``begin:end``, a run of whole fields, into the graph."""
    if end <= begin:
        return
    lists = (loaded.graph_def.node, loaded.graph_def.library.function, loaded.graph_def.library.gradient)
    before = [len(values) for values in lists]
    try:
        loaded.graph_def.MergeFromString(source.read(begin, end - begin))
    except DecodeError:
        for values, length in zip(lists, before, strict=True):
            del values[length:]  # a failed merge leaves what it had read
        _merge_one_by_one(loaded, source, begin, end, options)


def _merge_one_by_one(loaded: Loaded, source: Source, begin: int, end: int, options: Options) -> None:
    """Parse a run of fields that does not parse as a whole, to find the field that is at fault."""
    for part in walk(source, begin, end):
        try:
            piece = protos.GraphDef.FromString(source.read(part.start, part.end - part.start))
        except DecodeError as error:
            fault = WireError(part.start, f"field {part.number} ({_guess_name(source, part)}) does not parse")
            if not options.salvage:
                raise damaged(source, fault, len(loaded.graph_def.node)) from error
            loaded.problems.append(skipped(source, fault, len(loaded.graph_def.node)))
            continue
        loaded.graph_def.MergeFrom(piece)


def _guess_name(source: Source, part: Field) -> str:
    """How to call a broken field: the node's name where it can still be read."""
    if part.number != NODE or part.wire != BYTES:
        return "not a node"
    try:
        first = next(walk(source, part.begin, part.end), None)
    except WireError:
        first = None
    if first is None or first.number != 1 or first.wire != BYTES:
        return "a node"
    return "node " + repr(source.read(first.begin, min(first.length, 200)).decode("utf-8", "replace"))


def _merge_without_content(loaded: Loaded, source: Source, node: Field, options: Options) -> None:
    """Parse one large node, leaving the content of its constant in the file."""
    try:
        path = content_path(source, node)
    except WireError:
        path = None
    if path is None:
        _merge(loaded, source, node.start, node.end, options)
        return
    content = path[-1]
    body, low, high = b"", content.start, content.end
    for outer in reversed(path[:-1]):
        body = source.read(outer.begin, low - outer.begin) + body + source.read(high, outer.end - high)
        if outer is not node:
            body = header(outer.number, len(body)) + body
        low, high = outer.start, outer.end
    try:
        loaded.graph_def.node.append(protos.NodeDef.FromString(body))
    except DecodeError:
        _merge(loaded, source, node.start, node.end, options)
        return
    loaded.payloads[len(loaded.graph_def.node) - 1] = Payload(content.begin, content.length)


def content_path(source: Source, node: Field) -> tuple[Field, ...] | None:
    """node -> attr entry 'value' -> its value -> tensor -> tensor_content; None for a node without large content."""
    for entry in walk(source, node.begin, node.end):
        if entry.number == CONTENT_PATH[0] and entry.wire == BYTES and entry.length > LARGE_NODE // 2:
            path = _descend(source, (node, entry), CONTENT_PATH[1:])
            if path and _key(source, entry) == b"value":
                return path
    return None


def _descend(source: Source, path: tuple[Field, ...], numbers: tuple[int, ...]) -> tuple[Field, ...] | None:
    for number in numbers:
        inside = walk(source, path[-1].begin, path[-1].end)
        found = next((part for part in inside if part.number == number and part.wire == BYTES), None)
        if found is None:
            return None
        path = (*path, found)
    return path if path[-1].length > LARGE_NODE // 2 else None


def _key(source: Source, entry: Field) -> bytes:
    found = next((part for part in walk(source, entry.begin, entry.end) if part.number == _KEY), None)
    return source.read(found.begin, min(found.length, 64)) if found is not None else b""


def no_versions(graph_def: Any) -> tuple[Problem, ...]:
    """A warning for a graph without ``versions``: TensorFlow loads a file cut exactly between two nodes silently."""
    if graph_def.versions.producer or not graph_def.node:
        return ()
    reason = "The graph does not say which version of TensorFlow wrote it: the file may be cut short between two nodes."
    hint = "Compare its size with the original; some tools (remove_training_nodes) drop the versions, too."
    return (Problem("no-versions", "warning", reason, hint),)
