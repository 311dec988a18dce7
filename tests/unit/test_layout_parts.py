from itertools import product

import numpy as np
import pytest

from graphviewer.layout.coordinates import in_order, isotonic
from graphviewer.layout.cycles import against_flow, topological_order
from graphviewer.layout.layered import prepare
from graphviewer.layout.layers import span_layers
from graphviewer.layout.ordering import count_crossings
from graphviewer.layout.packing import grid, shelves
from graphviewer.layout.simplex import Spans, components, network_simplex


def edges(*pairs):
    array = np.array(pairs, np.int64).reshape(-1, 2)
    return array[:, 0], array[:, 1]


def random_dag(seed, n, m):
    random = np.random.default_rng(seed)
    a, b = random.integers(0, n, (2, m))
    return np.minimum(a, b)[a != b], np.maximum(a, b)[a != b]


def test_that_only_the_edges_that_close_a_loop_are_turned():
    # Two loop variables of a while loop: Enter, Merge, Switch, Identity, NextIteration of each, and LoopCond.
    names = [f"{op}{loop}" for loop in (0, 1) for op in ("enter", "merge", "switch", "body", "next")] + ["less", "cond"]
    wires = (
        "enter0 merge0, next0 merge0, merge0 switch0, switch0 body0, body0 next0, enter1 merge1, next1 merge1, "
        "merge1 switch1, switch1 body1, body1 next1, merge0 less, less cond, cond switch0, cond switch1, body0 body1"
    )
    pairs = [tuple(names.index(name) for name in wire.split()) for wire in wires.split(", ")]
    turned = against_flow(len(names), *edges(*pairs))
    assert [names[pairs[edge][0]] for edge in np.flatnonzero(turned)] == ["next0", "next1"]


def test_that_turning_edges_leaves_no_cycle_and_touches_no_acyclic_graph():
    for seed in range(60):
        random = np.random.default_rng(seed)
        n = int(random.integers(2, 30))
        source, target = random.integers(0, n, (2, 3 * n))
        source, target = source[source != target], target[source != target]
        turned = against_flow(n, source, target)
        upper, lower = np.where(turned, target, source), np.where(turned, source, target)
        assert len(topological_order(n, upper, lower)) == n
        assert not against_flow(n, upper, lower).any()


def test_that_the_total_span_is_the_least_possible():
    n = 5
    every = np.array(list(product(range(n), repeat=n)))
    for seed in range(40):
        source, target = random_dag(seed, n, 9)
        spans = every[:, target] - every[:, source]
        least = spans[(spans >= 1).all(axis=1)].sum(axis=1).min()
        layer = span_layers(n, source, target)
        assert (layer[target] - layer[source] >= 1).all()
        assert (layer[target] - layer[source]).sum() == least


@pytest.mark.parametrize(("n", "m", "least"), [(100, 150, 208), (300, 450, 683), (800, 1200, 1831)])
def test_that_larger_graphs_get_the_span_that_an_lp_solver_finds(n, m, least):
    source, target = random_dag(1, n, m)
    layer = span_layers(n, source, target)
    assert (layer[target] - layer[source] >= 1).all()
    assert (layer[target] - layer[source]).sum() == least


def test_that_layers_stay_feasible_when_the_work_is_cut_short():
    source, target = random_dag(3, 60, 200)
    ones = np.ones(len(source), np.int64)
    spans = Spans(source, target, ones, ones)
    first = list(range(60))
    totals = []
    for work in (0, 2_000, 1_000_000):
        layer = np.array(network_simplex(first, spans, work))
        assert (layer[target] - layer[source] >= 1).all()
        totals.append((layer[target] - layer[source]).sum())
    assert (target - source).sum() >= totals[0] > totals[1] > totals[2]


def test_that_components_are_numbered_by_their_first_node():
    assert components(6, *edges((4, 1), (2, 5))).tolist() == [0, 1, 2, 3, 1, 2]


def test_that_isotonic_regression_pools_by_weight():
    assert isotonic([1.0, 3.0, 2.0, 4.0], [1.0, 1.0, 3.0, 1.0]) == [1.0, 2.25, 2.25, 4.0]
    values = np.array([5.0, 1.0, 2.0, 0.0])
    assert in_order(values, np.array([0, 0, 1, 2]), np.ones(4)).tolist() == [3.0, 3.0, 2.0, 0.0]


def brute_crossings(lattice):
    count = 0
    segments = list(zip(lattice.upper.tolist(), lattice.lower.tolist(), strict=True))
    for a, b in segments:
        for c, d in segments:
            count += lattice.row[a] == lattice.row[c] and a < c and b > d
    return count


def test_that_crossings_are_counted():
    found = []
    for seed in range(5):
        lattice = prepare(30, *random_dag(seed, 30, 60)).lattice
        assert count_crossings(lattice) == brute_crossings(lattice)
        found.append(count_crossings(lattice))
    assert max(found) > 10


def ladder(steps):
    left = [(2 * i, 2 * i + 2) for i in range(steps - 1)]
    right = [(2 * i + 1, 2 * i + 3) for i in range(steps - 1)]
    return 2 * steps, [*left, *right, *[(2 * i, 2 * i + 3) for i in range(steps - 1)]]


def residual(blocks):
    """Chains of three with a skip edge around each, as in a residual network."""
    n = 4 * blocks + 1
    return n, [pair for b in range(0, n - 1, 4) for pair in [(b, b + 1), (b + 1, b + 2), (b + 2, b + 4), (b, b + 4)]]


CROSSINGS = {
    "binary tree": (255, [((i - 1) // 2, i) for i in range(1, 255)], 0),
    "ladder": (*ladder(20), 0),
    "residual network": (*residual(20), 0),
    "grid": (64, [(i, j) for i in range(64) for j in (i + 1, i + 8) if j < 64 and (j != i + 1 or j % 8)], 0),
    "two full layers": (10, [(i, j) for i in range(5) for j in range(5, 10)], 100),
    "sparse": (60, np.transpose(random_dag(3, 60, 90)).tolist(), 121),
    "dense": (100, np.transpose(random_dag(1, 100, 150)).tolist(), 512),
}


@pytest.mark.parametrize("name", CROSSINGS)
def test_that_edges_cross_no_more_than_they_used_to(name):
    n, pairs, most = CROSSINGS[name]
    assert count_crossings(prepare(n, *edges(*pairs)).lattice) <= most


def test_that_small_blocks_are_stacked_beside_a_tall_one():
    across, along = shelves(np.array([50.0, 20, 20, 20]), np.array([300.0, 90, 90, 90]), 10)
    assert across.tolist() == [0, 60, 60, 60]
    assert along.tolist() == [0, 0, 100, 200]


def test_that_the_lines_of_a_grid_do_not_depend_on_sizes():
    small = grid(np.full(30, 50.0), np.full(30, 20.0), 10)[1]
    sizes = np.full(30, 50.0)
    sizes[7] = 5_000
    large = grid(sizes, np.full(30, 20.0), 10)[1]
    assert small.tolist() == large.tolist()
    assert len(set(small)) > 1


def test_that_a_loop_entered_at_two_places_is_cut_where_the_flow_enters_first():
    """The second variable of a TF1 loop: Enter feeds its Merge, the first variable's LoopCond its Switch."""
    enter, merge, switch, body, following, condition, start = range(7)
    edges = [(enter, merge), (merge, switch), (switch, body), (body, following), (following, merge)]
    edges += [(start, condition), (condition, switch)]
    turned = against_flow(7, *np.array(edges).T)
    assert [edge for edge, is_turned in zip(edges, turned, strict=True) if is_turned] == [(following, merge)]
