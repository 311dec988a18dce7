"""What the chosen outputs need."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from graphviewer.analysis import ops
from graphviewer.analysis.roles.facts import Facts
from graphviewer.model.graph import Mask
from graphviewer.model.names import Endpoint


def needed(facts: Facts, outputs: Sequence[Endpoint], inputs: Sequence[Endpoint], pipeline: Mask) -> Mask:
    """bool [n]: nodes that ``outputs`` depend on, looked at up to ``inputs``.

    Control edges count, but for those that only wait for a variable write or a check (batch norm updates and asserts
    that training hangs on its outputs): a frozen graph has neither. An input pipeline gives its data without being
    fed, so the walk stops there too and leaves it out, unless an output lies inside it.

    Args:
        pipeline: bool [n], nodes of input pipelines.
    """
    graph = facts.graph
    keep = ~(graph.control & facts.effect_only[graph.src])
    columns = {name: getattr(graph, name)[keep] for name in ("src", "dst", "port", "slot")}
    carrying = replace(graph, **columns)
    ends = facts.named(endpoint.node for endpoint in outputs)
    chosen = facts.named(endpoint.node for endpoint in inputs)
    sources = facts.family(ops.is_pipeline_source) & ~ends & ~chosen
    stop = np.flatnonzero(sources | chosen).tolist()
    found = carrying.ancestors(np.flatnonzero(ends & ~pipeline).tolist(), stop=stop) & ~sources
    inside = carrying.ancestors(np.flatnonzero(ends & pipeline).tolist(), stop=np.flatnonzero(chosen).tolist())
    return np.asarray(found | inside)
