"""Find pass-through nodes that are gone while what read them now reads their input."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from graphviewer.analysis.diff.pairing import Pairing
from graphviewer.analysis.ops import CHECK_OPS
from graphviewer.model.graph import Graph, Ints, Mask
from graphviewer.model.names import Endpoint

_PASS_THROUGH = CHECK_OPS - {"Assert", "PrintV2"} | {
    "Identity",
    "PlaceholderWithDefault",
    "PreventGradient",
    "ReadVariableOp",
    "RefIdentity",
    "Snapshot",
    "StopGradient",
}
"""Hand on their first input."""


def spliced(pairing: Pairing, gone: Sequence[int]) -> Mapping[int, str]:
    """The nodes among ``gone`` that were spliced out, with the endpoint that their consumers read instead.

    Every consumer that is still there must read the input at the same place; a chain of gone pass-through nodes is
    followed to its start.
    """
    passing = np.flatnonzero(pairing.before.graph.of_ops(_PASS_THROUGH))
    passing = passing[np.isin(passing, gone)]
    if not len(passing):
        return {}
    before, after = pairing.before.graph, pairing.after.graph
    mask = np.zeros(len(before), np.bool_)
    mask[passing] = True
    source, port = _sources(before, mask)
    edges = np.flatnonzero(mask[before.src] & ~before.control & (pairing.match[before.dst] >= 0))
    through = before.src[edges]
    read, read_port = _input_at(after, pairing.match[before.dst[edges]], before.slot[edges])
    wanted = source[through]
    holds = (wanted >= 0) & (pairing.match[wanted] == read) & (read >= 0) & (port[through] == read_port)
    fits = np.zeros(len(before), np.bool_)
    fits[through] = True
    np.logical_and.at(fits, through, holds)
    names = pairing.names_after
    return {
        node: str(Endpoint(names[pairing.match[source[node]]], int(port[node])))
        for node in np.flatnonzero(fits).tolist()
    }


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
