"""Jobs about variables: graph against checkpoint, and the values of some of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from typing import Any

from graphviewer.analysis.coverage import Coverage, VariableRow, coverage
from graphviewer.analysis.restoring import lines_to_paste, offer_prefix
from graphviewer.analysis.variable_keys import NoKeys
from graphviewer.errors import CheckpointError
from graphviewer.formats import open_document
from graphviewer.formats.checkpoint import OBJECT_GRAPH_KEY, Checkpoint, open_checkpoint
from graphviewer.model.progress import Progress, silent
from graphviewer.model.tensors import TensorError, numpy_dtype
from graphviewer.protos import DataType, dtype_name

_DTYPES = 64  # more than there are


def variables(
    path: str, checkpoint: str | None = None, *, tags: Sequence[str] | None = None, progress: Progress = silent
) -> dict[str, Any]:
    """The variables of a graph against the keys of its checkpoint; the JSON of ``variables``, and more.

    Beside the contract's keys: ``checkpoint`` (prefix, or null: then every variable is in the graph only), ``offer`` (a
    change of scope that would help, or null), ``lines`` to paste, ``problems`` of the checkpoint's files, in words, and
    the ``kind`` of document.

    Args:
        path: the graph, a folder, or a checkpoint alone.
        checkpoint: prefix to use in place of the one beside the graph.
        tags: which graph of a SavedModel.
    """
    document = open_document(path, checkpoint=checkpoint, tags=tags, progress=progress)
    prefix = document.checkpoint
    progress(0.5, "comparing variables and keys")
    opened = open_checkpoint(prefix) if prefix is not None else None
    found = coverage(document, opened or NoKeys(), ignored=(OBJECT_GRAPH_KEY,))
    offer = offer_prefix(found, opened) if opened is not None else None
    problems = opened.file_problems() if opened is not None else []
    return {
        "variables": [_row(row, opened) for row in found.variables],
        "coverage": found.ratio,
        "checkpoint": str(prefix) if prefix is not None else None,
        "offer": {"text": offer.text, "pairs": [list(pair) for pair in offer.pairs]} if offer is not None else None,
        "lines": lines_to_paste(document, found, prefix.absolute(), offer, values=opened, problems=problems)
        if prefix is not None
        else [],
        "problems": [f"{one.reason} {one.hint}" for one in problems],
        "counts": _counts(found),
        "kind": document.kind,
    }


def _counts(found: Coverage) -> dict[str, int]:
    statuses = [row.status for row in found.variables]
    return {status: statuses.count(status) for status in dict.fromkeys(statuses)}


def _row(row: VariableRow, checkpoint: Checkpoint | None) -> dict[str, Any]:
    known = checkpoint is not None and row.key is not None and row.key in checkpoint
    slices = checkpoint.slices(row.key) if checkpoint is not None and row.key is not None and known else []
    return {
        **row._asdict(),
        "nearest": list(row.nearest),
        "slices": [list(map(list, part)) for part in slices],
        "bytes": _bytes(row),
    }


def _bytes(row: VariableRow) -> int | None:
    """Bytes of the values; None where the shape is not known, and for strings."""
    dtype = _dtype_numbers().get(row.dtype)
    if dtype in (None, DataType.STRING) or row.shape is None or -1 in row.shape:
        return None
    try:
        return math.prod(row.shape) * numpy_dtype(dtype).itemsize
    except TensorError:
        return None


@cache
def _dtype_numbers() -> dict[str, int]:
    return {dtype_name(number): number for number in range(1, _DTYPES)}


def values(checkpoint: str, keys: Sequence[str], *, progress: Progress = silent) -> dict[str, Any]:
    """What some variables of a checkpoint hold: ``{"values": {key: numbers, or {"error": why}}}``.

    See ``analysis.values.Values`` for the numbers.
    """
    from graphviewer.analysis.values import describe_values

    opened = open_checkpoint(checkpoint)
    found: dict[str, Any] = {}
    for number, key in enumerate(keys):
        progress(number / len(keys), f"reading {key}")
        try:
            found[key] = describe_values(opened.read(key)).to_json()
        except CheckpointError as error:
            found[key] = {"error": str(error)}
    return {"values": found}
