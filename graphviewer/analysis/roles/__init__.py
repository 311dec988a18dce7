"""What every node of a graph is for, told by structure; names decide only where structure is silent.

A node's role depends on the chosen outputs: what they need is ``inference``, all else is there for training.
"""

from collections.abc import Sequence

import numpy as np

from graphviewer.analysis import ops
from graphviewer.analysis.roles.arithmetic import averaging
from graphviewer.analysis.roles.conditionals import by_branch
from graphviewer.analysis.roles.facts import TRIVIAL_OPS, Facts
from graphviewer.analysis.roles.inference import needed
from graphviewer.analysis.roles.loss import NO_LAYERS, Forward
from graphviewer.analysis.roles.markers import markers
from graphviewer.analysis.roles.registry import ROLES, Rule, role_rules, rule
from graphviewer.analysis.roles.training import Training
from graphviewer.analysis.roles.variables import by_use
from graphviewer.analysis.roles.vote import Assignment, by_conditional, by_consumers, by_control, by_scope
from graphviewer.model.document import Document
from graphviewer.model.graph import Mask
from graphviewer.model.names import Endpoint
from graphviewer.model.overlay import Overlay

__all__ = ["ROLES", "Roles", "Rule", "classify", "role_rules", "rule"]


UPDATES = ("batch_norm_update", "moving_average", "metric", "optimizer", "global_step", "initializer")
"""Roles of writes that hand a read of their variable back to the caller."""


GRADIENT_LEFTOVERS = frozenset({"FloorDiv", "OnesLike", "ZerosLike"})
"""What building a backward pass leaves unread: zeros for outputs without a gradient, sizes of what a mean is over."""

AVERAGES = ("batch_norm_update", "moving_average")


def classify(document: Document, outputs: Sequence[Endpoint], inputs: Sequence[Endpoint] = ()) -> Overlay:
    """Give every node of a document one role, with the reason, for the chosen outputs.

    Args:
        outputs: what the graph shall compute; endpoints that are not in the graph are left out.
        inputs: where the caller will feed data; what lies behind them is not needed.

    Returns:
        Overlay of kind ``roles`` whose categories are ``ROLES``; 16,500 nodes and 475,000 edges take below a second.
    """
    return Roles(document).overlay(outputs, inputs)


class Roles:
    """The classifier of one document; keeps what does not depend on the chosen outputs.

    Attributes:
        seeded: the roles that rules give, whatever the outputs are.
    """

    def __init__(self, document: Document) -> None:
        self.facts = Facts(document)
        self.training = Training(self.facts)
        self.seeded = Assignment(self.facts)
        for one in role_rules():
            self.seeded.give(one.find(self.training), one.role, one.reason)
        for role in AVERAGES:
            moving = averaging(self.facts, self.seeded.has(role) & self.facts.assigns)
            self.seeded.give(moving, role, f"Computes an update of {role.replace('_', ' ')}s.")
        by_branch(self.seeded)
        silent = self.seeded.has("summary") | self.seeded.has("check") | self.facts.leftovers
        self.forward = Forward(self.training, ~self.seeded.open, self.seeded.has("gradient"), silent)

    def overlay(self, outputs: Sequence[Endpoint], inputs: Sequence[Endpoint] = ()) -> Overlay:
        """See ``classify``."""
        given, forward, facts = self.seeded.copy(), self.forward, self.facts
        inference = needed(facts, outputs, inputs, given.has("input_pipeline"))
        given.overrule(inference, "inference", f"Needed by {', '.join(map(str, outputs))}.")
        given.give(forward.backward, "gradient", "Only serves the backward pass.")
        self._losses(given)
        self._ends(given)
        for _ in range(2):
            by_consumers(given, forward)
            by_control(given)
        by_use(given, forward)
        if self.training.passes.seeds:
            left = facts.family(GRADIENT_LEFTOVERS) & (facts.readers() == 0)
            given.give(left, "gradient", "Left over from building the backward pass; nothing uses it.")
        by_consumers(given, forward, partly=True)
        by_control(given)
        by_conditional(given)
        self._rest(given)
        by_scope(given)
        return Overlay("roles", ROLES, given.codes, given.reasons, markers(given, outputs, inputs))

    def _losses(self, given: Assignment) -> None:
        """The losses, and what depends on the labels."""
        forward, facts = self.forward, self.facts
        own = ~facts.variables
        given.give(facts.mask(forward.losses), "loss", "It is minimised: the backward pass starts here.")
        inside, labelled = forward.above_loss, forward.labelled
        labels = labelled & facts.sources
        given.give(labels & inside & own, "loss", "Holds the labels, and the loss needs it.")
        given.give(labelled & inside & own, "loss", "Depends on the labels, and the loss needs it.")
        own &= ~facts.family(TRIVIAL_OPS) | (facts.readers() > 0)  # leftovers of gradient code go with their scope
        compared = facts.below(facts.family(ops.METRIC_OPS), facts.ends) & ~facts.ends & ~inside
        given.give(compared, "metric", "Compares predictions with labels.")
        given.give(labels & ~inside & own, "metric", "Holds the labels, but the loss does not need it.")
        own &= (facts.readers() == 0) | (facts.readers() > facts.readers(given.has("check")))
        given.give(labelled & ~inside & own, "metric", "Depends on the labels, but the loss does not need it.")
        given.give(forward.loss_only & own, "loss", "Comes after the last weight, and only the loss uses it.")
        given.give(self._metric_values(given), "metric", "Reads what a metric summed up.")

    def _ends(self, given: Assignment) -> None:
        """Ends of the forward pass; what is only made to be recorded or checked is none."""
        forward, facts = self.forward, self.facts
        names = facts.family({"Identity"})
        own = forward.sinks & facts.family(NO_LAYERS) & (facts.readers() > 0)
        for role, fitting in (("summary", ~(names & forward.layers[facts.graph.first_inputs()])), ("check", ~names)):
            only = own & fitting & (facts.readers() == facts.readers(given.has(role)))
            given.give(only, role, f"Only {role} nodes use it.")
        ends = forward.sinks & facts.below(facts.variables)
        given.give(ends, "training_forward", "An end of the forward pass that the outputs do not need.")

    def _metric_values(self, given: Assignment) -> Mask:
        """bool [n]: depends on a metric's sum, or on the update of one."""
        facts = self.facts
        updates = given.has("metric") & facts.assigns
        sums = facts.mask(write.variable for write in facts.writes if updates[write.node]) & ~self.training.trained
        return facts.below(updates | sums, facts.ends & ~updates) & ~facts.ends & ~facts.variables

    def _rest(self, given: Assignment) -> None:
        """Ends that nothing uses."""
        facts, forward = self.facts, self.forward
        for role in UPDATES:
            after = facts.waits_for(given.has(role) & facts.assigns)
            given.give(after & facts.is_read, role, "Reads the variable after its update, but nothing uses that.")
        for node in np.flatnonzero(given.open & facts.is_read).tolist():
            variable = int(facts.behind[node])
            role = given.role(variable)
            named = facts.graph.names[variable]
            role = "unused" if role == "inference" else role
            given.give_one(node, role, f"Reads {named}, but nothing uses that.")
        weights = facts.below(facts.variables) & forward.reached
        given.give(weights, "training_forward", "Forward pass that the outputs do not need.")
        given.give(given.open, "unused", "Nothing uses it.")
