"""Which nodes cannot be the output of an inference graph, and why."""

from __future__ import annotations

from collections.abc import Sequence

from graphviewer.analysis.ops import (
    PLACEHOLDER_OPS,
    RESTORE_OPS,
    SAVE_OPS,
    VARIABLE_OPS,
    is_pipeline_op,
    is_summary_op,
    is_variable_write,
    op_mask,
)
from graphviewer.errors import OperationError
from graphviewer.model.document import Document
from graphviewer.model.graph import Graph
from graphviewer.model.names import Endpoint
from graphviewer.operations.tensor_types import output_dtypes
from graphviewer.protos import DataType

_INITIAL_ASSIGNS = frozenset({"Assign", "AssignVariableOp"})
_HINT = "The outputs verb and the Endpoints panel list candidates."


def require_outputs(document: Document, outputs: Sequence[Endpoint]) -> None:
    """Refuse outputs that compute nothing anybody wants of an inference graph, all of them in one message.

    Raises:
        OperationError: for each of them, the reason.
    """
    if not outputs:
        raise OperationError("No output was named.", _HINT)
    reasons = [(endpoint, refusal(document, endpoint)) for endpoint in outputs]
    refused = [f"'{endpoint}' {reason}" for endpoint, reason in reasons if reason]
    if refused:
        raise OperationError("; ".join(refused) + ".", _HINT)


def refusal(document: Document, endpoint: Endpoint) -> str:
    """Why an endpoint cannot be an output, as the end of a sentence; empty when it can."""
    graph = document.graph
    number = graph.index[endpoint.node]
    op = graph.ops[number]
    if op == "NoOp":
        return "is a NoOp: it groups other nodes and has no value"
    if op in SAVE_OPS or op in RESTORE_OPS:
        return f"({op}) saves or restores a checkpoint"
    if is_variable_write(op):
        return f"({op}) changes a variable"
    if is_summary_op(op):
        return f"({op}) records a summary for TensorBoard"
    dtypes = output_dtypes(document, number)
    if dtypes is not None and endpoint.port >= len(dtypes):
        return f"({op}) has no output {endpoint.port}" if dtypes else f"({op}) has no outputs"
    if _only_initialises(graph, number):
        return f"({op}) only computes the initial value of a variable"
    if dtypes and dtypes[endpoint.port] == DataType.RESOURCE and op not in VARIABLE_OPS:
        return f"({op}) is a handle, not a value"
    return ""


def _only_initialises(graph: Graph, number: int) -> bool:
    """Everything computed from the node ends in assignments, and nothing that it is computed from can change."""
    reached, stack = {number}, graph.consumers(number)
    assigns = False
    while stack:
        node = stack.pop()
        if graph.ops[node] in _INITIAL_ASSIGNS:
            assigns = True
        elif node not in reached:
            reached.add(node)
            further = graph.consumers(node)
            if not further:
                return False
            stack.extend(further)
    if not assigns:
        return False
    behind = graph.ancestors([number])
    changing = op_mask(graph, VARIABLE_OPS | PLACEHOLDER_OPS) | op_mask(graph, is_pipeline_op)
    return not bool((behind & changing).any())
