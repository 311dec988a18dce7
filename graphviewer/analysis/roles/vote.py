"""Roles of the nodes that no rule knows: their consumers decide, then what they wait for, then their scope."""

from __future__ import annotations

from collections import Counter

import numpy as np
from numpy.typing import NDArray

from graphviewer.analysis import ops
from graphviewer.analysis.roles.facts import TRIVIAL_OPS, Facts
from graphviewer.analysis.roles.loss import Forward
from graphviewer.analysis.roles.registry import CODE, ROLES
from graphviewer.model.graph import Mask
from graphviewer.model.overlay import role_label

STRONGEST = (
    *("inference", "training_forward", "loss", "metric", "gradient", "optimizer", "batch_norm_update"),
    *("moving_average", "global_step", "check", "summary", "save_restore", "initializer", "input_pipeline", "unused"),
)
"""Who gets a node that several roles share: the first."""

LOOKING_ON = frozenset({"loss", "gradient", "summary"})
GROUPED_BY = ("optimizer", "gradient")
SCOPE_MAJORITY = 0.8
SCOPES_DEEP = 20
"""Scopes of a node that are looked at; names of files are hostile."""


class Assignment:
    """Role codes and reasons while they are being given; the first role of a node stays.

    Attributes:
        codes: int8 [n], -1 where no role is given yet.
        reasons: [n].
    """

    def __init__(self, facts: Facts) -> None:
        self.facts, self.graph = facts, facts.graph
        self.codes: NDArray[np.int8] = np.full(facts.count, -1, np.int8)
        self.reasons = [""] * facts.count

    def copy(self) -> Assignment:
        """The same roles, to go on from."""
        other = Assignment(self.facts)
        other.codes, other.reasons = self.codes.copy(), self.reasons.copy()
        return other

    @property
    def open(self) -> Mask:
        """bool [n]: nodes without a role."""
        return np.asarray(self.codes < 0)

    def has(self, role: str) -> Mask:
        """bool [n]: nodes of a role."""
        return np.asarray(self.codes == CODE[role])

    def role(self, node: int) -> str:
        """The role of a node that has one."""
        return ROLES[int(self.codes[node])]

    def give(self, nodes: Mask, role: str, reason: str) -> None:
        """Give a role to those of ``nodes`` that have none; ``{op}`` and ``{variable}`` in the reason are filled in."""
        fitting = nodes & self.open
        self.codes[fitting] = CODE[role]
        for node in np.flatnonzero(fitting).tolist():
            self.reasons[node] = self._sentence(reason, node) if "{" in reason else reason

    def give_one(self, node: int, role: str, reason: str) -> None:
        """Give a role to one node if it has none; faster than a mask of one."""
        if self.codes[node] < 0:
            self.codes[node], self.reasons[node] = CODE[role], reason

    def overrule(self, nodes: Mask, role: str, reason: str) -> None:
        """Give a role to ``nodes`` whatever they had."""
        self.codes[nodes] = -1
        self.give(nodes, role, reason)

    def _sentence(self, reason: str, node: int) -> str:
        inputs = self.facts.inputs(node)
        variable = int(self.facts.behind[inputs[0]]) if inputs else -1
        name = self.graph.names[variable] if variable >= 0 else "a variable"
        return reason.replace("{op}", self.graph.ops[node]).replace("{variable}", name)


def by_consumers(given: Assignment, forward: Forward, *, partly: bool = False) -> None:
    """Nodes take the role of what reads them, from the ends of the graph upwards.

    Args:
        partly: decide also where some consumers have no role.
    """
    start, readers = given.facts.consumers
    codes = given.codes.tolist()
    fixed = (given.facts.variables | given.facts.own_reads).tolist()
    leftover = given.facts.leftovers.tolist()
    for node in reversed(given.facts.order):
        if codes[node] >= 0 or fixed[node]:
            continue
        seen = {codes[reader] for reader in readers[start[node] : start[node + 1]] if not leftover[reader]}
        if not seen or (-1 in seen and not partly) or seen == {-1}:
            continue
        role, reason = _elect(forward, node, {ROLES[code] for code in seen if code >= 0}, undecided=-1 in seen)
        codes[node] = given.codes[node] = CODE[role]
        given.reasons[node] = reason


def _elect(forward: Forward, node: int, roles: set[str], *, undecided: bool) -> tuple[str, str]:
    """The role of a node from the roles of all that reads it; some readers may be ``undecided``."""
    if roles == {"inference"}:
        return "input_pipeline", "Comes before the chosen inputs."
    strongest = min(roles, key=STRONGEST.index)
    shared = ", ".join(role_label(role) for role in sorted(roles, key=STRONGEST.index))
    if forward.reached[node]:
        computes = roles & {"training_forward", "inference"} or {"batch_norm_update", "gradient"} <= roles
        judged = roles <= {"loss", "summary"} and forward.layers[node]
        several = undecided or len(roles) > 1
        looked_at = several and roles <= LOOKING_ON and bool(forward.facts.from_source[node])
        if computes or judged or looked_at:
            return "training_forward", f"Forward pass of the training; used by {shared} nodes."
    if len(roles) == 1:
        return strongest, f"Only {shared} nodes use it."
    return strongest, f"Shared by {shared} nodes."


