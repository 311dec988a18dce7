"""How nodes are recognised: pins, renamed scopes, counters, structure; and what is not taken for the same."""

from __future__ import annotations

import hashlib
import random

import numpy as np
import pytest
from diff_graphs import counts, document, dtype, matches, node, statuses

from graphviewer import protos
from graphviewer.analysis.diff import compare
from graphviewer.errors import UnknownNameError
from graphviewer.model.document import Document
from graphviewer.model.making import const_node
from graphviewer.model.provenance import Provenance, Removal
from graphviewer.protos import DataType


def weights(name, seed=0, shape=(3, 3)):
    return const_node(name, DataType.FLOAT, values=np.random.default_rng(seed).normal(size=shape).astype(np.float32))


def network(prefix="", layers=4, seed=0, outer="x"):
    """Layers of matmul, bias and relu that all look alike but for their weights."""
    nodes, below = [], outer
    for layer in range(layers):
        scope = f"{prefix}layer{layer}"
        nodes += [
            weights(f"{scope}/w", seed + layer),
            weights(f"{scope}/b", seed + layer, (3,)),
            node(f"{scope}/MatMul", "MatMul", below, f"{scope}/w", T=dtype(1)),
            node(f"{scope}/add", "BiasAdd", f"{scope}/MatMul", f"{scope}/b", T=dtype(1)),
            node(f"{scope}/out", "Relu", f"{scope}/add", T=dtype(1)),
        ]
        below = f"{scope}/out"
    return nodes


X = node("x", "Placeholder", dtype=dtype(1))


def renamed(graph, rename, shuffle=True):
    """The graph under other names, its nodes in another order."""
    made = protos.GraphDef()
    names = {one.name: rename(one.name) for one in graph.graph_def.node}
    nodes = list(graph.graph_def.node)
    if shuffle:
        random.Random(1).shuffle(nodes)
    for one in nodes:
        copy = made.node.add()
        copy.CopyFrom(one)
        copy.name = names[one.name]
        copy.input[:] = [f"^{names[text[1:]]}" if text[0] == "^" else names[text] for text in one.input]
    return Document("graphdef", made, title="renamed"), names


def wrong(diff, names):
    """Nodes that are linked to another than the one that was renamed, or to none."""
    old, new = ([one.name for one in side.graph_def.node] for side in (diff.before, diff.after))
    found = {old[at]: new[to] if to >= 0 else None for at, to in enumerate(diff.match.tolist())}
    return {name: partner for name, partner in found.items() if partner != names[name]}


@pytest.mark.parametrize("prefix", ["import/", "tower_0/net/"])
def test_that_two_imports_of_one_graph_match_completely(prefix):
    graph = document(X, *network())
    other, names = renamed(graph, prefix.__add__)
    diff = compare(graph, other)
    assert wrong(diff, names) == {}
    assert set(matches(diff).values()) == {"prefix"}
    assert wrong(compare(other, graph), {new: old for old, new in names.items()}) == {}


def test_that_each_scope_may_have_its_own_new_name():
    graph = document(X, *network("a/", seed=1), *network("b/", seed=9), *network("same/", seed=20))
    other, names = renamed(graph, lambda name: name.replace("a/", "net/first/").replace("b/", "b_1/"))
    diff = compare(graph, other)
    assert wrong(diff, names) == {}
    assert counts(diff) == {"renamed": 40, "unchanged": 21}


def test_that_a_small_renamed_scope_in_a_large_graph_is_one():
    other = {"layer7/w": "fresh/w", "layer7/b": "fresh/b", "layer7/MatMul": "fresh/MatMul"}
    other |= {"layer7/add": "fresh/add", "layer7/out": "fresh/out"}
    graph = document(X, *network(layers=40))
    made, names = renamed(graph, lambda name: other.get(name, name))
    diff = compare(graph, made)
    assert wrong(diff, names) == {}
    assert counts(diff) == {"renamed": 5, "unchanged": 196}


def test_that_a_graph_without_a_single_name_left_matches_by_structure():
    graph = document(X, *network(layers=12))
    other, names = renamed(graph, lambda name: hashlib.sha256(name.encode()).hexdigest())
    diff = compare(graph, other)
    assert wrong(diff, names) == {}
    assert set(matches(diff).values()) == {"structure"}


