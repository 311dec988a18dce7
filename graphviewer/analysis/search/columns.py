"""What is searched: per field the different texts, and which item has which. Attribute values repeat thousandfold."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from graphviewer import protos
from graphviewer.analysis.search.query import fold
from graphviewer.model.document import Document
from graphviewer.model.graph import Ints
from graphviewer.model.tensors import TensorError, fits_numpy, shape_list, tensor_value

SMALL = 16
"""Constants of at most so many elements are searched by value."""

_MOST_BYTES = 512  # of a serialised attribute that is read; larger ones are tables or weights
_MOST_LETTERS = 200
_OUTPUT_SHAPES, _COLOCATION = "_output_shapes", "_class"
DETAILS = ("attribute", "dtype", "shape", "value", "colocation")
"""Fields that are read from the nodes' attributes."""


@dataclass(frozen=True, eq=False)
class Column:
    """One field of all items.

    Attributes:
        field: its name in queries.
        texts: different texts, as they are shown.
        item, text: int32 [pairs], sorted by item: the item has this text.
    """

    field: str
    texts: Sequence[str]
    item: Ints
    text: Ints

    @cached_property
    def folded(self) -> list[str]:
        """The texts as they are compared; the same object where nothing changes, for the sake of memory."""
        return [text if (low := fold(text)) == text else low for text in self.texts]

    def of(self, item: int) -> list[str]:
        """The texts of an item."""
        begin, end = np.searchsorted(self.item, [item, item + 1])
        return [self.texts[text] for text in self.text[begin:end].tolist()]


def column(field: str, items: Iterable[int], texts: Sequence[str]) -> Column:
    """A column with one text per item, empty ones left out."""
    codes: dict[str, int] = {}
    text = np.fromiter((codes.setdefault(one, len(codes)) for one in texts), np.int32, len(texts))
    item = np.asarray(items, np.int32)
    if "" in codes:
        item, text = item[text != codes[""]], text[text != codes[""]]
    order = np.argsort(item, kind="stable")
    return Column(field, list(codes), item[order], text[order])


class _Collector:
    """Texts of one field, met node by node."""

    def __init__(self) -> None:
        self.codes: dict[str, int] = {}
        self.items: list[int] = []
        self.texts: list[int] = []

    def code(self, text: str) -> int:
        return self.codes.setdefault(text, len(self.codes))

    def column(self, field: str) -> Column:
        item, text = np.array(self.items, np.int32), np.array(self.texts, np.int32)
        order = np.argsort(item, kind="stable")
        return Column(field, list(self.codes), item[order], text[order])


def read_details(document: Document) -> dict[str, Column]:
    """The columns ``DETAILS`` of a graph's nodes (16,500 nodes, 57,000 attributes: 0.3 s; call it off the GUI thread).

    Equal attributes are put into words once: they are recognised by their bytes.
    """
    found = {field: _Collector() for field in DETAILS}
    known: dict[tuple[str, bytes], tuple[tuple[_Collector, int], ...]] = {}
    leaf = document.scopes.leaf.tolist()
    for item, node in zip(leaf, map(document.node, range(len(leaf))), strict=True):  # of functions too
        for key, value in node.attr.items():
            # Size first: the bytes of a large constant would be copied.
            mark = (key, value.SerializeToString() if value.ByteSize() <= _MOST_BYTES else b"")
            if mark not in known or not mark[1]:
                known[mark] = tuple((found[field], found[field].code(text)) for field, text in _words(key, value))
            for collector, code in known[mark]:
                collector.items.append(item)
                collector.texts.append(code)
    return {field: collector.column(field) for field, collector in found.items()}


def _words(key: str, value: Any) -> Iterable[tuple[str, str]]:
    """(field, text) of one attribute."""
    kind = value.WhichOneof("value")
    if kind == "tensor":
        yield "shape", shape_text(value.tensor.tensor_shape)
        if text := _value_text(value.tensor):
            yield "value", text
        return
    if key == _OUTPUT_SHAPES:
        yield from (("shape", shape_text(shape)) for shape in value.list.shape[:SMALL])
        return
    if key == _COLOCATION:
        yield "colocation", f"{key}={_attribute_text(kind, value)}"
        return
    if kind == "shape" and key == "shape":
        yield "shape", shape_text(value.shape)
    if kind == "type":
        yield "dtype", protos.dtype_name(value.type)
    if kind == "list":
        yield from (("dtype", protos.dtype_name(one)) for one in dict.fromkeys(value.list.type[:SMALL]))
    yield "attribute", f"{key}={_attribute_text(kind, value)}"


def _attribute_text(kind: str | None, value: Any) -> str:
    if kind == "type":
        text = protos.dtype_name(value.type)
    elif kind == "shape":
        text = shape_text(value.shape)
    elif kind == "s":
        text = _string(value.s)
    elif kind == "func":
        text = value.func.name
    elif kind == "list":
        text = _list_text(value.list)
    else:
        text = str(getattr(value, kind)) if kind else ""
    return text[:_MOST_LETTERS]


def _list_text(values: Any) -> str:
    parts = [protos.dtype_name(one) for one in values.type[:SMALL]] + [_string(one) for one in values.s[:SMALL]]
    parts += [shape_text(one) for one in values.shape[:SMALL]] + [one.name for one in values.func[:SMALL]]
    parts += [str(one) for field in (values.i, values.f, values.b) for one in field[:SMALL]]
    return "[" + ", ".join(parts) + "]"


def _string(raw: bytes) -> str:
    return raw[:_MOST_LETTERS].decode("utf-8", "backslashreplace")


def shape_text(shape: Any) -> str:
    """A TensorShapeProto as ``[?, 28, 28, 1]``; ``?`` for unknown rank."""
    sizes = shape_list(shape)
    return "?" if sizes is None else "[" + ", ".join("?" if size < 0 else str(size) for size in sizes[:SMALL]) + "]"


def _value_text(tensor: Any) -> str:
    """The values of a small tensor, empty for others."""
    sizes = shape_list(tensor.tensor_shape)
    if sizes is None or -1 in sizes or not fits_numpy(sizes) or int(np.prod(sizes, dtype=object)) > SMALL:
        return ""
    if tensor.ByteSize() > _MOST_BYTES:
        return ""
    try:
        values = tensor_value(tensor).ravel().tolist()
    except TensorError:
        return ""
    return ", ".join(_string(one) if isinstance(one, bytes) else _number(one) for one in values)[:_MOST_LETTERS]


def _number(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)
