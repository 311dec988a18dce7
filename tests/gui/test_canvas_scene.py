"""Scenes: what the canvas is told to paint, before anything is painted."""

import dataclasses
import itertools

import numpy as np
import pytest
from canvas_graphs import TRAINING, document, flags, leaf, roles, scene

from graphviewer.gui.canvas.edge_classes import EDGE_CLASSES
from graphviewer.gui.canvas.kinds import Kind, is_reference, kind_of
from graphviewer.gui.canvas.scene import MIXED, Endpoints, Flag, Scene, empty_scene
from graphviewer.gui.canvas.walk import neighbour
from graphviewer.layout.drawing import Drawing
from graphviewer.layout.nested import NestedLayout
from graphviewer.model.overlay import NONE, Overlay

pytestmark = pytest.mark.usefixtures("qapp")


def box(shown: Scene, item: int) -> int:
    return int(np.flatnonzero(shown.drawing.item == item)[0])


def edge(shown: Scene, source: int, target: int) -> int:
    drawing = shown.drawing
    return int(np.flatnonzero((drawing.source == source) & (drawing.target == target))[0])


@pytest.mark.parametrize(
    ("op", "kind"),
    [
        ("Conv2D", Kind.OP),
        ("Const", Kind.CONSTANT),
        ("VarHandleOp", Kind.VARIABLE),
        ("VariableV2", Kind.VARIABLE),
        ("PlaceholderWithDefault", Kind.PLACEHOLDER),
        ("StatefulPartitionedCall", Kind.CALL),
        ("my_function", Kind.CALL),
        ("NoSuchOp", Kind.OP),
    ],
)
def test_that_an_op_has_the_shape_of_its_kind(op, kind):
    assert kind_of(op, {"my_function"}) == kind


def test_that_only_edges_between_reference_ops_are_references():
    assert is_reference("VariableV2", "Assign")
    assert not is_reference("VariableV2", "Identity")
    assert not is_reference("VarHandleOp", "AssignVariableOp")
    assert not is_reference("NoSuchOp", "Assign")


def test_that_a_node_is_seen_in_the_nearest_drawn_scope(made):
    shown = scene(made, opened=("net",))
    inside, below = leaf(made, "net/conv"), leaf(made, "net/drop/mul")
    assert shown.drawing.item[shown.box_of_item[inside]] == inside
    assert shown.drawing.item[shown.box_of_item[below]] == made.scopes.by_path["net/drop"]
    closed = scene(made, opened=())
    assert closed.drawing.item[closed.box_of_item[inside]] == made.scopes.by_path["net"]


def test_that_a_scope_of_several_roles_is_mixed_and_one_of_a_single_role_is_not(made):
    shown = scene(made, opened=(), overlay=roles(made))
    by_path = made.scopes.by_path
    assert shown.category[box(shown, by_path["net"])] == MIXED
    assert shown.overlay.categories[shown.category[box(shown, by_path["gradients"])]] == "gradient"
    assert shown.shares[box(shown, by_path["net"])].sum() == made.scopes.size[by_path["net"]]


def test_that_nodes_the_overlay_does_not_mention_have_no_category(made):
    codes = np.full(len(made.graph), NONE, np.int8)
    shown = scene(made, overlay=Overlay("search", ("hit",), codes, [""] * len(codes)))
    assert (shown.category == NONE).all()


def test_that_a_scope_is_hidden_only_when_all_its_nodes_are(made):
    shown = scene(made, opened=(), overlay=roles(made), hidden=frozenset({"gradient", "initializer"}))
    hidden = {made.scopes.labels[shown.drawing.item[at]] for at in np.flatnonzero(shown.is_hidden)}
    assert hidden == {"gradients"}


def test_that_edges_at_hidden_boxes_are_not_routed(made):
    shown = scene(made, opened=(), overlay=roles(made), hidden=frozenset({"gradient"}))
    gone = box(shown, made.scopes.by_path["gradients"])
    ends = np.concatenate([shown.drawing.source[shown.routed], shown.drawing.target[shown.routed]])
    assert len(ends)
    assert gone not in ends


