"""A comparison applied to the first graph: what it takes from where, and what it refuses."""

from __future__ import annotations

import pytest
from diff_graphs import document, dtype, node

from graphviewer import protos
from graphviewer.analysis.diff import compare
from graphviewer.analysis.diff.patch import patch
from graphviewer.model.document import Document


def test_that_unchanged_nodes_come_from_the_first_graph():
    first = document(node("x", "Placeholder", dtype=dtype(1)), node("old", "Relu", "x"), node("y", "Abs", "old"))
    second = document(node("x", "Placeholder", dtype=dtype(1)), node("new", "Relu", "x"), node("y", "Abs", "new"))
    diff = compare(first, second)
    for changed in second.graph_def.node:
        changed.device = "/not:looked:at"
    assert [(one.name, list(one.input), one.device) for one in patch(first, diff).graph_def.node] == [
        ("x", [], ""),
        ("new", ["x"], ""),
        ("y", ["new"], ""),
    ]


def test_that_signatures_are_given_where_both_files_have_some():
    def build_meta(tensor, key):
        meta = protos.MetaGraphDef()
        meta.signature_def[key].outputs["y"].name = tensor
        meta.signature_def["kept"].inputs["x"].name = "x:0"
        return meta

    before = document(node("x", "Placeholder"), node("y", "Relu", "x"))
    after = document(node("x", "Placeholder"), node("z", "Relu", "x"))
    first = Document("metagraph", before.graph_def, meta=build_meta("y:0", "serve"))
    second = Document("metagraph", after.graph_def, meta=build_meta("z:0", "serve"))
    third = Document("metagraph", after.graph_def, meta=build_meta("x:0", "other"))
    assert compare(first, second).signatures == ()
    assert [(c.status, c.name) for c in compare(first, third).signatures] == [("added", "other"), ("removed", "serve")]
    for there in (second, third):
        assert patch(first, compare(first, there)).meta.signature_def == there.meta.signature_def


def test_that_a_comparison_is_not_applied_to_another_graph():
    first = document(node("x", "Placeholder"))
    with pytest.raises(ValueError, match="another graph"):
        patch(document(), compare(first, first))
