"""What computes the new value of a variable: the few nodes right before a write, which serve nothing else."""

from collections.abc import Callable, Collection, Iterable
from typing import Any

import numpy as np

from graphviewer.analysis.roles.facts import NONE, Facts, Write
from graphviewer.model.graph import Mask

NEAR = 6
"""Steps within which an update reads the variable that it updates: ``v - (v - x) * decay``."""

SCALING = frozenset({"Cast", "Identity", "Mul", "RealDiv"})
"""What weighs the new value of an average: ``v * decay + x * (1 - decay)``."""

UNARY = frozenset({"Abs", "Neg", "Reciprocal", "Rsqrt", "Sign", "Sqrt", "Square"})

ELEMENTWISE = UNARY | {
    *("Add", "AddN", "AddV2", "ClipByValue", "DivNoNan", "Maximum", "Minimum", "Mul", "Pow", "RealDiv", "Select"),
    *("SelectV2", "Sub"),
}
"""What the update rules of optimizers are made of."""

REDUCING = frozenset({"ExpandDims", "Max", "Mean", "Sum"})
"""Makes norms, and moments of rows and columns, of what an optimizer computed elementwise."""

CONDITIONS = frozenset(
    {
        *("All", "Any", "Equal", "Greater", "GreaterEqual", "IsFinite", "IsInf", "IsNan", "Less", "LessEqual"),
        *("LogicalAnd", "LogicalNot", "LogicalOr", "NotEqual", "Identity", "Switch"),
    }
)
"""What lies between values and what is decided by them; a loss that only a check reads is not among them."""


def reads_itself(facts: Facts, write: Write) -> bool:
    """The new value of a variable reads the old one a few steps above."""
    return bool(write.variable != NONE and _between(facts, write))


def averaging(facts: Facts, written: Mask) -> Mask:
    """bool [n]: what moves averages: between the read of a variable and its write, and what weighs the other side.

    Args:
        written: bool [n], the writes of averages.
    """
    found = np.zeros(facts.count, np.bool_)
    for write in facts.writes:
        if not written[write.node] or write.variable == NONE:
            continue
        between = _between(facts, write)
        own = climb(facts, [write.node], between.__contains__)
        own |= climb(facts, own, lambda node: _weighs(facts, node))
        found |= facts.mask(own)
    return found & ~facts.ends


def descending(facts: Facts, written: Mask, backward: Mask, forward: Mask) -> Mask:
    """bool [n]: the update rule of an optimizer made of single ops, from where a gradient meets what it keeps.

    Args:
        written: bool [n], the writes of hand-written optimizers.
        backward: bool [n], values that depend on gradients.
        forward: bool [n], what the loss is computed from.
    """
    variables = facts.mask(write.variable for write in facts.writes if written[write.node])
    kept = facts.is_read & variables[facts.behind]
    side = ~backward & (facts.family({"Const"}) | kept | ~forward)
    elementwise, unary = facts.family(ELEMENTWISE) & backward, facts.family(UNARY)
    reducing = facts.family(REDUCING) & backward
    owned = _owned(facts, elementwise, reducing, side & facts.below(facts.variables | facts.sources))
    reduced = reducing & _owned(facts, elementwise, reducing, side)
    per_row, rows = facts.family({"UnsortedSegmentSum"}), facts.family({"Unique"})

    def sums_rows(node: int) -> bool:
        """A sparse gradient whose rows are made unique: all optimizers begin with that."""
        return bool(per_row[node] and rows[facts.inputs(node)].any())

    def fits(node: int) -> bool:
        if not elementwise[node]:
            return reduced[node] or sums_rows(node)
        inputs = facts.inputs(node)
        scaled = [one for one in inputs if elementwise[one] and set(inputs).intersection(facts.inputs(one))]
        return bool(owned[node] or unary[node] or len(set(inputs)) == 1 or side[inputs].any() or scaled)

    by_hand = climb(facts, np.flatnonzero(written).tolist(), fits)
    return facts.mask(by_hand | climb(facts, np.flatnonzero(facts.applies).tolist(), sums_rows)) & ~facts.ends


def _owned(facts: Facts, elementwise: Mask, reducing: Mask, state: Mask) -> Mask:
    """bool [n]: ``elementwise`` nodes that read ``state``, or others of them, and ``reducing`` ones over these."""
    found = np.zeros(facts.count, np.bool_)
    for node in facts.order:
        if elementwise[node]:
            inputs = facts.inputs(node)
            found[node] = state[inputs].any() or found[inputs].any()
        elif reducing[node]:
            found[node] = found[facts.inputs(node)[:1]].any()
    return found


def climb(
    facts: Facts, ends: Iterable[int], fits: Callable[[int], Any], beside: Collection[int] = frozenset()
) -> set[int]:
    """``ends``, and the fitting nodes above that are read by nodes found so far only, or also ``beside`` these."""
    start, readers = facts.consumers
    found = set(ends)
    stack = list(found)
    while stack:
        for node in facts.inputs(stack.pop()):
            new = node not in found and not facts.is_read[node] and fits(node)
            if new and all(one in found or one in beside for one in readers[start[node] : start[node + 1]]):
                found.add(node)
                stack.append(node)
    return found


def _between(facts: Facts, write: Write) -> set[int]:
    """Nodes above a write, with a few steps below a read of its variable; the reads are among them."""
    levels: list[set[int]] = [set(write.values)]
    while len(levels) < NEAR:
        inner = (node for node in levels[-1] if not facts.is_read[node])
        levels.append({source for node in inner for source in facts.inputs(node)})
    found: set[int] = set()
    for level in reversed(levels):
        own = {node for node in level if facts.behind[node] == write.variable}
        found |= own | {node for node in level if found.intersection(facts.inputs(node))}
    return found


def _weighs(facts: Facts, node: int) -> bool:
    """Multiplies something by what depends on no data."""
    return facts.graph.ops[node] in SCALING and not facts.from_source[facts.inputs(node)].all()
