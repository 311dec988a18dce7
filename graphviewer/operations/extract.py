"""Keep only what the chosen outputs need.

Everything that the outputs do not depend on goes away: gradients, optimizer, saver, summaries, other towers, and
functions that nothing calls any more. What stays keeps its name, attributes and order, so the diff of this operation
holds removals only. Variables stay variables; to put their values in, freeze instead. A saver stays where it alone
knows under which keys a checkpoint has these variables: moving averages, partitions; of a TF2 SavedModel's restore
function, the part for these variables. Chosen inputs become placeholders, and what fed them goes.

TensorFlow's extract_sub_graph does the same, but also keeps what kept nodes are merely colocated with, never prunes the
function library, and takes quadratic time.
"""

from collections.abc import Iterator, Sequence

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
    result = assemble(selection)
    rewrites = [Rewrite(name, origin.rule, origin.reason) for name, origin in origins.items()]
    return Result(
        result,
        provenance_of(selection, origins),
        warnings=(*unused_inputs(selection, inputs), *source_warnings(selection)),
        rewrites=(*rewrites, *_function_rewrites(document, result)),
        outputs=output_names(selection, outputs),
        inputs=fed_names(selection, inputs),
    )


def _function_rewrites(before: Document, after: Document) -> Iterator[Rewrite]:
    """What became of the functions that are gone, or restore fewer variables."""
    for name, function in before.functions.items():
        if name not in after.functions:
            yield Rewrite(name, "function removed", "nothing that stays calls it")
        elif len(after.functions[name].signature.input_arg) < len(function.signature.input_arg):
            yield Rewrite(name, "function shortened", "it restores only the variables that stay, whose keys it knows")
