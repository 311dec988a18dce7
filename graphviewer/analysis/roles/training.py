"""How a graph is trained: what optimizer ops read and write, and where the backward pass runs."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from graphviewer.analysis import ops
from graphviewer.analysis.roles.backward import Backward
from graphviewer.analysis.roles.calls import GRADIENT_ARGUMENTS
from graphviewer.analysis.roles.facts import NONE, Facts
from graphviewer.model.graph import Mask


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
        behind = self.facts.behind
        for node in np.flatnonzero(self.facts.applies).tolist():
            one = self._apply_call(node) if node in self.facts.called_uses else self._apply(node)
            # Every op reads resource variables for itself: it is the variable that is shared.
            shared = frozenset(int(behind[hyper]) if behind[hyper] != NONE else hyper for hyper in one.hyper)
            groups.setdefault(shared, []).append(one)
        return tuple(
            Optimizer(
                frozenset().union(*(one.variables for one in ones)),
                frozenset().union(*(one.slots for one in ones)),
                frozenset().union(*(one.gradients for one in ones)),
                frozenset().union(*(one.hyper for one in ones)),
            )
            for ones in groups.values()
        )

    def _apply(self, node: int) -> Optimizer:
        """What one apply op reads, by the names of its arguments."""
        inputs, behind = self.facts.inputs(node), self.facts.behind
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

    def _apply_call(self, node: int) -> Optimizer:
        """What a call reads that runs optimizer ops; gradients only where they are not computed in there."""
        inputs, behind, uses = self.facts.inputs(node), self.facts.behind, self.facts.called_uses[node]

        def given(places: frozenset[int]) -> frozenset[int]:
            return frozenset(inputs[place] for place in places if place < len(inputs))

        def held(places: frozenset[int]) -> frozenset[int]:
            return frozenset(int(behind[source]) for source in given(places)) - {NONE}

        inner = any(map(ops.is_gradient_op, self.facts.called_ops[node]))
        values = frozenset(one for one in given(uses.gradients) if behind[one] == NONE and not self.facts.sources[one])
        return Optimizer(held(uses.trained), held(uses.slots), frozenset() if inner else values, given(uses.hyper))

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
        """bool [n]: assignments of a value that depends on a gradient: hand-written optimizers."""
        return self._by_hand[0]

    @cached_property
    def gradients(self) -> Mask:
        """bool [n]: values that depend on a gradient, also through what hand-written optimizers return."""
        return self._by_hand[1]

    @cached_property
    def _by_hand(self) -> tuple[Mask, Mask]:
        """Writes by gradients, and values that depend on gradients or on what these writes return (sparse Adam)."""
        facts = self.facts
        gradients = self.passes.below_seeds if self.passes.seeds else self.passes.below_gradient_ops
        while True:
            written = facts.mask(one.node for one in facts.writes if any(gradients[value] for value in one.values))
            stop = facts.no_values
            returned = written | self._returned(written)
            further = gradients | (facts.below(returned, stop & ~written) & ~stop)
            if np.array_equal(further, gradients):
                return written, gradients
            gradients = further

    def _returned(self, written: Mask) -> Mask:
        """bool [n]: what writes of resource variables return: reads of the same variable that wait for them alone."""
        facts, (src, dst) = self.facts, self.facts.control
        variable = np.full(facts.count, NONE)
        for write in facts.writes:
            variable[write.node] = write.variable if written[write.node] else NONE
        same = (variable[src] != NONE) & (variable[src] == facts.behind[dst]) & facts.family({"ReadVariableOp"})[dst]
        return facts.mask(dst[same].tolist())

    @cached_property
    def forward(self) -> Mask:
        """bool [n]: what the losses are computed from, as far as backward passes tell."""
        return self.passes.surely_forward | self.facts.above(self.passes.contacts)

    @cached_property
    def trained(self) -> Mask:
        """bool [n]: variables that training changes by gradients: those of optimizer ops, and of hand-written ones.

        A hand-written optimizer also assigns its own slots; what the forward pass reads is trained.
        """
        written = self.facts.mask(one.variable for one in self.facts.writes if self.gradient_writes[one.node])
        return self.facts.mask(self._applied) | (written & self.forward)

    @cached_property
    def copied(self) -> Mask:
        """bool [n]: variables that are set from trained ones: target networks, older policies, averaged weights."""
        facts = self.facts
        moving = facts.below(self.trained) & ~facts.from_source & ~self.gradients
        writes = (one for one in facts.writes if any(moving[value] for value in one.values))
        return facts.mask(one.variable for one in writes) & ~self.trained

    @property
    def trains(self) -> bool:
        """The graph holds an optimizer; else gradients may be what it computes (forces in molecular dynamics)."""
        return bool(self.facts.applies.any() or self.gradient_writes.any())
