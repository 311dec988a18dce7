"""The documented format and what is printed are the same."""

from __future__ import annotations

import json

import numpy as np
import pytest
from diff_graphs import document, dtype, node
from json_schema import faults, through_json
from test_diff_functions import call, function, with_signatures
from test_diff_variables import compared

from graphviewer.analysis.diff import MATCHES, STATUSES, compare
from graphviewer.analysis.diff.purposes import explained, roles_of_before
from graphviewer.analysis.diff.variables import VALUE
from graphviewer.model.making import const_node
from graphviewer.protos import DataType
from graphviewer.resources import resource


@pytest.fixture(scope="module")
def schema():
    return json.loads(resource("schema/diff-1.json").read_text("utf-8"))


def test_that_the_schema_names_what_there_is(schema):
    kinds = schema["$defs"]
    assert kinds["status"]["enum"] == kinds["summary"]["required"] == list(STATUSES)
    assert set(kinds["match"]["enum"]) == {*MATCHES, VALUE}


def test_that_a_comparison_with_everything_in_it_fits(schema):
    weights = [const_node("w", DataType.FLOAT, values=np.full(3, value, np.float32)) for value in (1, 2)]
    left = [node("x", "Placeholder", dtype=dtype(1)), node("a/y", "Relu", "x"), node("v", "VariableV2"), call("f")]
    right = [node("x", "Placeholder", dtype=dtype(2)), node("b/y", "Relu", "x"), node("v", "Const"), call("f")]
    before = with_signatures(*left, weights[0], node("gone", "Assign", "v", "w"), serve=("m", {}, {}))
    after = with_signatures(*right, weights[1], serve=("n", {}, {"y": ("b/y:0", 1)}))
    before.graph_def.library.function.append(function("f"))
    after.graph_def.library.function.append(function("f", "Tanh"))
    diff = compare(before, after, pins=[("a/y", "b/y")])
    data = through_json(explained(diff, roles_of_before(diff)).to_json())
    assert faults(data, schema) == []
    assert {"functions", "signatures"} < data.keys()
    assert data["functions"][0]["summary"]["changed"] == 1
    assert any("role" in one["details"] for one in data["changes"])


def test_that_variables_fit(schema):
    found = compared(
        {"a": [1, 2], "net/b": [1, 1], "net/c": [3]}, {"a": [1, np.inf], "x/net/b": [1, 1], "x/net/c": [3]}
    )
    assert faults(through_json(found.to_json("difference")), schema) == []


def test_that_the_check_can_fail(schema):
    data = compare(document(), document(node("x", "NoOp"))).to_json()
    for spoil in (
        lambda d: d.pop("summary"),
        lambda d: d.update(version=2),
        lambda d: d.update(more=1),
        lambda d: d["changes"][0].update(status="unchanged"),
        lambda d: d["changes"][0].update(reason=""),
        lambda d: d["changes"][0]["details"].update(op=["Relu"]),
        lambda d: d["before"].update(nodes=-1),
    ):
        spoiled = through_json(data)
        spoil(spoiled)
        assert faults(spoiled, schema) != []
