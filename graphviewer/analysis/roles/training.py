"""How a graph is trained: what optimizer ops read and write, and where the backward pass runs."""

import struct
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from graphviewer import protos
from graphviewer.analysis import ops
from graphviewer.analysis.roles.facts import NONE, Facts
from graphviewer.model.graph import Mask

GRADIENT_ARGUMENTS = frozenset({"grad", "gradient", "delta", "indices", "out_backprop"})
"""What optimizer ops call the gradient; ``indices`` says which rows a sparse one is for."""

FORWARD_ARGUMENTS = frozenset(
    {"features", "filter", "input", "input_image", "orig_input", "orig_output", "output", "outputs", "x", "y"}
)
"""What gradient ops call the values of the forward pass."""

FORWARD_NAMES_A_GRADIENT = frozenset({"MirrorPadGrad", "SymbolicGradient", "TileGrad"})
"""Gradient ops whose argument ``input`` is a gradient all the same, or holds gradients too."""


@dataclass(frozen=True)
class Optimizer:
    """One optimizer: the apply ops that share their hyper-parameters.

    Attributes:
        variables: what it trains.
        slots: its own variables (momentum, moments ...).
        gradients: nodes it takes gradients from.
        hyper: nodes it takes hyper-parameters from.
    """

    variables: frozenset[int]
    slots: frozenset[int]
    gradients: frozenset[int]
    hyper: frozenset[int]


