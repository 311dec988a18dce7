"""What in a frozen graph would still compute as in training."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from graphviewer.analysis.ops import (
    BATCH_NORM_OPS,
    BRANCH_CALL_OPS,
    LOOP_CALL_OPS,
    MERGE_OPS,
    PLACEHOLDER_OPS,
    SHAPE_OPS,
    SWITCH_OPS,
    is_pipeline_op,
    is_random_op,
)
from graphviewer.analysis.roles.facts import Facts
from graphviewer.analysis.roles.markers import DROPOUT_STEPS, training_mode
from graphviewer.model.bodies import Opened, Unfolded, unfold
from graphviewer.model.document import Document
from graphviewer.model.function_body import ARGUMENT_OP, RESULT_OP
from graphviewer.model.graph import Graph, Mask
from graphviewer.model.tensors import TensorError, tensor_value
from graphviewer.operations.library import reached
from graphviewer.operations.selection import Selection, join

_DROPOUT_ARITHMETIC = DROPOUT_STEPS | {"Identity", "RealDiv", "Reshape"}
_DROPOUT_LENGTH = 8
_MOST_STEPS = 64
"""Identities and arguments between a condition and the constant that it is."""
_BRANCHES = MappingProxyType({"then_branch": True, "else_branch": False})
"""The condition with which an If calls a function."""


@dataclass(frozen=True)
class TrainingMode:
    """Nodes that compute otherwise in training than in inference.

    Attributes:
        fixed: always do; names, functions' nodes as ``function/node``.
        fed: only when a value is fed so; by name, what decides.
        random: draw random numbers for something else than these.
        kept: those of ``fixed`` in bodies that stay functions: of loops, and of conditionals on what is computed.
            No operation mends them.
    """

    fixed: tuple[str, ...]
    fed: dict[str, str]
    random: tuple[str, ...]
    kept: frozenset[str] = frozenset()

    def refusal(self) -> str:
        """The sentence about ``fixed``; empty when there are none."""
        if not self.fixed:
            return ""
        count = len(self.fixed)
        nodes = f"{count:,} nodes" if count > 1 else "One node"
        return (
            f"{nodes} that the outputs need comput{'e' if count > 1 else 'es'} as in training "
            f"(batch statistics or dropout): {join(self.fixed, 3)}."
        )

    @property
    def switches(self) -> tuple[str, ...]:
        """The placeholders that decide."""
        return tuple(dict.fromkeys(self.fed.values()))

    def warnings(self) -> list[str]:
        """Sentences about ``fed`` and ``random``."""
        found = []
        for source in self.switches:
            nodes = [name for name, by in self.fed.items() if by == source]
            computes = "computes" if len(nodes) == 1 else "compute"
            found.append(
                f"What is fed to '{source}' decides whether {join(nodes)} {computes} as in training; "
                "inference mode, applied before freezing, fixes it for good."
            )
        if self.random:
            found.append(f"The outputs depend on random numbers: {join(self.random)}; two runs differ.")
        return found


def find_training_mode(selection: Selection) -> TrainingMode:
    """Batch norms on batch statistics, dropout and random ops among what a selection keeps, in functions too."""
    document, needed = _with_functions(selection)
    graph = document.graph
    found = np.flatnonzero(needed & training_mode(Facts(document))).tolist()
    fixed: dict[str, int] = {}
    fed: dict[str, str] = {}
    for number in found:
        source = _decided_by(document, number)
        if source is None:
            fixed[_named(document, number)] = number
        elif source:
            fed[_named(document, number)] = source
    random = np.flatnonzero(needed & graph.of_ops(is_random_op)).tolist()
    explained = graph.ancestors(found, control=False) if found else np.zeros(len(graph), bool)
    others = (_named(document, number) for number in random if not explained[number])
    kept = frozenset(name for name, number in fixed.items() if _stays_in_a_function(document, number))
    return TrainingMode(tuple(fixed), fed, tuple(dict.fromkeys(others)), kept)


def _with_functions(selection: Selection) -> tuple[Document, Mask]:
    """What to search, and bool [n] of it: what the selection keeps, and the functions that it calls.

    The functions are opened only where they hold a batch norm or random numbers. What a pipeline calls is left out: it
    makes data, where random numbers belong.
    """
    document, graph = selection.document, selection.graph
    calls = selection.mask & ~graph.of_ops(is_pipeline_op)
    inner = reached(map(document.node, np.flatnonzero(calls).tolist()), document.graph_def.library)
    ops = {node.op for name in inner for node in document.functions[name].node_def}
    if not any(op in BATCH_NORM_OPS or is_random_op(op) for op in ops):
        return document, selection.mask
    whole = unfold(document)
    assert isinstance(whole, Unfolded)  # there are functions
    inside = np.concatenate([selection.mask, (whole.caller >= 0) & calls[whole.caller]])
    return whole, inside & _computed(whole)


def _computed(whole: Unfolded) -> Mask:
    """bool [n]: the graph's own nodes, and of each function what its results and effects need.

    A recurrent layer of Keras makes the masks of its dropout in inference too, and reads them only in training.
    """
    graph = whole.graph
    seeds = {*range(whole.main), *np.flatnonzero(graph.of_ops({RESULT_OP})).tolist()}
    for one in whole.opened:
        effects = set(whole.functions[one.function].control_ret.values())
        seeds.update(number for number, node in enumerate(one.body.nodes, one.first) if node.name in effects)
    return graph.ancestors(seeds)


def _named(document: Document, number: int) -> str:
    """A node of the graph by its name, one of a function as ``function/node``."""
    around = _around(document, number)
    return document.graph.names[number] if around is None else f"{around.function}/{document.node(number).name}"


def _around(document: Document, number: int) -> Opened | None:
    """The function that a node is in."""
    return document.around(number) if isinstance(document, Unfolded) else None


def _stays_in_a_function(document: Document, number: int) -> bool:
    """No operation puts the node into the graph: it is in a loop's body, or in a branch that no constant chooses."""
    graph, around = document.graph, _around(document, number)
    while around is not None and around.call >= 0:
        op, inputs = graph.ops[around.call], graph.inputs(around.call)
        if op in LOOP_CALL_OPS:
            return True
        if op in BRANCH_CALL_OPS and (not inputs or _constant_bool(document, inputs[0]) is None):
            return True
        around = _around(document, around.call)
    return False


