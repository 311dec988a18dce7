"""Remove pass-through nodes, as TensorFlow's remove_training_nodes does; gradients and optimizer stay.

In spite of its name, that function removes no gradients, no optimizer, no saver and no summaries: only CheckNumerics,
and Identity and StopGradient nodes that no control edge touches and nothing is colocated with. To get the inference
graph, use extract.

Mended here: a CheckNumerics whose value is used passes its input on instead of leaving a hole; inputs written ``i:0``
follow too; the function library and the versions stay; outputs and signature tensors are protected.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from graphviewer import protos
from graphviewer.analysis.control_flow import waits_without_use
from graphviewer.model.document import Document
from graphviewer.model.graph import Mask
from graphviewer.model.names import CONTROL_PORT, Endpoint, parse_input
from graphviewer.model.nodes import COLOCATION
from graphviewer.model.progress import Progress
from graphviewer.model.provenance import Origin, Provenance, Removal
from graphviewer.operations.draft import chain_ends, require_unique_names, signature_nodes
from graphviewer.operations.metadata import pruned_meta
from graphviewer.operations.registry import OUTPUTS, Result, operation
from graphviewer.operations.selection import fix_colocation

_PASS_THROUGH = frozenset({"Identity", "StopGradient"})
_CHUNK = 2_000


@operation(
    id="remove-training-nodes",
    label="Remove pass-through nodes",
    parameters=(replace(OUTPUTS, doc="Nodes that must stay.", required=False),),
)
def remove_training_nodes(document: Document, *, outputs: Sequence[Endpoint] = (), progress: Progress) -> Result:
    """Splice CheckNumerics, Identity and StopGradient nodes out of the whole graph.

    Source: tensorflow/python/framework/graph_util_impl.py, ``remove_training_nodes``.

    Raises:
        OperationError: several nodes share a name, so that their inputs cannot be told apart.
    """
    graph = document.graph
    require_unique_names(document)
    progress(0.0, "Looking for pass-through nodes")
    target = _targets(document, {name for name, _ in outputs} | set(signature_nodes(document)))
    removed = np.zeros(len(graph), bool)
    removed[list(target)] = True
    after = _copy_without(document, removed, target, progress)
    names = {node.name for node in after.node}
    return Result(
        document.with_graph(
            after, meta=pruned_meta(document.meta, graph.index.keys(), names), **_payloads(document, removed)
        ),
        _provenance(document, target),
        warnings=("Gradients, optimizer, saver and summaries stay; to remove them, extract the inference graph.",),
        outputs=tuple(map(str, outputs)),
    )


def _targets(document: Document, protected: set[str]) -> dict[int, str]:
    """By node that goes: the input that its consumers read instead, as written, chains of such nodes followed."""
    graph = document.graph
    names, ops = graph.names, graph.ops
    checks = graph.of_ops({"CheckNumerics"})
    checks &= np.fromiter((name not in protected for name in names), bool, len(graph))
    ties = graph.control & checks[graph.src] & ~waits_without_use(graph, checks)
    checks[graph.src[ties]] = False
    bound = _touched_by_control(document, checks) | _colocated_with(document, checks)
    candidates = [
        number
        for number in range(len(graph))
        if checks[number] or (ops[number] in _PASS_THROUGH and not bound[number] and names[number] not in protected)
    ]
    first = {}
    for number in candidates:
        inputs = document.node(number).input
        if inputs and not inputs[0].startswith("^"):
            first[names[number]] = inputs[0]
    return {graph.index[name]: text for name, text in chain_ends(first).items()}


def _touched_by_control(document: Document, checks: Mask) -> Mask:
    """bool [n]: ends of control edges, those from or into removed checks left out."""
    graph = document.graph
    edges = graph.control & ~checks[graph.src] & ~checks[graph.dst]
    touched = np.zeros(len(graph), bool)
    touched[graph.src[edges]] = True
    touched[graph.dst[edges]] = True
    return touched


def _colocated_with(document: Document, checks: Mask) -> Mask:
    """bool [n]: a node that stays names this one in its ``_class``."""
    found = np.zeros(len(document.graph), bool)
    index = document.graph.index
    for number, node in enumerate(document.graph_def.node):
        if not checks[number] and "_class" in node.attr:
            for entry in node.attr["_class"].list.s:
                other = index.get(entry.removeprefix(COLOCATION).decode("utf-8", "replace"), -1)
                if other >= 0:
                    found[other] = True
    return found


def _copy_without(document: Document, removed: Mask, target: dict[int, str], progress: Progress) -> Any:
    """The graph without the removed nodes; only nodes that read one get new inputs."""
    graph = document.graph
    reads = np.zeros(len(graph), bool)
    reads[graph.dst[removed[graph.src]]] = True
    after = protos.GraphDef()
    after.versions.CopyFrom(document.graph_def.versions)
    after.library.CopyFrom(document.graph_def.library)
    names = {graph.names[number] for number in np.flatnonzero(~removed).tolist()}
    for number, node in enumerate(document.graph_def.node):
        if number % _CHUNK == 0:
            progress(0.2 + 0.8 * number / len(graph), "Writing the graph")
        if removed[number]:
            continue
        copy = after.node.add()
        copy.CopyFrom(node)
        if reads[number]:
            copy.input[:] = _inputs(node, graph.index, target)
        if "_class" in node.attr:
            fix_colocation(copy, names)
    return after


def _inputs(node: Any, index: dict[str, int], target: dict[int, str]) -> list[str]:
    kept = []
    for text in node.input:
        name, port = parse_input(text)
        goes = index.get(name, -1) in target
        if goes and port == CONTROL_PORT:
            continue  # only a removed check: other pass-through nodes with control edges stay
        kept.append(target[index[name]] if goes else text)
    return kept


def _payloads(document: Document, removed: Mask) -> dict[str, Any]:
    """Constants left in the file, under the node numbers of the result."""
    if document.payloads is None:
        return {}
    place = np.cumsum(~removed) - 1
    moved = {
        int(place[number]): payload for number, payload in document.payloads.by_node.items() if not removed[number]
    }
    return {"payloads": replace(document.payloads, by_node=moved)}


def _provenance(document: Document, target: dict[int, str]) -> Provenance:
    names, ops = document.graph.names, document.graph.ops
    removals = {
        names[number]: Removal("spliced", f"{ops[number]} passes its input on; what read it reads '{text}' now")
        for number, text in target.items()
    }
    return Provenance(dict[str, Origin](), removals)
