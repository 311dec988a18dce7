"""The checked-in sample is what scripts/make_sample.py builds, and its truth table is complete."""

import importlib.util
from pathlib import Path

import pytest

from graphviewer import protos
from graphviewer.resources import resource

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "make_sample.py"
SAMPLE = resource("samples/digits")


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location("make_sample", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def meta():
    (path,) = SAMPLE.glob("*.meta")
    return protos.MetaGraphDef.FromString(path.read_bytes())


@pytest.fixture(scope="module")
def table() -> dict[str, str]:
    header, *lines = (SAMPLE / "roles.tsv").read_text(encoding="utf-8").splitlines()
    assert header == "node\trole"
    return dict(line.split("\t") for line in lines)


def test_that_the_script_builds_the_checked_in_graph_and_its_roles(script, meta, table):
    tf = script.tf
    script.v1.disable_resource_variables()
    try:
        with tf.Graph().as_default() as graph:
            script.v1.set_random_seed(script.SEED)
            truth = script.Truth(graph)
            script.build(truth)
    finally:
        script.v1.enable_resource_variables()
    assert truth.roles == table
    built = protos.GraphDef.FromString(graph.as_graph_def(add_shapes=False).SerializeToString())
    assert [(node.name, node.op, list(node.input)) for node in built.node] == [
        (node.name, node.op, list(node.input)) for node in meta.graph_def.node
    ]


def test_that_every_node_of_the_sample_has_a_role(meta, table):
    assert {node.name for node in meta.graph_def.node} == set(table)


def test_that_the_sample_stays_small():
    assert sum(path.stat().st_size for path in SAMPLE.iterdir()) <= 400_000