def _decided_by(document: Document, number: int) -> str | None:
    """The placeholder that turns a training-mode node on or off.

    None when nothing does; empty when a constant switches it off for good.
    """
    for condition, wanted in _conditions(document, number):
        constant = _constant_bool(document, condition)
        if constant is not None:
            if wanted is not None and constant != wanted:
                return ""
            continue
        source = _placeholder_above(document, [condition])
        if source is not None:
            return source
    return _fed_rate(document, number)


def _conditions(document: Document, number: int) -> Iterator[tuple[int, bool | None]]:
    """What decides whether a node runs, nearest first, and the value with which it does; None where that is no bool."""
    graph = document.graph
    for switch, port in _switches_above(graph, number):
        inputs = graph.inputs(switch)
        if len(inputs) > 1 and graph.ops[inputs[1]] != "LoopCond":
            yield inputs[1], bool(port)
    around = _around(document, number)
    while around is not None and around.call >= 0:
        inputs = graph.inputs(around.call)
        if graph.ops[around.call] in BRANCH_CALL_OPS and inputs:
            yield inputs[0], _BRANCHES.get(around.attribute)
        around = _around(document, around.call)


def _given(document: Document, number: int) -> list[int]:
    """What a call gives to an argument of its function; all that it is given where the op does not tell which."""
    around = _around(document, number)
    if not isinstance(document, Unfolded) or around is None or document.graph.ops[number] != ARGUMENT_OP:
        return []
    edge = document.passed(around, number - around.first)
    return document.graph.inputs(around.call) if edge is None else [int(document.graph.src[edge])]


def _placeholder_above(document: Document, numbers: Sequence[int], stop: Sequence[int] = ()) -> str | None:
    """The first placeholder that values come from, through arguments of functions; nothing behind ``stop`` counts."""
    graph = document.graph
    arguments = graph.of_ops({ARGUMENT_OP})
    ends = [*stop, *np.flatnonzero(arguments).tolist()]
    above = np.zeros(len(graph), bool)
    border = list(numbers)
    while border:
        more = graph.ancestors(border, stop=ends, control=False) & ~above
        above |= more
        border = [source for one in np.flatnonzero(more & arguments).tolist() for source in _given(document, one)]
    return _first(graph, above & graph.of_ops(PLACEHOLDER_OPS))


def _switches_above(graph: Graph, number: int) -> list[tuple[int, int]]:
    """(switch, output) of the conditionals that the node is inside of, nearest first."""
    found: list[tuple[int, int]] = []
    seen, queue = {number}, [number]
    for node in queue:
        for edge in graph.edges_into(node).tolist():
            source = int(graph.src[edge])
            if graph.ops[source] in SWITCH_OPS:
                found.append((source, int(graph.port[edge])))
            elif source not in seen and graph.ops[source] not in MERGE_OPS:
                seen.add(source)
                queue.append(source)
    return found


def _constant_bool(document: Document, number: int) -> bool | None:
    """The constant that a condition is; None too for what a loop starts with, which may change on its way."""
    graph = document.graph
    for _ in range(_MOST_STEPS):
        around = _around(document, number)
        if around is not None and graph.ops[number] == ARGUMENT_OP and graph.ops[around.call] in LOOP_CALL_OPS:
            return None
        sources = graph.inputs(number) if graph.ops[number] == "Identity" else _given(document, number)
        if len(sources) != 1:
            break
        number = sources[0]
    if graph.ops[number] != "Const":
        return None
    try:
        value = tensor_value(document.full_node(number).attr["value"].tensor)
    except TensorError:
        return None
    return bool(value) if value.dtype == bool and value.size == 1 else None


def _fed_rate(document: Document, number: int) -> str | None:
    """The placeholder that a dropout takes its rate from: behind its mask, shapes left out."""
    graph = document.graph
    reached, border = {number}, [number]
    for _ in range(_DROPOUT_LENGTH):
        border = [source for node in border for source in graph.inputs(node) if source not in reached]
        reached.update(border)
        border = [node for node in border if graph.ops[node] in _DROPOUT_ARITHMETIC]
    random = [node for node in reached if is_random_op(graph.ops[node])]
    ends = np.flatnonzero(graph.of_ops(SHAPE_OPS) | graph.of_ops(is_random_op)).tolist()
    below = graph.descendants(random, stop=[number], control=False)
    mask = [node for node in reached if below[node] and node != number and node not in random]
    return _placeholder_above(document, mask, ends)


def _first(graph: Graph, mask: Mask) -> str | None:
    numbers = np.flatnonzero(mask)
    return graph.names[int(numbers[0])] if len(numbers) else None
