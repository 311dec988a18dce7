"""What a kind is, and how its truth is noted while its graph grows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import tensorflow as tf

v1 = tf.compat.v1

INITIALIZER = ("/Initializer/", "/initial_value", "IsInitialized/", "/IsVariableInitialized")
VARIABLES = frozenset({"VariableV2", "VarHandleOp"})
LEFTOVERS = frozenset({"Const", "Identity", "ReadVariableOp", "Shape", "NoOp", "ZerosLike", "OnesLike", "Switch"})
"""Ops that TensorFlow leaves behind unread."""


class Part:
    """``with part("loss"):`` notes that role for all nodes made inside, an inner part before an outer one.

    Nodes get the role's name as a scope too, so that a report can be read; tests shuffle all names away.

    Attributes:
        roles: by node name.
    """

    def __init__(self, graph: tf.Graph) -> None:
        self.graph = graph
        self.roles: dict[str, str] = {}
        self._open: list[str] = []

    @contextmanager
    def __call__(self, role: str) -> Iterator[None]:
        self._note()
        self._open.append(role)
        with v1.name_scope(role):
            yield
        self._note()
        self._open.pop()

    def _note(self) -> None:
        """Give the role of the innermost open part to all nodes made since the last call."""
        for op in self.graph.get_operations()[len(self.roles) :]:
            assert self._open, f"{op.name} is made outside all parts"
            self.roles[op.name] = "initializer" if _is_initializer(op) else self._open[-1]

    def correct(self, names: str | tuple[str, ...], role: str) -> None:
        """Say otherwise for nodes whose name contains one of ``names``, where a function makes two parts at once."""
        self._note()
        parts = (names,) if isinstance(names, str) else names
        for name, noted in self.roles.items():
            if noted != "initializer" and any(one in name for one in parts):
                self.roles[name] = role

    def variable(
        self, name: str, shape: Sequence[int], role: str = "inference", *, start: object = None, **more: object
    ) -> tf.Variable:
        """A variable that is made once and then shared."""
        with self(role):
            return v1.get_variable(name, shape, initializer=start or v1.glorot_uniform_initializer(), **more)

    def dense(
        self, x: tf.Tensor, units: int, name: str, *, kept: str = "inference", trainable: bool = True
    ) -> tf.Tensor:
        """``x @ kernel + bias``; the variables have the role ``kept``."""
        with v1.variable_scope(name, reuse=v1.AUTO_REUSE):
            kernel = self.variable("kernel", [x.shape[-1], units], kept, trainable=trainable)
            bias = self.variable("bias", [units], kept, start=v1.zeros_initializer(), trainable=trainable)
            return v1.nn.bias_add(v1.matmul(x, kernel), bias)

    def conv(
        self, x: tf.Tensor, channels: int, name: str, *, size: int = 3, stride: int = 1, kept: str = "inference"
    ) -> tf.Tensor:
        """A convolution with a bias."""
        with v1.variable_scope(name, reuse=v1.AUTO_REUSE):
            kernel = self.variable("kernel", [size, size, x.shape[-1], channels], kept)
            bias = self.variable("bias", [channels], kept, start=v1.zeros_initializer())
            return v1.nn.bias_add(v1.nn.conv2d(x, kernel, strides=[1, stride, stride, 1], padding="SAME"), bias)

    def step(self) -> tf.Variable:
        """The global step."""
        with self("global_step"):
            return v1.train.get_or_create_global_step()

    def minimize(
        self, optimizer: v1.train.Optimizer, loss: tf.Tensor, step: tf.Variable | None = None, variables: object = None
    ) -> tf.Operation:
        """``optimizer.minimize``, with its two parts apart."""
        with self("gradient"):
            pairs = optimizer.compute_gradients(loss, var_list=variables)
        with self("optimizer"):
            return optimizer.apply_gradients(pairs, global_step=step)

    def close(self, *recorded: tf.Tensor, local: bool = False) -> None:
        """Summaries of ``recorded``, a saver and the initializers, as nearly every program ends."""
        with self("summary"):
            for tensor in recorded:
                v1.summary.scalar(tensor.op.name.replace("/", "_"), tensor)
            if recorded:
                v1.summary.merge_all()
        with self("save_restore"):
            v1.train.Saver()
        with self("initializer"):
            v1.global_variables_initializer()
            if local:
                v1.local_variables_initializer()


Build = Callable[[Part], object]


@dataclass(frozen=True)
class Kind:
    """One kind of graph.

    Attributes:
        name: of the function that builds it.
        build: makes the graph; gives the right output, or several of which the first is the one to choose.
        tuned: the rules were tuned on it; else it only measures them.
        resource: built with resource variables, not with references.
    """

    name: str
    build: Build
    tuned: bool
    resource: bool


KINDS: list[Kind] = []


def kind(*, tuned: bool, resource: bool = False) -> Callable[[Build], Build]:
    """Register a kind; ``tuned`` says which half it belongs to."""

    def register(build: Build) -> Build:
        KINDS.append(Kind(build.__name__, build, tuned, resource))
        return build

    return register


@dataclass(frozen=True)
class Built:
    """A graph with its truth.

    Attributes:
        graph: as TensorFlow made it.
        outputs: names of the right outputs; the first is the one that ``truth`` is for.
        truth: the roles that are right for every node: mostly one, two for leftovers.
    """

    graph: tf.Graph
    outputs: tuple[str, ...]
    truth: dict[str, frozenset[str]]


def build(one: Kind) -> Built:
    """Build a kind, with TF1's conditionals and loops."""
    (v1.enable_resource_variables if one.resource else v1.disable_resource_variables)()
    v1.disable_control_flow_v2()
    with tf.Graph().as_default() as graph:
        v1.set_random_seed(1)
        part = Part(graph)
        outputs = one.build(part)
    outputs = outputs if isinstance(outputs, tuple) else (outputs,)
    assert len(part.roles) == len(graph.get_operations()), f"{one.name} makes nodes outside all parts"
    names = tuple(output.op.name for output in outputs)
    return Built(graph, names, _truth(graph, part.roles, names[0]))


