"""Roles of variables that the outputs do not need, by who writes and reads them."""

import re
from collections.abc import Iterator

import numpy as np

from graphviewer.analysis.roles.loss import Forward
from graphviewer.analysis.roles.registry import CODE, ROLES
from graphviewer.analysis.roles.rules.updates import counters
from graphviewer.analysis.roles.vote import Assignment
from graphviewer.model.graph import Mask

WRITTEN_BY = (
    ("batch_norm_update", "Holds a moving statistic that the outputs do not read."),
    ("moving_average", "Holds a moving average."),
    ("metric", "Sums up a metric."),
    ("optimizer", "The optimizer keeps it between steps."),
    ("input_pipeline", "Counts the epochs of an input pipeline."),
    ("training_forward", "Keeps a value of the forward pass for the next step."),
)
"""Roles of writes that decide the role of their variable, strongest first."""

SAVED_NAMES = (
    ("optimizer", r"(?i)(^|/)_?(adam\w*|rmsprop|momentum|adagrad|sgd|adadelta|ftrl|nadam|optimizer)(_\d+)?(/|$)"),
    ("optimizer", r"(?i)(^|/)beta_?[12]\w*$"),
    ("optimizer", r"(?i)(^|/)(learning_rate|decay)(_\d+)?$"),
    ("global_step", r"(?i)(^|/)(iter|iterations|global_step)(_\d+)?$"),
    ("metric", r"(?i)(^|/)(total|count|true_positives|false_positives|true_negatives|false_negatives)(_\d+)?$"),
    ("save_restore", r"(?i)(^|/)save_counter$"),
)
"""What Keras calls the variables that a SavedModel holds although nothing in it reads them."""


def by_use(given: Assignment, forward: Forward) -> None:
    """Give every variable without a role one."""
    training, facts = forward.training, given.facts
    left = facts.variables & given.open
    counting = counters(training)
    counted = facts.mask(write.variable for write in facts.writes if counting[write.node])
    counted |= facts.mask(_handed(given, "counted"))
    given.give(left & training.slots, "optimizer", "Belongs to the optimizer, which changes it beside the weights.")
    given.give(left & counted, "global_step", "Counts the steps of training.")
    given.give(left & training.hyper & ~training.trained, "optimizer", "A hyper-parameter of the optimizer.")
    given.give(left & _copied(given, forward), "training_forward", "A copied weight that the outputs do not need.")
    for role, reason in WRITTEN_BY:
        given.give(left & _written_by(given, role) & ~training.trained, role, reason)
    used = forward.reached | training.trained
    given.give(left & used, "training_forward", "A weight that the outputs do not need.")
    for role, pattern in SAVED_NAMES:
        known = np.flatnonzero(given.open & left).tolist()
        named = facts.mask(node for node in known if re.search(pattern, given.graph.names[node]))
        given.give(named, role, "Saved, but nothing reads it; told by its name.")
    given.give(left & _only_steering(given), "optimizer", "Only the optimizer reads it.")
    given.give(left, "unused", "No node reads this variable but to save it.")
    for role in set(ROLES) - {"inference", "unused"}:
        own = facts.own_reads & given.has(role)[facts.behind]
        given.give(own, role, "Reads {variable}.")


def _only_steering(given: Assignment) -> Mask:
    """bool [n]: variables that nothing but the optimizer computes with."""
    facts = given.facts
    src, dst = facts.data
    reads = (
        facts.is_read[src]
        & ~(facts.is_read | facts.assigns | given.has("save_restore") | given.has("initializer"))[dst]
    )
    variables = facts.behind[src[reads]]
    steering = given.has("optimizer")[dst[reads]]
    return facts.mask(variables[steering].tolist()) & ~facts.mask(variables[~steering].tolist())


def _copied(given: Assignment, forward: Forward) -> Mask:
    """bool [n]: variables that are moved towards others, and that layers read: target networks of deep Q-learning."""
    facts = given.facts
    src, dst = facts.data
    reading = facts.is_read[src] & forward.layers[dst] & (given.open | given.has("training_forward"))[dst]
    return facts.mask(facts.behind[src[reading]].tolist()) & _written_by(given, "moving_average")


def _written_by(given: Assignment, role: str) -> Mask:
    """bool [n]: variables that a node of this role writes."""
    facts = given.facts
    code = CODE[role]
    called = facts.mask(_handed(given, "assigned", code))
    return called | facts.mask(write.variable for write in facts.writes if given.codes[write.node] == code)


def _handed(given: Assignment, use: str, code: int | None = None) -> Iterator[int]:
    """Variables that calls, or calls with a role only, change in a way that ``Uses`` names."""
    facts = given.facts
    for node, uses in facts.called_uses.items():
        inputs = facts.inputs(node)
        if code is None or given.codes[node] == code:
            yield from (int(facts.behind[inputs[place]]) for place in getattr(uses, use) if place < len(inputs))