def test_that_near_an_edit_the_rest_still_matches_by_structure():
    graph = document(X, *network(layers=12))
    other, names = renamed(graph, lambda name: hashlib.sha256(name.encode()).hexdigest())
    edited = next(one for one in other.graph_def.node if one.name == names["layer5/MatMul"])
    edited.attr["transpose_a"].b = True
    diff = compare(graph, other)
    assert wrong(diff, names) == {}
    (change,) = [one for one in diff.changes if one.details]
    assert (change.before, change.details) == ("layer5/MatMul", {"attributes": {"transpose_a": ["False", "True"]}})


def test_that_retrained_weights_under_new_names_are_the_same_variables():
    graph = document(X, *network("old/", seed=0, outer="x"))
    other = document(X, *network("old/", seed=50))
    made, names = renamed(other, lambda name: name.replace("old/layer", "new/dense_"), shuffle=False)
    diff = compare(graph, made)
    assert wrong(diff, names) == {}
    assert all("value" in one.details for one in diff.changes if one.name.endswith(("/w", "/b")))


def test_that_equal_branches_are_linked_in_file_order():
    def build(*names):
        return document(X, *(node(name, "Relu", "x") for name in names), node("y", "AddN", *names))

    diff = compare(build("a", "b", "c"), build("p", "q", "r"))
    assert wrong(diff, {"x": "x", "a": "p", "b": "q", "c": "r", "y": "y"}) == {}


def test_that_a_newer_version_of_an_op_in_the_same_place_is_the_same_node():
    before = document(X, node("i", "Const"), node("Gather", "Gather", "x", "i"), node("y", "Relu", "Gather"))
    axis = const_node("GatherV2/axis", DataType.INT32, values=np.int32(0))
    newer = node("GatherV2", "GatherV2", "x", "i", "GatherV2/axis")
    diff = compare(before, document(X, node("i", "Const"), axis, newer, node("y", "Relu", "GatherV2")))
    assert statuses(diff) == {"GatherV2/axis": "added", "GatherV2": "renamed"}
    change = diff.change_after[3]
    assert change.details["op"] == ["Gather", "GatherV2"]
    assert "its inputs differ too" in change.reason


def test_that_an_input_of_another_op_is_not_recognised_by_its_place():
    batch = node("bn", "FusedBatchNorm", "x", "scale", "offset")
    before = document(X, weights("scale", 1, (3,)), weights("offset", 2, (3,)), batch)
    after = document(X, weights("bias", 3, (3,)), node("bn", "BiasAdd", "x", "bias"))
    assert statuses(compare(before, after)) == {
        "scale": "removed", "offset": "removed", "bias": "added", "bn": "changed",
    }  # fmt: skip


def test_that_to_be_the_third_of_a_list_says_nothing():
    def build(variable, shape):
        made = node(variable, "VarHandleOp", dtype=dtype(1))
        made.attr["shared_name"].s = variable.encode()
        made.attr["shape"].shape.dim.add(size=shape)
        flag = node(f"{variable}/known", "VarIsInitializedOp", variable)
        return document(X, node("a", "Relu", "x"), made, flag, node("all", "Pack", "a", f"{variable}/known"))

    assert statuses(compare(build("slot", 3), build("metric", 4))) == {
        "slot": "removed", "slot/known": "removed", "metric": "added", "metric/known": "added", "all": "rewired",
    }  # fmt: skip


def test_that_counters_that_changed_places_are_seen():
    def build(*kinds):
        nodes = [X, node("s", "Placeholder", dtype=dtype(7)), node("i", "Placeholder", dtype=dtype(3))]
        for number, kind in enumerate(kinds):
            name = f"Identity_{number}" if number else "Identity"
            nodes.append(node(name, "Identity", {1: "x", 7: "s", 3: "i"}[kind], T=dtype(kind)))
        return document(*nodes)

    diff = compare(build(7, 1, 3), build(3, 1, 7))
    assert statuses(diff) == {"Identity": "renamed", "Identity_2": "renamed"}
    assert diff.match.tolist() == [0, 1, 2, 5, 4, 3]
    assert statuses(compare(build(7, 1), build(3, 1))) == {"Identity": "changed"}


