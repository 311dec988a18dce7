"""Values laid over a drawing: one category per node, with the reason for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from graphviewer.model.scopes import Scopes

NONE = -1

EDGE_STATUSES = ("kept", "added", "removed")
"""What a comparison says of an edge of a merged graph."""

KEPT, ADDED, REMOVED = range(len(EDGE_STATUSES))


_ROLE_LABELS: Mapping[str, str] = MappingProxyType({"training_forward": "other forward pass"})


def role_label(role: str) -> str:
    """What people read for a role; its id stays in JSON, in searches and in themes.

    A forward pass beside the one that the outputs need is not always of the training: it may be of another tower.
    """
    return _ROLE_LABELS.get(role, role.replace("_", " "))


@dataclass(frozen=True, eq=False)
class Overlay:
    """Roles, diff status, search hits, check problems: all one kind of thing, shown one at a time.

    Attributes:
        kind: ``roles``, ``diff``, ``search``, ``problems``; theme tokens are ``<kind>.<category>``.
        categories: ids in legend order.
        codes: int8 [nodes], index into ``categories``, NONE (-1) where the overlay says nothing.
        reasons: [nodes] why the node has its category; shown on hover.
        markers: by node number, small badges beside the category (``random``, ``training_mode`` ...).
        own: how many nodes are those of the graph itself; nodes of functions that follow take what the call around them
            has, and are not counted. None: all count.
    """

    kind: str
    categories: Sequence[str]
    codes: NDArray[np.int8]
    reasons: Sequence[str]
    markers: Mapping[int, frozenset[str]] = field(default_factory=dict)
    own: int | None = None
    _by_item: WeakKeyDictionary[Scopes, NDArray[np.int32]] = field(
        default_factory=WeakKeyDictionary, init=False, repr=False
    )

    def category(self, node: int) -> str | None:
        """The category id of a node, None where the overlay says nothing."""
        code = int(self.codes[node])
        return None if code == NONE else self.categories[code]

    def counts(self) -> dict[str, int]:
        """Nodes per category, in legend order, zero counts left out."""
        codes = self.codes[: self.own]
        found = np.bincount(codes[codes != NONE], minlength=len(self.categories))
        return {name: int(n) for name, n in zip(self.categories, found.tolist(), strict=True) if n}

    def to_json(self) -> dict[str, Any]:
        """Plain values for a file or a message; a reason that many nodes share is written once."""
        table = {reason: number for number, reason in enumerate(dict.fromkeys(self.reasons))}
        return {
            "kind": self.kind,
            "categories": list(self.categories),
            "codes": self.codes.tolist(),
            "reasons": list(table),
            "reason_of": [table[reason] for reason in self.reasons],
            "markers": {str(node): sorted(markers) for node, markers in self.markers.items()},
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Overlay:
        """The inverse of ``to_json``."""
        reasons = data["reasons"]
        return cls(
            data["kind"],
            tuple(data["categories"]),
            np.array(data["codes"], np.int8),
            [reasons[number] for number in data["reason_of"]],
            {int(node): frozenset(markers) for node, markers in data["markers"].items()},
        )

    def by_item(self, scopes: Scopes) -> NDArray[np.int32]:
        """int32 [items, categories]: nodes of each category inside each item of the scope tree; do not change it.

        It is kept as long as both are there: scopes open and close around the same overlay.
        """
        if scopes not in self._by_item:
            self._by_item[scopes] = self._rolled_up(scopes)
        return self._by_item[scopes]

    def _rolled_up(self, scopes: Scopes) -> NDArray[np.int32]:
        table = np.zeros((len(scopes), len(self.categories)), np.int32)
        known = np.flatnonzero(self.codes != NONE)
        table[scopes.leaf[known], self.codes[known]] = 1
        return scopes.roll_up(table).astype(np.int32)
