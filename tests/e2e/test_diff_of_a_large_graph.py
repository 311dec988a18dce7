"""One edit of a graph of 16,500 nodes, whose layers all look alike: that edit is reported, and nothing else."""

from __future__ import annotations

import json

import numpy as np
import pytest
from click.testing import CliRunner

from graphviewer import protos
from graphviewer.analysis.diff import compare
from graphviewer.cli import main
from graphviewer.formats import save_document
from graphviewer.model.document import Document
from graphviewer.model.making import const_node, make_tensor
from graphviewer.model.tensors import tensor_value
from graphviewer.protos import DataType

LAYERS = 1_650
MIDDLE = LAYERS // 2


def layer(number, below, shared_below):
    """Ten nodes: a variable with its first value, its layer in two towers that share it, gradient and update."""
    scope, twin = f"net/layer{number}", f"net_1/layer{number}"
    first = np.full((2, 2), 0.5, np.float32)
    if number % 5:  # every fifth first value is the same, as zeros and ones are
        first += np.float32(number)
    yield const_node(f"{scope}/w/Initializer/value", DataType.FLOAT, values=first)
    for name, op, inputs in (
        (f"{scope}/w", "VariableV2", ()),
        (f"{scope}/w/Assign", "Assign", (f"{scope}/w", f"{scope}/w/Initializer/value")),
        (f"{scope}/w/read", "Identity", (f"{scope}/w",)),
        (f"{scope}/MatMul", "MatMul", (below, f"{scope}/w/read")),
        (f"{scope}/out", "Relu", (f"{scope}/MatMul",)),
        (f"{twin}/MatMul", "MatMul", (shared_below, f"{scope}/w/read")),
        (f"{twin}/out", "Relu", (f"{twin}/MatMul",)),
        (f"gradients/{scope}/MatMul_grad/MatMul", "MatMul", (f"{scope}/out", below)),
        (f"train/{scope}/w", "ApplyGradientDescent", (f"{scope}/w", "rate", f"gradients/{scope}/MatMul_grad/MatMul")),
    ):
        made = protos.NodeDef(name=name, op=op, input=inputs)
        made.attr["dtype" if op == "VariableV2" else "T"].type = DataType.FLOAT
        yield made


@pytest.fixture(scope="module")
def large():
    graph = protos.GraphDef()
    for name in ("x", "rate"):
        graph.node.add(name=name, op="Placeholder").attr["dtype"].type = DataType.FLOAT
    for number in range(LAYERS):
        below = [f"{tower}/layer{number - 1}/out" if number else "x" for tower in ("net", "net_1")]
        graph.node.extend(layer(number, *below))
    assert len(graph.node) == 16_502
    return Document("graphdef", graph, title="large")


def edited(before, change):
    graph = protos.GraphDef()
    graph.CopyFrom(before.graph_def)
    change({node.name: node for node in graph.node}, graph)
    return Document("graphdef", graph, title="edited")


def below_scope(before, prefix):
    """The graph as ``import_graph_def(name=...)`` leaves it."""
    graph = protos.GraphDef()
    graph.CopyFrom(before.graph_def)
    for node in graph.node:
        node.name = prefix + node.name
        node.input[:] = [prefix + text for text in node.input]
    return Document("graphdef", graph, title=prefix)


SCOPE = f"net/layer{MIDDLE}"


def one_attribute(nodes, _):
    nodes[f"{SCOPE}/MatMul"].attr["transpose_b"].b = True


def one_edge(nodes, _):
    nodes[f"net_1/layer{MIDDLE}/MatMul"].input[0] = f"net_1/layer{MIDDLE - 2}/out"


def one_node(nodes, graph):
    graph.node.add(name=f"{SCOPE}/extra", op="Relu", input=[f"{SCOPE}/MatMul"]).attr["T"].type = DataType.FLOAT
    nodes[f"{SCOPE}/out"].input[0] = f"{SCOPE}/extra"


def one_weight(nodes, _):
    tensor = nodes[f"{SCOPE}/w/Initializer/value"].attr["value"].tensor
    values = tensor_value(tensor).copy()
    values[1, 0] += np.float32(1e-3)
    tensor.CopyFrom(make_tensor(values, DataType.FLOAT))


EDITS = [
    (one_attribute, {f"{SCOPE}/MatMul": "changed"}),
    (one_edge, {f"net_1/layer{MIDDLE}/MatMul": "rewired"}),
    (one_node, {f"{SCOPE}/extra": "added", f"{SCOPE}/out": "rewired"}),
    (one_weight, {f"{SCOPE}/w/Initializer/value": "changed"}),
]


@pytest.mark.parametrize(("change", "reported"), EDITS)
def test_that_one_edit_is_all_that_is_reported(large, change, reported):
    diff = compare(large, edited(large, change))

    assert {one.name: one.status for one in diff.changes} == reported
    if change is one_weight:
        difference = diff.changes[0].details["difference"]
        assert (difference["elements"], difference["differing"]) == (4, 1)
        assert difference["max_abs"] == pytest.approx(1e-3, rel=0.1)


@pytest.mark.parametrize(("change", "reported"), EDITS)
def test_that_one_edit_is_found_under_another_scope_too(large, change, reported):
    """All nodes are renamed; of their details, only those of the edit say more."""
    diff = compare(large, below_scope(edited(large, change), "import/"))

    pairs = {one.before: one.after for one in diff.changes if one.before is not None}
    assert pairs == {name: f"import/{name}" for name in large.graph.names}
    more = {one.name.removeprefix("import/") for one in diff.changes if one.status == "added" or one.details}
    assert more == set(reported)


def test_that_two_imports_match_completely(large):
    diff = compare(below_scope(large, "import/"), below_scope(large, "tower_0/again/"))

    assert {status: count for status, count in diff.summary().items() if count} == {"renamed": 16_502}
    assert all(one.after == "tower_0/again/" + one.before.removeprefix("import/") for one in diff.changes)


def test_that_the_command_reports_the_edit_alone(large, tmp_path):
    save_document(large, tmp_path / "before.pb")
    save_document(edited(large, one_weight), tmp_path / "after.pb")

    done = CliRunner().invoke(main, ["diff", str(tmp_path / "before.pb"), str(tmp_path / "after.pb"), "--json"])

    assert done.exit_code == 1
    found = json.loads(done.stdout)
    assert [change["before"] for change in found["changes"]] == [f"{SCOPE}/w/Initializer/value"]
    assert found["summary"]["unchanged"] == 16_501
