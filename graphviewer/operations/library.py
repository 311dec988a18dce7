"""The functions that a graph still calls."""

from collections.abc import Iterable
from functools import cache
from typing import Any

from graphviewer import protos


@cache
def _has_function_attribute(op: str) -> bool:
    """The op may name functions in its attributes; unknown ops may."""
    definition = protos.op_def(op)
    return definition is None or any("func" in attribute.type for attribute in definition.attr)


def called(nodes: Iterable[Any], functions: Iterable[str] = ()) -> set[str]:
    """Names of the functions that nodes call: by attribute, or by an op of that name."""
    known = frozenset(functions)
    found = set()
    for node in nodes:
        if _has_function_attribute(node.op):
            found.update(protos.function_names(node.attr.values()))
        if node.op in known:
            found.add(node.op)
    return found


def pruned_library(graph_def: Any, library: Any) -> None:
    """Copy to ``graph_def`` the functions of ``library`` that its nodes reach, with their gradients, in file order."""
    functions = {function.signature.name: function for function in library.function}
    if not functions:
        return
    gradients: dict[str, list[str]] = {}
    for gradient in library.gradient:
        gradients.setdefault(gradient.function_name, []).append(gradient.gradient_func)
    needed: set[str] = set()
    stack = list(called(graph_def.node, functions))
    while stack:
        name = stack.pop()
        if name not in needed and name in functions:
            needed.add(name)
            stack.extend(called(functions[name].node_def, functions))
            stack.extend(gradients.get(name, ()))
    graph_def.library.function.extend(function for name, function in functions.items() if name in needed)
    graph_def.library.gradient.extend(g for g in library.gradient if g.function_name in needed)
