"""A library function as columns: arguments, nodes and results numbered from 0, once for all of its calls."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from graphviewer import protos
from graphviewer.model.graph import Ints
from graphviewer.model.names import CONTROL_PORT

ARGUMENT_OP, RESULT_OP = "_Arg", "_Retval"
"""Ops that TensorFlow gives to the ends of a function when it makes a graph of it."""

FIRST_ARGUMENT: Mapping[str, int] = MappingProxyType(
    {
        **dict.fromkeys(("PartitionedCall", "StatefulPartitionedCall", "While", "StatelessWhile"), 0),
        **dict.fromkeys(("If", "StatelessIf", "Case", "StatelessCase", "RemoteCall"), 1),
    }
)
"""The input of a call that its functions get as their first argument."""

FEW = 8
"""Arguments, or results, of one kind that stand by themselves; more are put into a scope."""


class Call(NamedTuple):
    """A node that calls functions: (attribute, function) of each."""

    node: int
    functions: tuple[tuple[str, str], ...]


@dataclass(frozen=True, eq=False)
class FunctionBody:
    """What a call shows when it is opened.

    Arguments come first, one ``_Arg`` node each, then the nodes, then the results, one ``_Retval`` node each. Edges are
    sorted like those of a ``Graph``.

    Attributes:
        names: within the function; of the ends too, which may have a scope of their own (``arguments/x``).
        nodes: NodeDefs as in the file (``name`` is local, inputs are written ``add:z:0``), and those of the ends.
        src, dst, port, slot: int32 [edges], as in ``Graph``.
        arguments: how many.
        calls: nodes that call functions themselves.
        scopes: paths that are scopes of the names.
    """

    names: Sequence[str]
    nodes: Sequence[Any]
    src: Ints
    dst: Ints
    port: Ints
    slot: Ints
    arguments: int
    calls: Sequence[Call]
    scopes: Collection[str]

    @classmethod
    def of(cls, function: Any, functions: Mapping[str, Any]) -> FunctionBody:
        """The body of a FunctionDef; inputs that name nothing get no edge."""
        signature = function.signature
        arguments = [_end(ARGUMENT_OP, one, at) for at, one in enumerate(signature.input_arg)]
        results = [_end(RESULT_OP, one, at) for at, one in enumerate(signature.output_arg)]
        nodes = [*arguments, *function.node_def, *results]
        index: dict[str, int] = {}
        for number, node in enumerate(nodes[: len(nodes) - len(results)]):
            index.setdefault(node.name, number)
        edges = _edges(nodes, index, functions)
        for number, argument in enumerate(signature.output_arg, len(nodes) - len(results)):
            text = function.ret.get(argument.name, "")
            edges += _edge(text, number, 0, nodes, index, functions)
        src, dst, port, slot = np.array(edges, np.int32).reshape(-1, 4).T
        names = _names(nodes, len(arguments), len(results))
        calls = calls_of(nodes, functions)
        return cls(names, nodes, src, dst, port, slot, len(arguments), calls, scope_paths(names))

    def __len__(self) -> int:
        return len(self.names)


def calls_of(nodes: Sequence[Any], functions: Collection[str]) -> list[Call]:
    """The nodes that call functions of the library: in an attribute, or by their op (TF1's Defun)."""
    may_call = {op for op in {node.op for node in nodes} if op in functions or _names_functions(op)}
    found = []
    for number, node in enumerate(nodes):
        if node.op in may_call:
            called = [one for one in _called(node) if one[1] in functions]
            if node.op in functions:
                called.append(("f", node.op))
            if called:
                found.append(Call(number, tuple(called)))
    return found


@cache
def _function_attributes(op: str) -> tuple[str, ...] | None:
    """Attributes that name functions, in the order of the op (``cond``, then ``body``); None for unknown ops."""
    definition = protos.op_def(op)
    return None if definition is None else tuple(one.name for one in definition.attr if "func" in one.type)


def _names_functions(op: str) -> bool:
    """The op may name functions in its attributes; unknown ops may."""
    return _function_attributes(op) != ()


def _called(node: Any) -> Iterable[tuple[str, str]]:
    known = _function_attributes(node.op)
    for key in sorted(node.attr) if known is None else known:
        if key in node.attr:
            value = node.attr[key]
            if value.HasField("func"):
                yield key, value.func.name
            elif value.HasField("list"):
                yield from ((f"{key}_{at}", one.name) for at, one in enumerate(value.list.func))


def scope_paths(names: Iterable[str]) -> set[str]:
    """All paths that are scopes of some names."""
    found: set[str] = set()
    for name in names:
        path = name.rpartition("/")[0]
        while path and path not in found:
            found.add(path)
            path = path.rpartition("/")[0]
    return found


def _end(op: str, argument: Any, index: int) -> Any:
    """The node of an argument or result."""
    node = protos.NodeDef(name=argument.name, op=op)
    if argument.type:
        node.attr["T"].type = argument.type
    node.attr["index"].i = index
    return node


def _names(nodes: Sequence[Any], arguments: int, results: int) -> list[str]:
    """Names of all nodes, the ends renamed where a node of the body has theirs, and gathered where they are many."""
    first_result = len(nodes) - results
    inner = [node.name for node in nodes[arguments:first_result]]
    taken = {*inner, *scope_paths(inner)}
    first = _end_names(nodes[:arguments], "arguments", taken)
    return [*first, *inner, *_end_names(nodes[first_result:], "results", {*taken, *first, *scope_paths(first)})]


def _end_names(ends: Sequence[Any], scope: str, taken: Collection[str]) -> list[str]:
    handles = [end.attr["T"].type == protos.DataType.RESOURCE for end in ends]
    many = {kind for kind in (True, False) if handles.count(kind) > FEW}
    scope = _free(scope, taken)
    return [
        f"{scope}/{end.name}" if is_handle in many else _free(end.name, taken)
        for end, is_handle in zip(ends, handles, strict=True)
    ]


def _free(name: str, taken: Collection[str]) -> str:
    while name in taken:
        name += "'"
    return name


Edge = tuple[int, int, int, int]


def _edges(nodes: Sequence[Any], index: Mapping[str, int], functions: Mapping[str, Any]) -> list[Edge]:
    found: list[Edge] = []
    for number, node in enumerate(nodes):
        for slot, text in enumerate(node.input):
            found += _edge(text, number, slot, nodes, index, functions)
    return found


def _edge(
    text: str, dst: int, slot: int, nodes: Sequence[Any], index: Mapping[str, int], functions: Mapping[str, Any]
) -> Iterable[Edge]:
    """The edge of an input as a body writes it: ``argument``, ``add:z:0`` or ``^node``."""
    name, _, output = text.removeprefix("^").partition(":")
    source = index.get(name)
    if source is None:
        return
    yield source, dst, CONTROL_PORT if text.startswith("^") else _port(nodes[source], output, functions), slot


def _port(node: Any, output: str, functions: Mapping[str, Any]) -> int:
    """The number of an output written as ``z:0`` (argument of the op, place in it), ``0``, or nothing."""
    argument, _, place = output.rpartition(":")
    at = int(place) if place.isascii() and place.isdigit() and len(place) < 7 else 0
    before = _outputs_before(node.op, argument)
    if before is None and node.op in functions:
        names = [one.name for one in functions[node.op].signature.output_arg]
        return at + (names.index(argument) if argument in names else 0)
    return at + sum(_count(node, attribute) for attribute in before or ())


@cache
def _outputs_before(op: str, argument: str) -> tuple[str, ...] | None:
    """For each output of an op before one: the attribute that says how many tensors it is, or ''; None: unknown op."""
    definition = protos.op_def(op)
    if definition is None:
        return None
    counts: list[str] = []
    for output in definition.output_arg:
        if output.name == argument:
            return tuple(counts)
        counts.append(output.type_list_attr or output.number_attr)
    return ()


def _count(node: Any, attribute: str) -> int:
    """How many tensors an output is; a size that a damaged file says is bounded."""
    if not attribute:
        return 1
    if attribute not in node.attr:
        return 0
    value = node.attr[attribute]
    return len(value.list.type) if value.HasField("list") else max(0, min(value.i, 100_000))
