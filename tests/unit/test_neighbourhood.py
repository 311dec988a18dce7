"""Ancestors, descendants and the ways between nodes, against networkx."""

import networkx as nx
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from graphviewer import protos
from graphviewer.analysis.neighbourhood import Paths, lit, paths, reach
from graphviewer.model.document import Document
from graphviewer.model.graph import Graph
from graphviewer.model.overlay import Overlay
from graphviewer.model.part import Part

LOOP = {"a": [], "b": ["a", "d"], "c": ["b"], "d": ["c"], "e": ["c", "^a"], "f": ["^e"], "alone": []}

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


def loop() -> Graph:
    return Graph.from_nodes([protos.NodeDef(name=name, op="Op", input=inputs) for name, inputs in LOOP.items()])


def by_category(graph: Graph, overlay: Overlay) -> dict[str, str]:
    found: dict[str, str] = {}
    for node, name in enumerate(graph.names):
        category = str(overlay.category(node))
        found[category] = found.get(category, "") + name
    return found


def plain(graph: Graph, *, control: bool = True) -> nx.DiGraph:
    kept = np.ones(len(graph.src), bool) if control else ~graph.control
    made = nx.DiGraph()
    made.add_nodes_from(range(len(graph)))
    made.add_edges_from(zip(graph.src[kept].tolist(), graph.dst[kept].tolist(), strict=True))
    return made


def test_that_ancestors_descendants_and_loops_are_told_apart() -> None:
    graph = loop()
    found = reach(graph, [graph.index["c"]], up=True, down=True)
    assert by_category(graph, found.overlay) == {
        "start": "c",
        "ancestor": "a",
        "both": "bd",
        "descendant": "ef",
        "other": "alone",
    }
    assert found.overlay.reasons[graph.index["b"]] == "1 up and 2 down"
    assert not found.goes_on


def test_that_levels_limit_the_walk_and_more_is_announced() -> None:
    graph = loop()
    found = reach(graph, [graph.index["c"]], up=False, down=True, limit=1)
    assert by_category(graph, found.overlay)["descendant"] == "de"
    assert found.goes_on
    assert not reach(graph, [graph.index["c"]], up=False, down=True, limit=2).goes_on


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


def between(one: str, other: str) -> Paths | None:
    graph = loop()
    return paths(graph, [graph.index[one]], [graph.index[other]])


def test_that_a_path_is_found_in_either_direction_and_control_edges_are_the_last_resort() -> None:
    backwards = between("e", "a")
    assert backwards is not None and backwards.is_reversed and not backwards.has_control
    assert [loop().names[node] for node in backwards.shortest] == ["a", "b", "c", "e"]
    through_control = between("a", "f")
    assert through_control is not None and through_control.has_control
    assert between("a", "alone") is None


def test_that_a_part_has_its_nodes_the_edges_between_them_and_their_overlay() -> None:
    graph_def = protos.GraphDef()
    for name, inputs in LOOP.items():
        graph_def.node.add(name=name, op=name.upper(), input=inputs)
    document = Document("graphdef", graph_def)
    part = Part.of(document, [4, 2, 0])
    graph = part.graph
    assert graph.names == ["a", "c", "e"]
    edges = zip(graph.src.tolist(), graph.dst.tolist(), graph.control.tolist(), strict=True)
    assert sorted(edges) == [(0, 2, True), (1, 2, False)]
    assert part.node(1).op == "C"
    assert part.unfolded is part
    whole = Overlay(
        "roles", ("x", "y"), np.array([0, 1, 1, 0, -1, 0, 0], np.int8), list("abcdefg"), {2: frozenset("m")}
    )
    cut = part.cut(whole)
    assert (cut.codes.tolist(), list(cut.reasons), dict(cut.markers)) == ([0, 1, -1], list("ace"), {1: frozenset("m")})