def by_control(given: Assignment) -> None:
    """Groups take the role of what they group, other nodes that of what waits for them."""
    for _ in range(2):  # groups of groups
        _groups(given)
    _waited_for(given)


def _groups(given: Assignment) -> None:
    facts = given.facts
    grouping = facts.family({"ControlTrigger", "NoOp"}) | (facts.effect_only & ~facts.ends)
    fitting = grouping & given.open & (facts.readers() == 0)
    src, dst = facts.control
    edges = fitting[dst] & ~given.open[src]
    pairs, counts = np.unique(dst[edges] * np.int64(len(ROLES)) + given.codes[src[edges]], return_counts=True)
    votes: dict[int, dict[int, int]] = {}
    for pair, count in zip(pairs.tolist(), counts.tolist(), strict=True):
        votes.setdefault(pair // len(ROLES), {})[pair % len(ROLES)] = count
    for node, found in votes.items():
        role = next(
            (role for role in GROUPED_BY if CODE[role] in found), ROLES[max(found, key=lambda code: found[code])]
        )
        role = "training_forward" if role == "inference" else role
        given.give_one(node, role, f"Groups {role_label(role)} nodes.")


def _waited_for(given: Assignment) -> None:
    facts = given.facts
    fitting = given.open & ~facts.variables & (facts.readers() == 0)
    src, dst = facts.control
    edges = fitting[src] & ~given.open[dst]
    waiting: dict[int, set[int]] = {}
    for node, code in zip(src[edges].tolist(), given.codes[dst[edges]].tolist(), strict=True):
        waiting.setdefault(node, set()).add(code)
    for node, found in waiting.items():
        role = min((ROLES[code] for code in found), key=STRONGEST.index)
        role = "check" if role == "inference" and facts.effect_only[node] else role
        given.give_one(node, role, f"Only {role_label(role)} nodes wait for it.")


def by_conditional(given: Assignment) -> None:
    """Pivots that nothing reads go with the other users of their condition, mostly ``cond/pred_id``."""
    facts, graph = given.facts, given.graph
    for node in np.flatnonzero(facts.pivots & given.open).tolist():
        switch = node if graph.ops[node] in ops.SWITCH_OPS else facts.inputs(node)[0]
        conditions = facts.inputs(switch)[-1:]
        users = [user for condition in conditions for user in graph.consumers(condition) if given.codes[user] >= 0]
        roles = {given.role(user) for user in users} - {"inference", "unused"}
        if roles:
            role = min(roles, key=STRONGEST.index)
            given.give(facts.mask([node]), role, f"Pivot of a conditional among {role_label(role)} nodes.")


def by_scope(given: Assignment) -> None:
    """Nodes that nothing uses go with the innermost scope around them that nearly has one role of training.

    A scope that is mostly needed for inference keeps them unused. Leftovers that compute nothing (constants, shapes) do
    not count against the majority.
    """
    unused, inference = CODE["unused"], CODE["inference"]
    loose = np.flatnonzero(given.codes == unused).tolist()
    scopes: dict[str, Counter[int]] = {scope: Counter() for node in loose for scope in _scopes(given.graph.names[node])}
    trivial = given.facts.family(TRIVIAL_OPS).tolist()
    outermost = {scope.partition("/")[0] for scope in scopes}
    for name, code, leftover in zip(given.graph.names, given.codes.tolist(), trivial, strict=True):
        if not (code == unused and leftover) and name.partition("/")[0] in outermost:
            for scope in scopes.keys() & _scopes(name):
                scopes[scope][code] += 1
    for node in loose:
        for scope in _scopes(given.graph.names[node]):
            code, count = next(iter(scopes[scope].most_common(1)), (unused, 0))
            if count and count >= SCOPE_MAJORITY * scopes[scope].total() and code != unused:
                if code != inference:
                    given.codes[node] = code
                    given.reasons[node] = f"Nothing uses it; its scope {scope} is {role_label(ROLES[code])}."
                break


def _scopes(name: str) -> list[str]:
    """The scopes around a node, innermost first: ``a/b`` and ``a`` of ``a/b/c``."""
    parts = name.split("/")[:SCOPES_DEEP]
    return ["/".join(parts[:depth]) for depth in range(min(len(parts), SCOPES_DEEP) - 1, 0, -1)]
