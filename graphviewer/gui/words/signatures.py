"""The signatures of a document in words, and the endpoints that each one means."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, NamedTuple

from graphviewer import protos
from graphviewer.gui.words.texts import escaped, link, shape_text
from graphviewer.model.document import Document
from graphviewer.model.names import Endpoint, parse_input

MOST = 40
"""Signatures, and tensors of one, that are listed."""

_DEFAULT = "serving_default"


class Named(NamedTuple):
    """A tensor of a signature under the name that callers use.

    Attributes:
        text: dtype and shape.
    """

    name: str
    endpoint: Endpoint
    text: str


class Signature(NamedTuple):
    """One way to call a model."""

    key: str
    inputs: tuple[Named, ...]
    outputs: tuple[Named, ...]

    @property
    def line(self) -> str:
        """``images, keep_prob → scores``."""
        given, got = (", ".join(one.name for one in side) for side in (self.inputs, self.outputs))
        return f"{given or 'nothing'} → {got or 'nothing'}"


def signatures_of(document: Document) -> tuple[Signature, ...]:
    """The first signatures of a document, the default one in front; without TensorFlow's own (``__init_op``)."""
    keys = sorted(
        (key for key in document.signatures if not key.startswith("__")), key=lambda key: (key != _DEFAULT, key)
    )
    return tuple(_signature(key, document.signatures[key]) for key in keys[:MOST])


def _signature(key: str, message: Any) -> Signature:
    return Signature(key, *(tuple(islice(_named(side), MOST)) for side in (message.inputs, message.outputs)))


def _named(tensors: Mapping[str, Any]) -> Iterator[Named]:
    for name in sorted(tensors):
        info = tensors[name]
        text = f"{protos.dtype_name(info.dtype)} {shape_text(info.tensor_shape)}"
        for tensor in _tensor_names(info):
            node, port = parse_input(tensor)
            yield Named(name, Endpoint(node, max(port, 0)), text)


def _tensor_names(info: Any) -> list[str]:
    """A tensor's name; those of the parts of a sparse or composite one."""
    kind = info.WhichOneof("encoding")
    if kind == "coo_sparse":
        parts = info.coo_sparse
        return [parts.values_tensor_name, parts.indices_tensor_name, parts.dense_shape_tensor_name]
    if kind == "composite_tensor":
        return [one.name for one in info.composite_tensor.components if one.WhichOneof("encoding") == "name"]
    return [info.name] if info.name else []


def describe_signatures(document: Document) -> str:
    """Every signature with its inputs and outputs; its heading is a link that chooses them."""
    found = signatures_of(document)
    if not found:
        return ""
    parts = [f"<h4>Signatures ({len(found):,})</h4>"]
    for one in found:
        parts.append(f"<p><b>{escaped(one.key)}</b> &nbsp;{link('signature', one.key, 'choose')}</p>")
        rows = [*_rows("in", one.inputs), *_rows("out", one.outputs)]
        parts.append(f"<table>{''.join(rows)}</table>")
    return "".join(parts)


def _rows(side: str, tensors: tuple[Named, ...]) -> Iterator[str]:
    for one in tensors:
        yield (
            f"<tr><td class='key'>{side}</td><td>{link('node', one.endpoint.node, one.name)}</td>"
            f"<td class='key'>{escaped(one.text)}</td></tr>"
        )
