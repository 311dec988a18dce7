"""Nodes that give variables and tables their first values."""

import numpy as np

from graphviewer.analysis import ops
from graphviewer.analysis.roles.facts import NONE, Facts
from graphviewer.analysis.roles.registry import rule
from graphviewer.analysis.roles.training import Training
from graphviewer.model.graph import Mask


@rule("initializer", 20)
def named_in_collection(training: Training) -> Mask:
    """The file names it as the initializer of {variable}."""
    definitions = training.facts.document.variable_defs.values()
    names = (definition.initializer_name for group in definitions for definition in group)
    return training.facts.named(names) & training.facts.assigns


@rule("initializer", 21)
def tables(training: Training) -> Mask:
    """{op} fills a lookup table."""
    return training.facts.family(ops.is_table_initializer)


@rule("initializer", 22)
def questions(training: Training) -> Mask:
    """{op} asks whether a variable has a value."""
    return training.facts.family(ops.INITIALIZED_OPS)


@rule("initializer", 23)
def calls(training: Training) -> Mask:
    """Calls a function that fills a lookup table."""
    called = training.facts.called_ops.items()
    return training.facts.mask(node for node, inside in called if any(map(ops.is_table_initializer, inside)))


@rule("initializer", 24)
def starting_values(training: Training) -> Mask:
    """Depends on whether a variable has a value."""
    facts = training.facts
    return facts.below(facts.family(ops.INITIALIZED_OPS), facts.ends) & ~facts.ends


@rule("optimizer", 33)
def resets(training: Training) -> Mask:
    """Sets {variable}, which the optimizer keeps, to a constant, beside its first value."""
    facts, constant = training.facts, training.facts.constant_writes
    kept = facts.mask(write.variable for write in facts.writes if training.gradient_writes[write.node])
    kept |= training.slots | training.hyper
    first = _waited_for_together(facts, constant)
    again = facts.mask(write.variable for write in facts.writes if first[write.node])
    return facts.mask(
        write.node
        for write in facts.writes
        if constant[write.node] and not first[write.node] and kept[write.variable] and again[write.variable]
    )


@rule("initializer", 34)
def constant_assignments(training: Training) -> Mask:
    """Assigns a value made of constants or random numbers to {variable}."""
    return training.facts.constant_writes


@rule("initializer", 43)
def only_assignments(training: Training) -> Mask:
    """Is the only assignment to {variable}, but for restoring it."""
    facts, constant = training.facts, training.facts.constant_writes
    own = [write for write in facts.writes if not any(facts.restoring[value] for value in write.values)]
    initialized = {write.variable for write in own if constant[write.node]} | {NONE}
    first = {write.variable: write.node for write in reversed(own) if facts.replaces(write)}
    return facts.mask(node for variable, node in first.items() if variable not in initialized)


def _waited_for_together(facts: Facts, writes: Mask) -> Mask:
    """bool [n]: those of ``writes`` that the group with the most of them waits for: mostly ``init``."""
    graph = facts.graph
    groups = facts.family({"NoOp"})
    edges = graph.control & groups[graph.dst] & writes[graph.src]
    if not edges.any():
        return np.zeros(facts.count, np.bool_)
    most = np.bincount(graph.dst[edges]).argmax()
    return facts.mask(graph.src[edges & (graph.dst == most)].tolist())
