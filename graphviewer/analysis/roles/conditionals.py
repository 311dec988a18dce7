"""What holds a conditional together whose branches only have effects: it goes with what they change."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from graphviewer.analysis import ops
from graphviewer.analysis.control_flow import inside_branches
from graphviewer.analysis.roles.arithmetic import CONDITIONS
from graphviewer.analysis.roles.facts import NONE, Facts
from graphviewer.analysis.roles.vote import STRONGEST, Assignment
from graphviewer.model.graph import Ints, Mask
from graphviewer.model.overlay import role_label

FIRST = ("optimizer", "batch_norm_update")
"""Whom a branch belongs to that changes several things; others share it."""


def by_branch(given: Assignment) -> None:
    """Pivots and ends of conditionals take the role of what their branches change.

    TF1 ends a branch without a value in ``Identity(switch_t)`` that waits for what is in it, and joins these in a
    ``Merge``; TF2 hands an ``Identity`` of the call to the caller.
    """
    facts = given.facts
    owner = _owners(facts)
    parts: dict[int, list[int]] = {}
    for node in np.flatnonzero(owner != NONE).tolist():
        parts.setdefault(int(owner[node]), []).append(node)
    for nodes in parts.values():
        roles = set(_changed(given, nodes, owner))
        role = next((role for role in FIRST if role in roles), roles.pop() if len(roles) == 1 else None)
        if role is not None:
            given.give(facts.mask(nodes), role, f"Holds a conditional together that runs {role_label(role)} nodes.")
    if parts:
        _decisions(given, np.asarray(owner != NONE))
    first = facts.graph.first_inputs()
    handed = facts.family({"Identity"}) & (facts.readers() == 0) & (first >= 0)
    for node in np.flatnonzero(handed & facts.mask(facts.called_uses)[first] & ~given.open[first]).tolist():
        role = given.role(int(first[node]))
        given.give_one(node, role, f"Hands on that a call of {role_label(role)} nodes is done.")


def _decisions(given: Assignment, parts: Mask) -> None:
    """Conditions that only decide about what has a role: up from there through branches and comparisons."""
    facts = given.facts
    inside = inside_branches(facts.graph)
    deciding = facts.family(CONDITIONS) | facts.conditions
    roles = {node: given.role(node) for node in np.flatnonzero(~given.open & (facts.ends | parts | inside)).tolist()}
    fitting = (given.open & (deciding | inside) & ~facts.variables & ~facts.own_reads).tolist()
    start, readers = facts.consumers
    for node in reversed(facts.order):
        users = readers[start[node] : start[node + 1]] if fitting[node] else []
        if users and all(user in roles for user in users):
            roles[node] = min({roles[user] for user in users}, key=(*FIRST, *STRONGEST).index)
            if not inside[node]:
                given.give_one(node, roles[node], f"Decides whether {role_label(roles[node])} nodes run.")


def _owners(facts: Facts) -> Ints:
    """int32 [n]: the pivot (``cond/Switch``) that a node carries nothing but the choice of, -1 for other nodes."""
    pivots = facts.conditions & facts.family(ops.SWITCH_OPS)
    owner = np.where(pivots, np.arange(facts.count), NONE).astype(np.int32)
    if not pivots.any():
        return owner
    first = facts.graph.first_inputs()
    fitting = facts.family({"Identity"}) & (first >= 0)
    merges = facts.family(ops.MERGE_OPS) & (first >= 0)
    inputs = facts.reads(np.ones(facts.count, np.bool_))
    while True:
        known = owner != NONE
        joined = merges & (facts.reads(known & ~pivots) == inputs)
        new = ((fitting & known[first]) | joined) & ~known
        if not new.any():
            return owner
        owner[new] = owner[first[new]]


def _changed(given: Assignment, nodes: list[int], owner: Ints) -> Iterator[str]:
    """Roles of the writes and calls that ``nodes`` wait for, through groups and the ends of inner conditionals."""
    facts, graph = given.facts, given.graph
    ends, groups = facts.ends | facts.mask(facts.called_uses), facts.family({"NoOp"})
    stack, seen = list(nodes), set(nodes)
    while stack:
        for edge in graph.edges_into(stack.pop()).tolist():
            source = int(graph.src[edge])
            if source in seen or not (graph.control[edge] or owner[source] != NONE):
                continue
            seen.add(source)
            if ends[source] and not given.open[source]:
                yield given.role(source)
            elif groups[source] or owner[source] != NONE or graph.ops[source] == "Identity":
                stack.append(source)
