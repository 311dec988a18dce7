"""What reads a node, seen from outputs: training, losses and metrics, or the rest of the network."""

from functools import cached_property

import numpy as np

from graphviewer.analysis import ops
from graphviewer.analysis.roles import Roles
from graphviewer.analysis.roles.arithmetic import climb
from graphviewer.analysis.roles.loss import NO_LAYERS
from graphviewer.model.graph import Mask

TRAINING = (
    *("gradient", "optimizer", "batch_norm_update", "moving_average", "global_step", "metric", "save_restore"),
    *("initializer", "summary", "check"),
)
"""Roles that no suggestion has, and whose reading a node says nothing about its use."""


class Uses:
    """Cached masks about one document's roles."""

    def __init__(self, roles: Roles) -> None:
        self.roles, self.facts, self.forward = roles, roles.facts, roles.forward

    @cached_property
    def training(self) -> Mask:
        """bool [n]: nodes of training, by rule or as helpers of the backward pass."""
        trains = self.roles.training.trains
        found = np.zeros(self.facts.count, np.bool_)
        for role in TRAINING:
            found |= self.roles.seeded.has(role) if trains or role != "gradient" else False
        return found | self.forward.backward if trains else found

    @cached_property
    def judging(self) -> Mask:
        """bool [n]: the losses, and what depends on the labels or only compares predictions with them."""
        compared = self.facts.below(self.facts.family(ops.METRIC_OPS), self.facts.ends) & ~self.facts.ends
        return self.forward.labelled | self.facts.mask(self.forward.losses) | compared

    @cached_property
    def perhaps_judging(self) -> Mask:
        """bool [n]: arithmetic that only losses and metrics use: mostly a part of them, else the network's end."""
        facts, seeded = self.facts, self.roles.seeded
        fitting = (facts.family(NO_LAYERS | {"Transpose"}) | facts.self_products) & ~facts.is_read & ~self.training
        ends = self.judging | seeded.has("metric")
        above = facts.mask(climb(facts, np.flatnonzero(ends).tolist(), fitting.__getitem__)) & ~ends
        return np.asarray((self.forward.loss_only | above) & ~self.judging)

    @cached_property
    def silent(self) -> Mask:
        """bool [n]: readers that say nothing about use: summaries, and what is left over."""
        return self.facts.leftovers | self.facts.recorders
