"""Nodes around the network: summaries, checks, input pipelines, and the backward pass."""

import numpy as np

from graphviewer.analysis import ops
from graphviewer.analysis.roles.arithmetic import CONDITIONS, climb
from graphviewer.analysis.roles.backward import LOSS_ARITHMETIC
from graphviewer.analysis.roles.facts import NONE
from graphviewer.analysis.roles.registry import rule
from graphviewer.analysis.roles.training import Training
from graphviewer.model.graph import Mask

RECORDED = (
    LOSS_ARITHMETIC | ops.CONTROL_FLOW_OPS | {"Identity", "IsFinite", "IsInf", "IsNan", "LessEqual", "LogicalNot"}
)
"""What is done to gradients before a summary records them."""

COUNTING = (frozenset({"Pack"}), frozenset({"Const", "Fill", "OnesLike"}))
"""What counts pairs reads: the pairs, and ones."""


@rule("summary", 50)
def summaries(training: Training) -> Mask:
    """{op} records values for TensorBoard."""
    return training.facts.recorders


@rule("summary", 48)
def recorded_gradients(training: Training) -> Mask:
    """Is a number made of gradients that only summaries use."""
    facts = training.facts
    fitting = training.passes.nodes & facts.family(RECORDED)
    return facts.mask(climb(facts, np.flatnonzero(facts.recorders).tolist(), fitting.__getitem__)) & ~facts.recorders


@rule("check", 51)
def checks(training: Training) -> Mask:
    """{op} checks or reports values."""
    facts = training.facts
    return np.asarray(facts.family(ops.CHECK_OPS) & (facts.readers() == 0))


@rule("check", 52)
def calls(training: Training) -> Mask:
    """Calls a function that only checks values."""
    facts = training.facts
    called = facts.called_ops.items()
    found = facts.mask(node for node, inside in called if inside & ops.CHECK_OPS and _is_check(inside))
    return np.asarray(found | (facts.family({"Identity"}) & found[facts.graph.first_inputs()] & (facts.readers() == 0)))


@rule("check", 53)
def conditions(training: Training) -> Mask:
    """Is the condition of a check."""
    facts = training.facts
    looking, fitting = checks(training) | calls(training), facts.family(CONDITIONS)
    guards = facts.family(ops.MERGE_OPS) & (facts.readers() == 0) & (facts.reads(facts.waits_for(looking)) > 0)
    looking |= guards
    total = facts.readers() - facts.readers(facts.pivots)
    while True:
        new = fitting & ~looking & (total > 0) & (total == facts.readers(looking))
        if not new.any():
            return looking
        looking |= new


@rule("metric", 54)
def confusion_matrices(training: Training) -> Mask:
    """Counts how often two classes come together, and no layer reads it."""
    facts, ops_of = training.facts, training.graph.ops
    kept = facts.readers() == facts.readers(facts.ends | facts.leftovers)
    found = []
    for node in np.flatnonzero(facts.family({"ScatterNd"}) & kept).tolist():
        inputs = facts.inputs(node)[:2]
        if [ops_of[one] in family for one, family in zip(inputs, COUNTING, strict=False)] == [True, True]:
            found += [node] if len(facts.inputs(inputs[0])) == len(set(facts.inputs(inputs[0]))) == 2 else []
    return facts.mask(found)


@rule("input_pipeline", 55)
def pipeline_ops(training: Training) -> Mask:
    """{op} belongs to an input pipeline."""
    return training.facts.family(ops.is_pipeline_op)


@rule("input_pipeline", 56)
def feeds_pipeline(training: Training) -> Mask:
    """Feeds an input pipeline."""
    facts = training.facts
    without_weights = facts.mask(node for node, seen in enumerate(facts.single_variable) if seen == NONE)
    return facts.above(facts.family(ops.is_pipeline_op)) & without_weights


@rule("gradient", 60)
def backward(training: Training) -> Mask:
    """Is part of the backward pass."""
    return training.backward


def _is_check(inside: frozenset[str]) -> bool:
    """All that has an effect in there is a check."""
    return all(op in ops.CHECK_OPS or not ops.is_stateful(op) or op in ops.CALL_OPS for op in inside)
