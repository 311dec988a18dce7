"""Which part of a graph an operation keeps, and the document made of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from graphviewer import protos
from graphviewer.errors import OperationError
from graphviewer.model.document import Document
from graphviewer.model.graph import Graph, Mask
from graphviewer.model.names import CONTROL_PORT, Endpoint, nearest
from graphviewer.model.nodes import COLOCATION, colocated_with
from graphviewer.model.provenance import Origin, Provenance, Removal
from graphviewer.operations.library import pruned_library
from graphviewer.operations.metadata import pruned_meta

ALL_PORTS: frozenset[int] = frozenset()
"""A cut that takes every output of a node, control edges included."""

Cuts = Mapping[int, frozenset[int]]
"""Outputs that will be fed, by node number; ``ALL_PORTS`` (empty) for the whole node."""

NewNode = Any | Callable[[], Any]
"""A NodeDef, or a function that makes it when it is written (large constants)."""

_SHOWN = 3


@dataclass(frozen=True, eq=False)
class Selection:
    """The nodes that ``outputs`` need.

    Attributes:
        numbers: needed nodes in file order, cut ones left out.
        fed: outputs of cut nodes that are read, by node number; nodes cut whole but only waited for have ``{0}``.
        drop: bool [edges]: control edges that are left out; None: none are.
    """

    document: Document
    outputs: tuple[Endpoint, ...]
    numbers: tuple[int, ...]
    fed: Mapping[int, frozenset[int]]
    drop: Mask | None = None
    placeholders: Mapping[tuple[int, int], Any] = field(default_factory=dict)

    @property
    def graph(self) -> Graph:
        return self.document.graph

    @cached_property
    def mask(self) -> Mask:
        """bool [nodes]: the node itself stays."""
        mask = np.zeros(len(self.graph), bool)
        mask[list(self.numbers)] = True
        return mask

    @cached_property
    def names(self) -> frozenset[str]:
        """Names of nodes and placeholders in the result, extra nodes left out."""
        fed = {placeholder.name for placeholder in self.placeholders.values()}
        return frozenset(fed.union(self.graph.names[number] for number in self.numbers))

    def inputs(self, number: int) -> list[str] | None:
        """Inputs of a kept node as the result writes them; None when they stay as they are."""
        changes = self._changed_inputs.get(number)
        if changes is None:
            return None
        texts = enumerate(self.document.node(number).input)
        return [text for text in (changes.get(slot, text) for slot, text in texts) if text]

    @cached_property
    def _changed_inputs(self) -> dict[int, dict[int, str]]:
        """By kept node and slot: what stands there now, empty for an input that is left out."""
        graph = self.graph
        changed: dict[int, dict[int, str]] = {}
        fed = np.zeros(len(graph), bool)
        fed[list(self.fed)] = True
        affected = fed[graph.src]
        if self.drop is not None:
            affected |= self.drop
        for edge in np.flatnonzero(affected & self.mask[graph.dst]).tolist():
            source, port = int(graph.src[edge]), int(graph.port[edge])
            text = "" if self.drop is not None and self.drop[edge] else self._input_text(source, port)
            if text is not None:
                changed.setdefault(int(graph.dst[edge]), {})[int(graph.slot[edge])] = text
        return changed

    def _input_text(self, source: int, port: int) -> str | None:
        if port == CONTROL_PORT:
            beside = sorted(at for number, at in self.placeholders if number == source)
            kept = self.mask[source] or not beside
            return None if kept else "^" + self.placeholders[source, beside[0]].name
        placeholder = self.placeholders.get((source, port))
        return None if placeholder is None else placeholder.name

    def copy(self, number: int) -> Any:
        """A copy of a kept node with the result's inputs and colocation."""
        node = protos.NodeDef()
        node.CopyFrom(self.document.full_node(number))
        self.adapt(node, number)
        return node

    def adapt(self, node: Any, number: int) -> None:
        """Give a copy of node ``number`` the result's inputs, and drop colocation with nodes that are gone."""
        inputs = self.inputs(number)
        if inputs is not None:
            node.input[:] = inputs
        if "_class" in node.attr:
            fix_colocation(node, self.names)

    def waits_dropped(self) -> dict[int, list[str]]:
        """By kept node: sources of the control inputs that are left out."""
        found = {}
        for number, changes in self._changed_inputs.items():
            texts = self.document.node(number).input
            gone = [texts[slot][1:] for slot, text in changes.items() if not text]
            if gone:
                found[number] = gone
        return found


