"""Ancestors, distances and the ways between nodes of any graph, against networkx."""

import networkx as nx
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from graphviewer import protos
from graphviewer.analysis.neighbourhood import lit, paths, reach
from graphviewer.model.graph import Graph
from graphviewer.model.names import parse_input

graphs = st.integers(2, 9).flatmap(
    lambda count: st.lists(
        st.tuples(st.integers(0, count - 1), st.integers(0, count - 1), st.booleans()), max_size=3 * count
    ).map(lambda edges: graph_of(count, edges))
)


def graph_of(count: int, edges: list[tuple[int, int, bool]]) -> Graph:
    nodes = [protos.NodeDef(name=f"n{number}", op="Op") for number in range(count)]
    for source, target, control in edges:
        nodes[target].input.append(f"^n{source}" if control else f"n{source}")
    return Graph.from_nodes(nodes)


def plain(graph: Graph, *, control: bool = True) -> nx.DiGraph:
    kept = np.ones(len(graph.src), bool) if control else ~graph.control
    made = nx.DiGraph()
    made.add_nodes_from(range(len(graph)))
    made.add_edges_from(zip(graph.src[kept].tolist(), graph.dst[kept].tolist(), strict=True))
    return made


@given(graphs, st.data())
def test_that_distances_are_those_of_networkx(graph: Graph, data: st.DataObject) -> None:
    seed = data.draw(st.integers(0, len(graph) - 1))
    for against in (False, True):
        model = plain(graph).reverse() if against else plain(graph)
        known = nx.single_source_shortest_path_length(model, seed)
        assert graph.distances([seed], against=against).tolist() == [known.get(node, -1) for node in range(len(graph))]


@given(graphs, st.integers(-1, 4), st.data())
def test_that_unlimited_reach_is_the_graphs_own_and_limits_only_take_away(
    graph: Graph, limit: int, data: st.DataObject
) -> None:
    seeds = data.draw(st.sets(st.integers(0, len(graph) - 1), min_size=1))
    whole, part = (lit(reach(graph, seeds, up=True, down=False, limit=one).overlay) for one in (-1, limit))
    assert np.array_equal(whole, graph.ancestors(seeds))
    assert not (part & ~whole).any()


@given(graphs, st.data())
def test_that_paths_hold_exactly_the_nodes_between_and_the_shortest_is_one(graph: Graph, data: st.DataObject) -> None:
    one, other = (data.draw(st.integers(0, len(graph) - 1)) for _ in range(2))
    found = paths(graph, [one], [other])
    if found is None:
        assert not nx.has_path(plain(graph), one, other) and not nx.has_path(plain(graph), other, one)
        return
    source, target = (other, one) if found.is_reversed else (one, other)
    model = plain(graph, control=found.has_control)
    between = ({source} | nx.descendants(model, source)) & ({target} | nx.ancestors(model, target))
    assert set(np.flatnonzero(found.on_any).tolist()) == between
    assert nx.is_path(model, list(found.shortest)) or len(found.shortest) == 1
    assert (found.shortest[0], found.shortest[-1]) == (source, target)
    assert len(found.shortest) - 1 == nx.shortest_path_length(model, source, target)
    assert np.array_equal(lit(found.overlay), found.on_any)


@st.composite
def random_nodes(draw: st.DrawFn) -> dict[str, list[str]]:
    count = draw(st.integers(1, 12))
    names = [f"n{i}" for i in range(count)]
    text = st.one_of(
        st.sampled_from(names), st.sampled_from(names).map("^{}".format), st.sampled_from(names).map("{}:2".format)
    )
    return {name: draw(st.lists(text, max_size=4)) for name in names}


@given(random_nodes())
@settings(max_examples=60)
def test_that_ancestors_are_the_closure_of_the_inputs(nodes: dict[str, list[str]]) -> None:
    graph = Graph.from_nodes([protos.NodeDef(name=name, op="Op", input=inputs) for name, inputs in nodes.items()])
    for seed in nodes:
        wanted, todo = set(), [seed]
        while todo:
            name = todo.pop()
            if name not in wanted:
                wanted.add(name)
                todo += [parse_input(text)[0] for text in nodes[name]]
        assert {graph.names[node] for node in np.flatnonzero(graph.ancestors([graph.index[seed]])).tolist()} == wanted
