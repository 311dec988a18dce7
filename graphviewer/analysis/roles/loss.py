"""The forward pass, and in it the loss and what depends on the labels."""

from collections.abc import Iterable
from functools import cached_property

import numpy as np

from graphviewer.analysis import ops
from graphviewer.analysis.control_flow import inside_loops
from graphviewer.analysis.roles.backward import CONTACT_DEPTH, LOSS_ARITHMETIC, PLUMBING
from graphviewer.analysis.roles.facts import TRIVIAL_OPS, Facts
from graphviewer.analysis.roles.steps import PREPARING
from graphviewer.analysis.roles.training import Training
from graphviewer.model.graph import Mask

NO_LAYERS = LOSS_ARITHMETIC | ops.LOSS_OPS | ops.METRIC_OPS | TRIVIAL_OPS | ops.PLACEHOLDER_OPS | ops.CONTROL_FLOW_OPS
NO_LAYERS |= {"Identity", "LessEqual", "LogicalNot", "LogicalOr"}
"""What losses, metrics and records are made of; all else is a layer."""

FLAT = frozenset({"ArgMax", "ArgMin", "Equal", "Floor", "Greater", "GreaterEqual", "InTopK", "InTopKV2", "Less"})
FLAT |= {"LessEqual", "NotEqual", "Round", "Sign"}
"""Has no gradient: nothing behind it is minimised."""

LOOKUPS = frozenset({"Gather", "GatherNd", "GatherV2", "ResourceGather", "ResourceGatherNd"})

LOOPING = ops.CONTROL_FLOW_OPS | {"IsFinite"}
LOOPING |= {f"TensorArray{step}V3" for step in ("", "Gather", "Read", "Scatter", "Size", "Write")}
"""What the loops of a loss are made of beside its arithmetic."""


