"""Endpoints as people name them in a document: by node, or by what its signatures call its inputs and outputs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal

from graphviewer.model.names import Endpoint, parse_input, resolve, resolve_all

if TYPE_CHECKING:
    from graphviewer.model.document import Document

Side = Literal["inputs", "outputs"]

DEFAULT = "serving_default"
"""The signature that is meant where none is named."""


def endpoint_named(document: Document, text: str, side: Side) -> Endpoint:
    """The tensor that one name means.

    Raises:
        UnknownNameError: no node and no key of a signature, or several.
    """
    return resolve(text, document.graph.index, aliases(document, side))


def endpoints_named(document: Document, texts: Iterable[str], side: Side) -> list[Endpoint]:
    """The tensors that repeated and comma-separated names mean, in their order, doubles dropped.

    Args:
        document: with the graph, and its signatures if it has any.
        texts: names of nodes or tensors in any usual spelling, or keys of signatures: ``output_0``,
            ``serving_default/output_0``, ``serving_default:output_0``, and ``Identity``, which is how the function that
            a signature calls names its output. A node of exactly that name comes first.
        side: whose keys count: those of inputs or of outputs.

    Raises:
        UnknownNameError: as ``endpoint_named``, for the first such name.
    """
    return resolve_all(texts, document.graph.index, aliases(document, side))


def aliases(document: Document, side: Side) -> Mapping[str, Mapping[str, Endpoint]]:
    """What signatures call the tensors of one side; by such a name, the tensor for each ``signature/key``.

    A key alone means that of the default signature, where it has it, as for all who serve a model.
    """
    default: dict[str, dict[str, Endpoint]] = {}
    others: dict[str, dict[str, Endpoint]] = {}
    for signature, key, endpoint in signed(document, side):
        whole = f"{signature}/{key}"
        own = [key, whole, f"{signature}:{key}"]
        for name in [*own, *_inside(document, endpoint)] if side == "outputs" else own:
            table = default if signature == DEFAULT else others
            table.setdefault(name, {}).setdefault(whole, endpoint)
    return {**others, **default}


def signed(document: Document, side: Side) -> Iterator[tuple[str, str, Endpoint]]:
    """Signature, key and tensor of all inputs or outputs of signatures that the graph has, in the order of their names;
    the default signature comes first, and TensorFlow's own (``__saved_model_init_op``) are left out.
    """
    index = document.graph.index
    for name, signature in sorted(document.signatures.items(), key=lambda one: (one[0] != DEFAULT, one[0])):
        if name.startswith("__"):
            continue
        for key, tensor in sorted(getattr(signature, side).items()):
            node, port = parse_input(tensor.name)
            if node in index:
                yield name, key, Endpoint(node, max(port, 0))


def _inside(document: Document, endpoint: Endpoint) -> Iterator[str]:
    """The node that gives the tensor inside the function that is called for it, if a function is."""
    node: Any = document.node(document.graph.index[endpoint.node])
    function = document.functions.get(node.attr["f"].func.name) if "f" in node.attr else None
    if function is not None and endpoint.port < len(function.signature.output_arg):
        yield function.ret[function.signature.output_arg[endpoint.port].name].partition(":")[0]
