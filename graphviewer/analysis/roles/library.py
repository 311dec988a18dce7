"""Which ops the functions of the library run, nested calls included."""

from collections.abc import Mapping

from graphviewer.model.document import Document
from graphviewer.model.function_body import calls_of


def function_ops(document: Document) -> dict[int, frozenset[str]]:
    """The ops behind every node that calls library functions, by node number.

    Functions may call each other in rings; callees of callees are gathered without recursion.
    """
    functions = document.functions
    calls = calls_of(document.graph_def.node, functions) if functions else []
    if not calls:
        return {}
    own = {name: {node.op for node in function.node_def} for name, function in functions.items()}
    callees = {
        name: {called for call in calls_of(function.node_def, functions) for _, called in call.functions}
        for name, function in functions.items()
    }
    gathered: dict[str, frozenset[str]] = {}
    found = {}
    for call in calls:
        names = {name for _, name in call.functions}
        for name in names - gathered.keys():
            gathered[name] = frozenset().union(*(own[one] for one in _reach(name, callees)))
        found[call.node] = frozenset().union(*(gathered[name] for name in names))
    return found


def _reach(name: str, callees: Mapping[str, set[str]]) -> set[str]:
    seen, stack = set(), [name]
    while stack:
        current = stack.pop()
        if current not in seen:
            seen.add(current)
            stack.extend(callees[current])
    return seen
