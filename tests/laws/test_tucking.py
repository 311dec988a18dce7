"""Constants as chips beside the op that uses them."""

from itertools import pairwise

import numpy as np
import pytest

from graphviewer import protos
from graphviewer.layout.drawing import CHIP_HEIGHT
from graphviewer.layout.nested import NestedLayout, Style
from graphviewer.layout.tucking import MOST_CHIPS, hosts
from graphviewer.model.graph import Graph
from graphviewer.model.scopes import build_scopes

LAYER = (
    ("x", "Placeholder"),
    ("layer/axis", "Const"),
    ("layer/w", "VarHandleOp"),
    ("layer/read", "ReadVariableOp", "layer/w"),
    ("layer/mul", "MatMul", "x", "layer/read"),
    ("layer/sum", "Sum", "layer/mul", "layer/axis"),
    ("y", "Relu", "layer/sum"),
)


def scopes_of(rows):
    return build_scopes(Graph.from_nodes([protos.NodeDef(name=n, op=op, input=inputs) for n, op, *inputs in rows]))


def host_names(rows):
    scopes = scopes_of(rows)
    found = hosts(scopes)
    return {scopes.path(item): scopes.path(int(found[item])) for item in np.flatnonzero(found >= 0).tolist()}


def test_that_constants_and_reads_are_beside_their_only_consumer():
    assert host_names(LAYER) == {"layer/axis": "layer/sum", "layer/read": "layer/mul"}


@pytest.mark.parametrize(
    "rows",
    [
        [("c", "Const"), ("a", "Relu", "c"), ("b", "Relu", "c")],
        [("c", "Const"), ("a", "Relu", "c"), ("scope/b", "Relu", "c")],
        [("scope/c", "Const"), ("b", "Relu", "scope/c")],
        [("c", "Const")],
        [("c", "Const"), ("scope/a", "Relu", "c")],
        [*((f"c{number}", "Const") for number in range(MOST_CHIPS + 1)), ("a", "Pack", *(f"c{n}" for n in range(5)))],
        [("v", "VarHandleOp"), ("i", "Identity", "v"), ("a", "Relu", "i")],
    ],
)
def test_that_what_others_use_or_is_too_much_stays_a_node(rows):
    assert host_names(rows) == {}


def random_graph(seed):
    """Ops in scopes, many of them constants."""
    random = np.random.default_rng(seed)
    rows = []
    for number in range(120):
        is_constant = number < 3 or random.random() < 0.4
        near = random.integers(max(number - 10, 0), max(number, 1), random.integers(1, 4))
        inputs = [] if is_constant else [rows[at][0] for at in near]
        scope = f"{'abc'[number // 40]}/{'de'[number // 20 % 2]}"
        rows.append((f"{scope}/op{number}", "Const" if is_constant else "AddN", *inputs))
    return scopes_of(rows)


def drawn(scopes, direction):
    layout = NestedLayout(scopes).styled(Style(direction, tucked=True))
    return layout.draw(np.flatnonzero(scopes.is_scope).tolist())


@pytest.mark.parametrize("direction", ["down", "right"])
def test_that_chips_and_boxes_lie_apart_and_inside_their_scope(direction):
    for seed in range(4):
        scopes = random_graph(seed)
        drawing = drawn(scopes, direction)
        assert (drawing.h == CHIP_HEIGHT).any()
        left, top, right, bottom = drawing.x, drawing.y, drawing.x + drawing.w, drawing.y + drawing.h
        meet = (left[:, None] < right[None] - 0.05) & (left[None] < right[:, None] - 0.05)
        meet &= (top[:, None] < bottom[None] - 0.05) & (top[None] < bottom[:, None] - 0.05)
        meet &= drawing.parent[:, None] == drawing.parent[None]
        assert not np.triu(meet, 1).any()
        inner = np.flatnonzero(drawing.parent >= 0)
        outer = drawing.parent[inner]
        assert (left[inner] > left[outer]).all() and (right[inner] < right[outer]).all()
        assert (top[inner] > top[outer]).all() and (bottom[inner] < bottom[outer]).all()


@pytest.mark.parametrize("direction", ["down", "right"])
def test_that_edges_end_at_boxes_and_cross_no_chip(direction):
    for seed in range(4):
        scopes = random_graph(seed)
        drawing = drawn(scopes, direction)
        lines = np.flatnonzero(np.diff(drawing.offsets) > 0)
        assert len(lines) and (np.diff(drawing.offsets) > 0)[~drawing.control & ~drawing.hub].any()
        for edge in lines.tolist():
            points = drawing.points[drawing.offsets[edge] : drawing.offsets[edge + 1]].astype(float)
            for box, point in ((drawing.source[edge], points[0]), (drawing.target[edge], points[-1])):
                assert drawing.x[box] - 0.05 <= point[0] <= drawing.x[box] + drawing.w[box] + 0.05
                assert drawing.y[box] - 0.05 <= point[1] <= drawing.y[box] + drawing.h[box] + 0.05
            along = np.concatenate([np.linspace(a, b, 12) for a, b in pairwise(points)])
            others = np.flatnonzero(drawing.parent == drawing.parent[drawing.source[edge]])
            others = others[~np.isin(others, (drawing.source[edge], drawing.target[edge]))]
            x, y, w, h = (column[others].astype(float) for column in (drawing.x, drawing.y, drawing.w, drawing.h))
            inside = (along[:, None, 0] > x + 0.1) & (along[:, None, 0] < x + w - 0.1)
            inside &= (along[:, None, 1] > y + 0.1) & (along[:, None, 1] < y + h - 0.1)
            assert not inside.any()


def test_that_a_line_to_a_chip_leads_to_the_box_beside_it():
    scopes = scopes_of(LAYER)
    drawing = drawn(scopes, "down")
    ends = {
        (scopes.path(int(drawing.item[a])), scopes.path(int(drawing.item[b])))
        for a, b, points in zip(drawing.source, drawing.target, np.diff(drawing.offsets), strict=True)
        if points
    }
    assert ("layer/w", "layer/mul") in ends
