"""Which nodes are likely the outputs and inputs of a network, and which can not be.

A signature decides where the file has one; else the forward pass does: where it ends, how much of the weights lies
above, what comes before the first weight. Names count a little.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from graphviewer.analysis.candidates.inputs import Inputs
from graphviewer.analysis.candidates.outputs import Outputs
from graphviewer.analysis.refusals import refuse_output
from graphviewer.analysis.roles import Roles
from graphviewer.analysis.roles.facts import Facts
from graphviewer.analysis.suggestion import Suggestion
from graphviewer.errors import NoOutputError
from graphviewer.model.document import Document
from graphviewer.model.endpoints import DEFAULT, signed
from graphviewer.model.names import Endpoint

RIVAL = 2.5
"""Two ends whose scores differ by no more are as likely: a telling name alone makes 2."""

_MOST_TOLD = 10
"""Names in one sentence."""


def suggest_outputs(document: Document, limit: int = 10) -> list[Suggestion]:
    """The likeliest outputs, best first, up to ``limit``; all eligible nodes where there are fewer."""
    return Outputs(Roles(document)).suggestions(limit)


def suggest_inputs(document: Document, outputs: Sequence[Endpoint], limit: int = 10) -> list[Suggestion]:
    """The likeliest inputs for the chosen outputs, best first, up to ``limit``."""
    return Inputs(Roles(document), outputs).suggestions(limit)


class Taken(NamedTuple):
    """The outputs that count where nobody names one, and the sentence that says so."""

    outputs: tuple[Endpoint, ...]
    text: str


def take_outputs(document: Document, ranked: Sequence[Suggestion] | None = None) -> Taken:
    """All outputs of the signature that is meant; without signatures the best suggestion, with all results of its call.

    Args:
        ranked: what ``suggest_outputs`` found, if that is known already.

    Raises:
        NoOutputError: no output suggests itself.
    """
    ranked = suggest_outputs(document) if ranked is None else ranked
    if not ranked:
        raise NoOutputError
    signed = _signed_outputs(document)
    best = str(ranked[0].endpoint)
    chosen = next((name for name, keys in signed.items() if name == DEFAULT or best in keys.values()), None)
    if chosen is None:
        return _ends_taken(document, ranked)
    others = [name for name in signed if name != chosen] if chosen != DEFAULT else []
    return _signature_taken(chosen, signed[chosen], others)


def _signed_outputs(document: Document) -> dict[str, dict[str, str]]:
    """By signature, the default one first: by key the tensors that can be outputs."""
    found: dict[str, dict[str, str]] = {}
    for signature, key, endpoint in signed(document, "outputs"):
        if refuse_output(document, endpoint) is None:
            found.setdefault(signature, {})[key] = str(endpoint)
    return found


def _signature_taken(signature: str, keys: Mapping[str, str], others: Sequence[str]) -> Taken:
    names = list(dict.fromkeys(keys.values()))
    told = ", ".join(f"'{tensor}' ({key})" for key, tensor in list(keys.items())[:_MOST_TOLD])
    more = f" and {len(keys) - _MOST_TOLD} more" if len(keys) > _MOST_TOLD else ""
    taken = f"the {len(names)} outputs of the signature {signature} were taken: {told}{more}."
    if len(names) == 1:
        taken = f"'{names[0]}' was taken: Output of the signature {signature}/{next(iter(keys))}."
    text = f"No output was named; {taken}"
    if others:
        listed = ", ".join(f"'{one}'" for one in others[:_MOST_TOLD])
        text += f" The file has other signatures too: {listed}; name outputs of these with --output."
    return Taken(tuple(map(Endpoint.parse, names)), text)


def _ends_taken(document: Document, ranked: Sequence[Suggestion]) -> Taken:
    best = ranked[0].endpoint
    together = sorted({one.endpoint for one in ranked if one.endpoint.node == best.node})
    if len(together) > 1:
        names = ", ".join(f"'{one}'" for one in together)
        text = f"No output was named; the {len(together)} outputs of one node were taken: {names}: {ranked[0].reason}."
    else:
        text = f"No output was named; '{ranked[0].name}' was taken: {ranked[0].reason}."
    others = [f"'{one.name}'" for one in _rivals(document, ranked)]
    if others:
        be, them = ("is", "it") if len(others) == 1 else ("are", "them")
        text += f" {len(others)} more {be} as likely: {', '.join(others)}; name {them} with --output."
    return Taken(tuple(together), text)


def _rivals(document: Document, ranked: Sequence[Suggestion]) -> list[Suggestion]:
    """Outputs that are as likely as the best one: other ends, neither above it nor below it nor above another end."""
    graph, found = document.graph, list(ranked[:1])
    for one in ranked[1:]:
        node = graph.index[one.endpoint.node]
        if ranked[0].score - one.score > RIVAL:
            break
        ends = [graph.index[known.endpoint.node] for known in found]
        if not graph.ancestors(ends)[node] and not graph.ancestors([node])[ends].any():
            found.append(one)
    return found[1:]


def warn_output(document: Document, endpoint: Endpoint) -> str | None:
    """A warning for an output that depends on no input; None for one that does."""
    number = document.graph.index[endpoint.node]
    facts = Facts(document)
    if facts.from_source[number] or not facts.sources.any():
        return None
    return f"'{endpoint}' depends on no input: it gives the same value whatever is fed."