def _truth(graph: tf.Graph, noted: dict[str, str], output: str) -> dict[str, frozenset[str]]:
    """All roles that are right for each node: that of its part, but for three cases.

    What only initializers use gives first values; what TensorFlow leaves unread may be called unused, or be counted
    with what it is made of, but nothing needs it; what only a saver reads may be counted with the saver.
    """
    right: dict[str, frozenset[str]] = {}
    left = set()
    for op in reversed(graph.get_operations()):
        role = noted[op.name]
        readers = [reader for tensor in op.outputs for reader in tensor.consumers()] + list(op._control_outputs)
        readers = [reader for reader in readers if reader.name not in left]
        roles = {noted[reader.name] for reader in readers}
        reads_variable = op.type in ("Identity", "ReadVariableOp") and op.inputs[0].op.type in VARIABLES
        if op.name != output and not readers and op.type in LEFTOVERS:
            left.add(op.name)
        elif roles == {"initializer"} and op.type not in VARIABLES and not reads_variable:
            noted[op.name] = role = "initializer"
        saved = reads_variable and bool(readers) and all(reader.type == "SaveV2" for reader in readers)
        right[op.name] = frozenset({role, "save_restore"} - {"inference"}) if saved else frozenset({role})
    for name in left:
        made_of = {noted[tensor.op.name] for tensor in graph.get_operation_by_name(name).inputs}
        roles = {noted[name], *made_of, "unused"}
        right[name] = frozenset(roles - {"inference"} | ({"training_forward"} if "inference" in roles else set()))
    return right


def _is_initializer(op: tf.Operation) -> bool:
    """The node makes the first value of a variable, or assigns it."""
    if op.type in ("Assign", "AssignVariableOp") and op.name == f"{op.inputs[0].op.name}/Assign":
        return True
    return any(place in op.name for place in INITIALIZER)
