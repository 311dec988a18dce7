"""Both graphs of a comparison as one, for the merged drawing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphviewer import protos
from graphviewer.analysis.diff import STATUSES, Diff
from graphviewer.analysis.merged_functions import MergedBody, lonely_functions, merged_bodies
from graphviewer.model.document import Document
from graphviewer.model.graph import Graph, Ints, Mask
from graphviewer.model.names import CONTROL_PORT, Endpoint, parse_input
from graphviewer.model.overlay import ADDED, KEPT, REMOVED, Overlay
from graphviewer.model.scopes import Scopes, build_scopes

Statuses = NDArray[np.int8]


@dataclass(frozen=True, eq=False)
class Merged:
    """The union of two graphs: the nodes of the second, then those that only the first has.

    Attributes:
        document: the union; to be drawn, not to be run: a node that lost inputs has the lost ones after its own. Values
            of large constants are not in it: read them from either side.
        overlay: the status of every node of the union.
        from_before, from_after: int32 [nodes], the node of either side, -1 where it has none.
        edge_status: int8 [edges of ``document.graph``], index into ``EDGE_STATUSES``.
        bodies: the functions that differ inside, merged too, by name.
        alone: status of the functions that only one side has, by name.
    """

    document: Document
    overlay: Overlay
    from_before: Ints
    from_after: Ints
    edge_status: Statuses
    bodies: Mapping[str, MergedBody] = field(default_factory=dict)
    alone: Mapping[str, int] = field(default_factory=dict)


class MergedScopes(NamedTuple):
    """The scope tree of the union, for counting: a fifth of the time of the union itself.

    Attributes:
        scopes: of the names of the union; its graph has no edges.
        overlay, from_before, from_after: as in ``Merged``.
    """

    scopes: Scopes
    overlay: Overlay
    from_before: Ints
    from_after: Ints


class _Nodes(NamedTuple):
    """The nodes of the union: the second graph's, then those that are gone.

    Attributes:
        names: of all.
        gone: int32, nodes of the first graph.
        place: int32 [nodes before], the node of the union.
    """

    names: Sequence[str]
    gone: Ints
    place: Ints


def merged_scopes(diff: Diff) -> MergedScopes:
    """Only the scope tree of what ``merge`` gives, and what became of its nodes."""
    names, gone, place = _nodes(diff)
    ops, devices = _columns(diff.before.graph, diff.after.graph, place)
    nothing = np.zeros(0, np.int32)
    scopes = build_scopes(Graph(names, ops, devices, nothing, nothing, nothing, nothing))
    return MergedScopes(scopes, _overlay(diff, gone), *_sides(diff, gone))


def merge(before: Document, after: Document, diff: Diff) -> Merged:
    """The union of both sides of a comparison.

    A renamed node appears once, under its new name. A node that only the first graph has keeps its name; where the
    second graph has another node of that name, it gets `` (before)`` after it.
    """
    names, gone, place = _nodes(diff)
    is_lost, in_both = _compare_edges(before.graph, after.graph, diff.match)
    lost = np.flatnonzero(is_lost & (diff.match[before.graph.dst] >= 0)).astype(np.int32)
    graph_def = protos.GraphDef(versions=after.graph_def.versions)
    graph_def.node.extend(map(after.node, range(len(diff.origin))))  # through Python, which hands the GIL over
    bodies = merged_bodies(diff)
    _add_library(graph_def, before, after, bodies)
    _add_gone(graph_def, before, gone.tolist(), names[len(diff.origin) :], _new_names(before.graph, place, names))
    slots = _add_lost_inputs(graph_def, before.graph, lost, place, names)
    document = Document(after.kind, graph_def, title=f"{before.title} ↔ {after.title}", meta=after.meta)
    status = np.where(in_both, KEPT, ADDED).astype(np.int8)
    if before.graph.dangling or after.graph.dangling:  # they may lead somewhere in the union: read it from its nodes
        graph, status = document.graph, _edge_status(document.graph, after.graph, status)
    else:
        graph, status = _union(before.graph, after.graph, names, place, lost, slots, status)
        vars(document)["graph"] = graph  # what the document would work out itself, four times slower
    return Merged(document, _overlay(diff, gone), *_sides(diff, gone), status, bodies, lonely_functions(diff))


def _nodes(diff: Diff) -> _Nodes:
    before, after = diff.before.graph, diff.after.graph
    gone = np.flatnonzero(diff.match < 0).astype(np.int32)
    place = diff.match.copy()
    place[gone] = len(diff.origin) + np.arange(len(gone), dtype=np.int32)
    return _Nodes([*after.names, *_free_names(after, [before.names[node] for node in gone.tolist()])], gone, place)


def _sides(diff: Diff, gone: Ints) -> tuple[Ints, Ints]:
    """int32 [nodes] twice: the node of either side, -1 where it has none."""
    from_after = np.concatenate([np.arange(len(diff.origin)), np.full(len(gone), -1)])
    return np.concatenate([diff.origin, gone]).astype(np.int32), from_after.astype(np.int32)


def _free_names(graph: Graph, wanted: Sequence[str]) -> list[str]:
    """The wanted names, each changed until no node of ``graph`` has it."""
    free = []
    for name in wanted:
        while name in graph.index:
            name += " (before)"
        free.append(name)
    return free


def _new_names(before: Graph, place: Ints, names: Sequence[str]) -> Mapping[str, str]:
    """Names in the union by names in the first graph, where they differ."""
    pairs = zip(before.names, place.tolist(), strict=True)
    return {name: names[node] for name, node in pairs if name != names[node]}


def _compare_edges(before: Graph, after: Graph, match: Ints) -> tuple[Mask, Mask]:
    """bool [edges before]: only the first graph has it; bool [edges after]: the first graph has it too."""
    size, ports = len(after) + 1, int(max(before.port.max(initial=0), after.port.max(initial=0))) + 2
    src, dst = match[before.src], match[before.dst]
    stays = np.flatnonzero((src >= 0) & (dst >= 0))
    old = (dst[stays].astype(np.int64) * size + src[stays]) * ports + before.port[stays] + 1
    new = (after.dst.astype(np.int64) * size + after.src) * ports + after.port + 1
    is_lost = np.ones(len(before.src), np.bool_)
    is_lost[stays] = ~_among(old, new)
    return is_lost, _among(new, old)


def _among(values: NDArray[np.int64], others: NDArray[np.int64]) -> Mask:
    """bool [values]: the value is among ``others``; five times faster than numpy's ``isin`` on half a million."""
    if not len(others):
        return np.zeros(len(values), np.bool_)
    known = np.sort(others)
    at = np.minimum(np.searchsorted(known, values), len(known) - 1)
    return np.asarray(known[at] == values)


