"""Which nodes cannot be the output of an inference graph, and why: by structure around the node alone, so that it is
quick in any graph.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

from graphviewer.analysis import ops
from graphviewer.analysis.control_flow import inside_loops
from graphviewer.analysis.dtypes import output_dtypes
from graphviewer.model.document import Document
from graphviewer.model.function_body import calls_of
from graphviewer.model.graph import Graph
from graphviewer.model.names import Endpoint
from graphviewer.protos import DataType

_PLUMBING = frozenset({"Cast", "Identity", "Reshape", "Slice"})
_WAITING = frozenset({"Identity", "NoOp"})

SAVES = "it belongs to saving and restoring checkpoints"
INITIALIZES = "it only gives variables their first values"


def refuse_output(document: Document, endpoint: Endpoint) -> str | None:
    """Why a node can not be an output, as the end of a sentence; None for one that can."""
    graph = document.graph
    number = graph.index[endpoint.node]
    return _refused_by_itself(document, number, endpoint.port) or _refused_by_use(document, graph, number)


def _refused_by_itself(document: Document, number: int, port: int) -> str | None:
    node = document.node(number)
    dtypes = output_dtypes(node, document.functions)
    if ops.is_variable_write(node.op):
        return f"it changes a variable (op {node.op})"
    if node.op in ops.CHECKPOINT_OPS:
        return SAVES
    if ops.is_summary_op(node.op):
        return f"it records a summary for TensorBoard (op {node.op})"
    if dtypes == []:
        return f"it gives no value (op {node.op})"
    if dtypes is not None and port >= len(dtypes):
        return f"it has no output {port}: op {node.op} gives {len(dtypes)} here"
    if node.op == "VarHandleOp":
        return "it is the handle of a variable, not its value; choose a node that reads it"
    if dtypes and dtypes[port] == DataType.RESOURCE:
        return f"it is a handle, not a value (op {node.op})"
    return None


def _refused_by_use(document: Document, graph: Graph, number: int) -> str | None:
    if inside_loops(graph)[number]:
        return "it lies inside a loop, where a value is computed anew in every iteration; choose the loop's Exit"
    if _restores(graph, number) or _waits_for_saving(graph, number) or calls_saving(document, number):
        return SAVES
    ends = _ends(graph, number)
    if ends and ends <= ops.CHECKPOINT_OPS:
        return SAVES
    if ends and ends & ops.ASSIGN_OPS and ends <= ops.CHECKPOINT_OPS | ops.ASSIGN_OPS and _is_fixed(graph, number):
        return INITIALIZES
    return None


def _restores(graph: Graph, number: int) -> bool:
    """The node hands on a value that was read from a checkpoint."""
    seen = set()
    while number not in seen and graph.ops[number] in _PLUMBING:
        seen.add(number)
        number = next(iter(graph.inputs(number)), number)
    return graph.ops[number] in ops.RESTORE_OPS


def _waits_for_saving(graph: Graph, number: int) -> bool:
    """The node waits until a checkpoint is written, itself or through groups."""
    if graph.ops[number] not in _WAITING:
        return False
    seen, stack = {number}, [number]
    while stack:
        edges = graph.edges_into(stack.pop())
        for source in graph.src[edges[graph.control[edges]]].tolist():
            if graph.ops[source] in ops.SAVE_OPS:
                return True
            if graph.ops[source] == "NoOp" and source not in seen:
                seen.add(source)
                stack.append(source)
    return False


def calls_saving(document: Document, number: int) -> bool:
    """Whether a node calls a function that saves or restores, itself or in functions that it calls."""
    functions = document.functions
    if not functions:
        return False
    seen: set[str] = set()
    stack = _called([document.node(number)], functions)
    while stack:
        name = stack.pop()
        if name in seen:
            continue
        seen.add(name)
        nodes = functions[name].node_def
        if any(node.op in ops.CHECKPOINT_OPS for node in nodes):
            return True
        stack += _called(nodes, functions)
    return False


def _called(nodes: Sequence[Any], functions: Collection[str]) -> list[str]:
    return [name for call in calls_of(nodes, functions) for _, name in call.functions]


def _ends(graph: Graph, number: int) -> set[str]:
    """Ops of the checkpoint and assignment nodes in which all that is computed from a node ends.

    Empty when anything of it ends elsewhere, for then it has another use.
    """
    ends_here: Callable[[str], bool] = (ops.CHECKPOINT_OPS | ops.ASSIGN_OPS).__contains__
    found, reached, stack = set(), {number}, graph.consumers(number)
    while stack:
        node = stack.pop()
        if ends_here(graph.ops[node]):
            found.add(graph.ops[node])
        elif _waits_for_saving(graph, node):
            found.add("SaveV2")
        elif node not in reached:
            reached.add(node)
            further = graph.consumers(node)
            if not further:
                return set()
            stack.extend(further)
    return found


def _is_fixed(graph: Graph, number: int) -> bool:
    """Nothing that the node is computed from can change between runs."""
    behind = graph.ancestors([number])
    changing = graph.of_ops(ops.VARIABLE_OPS | ops.PLACEHOLDER_OPS) | graph.of_ops(ops.is_pipeline_op)
    return not bool((behind & changing).any())
