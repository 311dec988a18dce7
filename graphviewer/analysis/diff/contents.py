"""What a node does, as a number: op and attributes, without its name and inputs."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Sequence
from functools import cache
from typing import Any

from graphviewer import protos
from graphviewer.analysis.ops import VARIABLE_OPS
from graphviewer.model.document import Document

_VERSION = re.compile(r"V\d+$")
_ANNOTATIONS = ("_class", "_output_shapes")
Contents = tuple[list[int], list[int]]


def exact_contents(before: Document, nodes: Sequence[int], after: Document, others: Sequence[int]) -> Contents:
    """Numbers of nodes of two documents, equal for equal op, device, attributes and values.

    Annotations are left out; so are values that stayed in a big file.
    """
    return _numbered(before, nodes, after, others, _exact)


def loose_contents(before: Document, nodes: Sequence[int], after: Document, others: Sequence[int]) -> Contents:
    """Numbers of nodes of two documents, equal for equal op, dtypes and, of constants and variables, shapes.

    Scalars need equal values: another name and another value is another constant.
    """
    return _numbered(before, nodes, after, others, _loose)


def family_contents(before: Document, nodes: Sequence[int], after: Document, others: Sequence[int]) -> Contents:
    """Numbers of nodes of two documents, equal for versions of one op: ``Gather`` and ``GatherV2``.

    Constants need equal values, variables equal shapes.
    """
    return _numbered(before, nodes, after, others, _family)


@cache
def op_family(op: str) -> str:
    """The op without its version."""
    return _VERSION.sub("", op)


def types(node: Any) -> tuple[tuple[str, int], ...]:
    """The dtypes among a node's attributes, by name."""
    return tuple(sorted((name, value.type) for name, value in node.attr.items() if value.WhichOneof("value") == "type"))


def _numbered(
    before: Document,
    nodes: Sequence[int],
    after: Document,
    others: Sequence[int],
    key: Callable[[Any], Hashable],
) -> Contents:
    """Equal keys get one number. Ops that only one side has need no look at their attributes."""
    common = {op_family(before.node(node).op) for node in nodes} & {op_family(after.node(node).op) for node in others}
    known: dict[Hashable, int] = {}

    def number(node: Any) -> int:
        return known.setdefault(key(node) if op_family(node.op) in common else (node.op,), len(known))

    return [number(before.node(node)) for node in nodes], [number(after.node(node)) for node in others]


def _exact(node: Any) -> bytes:
    bare = protos.NodeDef(op=node.op, device=node.device)
    bare.attr.MergeFrom(node.attr)
    for name in _ANNOTATIONS:
        bare.attr.pop(name, None)
    return bytes(bare.SerializeToString(deterministic=True))


def _family(node: Any) -> Hashable:
    if node.op in ("Const", *VARIABLE_OPS):
        return _exact(node) if node.op == "Const" else _loose(node)
    return op_family(node.op)


def _loose(node: Any) -> Hashable:
    if node.op == "Const" and "value" in node.attr:
        tensor = node.attr["value"].tensor
        shape = tuple(dim.size for dim in tensor.tensor_shape.dim)
        return ("Const", tensor.dtype, shape) if shape else _exact(node)
    declared = node.attr["shape"].SerializeToString(deterministic=True) if "shape" in node.attr else b""
    return (node.op, types(node), declared)
