"""What holds for the comparison of any two graphs, damaged ones included."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from graphviewer import protos
from graphviewer.analysis.diff import ADDED, REMOVED, SPLICED, STATUSES, UNCHANGED, compare
from graphviewer.analysis.merge import merge
from graphviewer.model.document import Document
from graphviewer.model.graph import Graph

NAMES = st.sampled_from(["a", "b", "s/a", "s/b", "t/a", "t/b", "import/a", "import/s/a", ""])
INPUTS = st.builds("".join, st.tuples(st.sampled_from(["", "^"]), NAMES, st.sampled_from(["", ":0", ":1"])))
NODES = st.tuples(NAMES, st.sampled_from(["Identity", "Relu", "Const", "VariableV2"]), st.lists(INPUTS, max_size=3))
GRAPHS = st.lists(NODES, max_size=7)


def document(nodes):
    graph_def = protos.GraphDef()
    for name, op, inputs in nodes:
        graph_def.node.add(name=name, op=op, input=inputs)
    return Document("graphdef", graph_def, title="any")


@given(GRAPHS, GRAPHS)
@settings(max_examples=25)
def test_that_every_node_of_either_side_has_one_fitting_status(before, after):
    diff = compare(document(before), document(after))
    assert len(diff.status_before) == len(before)
    assert len(diff.status_after) == len(after)
    linked = diff.match >= 0
    assert np.isin(diff.status_before[~linked], [REMOVED, SPLICED]).all()
    assert not np.isin(diff.status_before[linked], [REMOVED, SPLICED, ADDED]).any()
    assert np.array_equal(diff.status_after == ADDED, diff.origin < 0)
    assert np.array_equal(diff.origin[diff.match[linked]], np.flatnonzero(linked))
    assert np.array_equal(diff.status_after[diff.match[linked]], diff.status_before[linked])
    assert sum(diff.summary().values()) == len(before) + len(after) - linked.sum()
    assert len(diff.changes) == sum(diff.summary().values()) - diff.summary()["unchanged"]
    order = [STATUSES.index(change.status) for change in diff.changes]
    assert order == sorted(order)


@settings(max_examples=15)
@given(GRAPHS, st.randoms(use_true_random=False))
def test_that_a_graph_is_the_same_as_itself_in_any_order(nodes, random):
    shuffled = nodes.copy()
    random.shuffle(shuffled)
    diff = compare(document(nodes), document(shuffled))
    assert diff.same
    assert (diff.status_before == UNCHANGED).all()


@given(GRAPHS, GRAPHS)
@settings(max_examples=25)
def test_that_sides_can_be_swapped(before, after):
    there, back = (compare(document(x), document(y)) for x, y in ((before, after), (after, before)))
    assert there.same == back.same
    assert (there.match >= 0).sum() == (back.match >= 0).sum()


@given(GRAPHS, GRAPHS)
@settings(max_examples=30)
def test_that_the_union_holds_every_node_once_and_every_edge_of_the_second_graph(before, after):
    first, second = document(before), document(after)
    diff = compare(first, second)
    union = merge(first, second, diff)
    size = len(union.document.graph)
    assert size == len(after) + int((diff.match < 0).sum())
    assert len(union.overlay.codes) == len(union.overlay.reasons) == size
    assert sorted(union.from_before[union.from_before >= 0].tolist()) == list(range(len(before)))
    assert union.from_after[: len(after)].tolist() == list(range(len(after)))
    assert len(union.edge_status) == len(union.document.graph.src)
    assert int((union.edge_status < 2).sum()) == len(second.graph.src)
    graph, read = union.document.graph, Graph.from_nodes(union.document.graph_def.node)
    for column in ("src", "dst", "port", "slot", "names", "ops", "devices"):
        assert np.array_equal(getattr(graph, column), getattr(read, column)), column
