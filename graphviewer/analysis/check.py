"""Find what is wrong inside a graph: what TensorFlow would refuse, and what a cut or damaged file looks like.

Nothing here recurses or allocates by a declared size. The work on edges is numpy's (475,000 edges: 0.2 s in all).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphviewer import protos
from graphviewer.analysis.control_flow import BACK
from graphviewer.analysis.node_faults import NodeFaults
from graphviewer.analysis.ops import input_count, output_count
from graphviewer.analysis.rings import rings
from graphviewer.analysis.versions import version_problems
from graphviewer.errors import CheckpointError
from graphviewer.model.document import Document
from graphviewer.model.graph import Ints
from graphviewer.model.names import body_source, nearest
from graphviewer.model.problem import Problem

MOST_PER_KIND = 1_000
_MOST_SUGGESTIONS = 20
_SHOWN_OF_CYCLE = 6
_UNKNOWN, _BY_NODE = -1, -2
_MOST_OUTPUTS = 1 << 20


def check(document: Document) -> list[Problem]:
    """Everything that is wrong with a document: faults seen while reading, then those of the graph and its functions.

    At most 1,000 problems of one kind are listed; one more then says how many there are.
    """
    found = list(document.problems)
    counts: Counter[str] = Counter()
    for finder in (version_problems, _nodes, _duplicates, _inputs, _ports, _arity, _cycles, _functions):
        for problem in finder(document):
            counts[problem.kind] += 1
            if counts[problem.kind] <= MOST_PER_KIND:
                found.append(problem)
    for kind, count in counts.items():
        if count > MOST_PER_KIND:
            reason = f"{count - MOST_PER_KIND:,} more problems of the kind '{kind}' are not listed."
            found.append(Problem(kind, "info", reason))
    return found


def check_files(document: Document) -> list[Problem]:
    """What is wrong with the files of the checkpoint that belongs to a graph; its index is read, its values are not.

    Of a checkpoint that was opened itself, ``document.problems`` tells this already.
    """
    from graphviewer.formats.checkpoint import open_checkpoint

    if document.checkpoint is None or document.kind == "checkpoint":
        return []
    try:
        return open_checkpoint(document.checkpoint).file_problems()
    except CheckpointError as error:
        return [Problem("checkpoint", "error", error.message, error.hint)]


def training_notes(document: Document) -> list[str]:
    """What is no fault, and yet deserves a word before a graph is used: nodes that compute as in training."""
    from graphviewer.analysis.roles.facts import Facts
    from graphviewer.analysis.roles.markers import training_calls, training_mode

    if document.kind == "checkpoint":
        return []
    facts = Facts(document)
    found = np.flatnonzero(training_mode(facts) | training_calls(facts)).tolist()
    if not found:
        return []
    name, count = document.graph.names[found[0]], len(found)
    which = f"{count:,} nodes compute, or can compute," if count > 1 else "One node computes, or can compute,"
    such = f"such as '{name}'" if count > 1 else f"'{name}'"
    return [f"{which} as in training (batch statistics or dropout), {such}; inference mode repairs that."]


def _nodes(document: Document) -> Iterator[Problem]:
    """What can be told of each node alone."""
    faults = NodeFaults(document.functions, document.graph.index)
    left = document.payloads.by_node if document.payloads is not None else {}
    for number, node in enumerate(document.graph_def.node):
        content = left[number].length if number in left else None
        yield from faults.of(node, number, content=content)
    yield from faults.unknown_ops()


def _duplicates(document: Document) -> Iterator[Problem]:
    index = document.graph.index
    for number, name in enumerate(document.graph.names):
        if name and index[name] != number:
            reason = f"Nodes {index[name]} and {number} are both called '{name}'."
            yield Problem("duplicate", "error", reason, "Inputs with this name read the first one.", name)


def _inputs(document: Document) -> Iterator[Problem]:
    """Inputs that name no node, and data inputs after control inputs."""
    graph = document.graph
    for count, (node, text) in enumerate(graph.dangling):
        name = graph.names[node]
        if not text.strip("^"):
            yield Problem("empty-input", "error", f"'{name}' has an input without a name.", "", name)
            continue
        close = nearest(text.lstrip("^").partition(":")[0], graph.index) if count < _MOST_SUGGESTIONS else []
        hint = f"Closest: {', '.join(close)}." if close else ""
        yield Problem("dangling", "error", f"The input '{text}' of '{name}' does not exist.", hint, name)
    control, dst = graph.control, graph.dst
    late = ~control[1:] & control[:-1] & (dst[1:] == dst[:-1])
    for node in np.unique(dst[1:][late]).tolist():
        name = graph.names[node]
        reason = f"'{name}' has a data input after a control input."
        yield Problem("input-order", "error", reason, "TensorFlow wants control inputs last.", name)


def _tensors(
    document: Document, side: Callable[[Any], Sequence[Any]], count: Callable[[Any], int | None]
) -> NDArray[np.int64]:
    """int64 [n]: how many tensors each node takes, or gives; -1 where nothing describes its op.

    Args:
        side: the ArgDefs of a signature.
        count: of a NodeDef; asked only where the op does not tell.
    """
    functions = document.functions
    ops, codes = document.graph.op_codes

    def of_op(op: str) -> int:
        if op in functions:
            return len(side(functions[op].signature))
        definition = protos.op_def(op)
        if definition is None:
            return _UNKNOWN
        arguments = side(definition)
        lists = any(argument.number_attr or argument.type_list_attr for argument in arguments)
        return _BY_NODE if lists else len(arguments)

    found = np.fromiter(map(of_op, ops), np.int64, len(ops))[codes]
    for node in np.flatnonzero(found == _BY_NODE).tolist():
        known = count(document.node(node))
        found[node] = _UNKNOWN if known is None else known
    return found


def _ports(document: Document) -> Iterator[Problem]:
    """Inputs that read an output which the op does not have."""
    graph = document.graph
    outputs = _tensors(document, lambda signature: signature.output_arg, output_count)
    count = np.minimum(outputs, _MOST_OUTPUTS)[graph.src]
    for edge in np.flatnonzero(~graph.control & (count != _UNKNOWN) & (graph.port >= count)).tolist():
        source, node, port = int(graph.src[edge]), graph.names[graph.dst[edge]], int(graph.port[edge])
        has = int(count[edge])
        name, op = graph.names[source], graph.ops[source]
        reason = f"'{node}' reads output {port} of '{name}', but {op} has {has} output{'s' * (has != 1)}."
        yield Problem("bad-port", "error", reason, "", node)


def _arity(document: Document) -> Iterator[Problem]:
    """Nodes with more or fewer data inputs than their op takes."""
    graph = document.graph
    wanted = _tensors(document, lambda signature: signature.input_arg, input_count)
    given = np.bincount(graph.dst[~graph.control], minlength=len(graph))
    for node, text in graph.dangling:
        given[node] += not text.startswith("^")
    for number in np.flatnonzero((wanted != _UNKNOWN) & (wanted != given)).tolist():
        name, op = graph.names[number], graph.ops[number]
        reason = f"'{name}' has {given[number]} data inputs, but {op} takes {wanted[number]}."
        yield Problem("arity", "error", reason, "", name)


def _cycles(document: Document) -> Iterator[Problem]:
    """Rings that are no TF1 loop: one problem for each, on its first node."""
    graph = document.graph
    forward = ~graph.of_ops(BACK)[graph.src]
    yield from _ring_problems(graph.names, graph.src[forward], graph.dst[forward])


def _ring_problems(names: Sequence[str], src: Ints, dst: Ints) -> Iterator[Problem]:
    for ring in rings(src, dst, len(names)):
        shown = [names[node] for node in [*ring, ring[0]]]
        path = " ← ".join(shown if len(shown) <= _SHOWN_OF_CYCLE else [*shown[: _SHOWN_OF_CYCLE - 1], "…"])
        reason = f"A cycle without NextIteration: {path}."
        yield Problem("cycle", "error", reason, "TensorFlow cannot run it.", names[ring[0]])


def _functions(document: Document) -> Iterator[Problem]:
    """The nodes of every function body, and the names that its results refer to."""
    for name, function in document.functions.items():
        yield from (problem._replace(function=name) for problem in _function(function, document))


def _function(function: Any, document: Document) -> Iterator[Problem]:
    nodes = function.node_def
    arguments = {arg.name for arg in function.signature.input_arg}
    index: dict[str, int] = {}
    for number, node in enumerate(nodes):
        index.setdefault(node.name, number)
    known = arguments | index.keys()
    faults = NodeFaults(document.functions, known)
    edges = []
    for number, node in enumerate(nodes):
        yield from faults.of(node, number)
        yield from _function_inputs(node.name, node.input, known)
        if node.op not in BACK:
            edges += [(index[name], number) for name in map(body_source, node.input) if name in index]
    yield from faults.unknown_ops()
    yield from _function_inputs("", sorted(function.ret.values()), known)
    pairs = np.array(edges, np.int32).reshape(-1, 2)
    yield from _ring_problems([node.name for node in nodes], pairs[:, 0], pairs[:, 1])


def _function_inputs(node: str, inputs: Iterable[str], known: Collection[str]) -> Iterator[Problem]:
    for text in inputs:
        if body_source(text) not in known:
            where = f"of '{node}'" if node else "that the function returns"
            yield Problem("dangling", "error", f"The input '{text}' {where} does not exist.", "", node)