def fix_colocation(node: Any, names: Collection[str]) -> None:
    """Drop ``loc:@x`` from a node's ``_class`` where ``x`` is not among ``names``."""
    old = list(node.attr["_class"].list.s)
    kept = [entry for entry in old if (other := colocated_with(entry)) is None or other in names]
    if not kept:
        del node.attr["_class"]
    elif kept != old:
        node.attr["_class"].list.s[:] = kept


def select(
    document: Document,
    outputs: Sequence[Endpoint],
    *,
    cuts: Cuts | None = None,
    drop: Mask | None = None,
    colocated: bool = False,
    also: Sequence[int] = (),
) -> Selection:
    """Walk backwards from ``outputs`` over data and control edges, stopping at ``cuts``.

    Args:
        document: the graph.
        outputs: the tensors to compute.
        cuts: tensors that will be fed.
        drop: bool [edges]: control edges that are not followed.
        colocated: also keep the nodes that kept ones are colocated with, as TensorFlow's extract_sub_graph does.
        also: nodes to keep besides, with what they need.

    Raises:
        OperationError: a needed node reads a node that is not there, or shares its name with another.
    """
    graph = document.graph
    seeds = [(graph.index[name], port) for name, port in outputs] + [(number, CONTROL_PORT) for number in also]
    numbers, fed = _walk(document, seeds, cuts or {}, drop, colocated)
    selection = Selection(document, tuple(outputs), tuple(sorted(numbers)), fed, drop)
    _require_sound(selection)
    return selection


def _walk(
    document: Document, seeds: Iterable[tuple[int, int]], cuts: Cuts, drop: Mask | None, colocated: bool
) -> tuple[set[int], dict[int, frozenset[int]]]:
    graph = document.graph
    start, source, port = graph.in_start.tolist(), graph.src.tolist(), graph.port.tolist()
    dropped = np.zeros(len(graph.src), bool) if drop is None else drop
    seen: set[int] = set()
    fed: dict[int, set[int]] = {}
    stack = list(seeds)
    while stack:
        node, at = stack.pop()
        cut = cuts.get(node)
        if cut is not None and (cut == ALL_PORTS or at in cut):
            fed.setdefault(node, set()).add(max(at, 0))
        elif node not in seen:
            seen.add(node)
            for edge in range(start[node], start[node + 1]):
                if not dropped[edge]:
                    stack.append((source[edge], port[edge]))
            if colocated:
                stack.extend((other, CONTROL_PORT) for other in _colocated(document, node))
    return seen, {node: frozenset(ports) for node, ports in fed.items()}


def _colocated(document: Document, number: int) -> Iterable[int]:
    node, index = document.node(number), document.graph.index
    if "_class" in node.attr:
        for entry in node.attr["_class"].list.s:
            other = index.get(entry.removeprefix(COLOCATION).decode("utf-8", "replace"))  # bare names count there too
            if other is not None:
                yield other


def _require_sound(selection: Selection) -> None:
    """Refuse damage inside what is kept; damage elsewhere does no harm."""
    graph, mask = selection.graph, selection.mask
    missing = [found for found in graph.dangling if mask[found.node]]
    if missing:
        first = missing[0]
        close = nearest(first.text.lstrip("^"), graph.index)
        more = f" ({len(missing)} such inputs)" if len(missing) > 1 else ""
        raise OperationError(
            f"'{graph.names[first.node]}' is needed, but reads '{first.text}', which is not in the graph{more}.",
            f"Closest: {', '.join(close)}." if close else "The file is incomplete: export the graph again.",
        )
    if len(graph.index) < len(graph):
        counts = Counter(graph.names)
        stays = [*selection.numbers, *selection.fed]
        doubled = sorted({graph.names[number] for number in stays if counts[graph.names[number]] > 1})
        if doubled:
            names = ", ".join(f"'{name}'" for name in doubled[:_SHOWN])
            raise OperationError(
                f"The outputs need {names}, and several nodes have that name: it is not clear which is meant.",
                "Rename or remove the doubles where the graph is built.",
            )


