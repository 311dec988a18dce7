"""Which ops only serve others: constants, reads and initial values of variables, the variables a saver restores.

Told by ops and edges, never by names. A graph of a million nodes takes a tenth of a second.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graphviewer.layout.arrays import Mask
from graphviewer.model.graph import Graph, Ints
from graphviewer.model.scopes import Scopes

MOST_CHIPS = 4
"""An op with more constants shows them as nodes."""

MOST_STEPS = 64
"""An initial value that is computed in more steps than this shows as nodes."""

_READS = {
    "Identity": frozenset({"Variable", "VariableV2", "TemporaryVariable"}),
    "ReadVariableOp": frozenset({"VarHandleOp", "VarIsInitializedOp", "Placeholder", "_Arg"}),
}
_VARIABLES = frozenset({"Variable", "VariableV2", "VarHandleOp"})
_ASSIGNS = frozenset({"Assign", "AssignVariableOp"})
_ASKS = frozenset({"IsVariableInitialized", "VarIsInitializedOp"})
_RESTORES = frozenset({"Restore", "RestoreSlice", "RestoreV2"})
_PASSES = frozenset({"Identity", "Reshape"})


@dataclass(frozen=True, eq=False)
class Tucks:
    """What is not drawn as a box of its own size.

    Attributes:
        host: int32 [items], the sibling beside which a chip is, -1 for other items.
        stand_in: int32 [items], the chip that stands for an item that is not drawn at all, -1 for other items.
    """

    host: Ints
    stand_in: Ints

    @classmethod
    def none(cls, count: int) -> Tucks:
        """Every item is drawn."""
        nothing = np.full(count, -1, np.int32)
        return cls(nothing, nothing)

    @property
    def is_drawn(self) -> Mask:
        """bool [items]: drawn, if only as a chip."""
        return np.asarray(self.stand_in < 0)

    @property
    def is_main(self) -> Mask:
        """bool [items]: drawn, and not as a chip."""
        return np.asarray((self.stand_in < 0) & (self.host < 0))

    def behind(self, scopes: Scopes) -> NDArray[np.int64]:
        """int64 [items]: nodes that each chip stands for beside its own."""
        items = np.flatnonzero(~self.is_drawn)
        return np.bincount(self.stand_in[items], scopes.size[items], len(scopes)).astype(np.int64)

    def drawn(self, items: Ints) -> Ints:
        """Those of ``items`` that are drawn."""
        return items[self.stand_in[items] < 0]

    def shown(self, items: Ints) -> Ints:
        """The items that are drawn for ``items``."""
        stand_in = self.stand_in[items]
        return np.where(stand_in >= 0, stand_in, items).astype(np.int32)

    def laid_out(self, items: Ints) -> Ints:
        """The items whose boxes an edge of ``items`` ends at: chips have none."""
        shown = self.shown(items)
        host = self.host[shown]
        return np.where(host >= 0, host, shown).astype(np.int32)


def find_tucks(scopes: Scopes) -> Tucks:
    """The chips of a tree.

    A constant, or the read of a variable, is a chip beside the op all of whose data it feeds, at most ``MOST_CHIPS`` at
    one. All that gives a variable its initial value is one chip beside the variable, and all that a saver
    restores is one chip beside its first restoring op.
    """
    flow = _Flow.of(scopes.graph)
    tucks = Tucks(np.full(len(scopes), -1, np.int32), np.full(len(scopes), -1, np.int32))
    is_assign = flow.graph.of_ops(_ASSIGNS)
    if is_assign.any():
        _gather(scopes, _initial_values(flow, is_assign), scopes.leaf, is_assign, tucks)
        served = _restored(flow, is_assign, scopes)
        stations, leaders = scopes.leaf.copy(), np.unique(served[served >= 0])
        stations[leaders] = _own_scope(scopes, scopes.leaf[leaders])
        _gather(scopes, served, stations, is_assign, tucks)
    _tuck_constants(scopes, flow, tucks)
    return tucks


@dataclass(frozen=True, eq=False)
class _Flow:
    """The data edges of a graph.

    Attributes:
        source, target, slot: int32 [data edges].
        readers, fed: int [nodes], data edges out of and into each node.
    """

    graph: Graph
    source: Ints
    target: Ints
    slot: Ints
    readers: NDArray[np.intp]
    fed: NDArray[np.intp]

    @classmethod
    def of(cls, graph: Graph) -> _Flow:
        flows = ~graph.control
        source, target = graph.src[flows], graph.dst[flows]
        counts = (np.bincount(ends, minlength=len(graph)) for ends in (source, target))
        return cls(graph, source, target, graph.slot[flows], *counts)

    def grow(self, group: Ints, barred: Mask, steps: int = MOST_STEPS) -> None:
        """Add to the groups, step by step, the nodes all of whose data goes to one of them.

        Args:
            group: int32 [nodes], changed in place; -1 for nodes of no group.
            barred: bool [nodes], never added.
            steps: how many at most.
        """
        new = group >= 0
        for _ in range(steps):
            feeds = new[self.target] & (group[self.source] < 0) & ~barred[self.source]
            found = np.unique(self.source[feeds])
            if not len(found):
                return
            wanted = np.zeros(len(group), np.bool_)
            wanted[found] = True
            out = np.flatnonzero(wanted[self.source])
            place, reached = np.searchsorted(found, self.source[out]), group[self.target[out]]
            low, high = np.full(len(found), np.iinfo(np.int32).max, np.int32), np.full(len(found), -1, np.int32)
            np.minimum.at(low, place, reached)
            np.maximum.at(high, place, reached)
            whole = (low == high) & (low >= 0)
            group[found[whole]] = low[whole]
            new = np.zeros(len(group), np.bool_)
            new[found[whole]] = True


def _initial_values(flow: _Flow, is_assign: Mask) -> Ints:
    """int32 [nodes]: the variable that a node gives its initial value to, -1 for other nodes.

    That is an assignment whose value is computed from nothing else in the graph, and all that computes it; and ops
    that ask whether the variable has a value.
    """
    graph = flow.graph
    is_variable, asks = graph.of_ops(_VARIABLES), graph.of_ops(_ASKS)
    variable, group = (np.full(len(graph), -1, np.int32) for _ in range(2))
    into = is_variable[flow.source] & (flow.slot == 0) & (is_assign | asks)[flow.target]
    variable[flow.target[into]] = flow.source[into]
    heads = np.flatnonzero((variable >= 0) & (flow.readers == 0))
    group[heads] = heads
    flow.grow(group, is_variable | is_assign | asks | graph.of_ops(_RESTORES))
    ends = group[flow.target]
    is_open = np.zeros(len(graph), np.bool_)
    is_open[ends[(ends >= 0) & (group[flow.source] != ends) & (flow.source != variable[ends])]] = True
    inside = np.flatnonzero(group >= 0)
    inside = inside[~is_open[group[inside]]]
    found = np.full(len(graph), -1, np.int32)
    found[inside] = variable[group[inside]]
    return found


def _restored(flow: _Flow, is_assign: Mask, scopes: Scopes) -> Ints:
    """int32 [nodes]: the restoring op that a node hands the values of on to variables, -1 for other nodes.

    Of several restoring ops in one scope (TensorFlow 1 had one per variable) the first stands for all.
    """
    graph = flow.graph
    found, is_restore = np.full(len(graph), -1, np.int32), graph.of_ops(_RESTORES)
    restores = np.flatnonzero(is_restore)
    if not len(restores):
        return found
    around = scopes.parent[_own_scope(scopes, scopes.leaf[restores])]
    _, first, place = np.unique(around, return_index=True, return_inverse=True)
    leader = np.full(len(graph), -1, np.int32)
    leader[restores] = restores[first][place]
    passes = graph.of_ops(_PASSES) & (flow.readers == 1)
    for follows, slot in ((passes, 0), (is_assign & (flow.readers == 0), 1)):
        into = follows[flow.target] & (flow.slot == slot) & (leader[flow.source] >= 0)
        leader[flow.target[into]] = leader[flow.source[into]]
    found[is_assign] = leader[is_assign]
    barred = ~(passes | is_restore | graph.of_ops({"Const"}))
    barred[restores[first]] = True
    flow.grow(found, barred, steps=3)
    return found


def _own_scope(scopes: Scopes, leaves: Ints) -> Ints:
    """The scopes that have the names of ``leaves``: a restoring op's holds its constants; a leaf itself without one."""
    around = scopes.parent[leaves]
    labels = zip(leaves.tolist(), around.tolist(), strict=True)
    own = np.array([scopes.labels[leaf] == f"({scopes.labels[scope]})" for leaf, scope in labels], np.bool_)
    return np.where(own, around, leaves).astype(np.int32)


