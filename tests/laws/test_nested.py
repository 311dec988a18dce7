import subprocess
import sys
from textwrap import dedent

import numpy as np
import pytest

from graphviewer.layout.drawing import PADDING, TITLE_HEIGHT
from graphviewer.layout.nested import NestedLayout, initial_open
from graphviewer.model.graph import CONTROL_PORT, Graph
from graphviewer.model.scopes import build_scopes


def scopes_of(names, wires=(), control=()):
    """The scope tree of nodes ``names`` with edges between their numbers."""
    pairs = np.array([*wires, *control], np.int32).reshape(-1, 2)
    port = np.r_[np.zeros(len(wires)), np.full(len(control), CONTROL_PORT)].astype(np.int32)
    order = np.argsort(pairs[:, 1], kind="stable")
    source, target, port = pairs[order, 0], pairs[order, 1], port[order]
    slot = (np.arange(len(target)) - np.searchsorted(target, target)).astype(np.int32)
    return build_scopes(Graph(names, ["NoOp"] * len(names), [""] * len(names), source, target, port, slot))


def random_scopes(seed):
    random = np.random.default_rng(seed)
    paths = [""]
    for number in range(12):
        paths.append(paths[random.integers(len(paths))] + f"scope{number}/")
    names = [paths[random.integers(len(paths))] + f"op{number}" for number in range(80)]
    return scopes_of(names, random.integers(0, 80, (160, 2)), random.integers(0, 80, (40, 2)))


def network(units=4):
    """A chain of scopes, each with a small graph inside and a skip edge around it."""
    names, wires = ["input"], []
    for unit in range(units):
        begin = len(names)
        names += [f"net/unit{unit}/{op}" for op in ("conv", "bn", "relu", "add")]
        before = begin - 1
        wires += [
            (before, begin),
            (begin, begin + 1),
            (begin + 1, begin + 2),
            (begin + 2, begin + 3),
            (before, begin + 3),
        ]
    return scopes_of([*names, "loss"], [*wires, (len(names) - 1, len(names))])


def everything(scopes):
    return np.flatnonzero(scopes.is_scope).tolist()


def overlaps_among_siblings(drawing):
    x, y, right, bottom = drawing.x, drawing.y, drawing.x + drawing.w, drawing.y + drawing.h
    meet = (x[:, None] < right[None] - 0.05) & (x[None] < right[:, None] - 0.05)
    meet &= (y[:, None] < bottom[None] - 0.05) & (y[None] < bottom[:, None] - 0.05)
    meet &= drawing.parent[:, None] == drawing.parent[None]
    return int(np.triu(meet, 1).sum())


@pytest.mark.parametrize("direction", ["down", "right"])
def test_that_boxes_lie_apart_inside_their_scope(direction):
    for seed in range(6):
        scopes = random_scopes(seed)
        drawing = NestedLayout(scopes, direction=direction).draw(everything(scopes))
        assert len(drawing) == len(scopes) - 1
        assert overlaps_among_siblings(drawing) == 0
        inner = np.flatnonzero(drawing.parent >= 0)
        outer = drawing.parent[inner]
        assert (outer < inner).all()
        assert drawing.is_open[outer].all()
        assert (drawing.x[inner] >= drawing.x[outer] + PADDING - 0.05).all()
        assert (drawing.y[inner] >= drawing.y[outer] + PADDING + TITLE_HEIGHT - 0.05).all()
        assert (drawing.x[inner] + drawing.w[inner] <= drawing.x[outer] + drawing.w[outer] - PADDING + 0.05).all()
        assert (drawing.y[inner] + drawing.h[inner] <= drawing.y[outer] + drawing.h[outer] - PADDING + 0.05).all()
        top = drawing.parent < 0
        assert (drawing.x[top] + drawing.w[top] <= drawing.width + 0.05).all()
        assert (drawing.y[top] + drawing.h[top] <= drawing.height + 0.05).all()


