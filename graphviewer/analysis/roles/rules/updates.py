"""Nodes that change variables while a model trains."""

from collections.abc import Iterator

import numpy as np

from graphviewer import protos
from graphviewer.analysis import ops
from graphviewer.analysis.roles.arithmetic import ELEMENTWISE, descending, reads_itself
from graphviewer.analysis.roles.facts import NONE, Facts, Write
from graphviewer.analysis.roles.registry import rule
from graphviewer.analysis.roles.training import Training
from graphviewer.model.graph import Mask
from graphviewer.model.tensors import node_shape

STATISTICS = ops.BATCH_NORM_OPS | ops.SHAPE_OPS | ops.CALL_OPS | {"Mean", "Reciprocal"}
"""Gives the statistics of a batch, or divides sums by its size."""

AROUND_STATISTICS = ELEMENTWISE | ops.CONTROL_FLOW_OPS
AROUND_STATISTICS |= {"Cast", "Identity", "Reshape", "Sum", "Squeeze", "SquaredDifference", "StopGradient"}
"""What lies between the statistics of a batch and the variable that moves towards them."""

STATISTIC_STEPS = 12

DIVISIONS = frozenset({"Div", "DivNoNan", "RealDiv"})
CLIPS = frozenset({"Maximum"})
"""Keeps what is divided by above zero."""

INTEGERS = frozenset({protos.DataType.INT32, protos.DataType.INT64})


@rule("optimizer", 30)
def apply_ops(training: Training) -> Mask:
    """{op} applies a gradient to {variable}."""
    return training.facts.applies


@rule("optimizer", 27)
def calls(training: Training) -> Mask:
    """Calls a function that applies gradients."""
    return training.facts.applies & training.facts.mask(training.facts.called_uses)


@rule("optimizer", 31)
def steering_calls(training: Training) -> Mask:
    """Calls a function that changes variables, for gradients or by whether these are finite."""
    facts = training.facts
    return facts.mask(facts.called_uses) & (facts.reads(training.gradients) > 0)


@rule("optimizer", 32)
def hand_written(training: Training) -> Mask:
    """Changes {variable} by a value that depends on a gradient."""
    return training.gradient_writes


@rule("optimizer", 28)
def accumulators_of_gradients(training: Training) -> Mask:
    """{op} gathers the gradients of several workers."""
    return training.facts.family(lambda op: "Accumulator" in op)


@rule("optimizer", 45)
def branches(training: Training) -> Mask:
    """Hands a value to an optimizer op inside a conditional."""
    facts = training.facts
    switches = facts.family(ops.SWITCH_OPS)
    return np.asarray(switches & (facts.readers() > 0) & (facts.readers() == facts.readers(facts.applies)))


@rule("optimizer", 46)
def update_rules(training: Training) -> Mask:
    """Computes a step of the optimizer from a gradient."""
    return descending(training.facts, training.gradient_writes, training.gradients, training.forward)


@rule("input_pipeline", 29)
def epochs(training: Training) -> Mask:
    """Counts the epochs of an input pipeline."""
    return training.facts.family({"CountUpTo", "ResourceCountUpTo"})


@rule("optimizer", 35)
def training_step(training: Training) -> Mask:
    """Counts a step in {variable} after the optimizer ran."""
    facts = training.facts
    waits = facts.waits_for(facts.applies)
    after = facts.mask(write.node for write in facts.writes if any(waits[node] for node in (write.node, *write.values)))
    return counters(training) & after


@rule("global_step", 36)
def counters(training: Training) -> Mask:
    """Counts the steps of training in {variable}."""
    facts = training.facts
    waits = facts.waits_for(facts.applies)
    return facts.mask(
        write.node
        for write in facts.writes
        if facts.graph.ops[write.node] in ops.ASSIGN_ADD_OPS
        and _is_constant(facts, write)
        and (_is_integer(facts, write.variable) or any(waits[node] for node in (write.node, *write.values)))
    )


@rule("metric", 37)
def local_variables(training: Training) -> Mask:
    """Updates {variable}, which the file lists among the local or metric variables."""
    facts = training.facts
    definitions = facts.document.variable_defs
    listed = (one for key in ("local_variables", "metric_variables") for one in definitions.get(key, ()))
    local = facts.named(definition.variable_name for definition in listed)
    return facts.mask(write.node for write in facts.writes if local[write.variable] and write.variable != NONE)


@rule("initializer", 26)
def broadcast(training: Training) -> Mask:
    """Sets {variable}, a weight, to what other processes hold of it."""
    facts = training.facts
    exchanged = facts.below(facts.opaque, facts.ends) & ~facts.from_source
    return facts.mask(
        write.node
        for write in facts.writes
        if training.trained[write.variable]
        and write.variable != NONE
        and facts.replaces(write)
        and all(exchanged[value] and facts.single_variable[value] == write.variable for value in write.values)
    )


@rule("optimizer", 38)
def hyper_parameters(training: Training) -> Mask:
    """Updates {variable}, a hyper-parameter of the optimizer."""
    facts = training.facts
    return facts.mask(
        write.node
        for write in facts.writes
        if write.variable != NONE and (training.hyper[write.variable] or _only_itself(facts, write))
    )


@rule("batch_norm_update", 39)
def moving_statistics(training: Training) -> Mask:
    """Moves {variable} towards a statistic of the activations."""
    facts = training.facts
    fitting = (write for write in _of_data(facts) if _rank(facts, write) and _moves(facts, write))
    return facts.mask(write.node for write in fitting if _means(facts, write))


