"""What in a frozen graph would still compute as in training."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from graphviewer.analysis.ops import (
    BATCH_NORM_OPS,
    BRANCH_CALL_OPS,
    MERGE_OPS,
    PLACEHOLDER_OPS,
    SHAPE_OPS,
    SWITCH_OPS,
    is_random_op,
    uses_batch_statistics,
)
from graphviewer.analysis.roles.facts import Facts
from graphviewer.analysis.roles.markers import DROPOUT_STEPS, training_mode
from graphviewer.model.document import Document
from graphviewer.model.graph import Graph, Mask
from graphviewer.model.tensors import TensorError, tensor_value
from graphviewer.operations.library import called
from graphviewer.operations.selection import Selection, join

_DROPOUT_ARITHMETIC = DROPOUT_STEPS | {"Identity", "RealDiv", "Reshape"}
_DROPOUT_LENGTH = 8


@dataclass(frozen=True)
class TrainingMode:
    """Nodes that compute otherwise in training than in inference.

    Attributes:
        fixed: always do; names, functions' nodes as ``function/node``.
        fed: only when a value is fed so; by name, what decides.
        random: draw random numbers for something else than these.
    """

    fixed: tuple[str, ...]
    fed: dict[str, str]
    random: tuple[str, ...]

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
    """Batch norms on batch statistics, dropout and random ops among what a selection keeps."""
    document, graph = selection.document, selection.graph
    kept = np.flatnonzero(selection.mask & training_mode(Facts(document))).tolist()
    fixed, fed = [], {}
    for number in kept:
        source = _decided_by(document, number)
        if source is None:
            fixed.append(graph.names[number])
        elif source:
            fed[graph.names[number]] = source
    random = np.flatnonzero(selection.mask & graph.of_ops(is_random_op)).tolist()
    explained = graph.ancestors(kept, control=False) if kept else np.zeros(len(graph), bool)
    others = tuple(graph.names[number] for number in random if not explained[number])
    return TrainingMode((*fixed, *_in_functions(selection)), fed, others)


def _decided_by(document: Document, number: int) -> str | None:
    """The placeholder that turns a training-mode node on or off.

    None when nothing does; empty when a constant switches it off for good.
    """
    graph = document.graph
    for switch, port in _switches_above(graph, number):
        inputs = graph.inputs(switch)
        if len(inputs) < 2 or graph.ops[inputs[1]] == "LoopCond":
            continue
        constant = _constant_bool(document, inputs[1])
        if constant is not None:
            if constant != bool(port):
                return ""
            continue
        above = graph.ancestors([inputs[1]], control=False)
        source = _first(graph, above & graph.of_ops(PLACEHOLDER_OPS))
        if source is not None:
            return source
    return _fed_rate(document, number)


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
    graph = document.graph
    for _ in range(_DROPOUT_LENGTH):
        inputs = graph.inputs(number)
        if graph.ops[number] != "Identity" or not inputs:
            break
        number = inputs[0]
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
    return _first(graph, graph.ancestors(mask, stop=ends, control=False) & graph.of_ops(PLACEHOLDER_OPS))


def _first(graph: Graph, mask: Mask) -> str | None:
    numbers = np.flatnonzero(mask)
    return graph.names[int(numbers[0])] if len(numbers) else None


def _in_functions(selection: Selection) -> list[str]:
    """Batch norms on batch statistics in functions that are called outside of a branch, as ``function/node``."""
    functions = selection.document.functions
    if not functions:
        return []
    found: list[str] = []
    seen: set[str] = set()
    stack = list(_unconditional(map(selection.document.node, selection.numbers), functions))
    while stack:
        name = stack.pop()
        if name in seen or name not in functions:
            continue
        seen.add(name)
        nodes = functions[name].node_def
        found += [f"{name}/{node.name}" for node in nodes if node.op in BATCH_NORM_OPS and uses_batch_statistics(node)]
        stack.extend(_unconditional(nodes, functions))
    return sorted(found)


def _unconditional(nodes: Iterable[Any], functions: Iterable[str]) -> set[str]:
    return called((node for node in nodes if node.op not in BRANCH_CALL_OPS), functions)
