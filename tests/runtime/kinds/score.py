"""How well roles and suggestions fit the truth of a kind whose names were taken away."""

from __future__ import annotations

from dataclasses import dataclass

from builders import as_document
from graphs import shuffled

from graphviewer.analysis.endpoints import suggest_outputs
from graphviewer.analysis.roles import classify
from graphviewer.model.document import Document
from graphviewer.model.names import Endpoint
from kinds.registry import Kind, build


@dataclass(frozen=True)
class Score:
    """The figures of one kind.

    Attributes:
        kind: what was built.
        nodes: how many.
        precision: of the nodes called inference, how many are.
        recall: of the nodes that are inference, how many are called so.
        roles: share of nodes with a right role.
        rank: place of the first right output among the suggestions, from 1; 0 where it is not among ten.
        truth: the roles that are right for each node.
        wrong: (name, roles that are right, role found), for tuning.
    """

    kind: Kind
    nodes: int
    precision: float
    recall: float
    roles: float
    rank: int
    truth: tuple[frozenset[str], ...]
    wrong: tuple[tuple[str, str, str], ...]

    def __str__(self) -> str:
        figures = f"{self.precision:9.3f} {self.recall:6.3f} {self.roles:6.3f} {self.rank or '-':>4}"
        return f"{self.kind.name:24} {self.kind.half:8} {self.nodes:5} {figures}"


HEADER = f"{'kind':24} {'half':8} {'nodes':>5} precision recall  roles rank"


def score(kind: Kind, seed: int = 1) -> Score:
    """Build a kind, shuffle names and order away, classify for the right output, and suggest outputs."""
    built = build(kind)
    graph_def, renamed = shuffled(as_document(built.graph).graph_def, seed)
    document = Document("graphdef", graph_def)
    overlay = classify(document, [Endpoint(renamed[built.outputs[0]])])
    index = document.graph.index
    found = {name: overlay.category(index[renamed[name]]) for name in built.truth}
    wrong = {name: role for name, role in found.items() if role not in built.truth[name]}
    called = {name for name, role in found.items() if role == "inference"}
    right = {name for name, roles in built.truth.items() if "inference" in roles}
    suggested = [one.name for one in suggest_outputs(document)]
    ranks = [suggested.index(renamed[name]) + 1 for name in built.outputs if renamed[name] in suggested]
    return Score(
        kind,
        len(found),
        len(called & right) / max(len(called), 1),
        len(called & right) / len(right),
        1 - len(wrong) / len(found),
        min(ranks, default=0),
        tuple(built.truth.values()),
        tuple((name, "|".join(sorted(built.truth[name])), role) for name, role in wrong.items()),
    )
