"""Checkpoints as graphs to look at: scopes of variables, or objects that hold each other."""

from __future__ import annotations

import time

import numpy as np
import pytest
from checkpoint_files import write_bundle

from graphviewer import protos
from graphviewer.analysis.stats import statistics
from graphviewer.errors import WriteError
from graphviewer.formats import open_document, save_document
from graphviewer.formats.checkpoint import OBJECT_GRAPH_KEY, open_checkpoint
from graphviewer.formats.checkpoint.drawn import drawn_graph

W, B = np.ones((2, 3), np.float32), np.zeros(3, np.float32)
VALUE = "/.ATTRIBUTES/VARIABLE_VALUE"


def thing(objects, *children, key="", slots=()):
    made = objects.nodes.add()
    for name, number in children:
        made.children.add(local_name=name, node_id=number)
    if key:
        made.attributes.add(name="VARIABLE_VALUE", full_name=key.split("/")[0], checkpoint_key=key)
    for name, variable, number in slots:
        made.slot_variables.add(slot_name=name, original_variable_node_id=variable, slot_variable_node_id=number)
    return made


def drawn(tmp_path, objects, **variables):
    raw = np.array([objects.SerializeToString()], object).reshape(())
    values = {OBJECT_GRAPH_KEY: raw, **{key.replace("__", "/"): value for key, value in variables.items()}}
    graph = drawn_graph(open_checkpoint(write_bundle(tmp_path / "model", values)))
    return {node.name: (node.op, list(node.input)) for node in graph.node}, graph


def test_that_a_name_based_checkpoint_is_its_scope_tree(tmp_path):
    prefix = write_bundle(
        tmp_path / "model", {"net/w": W, "net/b": B, "parts": [(((0, 1), (0, 3)), W[:1]), (((1, 1), (0, 3)), W[1:])]}
    )
    document = open_document(prefix)
    assert statistics(document).nodes == 0
    shown = document.unfolded
    assert set(shown.graph.names) == {"net/w", "net/b", "parts"}
    assert "net" in shown.scopes.by_path
    node = {node.name: node for node in shown.graph_def.node}
    assert [dim.size for dim in node["net/w"].attr["shape"].shape.dim] == [2, 3]
    assert list(node["parts"].attr["slices"].list.s) == [b"0,1:0,3", b"1,1:0,3"]


def test_that_a_checkpoint_is_not_saved_as_if_it_were_a_graph(tmp_path):
    document = open_document(write_bundle(tmp_path / "model", {"w": W}))
    for one in (document, document.unfolded):
        with pytest.raises(WriteError, match="holds variables and no graph"):
            save_document(one, tmp_path / "graph.pb")


def test_that_an_object_based_checkpoint_shows_children_shared_objects_and_slots(tmp_path):
    objects = protos.TrackableObjectGraph()
    thing(objects, ("model", 1), ("optimizer", 2), ("again", 1))
    thing(objects, ("kernel", 3), ("layers", 4))
    thing(objects, slots=[("m", 3, 5)])
    thing(objects, key=f"model/kernel{VALUE}")
    thing(objects, ("0", 1))
    thing(objects, key=f"model/kernel/.OPTIMIZER_SLOT/optimizer/m{VALUE}")
    keys = {f"model/kernel{VALUE}": W, f"model/kernel/.OPTIMIZER_SLOT/optimizer/m{VALUE}": W, "apart": B}
    found, graph = drawn(tmp_path, objects, **keys)
    assert found == {
        "(root)": ("Object", []),
        "model": ("Object", ["(root)", "model/layers"]),
        "optimizer": ("Object", ["(root)"]),
        "model/kernel": ("Variable", ["model"]),
        "model/layers": ("Object", ["model"]),
        "optimizer/m/model/kernel": ("Variable", ["model/kernel"]),
        "apart": ("Variable", []),
    }
    assert {node.attr["key"].s.decode() for node in graph.node if node.op == "Variable"} == set(keys)


def test_that_elements_of_a_list_say_more_than_their_number(tmp_path):
    objects = protos.TrackableObjectGraph()
    thing(objects, ("variables", 1), ("layers", 2))
    thing(objects, ("0", 3), ("10", 4))
    thing(objects, ("0", 5))
    for number, name in enumerate(("conv/kernel", "conv/bias:0")):
        thing(objects, key=f"variables/{number}{VALUE}").attributes[0].full_name = name
    thing(objects, ("scale", 6))
    thing(objects, key=f"layers/0/scale{VALUE}")
    found, _ = drawn(tmp_path, objects)
    assert list(found)[3:] == [
        "variables/0 conv.kernel",
        "variables/10 conv.bias.0",
        "layers/0 layers",
        "layers/0 layers/scale",
    ]


def test_that_hostile_object_graphs_end_and_stay_small(tmp_path):
    objects = protos.TrackableObjectGraph()
    count = 5_000
    for number in range(count):
        thing(objects, ("a/b:0^c", (number + 1) % count), ("a/b:0^c", number), ("gone", count + 7), ("under", -3))
    thing(objects, slots=[("m", 1 << 30, 0), ("v", 0, -1), ("s", -5, count)])
    begin = time.process_time()
    found, graph = drawn(tmp_path, objects)
    assert time.process_time() - begin < 5
    assert len(found) == len(graph.node) == count + 1
    assert max(map(len, found)) < 2_000
    assert all(source in found for _, inputs in found.values() for source in inputs)


def test_that_an_object_graph_that_does_not_parse_leaves_the_keys(tmp_path):
    raw = np.array([b"\xff\xff\xff"], object).reshape(())
    prefix = write_bundle(tmp_path / "model", {OBJECT_GRAPH_KEY: raw, "w": W})
    assert [node.name for node in drawn_graph(open_checkpoint(prefix)).node] == ["w"]
