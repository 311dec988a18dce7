"""Reads that wait for an update of the variable that they read: a frozen graph cannot give what they gave."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from graphviewer.analysis.ops import is_variable_write, variables_behind
from graphviewer.operations.freezing.body import Body
from graphviewer.operations.freezing.calls import call_of, called_functions
from graphviewer.operations.freezing.functions import Functions, late_read
from graphviewer.operations.selection import Selection


def require_order(selection: Selection, body: Body, functions: Functions, settled: Collection[int] = ()) -> None:
    """Refuse reads that wait for an update of their variable: the frozen value is the one before it.

    Args:
        settled: variables whose frozen value is the one that their update gives.

    Raises:
        OperationError: names the read and the update.
    """
    graph = selection.graph
    readers: dict[str, set[int]] = {}
    for reader, variable in body.read:
        readers.setdefault(variable, set()).add(graph.index[reader])
    for write, variable in _updates(selection, body, functions):
        if variable not in readers or graph.index[variable] in settled:
            continue
        after = graph.descendants([write])
        late = sorted(number for number in readers[variable] if after[number] and number != write)
        if late:
            raise late_read(f"'{graph.names[late[0]]}'", variable, graph.names[write], graph.ops[write])


def _updates(selection: Selection, body: Body, functions: Functions) -> list[tuple[int, str]]:
    """(node, variable) of every update that the outputs wait for or use, those in called functions included."""
    graph = selection.graph
    inputs = selection.fed
    once = graph.ancestors((graph.index[output.node] for output in selection.outputs), stop=inputs)
    behind = variables_behind(graph)
    found = []
    for number in np.flatnonzero(once & graph.of_ops(is_variable_write)).tolist():
        sources = graph.inputs(number)
        if sources and behind[sources[0]] >= 0:
            found.append((number, graph.names[int(behind[sources[0]])]))
    for name, values in body.calls.items():
        call = call_of(body.nodes[name], body.library)
        for function in called_functions(body.nodes[name], call) if call is not None else ():
            written = functions.written(function.name)
            found += [(graph.index[name], value.variable) for at, value in values.items() if at in written]
    return found
