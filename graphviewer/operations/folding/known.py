"""What is known of a graph's tensors without running it: values, shapes, and which nodes never run."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from graphviewer.analysis.control_flow import after_flow
from graphviewer.analysis.ops import MERGE_OPS, SHAPE_OPS, SWITCH_OPS, VARIABLE_OPS
from graphviewer.errors import OperationError
from graphviewer.model.names import CONTROL_PORT, parse_input
from graphviewer.model.nodes import control_inputs, data_inputs
from graphviewer.model.tensors import TensorError, node_shape, shape_list, tensor_value
from graphviewer.operations.draft import Draft, Tensor
from graphviewer.operations.folding.rules import MOST_ELEMENTS, RULES, Array, compute
from graphviewer.protos import DataType

_SAME_SHAPE = frozenset(
    {
        *("Identity", "StopGradient", "Snapshot", "CheckNumerics", "PreventGradient", "Cast", "ReadVariableOp"),
        *("Relu", "Relu6", "Elu", "Selu", "Sigmoid", "Tanh", "Softmax", "BiasAdd", "Neg", "Abs", "Square", "Sqrt"),
        *("Rsqrt", "Exp", "Log", "Floor", "ZerosLike", "OnesLike", "LogicalNot"),
    }
)
"""Ops whose output has the shape of their first input."""

_LOOK_BACK = 64
_FIRST_WITH_SCALARS = 24
"""GraphDef version since which ``[]`` in a Placeholder means a scalar, and not an unknown shape."""

BRANCHING = {"If": "StatefulPartitionedCall", "StatelessIf": "PartitionedCall"}
"""Conditionals with functions as branches, and the call that is left when the condition is known."""


class Known:
    """Values, and nodes that never run, found by following constants forward.

    Attributes:
        values: what is known, by tensor.
        waits: by node: control inputs that a constant in its place must have.
        dead: nodes that never run, for they depend on the other side of a known Switch; by name, that Switch.
        taken: by Switch: its output that has the value; by Merge: its input.
    """

    def __init__(self, draft: Draft, assumed: Mapping[str, Array] | None = None) -> None:
        self.draft = draft
        self.values: dict[Tensor, Array] = {}
        self.waits: dict[str, tuple[str, ...]] = {}
        self.dead: dict[str, str] = {}
        self.taken: dict[str, int] = {}
        self._assumed = dict(assumed or {})
        graph = draft.document.graph
        self._flow = {graph.names[number] for number in np.flatnonzero(after_flow(graph)).tolist()}
        self._visit_all()

    def value(self, text: str) -> Array | None:
        """The value of an input, where it is known."""
        return self._value(parse_input(text))

    def _value(self, tensor: Tensor) -> Array | None:
        if tensor not in self.values and tensor[1] == 0:
            node = self.draft.nodes.get(tensor[0])
            if node is not None and node.op == "Const":
                self._read_constant(tensor[0], node)
        return self.values.get(tensor)

    def _read_constant(self, name: str, node: Any) -> None:
        value = small_constant(self.draft, name)
        if value is not None:
            self.values[name, 0] = value
            self.waits[name] = tuple(control_inputs(node))

    def is_dead(self, text: str) -> bool:
        """The input never has a value."""
        return self._killer(text) is not None

    def _killer(self, text: str) -> str | None:
        """The Switch because of which an input never has a value; None for one that may have."""
        name, port = parse_input(text)
        if name in self.dead:
            return self.dead[name]
        node = self.draft.nodes.get(name)
        known = name in self.taken and node is not None and node.op in SWITCH_OPS
        return name if known and port not in (CONTROL_PORT, self.taken[name]) else None

    def _kill(self, name: str, inputs: Iterable[str]) -> bool:
        """Note a node as dead if one of the inputs is."""
        killer = next((switch for text in inputs if (switch := self._killer(text)) is not None), None)
        if killer is not None:
            self.dead[name] = killer
        return killer is not None

    def _visit_all(self) -> None:
        nodes = self.draft.nodes
        starts = RULES.keys() | SHAPE_OPS | SWITCH_OPS | MERGE_OPS
        queue = deque(name for name, node in nodes.items() if node.op in starts or name in self._assumed)
        waiting = set(queue)
        while queue:
            name = queue.popleft()
            waiting.discard(name)
            if self._visit(name, nodes[name]):
                for reader in self.draft.readers(name):
                    if reader not in waiting:
                        waiting.add(reader)
                        queue.append(reader)

    def _visit(self, name: str, node: Any) -> bool:
        """Whether something new is known of the node."""
        if name in self.dead:
            return False
        if node.op in MERGE_OPS:
            return self._merge(name, node)
        if self._kill(name, node.input):
            return True
        if (name, 0) in self.values:
            return False
        if name in self._assumed:
            self._learn(name, [self._assumed[name]], ())
            return True
        if node.op in SWITCH_OPS:
            return self._switch(name, node)
        return self._compute(name, node)

    def _learn(self, name: str, outputs: Iterable[Array], waits: Iterable[str]) -> None:
        for port, value in enumerate(outputs):
            self.values[name, port] = value
        self.waits[name] = tuple(dict.fromkeys(waits))

    def _compute(self, name: str, node: Any) -> bool:
        inputs = data_inputs(node)
        if node.op in SHAPE_OPS:
            return self._shapes(name, node, inputs)
        if node.op not in RULES or not inputs:
            return False
        values = [value for text in inputs if (value := self.value(text)) is not None]
        found = compute(node, values) if len(values) == len(inputs) else None
        if found is None:
            return False
        waits = [wait for text in inputs for wait in self.waits.get(parse_input(text)[0], ())]
        self._learn(name, found, [*control_inputs(node), *waits])
        return True

    def _shapes(self, name: str, node: Any, inputs: list[str]) -> bool:
        shapes = [shape for text in inputs if (shape := self.shape(text)) is not None]
        if not inputs or len(shapes) != len(inputs):
            return False
        dtype = np.int64 if node.attr["out_type"].type == DataType.INT64 else np.int32
        if node.op == "Rank":
            found = [np.array(len(shapes[0]), np.int32)]
        elif node.op == "Size":
            found = [np.array(int(np.prod(shapes[0], dtype=object)), object)]
        else:
            found = [np.array(shape, object) for shape in shapes]
        if any(value.size and max(value.flat) > np.iinfo(dtype).max for value in found):
            return False
        sources = [parse_input(text)[0] for text in inputs]
        if any(self._may_be_off(source) for source in sources):
            return False
        waits = [f"^{source}" for source in sources if source in self._flow]
        self._learn(name, [value.astype(dtype) for value in found], [*control_inputs(node), *waits])
        return True

    def _may_be_off(self, name: str) -> bool:
        """One output of a Switch has a value whenever the Switch runs: what waits for it runs in both branches."""
        return self.draft.nodes[name].op in SWITCH_OPS and name not in self.taken

    def _switch(self, name: str, node: Any) -> bool:
        inputs = data_inputs(node)
        condition = self.value(inputs[1]) if len(inputs) == 2 else None
        if name in self.taken or condition is None or condition.shape != () or condition.dtype != bool:
            return False
        self.taken[name] = int(condition)
        data = self.value(inputs[0])
        if data is not None:
            self.values[name, int(condition)] = data
            self.waits[name] = (f"^{name}",)
        return True

    def _merge(self, name: str, node: Any) -> bool:
        """A Merge with one input left; those of loops wait for the next iteration, and are left alone."""
        inputs = data_inputs(node)
        live = [slot for slot, text in enumerate(inputs) if not self.is_dead(text)]
        forward = [slot for slot in live if not self._turns_back(inputs[slot])]
        if not forward and self._kill(name, inputs):
            return True
        if len(live) != 1 or len(inputs) == 1 or name in self.taken:
            return False
        self.taken[name] = live[0]
        data = self.value(inputs[live[0]])
        if data is not None:
            self._learn(name, [data, np.array(live[0], np.int32)], [f"^{name}"])
        return True

    def _turns_back(self, text: str) -> bool:
        node = self.draft.nodes.get(parse_input(text)[0])
        return node is not None and node.op in ("NextIteration", "RefNextIteration")

    def shape(self, text: str) -> tuple[int, ...] | None:
        """The shape of an input, where every size of it is known."""
        tensor = parse_input(text)
        for _ in range(_LOOK_BACK):
            value, node = self._value(tensor), self.draft.nodes.get(tensor[0])
            if value is not None:
                return value.shape
            if node is None or tensor[1] != 0:
                return None
            sizes = self._declared_shape(node)
            if sizes is not None:
                return None if -1 in sizes else tuple(sizes)
            inputs = data_inputs(node)
            if node.op not in _SAME_SHAPE or not inputs:
                return None
            tensor = parse_input(inputs[0])
        return None

    def _declared_shape(self, node: Any) -> list[int] | None:
        if node.op == "Const":
            return shape_list(node.attr["value"].tensor.tensor_shape)
        if node.op in VARIABLE_OPS:
            return None if self._may_change_shape(node.name) else node_shape(node)
        if node.op == "Placeholder":
            shape = node_shape(node)
            producer = self.draft.document.graph_def.versions.producer
            return shape if shape or producer >= _FIRST_WITH_SCALARS else None
        return None

    def _may_change_shape(self, variable: str) -> bool:
        nodes = self.draft.nodes
        writes = (nodes[reader] for reader in self.draft.readers(variable) if nodes[reader].op == "Assign")
        return any("validate_shape" in node.attr and not node.attr["validate_shape"].b for node in writes)


def require_alive(known: Known, outputs: Iterable[str]) -> None:
    """Refuse outputs that never have a value.

    Raises:
        OperationError: names the output and the condition.
    """
    for name in outputs:
        if name in known.dead:
            raise OperationError(
                f"'{name}' is never computed: it lies in the branch that '{known.dead[name]}' never takes.",
                "Choose an output after the conditional.",
            )


def small_constant(draft: Draft, name: str) -> Array | None:
    """The value of a Const of numbers or bools, unless it is large or damaged."""
    proto = draft.nodes[name].attr["value"].tensor
    shape = shape_list(proto.tensor_shape)
    if shape is None or -1 in shape or int(np.prod(shape, dtype=object)) > MOST_ELEMENTS:
        return None
    try:
        value = tensor_value(draft.full_node(name).attr["value"].tensor)
    except TensorError:
        return None
    return None if value.dtype.hasobject else value
