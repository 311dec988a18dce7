"""Candidates for outputs: where the forward pass ends, and what it judges."""

import heapq
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from graphviewer.analysis import ops
from graphviewer.analysis.candidates import Candidate, big_constants
from graphviewer.analysis.candidates.choices import Choices
from graphviewer.analysis.candidates.parts import end_before_judge, ends_of_parts
from graphviewer.analysis.candidates.ports import result_ports, result_text
from graphviewer.analysis.candidates.uses import CALLED, Uses
from graphviewer.analysis.control_flow import EXITS, entered_by, inside_branches, inside_loops
from graphviewer.analysis.roles import Roles
from graphviewer.analysis.roles.markers import training_calls, training_mode
from graphviewer.analysis.suggestion import Suggestion
from graphviewer.model import endpoints
from graphviewer.model.graph import Mask

WALKED = 200
"""Candidates, best first by what is cheap to know, whose whole past is looked at."""

STEP_UP = 0.5
"""What an inner node scores less than the node it leads to, at least."""

OUTPUT_OPS = {
    "CombinedNonMaxSuppression": 3.0,
    "CTCBeamSearchDecoder": 2.0,
    "CTCGreedyDecoder": 2.0,
    "TFLite_Detection_PostProcess": 4.0,
    "Softmax": 2.0,
    "Sigmoid": 1.5,
    "LogSoftmax": 1.5,
    "StatefulPartitionedCall": 1.5,
    "PartitionedCall": 1.5,
    "ArgMax": 1.2,
    "TopKV2": 1.2,
    "L2Normalize": 1.0,
    "NonMaxSuppressionV3": 1.0,
    "Tanh": 1.0,
    "BiasAdd": 0.8,
    "MatMul": 0.6,
    "Identity": 0.5,
    "ResizeBilinear": 0.5,
    "Squeeze": 0.5,
    "Conv2D": 0.3,
    "Exit": 0.3,
    "Reshape": 0.3,
}
"""What networks end in."""

OTHER_OPS = {
    "Equal": -2.0,
    "Fill": -3.0,
    "InTopK": -3.0,
    "InTopKV2": -3.0,
    "IsFinite": -3.0,
    "Mean": -0.5,
    "Pack": -1.0,
    "StridedSlice": -1.0,
    "Sum": -1.5,
    "LookupTableSize": -3.0,
    "LookupTableSizeV2": -3.0,
}
"""What networks seldom end in."""

SHAPING = frozenset({"Cast", "ExpandDims", "Reshape", "Squeeze"})
"""Gives the last layer the form that users want as often as the form that a loss wants."""

NEVER = ops.SHAPE_OPS | ops.VARIABLE_OPS | ops.PLACEHOLDER_OPS
NEVER |= {"Const", "Fill", "LoopCond", "NoOp", "OnesLike", "ZerosLike", "StackPush", "StackPushV2"}

FLOWS = frozenset({f"TensorArray{step}V{version}" for step in ("Scatter", "Split", "Write") for version in (2, 3)})
FLOWS |= {"TensorArrayGradV3", "TensorArrayV3"}
"""Give handles and the numbers that order what is done to an array, never a value."""

NAMES = (
    (4.0, r"(^|/)(raw_)?(num_detections|detection_\w+|TFLite_Detection_PostProcess)(_\d+)?$"),
    (2.0, CALLED),
    (1.0, r"(?i)(^|/)logits(_\d+)?$"),
    (-3.0, r"(?i)(loss|accuracy|metric|summary|global_step|train_op|cost|error|report_uninit)"),
)


