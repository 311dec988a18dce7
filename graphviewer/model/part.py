"""Some nodes of a document, to look at them by themselves."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any

import numpy as np

from graphviewer.model.document import Document
from graphviewer.model.graph import Graph, Ints
from graphviewer.model.overlay import Overlay


@dataclass(frozen=True, eq=False)
class Part(Document):
    """A document whose ``graph``, ``scopes`` and ``node`` know some of the nodes only, numbered anew.

    Edges from and to other nodes are left out. ``graph_def`` stays what is in the file.

    Attributes:
        whole: the document that it is a part of.
        nodes: int32, rising: numbers in ``whole`` of the nodes here.
    """

    whole: Document | None = None
    nodes: Ints = field(default_factory=lambda: np.zeros(0, np.int32))

    @classmethod
    def of(cls, whole: Document, nodes: Iterable[int]) -> Part:
        """The part of a document that has these nodes."""
        plain = {one.name: getattr(whole, one.name) for one in fields(Document)}
        return cls(**plain, whole=whole, nodes=np.unique(np.fromiter(nodes, np.int32)))

    @cached_property
    def graph(self) -> Graph:
        """These nodes, and the edges between them."""
        assert self.whole is not None
        graph = self.whole.graph
        number = np.full(len(graph), -1, np.int32)
        number[self.nodes] = np.arange(len(self.nodes))
        kept = (number[graph.src] >= 0) & (number[graph.dst] >= 0)
        names, ops, devices = (
            [column[node] for node in self.nodes.tolist()] for column in (graph.names, graph.ops, graph.devices)
        )
        ends = number[graph.src[kept]], number[graph.dst[kept]]
        return Graph(names, ops, devices, *ends, graph.port[kept], graph.slot[kept])

    @cached_property
    def unfolded(self) -> Document:
        """Itself: nodes of functions are here where they were asked for."""
        return self

    def node(self, number: int) -> Any:
        """NodeDef by number here."""
        assert self.whole is not None
        return self.whole.node(int(self.nodes[number]))

    def full_node(self, number: int) -> Any:
        """NodeDef by number here, with its constant's content."""
        assert self.whole is not None
        return self.whole.full_node(int(self.nodes[number]))

    def cut(self, overlay: Overlay) -> Overlay:
        """An overlay of the whole for the nodes here."""
        number = {node: at for at, node in enumerate(self.nodes.tolist())}
        reasons = [overlay.reasons[node] for node in number]
        markers = {number[node]: found for node, found in overlay.markers.items() if node in number}
        return Overlay(overlay.kind, overlay.categories, overlay.codes[self.nodes], reasons, markers)
