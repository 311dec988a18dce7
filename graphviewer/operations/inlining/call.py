"""One call of a function, written out.

Source: tensorflow/core/common_runtime/inline_function_utils.cc. As there, what has side effects still runs whenever the
call would have run, and what the call waited for comes before all of the body. In a conditional or a loop of TF1 a call
runs only when all of its inputs have values: there all of the body waits for all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from graphviewer import protos
from graphviewer.analysis.ops import SWITCH_OPS, VARIABLE_OPS, is_random_op, is_stateful
from graphviewer.model.names import CONTROL_PORT, body_source, parse_input
from graphviewer.model.nodes import COLOCATION, colocated_with, control_inputs, data_inputs
from graphviewer.operations.freezing.function_body import FunctionBody

_READS = frozenset({"ReadVariableOp", "ResourceGather", "ResourceGatherNd", "VarIsInitializedOp"}) | VARIABLE_OPS
"""Marked as stateful, but nothing is lost when they do not run."""


def refusal(node: Any, function: Any) -> str:
    """Why a call cannot be written out, as the end of a sentence; empty when it can."""
    name = function.signature.name
    signature = (*function.signature.input_arg, *function.signature.output_arg)
    if any(argument.number_attr or argument.type_list_attr for argument in signature):
        return f"'{name}' takes or gives lists of tensors"
    if len(data_inputs(node)) != len(function.signature.input_arg):
        return f"it passes {len(data_inputs(node))} arguments, but '{name}' takes {len(function.signature.input_arg)}"
    known = {argument.name for argument in function.signature.input_arg} | {inner.name for inner in function.node_def}
    texts = [text for inner in function.node_def for text in inner.input]
    texts += [function.ret[result.name] for result in function.signature.output_arg]
    absent = [text for text in texts if body_source(text) not in known]
    if absent:
        return f"'{name}' reads '{absent[0]}', which it does not have"
    missing = {value for inner in function.node_def for value in _open(inner)} - set(_bindings(node))
    if missing:
        return f"it does not say what '{sorted(missing)[0]}' is in '{name}'"
    return ""


def _open(node: Any) -> Iterator[str]:
    """Attributes that a call fills in."""
    return (value.placeholder for value in node.attr.values() if value.WhichOneof("value") == "placeholder")


def _bindings(call: Any) -> dict[str, Any]:
    """What a call fills in: its own attributes, and those of the function that it names."""
    named = call.attr["f"].func.attr if "f" in call.attr else {}
    return {**call.attr, **named}


class Call:
    """A call and the function it calls.

    Args:
        node: the calling node.
        function: its FunctionDef.
        functions: the library.
        in_flow: the call may lie in a conditional or loop of TF1.
    """

    def __init__(self, node: Any, function: Any, functions: Any, *, in_flow: bool = False) -> None:
        self.node, self.function, self.in_flow = node, function, in_flow
        self._body = FunctionBody(function, functions)
        self._bindings = _bindings(node)
        self.waits = control_inputs(node)
        self._names: dict[str, str] = {}
        self._arguments: dict[str, str] = {}

    def nodes(self, free_name: Callable[[str], str]) -> Iterator[Any]:
        """The function's nodes under names of the graph.

        Args:
            free_name: gives a name that no node has, and reserves it.
        """
        call = self.node.name
        self._names = {name: free_name(f"{call}/{name}") for name in self._body.all_nodes}
        given = dict(zip((one.name for one in self.function.signature.input_arg), data_inputs(self.node), strict=True))
        if self.in_flow and given:
            yield from self._gate(given, free_name)
        for argument in self.function.signature.input_arg:
            text = self._arguments[argument.name] = given[argument.name]
            if self.waits:
                passed = self._argument(argument, text, free_name(f"{call}/{argument.name}"))
                self._arguments[argument.name] = passed.name
                yield passed
        for inner in self._body.all_nodes.values():
            yield self._written(inner)

    def _gate(self, given: dict[str, str], free_name: Callable[[str], str]) -> Iterator[Any]:
        """A node after all inputs, for all of the body to wait for; ``given`` are read before it from then on.

        What waits for a Switch itself runs in both branches: it must read one of its outputs.
        """
        call = self.node.name
        for argument in self.function.signature.input_arg:
            read = self._argument(argument, given[argument.name], free_name(f"{call}/{argument.name}/given"))
            given[argument.name] = read.name
            yield read
        gate = protos.NodeDef(name=free_name(f"{call}/called"), op="NoOp", device=self.node.device)
        gate.input.extend(f"^{name}" for name in given.values())
        self.waits = [f"^{gate.name}"]
        yield gate

    def _argument(self, argument: Any, text: str, name: str) -> Any:
        """An argument that comes after what the call waits for."""
        node = protos.NodeDef(name=name, op="Identity", input=[text, *self.waits], device=self.node.device)
        node.attr["T"].type = argument.type or self._bindings[argument.type_attr].type
        return node

    def _written(self, inner: Any) -> Any:
        node = protos.NodeDef()
        node.CopyFrom(inner)
        node.name = self._names[inner.name]
        node.device = inner.device or self.node.device
        inputs = [self.text(text) for text in inner.input]
        node.input[:] = [*inputs, *(() if inputs else self.waits)]
        for name, value in inner.attr.items():
            if value.WhichOneof("value") == "placeholder":
                node.attr[name].CopyFrom(self._bindings[value.placeholder])
        if node.op in ("Enter", "RefEnter"):
            node.attr["frame_name"].s = f"{self.node.name}/".encode() + inner.attr["frame_name"].s
        if "_class" in node.attr:
            self._colocate(node)
        return node

    def _colocate(self, node: Any) -> None:
        """Colocation inside the body follows the new names; with arguments it is dropped."""
        entries = []
        for entry in node.attr["_class"].list.s:
            name = colocated_with(entry)
            if name is not None and name in self._names:
                entries.append(COLOCATION + self._names[name].encode())
        if entries:
            node.attr["_class"].list.s[:] = entries
        else:
            del node.attr["_class"]

    def text(self, text: str) -> str:
        """An input as the body writes it, as the graph writes it."""
        name, port = self._body.tensor(text)
        if name in self._arguments and name not in self._names:
            given = self._arguments[name]
            return f"^{parse_input(given)[0]}" if port == CONTROL_PORT else given
        inner = self._names[name]
        return f"^{inner}" if port == CONTROL_PORT else f"{inner}:{port}" if port else inner

    def results(self) -> list[str]:
        """What the call gives, as inputs."""
        return [self.text(self.function.ret[result.name]) for result in self.function.signature.output_arg]

    def result_types(self) -> list[int]:
        """dtype numbers of what the call gives."""
        outputs = self.function.signature.output_arg
        return [result.type or self._bindings[result.type_attr].type for result in outputs]

    def effects(self) -> list[str]:
        """Nodes that run whenever the call does, though no result needs them."""
        names = dict.fromkeys(self.function.control_ret[key] for key in sorted(self.function.control_ret))
        nodes = self._body.all_nodes
        if not any(node.op in SWITCH_OPS for node in nodes.values()):
            names |= dict.fromkeys(name for name, node in nodes.items() if _acts(node.op))
        return [self._names[name] for name in names if name in self._names]


def _acts(op: str) -> bool:
    return is_stateful(op) and op not in _READS and not is_random_op(op)


def results_node(call: Call) -> Any:
    """The node that has a call's name from now on: its results as they are, after all that the call does."""
    results = call.results()
    read = {parse_input(text)[0] for text in results}
    waits = [*call.waits, *(f"^{name}" for name in call.effects() if name not in read)]
    op = "NoOp" if not results else "Identity" if len(results) == 1 else "IdentityN"
    node = protos.NodeDef(name=call.node.name, op=op, input=[*results, *dict.fromkeys(waits)], device=call.node.device)
    if op == "Identity":
        node.attr["T"].type = call.result_types()[0]
    elif op == "IdentityN":
        node.attr["T"].list.type.extend(call.result_types())
    return node
