"""A graph, or the body of a function, while its variable handles turn into values."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import Any, NamedTuple

from numpy.typing import NDArray

from graphviewer import protos
from graphviewer.analysis.control_flow import FLOW_STARTS
from graphviewer.analysis.ops import SWITCH_OPS
from graphviewer.model.making import const_node
from graphviewer.model.names import CONTROL_PORT, parse_input
from graphviewer.model.nodes import data_inputs
from graphviewer.operations.cutting import unique
from graphviewer.operations.draft import forget_inferred


class Value(NamedTuple):
    """What a tensor that named a variable carries now.

    Attributes:
        dtype: TensorFlow's number.
        shape: sizes; None where they are not known.
        resource: the tensor was a resource handle; else a reference.
        variable: the variable's name in this body, for messages and for telling reads of one from reads of another.
    """

    dtype: int
    shape: tuple[int, ...] | None
    resource: bool
    variable: str


Tensor = tuple[str, int]
"""(node, output number); a function's argument is output 0 of a node of its name."""

Report = Callable[[str, str, str], None]
"""Told (node, rule, reason) of every rewrite; a node of a function is ``function:node``, which no node is named."""


class Body:
    """Nodes by name, as they were and as they become.

    Attributes:
        nodes: as they were, in order; never changed.
        library: the functions that they may call, by name.
        new: changed copies.
        extra: nodes that a rewrite needed besides.
        calls: by calling node: arguments that carry a value now.
        read: (node, variable) of every read of a variable's value.
        value: what each tensor that named a variable carries now.
    """

    def __init__(
        self,
        nodes: Mapping[str, Any],
        copy: Callable[[Any], Any],
        tensors: Callable[[Any], Iterable[Tensor]],
        *,
        library: Mapping[str, Any],
        function: str = "",
        report: Report,
    ) -> None:
        self.nodes = nodes
        self.library = library
        self.function = function
        self.new: dict[str, Any] = {}
        self.extra: list[Any] = []
        self.calls: dict[str, dict[int, Value]] = {}
        self.read: list[tuple[str, str]] = []
        self.value: dict[Tensor, Value] = {}
        self._copy = copy
        self._report = report
        self._taken = set(nodes)
        self._consumers: dict[Tensor, list[tuple[str, int]]] = defaultdict(list)
        self._readers: dict[str, list[str]] = defaultdict(list)
        for name, node in nodes.items():
            for slot, (source, port) in enumerate(tensors(node)):
                self._readers[source].append(name)
                if port != CONTROL_PORT:
                    self._consumers[source, port].append((name, slot))

    def consumers(self, tensor: Tensor) -> list[tuple[str, int]]:
        """(node, input number) of what reads a tensor."""
        return self._consumers.get(tensor, [])

    def edit(self, name: str) -> Any:
        """The copy of a node that may be changed; it loses the shapes that it had inferred from handles."""
        if name not in self.new:
            node = self._copy(self.nodes[name])
            forget_inferred(node)
            if "_read_only_resource_inputs" in node.attr:
                del node.attr["_read_only_resource_inputs"]
            self.new[name] = node
        return self.new[name]

    def reserve(self, names: Iterable[str]) -> None:
        """Names that new nodes must not take."""
        self._taken.update(names)

    @cached_property
    def _after_flow(self) -> set[str]:
        """Nodes inside conditionals and loops of TF1, and what comes after them."""
        stack = [name for name, node in self.nodes.items() if node.op in FLOW_STARTS]
        found = set(stack)
        while stack:
            new = [name for name in self._readers.get(stack.pop(), ()) if name not in found]
            found.update(new)
            stack += new
        return found

    def in_flow(self, name: str) -> bool:
        """A node may lie in a conditional or loop of TF1: what is added for it must wait for what it reads."""
        return name in self._after_flow

    def add_const(self, name: str, dtype: int, values: NDArray[Any], *, reader: Any) -> str:
        """Append a constant for a node; returns how an input names its output.

        Args:
            reader: the node that reads it, as it becomes: in a conditional or loop the constant waits for its inputs.
        """
        node = const_node(self._free(name), dtype, values=values)
        if self.in_flow(reader.name):
            node.input.extend(self.waits(data_inputs(reader)[0]))
        self.extra.append(node)
        return f"{node.name}:output:0" if self.function else str(node.name)

    def waits(self, text: str, *, dtype: int = 0) -> list[str]:
        """Control inputs for what must come after a tensor that a node reads; none after a function's argument.

        Args:
            dtype: of the tensor, where what waits must not run in a branch in which it has no value. A Switch runs
                whichever way it goes, so that only what reads one of its outputs tells.
        """
        source = text.split(":")[0]
        known = self.nodes.get(source)
        if known is None and self.function:
            return []
        if not dtype or known is None or known.op not in SWITCH_OPS:
            return [f"^{source}"]
        node = protos.NodeDef(name=self._free(f"{source}/taken"), op="Identity", input=[text])
        node.attr["T"].type = dtype
        self.extra.append(node)
        return [f"^{node.name}"]

    def _free(self, name: str) -> str:
        return unique(name.replace("/", "_") if self.function else name, self._taken)

    def report(self, node: str, rule: str, reason: str) -> None:
        """Tell of a rewrite."""
        self._report(node, rule, reason)

    def where(self, name: str) -> str:
        """A node's name for a message."""
        return f"'{name}' in function '{self.function}'" if self.function else f"'{name}'"


def graph_tensor(text: str) -> Tensor:
    """An input of a node of a graph."""
    return parse_input(text)


def output_texts(node: Any, signature: Any | None = None) -> list[str]:
    """How a function's body names the outputs of a node: ``add:z:0``; empty for an op that nothing describes."""
    definition = signature if signature is not None else protos.op_def(node.op)
    if definition is None:
        return []
    texts = []
    for argument in definition.output_arg:
        count = 1
        if argument.type_list_attr:
            count = len(node.attr[argument.type_list_attr].list.type) if argument.type_list_attr in node.attr else 0
        elif argument.number_attr:
            count = node.attr[argument.number_attr].i if argument.number_attr in node.attr else 1
        texts += [f"{node.name}:{argument.name}:{at}" for at in range(min(count, 100_000))]
    return texts
