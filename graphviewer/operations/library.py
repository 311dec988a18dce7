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
    found: set[str] = set()
    for node in nodes:
        if _has_function_attribute(node.op):
            found.update(protos.function_names(node.attr.values()))
        if node.op in known:
            found.add(node.op)
    return found


def reached(nodes: Iterable[Any], library: Any) -> set[str]:
    """Names of the functions of ``library`` that nodes call, directly or through others, and of their gradients."""
    functions = {function.signature.name: function for function in library.function}
    gradients: dict[str, list[str]] = {}
    for gradient in library.gradient:
        gradients.setdefault(gradient.function_name, []).append(gradient.gradient_func)
    found: set[str] = set()
    stack = list(called(nodes, functions)) if functions else []
    while stack:
        name = stack.pop()
        if name not in found and name in functions:
            found.add(name)
            stack.extend(called(functions[name].node_def, functions))
            stack.extend(gradients.get(name, ()))
    return found


def pruned_library(graph_def: Any, library: Any) -> None:
    """Copy to ``graph_def`` the functions of ``library`` that its nodes reach, with their gradients, in file order."""
    needed = reached(graph_def.node, library)
    if needed:
        graph_def.library.function.extend(f for f in library.function if f.signature.name in needed)
        graph_def.library.gradient.extend(g for g in library.gradient if g.function_name in needed)
