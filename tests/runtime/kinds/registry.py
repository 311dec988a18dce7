"""What a kind is, and how its truth is noted while its graph grows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import tensorflow as tf

v1 = tf.compat.v1

INITIALIZER = ("/Initializer/", "/initial_value", "IsInitialized/", "/IsVariableInitialized")
VARIABLES = frozenset({"VariableV2", "VarHandleOp"})
LEFTOVERS = frozenset(
    {
        "Const",
        "Exit",
        "Identity",
        "Merge",
        "NoOp",
        "OnesLike",
        "ReadVariableOp",
        "RefSwitch",
        "Shape",
        "Switch",
        "ZerosLike",
    }
)
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
            self.roles[op.name] = _own_role(op) or self._open[-1]

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
        tuned: the rules were tuned on it; else it measured them before anyone looked at what was wrong.
        seen: it was looked at after that measurement; what it taught is in the rules now.
        resource: built with resource variables, not with references.
        functional: built with conditionals and loops that call functions, not with TF1's.
    """

    name: str
    build: Build
    tuned: bool
    seen: bool
    resource: bool
    functional: bool

    @property
    def half(self) -> str:
        return "tuned" if self.tuned else "seen" if self.seen else "held out"


KINDS: list[Kind] = []


def kind(
    *, tuned: bool, seen: bool = False, resource: bool = False, functional: bool = False
) -> Callable[[Build], Build]:
    """Register a kind; see ``Kind``."""

    def register(build: Build) -> Build:
        KINDS.append(Kind(build.__name__, build, tuned, seen, resource, functional))
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
    """Build a kind, with TF1's conditionals and loops or with TF2's."""
    with _switches(resource=one.resource, functional=one.functional), tf.Graph().as_default() as graph:
        v1.set_random_seed(1)
        part = Part(graph)
        outputs = one.build(part)
    outputs = outputs if isinstance(outputs, tuple) else (outputs,)
    assert len(part.roles) == len(graph.get_operations()), f"{one.name} makes nodes outside all parts"
    names = tuple(output.op.name for output in outputs)
    return Built(graph, names, _truth(graph, part.roles, names[0]))


@contextmanager
def _switches(*, resource: bool, functional: bool) -> Iterator[None]:
    """TensorFlow's switches are global: set them, and back."""
    before = v1.resource_variables_enabled(), v1.control_flow_v2_enabled()
    (v1.enable_control_flow_v2 if functional else v1.disable_control_flow_v2)()
    (v1.enable_resource_variables if resource else v1.disable_resource_variables)()
    yield
    (v1.enable_resource_variables if before[0] else v1.disable_resource_variables)()
    (v1.enable_control_flow_v2 if before[1] else v1.disable_control_flow_v2)()


def _truth(graph: tf.Graph, noted: dict[str, str], output: str) -> dict[str, frozenset[str]]:
    """All roles that are right for each node: that of its part, but for three cases.

    What only initializers use gives first values. What TensorFlow leaves unread may be called unused, or be counted
    with what it is made of, but nothing needs it. What only a saver reads may be counted with the saver.
    """
    readers = {
        op.name: {reader for tensor in op.outputs for reader in tensor.consumers()} | set(op._control_outputs)
        for op in graph.get_operations()
    }
    left = _until_nothing_changes(
        lambda left: {
            op.name
            for op in graph.get_operations()
            if op.name != output and op.type in LEFTOVERS and all(reader.name in left for reader in readers[op.name])
        }
    )
    used = {op: [one for one in readers[op.name] if one.name not in left] for op in graph.get_operations()}
    first = _until_nothing_changes(
        lambda first: {
            op.name
            for op, by in used.items()
            if noted[op.name] == "initializer"
            or (by and op.type not in VARIABLES and not _is_read(op) and all(one.name in first for one in by))
        }
    )
    right = {}
    for op, by in used.items():
        roles = {"initializer" if op.name in first else noted[op.name]}
        if op.name in left:
            made_of = {"initializer" if one.name in first else noted[one.name] for one in _made_of(op, left)}
            roles |= {"unused"} | (made_of - {"inference"})
            roles = roles if "inference" not in roles else roles - {"inference"} | {"training_forward"}
        elif _is_read(op) and by and all(one.type == "SaveV2" for one in by):
            roles = roles - {"inference"} | {"save_restore"}
        right[op.name] = frozenset(roles)
    return right


def _until_nothing_changes(grow: Callable[[set[str]], set[str]]) -> set[str]:
    found: set[str] = set()
    while (more := grow(found)) != found:
        found = more
    return found


def _made_of(op: tf.Operation, left: set[str]) -> set[tf.Operation]:
    """What a leftover reads, through other leftovers."""
    found: set[tf.Operation] = set()
    stack = [op]
    while stack:
        new = {tensor.op for tensor in stack.pop().inputs} - found
        found |= new
        stack += [one for one in new if one.name in left]
    return found


def _is_read(op: tf.Operation) -> bool:
    return op.type in ("Identity", "ReadVariableOp") and op.inputs[0].op.type in VARIABLES


def _own_role(op: tf.Operation) -> str | None:
    """The role of what TensorFlow's functions add to any part: initializers of variables, and asserts."""
    if op.type in ("Assign", "AssignVariableOp") and op.name == f"{op.inputs[0].op.name}/Assign":
        return "initializer"
    if any(place in op.name for place in INITIALIZER):
        return "initializer"
    return "check" if "/assert_" in op.name or "/Assert" in op.name else None
