"""Replace an input pipeline by placeholders.

The chosen tensors become placeholders that are fed; each has its own dtype and shape. Cutting a node with several
outputs (IteratorGetNext, QueueDequeueMany, ReaderRead) makes one placeholder per output that is read. What only fed
the cut tensors goes away. With outputs named, all that they do not need goes away too, as in extract. Without inputs
named, the end of the one input pipeline is cut.

TensorFlow's strip_unused gives all placeholders one dtype and drops their shapes.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from graphviewer.analysis.ops import is_pipeline_output
from graphviewer.analysis.suggestion import Suggestion
from graphviewer.errors import OperationError
from graphviewer.model.document import Document
from graphviewer.model.names import CONTROL_PORT, Endpoint
from graphviewer.model.progress import Progress
from graphviewer.operations.cutting import fed_names, output_names, placeholder_origins, select_fed, unused_inputs
from graphviewer.operations.endpoints import require_outputs
from graphviewer.operations.registry import INPUTS, OUTPUTS, Result, Rewrite, operation
from graphviewer.operations.savers import select_with_savers
from graphviewer.operations.selection import assemble, join, provenance_of

_MOST_LISTED = 10
"""Candidates in one refusal."""


@operation(
    id="cut-inputs",
    label="Cut inputs to placeholders",
    parameters=(
        replace(INPUTS, required=True, doc=f"{INPUTS.doc} By default where the one input pipeline ends."),
        replace(OUTPUTS, required=False),
    ),
)
def cut_inputs(
    document: Document, *, outputs: Sequence[Endpoint] = (), inputs: Sequence[Endpoint], progress: Progress
) -> Result:
    """Make ``inputs`` placeholders; keep what ``outputs`` need, or, without outputs, all but what only fed the inputs.

    Raises:
        OperationError: no inputs and no one pipeline to cut, an endpoint cannot be an output or an input, or a damaged
            node is needed.
    """
    if outputs:
        require_outputs(document, outputs)
    told = ""
    if not inputs:
        inputs, told = _pipeline_end(document, outputs)
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
        warnings=(*filter(None, [told]), *unused_inputs(selection, inputs)),
        rewrites=tuple(Rewrite(name, origin.rule, origin.reason) for name, origin in origins.items()),
        outputs=output_names(selection, outputs),
        inputs=fed_names(selection, inputs),
    )


def _pipeline_end(document: Document, outputs: Sequence[Endpoint]) -> tuple[tuple[Endpoint, ...], str]:
    """The tensors at which the one pipeline ends that the outputs depend on, and the sentence that says so.

    Args:
        outputs: where none was named, those that suggest themselves; what else reads the pipeline is cut off it too.

    Raises:
        OperationError: there is no such pipeline, or there are several.
        NoOutputError: no output was named, and none suggests itself.
    """
    from graphviewer.analysis.endpoints import suggest_inputs, take_outputs

    graph = document.graph
    found = suggest_inputs(document, outputs or take_outputs(document).outputs, limit=len(graph))
    named = {one.endpoint: one for one in found}
    sources = {end: graph.index[end.node] for end in named if is_pipeline_output(graph.ops[graph.index[end.node]])}
    above = graph.ancestors(one for number in set(sources.values()) for one in graph.inputs(number))
    last = sorted({number for number in sources.values() if not above[number]})
    if len(last) != 1:
        raise _none_clear(found, [graph.names[number] for number in last])
    if outputs:
        ports = {end.port for end, number in sources.items() if number == last[0]}
    else:
        ports = {int(graph.port[edge]) for edge in graph.edges_out_of(last[0])} - {CONTROL_PORT}
    ends = tuple(Endpoint(graph.names[last[0]], port) for port in sorted(ports))
    names = ", ".join(f"'{end}'" for end in ends)
    why = next(named[end].reason for end in ends if end in named)
    return ends, f"No input was named; {names} {'was' if len(ends) == 1 else 'were'} taken: {why}."


def _none_clear(found: Sequence[Suggestion], pipelines: Sequence[str]) -> OperationError:
    """What is said where no input suggests itself for cutting.

    Args:
        found: the likeliest inputs, best first.
        pipelines: the nodes at which pipelines end.
    """
    why = "the outputs read no input pipeline"
    if pipelines:
        why = f"{len(pipelines):,} input pipelines are read: {join(pipelines)}"
    listed = join((f"'{one.name}' ({one.reason})" for one in found), _MOST_LISTED)
    candidates = f" Candidates: {listed}." if listed else ""
    return OperationError(
        f"No input was named, and {why}.",
        f"Name the tensors to feed.{candidates}",
        shell=f"Name the tensors to feed, with --input.{candidates}",
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
