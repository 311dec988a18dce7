"""Where slots stand within their rows: near their neighbours, in order, and never too close."""

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from graphviewer.layout.arrays import Floats, Ints, Mask
from graphviewer.layout.lattice import Lattice, Side

BOX_GAP, BEND_GAP = 20.0, 12.0
SWEEPS, RELAXATIONS, STRAIGHTENINGS = 2, 12, 6
LOOSE = 0.05
"""Weight of a slot that nothing pulls."""


def isotonic(values: list[float], weights: list[float]) -> list[float]:
    """The non-decreasing sequence closest to ``values`` (least weighted squares): pool adjacent violators."""
    means: list[float] = []
    masses: list[float] = []
    sizes: list[int] = []
    for mean, mass in zip(values, weights, strict=True):
        size = 1
        while means and means[-1] > mean:
            before = masses.pop()
            total = before + mass
            mean = (means.pop() * before + mean * mass) / total
            mass = total
            size += sizes.pop()
        means.append(mean)
        masses.append(mass)
        sizes.append(size)
    return [mean for mean, size in zip(means, sizes, strict=True) for _ in range(size)]


def in_order(values: Floats, group: Ints, weights: Floats) -> Floats:
    """``values`` made non-decreasing within each group of neighbouring entries; only groups out of order are touched.

    Args:
        values: float64 [k].
        group: int64 [k], equal for neighbours of one group.
        weights: float64 [k], how much each value resists.
    """
    drops = (values[1:] < values[:-1]) & (group[1:] == group[:-1])
    if not drops.any():
        return values
    torn = np.flatnonzero(np.isin(group, group[1:][drops]))
    # One call for all groups: a rising base per group keeps them apart.
    base = np.cumsum(np.diff(group[torn], prepend=group[torn[0]]) != 0) * (2 * np.ptp(values) + 1)
    result = values.copy()
    result[torn] = np.array(isotonic((values[torn] + base).tolist(), weights[torn].tolist())) - base
    return result


@dataclass(frozen=True)
class _RowPull:
    """What one row needs for a sweep: its slots, and the weighted neighbours of those that have any."""

    first: int
    last: int
    near: Ints
    weight: Floats
    splits: Ints
    has: Mask | None
    mass: list[float]


@dataclass(frozen=True)
class _ColourPull:
    """What every second row needs to be relaxed at once."""

    slots: Ints
    near: Ints
    weight: Floats
    splits: Ints
    row: Ints
    mass: Floats


class Pulls:
    """The parts of the placement that depend on the lattice only; made once, used for every set of sizes."""

    def __init__(self, lattice: Lattice) -> None:
        self.lattice = lattice

    @cached_property
    def down(self) -> list[_RowPull]:
        """Rows from the top, pulled by the rows above them."""
        return self._row_pulls(self.lattice.side(self.lattice.lower, self.lattice.upper))

    @cached_property
    def up(self) -> list[_RowPull]:
        """Rows from the bottom, pulled by the rows below them."""
        return self._row_pulls(self.lattice.side(self.lattice.upper, self.lattice.lower))[::-1]

    @cached_property
    def colours(self) -> list[_ColourPull]:
        """Even rows and odd rows, pulled from both sides."""
        lattice = self.lattice
        ends = np.r_[lattice.upper, lattice.lower], np.r_[lattice.lower, lattice.upper]
        side = lattice.side(*ends)
        degree = np.diff(side.start)
        of_end = np.repeat(np.arange(len(degree)), degree)
        pulls = []
        for colour in (0, 1):
            slots = np.flatnonzero((lattice.row % 2 == colour) & (degree > 0))
            chosen = np.isin(of_end, slots)
            splits = np.cumsum(degree[slots]) - degree[slots]
            row = lattice.row[slots]
            pulls.append(_ColourPull(slots, side.slot[chosen], side.weight[chosen], splits, row, side.pull[slots]))
        return pulls

    @cached_property
    def threads(self) -> tuple[Ints, Ints]:
        """Runs of slots, each the only neighbour of the next: (slots run by run, start of each run)."""
        lattice, count = self.lattice, len(self.lattice.row)
        only = (np.bincount(lattice.upper, minlength=count)[lattice.upper] == 1) & (
            np.bincount(lattice.lower, minlength=count)[lattice.lower] == 1
        )
        following = dict(zip(lattice.upper[only].tolist(), lattice.lower[only].tolist(), strict=True))
        slots: list[int] = []
        starts: list[int] = []
        for head in sorted(following.keys() - set(following.values())):
            starts.append(len(slots))
            slots.append(head)
            while (slot := following.get(slots[-1])) is not None:
                slots.append(slot)
        return np.array(slots, np.int64), np.array(starts, np.int64)

    def _row_pulls(self, side: Side) -> list[_RowPull]:
        bounds, start = self.lattice.start.tolist(), side.start.tolist()
        has = np.diff(side.start) > 0
        mass = np.where(has, side.pull, LOOSE)
        pulls = []
        for first, last in pairwise(bounds):
            begin, end = start[first], start[last]
            if begin == end:
                continue
            some = has[first:last]
            every = bool(some.all())
            splits = side.start[first:last] - begin
            pulls.append(
                _RowPull(
                    first,
                    last,
                    side.slot[begin:end],
                    side.weight[begin:end],
                    splits if every else splits[some],
                    None if every else some,
                    mass[first:last].tolist(),
                )
            )
        return pulls