def test_that_only_inference_nodes_carry_warnings(made):
    overlay = roles(made)
    shown = scene(made, opened=("net",), overlay=overlay)
    warned = [made.scopes.labels[shown.drawing.item[at]] for at in np.flatnonzero(shown.warned)]
    assert warned == ["drop"]
    other = dataclasses.replace(overlay, markers={made.graph.index["loss"]: frozenset({"random"})})
    assert not scene(made, overlay=other).warned.any()


def test_that_a_chosen_endpoint_hides_its_own_suggestion(made):
    prob = made.graph.index["net/prob"]
    shown = scene(made, endpoints=Endpoints(outputs=[prob], suggested_outputs=[prob]))
    assert [(flag.is_output, flag.is_chosen) for flag in shown.flags] == [(True, True)]


def test_that_flags_of_nodes_in_closed_scopes_are_on_the_scope(made):
    shown = scene(made, opened=(), endpoints=flags(made))
    assert Flag(box(shown, made.scopes.by_path["net"]), is_output=True, is_chosen=True) in shown.flags


def test_that_endpoints_beyond_the_graph_are_left_out(made):
    assert scene(made, endpoints=Endpoints(outputs=[10_000, -1])).flags == ()


def test_that_edge_classes_say_what_flows(made):
    shown = scene(made, opened=("net", "net/w"), overlay=roles(made))
    at = {name: box(shown, leaf(made, name)) for name in ("net/w", "net/w/Assign", "net/w/read", "images", "loss")}

    def name(source: str, target: str) -> str:
        return EDGE_CLASSES[shown.edge_class[edge(shown, at[source], at[target])]]

    assert name("net/w", "net/w/Assign") == "reference"
    assert name("net/w", "net/w/read") == "strong"
    net = box(shown, made.scopes.by_path["net"])
    assert EDGE_CLASSES[shown.edge_class[edge(shown, net, at["loss"])]] == "faint"


def test_that_a_compared_edge_is_marked_where_it_is_drawn(made):
    graph = made.graph
    status = np.zeros(len(graph.src), np.int8)
    pair = (graph.index["net/conv"], graph.index["net/drop/mul"])
    status[(graph.src == pair[0]) & (graph.dst == pair[1])] = 2
    shown = scene(made, opened=("net",), edge_status=status)
    at = edge(shown, box(shown, leaf(made, "net/conv")), box(shown, made.scopes.by_path["net/drop"]))
    assert EDGE_CLASSES[shown.edge_class[at]] == "removed"
    assert (shown.edge_class == EDGE_CLASSES.index("removed")).sum() == 1


def test_that_edges_are_wide_where_many_bytes_flow(made):
    size = np.zeros(len(made.graph), np.int64)
    size[made.graph.index["images"]] = 1 << 26
    shown = scene(made, opened=(), node_bytes=size)
    wide = np.flatnonzero(shown.edge_width > 2)
    assert {made.scopes.labels[shown.drawing.item[at]] for at in shown.drawing.source[wide]} == {"images"}
    assert shown.edge_width.max() <= 3


def test_that_every_edge_of_the_graph_is_behind_one_drawn_edge(made):
    shown = scene(made, opened=("net",))
    found = shown.edge_of_graph_edge
    graph, apart = made.graph, shown.box_of_node[made.graph.src] != shown.box_of_node[made.graph.dst]
    assert ((found >= 0) == apart).all()
    counts = np.bincount(found[apart], minlength=len(shown.drawing.source))
    assert (counts == shown.drawing.count).all()
    assert len(graph.src) == len(found)


def test_that_a_selected_node_lights_its_inputs_and_outputs_across_scopes(made):
    shown = scene(made, opened=("net",), selection=frozenset([leaf(made, "net/call")]))
    labels = made.scopes.labels
    assert {labels[shown.drawing.item[at]] for at in shown.lit.boxes_in} == {"drop"}
    assert {labels[shown.drawing.item[at]] for at in shown.lit.boxes_out} == {"prob", "loss"}
    curves = {
        tuple(labels[shown.drawing.item[at]] for at in pair)
        for pair in zip(shown.lit.source, shown.lit.target, strict=True)
    }
    assert curves == {("call", "loss")}, "only what crosses the border of a scope has no edge of its own"


