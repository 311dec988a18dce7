"""Which nodes are likely the outputs and inputs of a network, and which can not be.

A signature decides where the file has one; else the forward pass does: where it ends, how much of the weights lies
above, what comes before the first weight. Names count a little.
"""

from collections.abc import Sequence

from graphviewer.analysis import ops
from graphviewer.analysis.candidates import Suggestion
from graphviewer.analysis.candidates.inputs import Inputs
from graphviewer.analysis.candidates.outputs import Outputs
from graphviewer.analysis.roles import Roles
from graphviewer.analysis.roles.facts import Facts
from graphviewer.model.document import Document
from graphviewer.model.names import Endpoint
from graphviewer.model.overlay import Overlay

__all__ = ["Suggestion", "refuse_output", "suggest_inputs", "suggest_outputs", "warn_output"]

REFUSED_ROLES = {
    "save_restore": "it belongs to saving and restoring checkpoints",
    "initializer": "it only gives variables their first values",
}


def suggest_outputs(document: Document, limit: int = 10) -> list[Suggestion]:
    """The likeliest outputs, best first, up to ``limit``; all eligible nodes where there are fewer."""
    return Outputs(Roles(document)).suggestions(limit)


def suggest_inputs(document: Document, outputs: Sequence[Endpoint], limit: int = 10) -> list[Suggestion]:
    """The likeliest inputs for the chosen outputs, best first, up to ``limit``."""
    return Inputs(Roles(document), outputs).suggestions(limit)


def refuse_output(document: Document, endpoint: Endpoint, roles: Overlay | None = None) -> str | None:
    """Why a node can not be an output, as the end of a sentence; None for one that can.

    Args:
        roles: the document's roles for any outputs, where the caller has them already.
    """
    number = document.graph.index[endpoint.node]
    node = document.node(number)
    count = ops.output_count(node)
    if ops.is_variable_write(node.op):
        return f"it changes a variable (op {node.op})"
    if count == 0:
        return f"it gives no value (op {node.op})"
    if count is not None and endpoint.port >= count:
        return f"it has no output {endpoint.port}: op {node.op} gives {count} here"
    if node.op == "VarHandleOp":
        return "it is the handle of a variable, not its value; choose a node that reads it"
    if ops.inside_loops(document.graph)[number]:
        return "it lies inside a loop, where a value is computed anew in every iteration; choose the loop's Exit"
    role = (roles or Roles(document).overlay(())).category(number)
    return REFUSED_ROLES.get(role or "")


def warn_output(document: Document, endpoint: Endpoint) -> str | None:
    """A warning for an output that depends on no input; None for one that does."""
    number = document.graph.index[endpoint.node]
    facts = Facts(document)
    if facts.from_source[number] or not facts.sources.any():
        return None
    return f"'{endpoint}' depends on no input: it gives the same value whatever is fed."