@rule("moving_average", 40)
def averages_of_values(training: Training) -> Mask:
    """Moves {variable} towards a value of the training, such as the loss."""
    facts = training.facts
    return facts.mask(write.node for write in _of_data(facts) if _moves(facts, write))


@rule("metric", 41)
def accumulators(training: Training) -> Mask:
    """Sums up values of the forward pass in {variable}."""
    facts = training.facts
    return facts.mask(write.node for write in _of_data(facts) if facts.graph.ops[write.node] in ops.ASSIGN_ADD_OPS)


@rule("metric", 19)
def counted(training: Training) -> Mask:
    """Counts in {variable} what the sum of a metric is divided by."""
    facts = training.facts
    divisions = np.flatnonzero(facts.family(DIVISIONS)).tolist()
    adding = [one for one in facts.writes if facts.graph.ops[one.node] in ops.ASSIGN_ADD_OPS] if divisions else []
    summing = accumulators(training) if adding else facts.mask(())
    sums = facts.mask(one.variable for one in adding if summing[one.node])
    counts: set[int] = set()
    for node in divisions:
        above, below = facts.behind[facts.inputs(node)[:1]], facts.inputs(node)[1:2]
        below = [source for one in below for source in (facts.inputs(one) if facts.graph.ops[one] in CLIPS else [one])]
        counts.update(facts.behind[below].tolist() if sums[above[above != NONE]].any() else ())
    counting = facts.mask(counts) & ~training.hyper & ~training.trained
    return facts.mask(
        one.node for one in adding if one.variable != NONE and counting[one.variable] and _is_constant(facts, one)
    )


@rule("initializer", 42)
def fed_values(training: Training) -> Mask:
    """Loads a fed value into {variable}."""
    facts = training.facts
    placeholders = facts.family(ops.PLACEHOLDER_OPS)
    return facts.mask(write.node for write in facts.writes if all(placeholders[value] for value in write.values))


@rule("optimizer", 25)
def slow_copies(training: Training) -> Mask:
    """Moves {variable} between weights and slow copies of them, as a part of the step."""
    facts = training.facts
    own = facts.constant_writes | training.gradient_writes
    moved = [one for one in facts.writes if not own[one.node] and not facts.restoring[list(one.values)].any()]
    found: set[int] = set()
    for write in moved:
        if not (training.trained[write.variable] and write.variable != NONE and facts.replaces(write)):
            continue
        above = facts.above(facts.mask(write.values), facts.variables | facts.assigns)
        others = (one for one in moved if one.variable not in (NONE, write.variable))
        copies = [one for one in others if above[one.node] or above[one.variable]]
        before = [one.node for one in copies if above[one.node] or facts.waits_for(facts.mask([one.node]))[write.node]]
        found.update([write.node, *before] if before else [])
    return facts.mask(found)


@rule("moving_average", 44)
def averages_of_variables(training: Training) -> Mask:
    """Moves {variable} towards other variables, or copies them."""
    facts = training.facts
    depends = facts.single_variable
    return facts.mask(
        write.node
        for write in facts.writes
        if any(depends[value] not in (NONE, write.variable) for value in write.values)
        and not any(facts.from_source[value] for value in write.values)
    )


@rule("training_forward", 49)
def kept_states(training: Training) -> Mask:
    """Keeps a value of the forward pass in {variable} for the next step."""
    return training.facts.assigns


def _of_data(facts: Facts) -> Iterator[Write]:
    """Writes of values that depend on data, or on the statistics of a batch norm; no restored ones."""
    norms = facts.family(ops.BATCH_NORM_OPS)
    dependent = facts.from_source | facts.below(norms) if norms.any() else facts.from_source
    dependent = dependent & ~facts.restoring
    return (write for write in facts.writes if any(dependent[value] for value in write.values))


def _is_integer(facts: Facts, variable: int) -> bool:
    if variable == NONE:
        return False
    node = facts.document.node(variable)
    return "dtype" in node.attr and node.attr["dtype"].type in INTEGERS


def _is_constant(facts: Facts, write: Write) -> bool:
    depends = facts.single_variable
    return all(depends[value] == NONE and not facts.from_source[value] for value in write.values)


def _only_itself(facts: Facts, write: Write) -> bool:
    """The new value depends on the old one and on constants (``beta1_power``)."""
    depends = {facts.single_variable[value] for value in write.values}
    data = facts.from_data if write.variable in depends else facts.from_source
    return depends <= {write.variable, NONE} and not any(data[value] for value in write.values)


def _rank(facts: Facts, write: Write) -> int:
    """Dimensions of the variable; 1 where the file does not say."""
    shape = node_shape(facts.document.node(write.variable)) if write.variable != NONE else None
    return 1 if shape is None else len(shape)


def _means(facts: Facts, write: Write) -> bool:
    """The new value holds a mean, or what a batch norm gives; sums and counts of classes are none."""
    level, seen = set(write.values), set(write.values)
    for _ in range(STATISTIC_STEPS):
        if any(facts.graph.ops[node] in STATISTICS or facts.opaque[node] for node in level):
            return True
        inner = (node for node in level if facts.graph.ops[node] in AROUND_STATISTICS and not facts.is_read[node])
        level = {source for node in inner for source in facts.inputs(node)} - seen
        seen |= level
    return False


def _moves(facts: Facts, write: Write) -> bool:
    """The new value is the old one, moved: ``v - (v - x) * decay``, or any subtraction."""
    op = facts.graph.ops[write.node]
    if op in ("AssignSub", "AssignSubVariableOp"):
        return True
    return op.startswith("Assign") and reads_itself(facts, write)
