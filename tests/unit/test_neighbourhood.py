"""Ancestors, descendants and the ways between nodes."""

import numpy as np

from graphviewer import protos
from graphviewer.analysis.neighbourhood import Paths, paths, reach
from graphviewer.model.document import Document
from graphviewer.model.graph import Graph
from graphviewer.model.overlay import Overlay
from graphviewer.model.part import Part

LOOP = {"a": [], "b": ["a", "d"], "c": ["b"], "d": ["c"], "e": ["c", "^a"], "f": ["^e"], "alone": []}


def loop() -> Graph:
    return Graph.from_nodes([protos.NodeDef(name=name, op="Op", input=inputs) for name, inputs in LOOP.items()])


def by_category(graph: Graph, overlay: Overlay) -> dict[str, str]:
    found: dict[str, str] = {}
    for node, name in enumerate(graph.names):
        category = str(overlay.category(node))
        found[category] = found.get(category, "") + name
    return found


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
