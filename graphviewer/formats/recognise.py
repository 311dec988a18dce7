"""Does this look like a NodeDef, a GraphDef, a MetaGraphDef? Asked of a few fields, for "it parses" proves nothing.

``fingerprint.pb`` parses as a GraphDef, a GraphDef parses as a SavedModel, and no bytes at all parse as anything.
"""

from __future__ import annotations

import re
from itertools import islice

from graphviewer.formats.source import Source
from graphviewer.formats.wire import BYTES, VARINT, Field, Truncated, WireError, walk

_OP = re.compile(rb"[A-Za-z_>][A-Za-z0-9_>.]*\Z")
_NODE_FIELDS = frozenset(range(1, 8))
_GRAPH_FIELDS = {(1, BYTES), (2, BYTES), (3, VARINT), (4, BYTES), (5, BYTES)}
_GRAPH_WITHOUT_NODES = _GRAPH_FIELDS - {(1, BYTES)}
_META_GRAPH_FIELDS = {(number, BYTES) for number in range(1, 9)}
_LONGEST_NAME = 1 << 16
_FEW = 12


def peek(source: Source, begin: int, end: int, count: int = _FEW) -> tuple[list[Field], WireError | None]:
    """The first fields, a clipped one included, and what was wrong with the bytes after them."""
    found: list[Field] = []
    try:
        for part in islice(walk(source, begin, end), count):
            found.append(part)  # one by one: those before an error are wanted
    except Truncated as error:
        return [*found, *([error.field] if error.field else [])], error
    except WireError as error:
        return found, error
    return found, None


def pairs(found: list[Field]) -> set[tuple[int, int]]:
    """(number, wire type) of fields."""
    return {(part.number, part.wire) for part in found}


def looks_like_node(source: Source, begin: int, end: int, *, op_needed: bool = False) -> bool:
    """Field 1 a name, field 2 an op; a node without op counts unless ``op_needed``: damaged files are to open."""
    found, error = peek(source, begin, end, 6)
    if error is not None and end != source.size:
        return False
    if not found or any(part.number not in _NODE_FIELDS for part in found):
        return False
    first = {part.number: part for part in reversed(found)}
    name, op = first.get(1), first.get(2)
    if name is not None and (name.wire != BYTES or name.length > _LONGEST_NAME):
        return False
    if name is not None and b"\0" in source.read(name.begin, name.length):
        return False
    if op is not None:
        return op.wire == BYTES and op.length < 256 and bool(_OP.match(source.read(op.begin, op.length)))
    return not op_needed and name is not None and name.length > 0


def looks_like_graph(source: Source, begin: int, end: int, *, op_needed: bool = False) -> bool:
    """Only fields of a GraphDef, and of those called node at least half look like nodes (one may be damaged)."""
    found, error = peek(source, begin, end)
    if (error is not None and end != source.size) or not pairs(found) <= _GRAPH_FIELDS:
        return False
    nodes = [part for part in found if part.number == 1]
    good = sum(looks_like_node(source, part.begin, part.end, op_needed=op_needed) for part in nodes)
    return bool(good) and good * 2 >= len(nodes)


def looks_like_graph_without_nodes(source: Source) -> bool:
    """Versions or a function library and nothing else."""
    found, error = peek(source, 0, source.size)
    kinds = pairs(found)
    return error is None and (4, BYTES) in kinds and kinds <= _GRAPH_WITHOUT_NODES


def looks_like_meta_graph(source: Source, begin: int, end: int, *, nodes: bool = True) -> bool:
    """Only fields of a MetaGraphDef, field 2 being a GraphDef (which may be empty unless ``nodes`` are asked for)."""
    found, error = peek(source, begin, end)
    if (error is not None and end != source.size) or not pairs(found) <= _META_GRAPH_FIELDS:
        return False
    graph = next((part for part in found if part.number == 2), None)
    if graph is None:
        return False
    return looks_like_graph(source, graph.begin, graph.end, op_needed=True) or not nodes


def looks_like_saved_model(source: Source) -> bool:
    """Field 1 a schema version (or absent), field 2 MetaGraphDefs."""
    found, _ = peek(source, 0, source.size)
    graphs = [part for part in found if part.number == 2 and part.wire == BYTES]
    if not graphs or not pairs(found) <= {(1, VARINT), (2, BYTES)}:
        return False
    versioned = (1, VARINT) in pairs(found)
    return looks_like_meta_graph(source, graphs[0].begin, graphs[0].end, nodes=not versioned)
