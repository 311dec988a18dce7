"""The union of both sides of a comparison."""

from __future__ import annotations

import numpy as np

from graphviewer import protos
from graphviewer.analysis.diff import compare
from graphviewer.analysis.merge import merge, merged_scopes
from graphviewer.model.document import Document
from graphviewer.model.overlay import EDGE_STATUSES
from graphviewer.model.provenance import Origin, Provenance, Removal


def document(*nodes):
    graph_def = protos.GraphDef()
    for name, op, *inputs in nodes:
        graph_def.node.add(name=name, op=op, input=inputs)
    return Document("graphdef", graph_def, title="test")


def merged(before, after, provenance=None):
    return merge(before, after, compare(before, after, provenance))


def edges(union):
    """(source, port, destination, status) of every edge."""
    graph = union.document.graph
    rows = zip(graph.src, graph.port, graph.dst, union.edge_status, strict=True)
    return {(graph.names[s], int(p), graph.names[d], EDGE_STATUSES[status]) for s, p, d, status in rows}


BEFORE = document(("x", "Placeholder"), ("i", "Identity", "x"), ("relu", "Relu", "i", "^x"), ("loss", "Mean", "relu"))
AFTER = document(("x", "Placeholder"), ("relu", "Relu", "x", "^x"), ("top", "TopK", "relu:1"))


def test_that_the_union_holds_the_second_graph_then_what_only_the_first_has():
    union = merged(BEFORE, AFTER)
    assert union.document.graph.names == ["x", "relu", "top", "i", "loss"]
    assert union.from_after.tolist() == [0, 1, 2, -1, -1]
    assert union.from_before.tolist() == [0, 2, -1, 1, 3]
    assert [union.overlay.category(node) for node in range(5)] == [
        "unchanged",
        "rewired",
        "added",
        "spliced",
        "removed",
    ]
    assert len(union.overlay.reasons) == 5


def test_that_edges_of_both_sides_are_there_with_their_status():
    assert edges(merged(BEFORE, AFTER)) == {
        ("x", 0, "relu", "added"),
        ("x", -1, "relu", "kept"),
        ("relu", 1, "top", "added"),
        ("x", 0, "i", "removed"),
        ("i", 0, "relu", "removed"),
        ("relu", 0, "loss", "removed"),
    }


def test_that_a_renamed_node_appears_once_under_its_new_name():
    before = document(("a/x", "Placeholder"), ("a/y", "Relu", "a/x"), ("gone", "Mean", "a/y"))
    after = document(("b/x", "Placeholder"), ("b/y", "Relu", "b/x"))
    union = merged(before, after)
    assert union.document.graph.names == ["b/x", "b/y", "gone"]
    assert edges(union) == {("b/x", 0, "b/y", "kept"), ("b/y", 0, "gone", "removed")}


def test_that_two_nodes_of_one_name_both_appear():
    before = document(("n", "Mean"), ("m", "Relu", "n"))
    after = document(("n", "Const"), ("m", "Relu", "n"))
    provenance = Provenance({"n": Origin(None, "made", "")}, {"n": Removal("removed", "")})
    union = merged(before, after, provenance)
    assert union.document.graph.names == ["n", "m", "n (before)"]
    assert edges(union) == {("n", 0, "m", "added"), ("n (before)", 0, "m", "removed")}


def test_that_an_input_dangling_in_the_second_graph_counts_as_lost():
    union = merged(document(("x", "Placeholder"), ("y", "Relu", "x")), document(("y", "Relu", "x")))
    assert edges(union) == {("x", 0, "y", "removed")}


def test_that_neither_side_is_changed():
    before, after = BEFORE.graph_def.SerializeToString(), AFTER.graph_def.SerializeToString()
    merged(BEFORE, AFTER)
    assert BEFORE.graph_def.SerializeToString() == before
    assert AFTER.graph_def.SerializeToString() == after


def test_that_graphs_without_edges_and_without_nodes_merge():
    union = merged(document(), document(("a", "NoOp")))
    assert union.overlay.counts() == {"added": 1}
    assert np.array_equal(union.edge_status, [])
    assert len(merged(document(), document()).document.graph) == 0


def test_that_the_scopes_alone_are_those_of_the_union():
    before = document(("a/x", "Placeholder"), ("a/b/gone", "Relu", "a/x"), ("a/y", "Neg", "a/b/gone"), ("z", "NoOp"))
    after = document(("a/x", "Placeholder"), ("a/y", "Neg", "a/x"), ("a/b/new", "Exp", "a/y"), ("z", "NoOp"))
    diff = compare(before, after)
    union, alone = merge(before, after, diff), merged_scopes(diff)
    scopes = union.document.scopes
    assert [alone.scopes.path(item) for item in range(len(alone.scopes))] == [
        scopes.path(item) for item in range(len(scopes))
    ]
    assert np.array_equal(alone.overlay.by_item(alone.scopes), union.overlay.by_item(scopes))
    assert np.array_equal(alone.from_before, union.from_before)
    assert np.array_equal(alone.from_after, union.from_after)
