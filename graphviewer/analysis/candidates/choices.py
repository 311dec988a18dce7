"""Classes that are chosen from a prediction, for a metric or beside it: what counts is the prediction."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np

from graphviewer.analysis.candidates.uses import CARRYING, Uses
from graphviewer.model.graph import Mask

CHOOSING = frozenset({"ArgMax", "ArgMin", "Greater", "GreaterEqual", "Less", "LessEqual", "Round"})
"""Makes a class, or yes and no, of a prediction."""

PREDICTING = frozenset({"LogSoftmax", "Sigmoid", "Softmax"})
"""Gives probabilities, from which classes are chosen."""

_MOST_STEPS = 40
"""Nodes between a prediction and what a choice from it is for."""


class Choices:
    """The choices among the nodes that could be outputs.

    A choice that a metric or the loss reads is made for that, and never the output before what it is made from. One
    that nothing reads was made to be fetched: in a graph that trains the probabilities that it is made from come first,
    whereas logits are seldom wanted for themselves; a graph that does not train was cut at what its maker wanted.

    Args:
        eligible: bool [n], nodes that could be outputs at all.

    Attributes:
        source: by choice, and by node that hands one on: the prediction that it is made from.
    """

    def __init__(self, uses: Uses, eligible: Mask) -> None:
        self._uses, self._facts, self._eligible = uses, uses.facts, eligible
        self.source: dict[int, int] = {}
        for node in np.flatnonzero(eligible & self._facts.family(CHOOSING) & self._facts.from_values).tolist():
            self._follow(node)

    @cached_property
    def _judges(self) -> Mask:
        return self._uses.judging | self._uses.roles.seeded.has("metric")

    @cached_property
    def _ignored(self) -> Mask:
        return self._uses.training | self._uses.silent

    @cached_property
    def _quiet(self) -> Mask:
        return self._judges | self._uses.perhaps_judging | self._uses.training | self._uses.silent

    def _follow(self, choice: int) -> None:
        """Note a choice, and what hands it on, if it only serves a metric or was made beside the probabilities."""
        inputs = self._facts.inputs(choice)[:1]
        passed, users = self._handed_on(choice)
        if not inputs or not self._eligible[inputs[0]] or not all(self._quiet[user] for user in users):
            return
        judged = any(self._judges[user] or self._uses.perhaps_judging[user] for user in users)
        predicts = self._facts.graph.ops[inputs[0]] in PREDICTING and self._uses.roles.training.trains
        if judged or (predicts and not users):
            self.source.update(dict.fromkeys((one for one in passed if predicts or not self._fetched(one)), inputs[0]))

    def _fetched(self, node: int) -> bool:
        """Nothing computes with it: it was made to be fetched."""
        start, readers = self._facts.consumers
        return all(self._ignored[reader] for reader in readers[start[node] : start[node + 1]])

    def _handed_on(self, choice: int) -> tuple[list[int], set[int]]:
        """The choice with the nodes that hand it on, and what reads these; backward passes and records left out."""
        start, readers = self._facts.consumers
        passed, users = [choice], set()
        for node in passed:
            for reader in readers[start[node] : start[node + 1]]:
                if self._facts.graph.ops[reader] not in CARRYING or self._quiet[reader] or len(passed) > _MOST_STEPS:
                    users.add(reader)
                elif reader not in passed:
                    passed.append(reader)
        return passed, {user for user in users if not self._ignored[user] or self._judges[user]}

    def predictions(self) -> Iterator[int]:
        """What only choices, metrics and training read."""
        start, readers = self._facts.consumers
        for node in sorted(set(self.source.values()) - self.source.keys()):
            if all(one in self.source or self._quiet[one] for one in readers[start[node] : start[node + 1]]):
                yield node
