"""What a kind is, and how its truth is noted while its graph grows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import tensorflow as tf

v1 = tf.compat.v1

INITIALIZER = ("/Initializer/", "/initial_value", "IsInitialized/", "/IsVariableInitialized")
LEFTOVERS = frozenset({"Const", "Identity", "ReadVariableOp", "Shape", "NoOp", "ZerosLike", "OnesLike", "Switch"})
"""Ops that TensorFlow leaves behind unread; the part that they were made in, or unused: both are right."""


class Part:
    """``with part("loss"):`` notes that role for all nodes made inside, an inner part before an outer one.

    Nodes get the role's name as a scope too, so that a report can be read; tests shuffle all names away.

    Attributes:
        roles: by node name.
    """

    def __init__(self, graph: tf.Graph) -> None:
        self.graph = graph
        self.roles: dict[str, str] = {}

    @contextmanager
    def __call__(self, role: str) -> Iterator[None]:
        with v1.name_scope(role):
            yield
        for op in self.graph.get_operations()[len(self.roles) :]:
            self.roles.setdefault(op.name, "initializer" if _is_initializer(op) else role)
        # An inner part ends before its outer one, so that all nodes up to here are noted.

    def correct(self, names: str | tuple[str, ...], role: str) -> None:
        """Say otherwise for nodes whose name contains one of ``names``, where a function makes two parts at once."""
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
    missing = [op.name for op in graph.get_operations() if op.name not in part.roles]
    assert not missing, f"{one.name} does not say what these are for: {missing}"
    names = tuple(output.op.name for output in outputs)
    return Built(graph, names, {op.name: _right(op, part.roles[op.name], names[0]) for op in graph.get_operations()})


def _right(op: tf.Operation, role: str, output: str) -> frozenset[str]:
    """All roles that are right for a node.

    What nothing reads is not needed by any output, whatever part it was made in.
    """
    readers = [reader for tensor in op.outputs for reader in tensor.consumers()]
    reading = op.type == "ReadVariableOp" and op.name.endswith("/Read/ReadVariableOp")
    if reading and readers and all(reader.type == "SaveV2" for reader in readers):
        return frozenset({role, "save_restore"} - {"inference"})
    if readers or op._control_outputs or op.name == output or op.type not in LEFTOVERS:
        return frozenset({role})
    return frozenset({"unused", "training_forward" if role == "inference" else role})


def _is_initializer(op: tf.Operation) -> bool:
    """The node makes the first value of a variable, or assigns it."""
    if op.type in ("Assign", "AssignVariableOp") and op.name.endswith("/Assign"):
        return True
    return any(place in op.name for place in INITIALIZER)
