"""Where the backward passes of a graph run: from the ones that d(loss)/d(loss) is, down to the variables."""

from collections.abc import Iterator, Sequence
from functools import cached_property

import numpy as np

from graphviewer.analysis import ops
from graphviewer.analysis.control_flow import ENTERS, EXITS
from graphviewer.analysis.roles.facts import NONE, Facts
from graphviewer.analysis.roles.ones import SCALAR, ones
from graphviewer.analysis.roles.steps import ADDING, Steps, inner_steps
from graphviewer.model.graph import Mask

FORWARD_ARGUMENTS = frozenset(
    {"features", "filter", "input", "input_image", "orig_input", "orig_output", "output", "outputs", "x", "y"}
)
"""What gradient ops call the values of the forward pass."""

FORWARD_NAMES_A_GRADIENT = frozenset({"MirrorPadGrad", "SymbolicGradient", "TileGrad"})
"""Gradient ops whose argument ``input`` is a gradient all the same, or holds gradients too."""

FILTER_GRADIENTS = frozenset({"Conv2DBackpropFilter", "Conv3DBackpropFilterV2", "DepthwiseConv2dNativeBackpropFilter"})
"""Read input, sizes and gradient; in the backward pass of a transposed convolution the first and last change places."""

PLUMBING = frozenset({"Cast", "PreventGradient", "Reshape", "StopGradient"})

LOSS_ARITHMETIC = PLUMBING | {
    *("Abs", "Add", "AddN", "AddV2", "BroadcastTo", "ClipByValue", "ConcatV2", "Const", "Cumsum", "DivNoNan", "Equal"),
    *("Exp", "ExpandDims", "Fill", "Greater", "GreaterEqual", "L2Loss", "Less", "Log", "Log1p", "LogicalAnd", "Max"),
    *("MatrixDiagPart", "MatrixDiagPartV2", "MatrixDiagPartV3"),
    *("Maximum", "Mean", "Min", "Minimum", "Mul", "Neg", "NotEqual", "OneHot", "OnesLike", "Pack", "Pow", "Prod"),
    *("Range", "Rank", "RealDiv", "Rsqrt", "Select", "SelectV2", "Shape", "Size", "Slice", "Softplus", "Sqrt"),
    *("Square", "SquaredDifference", "Squeeze", "StridedSlice", "Sub", "Sum", "Tile", "Where", "ZerosLike"),
}
"""What a loss is computed with after the last weight. Softmax, Sigmoid and layers are predictions instead."""

SUBTRACTING = frozenset({"AssignSub", "AssignSubVariableOp", "ScatterSub", "ResourceScatterSub"})
"""What descends along a gradient where no optimizer op does."""

STORES = {
    "AccumulatorApplyGradient": slice(2, 3),
    "ResourceAccumulatorApplyGradient": slice(2, 3),
    "SparseAccumulatorApplyGradient": slice(2, 4),
}
"""Ops that put a gradient into an accumulator, their first input, and which inputs the gradient is."""

CONTACT_DEPTH = 12
"""How far below its seed a backward pass may first touch the forward pass."""


MOST_ONES = 200
"""Candidates for seeds that are looked at, likeliest first."""


