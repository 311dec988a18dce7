"""Which scopes of a document are open when it is first shown."""

from __future__ import annotations

from collections.abc import Iterator

from graphviewer.layout.nested import initial_open
from graphviewer.model.bodies import LIBRARY, Unfolded
from graphviewer.model.document import Document
from graphviewer.model.names import parse_input


def first_open(document: Document) -> frozenset[int]:
    """The items of ``document.unfolded.scopes`` to open: the largest scopes, and the call that holds the network.

    A SavedModel of TensorFlow 2 has its network in the function behind its signatures, while the calls that save and
    restore are the largest: these stay closed, and the first signature's call is opened as if it were a graph.
    """
    scopes = document.unfolded.scopes
    if not document.functions:
        return initial_open(scopes)
    kept = {scopes.by_path.get(path, -1) for path in (LIBRARY, *_checkpoint_calls(document))}
    opened, item = initial_open(scopes, closed=kept), network_scope(document)
    if item is None:
        return opened
    return opened | {*scopes.ancestors(item)} | initial_open(scopes, within=item, closed=kept)


def network_scope(document: Document) -> int | None:
    """The item of ``document.unfolded.scopes`` that is the call behind the first signature, where there is one."""
    shown = document.unfolded
    if isinstance(shown, Unfolded):
        for name in _signature_nodes(document):
            node = shown.graph.index.get(name, -1)
            if node in shown.calls:
                return int(shown.scopes.parent[shown.scopes.leaf[node]])
    return None


def _checkpoint_calls(document: Document) -> Iterator[str]:
    if document.saver is not None:
        for text in (document.saver.save_tensor_name, document.saver.restore_op_name):
            yield parse_input(text)[0]


def _signature_nodes(document: Document) -> Iterator[str]:
    """The nodes behind the signatures' outputs, those of the default signature first."""
    for key in sorted(document.signatures, key=lambda key: (key != "serving_default", key)):
        if not key.startswith("__"):
            for tensor in document.signatures[key].outputs.values():
                yield parse_input(tensor.name)[0]