class Outputs:
    """Finds and weighs candidates for outputs."""

    def __init__(self, roles: Roles) -> None:
        self.roles, self.facts, self.forward = roles, roles.facts, roles.forward
        self.graph, self.document = roles.facts.graph, roles.facts.document
        self.uses = Uses(roles)

    def suggestions(self, limit: int) -> list[Suggestion]:
        """Best first; signature outputs always lead, inner nodes of the forward pass fill the list."""
        signed = {(one.node, one.port): one for one in self._signed()}
        ends = [one for one in self._ends() if (one.node, one.port) not in signed]
        ends.sort(key=lambda one: (-one.score, -one.node))
        found = [*signed.values(), *ends[:WALKED]]
        for candidate in found:
            self._weigh_past(candidate)
        self._prefer_identities(found)
        self._prefer_predictions(found, signed)
        found = self._with_results(found, signed)
        found += self._inner(found, limit - len(found))
        place = {key: number for number, key in enumerate(signed)}
        found.sort(key=lambda one: (-one.score, place.get((one.node, one.port), -one.node), one.port))
        found.sort(key=lambda one: (one.node, one.port) not in signed)
        return [one.suggestion(self.graph.names[one.node]) for one in found[:limit]]

    def _inner(self, ends: Sequence[Candidate], count: int) -> list[Candidate]:
        """Up to ``count`` eligible nodes above the ends, best end first; each ranks below what it leads to."""
        found: list[Candidate] = []
        seen = {one.node for one in ends}
        heap = [(-one.score, -one.node) for one in ends]
        heapq.heapify(heap)
        eligible = self._eligible
        if self.facts.sources.any():
            eligible = eligible & self.facts.from_values
        while heap and len(found) < count:
            score, below = -heap[0][0], -heap[0][1]
            heapq.heappop(heap)
            for node in (node for node in self.graph.inputs(below) if node not in seen):
                seen.add(node)
                candidate = Candidate(node, score=score - STEP_UP)
                if eligible[node]:
                    candidate = Candidate(node)
                    candidate.add(-2.0, f"leads to {self.graph.names[below]}")
                    self._weigh(candidate)
                    self._weigh_past(candidate)
                    candidate.score = min(candidate.score, score - STEP_UP)
                    found.append(candidate)
                heapq.heappush(heap, (-candidate.score, -node))
        return found[: max(count, 0)]

    def _signed(self) -> Iterator[Candidate]:
        """The outputs of the file's signatures, in their order; a signature may also name a write, to run it."""
        for signature, key, endpoint in endpoints.signed(self.document, "outputs"):
            node = self.graph.index[endpoint.node]
            if not ops.is_variable_write(self.graph.ops[node]) and not self._is_silent(node):
                candidate = Candidate(node, endpoint.port)
                candidate.add(20.0, f"output of the signature {signature}/{key}")
                yield candidate

    @cached_property
    def _eligible(self) -> Mask:
        """bool [n]: nodes that could be outputs at all."""
        facts = self.facts
        pipeline = self.roles.seeded.has("input_pipeline") & ~facts.below(facts.variables)
        never = facts.family(NEVER) | facts.is_read | facts.effect_only | pipeline
        first = self.graph.first_inputs()
        pivot = (first >= 0) & facts.family(ops.SWITCH_OPS)[first] & facts.family({"Identity"})
        unread_exits = facts.family(EXITS) & (facts.readers() == 0) & self._in_used_loops()
        silent = facts.mask(node for node in range(facts.count) if self._is_silent(node))
        partly = inside_loops(self.graph) | inside_branches(self.graph)
        writes = facts.assigns | facts.applies
        regularisers = self.forward.loss_only & ~facts.from_values
        weights, _ = self._weights
        if facts.sources.any():
            # What read a variable before it was frozen.
            never |= facts.family({"Identity"}) & (first >= 0) & facts.family({"Const"})[first]
        if facts.sources.any() and weights.any():
            never |= ~(facts.from_values | facts.below(weights))
        flows = facts.family(FLOWS)
        never |= flows | (facts.family({"Identity"}) & (first >= 0) & flows[first])
        never |= self.forward.moving
        never |= pivot | silent | unread_exits | partly | writes | regularisers
        return np.asarray(~(never | self.uses.training | self.uses.judging | self.uses.classes_for_metrics))

    @cached_property
    def _choices(self) -> Choices:
        return Choices(self.uses, self._eligible)

    def _in_used_loops(self) -> Mask:
        """bool [n]: Exits of loops that other Exits hand on results of."""
        facts = self.facts
        entered = entered_by(self.graph, facts.family(EXITS))
        frame = {node: self.document.node(enter).attr["frame_name"].s for node, enter in entered.items()}
        total = facts.readers()
        used = {name for node, name in frame.items() if total[node]}
        return facts.mask(node for node, name in frame.items() if name in used)

    def _is_silent(self, node: int) -> bool:
        return ops.output_count(self.document.node(node)) == 0

    def _ends(self) -> Iterator[Candidate]:
        """Ends of the forward pass, and what feeds the loss."""
        facts = self.facts
        total, eligible = facts.readers(), self._eligible
        judges = self.uses.judging | self.uses.perhaps_judging
        judged = facts.readers(judges)
        live = total - facts.readers(self.uses.training | judges)
        updates = self.uses.training & ~(self.roles.seeded.has("summary") | self.uses.recording)
        only_updates = (total > 0) & (total == facts.readers(updates))
        parts = ends_of_parts(self.uses, eligible) | end_before_judge(self.uses)
        predictions = set(self._choices.predictions())
        for node in np.flatnonzero(eligible & ~only_updates).tolist():
            candidate = Candidate(node)
            if node in parts:
                candidate.add(6.0, parts[node])
            elif node in predictions:
                candidate.add(3.0, "only the loss or metrics use it, or the choice of a class")
            elif not live[node] and judged[node]:
                candidate.add(3.0, "only the loss or metrics use it")
            elif not live[node]:
                candidate.add(3.0, "only training or summary nodes use it" if total[node] else "nothing uses it")
            elif judged[node]:
                candidate.add(2.0, "feeds the loss")
            else:
                continue
            self._weigh(candidate)
            yield candidate

    def _weigh(self, candidate: Candidate) -> None:
        """What is known without a walk: op, name, whether it is a recorded number or depends on data."""
        node, op = candidate.node, self.graph.ops[candidate.node]
        candidate.add(OUTPUT_OPS.get(op, 0.0), f"op {op}" if op in OUTPUT_OPS else "")
        candidate.add(OTHER_OPS.get(op, 0.0))
        inputs = self.facts.inputs(node)[:1] if op in SHAPING else [node]
        if self.uses.perhaps_judging[node] and self.uses.perhaps_judging[inputs].any():
            candidate.add(-2.0, "may be a part of the loss")
        if not self.facts.from_values[node]:
            random = self._from_random[node]
            candidate.add(*((-1.0, "random numbers are its only input") if random else (-4.0, "depends on no input")))
        if self._before_steps[node]:
            candidate.add(-1.0, "an inner step of training uses it")
        if any(self.graph.ops[reader] == "ScalarSummary" for reader in self.graph.consumers(node)):
            candidate.add(-5.0, "is recorded as a number")
        for score, pattern in NAMES:
            if re.search(pattern, self.graph.names[node]):
                candidate.add(score, "its name" if score > 0 else "its name speaks against it")
                break

    def _weigh_past(self, candidate: Candidate) -> None:
        """What lies above: weights, losses, training mode, random numbers."""
        facts = self.facts
        own, shapes, moved = facts.mask([candidate.node]), facts.family(ops.SHAPE_OPS), self.forward.moved
        above = facts.above(own, shapes)
        judging = facts.above(own, shapes | moved) if moved.any() else above
        weights, word = self._weights
        if weights.any():
            share = np.count_nonzero(above & weights) / np.count_nonzero(weights)
            none = f"depends on none of the {word}"
            candidate.add(4.0 * share if share else -3.0, f"depends on {share:.0%} of the {word}" if share else none)
        if (judging & self._judges).any():
            candidate.add(-8.0, "comes after a loss")
        if (judging & self.forward.labelled & facts.sources).any():
            candidate.add(-6.0, "depends on the labels")
        in_training = np.count_nonzero(above & self._training_mode)
        if in_training:
            told = "batch norm or dropout above it is" if in_training == 1 else "batch norms or dropouts above it are"
            candidate.add(-3.0, f"{in_training} {told} in training mode")
        if facts.from_values[candidate.node] and (above & self._random).any():
            # Those of a dropout count once, as training mode.
            candidate.add(0.0 if in_training else -2.0, "depends on random numbers")

    @cached_property
    def _before_steps(self) -> Mask:
        return self.facts.above(self.forward.moved)

    @cached_property
    def _judges(self) -> Mask:
        return self.facts.family(ops.LOSS_OPS | {"InTopK", "InTopKV2"})

    @cached_property
    def _training_mode(self) -> Mask:
        return training_mode(self.facts) | training_calls(self.facts)

    @cached_property
    def _random(self) -> Mask:
        return self.facts.family(ops.is_random_op)

    @cached_property
    def _from_random(self) -> Mask:
        return self.facts.below(self._random)

    @cached_property
    def _weights(self) -> tuple[Mask, str]:
        """What the network learned: trained variables, or all that are read, or big constants."""
        if self.roles.training.trained.any():
            return self.roles.training.trained, "trained variables"
        variables = self.facts.variables & self.forward.reached
        return (variables, "variables") if variables.any() else (big_constants(self.facts), "weights")

    def _prefer_identities(self, found: Iterable[Candidate]) -> None:
        """An Identity on a candidate was put there to give it a name."""
        nodes = {candidate.node for candidate in found}
        for candidate in found:
            if self.graph.ops[candidate.node] == "Identity" and nodes.intersection(self.graph.inputs(candidate.node)):
                candidate.score += 0.3

    def _prefer_predictions(self, found: Iterable[Candidate], signed: Collection[tuple[int, int]]) -> None:
        """A class chosen from a prediction, for a metric or beside it, ranks below the prediction."""
        best = {candidate.node: candidate for candidate in found}
        for node, source in self._choices.source.items():
            choice, prediction = best.get(node), best.get(source)
            if choice is not None and prediction is not None and (choice.node, choice.port) not in signed:
                choice.score = min(choice.score, prediction.score - STEP_UP)
                choice.reasons.append(f"is chosen from {self.graph.names[source]}")

    def _with_results(self, found: Iterable[Candidate], signed: Collection[tuple[int, int]]) -> list[Candidate]:
        """Where a node has several results, a candidate for each."""
        whole: list[Candidate] = []
        for one in found:
            ports = [0] if (one.node, one.port) in signed else result_ports(self.document, one.node)
            if len(ports) == 1:
                whole.append(one if (one.node, one.port) in signed else replace(one, port=ports[0]))
                continue
            for port in ports:
                told = result_text(self.document, one.node, port, max(ports) + 1)
                if (one.node, port) not in signed:
                    whole.append(replace(one, port=port, reasons=[*one.reasons, told]))
        return whole
