"""Ops that only serve others as chips beside what they serve."""

from itertools import pairwise

import numpy as np
import pytest

from graphviewer import protos
from graphviewer.layout.auxiliary import MOST_CHIPS, find_tucks
from graphviewer.layout.drawing import CHIP_HEIGHT
from graphviewer.layout.nested import NestedLayout
from graphviewer.layout.style import Style
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
    found = find_tucks(scopes).host
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


VARIABLE = (
    ("w", "VariableV2"),
    ("w/init/shape", "Const"),
    ("w/init/random", "TruncatedNormal", "w/init/shape"),
    ("w/init/scale", "Const"),
    ("w/init", "Mul", "w/init/random", "w/init/scale"),
    ("w/Assign", "Assign", "w", "w/init"),
    ("w/read", "Identity", "w"),
    ("x", "Relu", "w/read"),
    ("init", "NoOp", "^w/Assign"),
)

RESOURCE = (
    ("w", "VarHandleOp"),
    ("w/ask/VarIsInitializedOp", "VarIsInitializedOp", "w"),
    ("w/zeros", "Const"),
    ("w/Assign", "AssignVariableOp", "w", "w/zeros"),
    ("w/Read/ReadVariableOp", "ReadVariableOp", "w"),
)

SAVER = (
    ("a/a", "VariableV2"),
    ("b/b", "VarHandleOp"),
    ("save/file", "Placeholder"),
    ("save/SaveV2", "SaveV2", "save/file", "save/names", "a/a"),
    ("save/names", "Const"),
    ("save/RestoreV2/names", "Const"),
    ("save/RestoreV2", "RestoreV2", "save/file", "save/RestoreV2/names"),
    ("save/Assign", "Assign", "a/a", "save/RestoreV2"),
    ("save/Identity", "Identity", "save/RestoreV2:1"),
    ("save/AssignVariableOp", "AssignVariableOp", "b/b", "save/Identity"),
    ("save/restore_all", "NoOp", "^save/Assign", "^save/AssignVariableOp"),
)


def tucked_away(rows):
    """Hosts of chips, and the chips that stand for others, by path."""
    scopes = scopes_of(rows)
    tucks = find_tucks(scopes)
    hosts, chips = ({item: int(at) for item, at in enumerate(of) if at >= 0} for of in (tucks.host, tucks.stand_in))
    return [{scopes.path(item): scopes.path(at) for item, at in each.items()} for each in (hosts, chips)]


def test_that_all_that_gives_a_variable_its_first_value_is_one_chip_beside_it():
    hosts, chips = tucked_away(VARIABLE)
    assert hosts["w/Assign"] == "w"
    assert chips == {"w/init": "w/Assign"}
    hosts, chips = tucked_away(RESOURCE)
    assert hosts == {"w/Assign": "w"}
    assert chips == {"w/zeros": "w/Assign", "w/ask": "w/Assign"}


def test_that_all_that_a_saver_restores_is_one_chip_beside_its_restoring_op():
    hosts, chips = tucked_away(SAVER)
    assert hosts == {
        "save/Assign": "save/RestoreV2",
        "save/names": "save/SaveV2",
        "save/RestoreV2/names": "save/RestoreV2",
    }
    assert chips == {"save/Identity": "save/Assign", "save/AssignVariableOp": "save/Assign"}


def test_that_the_first_of_many_restoring_ops_stands_for_all():
    rows = [("save/file", "Placeholder")]
    for number in range(5):
        rows += [(f"v/{number}", "VariableV2"), (f"save/names_{number}", "Const")]
        rows += [(f"save/RestoreV2_{number}", "RestoreV2", "save/file", f"save/names_{number}")]
        rows += [(f"save/Assign_{number}", "Assign", f"v/{number}", f"save/RestoreV2_{number}")]
    hosts, chips = tucked_away(rows)
    assert hosts == {"save/Assign_0": "save/RestoreV2_0", "save/names_0": "save/RestoreV2_0"}
    behind = {f"save/{name}_{number}" for name in ("names", "RestoreV2", "Assign") for number in range(1, 5)}
    assert chips == dict.fromkeys(behind, "save/Assign_0")


@pytest.mark.parametrize(
    "rows",
    [
        [*VARIABLE, ("y", "Relu", "w/init")],
        [*VARIABLE, ("y", "Relu", "w/Assign")],
        [("w", "VariableV2"), ("p", "Placeholder"), ("w/Assign", "Assign", "w", "p"), ("q", "Relu", "p")],
        [("w", "VariableV2"), ("v", "VariableV2"), ("w/n", "Neg", "v"), ("w/Assign", "Assign", "w", "w/n")],
        [("a/w", "VariableV2"), ("b/zero", "Const"), ("b/Assign", "Assign", "a/w", "b/zero")],
        [("w", "VariableV2"), ("w/Assign", "Assign", "w", "w/loop"), ("w/loop", "Add", "w/loop", "w/loop")],
    ],
    ids=["value used", "assignment used", "fed", "of another variable", "elsewhere", "circle"],
)
def test_that_an_assignment_that_does_more_than_start_its_variable_stays_a_node(rows):
    scopes = scopes_of(rows)
    tucks = find_tucks(scopes)
    assigns = [item for item in range(len(scopes)) if scopes.path(item).endswith("Assign")]
    assert (tucks.stand_in < 0).all() and (tucks.host[assigns] < 0).all()


@pytest.mark.parametrize("rows", [VARIABLE, RESOURCE, SAVER], ids=["variable", "resource", "saver"])
@pytest.mark.parametrize("direction", ["down", "right"])
def test_that_what_a_chip_stands_for_is_known_to_the_drawing_and_has_no_box(rows, direction):
    scopes = scopes_of(rows)
    drawing = drawn(scopes, direction)
    chips = drawing.item[drawing.behind_box]
    tucks = find_tucks(scopes)
    assert len(chips) and (tucks.stand_in[drawing.behind] == chips).all()
    assert not np.isin(drawing.behind, drawing.item).any()
    assert (drawing.source != drawing.target).all() and (drawing.source >= 0).all() and (drawing.target >= 0).all()


def test_that_a_saver_of_a_thousand_variables_is_a_handful_of_boxes_without_hubs():
    variables = [(f"net/v{number}", "VariableV2") for number in range(1000)]
    assigns = [(f"save/Assign_{at}", "Assign", f"net/v{at}", f"save/RestoreV2:{at}") for at in range(1000)]
    rows = [*variables, ("save/file", "Placeholder"), ("save/RestoreV2", "RestoreV2", "save/file"), *assigns]
    scopes = scopes_of(rows)
    drawing = NestedLayout(scopes).styled(Style(tucked=True)).draw([scopes.by_path["save"]])
    inside = drawing.depth == 1
    assert inside.sum() == 3 and len(drawing.behind) == 999
    assert not drawing.hub[inside[drawing.source]].any()


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
        if number % 9 == 0:
            rows.insert(0, (f"{scope}/w{number}", "VariableV2"))
            rows.append((f"{scope}/w{number}/value", "Const"))
            rows.append((f"{scope}/w{number}/Assign", "Assign", f"{scope}/w{number}", f"{scope}/w{number}/value"))
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
