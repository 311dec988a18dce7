"""GraphDef to bytes in pieces: a graph is never in memory twice, and constants stream from the file they were left in.

The bytes are those of ``SerializeToString(deterministic=True)`` on the whole message, which fails beyond 2 GiB.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from graphviewer import protos
from graphviewer.formats.decode import CONTENT_PATH, NODE
from graphviewer.formats.source import Source
from graphviewer.formats.wire import BYTES, Field, header, walk
from graphviewer.model.document import Document

_BATCH = 1 << 20


def encode_graph(document: Document) -> Iterator[bytes]:
    """The document's GraphDef, in pieces of about 1 MB or one constant each.

    Raises:
        ReadError: the file that holds the large constants changed since it was opened.
    """
    waiting: list[bytes] = []
    size = 0
    for number, node in enumerate(document.graph_def.node):
        before, length, after = _split(document, number, node)
        waiting += [header(NODE, len(before) + length + len(after)), before]
        if length and document.payloads is not None:
            waiting += [document.payloads.read(number), after]
        size += len(before) + length
        if size > _BATCH:
            yield b"".join(waiting)
            waiting, size = [], 0
    yield b"".join([*waiting, _all_but_nodes(document.graph_def)])


def graph_size(document: Document) -> int:
    """Bytes that ``encode_graph`` will give, without reading a constant."""
    total = len(_all_but_nodes(document.graph_def))
    for number, node in enumerate(document.graph_def.node):
        before, length, after = _split(document, number, node)
        size = len(before) + length + len(after)
        total += len(header(NODE, size)) + size
    return total


def _all_but_nodes(graph_def: Any) -> bytes:
    rest = protos.GraphDef()
    for descriptor, value in graph_def.ListFields():
        if descriptor.name == "node":
            continue
        if descriptor.type == descriptor.TYPE_MESSAGE:
            getattr(rest, descriptor.name).CopyFrom(value)
        else:
            setattr(rest, descriptor.name, value)
    raw: bytes = rest.SerializeToString(deterministic=True)
    return raw


def _split(document: Document, number: int, node: Any) -> tuple[bytes, int, bytes]:
    """A node's bytes before its constant's content, the length of the content, and the bytes after it."""
    raw = node.SerializeToString(deterministic=True)
    if document.payloads is None or number not in document.payloads.by_node:
        return raw, 0, b""
    length = document.payloads.by_node[number].length
    path, cut = _place_of_content(raw)
    before, low = header(CONTENT_PATH[-1], length), cut
    for outer in reversed(path):
        before = raw[outer.begin : low] + before
        before = header(outer.number, len(before) + length + outer.end - cut) + before
        low = outer.start
    return raw[:low] + before, length, raw[cut:]


def _place_of_content(raw: bytes) -> tuple[list[Field], int]:
    """The messages around a constant's content (attr entry, value, tensor), and where the content belongs."""
    source = Source.of_bytes(raw)
    for entry in walk(source, 0, len(raw)):
        if entry.number == CONTENT_PATH[0] and raw[entry.begin :].startswith(b"\x0a\x05value"):
            path = [entry]
            for number in CONTENT_PATH[1:-1]:
                inside = walk(source, path[-1].begin, path[-1].end)
                path.append(next(part for part in inside if part.number == number and part.wire == BYTES))
            tensor = path[-1]
            inside = walk(source, tensor.begin, tensor.end)
            return path, next((part.start for part in inside if part.number >= CONTENT_PATH[-1]), tensor.end)
    raise ValueError("a node with a payload has no attribute 'value'")
