"""Put the bodies of called functions into the graph.

Every PartitionedCall, StatefulPartitionedCall and op that is a function of the library is replaced by the function's
nodes, named ``call/node``; calls inside are inlined too. The call's own name stays, as an Identity of the results, so
that outputs, signatures and what reads it do not change. Afterwards the other operations see into what was called:
variables, batch norms, dropout.

Branches of If, Case and While stay functions. So do functions that call themselves. Gradients registered for an inlined
function are lost. Functions that nothing calls any more go.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from graphviewer.analysis.control_flow import FLOW_STARTS, after_flow
from graphviewer.errors import OperationError
from graphviewer.model.document import Document
from graphviewer.model.progress import Progress
from graphviewer.operations.draft import Draft
from graphviewer.operations.inlining.call import Call, refusal, results_node
from graphviewer.operations.library import reached
from graphviewer.operations.registry import Result, Rewrite, operation
from graphviewer.operations.selection import join

MOST_NODES = 1_000_000
"""Functions that call others twice, level by level, grow without end; the work stops here."""

CALLS = frozenset({"PartitionedCall", "StatefulPartitionedCall"})


@operation(id="inline-functions", label="Inline functions", parameters=())
def inline_functions(document: Document, *, progress: Progress) -> Result:
    """Replace calls by what they call, as deep as they go.

    Raises:
        OperationError: the result would be larger than ``MOST_NODES``, or several nodes share a name.
    """
    progress(0.0, "Inlining calls")
    draft = Draft(document)
    inliner = _Inliner(draft, document)
    inliner.run(progress)
    progress(0.8, "Writing the graph")
    library = _smaller_library(document, draft)
    gradients = {one.function_name for one in document.graph_def.library.gradient}
    lost = sorted(gradients & inliner.done)
    warnings = [f"'{name}' was not inlined: {reason}." for name, reason in inliner.refused.items()]
    if lost:
        warnings.append(f"Gradients registered for {join(lost)} are lost: the graph cannot be trained as before.")
    if inliner.noted:
        warnings.append(f"Gradients that calls name of their own are lost: {join(inliner.noted)}.")
    if not draft.rewrites and not warnings:
        warnings.append("The graph calls no functions.")
    return Result(draft.build(library), draft.provenance(), warnings=tuple(warnings), rewrites=tuple(draft.rewrites))


class _Inliner:
    """Inlines call after call.

    Attributes:
        done: names of functions that were inlined.
        refused: by call: why it stays.
        noted: calls that had a gradient of their own.
    """

    def __init__(self, draft: Draft, document: Document) -> None:
        self._draft, self._functions = draft, document.functions
        graph = document.graph
        self._in_flow = {graph.names[number] for number in np.flatnonzero(after_flow(graph)).tolist()}
        self.done: set[str] = set()
        self.refused: dict[str, str] = {}
        self.noted: list[str] = []

    def run(self, progress: Progress) -> None:
        draft = self._draft
        stack: list[tuple[str, tuple[str, ...]]] = [
            (name, ()) for name, node in draft.nodes.items() if _callee(node, self._functions)
        ]
        total = len(stack) or 1
        self._require_room(name for name, _ in stack)
        while stack:
            name, path = stack.pop()
            progress(0.8 * max(0.0, 1 - len(stack) / total), f"Inlining {name}")
            function = _callee(draft.nodes[name], self._functions)
            if function in path:
                self.refused[name] = f"the function '{function}' calls itself"
                continue
            inner = self._inline(name, function)
            stack += [(one, (*path, function)) for one in inner]
            if len(draft.nodes) > MOST_NODES:
                raise _too_large()

    def _require_room(self, calls: Iterable[str]) -> None:
        """Refuse, before anything is made, what would be too large.

        Raises:
            OperationError: with the bodies of all calls there would be more than ``MOST_NODES``.
        """
        sizes = _sizes(self._functions)
        callees = (_inlined(self._draft.nodes[name], self._functions) for name in calls)
        inside = sum(sizes[callee] for callee in callees if callee)
        if len(self._draft.nodes) + inside > MOST_NODES:
            raise _too_large()

    def _inline(self, name: str, function: str) -> list[str]:
        """Replace one call; returns the calls inside."""
        draft, node = self._draft, self._draft.nodes[name]
        reason = refusal(node, self._functions[function])
        if reason:
            self.refused[name] = reason
            return []
        call = Call(node, self._functions[function], self._functions, in_flow=name in self._in_flow)
        made = list(call.nodes(draft.free_name))
        if name in self._in_flow or any(one.op in FLOW_STARTS for one in made):
            self._in_flow.update(one.name for one in made)
        for one in made:
            draft.put(one, one.name, f"belongs to the function '{function}', which '{name}' called", "inlined")
        inner = [one.name for one in made if _callee(one, self._functions)]
        if "_gradient_op_type" in node.attr:
            self.noted.append(name)
        said = f"the {len(made):,} nodes of the function '{function}' stand in its place, under '{name}/'"
        draft.replace(results_node(call), f"{node.op} -> body", said)
        self.done.add(function)
        return inner


def _too_large() -> OperationError:
    return OperationError(
        f"Inlined, the graph would have more than {MOST_NODES:,} nodes.", "Extract a part of it first."
    )


def _sizes(functions: Mapping[str, Any]) -> dict[str, int]:
    """By function: how many nodes its body has, those of calls inside included, but not of functions being counted."""
    inner = {
        name: [callee for node in function.node_def if (callee := _inlined(node, functions))]
        for name, function in functions.items()
    }
    sizes: dict[str, int] = {}
    for first in functions:
        stack = [first]
        begun: set[str] = set()
        while stack:
            name = stack[-1]
            new = [callee for callee in inner[name] if callee not in sizes and callee not in begun]
            if name not in begun and new:
                begun.add(name)
                stack += new
                continue
            stack.pop()
            if name not in sizes:
                sizes[name] = len(functions[name].node_def) + sum(sizes.get(callee, 0) for callee in inner[name])
    return sizes


def _inlined(node: Any, functions: Mapping[str, Any]) -> str:
    """The function that takes a node's place; empty where it stays."""
    callee = _callee(node, functions)
    return callee if callee and not refusal(node, functions[callee]) else ""


def _callee(node: Any, functions: Mapping[str, Any]) -> str:
    """The function that a node calls and that can take its place; empty for any other node."""
    if node.op in functions:
        return str(node.op)
    name = node.attr["f"].func.name if node.op in CALLS else ""
    return name if name in functions else ""


def _smaller_library(document: Document, draft: Draft) -> Any:
    """The library without functions that the graph called before and calls no more."""
    library = type(document.graph_def.library)()
    before = reached(document.graph_def.node, document.graph_def.library)
    others = [node for name, function in document.functions.items() if name not in before for node in function.node_def]
    gone = before - reached([*draft.nodes.values(), *others], document.graph_def.library)
    library.function.extend(one for one in document.graph_def.library.function if one.signature.name not in gone)
    library.gradient.extend(one for one in document.graph_def.library.gradient if one.function_name not in gone)
    draft.rewrites += [Rewrite(name, "function removed", "no node calls it any more") for name in sorted(gone)]
    return library
