"""A graph as columns: lists of names and ops, numpy edge arrays, and the networkx view of both."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, compress, repeat
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
        """Columns of a sequence of NodeDefs (16,500 nodes with 475,000 edges: 0.1 s; a million nodes: 2.5 s)."""
        columns = _Columns()
        for begin in range(0, len(nodes), _BLOCK):
            columns.read(nodes[begin : begin + _BLOCK])
        return columns.graph()

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
    def op_codes(self) -> tuple[list[str], Ints]:
        """The distinct ops, and int32 [n]: the place of each node's op among them."""
        code: dict[str, int] = {}
        codes = np.empty(len(self), np.int32)
        for begin in range(0, len(self), _BLOCK):
            block = self.ops[begin : begin + _BLOCK]
            for op in block:
                code.setdefault(op, len(code))
            codes[begin : begin + len(block)] = [code[op] for op in block]
        return list(code), codes

    def of_ops(self, family: Callable[[str], bool] | Collection[str]) -> Mask:
        """bool [n]: the node's op is in a family, given as a set or a predicate."""
        names, codes = self.op_codes
        test = family if callable(family) else family.__contains__
        return np.fromiter(map(test, names), np.bool_, len(names))[codes]

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

    def first_inputs(self) -> Ints:
        """int32 [n]: the node behind each node's first data input, -1 where it has none."""
        first = np.full(len(self), -1, np.int32)
        leading = (self.slot == 0) & ~self.control
        first[self.dst[leading]] = self.src[leading]
        return first

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
            key, other = (self.dst, self.src) if direction == "in" else (self.src, self.dst)
            if not control:  # first: of 475,000 edges 26,000 may be left to sort
                key, other = key[~self.control], other[~self.control]
            if direction == "out":
                order = np.argsort(key, kind="stable")
                key, other = key[order], other[order]
            start = np.searchsorted(key, np.arange(len(self) + 1))
            self._walks[direction, control] = (start.tolist(), other.tolist())
        return self._walks[direction, control]

    def _reach(self, seeds: Iterable[int], stop: Iterable[int], direction: str, control: bool) -> Mask:
        start, other = self._adjacency(direction, control)
        seen, ends = bytearray(len(self)), np.zeros(len(self), np.bool_)
        ends[np.fromiter(stop, np.int64)] = True
        stopped = ends.tobytes()
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

    def distances(self, seeds: Iterable[int], *, against: bool = False, control: bool = True, limit: int = -1) -> Ints:
        """int32 [n]: edges on the shortest way from ``seeds`` to each node, -1 where there is none.

        Args:
            seeds: nodes at distance 0.
            against: walk from a node to what it reads; else to what reads it.
            control: also walk along control edges.
            limit: look no farther than this; -1 for everywhere.
        """
        start, other = self._adjacency("in" if against else "out", control)
        found = [-1] * len(self)
        frontier, far = list(dict.fromkeys(int(seed) for seed in seeds)), 0
        for seed in frontier:
            found[seed] = 0
        while frontier and far != limit:
            far += 1
            following = []
            for node in frontier:
                for near in other[start[node] : start[node + 1]]:
                    if found[near] < 0:
                        found[near] = far
                        following.append(near)
            frontier = following
        return np.array(found, np.int32)

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


class _Columns:
    """Reads nodes block by block: each message becomes a Python object once, and each text is kept once."""

    def __init__(self) -> None:
        self._names: list[str] = []
        self._ops: list[str] = []
        self._devices: list[str] = []
        self._index: dict[str, int] = {}
        self._shared: dict[str, str] = {}
        self._others: dict[str, int] = {}
        nothing = np.zeros(0, np.int32)
        self._target, self._dst, self._slot = [nothing], [nothing], [nothing]

    def read(self, block: Sequence[Any]) -> None:
        """Append a block of NodeDefs."""
        begin, share = len(self._names), self._shared.setdefault
        names = [node.name for node in block]
        for number, name in enumerate(names, begin):
            self._index.setdefault(name, number)
        self._names += names
        self._ops += [share(op, op) for op in [node.op for node in block]]
        self._devices += [share(device, device) for device in [node.device for node in block]]
        inputs = [node.input for node in block]
        counts = np.fromiter(map(len, inputs), np.int64, len(inputs))
        flat = list(chain.from_iterable(inputs))
        target = np.fromiter(map(self._index.get, flat, repeat(-1)), np.int32, len(flat))
        # What is no name so far is numbered downwards from -1: control inputs, later ports, nodes that come later.
        is_other, others = target < 0, self._others
        texts = list(compress(flat, is_other.tolist()))
        for text in dict.fromkeys(texts):
            others.setdefault(text, len(others))
        target[is_other] = -1 - np.fromiter(map(others.__getitem__, texts), np.int32, len(texts))
        self._target.append(target)
        self._dst.append(np.repeat(np.arange(begin, begin + len(block), dtype=np.int32), counts))
        self._slot.append((np.arange(len(flat)) - np.repeat(np.cumsum(counts) - counts, counts)).astype(np.int32))

    def graph(self) -> Graph:
        """The graph of all blocks."""
        target, dst, slot = (np.concatenate(column) for column in (self._target, self._dst, self._slot))
        texts = list(self._others)
        sources, ports = self._resolve(texts)
        port = np.zeros(len(target), np.int32)
        other = np.flatnonzero(target < 0)
        number = -1 - target[other]
        target[other], port[other] = sources[number], ports[number]
        lost = target < 0
        missing = zip(dst[lost].tolist(), number[target[other] < 0].tolist(), strict=True)
        dangling = tuple(Dangling(node, texts[at]) for node, at in missing)
        edges = [column[~lost] for column in (target, dst, port, slot)]
        graph = Graph(self._names, self._ops, self._devices, edges[0], edges[1], edges[2], edges[3], dangling)
        vars(graph)["index"] = self._index  # what the cached property would make again
        return graph

    def _resolve(self, texts: Sequence[str]) -> tuple[Ints, Ints]:
        """Source and port of inputs that were no names when they were read; -1 where no node is meant."""
        sources, ports = np.empty(len(texts), np.int32), np.zeros(len(texts), np.int32)
        for at, text in enumerate(texts):
            source = self._index.get(text, -1)
            if source < 0:
                name, ports[at] = parse_input(text)
                source = self._index.get(name, -1)
            sources[at] = source
        return sources, ports