def place_across(pulls: Pulls, breadth: Floats) -> Floats:
    """Centres of all slots, across the direction of flow.

    Args:
        breadth: float64 [slots], size of each slot across the flow (0 for bends).

    Returns:
        float64 [slots]; within a row, slots keep their order and their gaps.
    """
    lattice = pulls.lattice
    half = breadth / 2 + np.where(lattice.is_bend, BEND_GAP, BOX_GAP) / 2
    reach = np.cumsum(np.r_[0, half[:-1] + half[1:]])
    least = reach - reach[lattice.start[lattice.row]]
    widest = least[lattice.start[1:] - 1]
    x: Floats = least - widest[lattice.row] / 2
    for _ in range(SWEEPS):
        _sweep(x, least, pulls.down)
        _sweep(x, least, pulls.up)
    for _ in range(RELAXATIONS):
        for colour in pulls.colours:
            _relax(x, least, colour)
    _straighten(x, half, pulls)
    return x


def _sweep(x: Floats, least: Floats, rows: list[_RowPull]) -> None:
    for row in rows:
        first, last = row.first, row.last
        wish = np.add.reduceat(x[row.near] * row.weight, row.splits)
        if row.has is not None:
            wish, pulled = x[first:last].copy(), wish
            wish[row.has] = pulled
        if last - first > 1:
            free = wish - least[first:last]
            if (free[1:] < free[:-1]).any():
                wish = np.array(isotonic(free.tolist(), row.mass)) + least[first:last]
        x[first:last] = wish


def _relax(x: Floats, least: Floats, colour: _ColourPull) -> None:
    """Move all slots of every second row to the mean of their neighbours on both sides, as far as the order allows."""
    if len(colour.slots):
        wish = np.add.reduceat(x[colour.near] * colour.weight, colour.splits)
        offset = least[colour.slots]
        x[colour.slots] = in_order(wish - offset, colour.row, colour.mass) + offset


def _straighten(x: Floats, half: Floats, pulls: Pulls) -> None:
    """Bring each thread onto one line; each slot may use half of the room to its neighbours."""
    slots, run = pulls.threads
    if not len(slots):
        return
    row = pulls.lattice.row
    same = row[1:] == row[:-1]
    length = np.diff(run, append=len(slots))
    for _ in range(STRAIGHTENINGS):
        room = np.where(same, np.maximum(np.diff(x) - half[1:] - half[:-1], 0) / 2, np.inf)
        low = (x - np.r_[np.inf, room])[slots]
        high = (x + np.r_[room, np.inf])[slots]
        floor, ceiling = np.maximum.reduceat(low, run), np.minimum.reduceat(high, run)
        mean = np.add.reduceat(x[slots], run) / length
        goal = np.where(floor <= ceiling, np.clip(mean, floor, np.maximum(floor, ceiling)), mean)
        x[slots] = np.clip(np.repeat(goal, length), low, high)
