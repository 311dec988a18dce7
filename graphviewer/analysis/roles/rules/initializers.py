"""Nodes that give variables and tables their first values."""

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
    """Chooses between a variable and its first value, by whether it has one."""
    facts = training.facts
    merges = facts.family(ops.MERGE_OPS)
    asked = facts.below(facts.family(ops.INITIALIZED_OPS), facts.ends | merges) & ~facts.ends
    return asked & facts.family(ops.SWITCH_OPS | ops.MERGE_OPS | {"Identity"})


@rule("initializer", 34)
def constant_assignments(training: Training) -> Mask:
    """Assigns a value made of constants or random numbers to {variable}."""
    facts = training.facts
    asks = facts.below(facts.family(ops.INITIALIZED_OPS))
    return facts.mask(
        write.node
        for write in facts.writes
        if is_assignment(facts, write.node)
        and not any(facts.from_source[value] for value in write.values)
        and all(facts.single_variable[value] == NONE or asks[value] for value in write.values)
    )


@rule("initializer", 43)
def only_assignments(training: Training) -> Mask:
    """Is the only assignment to {variable}, but for restoring it."""
    facts, constant = training.facts, constant_assignments(training)
    own = [write for write in facts.writes if not any(facts.restoring[value] for value in write.values)]
    initialized = {write.variable for write in own if constant[write.node]} | {NONE}
    first = {write.variable: write.node for write in reversed(own) if is_assignment(facts, write.node)}
    return facts.mask(node for variable, node in first.items() if variable not in initialized)


def is_assignment(facts: Facts, node: int) -> bool:
    """The node replaces a variable's value instead of adding to it."""
    return facts.graph.ops[node] in ("Assign", "AssignVariableOp")