def test_that_pins_overrule_everything_and_say_so():
    before = document(X, node("a", "Relu", "x"), node("b", "Relu", "x"))
    after = document(X, node("a", "Relu", "x"), node("c", "Relu", "x"))
    assert statuses(compare(before, after)) == {"c": "renamed"}
    diff = compare(before, after, pins=[("a", "c")])
    assert statuses(diff) == {"c": "renamed", "a": "renamed"}
    assert matches(diff) == {"c": "pinned", "a": "structure"}
    assert diff.match.tolist() == [0, 2, 1]


def test_that_a_pin_may_say_that_a_node_has_no_partner():
    graph = document(X, node("a", "Relu", "x"))
    diff = compare(graph, graph, pins=[("a", None)])
    assert [(one.status, one.match) for one in diff.changes] == [("removed", "pinned"), ("added", "none")]
    diff = compare(graph, graph, pins=[(None, "a")])
    assert [(one.status, one.match) for one in diff.changes] == [("removed", "none"), ("added", "pinned")]


def test_that_of_two_pins_of_one_node_the_later_holds():
    before = document(node("a", "Relu"), node("b", "Tanh"))
    after = document(node("p", "Relu"), node("q", "Tanh"))
    assert compare(before, after, pins=[("a", "p"), ("a", "q")]).match.tolist() == [1, -1]
    assert compare(before, after, pins=[("a", "p"), ("b", "p")]).match.tolist() == [-1, 0]
    assert compare(before, after, pins=[("a", "p"), ("a", None)]).match.tolist() == [-1, -1]


def test_that_pins_overrule_provenance():
    before, after = document(node("a", "Relu"), node("b", "Relu")), document(node("a", "Relu"))
    provenance = Provenance({}, {"b": Removal("removed", "cut")})
    assert compare(before, after, provenance, pins=[("b", "a")]).match.tolist() == [-1, 0]


def test_that_a_pin_of_an_unknown_node_names_the_nearest():
    with pytest.raises(UnknownNameError, match="'relu_1' to pin") as error:
        compare(document(node("relu", "Relu")), document(), pins=[("relu_1", None)])
    assert "relu" in error.value.hint


LARGE = 800  # layers of five nodes


@pytest.fixture(scope="module")
def large():
    nodes = [X, *network(layers=LARGE)]
    return document(*nodes)


def edit(graph, change):
    made = protos.GraphDef()
    made.CopyFrom(graph.graph_def)
    by_name = {one.name: one for one in made.node}
    change(by_name, made)
    return Document("graphdef", made, title="edited")


def one_attribute(nodes, _):
    nodes["layer77/MatMul"].attr["transpose_b"].b = True


def one_edge(nodes, _):
    nodes["layer77/MatMul"].input[0] = "layer75/out"


def one_node(nodes, graph):
    graph.node.add(name="layer77/extra", op="Relu", input=["layer77/add"]).attr["T"].type = 1
    nodes["layer77/out"].input[0] = "layer77/extra"


def one_value(nodes, _):
    tensor = nodes["layer77/w"].attr["value"].tensor
    values = np.frombuffer(tensor.tensor_content, "<f4").copy()
    values[4] += 1e-3
    tensor.tensor_content = values.tobytes()


@pytest.mark.parametrize(
    ("change", "reported"),
    [
        (one_attribute, {"layer77/MatMul": "changed"}),
        (one_edge, {"layer77/MatMul": "rewired"}),
        (one_node, {"layer77/extra": "added", "layer77/out": "rewired"}),
        (one_value, {"layer77/w": "changed"}),
    ],
)
def test_that_one_edit_of_a_large_graph_is_all_that_is_reported(large, change, reported):
    diff = compare(large, edit(large, change))
    assert statuses(diff) == reported
    if change is one_value:
        apart = diff.changes[0].details["difference"]
        assert (apart["differing"], round(apart["max_abs"], 6)) == (1, 0.001)