def _add_library(
    graph_def: protos.GraphDef, before: Document, after: Document, bodies: Mapping[str, MergedBody]
) -> None:
    """The functions of both sides, so that calls can be looked into; those that differ as one."""
    graph_def.library.gradient.extend(after.graph_def.library.gradient)
    merged = (bodies[name].function if name in bodies else function for name, function in after.functions.items())
    graph_def.library.function.extend(merged)
    only_before = (function for name, function in before.functions.items() if name not in after.functions)
    graph_def.library.function.extend(only_before)


def _add_gone(
    graph_def: protos.GraphDef, before: Document, gone: Sequence[int], names: Sequence[str], renamed: Mapping[str, str]
) -> None:
    """Nodes of the first graph only, their inputs under the names of the union."""
    first = len(graph_def.node)
    graph_def.node.extend(map(before.node, gone))
    for place, name in enumerate(names if renamed else (), first):
        node = graph_def.node[place]
        node.name = name
        for slot, text in enumerate(node.input):
            source, port = parse_input(text)
            if source in renamed:
                node.input[slot] = _wire(renamed[source], port)


def _add_lost_inputs(
    graph_def: protos.GraphDef, before: Graph, lost: Ints, place: Ints, names: Sequence[str]
) -> list[int]:
    """Inputs that a surviving node no longer has, after those that it has; the slot of each."""
    slots = []
    sources, targets = place[before.src[lost]].tolist(), place[before.dst[lost]].tolist()
    for source, target, port in zip(sources, targets, before.port[lost].tolist(), strict=True):
        inputs = graph_def.node[target].input
        slots.append(len(inputs))
        inputs.append(_wire(names[source], port))
    return slots


def _wire(name: str, port: int) -> str:
    return f"^{name}" if port == CONTROL_PORT else str(Endpoint(name, port))


def _overlay(diff: Diff, gone: Ints) -> Overlay:
    after, before = diff.overlay_after(), diff.overlay_before()
    codes = np.concatenate([diff.status_after, diff.status_before[gone]]).astype(np.int8)
    return Overlay("diff", STATUSES, codes, [*after.reasons, *(before.reasons[node] for node in gone.tolist())])


def _union(
    before: Graph, after: Graph, names: Sequence[str], place: Ints, lost: Ints, slots: Sequence[int], status: Statuses
) -> tuple[Graph, Statuses]:
    """The columns of the union, and the status of its edges.

    Args:
        before: the first graph.
        after: the second graph.
        names: of all nodes.
        place: int32 [nodes before], the node of the union.
        lost: edges of the first graph that a surviving node no longer has.
        slots: where their inputs are now.
        status: int8 [edges after].
    """
    behind = np.flatnonzero(place[before.dst] >= len(after))
    edges = [
        (after.src, after.dst, after.port, after.slot),
        (place[before.src[lost]], place[before.dst[lost]], before.port[lost], np.array(slots, np.int32)),
        (place[before.src[behind]], place[before.dst[behind]], before.port[behind], before.slot[behind]),
    ]
    src, dst, port, slot = (np.concatenate(column).astype(np.int32) for column in zip(*edges, strict=True))
    status = np.concatenate([status, np.full(len(lost) + len(behind), REMOVED, np.int8)])
    if len(lost):  # the others are in order: those of the first graph's nodes come last
        order = np.argsort(dst, kind="stable")
        src, dst, port, slot, status = src[order], dst[order], port[order], slot[order], status[order]
    ops, devices = _columns(before, after, place)
    return Graph(names, ops, devices, src, dst, port, slot), status


def _columns(before: Graph, after: Graph, place: Ints) -> tuple[list[str], list[str]]:
    """Ops and devices of the union."""
    only = np.flatnonzero(place >= len(after)).tolist()
    ops, devices = (
        [*there, *(here[node] for node in only)]
        for there, here in ((after.ops, before.ops), (after.devices, before.devices))
    )
    return ops, devices


def _edge_status(union: Graph, after: Graph, own: Statuses) -> Statuses:
    """The status of the union's edges: those that the second graph has, found by node and place, and lost ones."""
    status = np.full(len(union.src), REMOVED, np.int8)
    slots = int(union.slot.max(initial=0)) + 1
    places, known = (graph.dst.astype(np.int64) * slots + graph.slot for graph in (union, after))
    status[_among(places, known)] = own
    return status
