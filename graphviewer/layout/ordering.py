"""Order within rows: barycenter sweeps and exchanges of neighbours, until edges cross as little as possible."""

from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterable
from itertools import pairwise
from random import Random

import numpy as np

from graphviewer.layout.lattice import Lattice

SWEEPS = 12
PATIENCE = 3
SMALL = 8_000
"""Up to so many slots, neighbours are exchanged after every sweep; above, only at the end, and sweeps are fewer."""
SHUFFLES, SHUFFLED_SLOTS = 8, 1_000
"""Small lattices get more starts, shuffled ones: at most so many, and so many slots in all."""


def order_rows(lattice: Lattice) -> Lattice:
    """Renumber slots so that few edges cross.

    Several starts compete: the order given, that of a depth-first walk, and where it costs little, shuffled ones. The
    result depends on nothing but the lattice.
    """
    if not len(lattice.row):
        return lattice
    state = _Order(lattice)
    best, fewest = state.snapshot(), state.crossings()
    sweeps = SWEEPS if len(lattice.row) <= SMALL else SWEEPS // 3
    random = Random(len(lattice.row))
    for start in range(2 + min(SHUFFLES, SHUFFLED_SLOTS // len(lattice.row))):
        if not fewest:
            break
        if start == 1:
            state.restart()
        elif start > 1:
            state.shuffle(random)
        order, count = state.improve(sweeps, bool(start % 2), fewest)
        if count < fewest:
            best, fewest = order, count
    return lattice.reordered(np.array([slot for row in best for slot in row], np.int64))


def count_crossings(lattice: Lattice) -> int:
    """Crossings between the rows of a lattice in its present order."""
    return _Order(lattice).crossings() if len(lattice.row) else 0


class _Order:
    """Rows as lists of slots. Plain lists: rows of neural networks are short, and numpy calls on them are not.

    Attributes:
        rows: the slots of each row, in order.
        place: position of each slot in its row.
        above, below: the neighbours of each slot.
    """

    def __init__(self, lattice: Lattice) -> None:
        bounds = lattice.start.tolist()
        self.rows = [list(range(first, last)) for first, last in pairwise(bounds)]
        self.place = (np.arange(len(lattice.row)) - lattice.start[lattice.row]).tolist()
        self.above: list[list[int]] = [[] for _ in self.place]
        self.below: list[list[int]] = [[] for _ in self.place]
        for upper, lower in zip(lattice.upper.tolist(), lattice.lower.tolist(), strict=True):
            self.below[upper].append(lower)
            self.above[lower].append(upper)
        self.wide = [number for number, row in enumerate(self.rows) if len(row) > 1]

    def snapshot(self) -> list[list[int]]:
        return [row.copy() for row in self.rows]

    def restart(self) -> None:
        """Order rows by a depth-first walk over the graph without directions: trees come out without crossings."""
        seen, rank = bytearray(len(self.place)), [0] * len(self.place)
        count = 0
        for root in range(len(rank)):
            stack = [] if seen[root] else [root]
            seen[root] = 1
            while stack:
                slot = stack.pop()
                rank[slot] = count
                count += 1
                for end in (*reversed(self.below[slot]), *reversed(self.above[slot])):
                    if not seen[end]:
                        seen[end] = 1
                        stack.append(end)
        for row in self.rows:
            row.sort(key=rank.__getitem__)
            self._number(row)

    def shuffle(self, random: Random) -> None:
        """Any order at all."""
        for row in self.rows:
            random.shuffle(row)
            self._number(row)

    def _number(self, row: Iterable[int]) -> None:
        for at, slot in enumerate(row):
            self.place[slot] = at

    def crossings(self) -> int:
        """Pairs of edges that cross: inversions, counted row by row with a sorted list."""
        total, place = 0, self.place
        for number in self.wide:
            passed: list[int] = []
            for slot in self.rows[number]:
                ends = [place[end] for end in self.above[slot]]
                for end in ends:
                    total += len(passed) - bisect_right(passed, end)
                for end in ends:
                    insort(passed, end)
        return total

    def improve(self, sweeps: int, upwards: bool, fewest: int) -> tuple[list[list[int]], int]:
        """Sweep until nothing gets better; the best order met and its crossings."""
        small = len(self.place) <= SMALL
        best, least, idle = self.snapshot(), self.crossings(), 0
        for sweep in range(sweeps):
            for up in (upwards, not upwards):
                self._sweep(up, flip=bool(sweep % 2))
            if small or sweep == sweeps - 1:
                for _ in range(2):
                    if not self._exchange():
                        break
            count = self.crossings()
            idle = idle + 1 if count >= least * 0.99 else 0
            if count < least:
                best, least = self.snapshot(), count
            if not least or idle >= PATIENCE:
                break
        if least < 2 * fewest:
            self._polish(best)
            best, least = self.snapshot(), self.crossings()
        return best, least

    def _polish(self, rows: list[list[int]]) -> None:
        self.rows = [row.copy() for row in rows]
        for row in self.rows:
            self._number(row)
        for _ in range(4):
            if not self._exchange():
                break

    def _sweep(self, up: bool, flip: bool) -> None:
        """Sort each row by the mean place of its neighbours above (or below); slots without any keep their place.

        Flipping turns slots with equal means round, which gets a sweep out of a standstill.
        """
        near = self.below if up else self.above
        place = self.place
        for number in reversed(self.wide) if up else self.wide:
            row = self.rows[number]
            free = [slot for slot in row if near[slot]]
            means = {}
            for slot in free:
                ends = near[slot]
                means[slot] = place[ends[0]] if len(ends) == 1 else sum([place[end] for end in ends]) / len(ends)
            ordered = sorted(reversed(free) if flip else free, key=means.__getitem__)
            if len(free) < len(row):
                following = iter(ordered)
                ordered = [next(following) if near[slot] else slot for slot in row]
            self.rows[number] = ordered
            self._number(ordered)

    def _exchange(self) -> bool:
        """Swap neighbours in a row wherever that removes crossings; whether any were."""
        changed, place = False, self.place
        for number in self.wide:
            row = self.rows[number]
            for at in range(len(row) - 1):
                left, right = row[at], row[at + 1]
                gain = _gain(self.above[left], self.above[right], place) + _gain(
                    self.below[left], self.below[right], place
                )
                if gain > 0:
                    row[at], row[at + 1] = right, left
                    place[left], place[right] = at + 1, at
                    changed = True
        return changed


def _gain(left: list[int], right: list[int], place: list[int]) -> int:
    """By how much the crossings of two neighbours' edges fall when the two change places."""
    if not left or not right:
        return 0
    if len(left) == 1 and len(right) == 1:
        a, b = place[left[0]], place[right[0]]
        return (a > b) - (a < b)
    ends = sorted([place[end] for end in right])
    gain = 0
    for end in left:
        at = place[end]
        gain += bisect_left(ends, at) - (len(ends) - bisect_right(ends, at))
    return gain