def assemble(
    selection: Selection, *, new: Mapping[int, NewNode] | None = None, extra: Sequence[Any] = (), library: Any = None
) -> Document:
    """The document that a selection describes; versions are copied, library and MetaGraph information pruned.

    Args:
        selection: what stays; cut nodes stand as their placeholders.
        new: nodes that take the place of kept ones, complete with inputs.
        extra: nodes to append.
        library: FunctionDefLibrary to take functions from; by default the document's own.
    """
    source, new = selection.document, new or {}
    graph_def = protos.GraphDef()
    if source.graph_def.HasField("versions"):
        graph_def.versions.CopyFrom(source.graph_def.versions)
    payloads = {}
    left_in_file = source.payloads.by_node if source.payloads is not None else {}
    beside = _placeholders_by_node(selection)
    for number in sorted({*selection.numbers, *beside}):
        graph_def.node.extend(beside.get(number, ()))
        if not selection.mask[number]:
            continue
        made = new.get(number)
        if made is not None:
            graph_def.node.append(made() if callable(made) else made)
            continue
        if number in left_in_file:
            payloads[len(graph_def.node)] = left_in_file[number]
        node = graph_def.node.add()
        node.CopyFrom(source.node(number))
        selection.adapt(node, number)
    graph_def.node.extend(extra)
    own = source.graph_def.library if library is None else library
    pruned_library(graph_def, own)
    names = {node.name for node in graph_def.node}
    changes: dict[str, Any] = {"meta": pruned_meta(source.meta, source.graph.index.keys(), names)}
    if payloads and source.payloads is not None:
        changes["payloads"] = replace(source.payloads, by_node=payloads)
    return source.with_graph(graph_def, **changes)


def _placeholders_by_node(selection: Selection) -> dict[int, list[Any]]:
    beside: dict[int, list[Any]] = {}
    for (number, _), placeholder in sorted(selection.placeholders.items(), key=lambda item: item[0]):
        beside.setdefault(number, []).append(placeholder)
    return beside


def join(names: Iterable[object], shown: int = _SHOWN) -> str:
    """``a, b, c and 4 more``."""
    texts = [str(name) for name in names]
    more = f" and {len(texts) - shown:,} more" if len(texts) > shown else ""
    return ", ".join(texts[:shown]) + more


def provenance_of(selection: Selection, origins: Mapping[str, Origin]) -> Provenance:
    """Provenance of a result: ``origins`` as given, a removal with its reason for every other node that is gone."""
    graph = selection.graph
    stays = selection.mask.copy()
    stays[[graph.index[origin.source] for origin in origins.values() if origin.source is not None]] = True
    gone = np.flatnonzero(~stays).tolist()
    names = join(selection.outputs)
    unneeded = Removal("removed", f"not needed by {names}")
    waited = Removal(
        "removed", f"only updates variables or checks values; {names} waited for it, but reads nothing of it"
    )
    inputs = join(graph.names[number] for number in selection.fed)
    behind = Removal("removed", f"only computes {inputs}, which is fed now")
    needed_once = _needed_uncut(selection)
    fed = graph.ancestors(selection.fed)
    removals = {}
    for number in gone:
        once = needed_once[number]
        removals[graph.names[number]] = unneeded if not once else behind if fed[number] else waited
    return Provenance(dict(origins), removals)


def _needed_uncut(selection: Selection) -> Mask:
    """bool [nodes]: the outputs depend on the node in the graph before."""
    if not selection.fed and selection.drop is None:
        return selection.mask
    graph = selection.graph
    return graph.ancestors(graph.index[output.node] for output in selection.outputs)
