"""Which scopes of a document are open when it is first shown."""

from __future__ import annotations

import re
from collections.abc import Iterator

from graphviewer.layout.nested import initial_open
from graphviewer.model.bodies import LIBRARY, Unfolded
from graphviewer.model.document import Document
from graphviewer.model.names import parse_input

_OF_TRAINING = re.compile(r"(^|/)(gradients|save)(_\d+)?$")  # names that tf.gradients and Saver choose by themselves


def first_open(document: Document) -> frozenset[int]:
    """The items of ``document.unfolded.scopes`` to open: the largest scopes, and the call that holds the network.

    Scopes that TensorFlow makes for gradients and savers stay closed: who opens a graph looks for the network.

    A SavedModel of TensorFlow 2 has its network in the function behind its signatures, while the calls that save and
    restore are the largest: these stay closed, and the call of the default signature is opened as if it were a graph.
    """
    scopes = document.unfolded.scopes
    kept = {item for path, item in scopes.by_path.items() if _OF_TRAINING.search(path)}
    if not document.functions:
        return initial_open(scopes, closed=kept)
    kept |= {scopes.by_path.get(path, -1) for path in (LIBRARY, *_checkpoint_calls(document))}
    opened, item = initial_open(scopes, closed=kept), network_scope(document)
    if item is None:
        return opened
    return opened | {*scopes.ancestors(item)} | initial_open(scopes, within=item, closed=kept)


def network_scope(document: Document) -> int | None:
    """The item of ``document.unfolded.scopes`` that is the call behind the default signature, or the largest of all.

    None where no signature's output comes out of a call.
    """
    shown = document.unfolded
    if not isinstance(shown, Unfolded):
        return None
    scopes, found = shown.scopes, []
    for key, signature in document.signatures.items():
        nodes = (shown.graph.index.get(parse_input(tensor.name)[0], -1) for tensor in signature.outputs.values())
        items = [int(scopes.parent[scopes.leaf[node]]) for node in nodes if node in shown.calls]
        found += [(key == "serving_default", int(scopes.size[item]), -item) for item in items]
    return -max(found)[2] if found else None


def _checkpoint_calls(document: Document) -> Iterator[str]:
    if document.saver is not None:
        for text in (document.saver.save_tensor_name, document.saver.restore_op_name):
            yield parse_input(text)[0]
