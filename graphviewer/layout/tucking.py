"""Places for small chips beside the boxes that they serve."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from graphviewer.layout.arrays import Floats, Ints
from graphviewer.layout.drawing import CHIP_HEIGHT, SCOPE_HEIGHT
from graphviewer.layout.layered import Margins, Placement, Topology, place, turned

CHIP_GAP = 3.0
CHIP_WIDTHS = (36.0, 124.0)
ROWS = 2
"""Chips above each other: they are as high as a node."""


def chip_widths(widths: Floats, host: NDArray[np.int32], sideways: bool) -> Floats:
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
            room[host] = sum(self._line_sizes(members)) + CHIP_GAP * -(-len(members) // ROWS)
        return room, chips

    def _line_sizes(self, members: list[int]) -> list[float]:
        """How far each line of chips reaches across the flow."""
        lines = [members[at : at + ROWS] for at in range(0, len(members), ROWS)]
        return [CHIP_HEIGHT if self.sideways else float(self.w[line].max()) for line in lines]

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
        rows, sizes = min(len(members), ROWS), self._line_sizes(members)
        high = rows * (CHIP_HEIGHT + CHIP_GAP) - CHIP_GAP
        top = y[host] + (min(self.h[host], SCOPE_HEIGHT) - high) / 2
        for number, chip in enumerate(members):
            line, place = divmod(number, ROWS)
            before = sum(sizes[:line]) + CHIP_GAP * (line + 1)
            if self.sideways:
                x[chip] = x[host] + place * (self.w[chip] + CHIP_GAP)
                y[chip] = y[host] + self.h[host] + before
            else:
                x[chip] = x[host] - before - self.w[chip]
                y[chip] = top + place * (CHIP_HEIGHT + CHIP_GAP)