def test_that_edges_run_between_their_boxes_inside_one_scope():
    for seed in range(6):
        scopes = random_scopes(seed)
        drawing = NestedLayout(scopes).draw(everything(scopes)[: seed + 1])
        assert (drawing.parent[drawing.source] == drawing.parent[drawing.target]).all()
        assert len(drawing.offsets) == len(drawing.source) + 1
        drawn = np.flatnonzero(np.diff(drawing.offsets) > 0)
        assert (drawn == np.flatnonzero(~drawing.control & ~drawing.hub)).all()
        for box, at in ((drawing.source, drawing.offsets[:-1]), (drawing.target, drawing.offsets[1:] - 1)):
            box, point = box[drawn], drawing.points[at[drawn]]
            assert (point[:, 0] >= drawing.x[box]).all()
            assert (point[:, 0] <= drawing.x[box] + drawing.w[box]).all()
            sides = np.abs(point[:, 1] - np.array([drawing.y[box], drawing.y[box] + drawing.h[box]]))
            assert (sides.min(axis=0) < 0.05).all()


def test_that_every_edge_between_visible_boxes_is_counted():
    scopes = network()
    drawing = NestedLayout(scopes).draw(())
    assert [scopes.labels[item] for item in drawing.item] == ["input", "net", "loss"]
    assert list(zip(drawing.source.tolist(), drawing.target.tolist(), drawing.count.tolist(), strict=True)) == [
        (0, 1, 2),
        (1, 2, 1),
    ]


def test_that_open_scopes_inside_closed_ones_do_not_show():
    scopes = network()
    inner = scopes.by_path["net/unit1"]
    layout = NestedLayout(scopes)
    assert len(layout.draw([inner])) == 3
    assert len(layout.draw([inner, scopes.by_path["net"]])) == 3 + 4 + 4


def test_that_expanding_keeps_the_order_and_closing_brings_the_old_picture_back():
    for seed in range(6):
        scopes = random_scopes(seed)
        layout = NestedLayout(scopes)
        before = layout.draw(())
        opened = int(before.item[scopes.is_scope[before.item]][0])
        after = layout.draw([opened])
        shown = {item: box for box, item in enumerate(after.item.tolist())}
        boxes = np.array([shown[item] for item in before.item.tolist()])
        topology = layout._topologies[next(iter(layout._topologies))]
        row = topology.lattice.row[topology.lattice.slot]
        for number in set(row[topology.lattice.slot >= 0].tolist()):
            same = np.flatnonzero((row == number) & (topology.lattice.slot >= 0))
            assert (np.argsort(before.x[same]) == np.argsort(after.x[boxes][same])).all()
        again = layout.draw(())
        assert (again.x == before.x).all()
        assert (again.points == before.points).all()


def test_that_equal_scopes_share_one_layout():
    scopes = network(units=30)
    layout = NestedLayout(scopes)
    layout.draw(everything(scopes))
    assert len(layout._topologies) == 3


def test_that_a_new_layout_draws_the_same_picture():
    scopes = random_scopes(5)
    one = NestedLayout(scopes)
    one.draw(())
    first, second = one.draw(everything(scopes)), NestedLayout(scopes).draw(everything(scopes))
    assert (first.x == second.x).all()
    assert (first.points == second.points).all()


def test_that_hubs_and_control_edges_have_no_points():
    names = ["save/restore", *(f"variable{i}" for i in range(40)), "a", "b", "init"]
    wires = [*((0, i) for i in range(1, 41)), (41, 42)]
    drawing = NestedLayout(scopes_of(names, wires, [(41, 43)])).draw(())
    labels = [names[41], names[42], names[43]]
    assert labels == ["a", "b", "init"]
    assert drawing.hub.sum() == 40
    assert drawing.control.sum() == 1
    assert np.flatnonzero(np.diff(drawing.offsets)).tolist() == np.flatnonzero(~drawing.hub & ~drawing.control).tolist()
    assert overlaps_among_siblings(drawing) == 0


