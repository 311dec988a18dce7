"""Which checkpoint key holds the value of which variable.

A graph says it in several places; the first that speaks wins: the Saver (what a restore writes where, and what a save
takes from where), the restore function of a SavedModel, its objects (see ``object_keys``), the VariableDef, the shared
name, the node name, the node name without ``/part_N``, what is said of another handle of the same variable, and last of
one that is saved in its place. Names of variables in an object graph are used for checkpoints alone that are not the
SavedModel's own (see ``foreign_keys``): two variables ``w`` could be crossed.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from graphviewer.analysis.control_flow import variables_behind
from graphviewer.analysis.distinct import saved_copies, variable_identity
from graphviewer.analysis.foreign_keys import ForeignKeys
from graphviewer.analysis.object_keys import captured_keys
from graphviewer.analysis.ops import ASSIGN_OPS, VARIABLE_OPS
from graphviewer.analysis.restore_functions import BETWEEN, MAX_STEPS, constant_strings, restored_by_functions
from graphviewer.errors import CheckpointError, OperationError
from graphviewer.formats.checkpoint import parse_slice_spec
from graphviewer.model.document import Document
from graphviewer.model.graph import Ints
from graphviewer.model.names import parse_input
from graphviewer.model.tensors import node_shape

_NAMES_SLOT = {
    "Restore": (1, None),
    "RestoreSlice": (1, 2),
    "RestoreV2": (1, 2),
    "Save": (1, None),
    "SaveSlices": (1, 2),
    "SaveV2": (1, 2),
}
"""Inputs that hold tensor names, and shapes and slices."""

_FIRST_TENSOR = {"Save": 2, "SaveSlices": 3, "SaveV2": 3}
"""First input of a save op that is a tensor to save."""

_BY_FULL_NAME = "key of its full name"
_PART = re.compile(r"(.+)/part_(\d+)$")
NAMES_ONLY = "names"
"""Given as ``saver``: ignore savers, take keys from the variables' own names."""
NO_SCOPE = "/"
"""The saver whose nodes are in no scope."""


class Keys(Protocol):
    """What is asked of a checkpoint here."""

    def keys(self) -> list[str]: ...

    def shape(self, key: str) -> list[int]: ...

    def dtype(self, key: str) -> int: ...

    @property
    def object_graph(self) -> bytes | None: ...


class NoKeys:
    """In the place of a checkpoint: what the graph says, and nothing else."""

    def keys(self) -> list[str]:
        return []

    def shape(self, key: str) -> list[int]:
        raise KeyError(key)

    def dtype(self, key: str) -> int:
        raise KeyError(key)

    @property
    def object_graph(self) -> bytes | None:
        return None


Slice = Sequence[tuple[int, int]]


class Source(NamedTuple):
    """Where the value of a variable lies.

    Attributes:
        key: name in the checkpoint, which may lack it.
        slice: (start, length) per dimension; None for the whole value.
        told_by: the part of the graph that says so, in words.
    """

    key: str
    slice: Slice | None
    told_by: str


Table = dict[int, Source]
"""By node number of the variable."""


def variable_sources(
    document: Document, checkpoint: Keys, *, wanted: Collection[int] | None = None, saver: str = ""
) -> Table:
    """The source of every variable for which the graph names one, or the checkpoint has a key of its name.

    Args:
        document: graph, and SaverDef and VariableDefs where it has them.
        checkpoint: its keys and shapes.
        wanted: variables that matter (node numbers); None: all. Savers may disagree about others.
        saver: scope of the saver to follow (``save_1``), or NAMES_ONLY; by default the SaverDef's.

    Raises:
        OperationError: several savers name different keys of this checkpoint, and nothing says which to follow.
    """
    graph = document.graph
    numbers = np.flatnonzero(graph.of_ops(VARIABLE_OPS)).tolist()
    targets = set(numbers if wanted is None else wanted)
    found: Table = {}
    restored: Table = {}
    if saver != NAMES_ONLY:
        behind = variables_behind(graph)
        _add(found, _chosen_saver(document, checkpoint, behind, targets, saver))
        chosen = ForeignKeys(document, checkpoint)
        restored = dict(_restore_functions(document, behind, chosen))
        _add(found, restored)
        if not targets <= found.keys():
            _add(found, _objects_of(document, checkpoint, behind, chosen))
    _add(found, _variable_defs(document))
    keys = set(checkpoint.keys())
    _add(found, {number: source for number in numbers if (source := _by_name(document.node(number), keys)) is not None})
    _add(found, _parts(document, [number for number in numbers if number not in found], checkpoint, keys))
    _add(found, _other_handles(document, numbers, found))
    if restored and not targets <= found.keys():
        _add(found, _copied(document, restored))
    return {number: source for number, source in found.items() if number in targets}


def _objects_of(document: Document, checkpoint: Keys, behind: Ints, chosen: ForeignKeys) -> Table:
    """What the objects of a SavedModel say, and those of its checkpoint, where they can be read."""

    def raw() -> bytes | None:
        try:
            return checkpoint.object_graph
        except CheckpointError:
            return None

    told_by = _BY_FULL_NAME if chosen.foreign else "told by the SavedModel's objects"
    found = captured_keys(document, behind, raw, chosen.by_object)
    return {number: Source(key, None, told_by) for number, key in found.items()}