class Forward:
    """Cached answers about the forward pass.

    Args:
        claimed: bool [n], nodes that already have a role of training.
        backward: bool [n], those of them that are backward passes.
        silent: bool [n], nodes whose reading says nothing about use: summaries, checks and leftovers.
    """

    def __init__(self, training: Training, claimed: Mask, backward: Mask, silent: Mask) -> None:
        self.training = training
        self.facts: Facts = training.facts
        self.graph = training.graph
        self._claimed, self._backward, self._silent = claimed, backward, silent

    @cached_property
    def backward(self) -> Mask:
        """bool [n]: the backward passes, and what only serves them or the handing over of gradients."""
        facts, passes = self.facts, self.training.passes
        handed = facts.mask(node for group in passes.groups for node in group)
        handed &= ~self._claimed & ~facts.below(facts.variables)  # the rows that a sparse gradient is for
        formal = self._formal & ~facts.above(self._ends, passes.nodes)
        helpers = facts.above(self._backward | handed) & (~self.reached | formal) & ~self._claimed & ~facts.variables
        return passes.nodes | helpers

    @cached_property
    def _formal(self) -> Mask:
        """bool [n]: depends on the form of data and weights only."""
        shapes = self.facts.family(ops.SHAPE_OPS)
        return ~self.facts.from_values & (~self.facts.below(self.facts.variables, shapes) | shapes)

    @cached_property
    def _worth_computing(self) -> Mask:
        """bool [n]: not a variable read, not trivial, not the pivot of a conditional."""
        first = self.graph.first_inputs()
        pivot = (first >= 0) & self.facts.family(ops.SWITCH_OPS)[first] & self.facts.family({"Identity"})
        return np.asarray(~(pivot | self.facts.is_read | self.facts.family(TRIVIAL_OPS | {"LoopCond"})))

    @cached_property
    def sinks(self) -> Mask:
        """bool [n]: ends of the forward pass, read by nothing but summaries and checks."""
        open_ends = np.asarray(self.facts.readers() == self.facts.readers(self._silent))
        return open_ends & self._worth_computing & ~self._claimed & ~self.training.backward

    @cached_property
    def reached(self) -> Mask:
        """bool [n]: the forward pass: all that its ends, summaries and gradient ops need of it."""
        return self.facts.above(self._ends)

    @cached_property
    def _ends(self) -> Mask:
        """bool [n]: ends of the forward pass, and what summaries and gradient ops read of it."""
        facts, training = self.facts, self.training
        recorded = (facts.readers(facts.recorders) > 0) & ~training.backward & ~facts.recorders
        differentiated = training.passes.differentiated & ~training.backward
        return self._measured(self.sinks | recorded) | training.passes.surely_forward | differentiated

    def _measured(self, ends: Mask) -> Mask:
        """bool [n]: ``ends``; where no backward pass starts at one, also what only metrics and averages read there."""
        facts, training = self.facts, self.training
        flat, shapes = facts.family(FLAT), facts.family(ops.SHAPE_OPS)
        contacts = training.passes.contacts
        forms = np.flatnonzero(contacts & shapes).tolist()
        contacts = contacts | facts.mask(source for node in forms for source in facts.inputs(node))
        stop = facts.ends | training.backward | flat | shapes
        below = facts.below(contacts & ~stop & ~facts.is_read, stop) & ~stop
        if (below & ends).any():
            return ends
        beside = self._silent | (self._claimed & ~self._backward) | self._handed
        read = (facts.readers() > 0) & (facts.readers() == facts.readers(beside))
        return np.asarray(ends | (below & read & ~beside & self._worth_computing))

    @cached_property
    def _handed(self) -> Mask:
        """bool [n]: sums over no axis that only metrics and averages read: how a streaming mean takes a number in."""
        facts = self.facts
        kept = facts.readers(self._claimed & ~(self._silent | self._backward))
        sums = facts.family({"Sum"}) & (kept > 0) & (kept == facts.readers())
        return facts.mask(node for node in np.flatnonzero(sums).tolist() if self._sums_nothing(node))

    def _sums_nothing(self, node: int) -> bool:
        """The axes of a sum are a constant without numbers, or ``range(0, 0)``, as TensorFlow makes for a scalar."""
        axes = self.facts.inputs(node)[-1]
        numbers = self.facts.inputs(axes)[1:2] if self.graph.ops[axes] == "Range" else [axes]
        if not numbers or self.graph.ops[numbers[0]] != "Const":
            return False
        attrs = self.facts.document.node(numbers[0]).attr
        if "value" not in attrs:
            return False
        tensor = attrs["value"].tensor
        empty = any(size.size == 0 for size in tensor.tensor_shape.dim)
        return empty or (numbers[0] != axes and not any(tensor.int_val) and not any(tensor.tensor_content))

    @cached_property
    def losses(self) -> tuple[int, ...]:
        """The nodes that were minimised: forward ends below the place where the backward pass first touches it."""
        if not self.training.trained.any() or not self.training.passes.seeds:
            return ()
        facts = self.facts
        inner = facts.readers() - facts.readers(self._silent | self.backward | self._claimed | self._handed)
        ends = (inner == 0) & self.reached & self._worth_computing & ~self.backward & ~(self._claimed | self._handed)
        flat = facts.family(FLAT)
        contacts = facts.mask(self._contacts()) | self.training.passes.differentiated
        below = facts.below(contacts & ~flat, facts.ends | self.backward | flat) & ~flat
        below &= facts.readers(facts.family({"AudioSummary", "AudioSummaryV2", "ImageSummary"})) == 0
        predicting = facts.family({"ArgMax", "Sigmoid", "Softmax"})
        return tuple(np.flatnonzero(ends & below & ~predicting).tolist())

    def _contacts(self) -> set[int]:
        """Forward nodes that the first nodes of the backward passes read, breadth first from the seeds.

        A weight that is read there belongs to a regulariser: it says nothing about where the loss is.
        """
        start, readers = self.facts.consumers
        found: set[int] = set()
        for seed in self.training.passes.seeds:
            level, seen = {seed}, {seed}
            for _ in range(CONTACT_DEPTH):
                following: set[int] = set()
                for node in level:
                    touched = self._touches(node)
                    found |= {one for one in touched if not self.facts.is_read[one]}
                    if not touched:
                        following.update(n for n in readers[start[node] : start[node + 1]] if self.backward[n])
                level = following - seen
                seen |= following
        return found

    def _touches(self, node: int) -> set[int]:
        """Forward inputs of a backward node, also through one helper (``Tile(seed, Shape(x))`` touches x)."""
        inputs = self.facts.inputs(node)
        direct = self._forward(inputs)
        for helper in inputs:
            if self.backward[helper] and not self.training.passes.below_seeds[helper]:
                direct |= self._forward(self.facts.inputs(helper))
        return direct

    def _forward(self, nodes: Iterable[int]) -> set[int]:
        return {node for node in nodes if not self.backward[node] and self.graph.ops[node] != "Const"}

    @cached_property
    def above_loss(self) -> Mask:
        """bool [n]: the losses and all that they depend on."""
        return self.facts.above(self.facts.mask(self.losses))

    @cached_property
    def moved(self) -> Mask:
        """bool [n]: weights that inner steps of training moved, on the way to the loss."""
        return self.training.passes.inner_steps.weights & self.above_loss

    @cached_property
    def moving(self) -> Mask:
        """bool [n]: inner steps of training: moved weights, and gradients that no loss compares or keeps small."""
        if not self.losses:
            return self.moved
        steps, losses = self.training.passes.inner_steps, self.facts.mask(self.losses)
        judged = self.facts.above(losses, steps.after & ~self.labelled & ~losses)
        return self.moved | (steps.gradients & ~judged)

    @cached_property
    def weighted(self) -> Mask:
        """bool [n]: applies a weight to data, on the way to the loss: a trained one, a copy of it, or a moved one."""
        facts = self.facts
        weights = facts.is_read & (self.training.trained | self.training.copied)[facts.behind]
        prepared = facts.family(PREPARING) & ~facts.from_source & ~self.backward
        while True:
            new = prepared & ~weights & (facts.reads(weights) > 0)
            if not new.any():
                break
            weights |= new
        weights |= self.moved
        applied = (facts.reads(weights) > 0) & (facts.reads(~facts.is_read & ~weights) > 0)
        return applied & self.above_loss & ~facts.is_read & ~weights & ~self.backward

    @cached_property
    def labelled(self) -> Mask:
        """bool [n]: depends on the labels, or comes after an op that only losses use.

        Labels are the outputs of sources that reach the loss without any trained weight on their way; also where they
        steer a part of the network beside that (``_beside``).
        """
        facts = self.facts
        found = np.zeros(facts.count, np.bool_)
        if not self.losses:
            return found
        formal = facts.family(ops.SHAPE_OPS | {"OnesLike", "ZerosLike"})
        end = facts.no_values | self.backward | formal | facts.family(ops.DECODING_OPS)
        end |= (self._claimed & ~facts.sources) | self.moved
        for source in np.flatnonzero(facts.sources).tolist():
            for heads in self._heads(source).values():
                if not self.above_loss[heads].any():
                    continue
                below = facts.below(facts.mask(heads), end)
                if (below & self.weighted).any():
                    found |= self._beside(source, facts.mask(heads), below, end)
                elif (below & self.above_loss).any():
                    found |= below
        found |= facts.below(facts.family(ops.LOSS_OPS) & self.above_loss, end)
        return self._with_plumbing(found & ~end | (found & formal & ~self.backward))

    def _beside(self, source: int, heads: Mask, below: Mask, end: Mask) -> Mask:
        """bool [n]: a source and what judges by it, where it is a label that weights are applied to as well.

        Such labels reach the loss by arithmetic alone too, and meet no weight before they meet what the network says
        (the mask of a capsule network's decoder), or look it up for the loss only (transitions between tags).
        """
        facts, weighted, none = self.facts, self.weighted, np.zeros(self.facts.count, np.bool_)
        wall = end | weighted | ~facts.family(NO_LAYERS)
        direct = facts.below(heads & ~wall, wall) & ~wall
        if not direct[list(self.losses)].any():
            return none
        joined = facts.reads(facts.below(weighted) & ~below & ~facts.is_read) > 0
        first = facts.below(heads, end | joined) & weighted & ~joined
        lookups = facts.family(LOOKUPS)
        after = facts.below(first & lookups, end)
        if (first & ~lookups).any() or (after & (~facts.family(NO_LAYERS) | weighted) & ~lookups & ~end).any():
            return none
        judging = facts.below(heads, end | weighted) & ~weighted & ~facts.above(weighted)
        return judging | after | facts.mask([source])

    def _heads(self, source: int) -> dict[int, list[int]]:
        """Readers of a source by the port that they read."""
        heads: dict[int, list[int]] = {}
        for edge in self.graph.edges_out_of(source).tolist():
            port = int(self.graph.port[edge])
            if port >= 0:
                heads.setdefault(port, []).append(int(self.graph.dst[edge]))
        return heads

    def _with_plumbing(self, labelled: Mask) -> Mask:
        """Add label placeholders, and reshapes and casts of labels, where no weight is above or below."""
        facts = self.facts
        above_weights = facts.above(self.weighted)
        fitting = facts.family(PLUMBING | ops.PLACEHOLDER_OPS) & ~above_weights & ~facts.is_read
        formal = facts.family(ops.SHAPE_OPS)
        while True:
            inside = labelled | self.backward | self._silent | formal
            new = fitting & ~labelled & (facts.readers(labelled) > 0) & (facts.readers() == facts.readers(inside))
            if not new.any():
                return labelled
            labelled = labelled | new

    @cached_property
    def layers(self) -> Mask:
        """bool [n]: nodes of the forward pass with ops that neither losses nor records are made of."""
        facts = self.facts
        other = facts.family(NO_LAYERS)
        fed = facts.from_values | facts.below(facts.variables)
        other |= facts.self_products & ~facts.above(self.weighted)
        return np.asarray(fed & self.reached & (~other | facts.normalized) & ~self.labelled & ~facts.is_read)

    @cached_property
    def loss_only(self) -> Mask:
        """bool [n]: unlabelled arithmetic after the last weight that nothing but the loss uses: regularisers, logs."""
        facts = self.facts
        found = (self.labelled & self.above_loss) | facts.mask(self.losses)
        if not self.losses:
            return found
        own, fitting = self._weights_of_losses, facts.family(LOSS_ARITHMETIC) | facts.self_products
        weighted = self.weighted
        if own.any():
            weighted = weighted & (facts.reads(facts.is_read & (self.training.trained & ~own)[facts.behind]) > 0)
            fitting |= facts.family(LOOPING) | (facts.family({"Identity"}) & inside_loops(self.graph))
        fitting &= self.above_loss & ~facts.above(weighted)
        fitting &= ~facts.is_read & ~self._claimed & ~facts.normalized & ~found & (facts.readers() > 0)
        others = facts.readers() > facts.readers(found | self.backward | self._silent | fitting)
        return found | (fitting & ~facts.above(fitting & others, ~fitting))

    @cached_property
    def _weights_of_losses(self) -> Mask:
        """bool [n]: variables that labels look up: a loss applies them, as the transitions between tags."""
        lookups = np.flatnonzero(self.facts.family(LOOKUPS) & self.labelled & self.weighted).tolist()
        behind = (int(self.facts.behind[source]) for node in lookups for source in self.facts.inputs(node)[:1])
        return self.facts.mask(behind) & self.training.trained
