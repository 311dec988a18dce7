"""Remove device placement from all nodes.

A graph that was built on a machine with other devices (``/job:worker/task:3/device:GPU:1``) runs anywhere afterwards:
TensorFlow places each node anew. Nodes in functions are cleared too. Colocation constraints stay.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from graphviewer.model.document import Document
from graphviewer.model.progress import Progress
from graphviewer.model.provenance import Origin, Provenance
from graphviewer.operations.registry import Result, Rewrite, operation


@operation(id="clear-devices", label="Clear devices", parameters=())
def clear_devices(document: Document, *, progress: Progress) -> Result:
    """Empty the ``device`` of every node, in functions too."""
    progress(0.0, "Clearing devices")
    graph_def = type(document.graph_def)()
    graph_def.CopyFrom(document.graph_def)
    rewrites = list(_cleared(graph_def.node))
    for function in graph_def.library.function:
        prefix = function.signature.name
        rewrites += [one._replace(node=f"{prefix}:{one.node}") for one in _cleared(function.node_def)]
    names = document.graph.index.keys()
    origins = {one.node: Origin(one.node, one.rule, one.reason) for one in rewrites if one.node in names}
    return Result(
        document.with_graph(graph_def, payloads=document.payloads),
        Provenance(origins),
        warnings=() if rewrites else ("No node had a device.",),
        rewrites=tuple(rewrites),
    )


def _cleared(nodes: Iterable[Any]) -> Iterable[Rewrite]:
    for node in nodes:
        if node.device:
            yield Rewrite(node.name, "device cleared", f"was placed on '{node.device}'")
            node.device = ""
