"""What a node does, as a number: op and attributes, without its name and inputs."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

from graphviewer import protos
from graphviewer.model.document import Document

_ANNOTATIONS = ("_class", "_output_shapes")
Contents = tuple[list[int], list[int]]


def exact_contents(before: Document, nodes: Sequence[int], after: Document, others: Sequence[int]) -> Contents:
    """Numbers of nodes of two documents, equal for equal op, device, attributes and values.

    Annotations are left out; so are values that stayed in a big file.
    """
    return _numbered(before, nodes, after, others, _exact)


def loose_contents(before: Document, nodes: Sequence[int], after: Document, others: Sequence[int]) -> Contents:
    """Numbers of nodes of two documents, equal for equal op and dtypes; constants also need equal shapes.

    Scalars need equal values: another name and another value is another constant.
    """
    return _numbered(before, nodes, after, others, _loose)


def _numbered(
    before: Document,
    nodes: Sequence[int],
    after: Document,
    others: Sequence[int],
    key: Callable[[Any], Hashable],
) -> Contents:
    """Equal keys get one number. Ops that only one side has need no look at their attributes."""
    common = {before.node(node).op for node in nodes} & {after.node(node).op for node in others}
    known: dict[Hashable, int] = {}

    def number(node: Any) -> int:
        return known.setdefault(key(node) if node.op in common else node.op, len(known))

    return [number(before.node(node)) for node in nodes], [number(after.node(node)) for node in others]


def _exact(node: Any) -> bytes:
    bare = protos.NodeDef(op=node.op, device=node.device)
    bare.attr.MergeFrom(node.attr)
    for name in _ANNOTATIONS:
        bare.attr.pop(name, None)
    return bytes(bare.SerializeToString(deterministic=True))


def _loose(node: Any) -> Hashable:
    if node.op == "Const" and "value" in node.attr:
        tensor = node.attr["value"].tensor
        shape = tuple(dim.size for dim in tensor.tensor_shape.dim)
        return ("Const", tensor.dtype, shape) if shape else _exact(node)
    types = ((name, value.type) for name, value in node.attr.items() if value.WhichOneof("value") == "type")
    return (node.op, *sorted(types))
