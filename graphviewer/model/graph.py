"""A graph as columns: lists of names and ops, numpy edge arrays, and the networkx view of both."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, repeat
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphviewer.model.names import CONTROL_PORT, parse_input

if TYPE_CHECKING:
    import networkx as nx

Ints = NDArray[np.int32]
Mask = NDArray[np.bool_]
_BLOCK = 1_000  # nodes read by one C call that holds the GIL: 475,000 edges in one call would stop the window for 60 ms


class Dangling(NamedTuple):
    """An input that names a node the graph does not have."""

    node: int
    text: str


@dataclass(frozen=True, eq=False)
class Graph:
    """Nodes 0..n-1 and the edges between them, in file order.

    Edges are sorted by destination, then by position in the destination's input list. TF1 loops make graphs cyclic:
    nothing here assumes a DAG, and nothing recurses.

    Attributes:
        names, ops, devices: one entry per node; names may repeat in damaged files (``index`` holds the first).
        src, dst: int32 [edges], node numbers.
        port: int32 [edges], output of ``src`` that is read; CONTROL_PORT (-1) for a control edge.
        slot: int32 [edges], position in ``dst``'s input list, control inputs counted.
        dangling: inputs that name no node; they have no edge.
    """

    names: Sequence[str]
    ops: Sequence[str]
    devices: Sequence[str]
    src: Ints
    dst: Ints
    port: Ints
    slot: Ints
    dangling: tuple[Dangling, ...] = ()

    @classmethod
    def from_nodes(cls, nodes: Sequence[Any]) -> Graph:
        """Columns of a sequence of NodeDefs (16,500 nodes with 475,000 edges: 0.15 s)."""
        names = [node.name for node in nodes]
        count = len(names)
        code: dict[str, int] = {}
        for number, name in enumerate(names):
            code.setdefault(name, number)
            code.setdefault("^" + name, number + count)
        blocks = [_read_inputs(nodes, at, code) for at in range(0, count, _BLOCK)] or [_read_inputs((), 0, code)]
        target, dst, slot = (np.concatenate(column) for column in list(zip(*blocks, strict=True))[:3])
        texts = {edge: text for block in _numbered(blocks) for edge, text in block}
        port = np.where(target >= count, CONTROL_PORT, 0)
        target = np.where(target >= count, target - count, target)
        dangling = []
        for edge, text in texts.items():
            name, at = parse_input(text)
            number = code.get(name, -1)
            target[edge], port[edge] = number, at
            if number < 0:
                dangling.append(Dangling(int(dst[edge]), text))
        keep = target >= 0
        edges = [column[keep].astype(np.int32) for column in (target, dst, port, slot)]
        ops, devices = [node.op for node in nodes], [node.device for node in nodes]
        return cls(names, ops, devices, edges[0], edges[1], edges[2], edges[3], tuple(dangling))

    def __len__(self) -> int:
        return len(self.names)

    @cached_property
    def index(self) -> dict[str, int]:
        """Node number by name; the first one where names repeat."""
        index: dict[str, int] = {}
        for number, name in enumerate(self.names):
            index.setdefault(name, number)
        return index

    @cached_property
    def control(self) -> Mask:
        """bool [edges]: the edge is a control edge."""
        return np.asarray(self.port == CONTROL_PORT)

    @cached_property
    def in_start(self) -> Ints:
        """int32 [n+1]: edges ``in_start[i]:in_start[i+1]`` enter node i."""
        return np.searchsorted(self.dst, np.arange(len(self) + 1)).astype(np.int32)

    @cached_property
    def out_edges(self) -> Ints:
        """int32 [edges]: edge numbers sorted by source; see ``out_start``."""
        return np.argsort(self.src, kind="stable").astype(np.int32)

    @cached_property
    def out_start(self) -> Ints:
        """int32 [n+1]: ``out_edges[out_start[i]:out_start[i+1]]`` leave node i."""
        return np.searchsorted(self.src[self.out_edges], np.arange(len(self) + 1)).astype(np.int32)

    def edges_into(self, node: int) -> Ints:
        """Edge numbers that enter ``node``, in input order."""
        return np.arange(self.in_start[node], self.in_start[node + 1], dtype=np.int32)

    def edges_out_of(self, node: int) -> Ints:
        """Edge numbers that leave ``node``."""
        return self.out_edges[self.out_start[node] : self.out_start[node + 1]]

    def inputs(self, node: int, *, control: bool = False) -> list[int]:
        """Nodes that ``node`` reads, in input order (control inputs only on request)."""
        edges = self.edges_into(node)
        return self.src[edges if control else edges[~self.control[edges]]].tolist()

    def consumers(self, node: int, *, control: bool = False) -> list[int]:
        """Nodes that read ``node``, one entry per edge."""
        edges = self.edges_out_of(node)
        return self.dst[edges if control else edges[~self.control[edges]]].tolist()

    @cached_property
    def _walks(self) -> dict[tuple[str, bool], tuple[list[int], list[int]]]:
        return {}

    def _adjacency(self, direction: str, control: bool) -> tuple[list[int], list[int]]:
        """Flat adjacency (start, other end) as lists: a Python walk over them beats one numpy call per node."""
        if (direction, control) not in self._walks:
            order, key, other = (
                (slice(None), self.dst, self.src) if direction == "in" else (self.out_edges, self.src, self.dst)
            )
            key, other = key[order], other[order]
            if not control:
                keep = ~self.control[order]
                key, other = key[keep], other[keep]
            start = np.searchsorted(key, np.arange(len(self) + 1))
            self._walks[direction, control] = (start.tolist(), other.tolist())
        return self._walks[direction, control]

    def _reach(self, seeds: Iterable[int], stop: Iterable[int], direction: str, control: bool) -> Mask:
        start, other = self._adjacency(direction, control)
        seen, stopped = bytearray(len(self)), bytearray(len(self))
        for node in stop:
            stopped[node] = 1
        stack = [int(seed) for seed in seeds]
        while stack:
            node = stack.pop()
            if not seen[node]:
                seen[node] = 1
                if not stopped[node]:
                    stack.extend(other[start[node] : start[node + 1]])
        return np.frombuffer(seen, np.bool_)

    def ancestors(self, seeds: Iterable[int], *, stop: Iterable[int] = (), control: bool = True) -> Mask:
        """bool [n]: ``seeds`` and all that they depend on; ``stop`` nodes are kept but not looked behind."""
        return self._reach(seeds, stop, "in", control)

    def descendants(self, seeds: Iterable[int], *, stop: Iterable[int] = (), control: bool = True) -> Mask:
        """bool [n]: ``seeds`` and all that depends on them; ``stop`` nodes are kept but not looked behind."""
        return self._reach(seeds, stop, "out", control)

    @cached_property
    def digraph(self) -> nx.DiGraph:
        """The networkx model: node numbers with name, op, device; one edge per pair with its ``ports``.

        Built on first use, for paths, cycles, neighbourhoods, matching and export: it costs 0.6 s and 130 MB for
        475,000 edges, so never before the first picture and never in the GUI thread.
        """
        import networkx as nx

        graph = nx.DiGraph()
        graph.add_nodes_from(
            (number, {"name": name, "op": op, "device": device})
            for number, (name, op, device) in enumerate(zip(self.names, self.ops, self.devices, strict=True))
        )
        ports: dict[tuple[int, int], list[int]] = {}
        for source, target, port in zip(self.src.tolist(), self.dst.tolist(), self.port.tolist(), strict=True):
            ports.setdefault((source, target), []).append(port)
        graph.add_edges_from((source, target, {"ports": ports[source, target]}) for source, target in ports)
        return graph


class _Inputs(NamedTuple):
    """The inputs of a block of nodes; ``unresolved`` lists (edge of the block, text) that are no plain names."""

    target: NDArray[np.int64]
    dst: NDArray[np.int64]
    slot: NDArray[np.int64]
    unresolved: list[tuple[int, str]]


def _read_inputs(nodes: Sequence[Any], begin: int, code: dict[str, int]) -> _Inputs:
    inputs = [node.input for node in nodes[begin : begin + _BLOCK]]
    counts = np.fromiter(map(len, inputs), np.int64, len(inputs))
    flat = list(chain.from_iterable(inputs))
    target = np.fromiter(map(code.get, flat, repeat(-1)), np.int64, len(flat))
    dst = np.repeat(np.arange(begin, begin + len(inputs)), counts)
    slot = np.arange(len(flat)) - np.repeat(np.cumsum(counts) - counts, counts)
    return _Inputs(target, dst, slot, [(edge, flat[edge]) for edge in np.flatnonzero(target < 0).tolist()])


def _numbered(blocks: Sequence[_Inputs]) -> Iterable[list[tuple[int, str]]]:
    """The unresolved inputs of each block, with edge numbers of the whole graph."""
    offset = 0
    for block in blocks:
        yield [(offset + edge, text) for edge, text in block.unresolved]
        offset += len(block.target)
