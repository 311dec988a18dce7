"""Which variables of a graph a checkpoint has values for, and which keys of the checkpoint the graph does not know."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from graphviewer.analysis.distinct import distinct_variables
from graphviewer.analysis.foreign_keys import ForeignKeys, full_names
from graphviewer.analysis.variable_keys import Keys, Slice, Source, variable_sources
from graphviewer.model.document import Document
from graphviewer.model.names import nearest
from graphviewer.model.tensors import node_shape
from graphviewer.protos import dtype_name

Status = Literal["both", "only_graph", "only_checkpoint", "differs"]

_MOST_NEAREST = 200  # variables that near keys are looked for: each look compares with every key


class VariableRow(NamedTuple):
    """One variable, or one key that no variable uses.

    Attributes:
        name: of the variable; None for a key without one.
        key: in the checkpoint; None where it has none for the variable.
        shape: the graph's, else the checkpoint's; -1 where unknown, None for unknown rank.
        dtype: as TensorFlow's Python writes it.
        status: ``both``, ``only_graph``, ``only_checkpoint``, or ``differs`` (in shape or dtype).
        nearest: keys that may be meant, for ``only_graph``; full names where the checkpoint is not the SavedModel's.
        held: dtype and shape in the checkpoint, in words, for ``differs``; for ``only_checkpoint`` the full name, where
            the checkpoint is not the SavedModel's own.
        part: (start, length) per dimension of the key's value; None for the whole value.
    """

    name: str | None
    key: str | None
    shape: list[int] | None
    dtype: str
    status: Status
    nearest: tuple[str, ...] = ()
    held: str = ""
    part: Slice | None = None


@dataclass(frozen=True)
class Coverage:
    """All variables and keys, and the share of the graph's variables that the checkpoint has a fitting value for."""

    variables: tuple[VariableRow, ...]
    ratio: float


def coverage(document: Document, checkpoint: Keys, *, ignored: Collection[str] = ()) -> Coverage:
    """Compare the variables of a graph with the keys of a checkpoint.

    A variable counts once, however many handles and copies of it there are, and the keys of its copies are no keys
    that the graph does not know: see ``distinct_variables``.

    Args:
        document: the graph, with its saver where it has one.
        checkpoint: keys, shapes and dtypes.
        ignored: keys that belong to the checkpoint itself, such as its object graph.

    Raises:
        OperationError: several savers name different keys, and nothing says which to follow.
    """
    numbers = distinct_variables(document)
    sources = variable_sources(document, checkpoint)
    listed = checkpoint.keys()
    keys = [key for key in listed if key not in ignored]
    known = set(keys)
    rows = [_row(document.node(number), sources.get(number), checkpoint, known) for number in numbers]
    both = sum(row.status == "both" for row in rows)
    used = {row.key for row in rows} | {source.key for source in sources.values()}
    free = [key for key in keys if key not in used]
    names = full_names(checkpoint) if ForeignKeys(document, checkpoint).foreign else {}
    rows = list(_with_nearest(rows, list(dict.fromkeys(names.get(key, key) for key in free or keys))))
    rows += [
        VariableRow(
            None,
            key,
            checkpoint.shape(key),
            dtype_name(checkpoint.dtype(key)),
            "only_checkpoint",
            held=f"the value of {names[key]}" if names.get(key, key) != key else "",
        )
        for key in free
    ]
    return Coverage(tuple(rows), both / len(numbers) if numbers else 1.0)


def _row(node: Any, source: Source | None, checkpoint: Keys, keys: Collection[str]) -> VariableRow:
    shape, dtype = node_shape(node), node.attr["dtype"].type if "dtype" in node.attr else 0
    if source is None or source.key not in keys:
        return VariableRow(node.name, None, shape, dtype_name(dtype), "only_graph")
    held = [length for _, length in source.slice] if source.slice is not None else checkpoint.shape(source.key)
    if dtype == checkpoint.dtype(source.key) and fits(shape, held):
        return VariableRow(node.name, source.key, shape, dtype_name(dtype), "both", part=source.slice)
    words = f"{dtype_name(checkpoint.dtype(source.key))} {list(held)}"
    return VariableRow(node.name, source.key, shape, dtype_name(dtype), "differs", held=words, part=source.slice)


def fits(shape: Sequence[int] | None, held: Sequence[int]) -> bool:
    """Whether a value of shape ``held`` can be the variable's; what the graph leaves open fits all."""
    if shape is None:
        return True
    return len(shape) == len(held) and all(size in (-1, other) for size, other in zip(shape, held, strict=True))


def _with_nearest(rows: Sequence[VariableRow], keys: Sequence[str]) -> Iterator[VariableRow]:
    left = _MOST_NEAREST
    for row in rows:
        if row.status == "only_graph" and row.name is not None and left:
            left -= 1
            row = row._replace(nearest=tuple(nearest(row.name, keys)))
        yield row
