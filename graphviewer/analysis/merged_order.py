"""The nodes of a merged graph in the order of the first graph, so that its drawing keeps the first one's places.

Layouts break ties by the order of nodes: with all removed nodes at the end, those that stay would move.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from graphviewer import protos
from graphviewer.analysis.merge import Merged, Statuses
from graphviewer.model.document import Document
from graphviewer.model.graph import Graph, Ints
from graphviewer.model.overlay import Overlay


def in_place(merged: Merged) -> Merged:
    """The same union, every node of the first graph in its order there, an added one behind what it follows."""
    order = _order(merged)
    if np.array_equal(order, np.arange(len(order))):
        return merged
    numbers, old = order.tolist(), merged.document
    graph_def = protos.GraphDef(versions=old.graph_def.versions)
    graph_def.library.CopyFrom(old.graph_def.library)
    # Through Python: nodes with thousands of inputs each, copied in one call, would keep the GIL from the window.
    graph_def.node.extend(map(old.node, numbers))
    document = Document(old.kind, graph_def, title=old.title, meta=old.meta)
    graph, edge_status = _reordered(old.graph, order, merged.edge_status)
    if not old.graph.dangling:
        vars(document)["graph"] = graph  # what the document would work out itself, four times slower
    overlay = merged.overlay
    return replace(
        merged,
        document=document,
        overlay=Overlay(overlay.kind, overlay.categories, overlay.codes[order], _taken(overlay.reasons, numbers)),
        from_before=merged.from_before[order],
        from_after=merged.from_after[order],
        edge_status=edge_status,
    )


def _order(merged: Merged) -> Ints:
    """int32 [nodes], the node of the union that comes at each place."""
    count = len(merged.from_before)
    is_old = merged.from_before >= 0
    last = np.maximum.accumulate(np.where(is_old, np.arange(count), -1))  # added nodes come right behind it
    place = np.where(last >= 0, merged.from_before[last], -1)
    return np.lexsort((np.arange(count), ~is_old, place)).astype(np.int32)


def _reordered(graph: Graph, order: Ints, status: Statuses) -> tuple[Graph, Statuses]:
    """The columns with other node numbers, edges by node and slot as ever."""
    place = np.empty(len(order), np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)
    src, dst = place[graph.src], place[graph.dst]
    edges = np.lexsort((graph.slot, dst))
    numbers = order.tolist()
    names, ops, devices = (_taken(column, numbers) for column in (graph.names, graph.ops, graph.devices))
    found = Graph(names, ops, devices, src[edges], dst[edges], graph.port[edges], graph.slot[edges])
    return found, status[edges]


def _taken(values: Sequence[str], numbers: Sequence[int]) -> list[str]:
    return [values[number] for number in numbers]
