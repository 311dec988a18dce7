"""What can be fetched from a graph, and what to fetch when nobody says."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from graphviewer.analysis.candidates.ports import result_ports
from graphviewer.analysis.control_flow import inside_branches, inside_loops
from graphviewer.analysis.dtypes import output_dtypes
from graphviewer.analysis.endpoints import suggest_outputs
from graphviewer.analysis.ops import PLACEHOLDER_OPS, SAVE_OPS, is_variable_write
from graphviewer.analysis.refusals import refuse_output
from graphviewer.errors import OperationError
from graphviewer.model.document import Document
from graphviewer.model.endpoints import endpoints_named, signed
from graphviewer.model.names import Endpoint
from graphviewer.protos import DataType, dtype_name

MOST_ENDS = 10
_NO_ENDS = PLACEHOLDER_OPS | {"Const", "IsVariableInitialized", "VarIsInitializedOp"}


def fetchable(document: Document, names: Sequence[str]) -> list[Endpoint]:
    """The endpoints that names mean, all of which a run can give.

    Raises:
        UnknownNameError: a name means no node.
        OperationError: a node gives no value, or would change or write something; the message says why.
    """
    found = endpoints_named(document, names, "outputs")
    for end in found:
        reason = _refusal(document, end)
        if reason:
            raise OperationError(f"'{end}' cannot be run for its value: {reason}.", "Choose a node that computes one.")
    return found


def _refusal(document: Document, end: Endpoint) -> str:
    number = document.graph.index[end.node]
    op = document.graph.ops[number]
    if op in SAVE_OPS or is_variable_write(op):
        return f"{op} writes a checkpoint" if op in SAVE_OPS else f"{op} changes a variable"
    dtypes = output_dtypes(document.node(number), document.functions)
    if dtypes is not None and end.port >= len(dtypes):
        return f"{op} has {len(dtypes)} outputs" if dtypes else f"{op} gives none"
    dtype = dtypes[end.port] % 100 if dtypes else 0
    if dtype in (DataType.RESOURCE, DataType.VARIANT):
        return f"it is a {dtype_name(dtype)}"
    if inside_loops(document.graph)[number]:
        return "it lies inside a loop, where it has a value in every iteration; choose the loop's Exit"
    return ""


def default_outputs(after: Document, before: Document) -> list[str]:
    """Names that both graphs have: the signatures' outputs, the few ends of the graph, or the best suggestion.

    Raises:
        OperationError: the graphs have no such name in common.
    """
    suggested = (one.name for one in suggest_outputs(after) if gives_value(after, one.name))
    for found in (_signed(after), list(map(str, ends(after))), list(itertools.islice(suggested, 1))):
        both = [name for name in found if gives_value(before, name) and gives_value(after, name)]
        if both and len(both) <= MOST_ENDS:
            return both
    raise OperationError("The two graphs have no output in common.", "Name a pair of them as ORIGINAL=RESULT.")


def gives_value(document: Document, name: str) -> bool:
    """The graph has the tensor, and a run can fetch it."""
    end = Endpoint.parse(name)
    return end.node in document.graph.index and not _refusal(document, end)


def _signed(document: Document) -> list[str]:
    return [str(end) for end in dict.fromkeys(end for _, _, end in signed(document, "outputs"))]


def ends(document: Document) -> list[Endpoint]:
    """Results of nodes that nobody reads and that can be outputs, the first few.

    Those that run only when a conditional goes their way are left out.
    """
    graph = document.graph
    in_branch = inside_branches(graph)
    read = set(graph.src[~graph.control].tolist())
    unread = (
        number
        for number in np.flatnonzero(~in_branch).tolist()
        if number not in read and graph.ops[number] not in _NO_ENDS
    )
    found: list[Endpoint] = []
    for number in unread:
        own = (Endpoint(graph.names[number], port) for port in result_ports(document, number))
        found += [end for end in own if not refuse_output(document, end) and not _refusal(document, end)]
        if len(found) > MOST_ENDS:
            break
    return found
