"""Reads that wait for an update of the variable that they read: a frozen graph cannot give what they gave.

What comes after an update is what depends on it. In a loop that is the next iteration too; and what reads a reference
shares its memory, so that a value read before changes with it until it is used.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from graphviewer.analysis.control_flow import loop_members, variables_behind
from graphviewer.analysis.ops import MERGE_OPS, PASS_OPS, REF_VARIABLE_OPS, is_variable_write
from graphviewer.model.graph import Graph, Mask
from graphviewer.operations.freezing.body import Body
from graphviewer.operations.freezing.calls import call_of, runs_again
from graphviewer.operations.freezing.functions import Functions
from graphviewer.operations.freezing.updates import Update, late_read
from graphviewer.operations.selection import Selection

_SHARE_MEMORY = PASS_OPS | {"CheckNumerics", "ExpandDims", "PreventGradient", "Reshape", "Squeeze", "StopGradient"}
"""Give what they read, without a copy of it."""


def require_order(selection: Selection, body: Body, functions: Functions, settled: Collection[int] = ()) -> None:
    """Refuse reads that wait for an update of their variable: the frozen value is the one before it.

    Args:
        settled: variables whose frozen value is the one that their update gives.

    Raises:
        OperationError: names the read and the update.
    """
    graph = selection.graph
    readers: dict[str, set[int]] = {}
    for reader, variable in functions.reads(body, {output.node for output in selection.outputs}):
        readers.setdefault(variable, set()).add(graph.index[reader])
    found = [
        one
        for one in _updates(selection, body, functions)
        if graph.index[one[1]] not in settled and (one[1] in readers or selection.mask[graph.index[one[1]]])
    ]
    loops = loop_members(selection.document) if found else []
    for number, variable, update in found:
        after = _after(graph, number, loops)
        after[number] |= runs_again(body.nodes.get(graph.names[number]), functions.by_name)
        given = [one for one, name, _ in found if name == variable and one != number and not after[one]]
        reading = readers.get(variable, set()) | _sharing(selection, graph.index[variable], given)
        late = sorted(one for one in reading if after[one])
        if late:
            raise late_read(f"'{graph.names[late[0]]}'", variable, update)


def _after(graph: Graph, number: int, loops: Sequence[Mask]) -> Mask:
    """bool [n]: what may run after a node has, itself included where it runs again."""
    after = graph.descendants([number]).copy()
    after[number] = False
    for members in loops:
        if members[number]:
            after |= members
    return after


def _sharing(selection: Selection, variable: int, updates: Sequence[int]) -> set[int]:
    """Needed nodes that use the memory of a reference variable, however long after they got hold of it.

    A Merge is none: where one of its inputs is what an update gives, the others come from branches without it.

    Args:
        updates: earlier ones of the variable: what they give is its memory too.
    """
    graph = selection.graph
    if graph.ops[variable] not in REF_VARIABLE_OPS:
        return set()
    users: set[int] = set()
    stack = [variable, *updates]
    while stack:
        for reader in graph.consumers(stack.pop()):
            if selection.mask[reader] and reader not in users and graph.ops[reader] not in MERGE_OPS:
                users.add(reader)
                if graph.ops[reader] in _SHARE_MEMORY:
                    stack.append(reader)
    ends = {graph.index[output.node] for output in selection.outputs}
    handing_on = {user for user in users if graph.ops[user] in _SHARE_MEMORY} - ends
    return {user for user in users - handing_on if not is_variable_write(graph.ops[user])}


def _updates(selection: Selection, body: Body, functions: Functions) -> list[tuple[int, str, Update]]:
    """(node, variable, what changes it) of updates that the outputs wait for or use, those in functions included."""
    graph = selection.graph
    once = graph.ancestors((graph.index[output.node] for output in selection.outputs), stop=selection.fed)
    behind = variables_behind(graph)
    found = []
    for number in np.flatnonzero(once & graph.of_ops(is_variable_write)).tolist():
        sources = graph.inputs(number)
        if sources and behind[sources[0]] >= 0:
            update = Update(f"'{graph.names[number]}'", graph.ops[number])
            found.append((number, graph.names[int(behind[sources[0]])], update))
    for name, values in body.calls.items():
        call = call_of(body.nodes[name], body.library)
        for slot, update in functions.updates.by_node(body.nodes[name], f"'{name}'").items():
            value = values.get(call.argument(slot)) if call is not None else None
            if value is not None:
                found.append((graph.index[name], value.variable, update))
    return found
