"""What calls of library functions do to variables: optimizer steps inside ``If``, ``Case`` and other calls."""

from collections.abc import Collection, Iterable
from typing import Any, NamedTuple

from graphviewer import protos
from graphviewer.analysis import ops
from graphviewer.model.document import Document
from graphviewer.model.function_body import FIRST_ARGUMENT, calls_of
from graphviewer.model.nodes import data_inputs

GRADIENT_ARGUMENTS = frozenset({"grad", "gradient", "delta", "indices", "out_backprop"})
"""What optimizer ops call the gradient; ``indices`` says which rows a sparse one is for."""

NESTED = 8
"""Calls within calls up to which arguments are followed."""


class Uses(NamedTuple):
    """What a function does with its arguments, by their places; or a node with its inputs.

    Attributes:
        trained: variables that optimizer ops change.
        slots: variables that these keep beside them.
        gradients: what their gradients are computed from.
        hyper: what their hyper-parameters are computed from.
        counted: variables that constants are added to.
        assigned: other variables that are assigned to.
    """

    trained: frozenset[int] = frozenset()
    slots: frozenset[int] = frozenset()
    gradients: frozenset[int] = frozenset()
    hyper: frozenset[int] = frozenset()
    counted: frozenset[int] = frozenset()
    assigned: frozenset[int] = frozenset()


def argument_uses(document: Document, ops_inside: dict[int, frozenset[str]]) -> dict[int, Uses]:
    """What calls do with their inputs, by calling node; only calls of functions that change variables.

    Args:
        ops_inside: by calling node, the ops behind it.
    """
    calling = [node for node, inside in ops_inside.items() if any(map(ops.is_variable_write, inside))]
    if not calling:
        return {}
    bodies = {name: _Body(function, document.functions) for name, function in document.functions.items()}
    known: dict[str, Uses] = {}
    for _ in range(NESTED):
        found = {name: body.uses(known) for name, body in bodies.items() if body.changing}
        if found == known:
            break
        known = found
    return {node: _of_call(document.node(node), known) for node in calling}


def _of_call(node: Any, known: dict[str, Uses]) -> Uses:
    """The uses of a call's inputs, over all functions that it may run."""
    offset = FIRST_ARGUMENT.get(node.op, 0)
    called = [known[name] for name in (*protos.function_names(node.attr.values()), node.op) if name in known]
    merged = _merged(called)
    return Uses(*(frozenset(place + offset for place in places) for places in merged))


def _merged(many: Iterable[Uses]) -> Uses:
    columns = zip(*many, strict=True)
    return Uses(*(frozenset().union(*column) for column in columns))


class _Body:
    """The nodes of one function; ``changing`` where it, or what it calls, may change variables."""

    def __init__(self, function: Any, functions: Collection[str]) -> None:
        self._place = {argument.name: place for place, argument in enumerate(function.signature.input_arg)}
        self._nodes = {node.name: node for node in function.node_def}
        self._writing = [node for node in function.node_def if ops.is_variable_write(node.op)]
        self._calls = [function.node_def[call.node] for call in calls_of(function.node_def, functions)]
        self.changing = bool(self._writing or self._calls)

    def uses(self, known: dict[str, Uses]) -> Uses:
        """What the function does with its arguments, as far as what its calls do is ``known``."""
        found: list[dict[str, set[str]]] = [self._of_write(node) for node in self._writing]
        for node in self._calls:
            inputs, uses = data_inputs(node), _of_call(node, known)
            pairs = zip(Uses._fields, uses, strict=True)
            found.append({use: {inputs[place] for place in places if place < len(inputs)} for use, places in pairs})
        return Uses(*(self._arguments({name for one in found for name in one.get(use, ())}) for use in Uses._fields))

    def _of_write(self, node: Any) -> dict[str, set[str]]:
        inputs = data_inputs(node)
        if not ops.is_apply_op(node.op):
            counts = node.op in ops.ASSIGN_ADD_OPS and not self._arguments(inputs[1:])
            return {"counted" if counts else "assigned": set(inputs[:1])}
        found: dict[str, set[str]] = {}
        arguments = ops.arguments(node) or []
        for place, (source, argument) in enumerate(zip(inputs, arguments, strict=False)):
            use = "gradients" if argument.name in GRADIENT_ARGUMENTS else "hyper"
            use = ("slots" if place else "trained") if argument.is_handle else use
            found.setdefault(use, set()).add(source)
        return found

    def _arguments(self, names: Iterable[str]) -> frozenset[int]:
        """Places of the arguments that ``names`` are, or depend on."""
        found, seen, stack = set(), set(), list(names)
        while stack:
            name = stack.pop().partition(":")[0]
            if name in seen:
                continue
            seen.add(name)
            if name in self._place:
                found.add(self._place[name])
            elif name in self._nodes:
                stack += data_inputs(self._nodes[name])
        return frozenset(found)
