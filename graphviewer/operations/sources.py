"""Warnings about where a result gets its data from: nowhere, or an input pipeline that nothing fills any more."""

from __future__ import annotations

import numpy as np

from graphviewer.analysis.ops import PLACEHOLDER_OPS, is_pipeline_output, is_pipeline_source, is_queue_runner_op
from graphviewer.model.graph import Graph, Mask
from graphviewer.operations.selection import Selection

_ITERATORS = frozenset({"Iterator", "IteratorV2", "MultiDeviceIterator"})
_MAKERS = frozenset({"MakeIterator", "MultiDeviceIteratorInit"})


def without_input(selection: Selection) -> list[str]:
    """Outputs that give the same value whatever is fed."""
    graph = selection.graph
    sources = graph.of_ops(PLACEHOLDER_OPS) | graph.of_ops(is_pipeline_output)
    sources[list(selection.fed)] = True
    numbers = [graph.index[output.node] for output in selection.outputs]
    pairs = zip(selection.outputs, numbers, strict=True)
    return [str(output) for output, number in pairs if not (graph.ancestors([number], control=False) & sources).any()]


def source_warnings(selection: Selection) -> list[str]:
    """Warnings for outputs that depend on no input, and for a pipeline that cannot run in the result."""
    constant = [
        f"'{name}' depends on no input: it gives the same value whatever is fed." for name in without_input(selection)
    ]
    return [*constant, *_unfilled(selection)]


def _unfilled(selection: Selection) -> list[str]:
    graph = selection.graph
    outputs = np.flatnonzero(graph.of_ops(is_pipeline_source) & selection.mask).tolist()
    if not outputs:
        return []
    fillers = graph.of_ops(is_filler)
    dry = [number for number in outputs if _is_dry(graph, number, selection.mask, fillers)]
    if not dry:
        return []
    what = "initializer" if graph.ops[dry[0]].startswith(("Iterator", "MultiDevice")) else "queue runners"
    reads = f"The result still reads the input pipeline at {graph.names[dry[0]]}"
    return [f"{reads}, which cannot run without its {what}; name an input{_suggestion(selection)}."]


def is_filler(op: str) -> bool:
    """The op makes an iterator ready, or fills a queue."""
    return op in _MAKERS or is_queue_runner_op(op)


def _is_dry(graph: Graph, number: int, kept: Mask, fillers: Mask) -> bool:
    """What the node reads from is an iterator or queue, and nothing that is kept fills it."""
    handles = [
        source
        for source in np.flatnonzero(graph.ancestors([number], control=False) & kept).tolist()
        if graph.ops[source] in _ITERATORS or _is_queue(graph.ops[source])
    ]
    return any(not any(kept[reader] and fillers[reader] for reader in graph.consumers(one)) for one in handles)


def _is_queue(op: str) -> bool:
    return op.removesuffix("V2").endswith("Queue") and op != "FakeQueue"


def _suggestion(selection: Selection) -> str:
    """``, for instance images``: the likeliest input, where one suggests itself that is no pipeline's own."""
    from graphviewer.analysis.endpoints import suggest_inputs

    found = suggest_inputs(selection.document, selection.outputs, limit=1)
    return f", for instance {found[0].name}" if found else ""
