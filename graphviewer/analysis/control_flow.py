"""What runs where in TF1's conditionals and loops, and which variable is seen through them.

A node without inputs runs at once, whichever branch is taken.

A node in a branch or a loop that reads nothing, such as a constant, lies there only by what it waits for.
Source: tensorflow/python/ops/control_flow_ops.py, ``_AddOpInternal`` of ``CondContext`` and ``WhileContext``.
"""

from __future__ import annotations

import numpy as np

from graphviewer.analysis.ops import MERGE_OPS, PASS_OPS, SWITCH_OPS, VARIABLE_OPS
from graphviewer.model.document import Document
from graphviewer.model.graph import Graph, Ints, Mask

ENTERS = frozenset({"Enter", "RefEnter"})
EXITS = frozenset({"Exit", "RefExit"})
BACK = frozenset({"NextIteration", "RefNextIteration"})
FLOW_STARTS = SWITCH_OPS | ENTERS


def inside_loops(graph: Graph) -> Mask:
    """bool [n]: nodes that run once for every iteration of a TF1 loop, from its Enter up to, not including, its Exit.

    The Exit of an inner loop belongs to the loop around it. TensorFlow can not fetch what is inside.
    """
    enters, exits = graph.of_ops(ENTERS), graph.of_ops(EXITS)
    entered = entered_by(graph, exits)
    inside = np.zeros(len(graph), np.bool_)
    leaving = exits
    seeds = enters
    while seeds.any():
        stop = np.flatnonzero(leaving).tolist()
        inside |= graph.descendants(np.flatnonzero(seeds).tolist(), stop=stop) & ~leaving
        seeds = np.zeros(len(graph), np.bool_)
        for node in (node for node in entered if leaving[node]):
            seeds[node] = any(inside[source] for source in graph.inputs(entered[node]))
        leaving = leaving & ~seeds
    return inside


def entered_by(graph: Graph, exits: Mask) -> dict[int, int]:
    """By Exit an Enter of its loop (Exit <- Switch <- Merge <- Enter); those without one are left out."""
    first = graph.first_inputs()
    found = {}
    for node in np.flatnonzero(exits).tolist():
        enter = node
        for family in (SWITCH_OPS, MERGE_OPS, ENTERS):
            enter = int(first[enter]) if enter >= 0 else -1
            if enter >= 0 and graph.ops[enter] not in family:
                enter = -1
        if enter >= 0:
            found[node] = enter
    return found


def inside_branches(graph: Graph) -> Mask:
    """bool [n]: nodes that run only when a TF1 conditional goes their way, from its Switch up to its Merge."""
    ends = graph.of_ops(MERGE_OPS | EXITS)
    switches = graph.of_ops(SWITCH_OPS)
    switches[graph.dst[graph.of_ops({"LoopCond"})[graph.src]]] = False
    found = graph.descendants(np.flatnonzero(switches).tolist(), stop=np.flatnonzero(ends).tolist())
    return np.asarray(found & ~ends)


def after_flow(graph: Graph) -> Mask:
    """bool [n]: nodes inside conditionals and loops of TF1, and what comes after them."""
    starts = np.flatnonzero(graph.of_ops(FLOW_STARTS)).tolist()
    return graph.descendants(starts) if starts else np.zeros(len(graph), bool)


def flow_depth(graph: Graph) -> Ints:
    """int32 [n]: how many conditionals and loops of TF1 each node lies in; 0 for rings of damaged files."""
    step = _depth_steps(graph)
    after, back = after_flow(graph), graph.of_ops(BACK)
    depth = np.where(after, step, 0).astype(np.int32)
    forward = after[graph.src] & after[graph.dst] & ~back[graph.src]
    missing = np.bincount(graph.dst[forward], minlength=len(graph))
    stack = np.flatnonzero(after & (missing == 0)).tolist()
    deepest = np.zeros(len(graph), np.int32)
    while stack:
        node = stack.pop()
        depth[node] = max(deepest[node] + step[node], 0)
        for edge in graph.edges_out_of(node).tolist():
            reader = graph.dst[edge]
            if forward[edge]:
                deepest[reader] = max(deepest[reader], depth[node])
                missing[reader] -= 1
                if not missing[reader]:
                    stack.append(int(reader))
    return np.where(missing == 0, depth, 0).astype(np.int32)


def _depth_steps(graph: Graph) -> Ints:
    """int32 [n]: 1 where a node leads into a branch or loop, -1 where it leads out."""
    turning = np.zeros(len(graph), bool)  # the Merge and the Switch of a loop
    turning[graph.dst[graph.of_ops(BACK)[graph.src]]] = True
    turning[graph.dst[graph.of_ops({"LoopCond"})[graph.src]]] = True
    inward = graph.of_ops(ENTERS) | (graph.of_ops(SWITCH_OPS) & ~turning)
    outward = graph.of_ops(EXITS) | (graph.of_ops(MERGE_OPS) & ~turning)
    return inward.astype(np.int32) - outward.astype(np.int32)


def waits_without_use(graph: Graph, sources: Mask) -> Mask:
    """bool [edges]: control edges from some nodes that can be left out, and nothing runs where it did not before.

    Args:
        sources: bool [n]: nodes that others wait for, though they read nothing of them.
    """
    waits = graph.control & sources[graph.src]
    loose = np.bincount(graph.dst[~waits], minlength=len(graph)) == 0
    tying = waits & loose[graph.dst] & after_flow(graph)[graph.src]
    if tying.any():
        waits &= ~(tying & (flow_depth(graph)[graph.src] > 0))
    return np.asarray(waits)


def loop_members(document: Document) -> list[Mask]:
    """By TF1 loop: bool [n], the nodes that run in every iteration of it, those of inner loops included."""
    graph = document.graph
    entered = entered_by(graph, graph.of_ops(EXITS))
    enters: dict[bytes, list[int]] = {}
    for node in np.flatnonzero(graph.of_ops(ENTERS)).tolist():
        enters.setdefault(_frame(document, node), []).append(node)
    found = []
    for frame, starts in enters.items():
        ends = [node for node, enter in entered.items() if _frame(document, enter) == frame]
        inside = graph.descendants(starts, stop=ends)
        inside[ends] = False
        found.append(inside)
    return found


def _frame(document: Document, enter: int) -> bytes:
    node = document.node(enter)
    return bytes(node.attr["frame_name"].s) if "frame_name" in node.attr else b""


def variables_behind(graph: Graph) -> Ints:
    """int32 [n]: the variable that each node is, reads or hands on unchanged; -1 where there is none.

    Follows identities, reads, loop entries and switches (``PASS_OPS``) by pointer doubling, so that chains of any
    length, and rings of damaged files, end.
    """
    first = graph.first_inputs()
    here = np.arange(len(graph), dtype=np.int32)
    behind = np.where(graph.of_ops(PASS_OPS) & (first >= 0), first, here)
    for _ in range(len(graph).bit_length()):
        further = behind[behind]
        if np.array_equal(further, behind):
            break
        behind = further
    return np.where(graph.of_ops(VARIABLE_OPS)[behind], behind, -1).astype(np.int32)