def test_that_a_scope_with_many_neighbours_is_no_hub_among_many_more():
    names = ["net/op", *(f"node{i}" for i in range(100))]
    star = [(0, i) for i in range(1, 31)]
    assert not NestedLayout(scopes_of(names, star)).draw(()).hub.any()
    assert NestedLayout(scopes_of(["net", *names[1:]], star)).draw(()).hub.all()
    assert NestedLayout(scopes_of(names[:40], star)).draw(()).hub.all()


def test_that_control_edges_do_not_make_a_hub_of_a_node_with_few_data_edges():
    names = ["train", "loss", *(f"update{i}" for i in range(30))]
    drawing = NestedLayout(scopes_of(names, [(1, 0)], [(i, 0) for i in range(2, 32)])).draw(())
    assert drawing.hub.tolist() == drawing.control.tolist()
    assert drawing.hub.sum() == 30


def test_that_given_widths_are_used():
    scopes = network()
    widths = np.full(len(scopes), 77.0)
    assert (NestedLayout(scopes, widths).draw(()).w == 77).all()


def test_that_the_flow_can_lead_to_the_right():
    drawing = NestedLayout(network(), direction="right").draw(())
    assert (np.diff(drawing.x) > drawing.w[:-1]).all()
    assert np.ptp(drawing.points[:, 1]) < 1e-3


def test_that_the_first_picture_opens_the_largest_scopes_until_enough_shows():
    scopes = network(units=10)
    opened = {scopes.path(item) for item in initial_open(scopes)}
    assert {"", "net"} < opened
    assert len(NestedLayout(scopes).draw(initial_open(scopes))) >= 20
    assert initial_open(scopes, at_least=1) == {0}
    assert initial_open(scopes, at_least=10**6) == set(everything(scopes))


def test_that_the_first_picture_avoids_crowded_scopes_but_opens_a_lone_one():
    crowd = [f"gradients/node{i}" for i in range(900)]
    small = [f"net/node{i}" for i in range(30)]
    both, lone = scopes_of([*crowd, *small]), scopes_of([*crowd, "input", "output"])
    assert initial_open(both) == {0, both.by_path["net"]}
    assert initial_open(lone) == {0, lone.by_path["gradients"]}


@pytest.mark.parametrize(
    "names",
    [[], ["a"], ["/".join(f"s{i}" for i in range(400)) + "/op"], [f"flat/node{i}" for i in range(5_000)]],
    ids=["nothing", "one node", "400 nested scopes", "5,000 children"],
)
def test_that_extreme_trees_are_drawn(names):
    scopes = scopes_of(names)
    drawing = NestedLayout(scopes).draw(everything(scopes))
    assert len(drawing) == len(scopes) - 1
    assert np.isfinite(drawing.x).all()
    assert drawing.offsets.tolist() == [0]
    assert initial_open(scopes) <= set(everything(scopes)) | {0}


def test_that_the_layout_needs_no_scipy():
    code = """
        import sys
        sys.modules["scipy"] = sys.modules["networkx"] = None
        import numpy as np
        from graphviewer.layout.nested import NestedLayout, initial_open
        from graphviewer.model.graph import Graph
        from graphviewer.model.scopes import build_scopes
        a, b = np.random.default_rng(0).integers(0, 300, (2, 400)).astype(np.int32)
        b.sort()
        zero = np.zeros(400, np.int32)
        names = [f"net/op{i}" for i in range(300)]
        scopes = build_scopes(Graph(names, names, names, a, b, zero, zero))
        print(len(NestedLayout(scopes).draw(initial_open(scopes))))
    """
    done = subprocess.run([sys.executable, "-c", dedent(code)], capture_output=True, text=True, check=False)
    assert done.stdout == "301\n", done.stderr
