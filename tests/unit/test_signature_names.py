"""Endpoints named by the keys of signatures."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from cli_graphs import loaded, run
from format_files import saved_model, write
from function_graphs import add_function, call

import graphviewer
from graphviewer import protos
from graphviewer.errors import UnknownNameError
from graphviewer.model.document import Document
from graphviewer.model.endpoints import endpoint_named, endpoints_named
from graphviewer.model.names import Endpoint
from graphviewer.protos import DataType


def served(*signatures, nodes=()):
    """For each signature, ``<s>_x -> <s>_call``, whose function gives ``Identity`` and ``Identity_1``."""
    graph_def = protos.GraphDef()
    graph_def.versions.producer = 1000
    meta = protos.MetaGraphDef()
    body = [("double", "AddV2", ["a", "a"]), ("Identity", "Identity", ["double:z:0"])]
    results = {"r": "Identity:output:0", "s": "Identity_1:output:0"}
    add_function(graph_def, "f", ["a"], [*body, ("Identity_1", "Identity", ["a"])], results)
    for name in signatures:
        x = graph_def.node.add(name=f"{name}_x", op="Placeholder")
        x.attr["dtype"].type = DataType.FLOAT
        node = call(graph_def.node, f"{name}_call", "PartitionedCall", [f"{name}_x"], f="f")
        node.attr["Tin"].list.type.append(DataType.FLOAT)
        node.attr["Tout"].list.type.extend([DataType.FLOAT] * 2)
        signature = meta.signature_def[name]
        signature.inputs["x"].name = f"{name}_x:0"
        signature.outputs["output_0"].name = f"{name}_call:0"
        signature.outputs["output_1"].name = f"{name}_call:1"
    for name in nodes:
        graph_def.node.add(name=name, op="NoOp")
    meta.signature_def["__saved_model_init_op"].outputs["__saved_model_init_op"].name = "NoOp"
    return Document("savedmodel", graph_def, meta=meta)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("output_0", "serving_default_call"),
        ("output_0:0", "serving_default_call"),
        ("'output_1'", "serving_default_call:1"),
        ("serving_default/output_1", "serving_default_call:1"),
        ("serving_default:output_0", "serving_default_call"),
        ("serving_default:output_0:0", "serving_default_call"),
        ("serve/output_0", "serve_call"),
        ("Identity", "serving_default_call"),
        ("Identity_1:0", "serving_default_call:1"),
        ("serve_call", "serve_call"),
    ],
)
def test_that_keys_of_signatures_mean_their_tensors(text, expected):
    document = served("serve", "serving_default")
    assert [str(one) for one in endpoints_named(document, [text], "outputs")] == [expected]


def test_that_inputs_have_keys_of_their_own():
    document = served("serving_default")
    assert endpoint_named(document, "x", "inputs") == Endpoint("serving_default_x")
    with pytest.raises(UnknownNameError):
        endpoint_named(document, "x", "outputs")
    with pytest.raises(UnknownNameError):
        endpoint_named(document, "Identity", "inputs")


def test_that_a_node_of_exactly_that_name_comes_first():
    document = served("serving_default", nodes=["output_0", "Output_1"])
    found = endpoints_named(document, ["output_0,output_1"], "outputs")
    assert found == [Endpoint("output_0"), Endpoint("serving_default_call", 1)]


def test_that_a_key_of_several_signatures_is_refused_with_all_of_them():
    document = served("predict", "classify")
    with pytest.raises(UnknownNameError) as caught:
        endpoint_named(document, "output_0", "outputs")
    assert caught.value.message == (
        "'output_0' means several tensors: classify/output_0 (classify_call), predict/output_0 (predict_call)."
    )
    assert caught.value.hint == "Write 'classify/output_0' to choose one."
    assert endpoint_named(document, "predict/output_0", "outputs") == Endpoint("predict_call")


def test_that_a_port_that_no_key_has_means_nothing():
    with pytest.raises(UnknownNameError):
        endpoint_named(served("serving_default"), "output_0:1", "outputs")


def test_that_the_nearest_key_is_told():
    with pytest.raises(UnknownNameError) as caught:
        endpoint_named(served("serving_default"), "output_2", "outputs")
    assert "output_0" in caught.value.hint or "output_1" in caught.value.hint


@pytest.mark.parametrize("name", ["output_0", "Identity", "serving_default/output_0", "serving_default:output_0"])
def test_that_the_shell_takes_keys_wherever_it_takes_endpoints(tmp_path, name):
    document = served("serve", "serving_default")
    meta = protos.MetaGraphDef()
    meta.CopyFrom(document.meta)
    meta.graph_def.CopyFrom(document.graph_def)
    meta.meta_info_def.tags.append("serve")
    write(tmp_path / "model" / "saved_model.pb", saved_model(meta))
    path, out = tmp_path / "model", tmp_path / "out.pb"
    roles = run("roles", path, "--output", name, "--json")
    assert loaded(roles)["outputs"] == ["serving_default_call"]
    fed = run("outputs", path, "--output", name, "--json")
    assert loaded(fed)["inputs"][0]["name"] == "serving_default_x"
    for words in (["freeze", path], ["strip", path], ["apply", "extract", path]):
        made = run(*words, "--output", name, "--input", "x", "-o", out, "--force", "--json")
        assert made.exit_code == 0, made.stderr
        assert (loaded(made)["outputs"], loaded(made)["nodes"][1]) == (["serving_default_call"], 2)


def test_that_names_are_resolved_in_one_place_only():
    """Who resolves a name against nodes alone would not know the keys."""
    users = [path for path in Path(graphviewer.__file__).parent.rglob("*.py") if "resolve" in _imported(path)]
    assert [path.name for path in users] == ["endpoints.py"]


def _imported(path):
    text, module = path.read_text("utf-8"), "graphviewer.model.names"
    names = [
        alias.name
        for node in (ast.walk(ast.parse(text)) if module in text else ())
        if isinstance(node, ast.ImportFrom) and node.module == module
        for alias in node.names
    ]
    return " ".join(names)
