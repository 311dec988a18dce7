"""Paths of files in a frozen graph: what a SavedModel's loader would feed is written into constants.

A loader feeds the path of each asset file to a tensor: a constant that held the exporter's path (TF1), or a placeholder
that a variable is assigned from (TF2), which no checkpoint has a value of. A frozen graph has no such loader. Paths
lead to the SavedModel's own assets folder, or to a folder that is given.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from graphviewer.analysis.asset_paths import asset_files, settled_variables
from graphviewer.analysis.ops import PLACEHOLDER_OPS, VARIABLE_OPS
from graphviewer.errors import OperationError
from graphviewer.model.document import Document
from graphviewer.model.making import const_node
from graphviewer.model.names import parse_input
from graphviewer.model.tensors import TensorError, tensor_value
from graphviewer.operations.assets import assets_folder
from graphviewer.operations.registry import FileUse
from graphviewer.operations.selection import Selection, join
from graphviewer.protos import DataType

_FILLS_FROM_FILE = frozenset({"InitializeTableFromTextFile", "InitializeTableFromTextFileV2"})
_FILE_NAME = 1  # input of these
_MOST_STEPS = 16


@dataclass(frozen=True)
class PathConstant:
    """What a tensor that holds the path of a file becomes.

    Attributes:
        name: of the node and of the constant.
        path: as the constant has it.
        told: why it is that path.
    """

    name: str
    path: str
    told: str

    dtype = int(DataType.STRING)
    shape: tuple[int, ...] = ()

    @property
    def size(self) -> int:
        """Bytes of the value."""
        return len(self.path.encode("utf-8", "surrogateescape"))

    def node(self, _checkpoint: object = None) -> Any:
        """The Const node."""
        value = np.array(self.path.encode("utf-8", "surrogateescape"), object)
        return const_node(self.name, self.dtype, values=value)


def path_constants(selection: Selection, fillers: Sequence[int], folder: str) -> dict[int, PathConstant]:
    """The nodes of a selection that hold paths of files and must be written anew, by number.

    Args:
        selection: what the result needs.
        fillers: nodes in it that fill lookup tables.
        folder: where the files will lie, as the result shall say it; empty: where they lie now.

    Raises:
        OperationError: the result needs the path of a file that is not known.
    """
    document, graph = selection.document, selection.graph
    holders = {graph.index[end.node]: file for end, file in asset_files(document).items() if end.node in graph.index}
    files = {**holders, **settled_variables(document)}
    if folder:
        files = {**_named_anew(named_files(document, fillers), files), **files}
    base = folder or assets_folder(document)
    found = {}
    for number in selection.numbers:
        if number not in files or graph.ops[number] not in {"Const", *PLACEHOLDER_OPS, *VARIABLE_OPS}:
            continue
        name, file = graph.names[number], files[number]
        if base is not None:
            told = f"it holds the path of '{file}'" + ("" if folder else ", an asset of the SavedModel")
            found[number] = PathConstant(name, f"{str(base).rstrip('/')}/{file}", told)
        elif graph.ops[number] != "Const":
            raise OperationError(
                f"'{name}' holds the path of the asset '{file}', and it is not known where that lies.",
                "Say where it will lie: name the assets folder.",
                shell="Say where it will lie with --assets.",
            )
    return found


def _named_anew(named: Iterable[tuple[int, str]], assets: Mapping[int, str]) -> dict[int, str]:
    """The last part of each path that is no asset's; two files must not become one."""
    found: dict[int, str] = {}
    whole: dict[str, str] = dict.fromkeys(assets.values(), "")
    for number, path in named:
        if number not in assets:
            found[number] = _last(path)
            if whole.setdefault(found[number], path) != path:
                other = whole[found[number]] or found[number]
                raise OperationError(
                    f"'{other}' and '{path}' would be one file in the folder of assets.",
                    "Leave that folder open, or rename one of the files where the graph is built.",
                )
    return found


def _last(path: str) -> str:
    return path.replace("\\", "/").rpartition("/")[2]


def named_files(document: Document, fillers: Iterable[int]) -> Iterator[tuple[int, str]]:
    """(constant, path) of every constant of the graph that names a file which a table is filled from."""
    graph, known = document.graph, dict[str, set[int]]()
    for filler in fillers:
        for slot in sorted(_file_slots(document, document.node(filler), known)):
            number = _constant_behind(document, filler, slot)
            if number is not None and graph.ops[number] == "Const" and (path := _text(document.full_node(number))):
                yield number, path


def _file_slots(document: Document, node: Any, known: dict[str, set[int]], depth: int = 0) -> set[int]:
    """Inputs of a node that name files, in functions that it calls too.

    Args:
        known: those of functions that were looked at; filled in, for functions that call others twice.
        depth: of the call.
    """
    if node.op in _FILLS_FROM_FILE:
        return {_FILE_NAME}
    name = node.attr["f"].func.name if "f" in node.attr else ""
    function = document.functions.get(name)
    if function is None or depth > _MOST_STEPS:
        return set()
    if name not in known:
        known[name] = set()  # for one that calls itself
        place = {argument.name: at for at, argument in enumerate(function.signature.input_arg)}
        texts = [
            inner.input[slot]
            for inner in function.node_def
            for slot in _file_slots(document, inner, known, depth + 1)
            if slot < len(inner.input)
        ]
        known[name] = {place[text] for text in texts if text in place}
    return known[name]


def _constant_behind(document: Document, number: int, slot: int) -> int | None:
    """The constant that an input reads, over identities."""
    graph = document.graph
    for _ in range(_MOST_STEPS):
        texts = document.node(number).input
        source = graph.index.get(parse_input(texts[slot])[0]) if slot < len(texts) else None
        if source is None or graph.ops[source] != "Identity":
            return source
        number, slot = source, 0
    return None


def _text(node: Any) -> str:
    """The one string of a constant; empty where it is something else."""
    if "value" not in node.attr:  # looking would add it
        return ""
    try:
        value = tensor_value(node.attr["value"].tensor).ravel()
    except TensorError:
        return ""
    return value[0].decode("utf-8", "surrogateescape") if value.size == 1 and isinstance(value[0], bytes) else ""


def files_read(document: Document, fillers: Sequence[int], written: Mapping[int, Any]) -> tuple[FileUse, ...]:
    """The files that the result reads, as far as constants name them.

    Args:
        written: constants that were made, those that hold paths among them.
    """
    names = document.graph.names
    paths = dict(named_files(document, fillers))
    paths |= {number: constant.path for number, constant in written.items() if isinstance(constant, PathConstant)}
    return tuple(FileUse(names[number], path) for number, path in sorted(paths.items()))


def file_warnings(files: Sequence[FileUse], folder: str) -> list[str]:
    """What to do with the files that a result reads."""
    if not files:
        return []
    paths = sorted({file.path for file in files})
    shown = join((f"'{path}'" for path in paths), 20)
    if folder:
        return [f"The result reads {shown}: put {'it' if len(paths) == 1 else 'them'} there before it runs."]
    absent = join((f"'{path}'" for path in paths if "://" not in path and not Path(path).is_file()), 20)
    elsewhere = "to take the result elsewhere, name the folder with --assets"
    return [
        f"The result reads {shown}, which must stay there; {elsewhere}.",
        *([f"The result reads files that are not there: {absent}."] if absent else []),
    ]