def _copied(document: Document, restored: Table) -> Table:
    """What a restore function reads for a copy that Keras only saves holds for the variable that is copied."""
    copies = saved_copies(document)
    return {number: restored[copy] for copy, number in copies.items() if copy in restored}


def _other_handles(document: Document, numbers: Iterable[int], found: Table) -> Table:
    """What is said of one handle of a variable holds for the others."""
    identities = {number: variable_identity(document.node(number)) for number in numbers}
    known = {identities[number]: source for number, source in found.items() if number in identities}
    return {number: known[identity] for number, identity in identities.items() if identity in known}


def _add(found: Table, more: Mapping[int, Source]) -> None:
    for number, source in more.items():
        found.setdefault(number, source)


def _strings(document: Document, number: int, slot: int) -> list[str]:
    """The strings of a constant input; empty when they are not constant."""
    texts = document.node(number).input
    source = document.graph.index.get(parse_input(texts[slot])[0], -1) if slot < len(texts) else -1
    return constant_strings(document.full_node(source)) if source >= 0 else []


def _slice(spec: str) -> Slice | None:
    try:
        parsed = parse_slice_spec(spec)
    except CheckpointError:
        return None
    return parsed[1] if parsed is not None else None


def _named_tensors(document: Document, number: int) -> list[tuple[str, Slice | None]]:
    """Keys and slices that a save or restore op lists."""
    names_slot, slices_slot = _NAMES_SLOT[document.graph.ops[number]]
    names = _strings(document, number, names_slot)
    specs = _strings(document, number, slices_slot) if slices_slot is not None else []
    return [(name, _slice(specs[at]) if at < len(specs) else None) for at, name in enumerate(names)]


def _chosen_saver(document: Document, checkpoint: Keys, behind: Ints, targets: set[int], saver: str) -> Table:
    """What the saver that applies says."""
    tables = _savers(document, behind)
    saver = saver or _defined_saver(document, tables)
    if saver:
        if saver not in tables:
            known = ", ".join(sorted(tables)) or "none"
            raise OperationError(f"The graph has no saver '{saver}'.", f"Savers: {known}; or '{NAMES_ONLY}'.")
        return tables[saver]
    keys = set(checkpoint.keys())
    fitting = [
        scope
        for scope, table in tables.items()
        if targets & table.keys() and all(table[number].key in keys for number in targets & table.keys())
    ]
    chosen = fitting or list(tables)
    _require_agreement({scope: tables[scope] for scope in chosen}, document, targets)
    merged: Table = {}
    for scope in chosen:
        _add(merged, tables[scope])
    return merged


def _defined_saver(document: Document, tables: Collection[str]) -> str:
    """The saver that the SaverDef names, where it is one of ``tables``; else empty."""
    if document.saver is None:
        return ""
    ends = (document.saver.save_tensor_name, document.saver.restore_op_name)
    scope = _scope_of_saver(parse_input(ends[0] or ends[1])[0])
    return scope if scope in tables else ""


def saver_tables(document: Document) -> tuple[dict[str, Table], str]:
    """What each saver of the graph reads for which variable, and the saver that the SaverDef names; empty for none."""
    tables = _savers(document, variables_behind(document.graph))
    return tables, _defined_saver(document, tables)


def _scope_of_saver(name: str) -> str:
    return name.rpartition("/")[0] or NO_SCOPE


def _require_agreement(tables: Mapping[str, Table], document: Document, targets: set[int]) -> None:
    said: dict[int, tuple[str, Source]] = {}
    for scope, table in tables.items():
        for number in targets & table.keys():
            other, source = said.setdefault(number, (scope, table[number]))
            if (source.key, source.slice) != (table[number].key, table[number].slice):
                name = document.graph.names[number]
                raise OperationError(
                    f"The savers '{other}' and '{scope}' read different values for '{name}': "
                    f"'{source.key}' and '{table[number].key}'.",
                    f"Choose one as the saver: {', '.join(tables)}.",
                    shell=f"Choose one with --saver: {', '.join(tables)}.",
                )


def _savers(document: Document, behind: Ints) -> dict[str, Table]:
    """By name scope of a saver: what its restore ops write where, then what its save ops take from where."""
    graph = document.graph
    numbers = np.flatnonzero(graph.of_ops(_NAMES_SLOT)).tolist()
    restores_first = sorted(numbers, key=lambda number: not graph.ops[number].startswith("Restore"))
    tables: dict[str, Table] = defaultdict(dict)
    for number in restores_first:
        restores = graph.ops[number].startswith("Restore")
        pairs = _restored(document, number, behind) if restores else _saved(document, number, behind)
        for variable, source in pairs:
            tables[_scope_of_saver(graph.names[number])].setdefault(variable, source)
    return dict(tables)


