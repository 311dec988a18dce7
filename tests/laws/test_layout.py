import numpy as np
import pytest

from graphviewer.layout.layered import place, prepare


def random_graph(seed):
    """A random graph with cycles, parallel and self edges and loose parts, and boxes of very different sizes."""
    random = np.random.default_rng(seed)
    n = int(random.integers(1, 22))
    source, target = random.integers(0, n, (2, int(random.integers(0, 2 * n + 1))))
    return n, source, target, random.uniform(30, 800, n), random.uniform(20, 900, n)


def overlaps(x, y, w, h):
    """Pairs of boxes that share room."""
    meet = (x[:, None] < (x + w)[None] - 1e-6) & (x[None] < (x + w)[:, None] - 1e-6)
    meet &= (y[:, None] < (y + h)[None] - 1e-6) & (y[None] < (y + h)[:, None] - 1e-6)
    return int(np.triu(meet, 1).sum())


def hits(placement, w, h):
    """Segments of edges that run through the inside of any box, by clipping each segment to each box."""
    points, edge = placement.points, np.repeat(np.arange(len(placement.offsets) - 1), np.diff(placement.offsets))
    same = edge[1:] == edge[:-1]
    start, step = points[:-1][same], np.diff(points, axis=0)[same]
    enter, leave = np.zeros((len(start), len(w))), np.ones((len(start), len(w)))
    for axis, (low, size) in enumerate(((placement.x, w), (placement.y, h))):
        low, high = low + 0.01, low + size - 0.01
        origin, move = start[:, axis, None], step[:, axis, None]
        flat = np.abs(move) < 1e-9
        with np.errstate(divide="ignore", invalid="ignore"):
            first, second = (low - origin) / move, (high - origin) / move
        inside = (origin > low) & (origin < high)
        first, second = np.minimum(first, second), np.maximum(first, second)
        enter = np.maximum(enter, np.where(flat, np.where(inside, 0, 2), first))
        leave = np.minimum(leave, np.where(flat, np.where(inside, 1, -1), second))
    return int((enter < leave).sum())


def ends_are_on_boxes(placement, source, target, w, h):
    drawn = np.diff(placement.offsets) > 0
    for box, at in ((source, placement.offsets[:-1]), (target, placement.offsets[1:] - 1)):
        box, point = box[drawn], placement.points[at[drawn]]
        left, top = placement.x[box], placement.y[box]
        on_side = np.minimum(np.abs(point[:, 1] - top), np.abs(point[:, 1] - top - h[box])) < 1e-6
        if not (on_side & (point[:, 0] >= left) & (point[:, 0] <= left + w[box])).all():
            return False
    return True


@pytest.mark.parametrize("part", range(4))
def test_that_boxes_never_overlap_and_edges_never_cross_boxes(part):
    for seed in range(part * 100, part * 100 + 100):
        n, source, target, w, h = random_graph(seed)
        placement = place(prepare(n, source, target), w, h)
        assert np.isfinite(placement.x).all(), seed
        assert np.isfinite(placement.points).all(), seed
        assert overlaps(placement.x, placement.y, w, h) == 0, seed
        assert hits(placement, w, h) == 0, seed
        assert ends_are_on_boxes(placement, source, target, w, h), seed
        assert ((np.diff(placement.offsets) > 0) == (source != target)).all(), seed
        assert placement.x.min() >= -1e-9, seed
        assert placement.y.min() >= -1e-9, seed
        assert (placement.x + w).max() <= placement.width, seed
        assert (placement.y + h).max() <= placement.height, seed
        assert (placement.points >= -1e-9).all(), seed
        assert (placement.points <= (placement.width, placement.height)).all(), seed


def test_that_equal_graphs_get_equal_layouts():
    for seed in range(8):
        n, source, target, w, h = random_graph(seed)
        one, two = (place(prepare(n, source, target), w, h) for _ in range(2))
        assert (one.x == two.x).all()
        assert (one.y == two.y).all()
        assert (one.points == two.points).all()


