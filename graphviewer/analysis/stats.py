"""What a document holds, in numbers."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from graphviewer.analysis.check import check
from graphviewer.analysis.distinct import distinct_variables
from graphviewer.formats.encode import graph_size
from graphviewer.formats.savedmodel import METAGRAPHS, MetaGraphInfo
from graphviewer.formats.table import VARIABLES
from graphviewer.model.document import Document
from graphviewer.model.tensors import node_shape, shape_list, too_large
from graphviewer.protos import DataType

_WEIGHT_DTYPES = frozenset(
    {
        DataType.FLOAT,
        DataType.DOUBLE,
        DataType.HALF,
        DataType.BFLOAT16,
        DataType.QINT8,
        DataType.QUINT8,
        DataType.QINT16,
        DataType.QUINT16,
        DataType.QINT32,
    }
)


@dataclass(frozen=True)
class Statistics:
    """The numbers of ``info``.

    Attributes:
        nodes, edges, functions, ops: of the main graphs, summed over MetaGraphs, without function bodies; edges that
            lead nowhere are not counted.
        variables: variables of the shown graph, optimizer slots included, copies that a Keras export makes left out;
            keys of a checkpoint.
        parameters: elements of these variables, as far as their shapes are known; in a graph without variables (a
            frozen one) the elements of its floating-point and quantised constants of rank 1 and more.
        bytes: on disk, of the file, folder or checkpoint; of the encoded graph where it is not saved.
        producer, min_consumer: versions of the shown graph, 0 where it has none.
        signatures: keys of all SignatureDefs.
        problems: what ``check`` finds.
    """

    nodes: int
    edges: int
    functions: int
    ops: Mapping[str, int]
    variables: int
    parameters: int
    bytes: int
    producer: int
    min_consumer: int
    signatures: tuple[str, ...]
    problems: int


class Totals(NamedTuple):
    """The numbers that a comparison sets side by side, of the shown graph; see ``Statistics``.

    Attributes:
        bytes: of the encoded graph, since a result may not be saved yet.
    """

    nodes: int
    parameters: int
    bytes: int
    ops: Mapping[str, int]


def totals(document: Document) -> Totals:
    """Only what can be counted quickly (16,500 nodes: 60 ms)."""
    return Totals(len(document.graph), _variables(document)[1], graph_size(document), _by_count(document.graph.ops))


def statistics(document: Document) -> Statistics:
    """Count what a document holds (16,500 nodes: 0.3 s, most of it for the problems)."""
    graph, versions = document.graph, document.graph_def.versions
    infos: tuple[MetaGraphInfo, ...] = document.extra.get(METAGRAPHS, ())
    others = [info for info in infos if not info.shown]
    ops = Counter(graph.ops)
    for info in others:
        ops.update(info.ops)
    variables, parameters = _variables(document)
    signatures = {*document.signatures, *(key for info in others for key in info.signatures)}
    return Statistics(
        nodes=len(graph) + sum(info.nodes for info in others),
        edges=len(graph.src) + sum(info.edges for info in others),
        functions=len(document.graph_def.library.function) + sum(info.functions for info in others),
        ops=_by_count(ops),
        variables=variables,
        parameters=parameters,
        bytes=_bytes(document),
        producer=versions.producer,
        min_consumer=versions.min_consumer,
        signatures=tuple(sorted(signatures)),
        problems=len(check(document)),
    )


def _by_count(ops: Iterable[str]) -> dict[str, int]:
    """Ops with how often each comes, most first."""
    return dict(sorted(Counter(ops).items(), key=lambda entry: (-entry[1], entry[0])))


def _variables(document: Document) -> tuple[int, int]:
    """Variables and their elements."""
    stored: Mapping[str, tuple[int, ...]] | None = document.extra.get(VARIABLES)
    if stored is not None:
        return len(stored), sum(_elements(list(shape)) for shape in stored.values())
    shapes = [node_shape(document.node(number)) for number in distinct_variables(document)]
    if shapes:
        return len(shapes), sum(map(_elements, shapes))
    return 0, sum(_weights(node) for node in document.graph_def.node if node.op == "Const")


def _elements(shape: list[int] | None) -> int:
    """Elements of a shape; 0 where it is not known, and for what no tensor can have."""
    return 0 if shape is None or -1 in shape or too_large(shape) else math.prod(shape)


def _weights(const: Any) -> int:
    """Elements of a constant that looks like a frozen variable."""
    if "value" not in const.attr:
        return 0
    tensor = const.attr["value"].tensor
    shape = shape_list(tensor.tensor_shape)
    return _elements(shape) if shape and tensor.dtype in _WEIGHT_DTYPES else 0


def _bytes(document: Document) -> int:
    """Size on disk of what was opened."""
    path = document.path
    if path is None:
        return graph_size(document)
    if document.kind == "checkpoint":
        return sum(_size(file) for file in _files_of_checkpoint(path))
    if path.is_dir():
        return sum(_size(file) for file in path.rglob("*"))
    return _size(path)


def _files_of_checkpoint(prefix: Path) -> list[Path]:
    from graphviewer.formats.checkpoint.find import data_files, v1_files

    return [prefix.with_name(prefix.name + ".index"), *data_files(prefix), *v1_files(prefix)]


def _size(path: Path) -> int:
    return path.stat().st_size if path.is_file() else 0