def test_that_control_edges_are_lit_dashed_on_demand(made):
    shown = scene(made, opened=("net",), selection=frozenset([leaf(made, "net/zero")]))
    prob = box(shown, leaf(made, "net/prob"))
    assert bool(shown.lit.control[list(shown.lit.target).index(prob)])
    assert prob not in shown.lit.boxes_out


def test_that_an_open_scope_lights_what_crosses_its_border(made):
    shown = scene(made, opened=("net",), selection=frozenset([made.scopes.by_path["net"]]))
    labels = made.scopes.labels
    assert {labels[shown.drawing.item[at]] for at in shown.lit.boxes_in} == {"images"}
    assert {labels[shown.drawing.item[at]] for at in shown.lit.boxes_out} == {"loss", "train", "save"}


def test_that_another_selection_keeps_what_does_not_depend_on_it(made):
    first = scene(made, overlay=roles(made), selection=frozenset([leaf(made, "loss")]))
    kept, lit = first.edge_bounds, first.lit
    second = first.with_selection([leaf(made, "images")])
    assert second.edge_bounds is kept
    assert second.lit is not lit
    assert second.selected != first.selected


def test_that_items_of_another_graph_select_nothing(made):
    assert scene(made, selection=frozenset([99_999, -1])).selected == ()


def test_that_an_empty_scene_answers_everything():
    shown = empty_scene()
    assert shown.box_at(0, 0) == -1
    assert shown.boxes_near(0, 0, 1) == []
    assert shown.lit.source.tolist() == []
    assert shown.edge_bounds.shape == (4, 0)
    assert (shown.start(900, 700), shown.selected, shown.flags) == ((0.0, 0.0), (), ())


def test_that_the_innermost_box_is_hit(made):
    shown = scene(made, opened=("net",))
    left, top, right, bottom = shown.bounds[:, shown.box_of_item[leaf(made, "net/conv")]]
    assert shown.drawing.item[shown.box_at((left + right) / 2, (top + bottom) / 2)] == leaf(made, "net/conv")
    assert shown.box_at(-1000, -1000) == -1


def test_that_arrow_keys_follow_edges_and_rows(made):
    shown = scene(made, opened=("net",))
    at = {name: box(shown, leaf(made, name)) for name in ("images", "net/conv", "net/call", "net/prob")}
    drop, w = (box(shown, made.scopes.by_path[path]) for path in ("net/drop", "net/w"))
    assert neighbour(shown, at["net/call"], "up") == drop
    assert neighbour(shown, at["net/call"], "down") == at["net/prob"]
    assert neighbour(shown, at["net/conv"], "up") == w, "an edge that is drawn before one that crosses a border"
    assert neighbour(shown, at["images"], "up") == -1


def test_that_arrow_keys_turn_with_a_sideways_drawing(made):
    layout = NestedLayout(made.scopes, direction="right")
    shown = Scene(layout.draw({made.scopes.by_path["net"]}), made.scopes)
    assert shown.is_sideways
    assert not scene(made).is_sideways
    call, prob = (box(shown, leaf(made, name)) for name in ("net/call", "net/prob"))
    assert neighbour(shown, call, "right") == prob


def test_that_a_large_scene_is_ready_in_the_time_of_three_frames():
    from time import process_time

    names = [f"s{at // 200}/n{at}" for at in range(16_000)]
    chain = [(name, "Relu", before) for before, name in itertools.pairwise(names)]
    made = document((*TRAINING, (names[0], "Relu"), *chain))
    made.scopes.sibling_edges  # noqa: B018 (part of opening a file, not of showing a scene)
    drawing = NestedLayout(made.scopes).draw(frozenset(np.flatnonzero(made.scopes.is_scope).tolist()) - {0})
    begin = process_time()
    shown = Scene(drawing, made.scopes, overlay=roles(made))
    _ = shown.bounds, shown.kind, shown.category, shown.edge_bounds, shown.edge_class, shown.warned, shown.flags
    assert process_time() - begin < 0.05 * 3
    assert isinstance(shown.drawing, Drawing)
