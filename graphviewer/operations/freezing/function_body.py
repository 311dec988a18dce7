"""The body of a library function, read, pruned, and written again with values for handles."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from graphviewer import protos
from graphviewer.analysis.control_flow import FLOW_STARTS
from graphviewer.analysis.ops import is_variable_write
from graphviewer.model.making import set_shape
from graphviewer.model.names import CONTROL_PORT
from graphviewer.operations.freezing.body import Body, Report, Tensor, Value, output_texts

Arguments = Mapping[int, Value]
"""By number of the argument: the value that it carries now."""


class FunctionBody:
    """A FunctionDef as nodes and tensors; only what its results and lasting effects need is followed."""

    def __init__(self, function: Any, functions: Mapping[str, Any]) -> None:
        self.function = function
        self.library = functions
        self.arguments = [argument.name for argument in function.signature.input_arg]
        self.all_nodes = {node.name: node for node in function.node_def}
        self._texts: dict[str, Tensor] = {name: (name, 0) for name in self.arguments}
        for node in self.all_nodes.values():
            callee = functions.get(node.op)
            outputs = output_texts(node, callee.signature if callee is not None else None)
            self._texts.update({text: (node.name, port) for port, text in enumerate(outputs)})
        self.effects = self._effects()
        self._tied = self._tied_by_effects()
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
        stack = list(self.results())
        stack += [name for name in self.function.control_ret.values() if name not in self.effects]
        needed: set[str] = set()
        while stack:
            name = stack.pop()
            node = self.all_nodes.get(name)
            if node is None or name in needed:
                continue
            needed.add(name)
            stack += [source for source, _ in self.kept_tensors(node)]
        return needed

    def results(self) -> set[str]:
        """Nodes and arguments that the function gives values of."""
        return {self.tensor(text)[0] for text in self.function.ret.values()}

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
            nodes,
            self._copy,
            self.kept_tensors,
            library=self.library,
            function=name,
            report=lambda node, *why: report(f"{name}:{node}", *why),
        )
        body.reserve([*self.arguments, *self.all_nodes])
        return body

    def kept_tensors(self, node: Any) -> list[Tensor]:
        """What a node reads and waits for, updates that it only waits for left out."""
        return [tensor for tensor in self.tensors(node) if not self._dropped(node, tensor)]

    def _dropped(self, node: Any, tensor: Tensor) -> bool:
        return tensor[1] == CONTROL_PORT and tensor[0] in self.effects and node.name not in self._tied

    def _tied_by_effects(self) -> set[str]:
        """Nodes that only updates keep in a branch or loop of TF1: see ``analysis.control_flow``."""
        if not any(node.op in FLOW_STARTS for node in self.all_nodes.values()):
            return set()
        read = {name: self.tensors(node) for name, node in self.all_nodes.items()}
        return {
            name
            for name, tensors in read.items()
            if tensors and all(port == CONTROL_PORT and source in self.effects for source, port in tensors)
        }

    def _copy(self, node: Any) -> Any:
        copy = protos.NodeDef()
        copy.CopyFrom(node)
        copy.input[:] = [text for text in node.input if not self._dropped(node, self.tensor(text))]
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
            set_shape(shapes[at], value.shape)
        if at in copy.arg_attr:
            noted = copy.arg_attr[at].attr
            for name in ("_output_shapes", "_handle_dtypes", "_handle_shapes"):
                if name in noted:
                    del noted[name]
