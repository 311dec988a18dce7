"""What reads a node, seen from outputs: training, losses and metrics, or the rest of the network."""

import re
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

CALLED = r"(?i)(^|[/_])(predict\w*|prob\w*|softmax|outputs?|scores?|final_result|embeddings?|classes)(_\d+)?$"
"""What outputs are called."""

RECORDING = frozenset({"Cast", "ExpandDims"})
"""Gives something the form in which a summary records it."""

CARRYING = frozenset({"Cast", "ExpandDims", "Identity", "Reshape", "Squeeze", "StopGradient"})
"""Hands a choice on."""


class Uses:
    """Cached masks about one document's roles."""

    def __init__(self, roles: Roles) -> None:
        self.roles, self.facts, self.forward = roles, roles.facts, roles.forward

    @cached_property
    def training(self) -> Mask:
        """bool [n]: nodes of training, by rule or as helpers of the backward pass."""
        trains = self.roles.training.trains
        found = self.recording.copy()
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
        fitting = (facts.family(NO_LAYERS | {"ScatterNd", "Transpose"}) | facts.self_products) & ~self.training
        ends, beside = self.judging | seeded.has("metric"), self.silent | seeded.has("check")
        looking_on = frozenset(np.flatnonzero(beside).tolist())
        above = facts.mask(climb(facts, np.flatnonzero(ends).tolist(), fitting.__getitem__, looking_on)) & ~ends
        return np.asarray((self.forward.loss_only | above) & ~self.judging)

    @cached_property
    def silent(self) -> Mask:
        """bool [n]: readers that say nothing about use: summaries, and what is left over."""
        return self.facts.leftovers | self.facts.recorders | self.recording

    @cached_property
    def recording(self) -> Mask:
        """bool [n]: casts and expansions that only summaries read; what is called an output is none of them."""
        facts, fitting = self.facts, self.facts.family(RECORDING) & ~self._called
        return facts.mask(climb(facts, np.flatnonzero(facts.recorders).tolist(), fitting.__getitem__)) & fitting

    @cached_property
    def classes_for_metrics(self) -> Mask:
        """bool [n]: hands chosen classes on to metrics or the loss only, in the form that these want."""
        facts, first = self.facts, self.facts.graph.first_inputs()
        fitting = facts.family(CARRYING) & self.perhaps_judging & (first >= 0) & ~self._called
        choices, found = facts.family({"ArgMax", "ArgMin"}), np.zeros(facts.count, np.bool_)
        while True:
            new = fitting & ~found & (choices | found)[first]
            if not new.any():
                return found
            found |= new

    @cached_property
    def _called(self) -> Mask:
        """bool [n]: has a name as outputs have; asked only where the form alone would say no."""
        names, asked = self.facts.graph.names, np.flatnonzero(self.facts.family(CARRYING)).tolist()
        return self.facts.mask(node for node in asked if re.search(CALLED, names[node]))