class Training:
    """Cached answers about training; ``facts`` hold the graph."""

    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        self.graph = facts.graph

    @cached_property
    def optimizers(self) -> tuple[Optimizer, ...]:
        """The optimizers of the graph, told apart by their hyper-parameters (a GAN has two)."""
        groups: dict[frozenset[int], list[Optimizer]] = {}
        for node in np.flatnonzero(self.facts.applies).tolist():
            one = self._apply(node)
            groups.setdefault(one.hyper, []).append(one)
        return tuple(
            Optimizer(
                frozenset().union(*(one.variables for one in ones)),
                frozenset().union(*(one.slots for one in ones)),
                frozenset().union(*(one.gradients for one in ones)),
                hyper,
            )
            for hyper, ones in groups.items()
        )

    def _apply(self, node: int) -> Optimizer:
        """What one apply op reads, by the names of its arguments."""
        inputs, behind = self.graph.inputs(node), self.facts.behind
        arguments = ops.arguments(self.facts.document.node(node))
        held, gradients, hyper = [], [], []
        for place, source in enumerate(inputs):
            known = arguments[place] if arguments is not None and place < len(arguments) else None
            handle = known.is_handle if known else bool(self.facts.variables[source])
            is_gradient = known.name in GRADIENT_ARGUMENTS if known else place == len(inputs) - 1
            if handle:
                held.append(int(behind[source]))
            elif is_gradient:
                gradients.append(source)
            else:
                hyper.append(source)
        slots = frozenset(variable for variable in held[1:] if variable != NONE)
        return Optimizer(frozenset(held[:1]) - {NONE}, slots, frozenset(gradients), frozenset(hyper))

    @cached_property
    def slots(self) -> Mask:
        """bool [n]: variables that belong to an optimizer."""
        return self.facts.mask(slot for one in self.optimizers for slot in one.slots - self._applied)

    @cached_property
    def _applied(self) -> frozenset[int]:
        return frozenset().union(*(one.variables for one in self.optimizers))

    @cached_property
    def hyper(self) -> Mask:
        """bool [n]: hyper-parameters of optimizer ops, and all that these depend on (schedules, counters)."""
        return self.facts.above(self.facts.mask(node for one in self.optimizers for node in one.hyper))

    @cached_property
    def gradient_ops(self) -> Mask:
        """bool [n]: ops that only backward passes use."""
        return self.facts.family(ops.is_gradient_op)

    @cached_property
    def below_gradient_ops(self) -> Mask:
        """bool [n]: depends on a gradient op, writes and summaries left out."""
        return self.facts.below(self.gradient_ops, self.facts.ends) & ~self.facts.ends

    @cached_property
    def gradient_writes(self) -> Mask:
        """bool [n]: assignments of a value that depends on a gradient: hand-written optimizers."""
        marked = self.below_gradient_ops
        return self.facts.mask(write.node for write in self.facts.writes if any(marked[v] for v in write.values))

    @cached_property
    def trained(self) -> Mask:
        """bool [n]: variables that training changes by gradients: those of optimizer ops, and of hand-written ones.

        A hand-written optimizer also assigns its own slots; what it adds to, or the forward pass reads, is trained.
        """
        by_hand = [write for write in self.facts.writes if self.gradient_writes[write.node]]
        assigned = self.facts.mask(write.variable for write in by_hand)
        moved = (
            write.variable for write in by_hand if self.graph.ops[write.node] not in ("Assign", "AssignVariableOp")
        )
        return self.facts.mask(self._applied) | self.facts.mask(moved) | (assigned & self.surely_forward)

    @property
    def trains(self) -> bool:
        """The graph holds an optimizer; else gradients may be what it computes (forces in molecular dynamics)."""
        return bool(self.facts.applies.any() or self.gradient_writes.any())

    @cached_property
    def surely_forward(self) -> Mask:
        """bool [n]: above a forward argument of a gradient op (``features`` of ReluGrad): no backward pass is there."""
        nodes = []
        for node in np.flatnonzero(self.gradient_ops).tolist():
            nodes += self._forward_inputs(node)
        seeds = self.facts.mask(nodes) & ~self.below_gradient_ops
        return self.facts.above(seeds, self.facts.variables)

    def _forward_inputs(self, node: int) -> list[int]:
        if self.graph.ops[node] in FORWARD_NAMES_A_GRADIENT:
            return []
        names = ops.argument_names(self.facts.document.node(node)) or []
        pairs = zip(names, self.graph.inputs(node), strict=False)
        return [source for name, source in pairs if name in FORWARD_ARGUMENTS]

    @cached_property
    def seeds(self) -> tuple[int, ...]:
        """Where backward passes start: the ones that d(loss)/d(loss) is, one for each optimizer.

        It reaches at least half of the optimizer's gradients, and nothing of the forward pass.
        """
        groups = [one.gradients for one in self.optimizers if one.gradients]
        if not groups:
            by_hand = [write.values for write in self.facts.writes if self.gradient_writes[write.node]]
            groups = [frozenset(node for values in by_hand for node in values)] if by_hand else []
        found = (self._seed(group) for group in groups)
        return tuple(dict.fromkeys(seed for seed in found if seed is not None))

    def _seed(self, gradients: frozenset[int]) -> int | None:
        wanted = np.array(sorted(gradients), np.int64)
        for rank in sorted({rank for rank, _ in self._ones}, reverse=True):
            fitting = []
            for node in (node for candidate, node in self._ones if candidate == rank):
                reached = self._reached(node)
                if reached is not None and 2 * np.count_nonzero(reached[wanted]) >= len(wanted):
                    fitting.append(node)
            if fitting:  # the last one: a forward pass of ones would come before the backward pass
                return fitting[-1]
        return None

    @cached_property
    def _reach(self) -> dict[int, Mask | None]:
        return {}

    def _reached(self, node: int) -> Mask | None:
        """What a candidate for a seed reaches; None when that holds a part of the forward pass."""
        if node not in self._reach:
            start, readers = self.facts.consumers
            near = readers[start[node] : start[node + 1]]
            forward = self.surely_forward
            reached = None
            if near and not forward[node] and not forward[near].any():
                reached = self.facts.below(self.facts.mask([node]), self.facts.ends) & ~self.facts.ends
            self._reach[node] = None if reached is None or (reached & forward).any() else reached
        return self._reach[node]

    @cached_property
    def _ones(self) -> list[tuple[int, int]]:
        """(rank, node) of nodes that give ones. Fill of a constant shape is what tf.gradients makes: rank 2."""
        found = []
        for node, op in enumerate(self.graph.ops):
            if op == "OnesLike" or (op == "Const" and _is_one(self.facts.document.node(node))):
                found.append((0, node))
            elif op == "Fill":
                inputs = self.graph.inputs(node)
                if len(inputs) == 2 and _is_one(self.facts.document.node(inputs[1])):
                    found.append((2 if self.graph.ops[inputs[0]] == "Const" else 1, node))
        return found

    @cached_property
    def backward(self) -> Mask:
        """bool [n]: the backward pass: below its seeds and below gradient ops, with what makes the seeds."""
        facts = self.facts
        found = self.below_gradient_ops.copy()
        for seed in self.seeds:
            reached = self._reached(seed)
            found |= reached if reached is not None else False
        found |= facts.above(facts.mask(self.seeds), self._formal) & ~facts.is_read & ~self.surely_forward
        stacks = facts.family(lambda op: op.startswith(("StackPush", "StackPop")) or op in ("Stack", "StackV2"))
        return np.asarray(found | (stacks if self.seeds else False))

    @cached_property
    def differentiated(self) -> Mask:
        """bool [n]: what was differentiated, where the seed takes its shape from it."""
        above = self.facts.above(self.facts.mask(self.seeds), self._formal) & self._formal
        return self.facts.mask(source for node in np.flatnonzero(above).tolist() for source in self.graph.inputs(node))

    @cached_property
    def _formal(self) -> Mask:
        """bool [n]: nodes that depend on the form of their input only."""
        return self.facts.family(ops.SHAPE_OPS | {"OnesLike", "ZerosLike"})


def _is_one(node: Any) -> bool:
    """The node is a constant made of a few ones, in a floating dtype."""
    if node.op != "Const" or "value" not in node.attr:
        return False
    tensor = node.attr["value"].tensor
    values = [*tensor.float_val[:65], *tensor.double_val[:65]]
    if values:
        return len(values) <= 64 and all(value == 1.0 for value in values)
    if tensor.half_val:
        return all(bits in (0x3C00, 0x3F80) for bits in tensor.half_val[:64])  # 1.0 as float16 and as bfloat16
    ones = {protos.DataType.FLOAT: struct.pack("<f", 1), protos.DataType.DOUBLE: struct.pack("<d", 1)}
    one, content = ones.get(tensor.dtype, b""), tensor.tensor_content
    return bool(one) and 0 < len(content) <= 512 and bool(content == one * (len(content) // len(one)))
