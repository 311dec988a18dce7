"""The values of variables: checked against the graph all at once, before anything is made of them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from graphviewer.analysis.coverage import fits
from graphviewer.analysis.foreign_keys import ForeignKeys, full_names
from graphviewer.analysis.prefixes import likely_prefix
from graphviewer.analysis.variable_keys import NAMES_ONLY, Keys, Slice, Source, variable_sources
from graphviewer.errors import OperationError
from graphviewer.formats.checkpoint import OBJECT_GRAPH_KEY, open_checkpoint
from graphviewer.model.document import Document
from graphviewer.model.making import const_node
from graphviewer.model.names import nearest
from graphviewer.model.tensors import TensorError, node_shape, numpy_dtype
from graphviewer.protos import DataType, dtype_name

_LISTED = 200
_COMPARED = 40_000
_STRING_SIZE = 16

MOVING_AVERAGES = "moving-averages"
"""In the place of a saver: the averages that training kept beside the variables, where the checkpoint has them."""

_WITHOUT_OBJECTS = (
    "The checkpoint is object-based (tf.train.Checkpoint, Keras), and this graph does not say which object is which "
    "variable: export a SavedModel, or save by name with tf.compat.v1.train.Saver."
)
_OF_OBJECTS = (
    "Which value of the checkpoint is whose, a SavedModel tells of what its functions capture, as long as they are "
    "called: freeze it as it was saved, with the checkpoint that belongs to it, and do the rest after that."
)

_NOT_ITS_OWN = (
    "The checkpoint is not the SavedModel's own, where the same keys may be of other variables, and its full names do "
    "not tell whose value is whose either: take the SavedModel's own, or export the model with these values in it."
)

_SHADOW = re.compile(r"(.+)/[^/]*(?:ExponentialMovingAverage|(?<![A-Za-z])(?:ema|EMA)(?![A-Za-z]))[^/]*")


class Checkpoint(Keys, Protocol):
    """What freezing asks of a checkpoint."""

    def read(self, key: str, slice: Slice | None = None) -> NDArray[Any]: ...  # noqa: A002

    def raw(self, key: str) -> bytes | None: ...


@dataclass(frozen=True)
class Constant:
    """What a variable becomes.

    Attributes:
        name: of the variable and of the constant.
        dtype, shape: as the checkpoint has them, which the graph agrees with.
        source: where the value lies.
    """

    name: str
    dtype: int
    shape: tuple[int, ...]
    source: Source

    @property
    def told(self) -> str:
        """Where the value comes from, for people."""
        part = ""
        if self.source.slice is not None:
            part = " [" + ", ".join(f"{start}:{start + size}" for start, size in self.source.slice) + "]"
        return f"its value is '{self.source.key}'{part} of the checkpoint ({self.source.told_by})"

    @property
    def size(self) -> int:
        """Bytes of the value, about (strings)."""
        width = _STRING_SIZE if self.dtype == DataType.STRING else numpy_dtype(self.dtype).itemsize
        return width * int(np.prod(self.shape, dtype=np.int64))

    def node(self, checkpoint: Checkpoint) -> Any:
        """The Const node, its value read from the checkpoint now."""
        if self.source.slice is None:
            raw = checkpoint.raw(self.source.key)
            if raw is not None:
                return const_node(self.name, self.dtype, raw=raw, shape=self.shape)
        values = checkpoint.read(self.source.key, self.source.slice)
        return const_node(self.name, self.dtype, values=values, shape=self.shape)


def opened(document: Document, given: Any) -> Checkpoint | None:
    """The checkpoint to read: a path, an open one, or by default the one that belongs to the document."""
    chosen = given if given is not None else document.checkpoint
    return open_checkpoint(Path(chosen)) if isinstance(chosen, (str, Path)) else chosen


def constants(
    document: Document, variables: Sequence[int], checkpoint: Checkpoint | None, *, saver: str = "", rename: str = ""
) -> dict[int, Constant]:
    """What each variable becomes, by node number; nothing is read yet but the checkpoint's index.

    Args:
        document: where the variables are.
        variables: node numbers of those that the outputs need.
        checkpoint: where the values are.
        saver: see ``variable_sources``.
        rename: ``old=new``: keys that begin with scope ``old`` are looked for under ``new``.

    Raises:
        OperationError: values are missing, or of another shape or dtype: all of them, in one message.
    """
    if not variables:
        return {}
    names = {number: document.graph.names[number] for number in variables}
    if checkpoint is None:
        told = next((problem for problem in document.problems if problem.kind == "checkpoint"), None)
        if told is not None:
            raise OperationError(told.reason, told.hint)
        raise OperationError(
            f"The outputs need {variables_text(len(variables))}, and there is no checkpoint to take values from.",
            "Choose one under Checkpoint.",
            shell="Give one with --checkpoint.",
        )
    keys = set(checkpoint.keys())
    if saver == MOVING_AVERAGES:
        sources = _averaged(document, variables, checkpoint)
    else:
        sources = variable_sources(document, checkpoint, wanted=variables, saver=saver)
    sources = _renamed(sources, names, keys, rename)
    missing = [number for number in variables if number not in sources or sources[number].key not in keys]
    if missing:
        raise _missing(document, missing, sources, checkpoint)
    found = {number: _constant(document.node(number), sources[number], checkpoint) for number in variables}
    _require_fit({number: document.node(number) for number in variables}, found)
    return found


def unused_rename(found: Iterable[Any], rename: str) -> list[str]:
    """A warning for a renaming of scopes that changed no key.

    Args:
        found: what variables become, paths of files among them.
    """
    sources = [constant.source for constant in found if isinstance(constant, Constant)]
    if not rename or not sources or any(source.told_by.endswith(_renamed_text(rename)) for source in sources):
        return []
    new = rename.partition("=")[2]
    keys = f"keys under '{new}'" if new else "such keys"
    return [f"The renaming '{rename}' changed nothing: the checkpoint has no {keys} for what the outputs need."]


def _renamed_text(rename: str) -> str:
    return f", renamed {rename}"


def constant_of(node: Any, source: Source, checkpoint: Checkpoint) -> Constant:
    """What a variable becomes whose source is known.

    Raises:
        OperationError: the value has another shape or dtype.
    """
    found = _constant(node, source, checkpoint)
    _require_fit({0: node}, {0: found})
    return found


def averages(keys: Collection[str]) -> dict[str, str]:
    """The keys of moving averages by the key of what they are averages of, told by the name that TensorFlow gives."""
    matches = ((key, _SHADOW.fullmatch(key)) for key in sorted(keys))
    return {match[1]: key for key, match in matches if match is not None and match[1] in keys}


def _averaged(document: Document, variables: Sequence[int], checkpoint: Checkpoint) -> dict[int, Source]:
    """Averages where there are such; savers that disagree about them need not be asked about."""
    shadows = averages(set(checkpoint.keys()))
    if not shadows:
        raise OperationError("The checkpoint has no moving averages.", "Leave the saver open.")
    try:
        sources = variable_sources(document, checkpoint, wanted=variables)
    except OperationError:
        sources = variable_sources(document, checkpoint, wanted=variables, saver=NAMES_ONLY)
    return {
        number: source._replace(key=shadows[source.key], told_by="moving average") if source.key in shadows else source
        for number, source in sources.items()
    }


def _renamed(sources: Mapping[int, Source], names: Mapping[int, str], keys: set[str], rename: str) -> dict[int, Source]:
    """Sources with keys moved to another scope, where the checkpoint has such a key."""
    if not rename:
        return dict(sources)
    old, equals, new = rename.partition("=")
    if not equals:
        raise OperationError(f"'{rename}' does not rename a scope.", "Write it as old=new, for example net=tower_0.")
    found = dict(sources)
    for number, name in names.items():
        source = sources.get(number, Source(name, None, "key of its name"))
        end = source.key.removeprefix(old).lstrip("/") if source.key.startswith(old) else ""
        moved = "/".join(part for part in (new, end) if part)
        if end and moved in keys:
            found[number] = source._replace(key=moved, told_by=source.told_by + _renamed_text(rename))
    return found


def _constant(node: Any, source: Source, checkpoint: Checkpoint) -> Constant:
    shape = [length for _, length in source.slice] if source.slice is not None else checkpoint.shape(source.key)
    return Constant(node.name, checkpoint.dtype(source.key), tuple(shape), source)


def _require_fit(nodes: Mapping[int, Any], found: Mapping[int, Constant]) -> None:
    rows = []
    for number, constant in found.items():
        node = nodes[number]
        dtype, shape = node.attr["dtype"].type, node_shape(node)
        if dtype != constant.dtype or not fits(shape, constant.shape):
            graph = f"{dtype_name(dtype)} {_shape_text(shape)}"
            held = f"{dtype_name(constant.dtype)} {_shape_text(constant.shape)}"
            rows.append((constant.name, graph, f"{held} (key '{constant.source.key}')"))
    if rows:
        table = _table([("variable", "in the graph", "in the checkpoint"), *rows])
        raise OperationError(
            f"{variables_text(len(rows))} differ{'s' if len(rows) == 1 else ''} between graph and checkpoint:\n{table}",
            "The checkpoint belongs to another version of the network: choose one of the same training.",
        )
    unreadable = [constant.name for constant in found.values() if not _has_values(constant.dtype)]
    if unreadable:
        raise OperationError(f"'{unreadable[0]}' is of a dtype whose values cannot be written to a graph.")


def _has_values(dtype: int) -> bool:
    try:
        numpy_dtype(dtype)
    except TensorError:
        return False
    return True


def _missing(
    document: Document, missing: Sequence[int], sources: Mapping[int, Source], checkpoint: Checkpoint
) -> OperationError:
    """The error that lists variables without a value, each with the nearest keys."""
    graph = document.graph
    foreign = ForeignKeys(document, checkpoint).foreign
    near = _Nearest(sorted(set(full_names(checkpoint).values())) if foreign else checkpoint.keys())
    rows = [("variable", "looked for", "nearest full names" if foreign else "nearest keys")]
    for number in missing[:_LISTED]:
        source = None if foreign else sources.get(number)
        wanted = source.key if source is not None else graph.names[number]
        rows.append((graph.names[number], wanted, ", ".join(near(wanted)) or "none"))
    more = f"\n  ... and {len(missing) - _LISTED:,} more" if len(missing) > _LISTED else ""
    shapes = {graph.names[number]: node_shape(document.node(number)) for number in missing}
    hint, shell = _missing_hints(document, shapes, checkpoint)
    saved = {number for number, source in sources.items() if source.told_by.startswith(("restored by", "saved by"))}
    if foreign:
        hint, shell = _NOT_ITS_OWN, _NOT_ITS_OWN
    elif saved and saved.isdisjoint(missing):
        told = (
            "The graph's own saver does not save them, so that no checkpoint has them: feed them {}, or choose outputs "
            "that do not need them."
        )
        hint, shell = told.format("as inputs"), told.format("with --input")
    return OperationError(
        f"{variables_text(len(missing))} that the outputs need {'have' if len(missing) > 1 else 'has'} no value in the "
        f"checkpoint:\n{_table(rows)}{more}",
        hint,
        shell=shell,
    )


class _Nearest:
    """Keys like a name: those with the same last part, else similar ones, as long as comparing them is quick."""

    def __init__(self, keys: Sequence[str]) -> None:
        self._keys = keys
        self._by_end: dict[str, list[str]] = {}
        for key in keys:
            self._by_end.setdefault(key.rpartition("/")[2], []).append(key)
        self._budget = _COMPARED

    def __call__(self, name: str) -> list[str]:
        same_end = self._by_end.get(name.rpartition("/")[2], [])
        pool = same_end or self._keys
        self._budget -= len(pool)
        return nearest(name, pool) if self._budget >= 0 else same_end[:3]


def _missing_hints(
    document: Document, shapes: Mapping[str, Sequence[int] | None], checkpoint: Checkpoint
) -> tuple[str, str]:
    """What to do about missing values, as the window and as the shell has it.

    Raises:
        CheckpointError: the checkpoint's own list of objects, which may have told, cannot be read.
    """
    if OBJECT_GRAPH_KEY in checkpoint.keys():  # noqa: SIM118 - not a mapping
        known = document.meta is not None and len(document.meta.object_graph_def.nodes)
        hint = _OF_OBJECTS if known and checkpoint.object_graph is not None else _WITHOUT_OBJECTS
        return hint, hint
    change = likely_prefix(shapes, checkpoint)
    if change is not None and change.votes > 1:
        fit = f"{change.votes:,} of {len(shapes):,} would fit with"
        what = f"{change.old}={change.new}; check that this is meant."
        return f"{fit} Rename scope {what}", f"{fit} --rename {what}"
    ask = "Is it the checkpoint of this graph?"
    return f"{ask} The Variables panel compares the two.", f"{ask} The variables verb compares the two."


def _table(rows: Sequence[tuple[str, ...]]) -> str:
    """Rows below each other, each on one line whatever the names in it hold."""
    rows = [tuple(_on_one_line(cell) for cell in row) for row in rows]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]) - 1)]
    lines = []
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=False)]
        lines.append("  " + "  ".join([*cells, row[-1]]))
    return "\n".join(lines)


def _on_one_line(text: str) -> str:
    return "".join(one if one.isprintable() else one.encode("unicode_escape").decode() for one in text)


def variables_text(number: int) -> str:
    """``3 variables``."""
    return f"{number:,} variable{'s' if number != 1 else ''}"


def _shape_text(shape: Sequence[int] | None) -> str:
    if shape is None:
        return "of any shape"
    return "[" + ", ".join("?" if size < 0 else str(size) for size in shape) + "]"