def _restored(document: Document, number: int, behind: Ints) -> Iterator[tuple[int, Source]]:
    """Variables that are assigned what a restore op reads, over reshapes and casts."""
    graph = document.graph
    named = _named_tensors(document, number)
    name = graph.names[number]
    reached = [(edge, int(graph.port[edge])) for edge in graph.edges_out_of(number).tolist()]
    for _ in range(MAX_STEPS):
        further: list[tuple[int, int]] = []
        for edge, port in reached:
            consumer = int(graph.dst[edge])
            if not 0 <= port < len(named) or graph.control[edge]:
                continue
            if graph.ops[consumer] in ASSIGN_OPS:
                variable = int(behind[graph.src[graph.edges_into(consumer)[0]]])
                if variable >= 0:
                    yield variable, Source(*named[port], f"restored by '{name}'")
            elif graph.ops[consumer] in BETWEEN:
                further += [(other, port) for other in graph.edges_out_of(consumer).tolist()]
        reached = further


def _saved(document: Document, number: int, behind: Ints) -> Iterator[tuple[int, Source]]:
    """Variables that a save op takes its tensors from."""
    graph = document.graph
    named = _named_tensors(document, number)
    first = _FIRST_TENSOR[graph.ops[number]]
    for edge in graph.edges_into(number).tolist():
        at = int(graph.slot[edge]) - first
        if 0 <= at < len(named) and not graph.control[edge]:
            variable = int(behind[graph.src[edge]])
            if variable >= 0:
                yield variable, Source(*named[at], f"saved by '{graph.names[number]}'")


def _restore_functions(document: Document, behind: Ints, chosen: ForeignKeys) -> Iterator[tuple[int, Source]]:
    """Variables whose handles are handed to a function that restores into its arguments (TF2 SavedModels)."""
    names = _names_of_copies(document)
    for variable, found in restored_by_functions(document, behind):
        key = chosen.by_key(found.key)
        if key is not None and not chosen.contradicted(key, names(variable)):
            told_by = f"restored by function '{found.function}'" if key == found.key else _BY_FULL_NAME
            yield variable, Source(key, _slice(found.spec), told_by)


def _names_of_copies(document: Document) -> Callable[[int], set[str]]:
    """Gives the names and shared names of a variable, and of what is saved in its place or it in the place of."""
    alike: dict[int, list[int]] = defaultdict(list)
    for copy, number in saved_copies(document).items():
        alike[copy].append(number)
        alike[number].append(copy)

    def names(variable: int) -> set[str]:
        nodes = [document.node(number) for number in (variable, *alike[variable])]
        return {name for node in nodes for name in (node.name, variable_identity(node)[1])}

    return names


def _variable_defs(document: Document) -> Table:
    found: Table = {}
    for definition in (one for group in document.variable_defs.values() for one in group):
        name = parse_input(definition.variable_name)[0]
        number = document.graph.index.get(name)
        if number is None or document.graph.ops[number] not in VARIABLE_OPS:
            continue
        info = definition.save_slice_info_def
        part = tuple(zip(info.var_offset, info.var_shape, strict=False)) if info.full_name else None
        found.setdefault(number, Source(info.full_name or name, part, "named by its VariableDef"))
    return found


def _by_name(node: Any, keys: Collection[str]) -> Source | None:
    shared = node.attr["shared_name"].s.decode("utf-8", "replace") if "shared_name" in node.attr else ""
    if shared and shared in keys:
        return Source(shared, None, "key of its shared name")
    return Source(node.name, None, "key of its name") if node.name in keys else None


def _parts(document: Document, numbers: Iterable[int], checkpoint: Keys, keys: Collection[str]) -> Table:
    """``w/part_0``, ``w/part_1`` ... as pieces of ``w``, along the one axis in which their shapes differ from it."""
    groups: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for number in numbers:
        match = _PART.match(document.graph.names[number])
        if match and match[1] in keys:
            groups[match[1]].append((int(match[2]), number))
    found: Table = {}
    for key, pieces in groups.items():
        pieces.sort()
        shapes = [node_shape(document.node(number)) for _, number in pieces]
        slices = _consecutive(checkpoint.shape(key), shapes)
        if slices is not None and [place for place, _ in pieces] == list(range(len(pieces))):
            for (_, number), part in zip(pieces, slices, strict=True):
                found[number] = Source(key, part, "part of the key of its name")
    return found


def _consecutive(full: Sequence[int], shapes: Sequence[Sequence[int] | None]) -> list[Slice] | None:
    """Slices of ``full`` that pieces of these shapes make up in order; None when they do not."""
    if any(shape is None or len(shape) != len(full) for shape in shapes):
        return None
    known = [shape for shape in shapes if shape is not None]
    axes = {axis for shape in known for axis, size in enumerate(shape) if size != full[axis]}
    if len(axes) > 1 or not full:
        return None
    axis = axes.pop() if axes else 0
    slices: list[Slice] = []
    offset = 0
    for shape in known:
        slices.append([(offset, size) if at == axis else (0, size) for at, size in enumerate(shape)])
        offset += shape[axis]
    return slices if offset == full[axis] else None
