"""Replace an input pipeline by placeholders.

The chosen tensors become placeholders that are fed; each has its own dtype and shape. Cutting a node with several
outputs (IteratorGetNext, QueueDequeueMany, ReaderRead) makes one placeholder per output that is read. What only fed
the cut tensors goes away. With outputs named, all that they do not need goes away too, as in extract.

TensorFlow's strip_unused gives all placeholders one dtype and drops their shapes.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from graphviewer.errors import OperationError
from graphviewer.model.document import Document
from graphviewer.model.names import Endpoint
from graphviewer.model.progress import Progress
from graphviewer.operations.cutting import fed_names, output_names, placeholder_origins, select_fed, unused_inputs
from graphviewer.operations.endpoints import require_outputs
from graphviewer.operations.registry import INPUTS, OUTPUTS, Result, Rewrite, operation
from graphviewer.operations.savers import select_with_savers
from graphviewer.operations.selection import assemble, provenance_of


@operation(
    id="cut-inputs",
    label="Cut inputs to placeholders",
    parameters=(replace(INPUTS, required=True), replace(OUTPUTS, required=False)),
)
def cut_inputs(
    document: Document, *, outputs: Sequence[Endpoint] = (), inputs: Sequence[Endpoint], progress: Progress
) -> Result:
    """Make ``inputs`` placeholders; keep what ``outputs`` need, or, without outputs, all but what only fed the inputs.

    Raises:
        OperationError: no inputs, an endpoint cannot be an output or an input, or a damaged node is needed.
    """
    if not inputs:
        raise OperationError("No input was named.", "Name the tensors to feed, with --input.")
    if outputs:
        require_outputs(document, outputs)
    progress(0.0, "Tracing what the inputs cut off")
    if outputs:
        selection = select_with_savers(document, outputs, inputs)
    else:
        selection = select_fed(document, _other_ends(document, inputs), inputs)
    progress(0.4, "Writing the graph")
    origins = placeholder_origins(selection)
    return Result(
        assemble(selection),
        provenance_of(replace(selection, outputs=tuple(outputs)), origins),
        warnings=tuple(unused_inputs(selection, inputs)),
        rewrites=tuple(Rewrite(name, origin.rule, origin.reason) for name, origin in origins.items()),
        outputs=output_names(selection, outputs),
        inputs=fed_names(selection, inputs),
    )


def _other_ends(document: Document, inputs: Sequence[Endpoint]) -> tuple[Endpoint, ...]:
    """Every node that the inputs are not computed from, and the ends of those that they are."""
    graph = document.graph
    behind = graph.ancestors(graph.index[name] for name, _ in inputs)
    read = np.zeros(len(graph), bool)
    read[graph.src] = True
    cut = [graph.index[name] for name, _ in inputs]
    ends = ~behind | ~read
    ends[cut] = True
    return tuple(Endpoint(graph.names[number]) for number in np.flatnonzero(ends).tolist())
