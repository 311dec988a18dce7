"""A merged graph in the order of the first one."""

from __future__ import annotations

import numpy as np

from graphviewer.analysis.diff import compare
from graphviewer.analysis.merge import merge
from graphviewer.analysis.merged_order import in_place
from graphviewer.model.document import Document
from graphviewer.model.overlay import EDGE_STATUSES
from tests.unit.test_merge import AFTER, BEFORE, document


def _both(before: Document, after: Document):
    union = merge(before, after, compare(before, after))
    return union, in_place(union)


def _edges(union):
    graph = union.document.graph
    rows = zip(graph.src, graph.port, graph.slot, graph.dst, union.edge_status, strict=True)
    return {(graph.names[s], int(p), int(k), graph.names[d], EDGE_STATUSES[code]) for s, p, k, d, code in rows}


def test_that_nodes_stand_where_the_first_graph_has_them_and_added_ones_behind_what_they_follow():
    _, ordered = _both(BEFORE, AFTER)
    assert ordered.document.graph.names == ["x", "i", "relu", "top", "loss"]
    assert [node.name for node in ordered.document.graph_def.node] == ordered.document.graph.names
    assert ordered.from_before.tolist() == [0, 1, 2, -1, 3]
    assert ordered.from_after.tolist() == [0, -1, 1, 2, -1]


def test_that_nothing_but_the_order_is_another():
    union, ordered = _both(BEFORE, AFTER)
    assert _edges(ordered) == _edges(union)
    for one in (union, ordered):
        assert len(one.overlay.reasons) == len(one.overlay.codes) == 5
    statuses = [
        {name: (one.overlay.category(node), one.overlay.reasons[node]) for node, name in enumerate(names)}
        for one in (union, ordered)
        for names in [one.document.graph.names]
    ]
    assert statuses[0] == statuses[1]


def test_that_the_columns_are_those_of_the_nodes():
    _, ordered = _both(BEFORE, AFTER)
    fresh = Document("graphdef", ordered.document.graph_def, title="fresh").graph
    for column in ("src", "dst", "port", "slot"):
        assert np.array_equal(getattr(ordered.document.graph, column), getattr(fresh, column))
    assert ordered.document.graph.ops == fresh.ops


def test_that_a_graph_with_dangling_inputs_keeps_the_status_of_its_edges():
    before = document(("a", "NoOp"), ("y", "Relu", "nowhere", "x"), ("x", "Placeholder"))
    after = document(("x", "Placeholder"), ("y", "Relu", "nowhere", "x"), ("z", "Relu", "y"))
    union, ordered = _both(before, after)
    assert ordered.document.graph.names == ["a", "y", "z", "x"]
    assert _edges(ordered) == _edges(union)


def test_that_added_nodes_before_all_others_come_first():
    _, ordered = _both(document(("x", "Relu"), ("old", "Abs")), document(("new", "Abs"), ("x", "Relu")))
    assert ordered.document.graph.names[0] == "new"