def _gather(scopes: Scopes, served: Ints, station: Ints, is_assign: Mask, tucks: Tucks) -> None:
    """Make one chip of the items beside each served node all of whose nodes serve it; an assignment stands for all.

    Args:
        scopes: the tree.
        served: int32 [nodes], the node that each serves, -1 for most.
        station: int32 [nodes], the item that is the served node's box.
        is_assign: bool [nodes].
        tucks: filled in.
    """
    nodes = np.flatnonzero(served >= 0)
    item, beside = scopes.leaf[nodes].copy(), station[served[nodes]]
    while (deeper := scopes.depth[item] > scopes.depth[beside]).any():
        item[deeper] = scopes.parent[item[deeper]]
    near = scopes.parent[item] == scopes.parent[beside]
    pairs, nodes_of = np.unique(item[near].astype(np.int64) * len(scopes) + beside[near], return_counts=True)
    item, beside = np.divmod(pairs, len(scopes))
    whole = nodes_of == scopes.size[item]
    item, beside = item[whole], beside[whole]
    leads = np.flatnonzero((scopes.node[item] >= 0) & is_assign[scopes.node[item]])
    lead_of = np.full(len(scopes), -1, np.int32)
    lead_of[beside[leads][::-1]] = item[leads][::-1]  # of several, the first is written last
    lead = lead_of[beside]
    has_lead = lead >= 0
    tucks.host[lead[has_lead]] = beside[has_lead]
    behind = has_lead & (lead != item)
    tucks.stand_in[item[behind]] = lead[behind]