class Backward:
    """Cached answers about the backward passes.

    Args:
        applied: for each optimizer, the nodes that its ops take gradients from.
    """

    def __init__(self, facts: Facts, applied: Sequence[frozenset[int]]) -> None:
        self.facts, self.graph = facts, facts.graph
        self._applied = applied
        self._reach: dict[int, Mask | None] = {}

    @cached_property
    def gradient_ops(self) -> Mask:
        """bool [n]: ops that only backward passes use."""
        return self.facts.family(ops.is_gradient_op)

    @cached_property
    def below_gradient_ops(self) -> Mask:
        """bool [n]: depends on a gradient op, writes and summaries left out."""
        return self.facts.below(self.gradient_ops, self.facts.no_values) & ~self.facts.no_values

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
        inputs = self.facts.inputs(node)
        if self.graph.ops[node] in FILTER_GRADIENTS and self._changes_places(inputs):
            return inputs[2:3]
        names = ops.argument_names(self.facts.document.node(node)) or []
        pairs = zip(names, inputs, strict=False)
        return [source for name, source in pairs if name in FORWARD_ARGUMENTS]

    def _changes_places(self, inputs: Sequence[int]) -> bool:
        """What stands first in the inputs of a gradient to a filter hangs on what stands last: it is the gradient."""
        if len(inputs) < 3 or self.below_gradient_ops[[inputs[0], inputs[2]]].any():
            return False
        first, last = inputs[0], inputs[2]
        return bool(self.facts.below(self.facts.mask([last]), self.facts.no_values)[first])

    @cached_property
    def _ones(self) -> tuple[tuple[int, int], ...]:
        return tuple(sorted(ones(self.facts.document), reverse=True)[:MOST_ONES])

    def _reached(self, node: int) -> Mask | None:
        """What a candidate for a seed reaches; None when that holds a part of the forward pass."""
        if node not in self._reach:
            start, readers = self.facts.consumers
            near = readers[start[node] : start[node + 1]]
            forward = self.surely_forward
            reached = None
            if near and not forward[node] and not forward[near].any():
                reached = self.facts.below(self.facts.mask([node]), self.facts.no_values) & ~self.facts.no_values
            self._reach[node] = None if reached is None or (reached & forward).any() else reached
        return self._reach[node]

    @cached_property
    def groups(self) -> tuple[frozenset[int], ...]:
        """For each optimizer, the values that backward passes give it; hand-written ones count as one."""
        groups = [self._stored(group) for group in self._applied if group]
        return tuple(groups) or tuple(filter(None, [self._by_hand(self.below_gradient_ops)])) or self._descents()

    def _by_hand(self, marked: Mask, written_by: frozenset[str] | None = None) -> frozenset[int]:
        """What assignments write, with its indices, where some of it is among ``marked``."""
        fitting = (one for one in self.facts.writes if written_by is None or self.graph.ops[one.node] in written_by)
        return frozenset(value for one in fitting if any(marked[other] for other in one.values) for value in one.values)

    def _descents(self) -> tuple[frozenset[int], ...]:
        """Where neither optimizer ops nor gradient ops are (word2vec): what is subtracted below a seed."""
        groups = (self._by_hand(reached, SUBTRACTING) for reached in self._below_scalars())
        return tuple(group for group in groups if group)

    def _below_scalars(self) -> Iterator[Mask]:
        """What each of the ones reaches that only ``tf.gradients`` makes."""
        below = (self._reached(node) for rank, node in self._ones if rank == SCALAR)
        return (reached for reached in below if reached is not None)

    def _stored(self, gradients: frozenset[int]) -> frozenset[int]:
        """The values that optimizer ops get, and those that were summed up in what they read: accumulated gradients."""
        facts = self.facts
        marked = self.below_gradient_ops.copy()
        for reached in self._below_scalars():
            marked |= reached
        if all(marked[node] for node in gradients):
            return gradients
        held = facts.above(facts.mask(node for node in gradients if not marked[node]), facts.variables)
        writes = (one for one in facts.writes if one.variable != NONE and held[one.variable])
        values = {value for one in writes for value in one.values if marked[value]}
        for node in np.flatnonzero(facts.family(STORES)).tolist():
            inputs = self.facts.inputs(node)
            if inputs and held[inputs[0]]:
                values.update(inputs[STORES[self.graph.ops[node]]])
        return gradients | values

    @cached_property
    def seeds(self) -> tuple[int, ...]:
        """Where backward passes start: the ones that d(loss)/d(loss) is, at least one for each optimizer."""
        found = (seed for group in self.groups for seed in self._seeds_of(group))
        return tuple(dict.fromkeys(found))

    def _seeds_of(self, gradients: frozenset[int]) -> list[int]:
        """A seed reaches gradients, and nothing of the forward pass.

        Ones in the shape of a scalar are seldom made for anything else: all of them count (towers have one each). Of
        other ones that reach most gradients, the one with the fewest unread ends below it counts.
        """
        wanted = np.array(sorted(gradients), np.int64)
        for rank in sorted({rank for rank, _ in self._ones}, reverse=True):
            fitting: dict[int, Mask] = {}
            for node in (node for candidate, node in self._ones if candidate == rank):
                reached = self._reached(node)
                if reached is not None and np.count_nonzero(reached[wanted]) >= (
                    1 if rank == SCALAR else len(wanted) / 2
                ):
                    fitting[node] = reached
            fitting = self._without_forward(fitting)
            if fitting and rank == SCALAR:
                return list(fitting)
            if fitting:
                unread = self.facts.readers() == 0
                return [min(fitting, key=lambda node: (np.count_nonzero(fitting[node] & unread), -node))]
        return []

    def _without_forward(self, fitting: dict[int, Mask]) -> dict[int, Mask]:
        """Leave out what lies above a loss: what a backward pass from other ones touches first."""
        if len(fitting) < 2:
            return fitting
        touched = {seed: self._touched(seed, reached) for seed, reached in fitting.items()}
        losses = {
            seed
            for seed, reached in fitting.items()
            if any(reached[touched[other]].any() for other in fitting if other != seed)
        }
        return {seed: reached for seed, reached in fitting.items() if seed not in losses} or fitting

    def _touched(self, seed: int, reached: Mask) -> list[int]:
        """What the first nodes below a seed read beside it, constants left out; ``reached`` is all below the seed."""
        start, readers = self.facts.consumers
        found: set[int] = set()
        level, seen = {seed}, {seed}
        for _ in range(CONTACT_DEPTH):
            following: set[int] = set()
            for node in level:
                inputs = [one for one in self.facts.inputs(node) if not reached[one] and self.graph.ops[one] != "Const"]
                touched = inputs if node != seed else []
                found.update(touched)
                if not touched:
                    following.update(readers[start[node] : start[node + 1]])
            level = {node for node in following - seen if reached[node]}
            seen |= following
        return sorted(found)

    @cached_property
    def below_seeds(self) -> Mask:
        """bool [n]: what the seeds reach, writes and summaries left out: the backward passes of the training."""
        found = np.zeros(self.facts.count, np.bool_)
        for seed in self.seeds:
            reached = self._reached(seed)
            found |= reached if reached is not None else False
        return found

    @cached_property
    def nodes(self) -> Mask:
        """bool [n]: the backward passes, with what makes their seeds, their stacks and loops."""
        facts = self.facts
        found = self.below_seeds | self._inner
        found |= facts.above(facts.mask(self.seeds), self._formal) & ~facts.is_read & ~self.surely_forward
        if self.seeds:
            found |= facts.family(lambda op: op.startswith(("StackPush", "StackPop")) or op in ("Stack", "StackV2"))
            for loop in self._loops():
                found |= loop
        return found

    @cached_property
    def inner_steps(self) -> Steps:
        """What the gradients that the seeds do not reach move before it is applied, and these gradients."""
        starts = (node for rank, node in self._ones if rank and not self.below_seeds[node] and self._starts(rank, node))
        started = self._other_gradient_ops | self.facts.mask(starts)
        return inner_steps(self.facts, started, self.facts.no_values | self.below_seeds)

    def _starts(self, rank: int, node: int) -> bool:
        """Ones start an inner backward pass: they reach gradient ops, or sums over the forms of these, or move weights.

        Ones that a network computes with do neither (the scale of a normal distribution).
        """
        if self._towards_others(node).any():
            return True
        reached = self._reached(node) if rank == SCALAR else None
        return reached is not None and bool((reached & self._summed).any() or self._moves_weights(reached))

    @cached_property
    def _summed(self) -> Mask:
        """bool [n]: sums a gradient where a forward op had repeated its input; no seed reaches it."""
        return (self.facts.reads(self.facts.family({"BroadcastGradientArgs"})) > 0) & ~self.below_seeds

    def _moves_weights(self, reached: Mask) -> bool:
        """Something that ones reach, and that depends on data, is added to a weight right as it is read."""
        facts = self.facts
        slopes = reached & facts.from_source
        adding = slopes & facts.family(ADDING) & ~self.below_seeds
        return bool((adding & (facts.reads(facts.is_read) > 0) & (facts.reads(slopes) > 0)).any())

    @cached_property
    def _other_gradient_ops(self) -> Mask:
        """bool [n]: gradient ops that the seeds do not reach; what looks at forms only is none."""
        return self.gradient_ops & ~self.below_seeds & ~self.facts.family({"BroadcastGradientArgs"})

    def _towards_others(self, node: int) -> Mask:
        """bool [n]: what ones reach, where it holds gradient ops that the seeds do not reach; else nothing."""
        reached = self._reached(node)
        if reached is not None and (reached & self._other_gradient_ops).any():
            return reached
        return np.zeros(self.facts.count, np.bool_)

    @cached_property
    def _inner(self) -> Mask:
        """bool [n]: backward passes that the seeds do not reach: inside of a loss, on the way to an answer, unused.

        Arithmetic after the last gradient op, which the training differentiates, is the loss (gradient penalties) and
        not among them, unless a further forward pass needs it.
        """
        if not self.seeds:
            return self.below_gradient_ops
        facts, others, steps = self.facts, self._other_gradient_ops, self.inner_steps
        stop = facts.no_values | self.below_seeds
        if not others.any():
            return (self.below_gradient_ops & ~self.below_seeds & ~steps.after) | self._spent
        below = facts.below(others, stop) & ~stop
        towards = facts.above(others)
        applied = facts.above(facts.mask(node for group in self.groups for node in group), stop)
        loss = facts.below(below & ~towards & facts.family(LOSS_ARITHMETIC), stop) & below & ~applied
        found = below & ~loss
        dead = ~facts.above(self.below_seeds) & ~facts.family(LOSS_ARITHMETIC)
        for node in (node for rank, node in self._ones if rank and node not in self.seeds):
            reached = self._towards_others(node)
            if reached.any():
                found |= (reached & (towards | dead)) | facts.mask(facts.inputs(node))
        return (found & ~steps.after) | self._spent

    @property
    def _spent(self) -> Mask:
        """bool [n]: inner gradients that nothing uses, or only a further forward pass with what they moved."""
        facts, steps = self.facts, self.inner_steps
        if not steps.gradients.any():
            return steps.gradients
        applying = steps.after & (facts.reads(facts.is_read | steps.weights) > 0)
        return steps.gradients & (facts.above(applying) | ~facts.above(~steps.gradients))

    def _loops(self) -> Iterator[Mask]:
        """The loops that backward passes run in, with their counters."""
        facts, graph = self.facts, self.graph
        frames: dict[bytes, list[int]] = {}
        for node in np.flatnonzero(facts.family(ENTERS)).tolist():
            frames.setdefault(facts.document.node(node).attr["frame_name"].s, []).append(node)
        exits = facts.family(EXITS)
        for enters in frames.values():
            inside = graph.descendants(enters, stop=np.flatnonzero(exits).tolist(), control=False)
            if (inside & self.below_seeds).any():
                yield inside & ~self.surely_forward

    @cached_property
    def contacts(self) -> Mask:
        """bool [n]: what the first nodes of the backward passes read of the forward pass, or the forms of that."""
        return self.facts.mask(node for seed in self.seeds for node in self._touched(seed, self.nodes))

    @cached_property
    def differentiated(self) -> Mask:
        """bool [n]: what was differentiated, where the seed takes its shape from it."""
        above = self.facts.above(self.facts.mask(self.seeds), self._formal) & self._formal
        return self.facts.mask(source for node in np.flatnonzero(above).tolist() for source in self.facts.inputs(node))

    @cached_property
    def _formal(self) -> Mask:
        """bool [n]: nodes that depend on the form of their input only."""
        return self.facts.family(ops.SHAPE_OPS | {"OnesLike", "ZerosLike"})
