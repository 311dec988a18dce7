"""Crossings on graphs that stay the same, of the kinds that networks are made of."""

import numpy as np

from graphviewer.layout.layered import place, prepare

MEASURED = {
    "ladder": 94,
    "dense layers": 438,
    "wide layers": 420,
    "local dag 4": 49,
    "local dag 5": 34,
    "local dag 6": 20,
    "local dag 7": 57,
    "local dag 8": 76,
    "local dag 9": 27,
    "local dag 10": 44,
    "local dag 11": 18,
    "encoder and decoder": 0,
    "cells": 6,
}
"""Crossings in the drawings of the engine that this one was measured against before it was written."""


def fixed_graphs():
    """(name, n, source, target) of each."""
    yield "ladder", *_columns(np.random.default_rng(1), rows=12, broad=6, degree=2)
    yield "dense layers", *_columns(np.random.default_rng(2), rows=6, broad=10, degree=3)
    yield "wide layers", *_columns(np.random.default_rng(3), rows=4, broad=24, degree=2)
    for seed in range(4, 12):
        random = np.random.default_rng(seed)
        n = int(random.integers(30, 90))
        target = random.integers(1, n, int(1.6 * n))
        source = (target - random.integers(1, np.minimum(target, 12) + 1)).astype(np.int64)
        yield f"local dag {seed}", n, *_unique(n, source, target)
    skips = [(at, at + 1) for at in range(63)] + [(at, 63 - at) for at in range(4, 32, 3)]
    yield "encoder and decoder", 64, *np.array(skips).T
    cells = [(cell * 8 + a, cell * 8 + b) for cell in range(6) for a, b in _CELL]
    yield "cells", 58, *np.array(cells).T


_CELL = [(0, 2), (0, 3), (1, 3), (1, 4), (0, 5), (1, 5), (0, 6), (2, 7), (3, 7), (4, 7), (5, 7), (6, 8), (7, 9), (7, 8)]


def _columns(random, rows, broad, degree):
    source, target = [], []
    for row in range(rows - 1):
        for at in range(broad):
            for to in random.choice(broad, degree, replace=False):
                source.append(row * broad + at)
                target.append((row + 1) * broad + int(to))
    return rows * broad, np.array(source), np.array(target)


def _unique(n, source, target):
    keys = np.unique(source * n + target)
    return keys // n, keys % n


def crossings(offsets, points, source, target):
    """Pairs of edges without a common end whose lines cross, counted per pair of segments."""
    edge = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    same = edge[1:] == edge[:-1]
    a, b, of = points[:-1][same], points[1:][same], edge[1:][same]
    way = b - a

    def side(first, second, third):
        return (second[..., 0] - first[..., 0]) * (third[..., 1] - first[..., 1]) - (second[..., 1] - first[..., 1]) * (
            third[..., 0] - first[..., 0]
        )

    one, other = side(a[:, None], b[:, None], a[None]), side(a[:, None], b[:, None], b[None])
    cross = (one * other < 0) & (one * other < 0).T
    s, t = source[of], target[of]
    share = (s[:, None] == s) | (t[:, None] == t) | (s[:, None] == t) | (t[:, None] == s)
    return int(np.triu(cross & ~share, 1).sum()) if len(way) else 0


def test_that_crossings_are_not_more_than_those_of_the_engine_it_was_measured_against():
    found = {}
    for name, n, source, target in fixed_graphs():
        placement = place(prepare(n, source, target), np.full(n, 100.0), np.full(n, 34.0))
        found[name] = crossings(placement.offsets, placement.points, source, target)
    assert found.keys() == MEASURED.keys()
    assert sum(found.values()) <= sum(MEASURED.values())
    worse = {name: count for name, count in found.items() if count > 1.25 * MEASURED[name]}
    assert not worse


def test_that_crossings_are_counted():
    points = np.array([[0.0, 0], [10, 10], [10, 0], [0, 10], [20, 0], [20, 10]])
    assert crossings(np.array([0, 2, 4, 6]), points, np.array([0, 1, 2]), np.array([3, 4, 5])) == 1
    assert crossings(np.array([0, 2, 4, 6]), points, np.array([0, 0, 2]), np.array([3, 4, 5])) == 0
