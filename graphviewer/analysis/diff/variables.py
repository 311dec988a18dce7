"""Values side by side: checkpoints against checkpoints, and checkpoints against the constants of a graph."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any, Literal, NamedTuple

from graphviewer import protos
from graphviewer.analysis.diff.matching import by_name
from graphviewer.analysis.diff.pairing import NAME, PREFIX, UNMATCHED, Pairing
from graphviewer.analysis.diff.result import FORMAT_VERSION, STATUSES, Change
from graphviewer.analysis.diff.scope_names import Renaming, by_prefix, scopes_of
from graphviewer.analysis.diff.values import digest, distance, far, same_values, summary
from graphviewer.analysis.variable_keys import variable_sources
from graphviewer.errors import CheckpointError
from graphviewer.formats.checkpoint import OBJECT_GRAPH_KEY, Checkpoint, open_checkpoint
from graphviewer.model.document import Document
from graphviewer.model.progress import Progress, silent
from graphviewer.model.tensors import TensorError, shape_list, tensor_value
from graphviewer.protos import DataType, dtype_name

VALUE = "value"
"""How two variables of unlike names were recognised: no others hold these values, or as many on either side."""

Order = Literal["name", "difference", "share", "size"]
ORDERS: tuple[Order, ...] = ("name", "difference", "share", "size")

_MOST_DIGESTED = 1 << 28  # bytes read to recognise variables by their values
_ENOUGH, _COVERAGE = 4, 0.8  # so many names that are alike, of so much of a scope, need no equal values
_CALLED_ALIKE = 0.6
_WEIGHTS = frozenset({DataType.FLOAT, DataType.DOUBLE, DataType.HALF, DataType.BFLOAT16})


@dataclass(frozen=True)
class Stored:
    """A named value, read when it is needed.

    Attributes:
        dtype: TensorFlow's number.
        shape: sizes, -1 or None where unknown.
        read: gives the values; raises CheckpointError or TensorError where they cannot be had.
        is_listed: it is told when the other side has no such value; constants that may be a size or an axis are not.
    """

    dtype: int
    shape: tuple[int, ...] | None
    read: Callable[[], Any]
    is_listed: bool = True

    @property
    def elements(self) -> int:
        """0 where the shape is not known."""
        return 0 if self.shape is None or -1 in self.shape else math.prod(self.shape)

    @property
    def text(self) -> str:
        """``float32 [3, 3]``."""
        shape = "of unknown rank" if self.shape is None else str(list(self.shape)).replace("-1", "?")
        return f"{dtype_name(self.dtype)} {shape}"


@dataclass(frozen=True, eq=False)
class VariablesDiff:
    """Two sets of values and what became of each.

    Attributes:
        titles: of the two sides.
        counts: values on either side.
        left_out: values on either side that are not told, as they have no partner and may be no weights.
        changes: all but the unchanged; ``details`` hold ``elements``, ``dtype`` and ``shape`` as pairs where they
            differ, ``value`` as a pair of statistics, ``difference`` (``elements``, ``differing``, ``max_abs``).
        unchanged: how many are the same under one name.
    """

    titles: tuple[str, str]
    counts: tuple[int, int]
    changes: tuple[Change, ...]
    unchanged: int
    left_out: tuple[int, int] = (0, 0)

    @property
    def same(self) -> bool:
        """Every value is there on both sides, under one name, and equal."""
        return not self.changes

    def summary(self) -> dict[str, int]:
        """Values per status, all statuses listed."""
        found = dict.fromkeys(STATUSES, 0)
        for change in self.changes:
            found[change.status] += 1
        found["unchanged"] = self.unchanged
        return found

    def sorted(self, order: Order) -> list[Change]:
        """The changes by name, or the largest first: by maximal absolute difference, by share of differing elements,
        by number of elements.
        """
        by_name = sorted(self.changes, key=lambda change: (STATUSES.index(change.status), change.name))
        return by_name if order == "name" else sorted(by_name, key=lambda change: -_size(change, order))

    def to_json(self, order: Order = "name") -> dict[str, Any]:
        """The document of ``diff --json`` with variables in place of nodes; ``of`` tells them apart."""
        sides = [
            {"path": title, "nodes": 0, "variables": count, "left_out": left_out}
            for title, count, left_out in zip(self.titles, self.counts, self.left_out, strict=True)
        ]
        return {
            "version": FORMAT_VERSION,
            "of": "variables",
            "before": sides[0],
            "after": sides[1],
            "summary": self.summary(),
            "changes": [change.to_json() for change in self.sorted(order)],
        }


def _size(change: Change, order: Order) -> float:
    apart = change.details.get("difference", {})
    if order == "size":
        return float(change.details.get("elements", 0))
    if order == "share":
        return float(apart["differing"] / max(apart["elements"], 1)) if apart else -1.0
    return float(apart.get("max_abs", -1.0))


def values_of(document: Document) -> dict[str, Stored]:
    """All values that belong to a document: its variables', as far as a checkpoint has them, and its constants'.

    Those of a checkpoint without graph are named by its keys.

    Raises:
        CheckpointError: the checkpoint's index is damaged.
    """
    checkpoint = open_checkpoint(document.checkpoint) if document.checkpoint is not None else None
    if document.kind == "checkpoint" and checkpoint is not None:
        return _of_checkpoint(checkpoint)
    sources = variable_sources(document, checkpoint) if checkpoint is not None else {}
    found = _of_constants(document, has_variables=bool(sources))
    if checkpoint is not None:
        for node, source in sources.items():
            if source.key in checkpoint:
                found[document.graph.names[node]] = _of_key(checkpoint, source.key, source.slice)
    return found


def _of_checkpoint(checkpoint: Checkpoint) -> dict[str, Stored]:
    return {key: _of_key(checkpoint, key) for key in checkpoint if key != OBJECT_GRAPH_KEY}


def _of_key(checkpoint: Checkpoint, key: str, part: Sequence[tuple[int, int]] | None = None) -> Stored:
    shape = checkpoint.shape(key) if part is None else [length for _, length in part]
    return Stored(checkpoint.dtype(key), tuple(shape), lambda: checkpoint.read(key, part))


def _of_constants(document: Document, *, has_variables: bool) -> dict[str, Stored]:
    """Constants by name; those of a frozen graph that look like weights are listed."""
    found = {}
    for number, node in enumerate(document.graph_def.node):
        if node.op == "Const" and "value" in node.attr:
            tensor = node.attr["value"].tensor
            shape = shape_list(tensor.tensor_shape)
            read = _reader(document, number)
            found[node.name] = Stored(
                tensor.dtype,
                None if shape is None else tuple(shape),
                read,
                is_listed=not has_variables and tensor.dtype in _WEIGHTS and bool(shape),
            )
    return found


def _reader(document: Document, number: int) -> Callable[[], Any]:
    return lambda: tensor_value(document.full_node(number).attr["value"].tensor)


def compare_variables(
    before: Mapping[str, Stored],
    after: Mapping[str, Stored],
    titles: tuple[str, str] = ("", ""),
    progress: Progress = silent,
) -> VariablesDiff:
    """Compare values by name, by renamed scope, and by what they hold.

    Constants that may be no weights (integers, scalars) and have no partner are left out: a checkpoint has none.

    Args:
        before: values by name.
        after: values by name.
        titles: of both sides.
        progress: hears of every value.
    """
    links = _links(before, after)
    changes, unchanged = [], 0
    for number, (old, link) in enumerate(links.items()):
        progress(number / max(len(links), 1), f"comparing {link.name}")
        change = _compare(old, link, before[old], after[link.name])
        unchanged += change is None
        changes += [] if change is None else [change]
    found = {link.name for link in links.values()}
    gone = {name: value for name, value in before.items() if name not in links}
    new = {name: value for name, value in after.items() if name not in found}
    for name, value in gone.items():
        if value.is_listed:
            reason = f"this {value.text} is in the first file only"
            changes.append(Change("removed", name, None, reason, UNMATCHED, {"elements": value.elements}))
    for name, value in new.items():
        if value.is_listed:
            reason = f"this {value.text} is in the second file only"
            changes.append(Change("added", None, name, reason, UNMATCHED, {"elements": value.elements}))
    left_out = tuple(sum(not value.is_listed for value in side.values()) for side in (gone, new))
    return VariablesDiff(titles, (len(before), len(after)), tuple(changes), unchanged, (left_out[0], left_out[1]))


class _Link(NamedTuple):
    """What a value is called after, how it was found, and how many on either side hold the same where that was how."""

    name: str
    how: str
    alike: int = 1


def _links(before: Mapping[str, Stored], after: Mapping[str, Stored]) -> dict[str, _Link]:
    """By name before."""
    pairing = Pairing(_drawn(before), _drawn(after))
    by_name(pairing)
    by_prefix(pairing)
    links = {
        pairing.names_before[old]: _Link(pairing.names_after[new], pairing.how[new]) for old, new in pairing.pairs()
    }
    for old in _unlike(before, after, {old: link.name for old, link in links.items() if link.how == PREFIX}):
        del links[old]
    free = [name for name in before if name not in links]
    taken = {link.name for link in links.values()}
    links.update(_by_value(before, free, after, [name for name in after if name not in taken]))
    return links


def _unlike(before: Mapping[str, Stored], after: Mapping[str, Stored], renamed: Mapping[str, str]) -> Iterator[str]:
    """Names before of scopes that are not the same: no value in them is equal, they are few, and not called alike.

    ``kernel`` and ``bias`` are in any two networks.
    """
    scopes: dict[Renaming, list[str]] = defaultdict(list)
    for old, new in renamed.items():
        scopes[scopes_of(old, new)].append(old)
    for (scope, other), names in scopes.items():
        head, there = (f"{one}/" if one else "" for one in (scope, other))
        larger = max(sum(name.startswith(top) for name in side) for side, top in ((before, head), (after, there)))
        if len(names) >= max(_ENOUGH, _COVERAGE * larger) or _called_alike(scope, other):
            continue
        if not any(_is_equal(before[old], after[renamed[old]]) for old in names):
            yield from names


def _called_alike(scope: str, other: str) -> bool:
    return not scope or not other or SequenceMatcher(None, scope, other).ratio() >= _CALLED_ALIKE


def _is_equal(left: Stored, right: Stored) -> bool:
    """Whether two values are the same; those that cannot be read are not."""
    try:
        return (left.dtype, left.shape) == (right.dtype, right.shape) and same_values(left.read(), right.read())
    except (CheckpointError, TensorError):
        return False


def _drawn(values: Mapping[str, Stored]) -> Document:
    """The names as nodes, so that scopes can be recognised as those of a graph."""
    graph_def = protos.GraphDef()
    for name, value in values.items():
        node = graph_def.node.add(name=name, op="VariableV2")
        node.attr["dtype"].type = value.dtype
        for size in value.shape or ():
            node.attr["shape"].shape.dim.add(size=size)
    return Document("graphdef", graph_def)


def _by_value(
    before: Mapping[str, Stored], names: Sequence[str], after: Mapping[str, Stored], others: Sequence[str]
) -> dict[str, _Link]:
    """Link values of one dtype and shape that as many names on one side hold as on the other, in order of names."""
    kinds = {(after[name].dtype, after[name].shape) for name in others}
    names = [name for name in names if (before[name].dtype, before[name].shape) in kinds and before[name].elements > 1]
    kinds = {(before[name].dtype, before[name].shape) for name in names}
    others = [name for name in others if (after[name].dtype, after[name].shape) in kinds]
    if sum(before[name].elements for name in names) * 8 > _MOST_DIGESTED:
        return {}
    mine, theirs = _digests(before, names), _digests(after, others)
    found = {}
    for value, ours in mine.items():
        yours = theirs.get(value, [])
        if len(ours) == len(yours):
            for old, new in zip(sorted(ours), sorted(yours), strict=True):
                found[old] = _Link(new, VALUE, len(ours))
    return found


def _digests(values: Mapping[str, Stored], names: Sequence[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = defaultdict(list)
    for name in names:
        try:
            found[digest(values[name].read())].append(name)
        except (CheckpointError, TensorError):
            continue
    return found


def _compare(old: str, link: _Link, left: Stored, right: Stored) -> Change | None:
    """The change between two linked values; None where they are equal under one name."""
    new = link.name
    details: dict[str, Any] = {"elements": right.elements}
    if left.dtype != right.dtype:
        details["dtype"] = [dtype_name(left.dtype), dtype_name(right.dtype)]
    if left.shape != right.shape:
        details["shape"] = [None if side.shape is None else list(side.shape) for side in (left, right)]
    parts = [f"{left.text} → {right.text}"] if "dtype" in details or "shape" in details else []
    parts += _compare_values(left, right, details, comparable=not parts)
    if old != new:
        called = f"called {old} before"
        called += f", or another of the {link.alike:,} that hold this value" if link.alike > 1 else ""
        return Change("renamed", old, new, "; also ".join([called, *parts]), link.how, details)
    return Change("changed", old, new, ", ".join(parts), NAME, details) if parts else None


def _compare_values(left: Stored, right: Stored, details: dict[str, Any], *, comparable: bool) -> list[str]:
    """What differs in values, in words; statistics and distance go into ``details``."""
    try:
        values = left.read(), right.read()
    except (CheckpointError, TensorError) as error:
        details["problem"] = error.message
        return [f"values cannot be compared: {error.message}"]
    if comparable and same_values(*values):
        return []
    details["value"] = [summary(side) for side in values]
    apart = distance(*values)
    if not apart:
        return []
    details["difference"] = apart
    all_differ = apart["differing"] == apart["elements"]
    share = "all" if all_differ else f"{apart['differing']:,} of {apart['elements']:,}"
    return [f"{share} elements differ{far(apart)}"]
