"""Checkpoints: V2 bundles and V1 tables, read without TensorFlow."""

from graphviewer.formats.checkpoint.checkpoint import OBJECT_GRAPH_KEY, Checkpoint
from graphviewer.formats.checkpoint.find import Step, checkpoint_steps, find_checkpoint
from graphviewer.formats.checkpoint.open import open_checkpoint
from graphviewer.formats.checkpoint.slices import WHOLE, Slice, parse_slice_spec

__all__ = [
    "OBJECT_GRAPH_KEY",
    "WHOLE",
    "Checkpoint",
    "Slice",
    "Step",
    "checkpoint_steps",
    "find_checkpoint",
    "open_checkpoint",
    "parse_slice_spec",
]
