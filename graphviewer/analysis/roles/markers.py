"""Badges beside the role: what to know about a node whatever its role is."""

from collections.abc import Sequence

import numpy as np

from graphviewer import protos
from graphviewer.analysis import ops
from graphviewer.analysis.roles.facts import Facts
from graphviewer.analysis.roles.registry import CODE
from graphviewer.analysis.roles.vote import Assignment
from graphviewer.model.bodies import Unfolded, unfold
from graphviewer.model.graph import Mask
from graphviewer.model.names import Endpoint

DROPOUT_STEPS = frozenset({"Add", "AddV2", "Cast", "Floor", "Greater", "GreaterEqual", "Less", "Mul", "Sub"})
"""What turns random numbers into the mask of a dropout."""
DROPOUT_ENDS = frozenset({"Mul", "Select", "SelectV2"})
"""What lays the mask over the activations."""
DROPOUT_LENGTH = 6


def markers(given: Assignment, outputs: Sequence[Endpoint], inputs: Sequence[Endpoint]) -> dict[int, frozenset[str]]:
    """Markers by node number, only for nodes that have any."""
    facts = given.facts
    inference = given.has("inference")
    chosen = facts.named(endpoint.node for endpoint in inputs)
    in_training = training_mode(facts) | training_calls(facts)
    found: dict[int, set[str]] = {}
    for marker, mask in (
        ("training_mode", (in_training & ~given.has("gradient")) | (inference & _feeds_statistics(given))),
        ("random", facts.family(ops.is_random_op)),
        ("stateful", facts.family(ops.is_stateful)),
        ("variable", facts.variables),
        ("input", chosen | (inference & facts.family(ops.PLACEHOLDER_OPS))),
        ("output", facts.named(endpoint.node for endpoint in outputs)),
        ("unregistered", facts.family(lambda op: not _is_known(facts, op))),
    ):
        for node in np.flatnonzero(mask).tolist():
            found.setdefault(node, set()).add(marker)
    return {node: frozenset(names) for node, names in found.items()}


def training_mode(facts: Facts) -> Mask:
    """bool [n]: computes otherwise in training than in inference: batch norms on batch statistics, dropout."""
    norms = np.flatnonzero(facts.family(ops.BATCH_NORM_OPS)).tolist()
    return facts.mask(node for node in norms if ops.uses_batch_statistics(facts.document.node(node))) | _dropout(facts)


def training_calls(facts: Facts) -> Mask:
    """bool [n]: calls of functions that hold, themselves or in a call inside, what ``training_mode`` finds.

    The functions are opened only where their ops allow for it; what an input pipeline calls is no part of a network.
    """
    found = facts.mask(node for node, inner in facts.called_ops.items() if _may_train(inner))
    if not found.any():
        return found
    calls = found & ~facts.family(ops.is_pipeline_op)
    whole = unfold(facts.document)
    if not isinstance(whole, Unfolded) or whole is facts.document or not calls.any():
        return np.zeros(facts.count, np.bool_)
    inside = np.flatnonzero(training_mode(Facts(whole))[facts.count :])
    return facts.mask(whole.caller[inside].tolist()) & calls


def _may_train(inner: frozenset[str]) -> bool:
    """Ops inside a call, of which a batch norm or a dropout may be."""
    drops = bool(inner & DROPOUT_ENDS) and any(ops.is_random_op(op) and "Uniform" in op for op in inner)
    return drops or bool(inner & ops.BATCH_NORM_OPS)


def _dropout(facts: Facts) -> Mask:
    """bool [n]: from random numbers through a mask (``floor(keep + uniform)``, ``uniform >= rate``) to its end."""
    random = facts.family(lambda op: ops.is_random_op(op) and "Uniform" in op)
    steps, ends = facts.family(DROPOUT_STEPS), facts.family(DROPOUT_ENDS)
    compares = facts.family({"Floor", "GreaterEqual", "Greater", "Less"})
    src, dst = facts.data
    below, masks = random, np.zeros(facts.count, np.bool_)
    for _ in range(DROPOUT_LENGTH):
        reached = facts.mask(dst[(below | masks)[src]].tolist())
        masks = masks | (reached & compares) | (facts.mask(dst[masks[src]].tolist()) & steps)
        below = below | (reached & steps)
    ended = facts.mask(dst[masks[src]].tolist()) & ends & (facts.reads(~(below | masks)) > 0)
    return ended


def _feeds_statistics(given: Assignment) -> Mask:
    """bool [n]: its value, computed from data, also moves a batch norm's statistic: a batch norm made of single ops."""
    facts = given.facts
    fed = facts.readers(given.codes == CODE["batch_norm_update"]) > 0
    return np.asarray(fed & ~facts.is_read & facts.from_source & ~facts.family(ops.BATCH_NORM_OPS))


def _is_known(facts: Facts, op: str) -> bool:
    return protos.op_def(op) is not None or op in facts.document.functions
