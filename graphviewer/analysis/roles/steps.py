"""Inner steps of training: weights that a gradient moved before they are applied, without being written back.

Meta-learning (MAML, https://arxiv.org/abs/1703.03400) answers with ``weight - rate * slope``, where the slope is that
of an inner loss. The outer training differentiates all that, or takes the slope as given.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from graphviewer.analysis import ops
from graphviewer.analysis.control_flow import BACK
from graphviewer.analysis.roles.facts import Facts
from graphviewer.model.graph import Mask

ADDING = frozenset({"Add", "AddN", "AddV2", "ConcatV2", "Pack", "Sub"})
"""What a step is made with, or lays a gradient beside data. A backward pass does so with other gradients only."""

PREPARING = frozenset(
    {
        *("Cast", "ExpandDims", "FakeQuantWithMinMaxVars", "FakeQuantWithMinMaxVarsPerChannel", "Mul", "RealDiv"),
        *("Reshape", "Squeeze", "Switch", "Transpose"),
    }
)
"""What is done to weights before they are applied: another precision, another form, a scale."""

HANDING = frozenset({"Enter", "Exit", "Identity", "Merge", "NextIteration", "StopGradient"})
"""What hands weights on, into loops and out of them."""

ROUNDS = 3
"""Passes over a graph with loops: what a turn gives reaches the next one, also out of an inner loop."""


class Steps(NamedTuple):
    """What inner steps are made of.

    Attributes:
        weights: bool [n], weights after one or several steps.
        gradients: bool [n], gradients that no optimizer takes, and arithmetic on them.
        after: bool [n], forward passes with moved weights, or with data that gradients were added to.
    """

    weights: Mask
    gradients: Mask
    after: Mask


def inner_steps(facts: Facts, started: Mask, stop: Mask) -> Steps:
    """Follow inner gradients down to where weights are moved by them.

    One pass over the graph, ``ROUNDS`` where it has loops. A gradient that is added to data makes data (adversarial
    examples), one that is added to weights makes weights; else what depends on a gradient still is one (penalties,
    forces).

    Args:
        started: bool [n], where inner gradients come from.
        stop: bool [n], the backward passes of the training and writes: nothing is followed through them.
    """
    if not started.any():
        return Steps(started, started, started)
    back, shapes, choosing = facts.family(BACK), facts.family(ops.SHAPE_OPS), facts.family(ops.SWITCH_OPS).tolist()
    adding, forming = facts.family(ADDING).tolist(), facts.family(PREPARING | HANDING).tolist()
    ends, fed = (stop | facts.is_read | shapes).tolist(), (facts.from_source & ~back).tolist()
    weight, gradient = facts.is_read.tolist(), started.tolist()
    moved, after = [False] * facts.count, [False] * facts.count
    for _ in range(ROUNDS if back.any() else 1):
        for node in facts.order:
            if ends[node]:
                continue
            inputs = facts.inputs(node)[:1] if choosing[node] else facts.inputs(node)
            slopes = gradient[node] or any(gradient[one] for one in inputs)
            weighs = any(weight[one] for one in inputs)
            data = any(fed[one] and not (gradient[one] or weight[one]) for one in inputs)
            steps = adding[node] and slopes and weighs
            weight[node] = not data and (steps or (weighs and not slopes and (adding[node] or forming[node])))
            moved[node] = weight[node] and (steps or any(moved[one] for one in inputs))
            gradient[node] = slopes and not (weight[node] or (data and adding[node]))
            after[node] = not gradient[node] and (slopes or moved[node] or any(moved[x] or after[x] for x in inputs))
        fed = facts.from_source.tolist()
    return Steps(np.array(moved, np.bool_), np.array(gradient, np.bool_), np.array(after, np.bool_))
