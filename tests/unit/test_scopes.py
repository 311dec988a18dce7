"""The scope tree and the edges between siblings."""

import numpy as np
import pytest

from graphviewer import protos
from graphviewer.model.graph import Graph
from graphviewer.model.scopes import Scopes, build_scopes


def scopes_of(**nodes: list[str]) -> Scopes:
    return build_scopes(
        Graph.from_nodes([protos.NodeDef(name=k.replace("__", "/"), op="Op", input=v) for k, v in nodes.items()])
    )


def labels(scopes: Scopes, path: str = "") -> list[str]:
    return [scopes.labels[item] for item in scopes.children(scopes.by_path[path])]


def test_that_items_keep_order_of_first_appearance() -> None:
    scopes = scopes_of(b__x=[], a=[], b__y=[])
    assert labels(scopes) == ["b", "a"]
    assert labels(scopes, "b") == ["x", "y"]


def test_that_a_node_named_like_a_scope_becomes_a_leaf_inside_it() -> None:
    scopes = scopes_of(net=[], net__w=[])
    assert labels(scopes) == ["net"]
    assert labels(scopes, "net") == ["(net)", "w"]
    assert scopes.path(int(scopes.leaf[0])) == "net"


def test_that_edges_are_summed_on_siblings_and_control_is_kept_apart() -> None:
    scopes = scopes_of(a__x=[], a__y=["a/x"], b__z=["a/x", "a/y", "^a/x"], c=["^b/z"])
    edges = scopes.sibling_edges
    found = {
        (scopes.path(int(a)), scopes.path(int(b))): (int(n), bool(c))
        for a, b, n, c in zip(edges.a, edges.b, edges.count, edges.control, strict=True)
    }
    assert found == {("a", "b"): (3, False), ("a/x", "a/y"): (1, False), ("b", "c"): (1, True)}
    top = slice(edges.start[0], edges.start[1])
    assert {scopes.labels[item] for item in edges.a[top]} == {"a", "b"}


def test_that_sizes_count_nodes_of_all_depths() -> None:
    scopes = scopes_of(a__b__x=[], a__b__y=[], a__z=[])
    assert scopes.size[scopes.by_path["a"]] == 3
    assert scopes.size[0] == 3


@pytest.mark.parametrize("name", ["a//b", "/a", "a/", "/", "a/" * 400 + "x"])
def test_that_odd_names_still_have_a_place_and_a_path(name: str) -> None:
    scopes = build_scopes(Graph.from_nodes([protos.NodeDef(name=name, op="Op")]))
    assert scopes.path(int(scopes.leaf[0])) == name
    assert scopes.size[0] == 1


def test_that_ancestors_run_from_the_inside_out() -> None:
    scopes = scopes_of(a__b__x=[])
    around = [scopes.path(item) for item in scopes.ancestors(int(scopes.leaf[0]))]
    assert around == ["a/b", "a", ""]


def test_that_nodes_inside_a_scope_are_all_its_nodes() -> None:
    scopes = scopes_of(a__b__x=[], c=[], a__z=[])
    assert scopes.nodes_inside(scopes.by_path["a"]) == [0, 2]


def test_that_rolled_up_rows_add_to_the_total_at_the_root() -> None:
    scopes = scopes_of(a__b__x=[], c=[], a__z=[])
    rows = np.zeros((len(scopes), 2), np.int32)
    rows[scopes.leaf, [0, 1, 0]] = 1
    assert scopes.roll_up(rows)[0].tolist() == [2, 1]
