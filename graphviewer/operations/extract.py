"""Keep only what the chosen outputs need.

Everything that the outputs do not depend on goes away: gradients, optimizer, saver, summaries, other towers, and
functions that nothing calls any more. What stays keeps its name, attributes and order, so the diff of this operation
holds removals only. Variables stay variables; to put their values in, freeze instead. A saver stays where it alone
knows under which keys a checkpoint has these variables: moving averages, partitions, SavedModels of TF2. Chosen inputs
become placeholders, and what fed them goes.

TensorFlow's extract_sub_graph does the same, but also keeps what kept nodes are merely colocated with, never prunes the
function library, and takes quadratic time.
"""

from collections.abc import Sequence

from graphviewer.model.document import Document
from graphviewer.model.names import Endpoint
from graphviewer.model.progress import Progress
from graphviewer.operations.cutting import fed_names, output_names, placeholder_origins, unused_inputs
from graphviewer.operations.endpoints import require_outputs
from graphviewer.operations.registry import INPUTS, OUTPUTS, Result, Rewrite, operation
from graphviewer.operations.savers import select_with_savers
from graphviewer.operations.selection import assemble, provenance_of
from graphviewer.operations.sources import source_warnings


@operation(id="extract", label="Extract inference graph", parameters=(OUTPUTS, INPUTS))
def extract(
    document: Document, *, outputs: Sequence[Endpoint], inputs: Sequence[Endpoint] = (), progress: Progress
) -> Result:
    """Keep exactly the nodes that ``outputs`` depend on, control inputs included, stopping at ``inputs``.

    Raises:
        OperationError: an endpoint cannot be an output or an input, or a damaged node is needed.
    """
    require_outputs(document, outputs)
    progress(0.0, "Tracing what the outputs need")
    selection = select_with_savers(document, outputs, inputs)
    progress(0.4, "Writing the graph")
    origins = placeholder_origins(selection)
    return Result(
        assemble(selection),
        provenance_of(selection, origins),
        warnings=(*unused_inputs(selection, inputs), *source_warnings(selection)),
        rewrites=tuple(Rewrite(name, origin.rule, origin.reason) for name, origin in origins.items()),
        outputs=output_names(selection, outputs),
        inputs=fed_names(selection, inputs),
    )