def test_that_a_box_that_grows_never_changes_the_order_of_the_others():
    for seed in range(25):
        n, source, target, _, _ = random_graph(seed)
        topology = prepare(n, source, target)
        w, h = np.full(n, 100.0), np.full(n, 28.0)
        before = place(topology, w, h)
        w[seed % n], h[seed % n] = 2_000, 3_000
        after = place(topology, w, h)
        lattice = topology.lattice
        for first, last in zip(lattice.start[:-1], lattice.start[1:], strict=True):
            nodes = [node for node in range(n) if first <= lattice.slot[node] < last]
            order = sorted(nodes, key=before.x.__getitem__)
            assert order == sorted(nodes, key=after.x.__getitem__)
        alone = topology.alone
        assert (np.lexsort((before.x[alone], before.y[alone])) == np.lexsort((after.x[alone], after.y[alone]))).all()


def test_that_edges_lead_down_and_back_edges_up():
    source, target = np.array([0, 1, 2, 2]), np.array([1, 2, 3, 1])
    placement = place(prepare(4, source, target), np.full(4, 100.0), np.full(4, 28.0))
    assert (np.diff(placement.y) > 28).all()
    back = placement.points[placement.offsets[3] : placement.offsets[4]]
    assert back[0, 1] == pytest.approx(placement.y[2])
    assert back[-1, 1] == pytest.approx(placement.y[1] + 28)


def test_that_a_chain_is_a_straight_line():
    placement = place(prepare(9, np.arange(8), np.arange(1, 9)), np.linspace(40, 220, 9), np.full(9, 28.0))
    assert len(placement.points) == 16
    assert np.ptp(placement.points[:, 0]) < 1e-6


def test_that_small_boxes_beside_a_tall_one_stay_near_their_neighbours():
    # 0 feeds 1 (tall) and 2; 3 feeds 4, and so does 1.
    source, target = np.array([0, 0, 1, 3]), np.array([1, 2, 4, 4])
    placement = place(prepare(5, source, target), np.full(5, 100.0), np.array([28.0, 900, 28, 28, 28]))
    row_top, row_bottom = placement.y[1], placement.y[1] + 900
    assert placement.y[2] == row_top
    assert placement.y[3] + 28 == row_bottom


@pytest.mark.parametrize(
    ("n", "source", "target"),
    [
        (0, [], []),
        (1, [0], [0]),
        (10_000, [], []),
        (20_000, np.arange(19_999), np.arange(1, 20_000)),
        (5_000, np.zeros(4_999), np.arange(1, 5_000)),
        (5_000, (np.arange(1, 5_000) - 1) // 2, np.arange(1, 5_000)),
    ],
    ids=["nothing", "self edge", "no edges", "chain", "star", "tree"],
)
def test_that_extreme_graphs_are_laid_out(n, source, target):
    placement = place(prepare(n, source, target), np.full(n, 60.0), np.full(n, 28.0))
    assert np.isfinite(placement.points).all()
    assert len(set(zip(placement.x.tolist(), placement.y.tolist(), strict=True))) == n


def test_that_the_longest_edges_are_left_out_where_bends_would_be_too_many(monkeypatch):
    monkeypatch.setattr("graphviewer.layout.lattice.bend_budget", lambda n: 6 * n)
    n = 60
    heads = np.arange(2, n, 2)
    source, target = np.r_[np.arange(n - 1), np.zeros(len(heads), int)], np.r_[np.arange(1, n), heads]
    placement = place(prepare(n, source, target), np.full(n, 60.0), np.full(n, 28.0))
    left_out = np.flatnonzero(np.diff(placement.offsets) == 0)
    spans = target - source
    assert 0 < len(left_out) < len(heads)
    assert spans[left_out].min() > np.delete(spans, left_out).max()
