"""Checkpoints: V2 bundles and V1 tables, read without TensorFlow."""

from graphviewer.formats.checkpoint.checkpoint import OBJECT_GRAPH_KEY, Checkpoint
from graphviewer.formats.checkpoint.find import (
    Step,
    checkpoint_steps,
    data_files,
    find_checkpoint,
    how_chosen,
    stem_of,
    v1_files,
)
from graphviewer.formats.checkpoint.open import index_problem, open_checkpoint
from graphviewer.formats.checkpoint.slices import WHOLE, Slice, parse_slice_spec

__all__ = [
    "OBJECT_GRAPH_KEY",
    "WHOLE",
    "Checkpoint",
    "Slice",
    "Step",
    "checkpoint_steps",
    "data_files",
    "find_checkpoint",
    "how_chosen",
    "index_problem",
    "open_checkpoint",
    "parse_slice_spec",
    "stem_of",
    "v1_files",
]
