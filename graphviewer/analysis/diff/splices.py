"""Find pass-through nodes that are gone while what read them now reads their input."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

import numpy as np

from graphviewer.analysis.diff.pairing import Pairing
from graphviewer.analysis.ops import CHECK_OPS, SWITCH_OPS, is_random_op
from graphviewer.model.graph import Graph, Ints, Mask
from graphviewer.model.names import Endpoint

_PASS_THROUGH = (
    (CHECK_OPS - {"Assert", "PrintV2"})
    | SWITCH_OPS
    | {
        "Identity",
        "PlaceholderWithDefault",
        "PreventGradient",
        "ReadVariableOp",
        "RefIdentity",
        "Snapshot",
        "StopGradient",
    }
)
"""Hand on their first input."""

_MOST_IN_DROPOUT = 32


def spliced(pairing: Pairing, gone: Sequence[int]) -> Mapping[int, str]:
    """The nodes among ``gone`` that were spliced out, with the endpoint that their consumers read instead.

    Every consumer that is still there must read the input at the same place; a chain of gone pass-through nodes is
    followed to its start.
    """
    before, after = pairing.before.graph, pairing.after.graph
    is_gone = np.zeros(len(before), np.bool_)
    is_gone[gone] = True
    edges = np.flatnonzero(is_gone[before.src] & ~before.control & (pairing.match[before.dst] >= 0)).astype(np.int32)
    if not len(edges):
        return {}
    read, port = _input_at(after, pairing.match[before.dst[edges]], before.slot[edges])
    known = np.where(read >= 0, pairing.origin[read], -1)
    found = _passed(before, is_gone & before.of_ops(_PASS_THROUGH), edges, known, port)
    found |= _dropped_out(before, is_gone, edges, known, port)
    names = pairing.names_after
    return {node: str(Endpoint(names[pairing.match[source]], at)) for node, (source, at) in found.items()}


def _passed(graph: Graph, passing: Mask, edges: Ints, known: Ints, port: Ints) -> dict[int, tuple[int, int]]:
    """The pass-through nodes all of whose consumers now read what stands at the start of their chain: node and port.

    Args:
        graph: the first one.
        passing: bool [nodes], gone nodes that hand on their first input.
        edges: those from gone nodes to nodes that are still there.
        known: the node of the first graph that each of the latter now reads in its place, -1 for none.
        port: of that node.
    """
    source, own_port = _sources(graph, passing)
    inside = passing[graph.src[edges]]
    through = graph.src[edges[inside]]
    holds = (source[through] >= 0) & (source[through] == known[inside]) & (own_port[through] == port[inside])
    fits = np.zeros(len(graph), np.bool_)
    fits[through] = True
    np.logical_and.at(fits, through, holds)
    return {node: (int(source[node]), int(own_port[node])) for node in np.flatnonzero(fits).tolist()}


def _dropped_out(graph: Graph, is_gone: Mask, edges: Ints, known: Ints, port: Ints) -> dict[int, tuple[int, int]]:
    """The ends of dropouts that are gone, whose consumers all read what came in: it passes on what it does not drop."""
    reads: dict[int, set[tuple[int, int]]] = defaultdict(set)
    for node, *now in zip(graph.src[edges].tolist(), known.tolist(), port.tolist(), strict=True):
        reads[node].add((now[0], now[1]))
    alike = {node: now.pop() for node, now in reads.items() if len(now) == 1}
    return {node: now for node, now in alike.items() if now[0] >= 0 and _is_dropout(graph, is_gone, node, now)}


def _is_dropout(graph: Graph, is_gone: Mask, end: int, source: tuple[int, int]) -> bool:
    """Whether a few gone nodes lead to ``end``, from ``source`` and from random numbers."""
    inside, waiting, is_fed, is_random = {end}, [end], False, False
    while waiting and len(inside) <= _MOST_IN_DROPOUT:
        node = waiting.pop()
        is_random |= is_random_op(graph.ops[node])
        for edge in graph.edges_into(node):
            other = int(graph.src[edge])
            is_fed |= (other, int(graph.port[edge])) == source
            if is_gone[other] and other not in inside and not graph.control[edge]:
                inside.add(other)
                waiting.append(other)
    return is_fed and is_random


def _sources(graph: Graph, passing: Mask) -> tuple[Ints, Ints]:
    """What stands at the start of each chain of ``passing`` nodes: node (-1 where there is none) and port."""
    source = np.arange(len(graph), dtype=np.int32)
    port = np.zeros(len(graph), np.int32)
    source[passing] = -1
    first = np.flatnonzero(passing[graph.dst] & (graph.slot == 0) & ~graph.control)
    source[graph.dst[first]], port[graph.dst[first]] = graph.src[first], graph.port[first]
    for _ in range(len(graph).bit_length()):
        further = passing & (source >= 0) & passing[source]
        if not further.any():
            return source, port
        step = source[further]
        source[further], port[further] = source[step], port[step]
    source[passing & passing[source]] = -1
    return source, port


def _input_at(graph: Graph, nodes: Ints, slots: Ints) -> tuple[Ints, Ints]:
    """The node and port behind input ``slots[i]`` of ``nodes[i]``; -1 where there is no such data input."""
    at = graph.in_start[nodes] + slots
    inside = at < graph.in_start[nodes + 1]
    at = np.where(inside, at, 0)
    if not len(graph.src):
        return np.full(len(nodes), -1, np.int32), np.full(len(nodes), -1, np.int32)
    fits = inside & (graph.slot[at] == slots) & ~graph.control[at]
    return np.where(fits, graph.src[at], -1).astype(np.int32), graph.port[at]
