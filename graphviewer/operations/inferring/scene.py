"""What the chosen outputs need of a draft, and how its tensors hang together."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

from graphviewer.analysis.control_flow import inside_loops, variables_behind, waits_without_use
from graphviewer.analysis.effects import effect_only
from graphviewer.model.document import Document
from graphviewer.model.graph import Graph, Ints, Mask
from graphviewer.model.names import CONTROL_PORT, Endpoint
from graphviewer.operations.cutting import select_fed
from graphviewer.operations.draft import Draft
from graphviewer.operations.selection import Selection

Place = tuple[int, int]
"""(node number, output number)."""


class Scene:
    """A draft as it is at one moment, as a document, with the part of it that the outputs need.

    Waiting for updates of variables and for checks is no need: see ``analysis.effects``.
    """

    def __init__(self, draft: Draft, outputs: Sequence[Endpoint], inputs: Sequence[Endpoint]) -> None:
        """Raises OperationError where what the outputs need is damaged."""
        self.outputs = frozenset(name for name, _ in outputs)
        self.document: Document = draft.build() if draft.rewrites else draft.document
        self.graph: Graph = self.document.graph
        self.dropped = waits_without_use(self.graph, effect_only(self.document))
        self.selection: Selection = select_fed(self.document, outputs, inputs, drop=self.dropped)
        self.needed: Mask = self.selection.mask

    @cached_property
    def _in_loops(self) -> Mask:
        return inside_loops(self.graph)

    def in_loop(self, number: int) -> bool:
        """The node lies in a loop of TF1, whose nodes read nothing from outside but through an Enter."""
        return bool(self._in_loops[number])

    @cached_property
    def behind(self) -> Ints:
        """int32 [n]: the variable that each node is, reads or hands on unchanged; -1 where there is none."""
        return variables_behind(self.graph)

    def node(self, number: int) -> Any:
        return self.document.node(number)

    def name(self, number: int) -> str:
        return self.graph.names[number]

    def op(self, number: int) -> str:
        return self.graph.ops[number]

    def inputs(self, number: int) -> list[Place]:
        """What a node reads, in order."""
        graph = self.graph
        edges = graph.edges_into(number).tolist()
        return [(int(graph.src[e]), int(graph.port[e])) for e in edges if graph.port[e] != CONTROL_PORT]

    def readers(self, place: Place, *, needed: bool = False) -> list[tuple[int, int]]:
        """(node, input number) of what reads a tensor; on request only those that the outputs need."""
        graph = self.graph
        edges = [edge for edge in graph.edges_out_of(place[0]).tolist() if graph.port[edge] == place[1]]
        found = [(int(graph.dst[edge]), int(graph.slot[edge])) for edge in edges]
        return [reader for reader in found if not needed or self.needed[reader[0]]]

    def text(self, place: Place) -> str:
        """A tensor as an input names it."""
        return str(Endpoint(self.name(place[0]), place[1]))