def _tuck_constants(scopes: Scopes, flow: _Flow, tucks: Tucks) -> None:
    graph, edges = scopes.graph, scopes.sibling_edges
    source = np.zeros(len(graph), np.int32)
    source[flow.target] = flow.source
    is_auxiliary = graph.of_ops({"Const"})
    for read, variables in _READS.items():
        is_auxiliary |= graph.of_ops({read}) & (flow.fed == 1) & graph.of_ops(variables)[source]
    auxiliary = np.zeros(len(scopes), np.bool_)
    auxiliary[scopes.leaf] = is_auxiliary
    data = ~edges.control
    a, b, count = edges.a[data], edges.b[data], edges.count[data]
    found = np.full(len(scopes), -1, np.int32)
    found[a] = b
    siblings = np.bincount(a, minlength=len(scopes))
    inside = np.bincount(a, count, len(scopes))[scopes.leaf]
    auxiliary[scopes.leaf] &= inside == flow.readers
    auxiliary &= tucks.is_main
    found[~auxiliary | (siblings != 1) | scopes.is_scope[found] | ~tucks.is_main[found]] = -1
    found[(found >= 0) & (found[found] >= 0)] = -1  # beside a chip there is no room
    crowd = np.bincount(found[found >= 0], minlength=len(scopes))
    found[(found >= 0) & (crowd[found] > MOST_CHIPS)] = -1
    tucks.host[found >= 0] = found[found >= 0]
