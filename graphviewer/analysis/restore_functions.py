"""What the restore function of a TF2 SavedModel writes to which variable: it restores into handles that it is given."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from graphviewer.model.document import Document
from graphviewer.model.graph import Ints
from graphviewer.model.tensors import TensorError, tensor_value

BETWEEN = frozenset({"Identity", "Reshape", "Cast"})
"""Ops between what is read from a checkpoint and its assignment."""

MAX_STEPS = 4
"""Of those, one after the other."""


class Restored(NamedTuple):
    """What a function restores into one argument.

    Attributes:
        key: name in the checkpoint.
        spec: shape and slice as RestoreV2 takes them; empty for the whole value.
        function: name of the function.
    """

    key: str
    spec: str
    function: str


def restored_by_functions(document: Document, behind: Ints) -> Iterator[tuple[int, Restored]]:
    """Variables whose handles are handed to a function that restores into its arguments.

    Args:
        behind: int32 [n]: the variable that each node hands on, as ``variables_behind`` gives it.
    """
    graph = document.graph
    for number, table in restore_calls(document).items():
        for edge in graph.edges_into(number).tolist():
            found = table.get(int(graph.slot[edge]))
            variable = int(behind[graph.src[edge]])
            if found is not None and variable >= 0:
                yield variable, found


def restore_calls(document: Document) -> dict[int, dict[int, Restored]]:
    """Nodes that call a function which restores variables, by number, with what it restores into which argument."""
    tables = {name: _restored_arguments(function) for name, function in document.functions.items()}
    restoring = {name: table for name, table in tables.items() if table}
    if not restoring:
        return {}
    calls = ((at, node.attr["f"].func.name) for at, node in enumerate(document.graph_def.node) if "f" in node.attr)
    return {at: restoring[name] for at, name in calls if name in restoring}


def _restored_arguments(function: Any) -> dict[int, Restored]:
    """By argument: what a function's RestoreV2 reads for it."""
    nodes = {node.name: node for node in function.node_def}
    if not any(node.op == "RestoreV2" for node in nodes.values()):
        return {}
    arguments = {argument.name: number for number, argument in enumerate(function.signature.input_arg)}
    found = {}
    for node in nodes.values():
        if node.op != "AssignVariableOp" or len(node.input) < 2 or node.input[0] not in arguments:
            continue
        restored = _restored_value(node.input[1], nodes, function.signature.name)
        if restored is not None:
            found[arguments[node.input[0]]] = restored
    return found


def _restored_value(text: str, nodes: Mapping[str, Any], function: str) -> Restored | None:
    """What is read behind a value in a restore function's body, as its RestoreV2 and constants say."""
    for _ in range(MAX_STEPS):
        node = nodes.get(text.split(":")[0])
        if node is None or node.op not in BETWEEN or not node.input:
            break
        text = node.input[0]
    if node is None or node.op != "RestoreV2" or len(node.input) < 3:
        return None
    port = text.rpartition(":")[2]
    names, specs = (constant_strings(nodes.get(given.split(":")[0])) for given in node.input[1:3])
    at = int(port) if port.isdigit() else 0
    if at >= len(names):
        return None
    return Restored(names[at], specs[at] if at < len(specs) else "", function)


def constant_strings(node: Any) -> list[str]:
    """The strings of a constant; empty for what is none, or is damaged."""
    if node is None or node.op != "Const" or "value" not in node.attr:
        return []
    try:
        values = tensor_value(node.attr["value"].tensor).ravel()
    except TensorError:
        return []
    return [value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value) for value in values]
