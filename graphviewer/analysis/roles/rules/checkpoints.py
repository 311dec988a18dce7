"""Nodes that save and restore."""

import numpy as np

from graphviewer.analysis import ops
from graphviewer.analysis.roles.registry import rule
from graphviewer.analysis.roles.training import Training
from graphviewer.model.graph import Mask


@rule("save_restore", 10)
def checkpoint_ops(training: Training) -> Mask:
    """{op} reads or writes checkpoints."""
    return training.facts.family(ops.CHECKPOINT_OPS)


@rule("save_restore", 11)
def restores(training: Training) -> Mask:
    """Assigns a value that was read from a checkpoint to {variable}."""
    facts = training.facts
    return facts.mask(write.node for write in facts.writes if any(facts.restoring[v] for v in write.values))


@rule("save_restore", 12)
def after_saving(training: Training) -> Mask:
    """Waits until a checkpoint is written."""
    facts = training.facts
    return facts.waits_for(facts.family(ops.SAVE_OPS)) & facts.family({"Identity", "NoOp"})


@rule("save_restore", 13)
def calls(training: Training) -> Mask:
    """Calls a function that saves or restores."""
    facts = training.facts
    return facts.mask(node for node, inside in facts.called_ops.items() if inside & ops.CHECKPOINT_OPS)


@rule("save_restore", 14)
def restored_values(training: Training) -> Mask:
    """Hands on a value that was read from a checkpoint."""
    return np.asarray(training.facts.restoring)
