"""Which ops the functions of the library run, nested calls included."""

from functools import cache
from typing import Any

from graphviewer import protos
from graphviewer.model.document import Document

_NOTHING: frozenset[str] = frozenset()


def function_ops(document: Document) -> dict[int, frozenset[str]]:
    """The ops behind every node that calls library functions, by node number.

    Functions may call each other in rings; callees of callees are gathered without recursion.
    """
    calls = _calls(document.graph_def.node, document.functions)
    if not calls:
        return {}
    own = {name: {node.op for node in function.node_def} for name, function in document.functions.items()}
    callees = {
        name: {called for node in function.node_def for called in _called(node, document.functions)}
        for name, function in document.functions.items()
    }
    gathered: dict[str, frozenset[str]] = {}
    found = {}
    for node, names in calls.items():
        for name in names:
            if name not in gathered:
                gathered[name] = frozenset().union(*(own[one] for one in _reach(name, callees)))
        found[node] = _NOTHING.union(*(gathered[name] for name in names))
    return found


def _calls(nodes: Any, functions: dict[str, Any]) -> dict[int, set[str]]:
    if not functions:
        return {}
    found = ((number, _called(node, functions)) for number, node in enumerate(nodes) if _may_call(node.op))
    return {number: names for number, names in found if names}


@cache
def _may_call(op: str) -> bool:
    """The op takes a function as an attribute, or is not registered."""
    definition = protos.op_def(op)
    return definition is None or any(attr.type in ("func", "list(func)") for attr in definition.attr)


def _called(node: Any, functions: dict[str, Any]) -> set[str]:
    """Functions that a node calls: in its attributes, or by its op (TF1's Defun)."""
    called = {name for name in protos.function_names(node.attr.values()) if name in functions}
    return called | {node.op} if node.op in functions else called


def _reach(name: str, callees: dict[str, set[str]]) -> set[str]:
    seen, stack = set(), [name]
    while stack:
        current = stack.pop()
        if current not in seen:
            seen.add(current)
            stack.extend(callees[current])
    return seen
