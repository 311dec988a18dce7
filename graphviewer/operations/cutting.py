"""Chosen inputs become placeholders."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

from graphviewer import protos
from graphviewer.analysis.control_flow import inside_loops
from graphviewer.analysis.ops import FED_OPS, VARIABLE_OPS, is_pipeline_op
from graphviewer.errors import OperationError
from graphviewer.model.document import Document
from graphviewer.model.graph import Mask
from graphviewer.model.making import set_shape
from graphviewer.model.names import Endpoint
from graphviewer.model.provenance import Origin
from graphviewer.model.tensors import node_shape
from graphviewer.operations.selection import ALL_PORTS, Selection, join, select
from graphviewer.operations.tensor_types import output_dtype, output_dtypes, output_shape
from graphviewer.protos import DataType, dtype_name


def cuts_of(document: Document, inputs: Sequence[Endpoint]) -> dict[int, frozenset[int]]:
    """Cuts at ``inputs``: a node named without a port, or by port 0 alone, is cut whole.

    Placeholders need no cut: nothing is behind them.

    Raises:
        OperationError: a node has no such output.
    """
    graph = document.graph
    ports: dict[int, set[int]] = {}
    for name, port in inputs:
        number = graph.index[name]
        _require_output(document, number, port)
        if graph.ops[number] not in FED_OPS:
            ports.setdefault(number, set()).add(port)
    return {number: ALL_PORTS if found == {0} else frozenset(found) for number, found in ports.items()}


def _require_output(document: Document, number: int, port: int) -> None:
    node = document.node(number)
    known = output_dtypes(document, number)
    if known is not None and port >= len(known):
        outputs = f"{len(known)} output{'s' if len(known) != 1 else ''}"
        raise OperationError(f"'{node.name}' ({node.op}) has {outputs}; there is no '{node.name}:{port}' to feed.")


def select_fed(
    document: Document,
    outputs: Sequence[Endpoint],
    inputs: Sequence[Endpoint],
    *,
    drop: Mask | None = None,
    colocated: bool = False,
    also: Sequence[int] = (),
) -> Selection:
    """The nodes that ``outputs`` need when ``inputs`` are fed, with a placeholder for every tensor that is read.

    See ``select`` for the arguments.

    Raises:
        OperationError: damage in the way, or an input whose dtype nothing tells.
    """
    selection = select(document, outputs, cuts=cuts_of(document, inputs), drop=drop, colocated=colocated, also=also)
    return replace(selection, placeholders=_placeholders(selection))


def _placeholders(selection: Selection) -> dict[tuple[int, int], Any]:
    graph = selection.graph
    found: dict[tuple[int, int], Any] = {}
    taken = set(graph.names)
    _require_outside_loops(selection.document, selection.fed)
    for number, ports in sorted(selection.fed.items()):
        for port in sorted(ports):
            name = graph.names[number]
            if selection.mask[number] or (port and len(ports) > 1):
                name = unique(f"{name}_{port}", taken)
            found[number, port] = placeholder(selection.document, number, port, name)
    return found


def _require_outside_loops(document: Document, numbers: Collection[int]) -> None:
    """Refuse to feed what runs in every iteration of a TF1 loop: a loop reads nothing from outside but by its Enters.

    Raises:
        OperationError: names the first such node.
    """
    inside = inside_loops(document.graph) if numbers else ()
    for number in sorted(numbers):
        if inside[number]:
            raise OperationError(
                f"'{document.graph.names[number]}' lies inside a loop and cannot be fed.",
                "Cut at what the loop is given, before its Enter nodes.",
            )


def unique(name: str, taken: set[str]) -> str:
    """``name``, or ``name_1`` ... when it is taken; the answer is taken from now on."""
    free, count = name, 0
    while free in taken:
        count += 1
        free = f"{name}_{count}"
    taken.add(free)
    return free


def placeholder(document: Document, number: int, port: int, name: str) -> Any:
    """A Placeholder NodeDef with the dtype and shape of one output, as far as they are known.

    A variable is fed by value.

    Raises:
        OperationError: no such output, or a kind of tensor that cannot be fed.
    """
    node = document.node(number)
    if node.op in VARIABLE_OPS:
        dtype, shape = node.attr["dtype"].type, node_shape(node)
    else:
        _require_output(document, number, port)
        dtype, shape = output_dtype(document, number, port) or 0, output_shape(document, number, port)
    _require_feedable(node, port, dtype)
    made = protos.NodeDef(name=name, op="Placeholder")
    made.attr["dtype"].type = dtype
    set_shape(made.attr["shape"].shape, shape)
    return made


def _require_feedable(node: Any, port: int, dtype: int) -> None:
    tensor = Endpoint(node.name, port)
    if not dtype:
        raise OperationError(f"The dtype of '{tensor}' ({node.op}) is not known.", "Cut at a node that reads it.")
    if dtype in (DataType.RESOURCE, DataType.VARIANT):
        raise OperationError(f"'{tensor}' is a {dtype_name(dtype)} and cannot be fed.", "Cut at a node that reads it.")


def placeholder_origins(selection: Selection) -> dict[str, Origin]:
    """Where the placeholders came from."""
    graph = selection.graph
    origins: dict[str, Origin] = {}
    if not selection.placeholders:
        return origins
    pipeline = graph.of_ops(is_pipeline_op)
    for (number, port), made in selection.placeholders.items():
        name = graph.names[number]
        fed_by_pipeline = bool((graph.ancestors([number]) & pipeline).any())
        rule = "pipeline -> placeholder" if fed_by_pipeline else "input -> placeholder"
        if made.name == name:
            origins[made.name] = Origin(name, rule, f"'{name}' ({graph.ops[number]}) is an input: it is fed now")
        else:
            origins[made.name] = Origin(None, rule, f"stands for output {port} of '{name}', which is fed now")
    return origins


def unused_inputs(selection: Selection, inputs: Sequence[Endpoint]) -> list[str]:
    """Warnings for chosen inputs that the outputs do not depend on, and for those that stand for another output."""
    graph, cuts = selection.graph, cuts_of(selection.document, inputs)
    names = join(selection.outputs)
    depend = f"{names} do{'es' if len(selection.outputs) == 1 else ''} not depend on"
    found = []
    for endpoint in dict.fromkeys(inputs):
        number = graph.index[endpoint.node]
        read = selection.fed.get(number, frozenset())
        if number not in cuts:
            used = bool(selection.mask[number])
        else:
            used = endpoint.port in read
        if not used and read and cuts[number] == ALL_PORTS:
            others = join(f"'{endpoint.node}:{port}'" for port in sorted(read))
            found.append(f"{depend} the input '{endpoint.node}:0', but on {others}: that is fed instead.")
        elif not used:
            found.append(f"{depend} the input '{endpoint}'.")
    return found


def fed_names(selection: Selection, inputs: Sequence[Endpoint]) -> tuple[str, ...]:
    """What a run of the result feeds: the placeholders that were made, and chosen ones that stayed."""
    graph = selection.graph
    made = [node.name for _, node in sorted(selection.placeholders.items(), key=lambda item: item[0])]
    stayed = [name for name, _ in inputs if graph.ops[graph.index[name]] in FED_OPS and name in selection.names]
    return tuple(dict.fromkeys([*made, *stayed]))


def output_names(selection: Selection, outputs: Collection[Endpoint]) -> tuple[str, ...]:
    """The outputs under the names that they have in the result; one that is fed itself is its placeholder."""
    index = selection.graph.index
    found = []
    for output in outputs:
        fed = selection.placeholders.get((index[output.node], output.port))
        found.append(fed.name if fed is not None else str(output))
    return tuple(found)
