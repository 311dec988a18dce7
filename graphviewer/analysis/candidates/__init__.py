"""What output and input candidates have in common."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from graphviewer.analysis.roles.facts import Facts
from graphviewer.analysis.suggestion import Suggestion
from graphviewer.model.graph import Mask
from graphviewer.model.names import Endpoint

WEIGHT_BYTES = 256
"""A constant of more bytes counts as a weight in a graph without variables."""


@dataclass
class Candidate:
    """A suggestion in the making; ``node`` is a number."""

    node: int
    port: int = 0
    score: float = 0.0
    reasons: list[str] = field(default_factory=list)

    def add(self, score: float, reason: str = "") -> None:
        """Raise or lower the score, and say why."""
        self.score += score
        if reason:
            self.reasons.append(reason)

    def suggestion(self, name: str) -> Suggestion:
        """As users see it."""
        reason = "; ".join(self.reasons)
        return Suggestion(str(Endpoint(name, self.port)), round(float(self.score), 2), reason[:1].upper() + reason[1:])


def big_constants(facts: Facts) -> Mask:
    """bool [n]: constants big enough to be weights, also those whose content was left in the file."""
    payloads = facts.document.payloads
    left = payloads.by_node if payloads is not None else {}
    constants = np.flatnonzero(facts.family({"Const"})).tolist()
    return facts.mask(node for node in constants if node in left or _is_big(facts.document.node(node)))


def _is_big(node: Any) -> bool:
    if "value" not in node.attr:
        return False
    tensor = node.attr["value"].tensor
    return len(tensor.tensor_content) > WEIGHT_BYTES or len(tensor.float_val) > WEIGHT_BYTES // 4
