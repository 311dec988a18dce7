"""Would TensorFlow import this graph? What an operation hands out is looked at with this, without TensorFlow.

Source: what ``tensorflow/core/common_runtime/graph_constructor.cc`` and ``core/framework/node_def_util.cc`` refuse.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from graphviewer.analysis.check import check
from graphviewer.analysis.dtypes import REF, UNKNOWN, input_dtypes, output_dtypes
from graphviewer.model.document import Document
from graphviewer.model.problem import Problem
from graphviewer.protos import dtype_name

_REFUSED = frozenset({"bad-name", "colocation"})
"""Kinds that ``check`` calls harmless, for viewing them is, but that stop an import."""


def import_faults(document: Document) -> list[Problem]:
    """Everything in a graph and its functions that TensorFlow would refuse to import.

    Unregistered ops are no fault: the library that registers them may be loaded. (2,000 nodes: 0.02 s; 16,500 nodes
    with 475,000 edges: 0.3 s.)
    """
    found = [problem for problem in check(document) if problem.severity == "error" or problem.kind in _REFUSED]
    return [*found, *_edge_dtypes(document)]


def _edge_dtypes(document: Document) -> Iterator[Problem]:
    """Data edges whose two ends disagree about the dtype."""
    graph, functions = document.graph, document.functions
    edges = np.flatnonzero(~graph.control)
    columns = (graph.src[edges], graph.dst[edges], graph.port[edges], graph.slot[edges])
    given: dict[int, list[int] | None] = {}
    wanted, reader = None, -1
    for source, target, port, slot in zip(*(column.tolist() for column in columns), strict=True):
        if target != reader:
            reader = target
            wanted = input_dtypes(document.node(target), functions)
        if source not in given:
            given[source] = output_dtypes(document.node(source), functions)
        gives, takes = _at(given[source], port), _at(wanted, slot)
        if UNKNOWN not in (gives, takes) and not _fits(gives, takes):
            name, node = graph.names[source], graph.names[target]
            tensor = f"{name}:{port}" if port else name
            reason = f"'{node}' takes {dtype_name(takes)} as input {slot}, but '{tensor}' gives {dtype_name(gives)}."
            yield Problem("edge-dtype", "error", reason, "", node)


def _at(dtypes: list[int] | None, place: int) -> int:
    return dtypes[place] if dtypes is not None and place < len(dtypes) else UNKNOWN


def _fits(gives: int, takes: int) -> bool:
    """A reference may be read as a value, but no value as a reference."""
    return gives == takes or gives - REF == takes


def new_faults(before: Document, after: Document) -> tuple[list[Problem], list[Problem]]:
    """The faults of ``after``: those that were made between the two, and those that ``before`` had.

    A fault may move to other nodes (who read a removed node reads its bad input now): it is new when ``before`` had
    none of its kind.
    """
    found = import_faults(after)
    if not found:
        return [], []
    had = {problem.kind for problem in import_faults(before)}
    return [one for one in found if one.kind not in had], [one for one in found if one.kind in had]
