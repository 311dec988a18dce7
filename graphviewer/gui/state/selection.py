"""What is selected, by name."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from graphviewer.model.scopes import Scopes

BEFORE, AFTER, ANY = 0, 1, -1
"""Sides of a comparison, and none in particular."""


class Selection(NamedTuple):
    """What is selected: a node or a scope, by its full name, so that it means the same in every version.

    Attributes:
        side: in which of two graphs side by side it has this name; ANY where that does not matter.
    """

    path: str
    is_scope: bool = False
    side: int = ANY

    def item(self, scopes: Scopes) -> int | None:
        """The item of the scope tree that this selection means in one graph."""
        if self.is_scope:
            return scopes.by_path.get(self.path)
        node = scopes.graph.index.get(self.path)
        return None if node is None else int(scopes.leaf[node])

    @classmethod
    def of(cls, scopes: Scopes, item: int, side: int = ANY) -> Selection:
        """The selection that means ``item``."""
        return cls(scopes.path(item), bool(scopes.is_scope[item]), side)


@dataclass(eq=False)
class Picked:
    """What is selected among the versions of a file, and what was before and after that.

    Attributes:
        first, second: what is selected, and what is picked beside it.
        back, forward: what Back and Forward select, the nearest last.
    """

    first: Selection | None = None
    second: Selection | None = None
    back: list[Selection] = field(default_factory=list)
    forward: list[Selection] = field(default_factory=list)

    def copy(self) -> Picked:
        """The same for another file, whose own way goes on from here."""
        return Picked(self.first, self.second, list(self.back), list(self.forward))
