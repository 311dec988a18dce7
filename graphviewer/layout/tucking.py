"""Constants and reads of variables as small chips beside the one op that uses them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from graphviewer.layout.arrays import Floats, Ints
from graphviewer.layout.drawing import CHIP_HEIGHT
from graphviewer.layout.layered import Margins, Placement, Topology, place, turned
from graphviewer.model.scopes import Scopes

MOST_CHIPS = 4
"""An op with more constants shows them as nodes."""
CHIP_GAP = 3.0
CHIP_WIDTHS = (36.0, 96.0)
ROWS = 2
"""Chips above each other: they are as high as a node."""

_READS = {
    "Identity": frozenset({"Variable", "VariableV2", "TemporaryVariable"}),
    "ReadVariableOp": frozenset({"VarHandleOp", "VarIsInitializedOp", "Placeholder", "_Arg"}),
}


def hosts(scopes: Scopes) -> Ints:
    """int64 [items]: the op beside which a leaf can be tucked, -1 for most.

    A constant, or the read of a variable, all of whose data goes to one op in its scope; at most ``MOST_CHIPS`` at one.
    """
    graph, edges = scopes.graph, scopes.sibling_edges
    flows = ~graph.control
    fed = np.bincount(graph.dst[flows], minlength=len(graph))
    source = np.zeros(len(graph), np.int64)
    source[graph.dst[flows]] = graph.src[flows]
    is_auxiliary = graph.of_ops({"Const"})
    for read, variables in _READS.items():
        is_auxiliary |= graph.of_ops({read}) & (fed == 1) & graph.of_ops(variables)[source]
    auxiliary = np.zeros(len(scopes), np.bool_)
    auxiliary[scopes.leaf] = is_auxiliary
    data = ~edges.control
    a, b, count = edges.a[data], edges.b[data], edges.count[data]
    found = np.full(len(scopes), -1, np.int64)
    found[a] = b
    siblings = np.bincount(a, minlength=len(scopes))
    inside = np.bincount(a, count, len(scopes))[scopes.leaf]
    everywhere = np.bincount(graph.src[flows], minlength=len(graph))
    auxiliary[scopes.leaf] &= inside == everywhere
    found[~auxiliary | (siblings != 1) | scopes.is_scope[found]] = -1
    found[(found >= 0) & (found[found] >= 0)] = -1  # beside a chip there is no room
    crowd = np.bincount(found[found >= 0], minlength=len(scopes))
    found[(found >= 0) & (crowd[found] > MOST_CHIPS)] = -1
    return found


def chip_widths(widths: Floats, host: Ints, sideways: bool) -> Floats:
    """The widths of boxes with those of chips: two in a row are as wide as their host where edges lead to the right."""
    chips = np.flatnonzero(host >= 0)
    changed = widths.copy()
    if sideways:
        changed[chips] = (widths[host[chips]] - CHIP_GAP) / ROWS
    else:
        changed[chips] = np.clip(widths[chips], *CHIP_WIDTHS)
    return changed


@dataclass(frozen=True)
class Tucked:
    """Chips among the children of one scope.

    Attributes:
        host: int64 [children], the place of the child that a chip is beside, -1 for the others.
        w, h: float64 [children].
        sideways: edges lead to the right.
    """

    host: Ints
    w: Floats
    h: Floats
    sideways: bool

    @property
    def main(self) -> Ints:
        """The children that are laid out."""
        return np.flatnonzero(self.host < 0)

    def _room(self) -> tuple[Floats, dict[int, list[int]]]:
        """Room across the flow that each child's chips need, and the chips of each."""
        room, chips = np.zeros(len(self.host)), dict[int, list[int]]()
        for chip in np.flatnonzero(self.host >= 0).tolist():
            chips.setdefault(int(self.host[chip]), []).append(chip)
        for host, members in chips.items():
            lines = -(-len(members) // ROWS)
            broad = CHIP_HEIGHT if self.sideways else float(self.w[members].max())
            room[host] = lines * (broad + CHIP_GAP)
        return room, chips

    def place(self, topology: Topology) -> Placement:
        """All children in their places; ``topology`` is that of the main ones."""
        room, chips = self._room()
        main = self.main
        none = np.zeros(len(main))
        if self.sideways:
            placement = turned(place(topology, (self.h + room)[main], self.w[main], Margins(none, room[main])))
        else:
            placement = place(topology, (self.w + room)[main], self.h[main], Margins(room[main], none))
        x, y = np.zeros(len(self.host)), np.zeros(len(self.host))
        x[main], y[main] = placement.x, placement.y
        if not self.sideways:
            x += room
        for host, members in chips.items():
            self._place_chips(host, members, x, y)
        return replace(placement, x=x, y=y)

    def _place_chips(self, host: int, members: list[int], x: Floats, y: Floats) -> None:
        broad = float(self.w[members].max())
        rows = min(len(members), ROWS)
        high = rows * (CHIP_HEIGHT + CHIP_GAP) - CHIP_GAP
        top = y[host] + (min(self.h[host], 42.0) - high) / 2
        for number, chip in enumerate(members):
            line, place = divmod(number, ROWS)
            if self.sideways:
                x[chip] = x[host] + place * (self.w[chip] + CHIP_GAP)
                y[chip] = y[host] + self.h[host] + CHIP_GAP + line * (CHIP_HEIGHT + CHIP_GAP)
            else:
                x[chip] = x[host] - (line + 1) * (broad + CHIP_GAP) + broad - self.w[chip]
                y[chip] = top + place * (CHIP_HEIGHT + CHIP_GAP)
