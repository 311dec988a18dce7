"""Functions of the library for callers that pass values where they passed variables.

Each combination of arguments gets its own copy, so that a function called with two variables of different shape, or with a
variable here and a placeholder there, is right in both places.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from graphviewer import protos
from graphviewer.analysis.ops import VARIABLE_OPS, is_variable_write
from graphviewer.errors import OperationError
from graphviewer.model.names import CONTROL_PORT
from graphviewer.operations.cutting import unique
from graphviewer.operations.freezing.body import Body, Report, Tensor, Value, output_texts
from graphviewer.operations.freezing.rules import CALLS, propagate

_MAX_DEPTH = 100
Arguments = Mapping[int, Value]


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
                    _set_shape(shapes[port], value)

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
        source = _FunctionBody(function, self._functions)
        body = source.start(self._report)
        propagate(body, {(source.arguments[at], 0): value for at, value in _named(values, source).items()})
        self.settle(body, depth + 1)
        self._require_order(source, body)
        copy, results = source.finish(body, made.name, values)
        made.results.update(results)
        self._made[key] = (made, copy)
        return made

    def _require_order(self, source: _FunctionBody, body: Body) -> None:
        """Refuse reads that wait for an update which is left out."""
        if self._accept_value_before:
            return
        for name, node in source.all_nodes.items():
            for variable in self._variables_written(node, body, source):
                reads = {reader for reader, read in body.read if read == variable and reader in source.needed}
                late = sorted(reads & source.after(name))
                if late:
                    raise late_read(body.where(late[0]), variable, name, node.op)

    def _variables_written(self, node: Any, body: Body, source: _FunctionBody) -> Iterator[str]:
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
        source = _FunctionBody(self._functions[name], self._functions)
        place = {argument: at for at, argument in enumerate(source.arguments)}
        found = set()
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


def _named(values: Arguments, source: _FunctionBody) -> dict[int, Value]:
    """The values under the names that the function has for them."""
    return {at: value._replace(variable=source.arguments[at]) for at, value in values.items() if at < len(source.arguments)}


def called_functions(node: Any) -> list[Any]:
    """The NameAttrLists by which a calling node names its functions."""
    found: list[Any] = []
    for name in CALLS[node.op].functions:
        if name in node.attr:
            value = node.attr[name]
            found += [value.func] if value.HasField("func") else list(value.list.func)
    return found


class _FunctionBody:
    """A FunctionDef as nodes and tensors; only what its results and lasting effects need is followed."""

    def __init__(self, function: Any, functions: Mapping[str, Any]) -> None:
        self.function = function
        self.arguments = [argument.name for argument in function.signature.input_arg]
        self.all_nodes = {node.name: node for node in function.node_def}
        self._texts: dict[str, Tensor] = {name: (name, 0) for name in self.arguments}
        for node in self.all_nodes.values():
            callee = functions.get(node.op)
            outputs = output_texts(node, callee.signature if callee is not None else None)
            self._texts.update({text: (node.name, port) for port, text in enumerate(outputs)})
        self.effects = self._effects()
        self.needed = self._needed()

    def tensor(self, text: str) -> Tensor:
        """An input or result as written in the body: ``add:z:0``, ``argument``, ``^node``."""
        if text.startswith("^"):
            return text[1:], CONTROL_PORT
        return self._texts.get(text) or (text.split(":")[0], _last_number(text))

    def tensors(self, node: Any) -> list[Tensor]:
        return [self.tensor(text) for text in node.input]

    def _effects(self) -> set[str]:
        """Updates of variables, and groups that hold nothing else: what a frozen function leaves out."""
        found = {name for name, node in self.all_nodes.items() if is_variable_write(node.op)}
        groups = [node for node in self.all_nodes.values() if node.op == "NoOp" and node.input]
        while True:
            new = {
                node.name
                for node in groups
                if node.name not in found and all(source in found for source, _ in self.tensors(node))
            }
            if not new:
                return found
            found |= new

    def _needed(self) -> set[str]:
        """Nodes behind the results and behind the effects that stay."""
        stack = [self.tensor(text)[0] for text in self.function.ret.values()]
        stack += [name for name in self.function.control_ret.values() if name not in self.effects]
        needed: set[str] = set()
        while stack:
            name = stack.pop()
            node = self.all_nodes.get(name)
            if node is None or name in needed:
                continue
            needed.add(name)
            stack += [source for source, port in self.tensors(node) if port != CONTROL_PORT or source not in self.effects]
        return needed

    def after(self, name: str) -> set[str]:
        """Nodes that come after ``name`` over data or control edges."""
        consumers: dict[str, list[str]] = {}
        for node in self.all_nodes.values():
            for source, _ in self.tensors(node):
                consumers.setdefault(source, []).append(node.name)
        found: set[str] = set()
        stack = [name]
        while stack:
            for consumer in consumers.get(stack.pop(), ()):
                if consumer not in found:
                    found.add(consumer)
                    stack.append(consumer)
        return found

    def start(self, report: Report) -> Body:
        """The body with needed nodes only."""
        nodes = {name: node for name, node in self.all_nodes.items() if name in self.needed}
        name = self.function.signature.name
        body = Body(
            nodes, self._copy, self._kept_tensors, function=name, report=lambda node, *why: report(f"{name}/{node}", *why)
        )
        body.reserve([*self.arguments, *self.all_nodes])
        return body

    def _kept_tensors(self, node: Any) -> list[Tensor]:
        return [tensor for tensor in self.tensors(node) if not self._dropped(tensor)]

    def _dropped(self, tensor: Tensor) -> bool:
        return tensor[1] == CONTROL_PORT and tensor[0] in self.effects

    def _copy(self, node: Any) -> Any:
        copy = protos.NodeDef()
        copy.CopyFrom(node)
        copy.input[:] = [text for text in node.input if not self._dropped(self.tensor(text))]
        return copy

    def finish(self, body: Body, name: str, values: Arguments) -> tuple[Any, dict[int, Value]]:
        """The specialised FunctionDef, and the results that carry a value now."""
        copy = protos.FunctionDef()
        copy.CopyFrom(self.function)
        copy.signature.name = name
        renamed = self._renamed(body)
        del copy.node_def[:]
        for node in self.function.node_def:
            if node.name in self.needed:
                changed = body.new.get(node.name)
                added = copy.node_def.add()
                added.CopyFrom(changed if changed is not None else self._copy(node))
                if any(text in renamed for text in added.input):
                    added.input[:] = [renamed.get(text, text) for text in added.input]
        copy.node_def.extend(body.extra)
        self._drop_effects(copy)
        _retype_arguments(copy, values)
        return copy, self._retype_results(copy, body, renamed)

    def _renamed(self, body: Body) -> dict[str, str]:
        """Outputs that have another name since their node has another op: ``read:value:0`` -> ``read:output:0``."""
        renamed = {}
        for name, node in body.new.items():
            was, now = output_texts(self.all_nodes[name]), output_texts(node)
            renamed.update({old: new for old, new in zip(was, now, strict=False) if old != new})
        return renamed

    def _drop_effects(self, copy: Any) -> None:
        """Take updates out of what callers wait for."""
        for key, target in list(copy.control_ret.items()):
            if target in self.effects:
                del copy.control_ret[key]
                if key in copy.signature.control_output:
                    copy.signature.control_output.remove(key)

    def _retype_results(self, copy: Any, body: Body, renamed: Mapping[str, str]) -> dict[int, Value]:
        results = {}
        for at, result in enumerate(copy.signature.output_arg):
            text = copy.ret[result.name]
            value = body.value.get(self.tensor(text))
            if value is not None:
                result.type = value.dtype
                result.ClearField("experimental_full_type")
                results[at] = value
            if text in renamed:
                copy.ret[result.name] = renamed[text]
        return results


def _last_number(text: str) -> int:
    last = text.rpartition(":")[2]
    return int(last) if last.isascii() and last.isdigit() and len(last) < 7 else 0


def _retype_arguments(copy: Any, values: Arguments) -> None:
    """Arguments take values: their dtype, the shapes noted for them, and no identity as a resource."""
    shapes = copy.attr["_input_shapes"].list.shape if "_input_shapes" in copy.attr else ()
    for at, value in values.items():
        argument = copy.signature.input_arg[at]
        argument.type = value.dtype
        argument.ClearField("experimental_full_type")
        if at in copy.resource_arg_unique_id:
            del copy.resource_arg_unique_id[at]
        if at < len(shapes):
            _set_shape(shapes[at], value)
        if at in copy.arg_attr:
            noted = copy.arg_attr[at].attr
            for name in ("_output_shapes", "_handle_dtypes", "_handle_shapes"):
                if name in noted:
                    del noted[name]


def _set_shape(proto: Any, value: Value) -> None:
    proto.Clear()
    if value.shape is None:
        proto.unknown_rank = True
        return
    proto.SetInParent()
    for size in value.shape:
        proto.dim.add(size=size)
