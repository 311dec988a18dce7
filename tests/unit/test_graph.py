"""Columns, walks and the networkx view of a graph."""

from collections.abc import Mapping

import numpy as np

from graphviewer import protos
from graphviewer.model.graph import Graph
from graphviewer.model.names import CONTROL_PORT


def graph_of(nodes: Mapping[str, list[str]]) -> Graph:
    return Graph.from_nodes([protos.NodeDef(name=name, op="Op", input=inputs) for name, inputs in nodes.items()])


def named(graph: Graph, mask: np.ndarray) -> set[str]:
    return {graph.names[node] for node in np.flatnonzero(mask).tolist()}


DIAMOND = {"a": [], "b": ["a"], "c": ["a:1", "^b"], "d": ["b", "c:0"]}


def test_that_edges_keep_input_order_port_and_kind() -> None:
    graph = graph_of(DIAMOND)
    edges = list(zip(graph.src.tolist(), graph.dst.tolist(), graph.port.tolist(), graph.slot.tolist(), strict=True))
    assert edges == [(0, 1, 0, 0), (0, 2, 1, 0), (1, 2, CONTROL_PORT, 1), (1, 3, 0, 0), (2, 3, 0, 1)]


def test_that_inputs_and_consumers_leave_control_edges_out_unless_asked() -> None:
    graph = graph_of(DIAMOND)
    assert graph.inputs(2) == [0]
    assert graph.inputs(2, control=True) == [0, 1]
    assert sorted(graph.consumers(1)) == [3]
    assert sorted(graph.consumers(1, control=True)) == [2, 3]


def test_that_ancestors_stop_at_cut_nodes() -> None:
    graph = graph_of(DIAMOND)
    assert named(graph, graph.ancestors([3])) == {"a", "b", "c", "d"}
    assert named(graph, graph.ancestors([3], stop=[1, 2])) == {"b", "c", "d"}
    assert named(graph, graph.descendants([1], control=False)) == {"b", "d"}


def test_that_an_absent_input_is_dangling_and_has_no_edge() -> None:
    graph = graph_of({"a": ["gone:1", "^missing"]})
    assert [(one.node, one.text) for one in graph.dangling] == [(0, "gone:1"), (0, "^missing")]
    assert len(graph.src) == 0


def test_that_the_first_of_two_nodes_with_one_name_is_meant() -> None:
    nodes = [protos.NodeDef(name="x", op="A"), protos.NodeDef(name="x", op="B"), protos.NodeDef(name="y", input=["x"])]
    graph = Graph.from_nodes(nodes)
    assert graph.index["x"] == 0
    assert graph.inputs(2) == [0]


def test_that_a_chain_of_20000_nodes_and_a_cycle_are_walked_without_recursion() -> None:
    count = 20_000
    nodes = {f"n{i}": [f"n{(i - 1) % count}"] for i in range(count)}
    graph = graph_of(nodes)
    assert graph.ancestors([5]).all() and graph.descendants([5]).all()


def test_that_an_empty_graph_has_empty_columns() -> None:
    graph = Graph.from_nodes([])
    assert len(graph) == 0 and len(graph.src) == 0 and graph.in_start.tolist() == [0]


def test_that_the_networkx_view_holds_one_edge_per_pair_with_its_ports() -> None:
    graph = graph_of({"a": [], "b": ["a", "a:1", "^a"]})
    assert graph.digraph.number_of_edges() == 1
    assert graph.digraph.edges[0, 1]["ports"] == [0, 1, CONTROL_PORT]
    assert graph.digraph.nodes[1] == {"name": "b", "op": "Op", "device": ""}


def test_that_opening_does_not_build_the_networkx_view() -> None:
    graph = graph_of(DIAMOND)
    graph.ancestors([3])
    assert "digraph" not in vars(graph)


def test_that_ops_are_numbered_in_order_of_first_appearance_across_blocks() -> None:
    ops = ["Relu", "Const", "Relu"] * 1_500
    graph = Graph.from_nodes([protos.NodeDef(name=str(number), op=op) for number, op in enumerate(ops)])
    distinct, codes = graph.op_codes
    assert distinct == ["Relu", "Const"]
    assert [distinct[code] for code in codes.tolist()] == ops
    assert np.array_equal(graph.of_ops({"Const", "Add"}), np.array(ops) == "Const")
    assert graph_of({}).of_ops({"Const"}).tolist() == []


def test_that_an_input_may_name_a_node_that_comes_later_or_looks_like_another_spelling() -> None:
    graph = graph_of({"a": ["z:1", "^z", "lost", "z"], "z": [], "z:1": []})
    assert list(zip(graph.src.tolist(), graph.port.tolist(), strict=True)) == [(2, 0), (1, CONTROL_PORT), (1, 0)]
    assert [(one.node, one.text) for one in graph.dangling] == [(0, "lost")]
