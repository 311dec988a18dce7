"""Which nodes are likely the outputs and inputs of a network, and which can not be.

A signature decides where the file has one; else the forward pass does: where it ends, how much of the weights lies
above, what comes before the first weight. Names count a little.
"""

from collections.abc import Sequence

from graphviewer.analysis.candidates.inputs import Inputs
from graphviewer.analysis.candidates.outputs import Outputs
from graphviewer.analysis.refusals import refuse_output
from graphviewer.analysis.roles import Roles
from graphviewer.analysis.roles.facts import Facts
from graphviewer.analysis.suggestion import Suggestion
from graphviewer.model.document import Document
from graphviewer.model.names import Endpoint

__all__ = ["Suggestion", "refuse_output", "suggest_inputs", "suggest_outputs", "warn_output"]


def suggest_outputs(document: Document, limit: int = 10) -> list[Suggestion]:
    """The likeliest outputs, best first, up to ``limit``; all eligible nodes where there are fewer."""
    return Outputs(Roles(document)).suggestions(limit)


def suggest_inputs(document: Document, outputs: Sequence[Endpoint], limit: int = 10) -> list[Suggestion]:
    """The likeliest inputs for the chosen outputs, best first, up to ``limit``."""
    return Inputs(Roles(document), outputs).suggestions(limit)


def warn_output(document: Document, endpoint: Endpoint) -> str | None:
    """A warning for an output that depends on no input; None for one that does."""
    number = document.graph.index[endpoint.node]
    facts = Facts(document)
    if facts.from_source[number] or not facts.sources.any():
        return None
    return f"'{endpoint}' depends on no input: it gives the same value whatever is fed."
