"""How a graph is trained: what optimizer ops read and write, and where the backward pass runs."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from graphviewer.analysis import ops
from graphviewer.analysis.roles.backward import Backward
from graphviewer.analysis.roles.facts import NONE, Facts
from graphviewer.model.graph import Mask

GRADIENT_ARGUMENTS = frozenset({"grad", "gradient", "delta", "indices", "out_backprop"})
"""What optimizer ops call the gradient; ``indices`` says which rows a sparse one is for."""

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
    def passes(self) -> Backward:
        """The backward passes."""
        return Backward(self.facts, [one.gradients for one in self.optimizers])

    @property
    def backward(self) -> Mask:
        """bool [n]: the backward passes."""
        return self.passes.nodes

    @cached_property
    def gradient_writes(self) -> Mask:
        """bool [n]: assignments of a value that depends on a gradient: hand-written optimizers.

        An optimizer made of assignments also goes on from what they return (the moments of a sparse Adam).
        """
        facts = self.facts
        marked = self.passes.below_seeds if self.passes.seeds else self.passes.below_gradient_ops
        while True:
            found = facts.mask(one.node for one in facts.writes if any(marked[value] for value in one.values))
            further = marked | facts.below(found, facts.ends & ~found)
            if np.array_equal(further, marked):
                return found
            marked = further

    @cached_property
    def trained(self) -> Mask:
        """bool [n]: variables that training changes by gradients: those of optimizer ops, and of hand-written ones.

        A hand-written optimizer also assigns its own slots; what the forward pass reads is trained.
        """
        by_hand = [write for write in self.facts.writes if self.gradient_writes[write.node]]
        forward = self.passes.surely_forward | self.facts.above(self.passes.contacts)
        assigned = self.facts.mask(write.variable for write in by_hand)
        return self.facts.mask(self._applied) | (assigned & forward)

    @property
    def trains(self) -> bool:
        """The graph holds an optimizer; else gradients may be what it computes (forces in molecular dynamics)."""
        return bool(self.facts.applies.any() or self.gradient_writes.any())
