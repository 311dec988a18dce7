"""Which nodes are likely the outputs and inputs of a network, and which can not be.

A signature decides where the file has one; else the forward pass does: where it ends, how much of the weights lies
above, what comes before the first weight. Names count a little.
"""

from collections.abc import Sequence

from graphviewer.analysis.candidates import signature_endpoints
from graphviewer.analysis.candidates.inputs import Inputs
from graphviewer.analysis.candidates.outputs import Outputs
from graphviewer.analysis.refusals import refuse_output
from graphviewer.analysis.roles import Roles
from graphviewer.analysis.roles.facts import Facts
from graphviewer.analysis.suggestion import Suggestion
from graphviewer.model.document import Document
from graphviewer.model.names import Endpoint, parse_input

__all__ = ["Suggestion", "refuse_output", "suggest_inputs", "suggest_outputs", "taken_text", "warn_output"]

RIVAL = 2.5
"""Two ends whose scores differ by no more are as likely: a telling name alone makes 2."""


def suggest_outputs(document: Document, limit: int = 10) -> list[Suggestion]:
    """The likeliest outputs, best first, up to ``limit``; all eligible nodes where there are fewer."""
    return Outputs(Roles(document)).suggestions(limit)


def suggest_inputs(document: Document, outputs: Sequence[Endpoint], limit: int = 10) -> list[Suggestion]:
    """The likeliest inputs for the chosen outputs, best first, up to ``limit``."""
    return Inputs(Roles(document), outputs).suggestions(limit)


def rivals(document: Document, ranked: Sequence[Suggestion]) -> list[Suggestion]:
    """Outputs that are as likely as the best one: other ends, neither above it nor below it nor above another end.

    Beside an output of a signature, only others of that signature.
    """
    graph, found = document.graph, list(ranked[:1])
    signatures = _signatures(document)
    wanted = signatures.get(ranked[0].name)
    for one in ranked[1:]:
        node = graph.index[parse_input(one.name)[0]]
        if ranked[0].score - one.score > RIVAL:
            break
        if signatures.get(one.name) != wanted:
            continue
        ends = [graph.index[parse_input(known.name)[0]] for known in found]
        if not graph.ancestors(ends)[node] and not graph.ancestors([node])[ends].any():
            found.append(one)
    return found[1:]


def _signatures(document: Document) -> dict[str, str]:
    """By name of a tensor, the first signature that has it as an output."""
    found: dict[str, str] = {}
    for path, port, node in signature_endpoints(document, "outputs"):
        found.setdefault(str(Endpoint(node, port)), path.partition("/")[0])
    return found


def taken_text(document: Document, ranked: Sequence[Suggestion]) -> str:
    """What to say where nobody named an output and the best suggestion was taken.

    Args:
        ranked: at least one suggestion, best first.
    """
    text = f"No output was named; '{ranked[0].name}' was taken: {ranked[0].reason}."
    others = rivals(document, ranked)
    if not others:
        return text
    names = ", ".join(f"'{one.name}'" for one in others)
    be = "is" if len(others) == 1 else "are"
    return f"{text} {len(others)} more {be} as likely: {names}; name {'it' if be == 'is' else 'them'} with --output."


def warn_output(document: Document, endpoint: Endpoint) -> str | None:
    """A warning for an output that depends on no input; None for one that does."""
    number = document.graph.index[endpoint.node]
    facts = Facts(document)
    if facts.from_source[number] or not facts.sources.any():
        return None
    return f"'{endpoint}' depends on no input: it gives the same value whatever is fed."
