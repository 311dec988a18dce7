"""Which node of one graph is which node of the other, while it is being worked out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

import numpy as np

from graphviewer.model.document import Document
from graphviewer.model.graph import Ints
from graphviewer.model.names import parse_input
from graphviewer.model.provenance import Origin, Provenance, Removal

PINNED, PROVENANCE, NAME, PREFIX, STRUCTURE, UNMATCHED = MATCHES = (
    "pinned",
    "provenance",
    "name",
    "prefix",
    "structure",
    "none",
)
"""How two nodes were recognised as one, surest first."""

Pin = tuple[str | None, str | None]
"""Names of a node before and after that a person says are the same; with None on one side the other has no partner."""


class Pairing:
    """Links between the nodes of two documents; matchers add to it, one after the other.

    Attributes:
        names_before, names_after: node names in file order.
        match: int32 [nodes before], node of ``after`` or -1.
        origin: int32 [nodes after], node of ``before`` or -1.
        numbers: int32 [nodes after], its own number where a node is linked, or -1.
        how: by node of ``after``, the matcher that linked it.
        alone: by (side 0 or 1, node), the matcher that says it has no partner.
        settled_before, settled_after: bool, linked, or known to have no partner.
        origins: by node of ``after``, what provenance says about it.
        removals: by node of ``before``, what provenance says about it.
    """

    def __init__(
        self, before: Document, after: Document, provenance: Provenance | None = None, pins: Sequence[Pin] = ()
    ) -> None:
        self.before, self.after = before, after
        self.provenance, self.pins = provenance, pins
        self.names_before = [node.name for node in before.graph_def.node]
        self.names_after = [node.name for node in after.graph_def.node]
        self.match = np.full(len(self.names_before), -1, np.int32)
        self.origin = np.full(len(self.names_after), -1, np.int32)
        self.numbers = np.full(len(self.names_after), -1, np.int32)
        self.settled_before = np.zeros(len(self.names_before), np.bool_)
        self.settled_after = np.zeros(len(self.names_after), np.bool_)
        self.how: dict[int, str] = {}
        self.alone: dict[tuple[int, int], str] = {}
        self.origins: dict[int, Origin] = {}
        self.removals: dict[int, Removal] = {}

    def free_before(self) -> list[int]:
        """Nodes of the first graph that still look for a partner."""
        return np.flatnonzero(~self.settled_before).tolist()

    def free_after(self) -> list[int]:
        """Nodes of the second graph that still look for a partner."""
        return np.flatnonzero(~self.settled_after).tolist()

    @property
    def is_done(self) -> bool:
        """No node of one side is left to look for a partner, so that none of the other can find one."""
        return bool(self.settled_before.all() or self.settled_after.all())

    def link(self, before: Ints | list[int], after: Ints | list[int], how: str) -> None:
        """Link nodes pairwise; no node of ``after`` comes twice, and of several partners ``match`` keeps the first."""
        self.match[before[::-1]], self.origin[after] = after[::-1], before
        self.numbers[after] = after
        self.settled_before[before] = self.settled_after[after] = True
        self.how.update(dict.fromkeys(np.asarray(after).tolist(), how))

    def pairs(self) -> Iterator[tuple[int, int]]:
        """All links as (before, after), in the order of the second graph."""
        linked = np.flatnonzero(self.origin >= 0)
        return zip(self.origin[linked].tolist(), linked.tolist(), strict=True)

    @cached_property
    def renames(self) -> Mapping[str, str]:
        """New name by old name, for linked nodes whose name is another; ask only when all matchers have run."""
        linked = np.flatnonzero(self.match >= 0).tolist()
        both = ((self.names_before[node], self.names_after[self.match[node]]) for node in linked)
        return {old: new for old, new in both if old != new}

    def translate(self, text: str) -> str:
        """An input of the first graph as the second one would write it, ``:0`` left out."""
        name, port = parse_input(text)
        name = self.renames.get(name, name)
        return f"^{name}" if port < 0 else f"{name}:{port}" if port else name
