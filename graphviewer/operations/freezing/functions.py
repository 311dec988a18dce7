"""Functions of the library for callers that pass values where they passed variables.

Each combination of arguments gets its own copy, so that a function called with two variables of different shape, or
with a variable here and a placeholder there, is right in both places.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from graphviewer.analysis.ops import LOOP_CALL_OPS, RESOURCE_TO_VALUE, VARIABLE_OPS
from graphviewer.errors import OperationError
from graphviewer.model.making import set_shape
from graphviewer.operations.cutting import unique
from graphviewer.operations.freezing.body import Body, Report, Tensor, Value
from graphviewer.operations.freezing.calls import Call, call_of, called_functions, runs_again
from graphviewer.operations.freezing.function_body import Arguments, FunctionBody
from graphviewer.operations.freezing.rules import propagate
from graphviewer.operations.freezing.updates import Update, Updates, late_read
from graphviewer.operations.library import called

_MAX_DEPTH = 100


Own = Callable[[Any, str], tuple[Value, Any]]
"""Told (variable, function) of a variable that a function makes: the value that it carries, and the constant for it."""


@dataclass(frozen=True)
class Specialised:
    """A copy of a function for some values.

    Attributes:
        name: its name in the library.
        results: outputs that were handles and carry a value now.
        reads: arguments whose values it reads, itself or in functions that it calls.
    """

    name: str
    results: dict[int, Value]
    reads: set[int]


class Functions:
    """The library of a graph while it is frozen.

    Args:
        library: FunctionDefLibrary as it was; never changed.
        report: told of every rewrite.
        own: asked for the values of variables that functions make.
        accept_value_before: let reads that waited for an update read the value before it.
    """

    def __init__(self, library: Any, report: Report, *, own: Own, accept_value_before: bool = False) -> None:
        self._original = library
        self.by_name = {function.signature.name: function for function in library.function}
        self._makers = _makers(self.by_name)
        self._taken = set(self.by_name)
        self._made: dict[Any, tuple[Specialised, Any]] = {}
        self.updates = Updates(self.by_name)
        self._report = report
        self._own = own
        self._accept_value_before = accept_value_before

    def library(self) -> Any:
        """The functions as they were, and the specialised ones."""
        library = type(self._original)()
        library.CopyFrom(self._original)
        library.function.extend(function for _, function in self._made.values() if function is not None)
        return library

    def make_variables(self) -> bool:
        """Some function has variables of its own."""
        return bool(self._makers)

    def settle(self, body: Body, depth: int = 0) -> None:
        """Point the calls of a body to specialised functions, and follow the handles that these give back.

        Raises:
            OperationError: a function cannot be specialised.
        """
        self._open_makers(body)
        done: set[Any] = set()
        while True:
            open_calls = [(name, key) for name in body.calls if (key := (name, _key("", body.calls[name]))) not in done]
            if not open_calls:
                break
            for name, key in open_calls:
                done.add(key)
                results = self._results(body, name, depth)
                propagate(body, {(name, port): value for port, value in results.items()})
        for name, values in body.calls.items():
            self._redirect(body, name, values, depth)

    def _open_makers(self, body: Body) -> None:
        """Calls of functions that make variables are followed whatever they are given.

        Raises:
            OperationError: something else than a call uses such a function.
        """
        for name, node in body.nodes.items() if self._makers else ():
            used = self._makers & called([node], self.by_name)
            if not used:
                continue
            call = call_of(node, self.by_name)
            if call is None or used - {function.name for function in called_functions(node, call)}:
                raise OperationError(
                    f"{body.where(name)} ({node.op}) uses the function '{min(used)}', which makes a variable of its "
                    f"own; what {node.op} does with it is not known, so it cannot be frozen.",
                    "Choose outputs that do not need it.",
                )
            body.edit(name)
            body.calls.setdefault(name, {})

    def _results(self, body: Body, name: str, depth: int) -> dict[int, Value]:
        """What a call gives back in place of handles, under the names that the caller has for their variables."""
        node, values = body.nodes[name], body.calls[name]
        call = _call_of(node, self.by_name)
        results: dict[int, Value] = {}
        for function in called_functions(node, call):
            arguments = self._arguments(function.name)
            for port, value in self.specialise(function.name, values, depth).results.items():
                given = values.get(arguments.index(value.variable)) if value.variable in arguments else None
                known = results.get(port)
                same = known is None or known.shape == value.shape
                named = given.variable if given is not None else value.variable
                results[port] = value._replace(variable=named, shape=value.shape if same else None)
        if node.op in LOOP_CALL_OPS:
            self._require_same_handles(body, name, depth)
        return results

    def _arguments(self, function: str) -> list[str]:
        known = self.by_name.get(function)
        return [argument.name for argument in known.signature.input_arg] if known is not None else []

    def _require_same_handles(self, body: Body, name: str, depth: int) -> None:
        """Refuse a loop that hands handles on in other places: TensorFlow itself lets each keep its own.

        Source: tensorflow/core/common_runtime/lower_while_op.cc takes resources for loop invariants.
        """
        node, values = body.nodes[name], body.calls[name]
        function = node.attr["body"].func.name
        arguments = self._arguments(function)
        results = self.specialise(function, values, depth).results
        for at in values:
            if at not in results or results[at].variable != arguments[at]:
                raise OperationError(
                    f"{body.where(name)} ({node.op}) hands another variable on where it was given "
                    f"'{values[at].variable}'; which one TensorFlow reads depends on how it runs the loop, so it "
                    "cannot be frozen.",
                    "Choose outputs that do not need it, or name an input there.",
                    shell="Choose outputs that do not need it, or cut there with --input.",
                )

    def _redirect(self, body: Body, name: str, values: Arguments, depth: int) -> None:
        node = body.new[name]
        call = _call_of(body.nodes[name], self.by_name)
        shapes = node.attr["output_shapes"].list.shape if "output_shapes" in node.attr else ()
        for function in called_functions(node, call):
            made = self.specialise(function.name, values, depth)
            function.name = made.name
            for port in made.results:
                value = body.value.get((name, port), made.results[port])
                if call.results and port < len(node.attr[call.results].list.type):
                    node.attr[call.results].list.type[port] = value.dtype
                if call.results and port < len(shapes):
                    set_shape(shapes[port], value.shape)

    def specialise(self, name: str, values: Arguments, depth: int = 0) -> Specialised:
        """The copy of function ``name`` for arguments that carry ``values``.

        Raises:
            OperationError: no such function, it calls itself, or a node in it needs the variable itself.
        """
        key = _key(name, values)
        if key in self._made:
            return self._made[key][0]
        function = self.by_name.get(name)
        if function is None:
            raise OperationError(f"The function '{name}' is called, but is not in the graph's library.")
        if depth > _MAX_DEPTH:
            raise OperationError(f"Functions are nested more than {_MAX_DEPTH} deep, '{name}' among them.")
        made = Specialised(unique(f"{name}_frozen", self._taken), {}, set())
        self._made[key] = (made, None)
        source = FunctionBody(function, self.by_name)
        body = source.start(self._report)
        start = {(source.arguments[at], 0): value for at, value in _named(values, source).items()}
        propagate(body, {**start, **self._own_values(body)})
        self.settle(body, depth + 1)
        self._require_order(source, body)
        place = {argument: at for at, argument in enumerate(source.arguments)}
        made.reads.update(place[variable] for _, variable in self.reads(body, source.results()) if variable in place)
        copy, results = source.finish(body, made.name, values)
        made.results.update(results)
        self._made[key] = (made, copy)
        return made

    def _own_values(self, body: Body) -> dict[Tensor, Value]:
        """The variables that a function makes become constants in it."""
        found: dict[Tensor, Value] = {}
        for name, node in body.nodes.items():
            if node.op in VARIABLE_OPS:
                found[name, 0], body.new[name] = self._own(node, body.function)
        return found

    def _require_order(self, source: FunctionBody, body: Body) -> None:
        """Refuse reads that wait for an update which is left out."""
        if self._accept_value_before:
            return
        reads = self.reads(body, source.results())
        for name, node in source.all_nodes.items():
            for variable, update in self._variables_updated(node, body, source):
                after = source.after(name) | ({name} if runs_again(node, self.by_name) else set())
                late = sorted(reader for reader, read in reads if read == variable and reader in after)
                if late:
                    raise late_read(body.where(late[0]), variable, update)

    def _variables_updated(self, node: Any, body: Body, source: FunctionBody) -> Iterator[tuple[str, Update]]:
        tensors = source.tensors(node)
        for slot, update in self.updates.by_node(node, body.where(node.name)).items():
            value = body.value.get(tensors[slot]) if slot < len(tensors) else None
            if value is not None:
                yield value.variable, update

    def reads(self, body: Body, results: Collection[str]) -> list[tuple[str, str]]:
        """(node, variable) of every read of a variable's value that is used, those in called functions included.

        Args:
            results: nodes whose values the body gives.
        """
        found = []
        for name, variable in body.read:
            plain = body.nodes[name].op in RESOURCE_TO_VALUE
            if not plain or name in results or body.consumers((name, 0)):
                found.append((name, variable))
        for name, values in body.calls.items():
            call = _call_of(body.nodes[name], self.by_name)
            for function in called_functions(body.nodes[name], call):
                made = self.specialise(function.name, values)
                found += [(name, values[at].variable) for at in sorted(made.reads) if at in values]
        return found


def _makers(functions: Mapping[str, Any]) -> frozenset[str]:
    """Functions that make variables, themselves or in functions that they call."""
    found = {name for name, one in functions.items() if any(node.op in VARIABLE_OPS for node in one.node_def)}
    if not found:
        return frozenset()
    callers: dict[str, set[str]] = defaultdict(set)
    for name, function in functions.items():
        for callee in called(function.node_def, functions):
            callers[callee].add(name)
    stack = list(found)
    while stack:
        new = callers[stack.pop()] - found
        found |= new
        stack += new
    return frozenset(found)


def _call_of(node: Any, functions: Mapping[str, Any]) -> Call:
    call = call_of(node, functions)
    if call is None:
        raise OperationError(f"'{node.name}' ({node.op}) calls a function that is not in the graph's library.")
    return call


def _key(name: str, values: Arguments) -> Any:
    return (name, tuple(sorted((at, value.dtype, value.shape, value.resource) for at, value in values.items())))


def _named(values: Arguments, source: FunctionBody) -> dict[int, Value]:
    """The values under the names that the function has for them."""
    return {
        at: value._replace(variable=source.arguments[at]) for at, value in values.items() if at < len(source.arguments)
    }
