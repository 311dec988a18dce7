"""Functions of the library for callers that pass values where they passed variables.

Each combination of arguments gets its own copy, so that a function called with two variables of different shape, or
with a variable here and a placeholder there, is right in both places.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from graphviewer import protos
from graphviewer.analysis.ops import VARIABLE_OPS, is_variable_write
from graphviewer.errors import OperationError
from graphviewer.operations.cutting import unique
from graphviewer.operations.freezing.body import Body, Report, Value
from graphviewer.operations.freezing.function_body import Arguments, FunctionBody, set_shape
from graphviewer.operations.freezing.rules import CALLS, propagate

_MAX_DEPTH = 100


@dataclass(frozen=True)
class Specialised:
    """A copy of a function for some values.

    Attributes:
        name: its name in the library.
        results: outputs that were handles and carry a value now.
    """

    name: str
    results: dict[int, Value]


class Functions:
    """The library of a graph while it is frozen.

    Args:
        library: FunctionDefLibrary as it was; never changed.
        report: told of every rewrite.
        accept_value_before: let reads that waited for an update read the value before it.
    """

    def __init__(self, library: Any, report: Report, *, accept_value_before: bool = False) -> None:
        self._original = library
        self._functions = {function.signature.name: function for function in library.function}
        self._taken = set(self._functions)
        self._made: dict[Any, tuple[Specialised, Any]] = {}
        self._written: dict[str, frozenset[int]] = {}
        self._report = report
        self._accept_value_before = accept_value_before

    def library(self) -> Any:
        """The functions as they were, and the specialised ones."""
        library = type(self._original)()
        library.CopyFrom(self._original)
        library.function.extend(function for _, function in self._made.values() if function is not None)
        return library

    def settle(self, body: Body, depth: int = 0) -> None:
        """Point the calls of a body to specialised functions, and follow the handles that these give back.

        Raises:
            OperationError: a function cannot be specialised.
        """
        done: set[Any] = set()
        while True:
            open_calls = [(name, key) for name in body.calls if (key := (name, _key("", body.calls[name]))) not in done]
            if not open_calls:
                break
            for name, key in open_calls:
                done.add(key)
                results = self._results(body.nodes[name], body.calls[name], depth)
                propagate(body, {(name, port): value for port, value in results.items()})
        for name, values in body.calls.items():
            self._redirect(body.new[name], values, depth)

    def _results(self, node: Any, values: Arguments, depth: int) -> dict[int, Value]:
        results: dict[int, Value] = {}
        for function in called_functions(node):
            results.update(self.specialise(function.name, values, depth).results)
        return results

    def _redirect(self, node: Any, values: Arguments, depth: int) -> None:
        call = CALLS[node.op]
        shapes = node.attr["output_shapes"].list.shape if "output_shapes" in node.attr else ()
        for function in called_functions(node):
            made = self.specialise(function.name, values, depth)
            function.name = made.name
            for port, value in made.results.items():
                if port < len(node.attr[call.results].list.type):
                    node.attr[call.results].list.type[port] = value.dtype
                if port < len(shapes):
                    set_shape(shapes[port], value)

    def specialise(self, name: str, values: Arguments, depth: int = 0) -> Specialised:
        """The copy of function ``name`` for arguments that carry ``values``.

        Raises:
            OperationError: no such function, it calls itself, or a node in it needs the variable itself.
        """
        key = _key(name, values)
        if key in self._made:
            return self._made[key][0]
        function = self._functions.get(name)
        if function is None:
            raise OperationError(f"The function '{name}' is called, but is not in the graph's library.")
        if depth > _MAX_DEPTH:
            raise OperationError(f"Functions are nested more than {_MAX_DEPTH} deep, '{name}' among them.")
        made = Specialised(unique(f"{name}_frozen", self._taken), {})
        self._made[key] = (made, None)
        source = FunctionBody(function, self._functions)
        body = source.start(self._report)
        propagate(body, {(source.arguments[at], 0): value for at, value in _named(values, source).items()})
        self.settle(body, depth + 1)
        self._require_order(source, body)
        copy, results = source.finish(body, made.name, values)
        made.results.update(results)
        self._made[key] = (made, copy)
        return made

    def _require_order(self, source: FunctionBody, body: Body) -> None:
        """Refuse reads that wait for an update which is left out."""
        if self._accept_value_before:
            return
        for name, node in source.all_nodes.items():
            for variable in self._variables_written(node, body, source):
                reads = {reader for reader, read in body.read if read == variable and reader in source.needed}
                late = sorted(reads & source.after(name))
                if late:
                    raise late_read(body.where(late[0]), variable, name, node.op)

    def _variables_written(self, node: Any, body: Body, source: FunctionBody) -> Iterator[str]:
        tensors = source.tensors(node)
        slots: Iterable[int] = (0,) if is_variable_write(node.op) else ()
        if node.op in CALLS:
            call = CALLS[node.op]
            slots = [at + call.first for function in called_functions(node) for at in self.written(function.name)]
        for slot in slots:
            value = body.value.get(tensors[slot]) if slot < len(tensors) else None
            if value is not None:
                yield value.variable

    def written(self, name: str, depth: int = 0) -> frozenset[int]:
        """Arguments of a function that name variables which it changes, itself or in functions that it calls."""
        if name in self._written or name not in self._functions or depth > _MAX_DEPTH:
            return self._written.get(name, frozenset())
        self._written[name] = frozenset()
        source = FunctionBody(self._functions[name], self._functions)
        place = {argument: at for at, argument in enumerate(source.arguments)}
        found: set[int] = set()
        for node in source.all_nodes.values():
            slots = [0] if is_variable_write(node.op) else []
            if node.op in CALLS:
                first = CALLS[node.op].first
                slots = [at + first for f in called_functions(node) for at in self.written(f.name, depth + 1)]
            tensors = source.tensors(node)
            found.update(place[tensors[slot][0]] for slot in slots if slot < len(tensors) and tensors[slot][0] in place)
        self._written[name] = frozenset(found)
        return self._written[name]

    def makes_variables(self, names: Iterable[str]) -> str:
        """The first of some functions, and those that they call, that has a variable of its own; empty when none."""
        seen: set[str] = set()
        stack = list(names)
        while stack:
            name = stack.pop()
            function = self._functions.get(name)
            if name in seen or function is None:
                continue
            seen.add(name)
            for node in function.node_def:
                if node.op in VARIABLE_OPS:
                    return name
                stack.extend(protos.function_names(node.attr.values()))
        return ""


def late_read(where: str, variable: str, write: str, op: str) -> OperationError:
    """The error for a read that waits for an update."""
    return OperationError(
        f"{where} reads '{variable}' after '{write}' ({op}) has changed it; a frozen graph has only the value before.",
        "Choose outputs that do not wait for the update, or allow the value before it with --accept-value-before.",
    )


def _key(name: str, values: Arguments) -> Any:
    return (name, tuple(sorted((at, value.dtype, value.shape, value.resource) for at, value in values.items())))


def _named(values: Arguments, source: FunctionBody) -> dict[int, Value]:
    """The values under the names that the function has for them."""
    return {
        at: value._replace(variable=source.arguments[at]) for at, value in values.items() if at < len(source.arguments)
    }


def called_functions(node: Any) -> list[Any]:
    """The NameAttrLists by which a calling node names its functions."""
    found: list[Any] = []
    for name in CALLS[node.op].functions:
        if name in node.attr:
            value = node.attr[name]
            found += [value.func] if value.HasField("func") else list(value.list.func)
    return found
