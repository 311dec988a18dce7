"""The checked-in sample is what scripts/make_sample.py writes, and its truth table is complete."""

import subprocess
import sys
from pathlib import Path

import pytest

from graphviewer import protos
from graphviewer.resources import resource

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "make_sample.py"
SAMPLE = resource("samples/digits")


def graph_of(folder: Path) -> protos.GraphDef:
    (path,) = folder.glob("*.meta")
    return protos.MetaGraphDef.FromString(path.read_bytes()).graph_def


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Path:
    """The sample made anew, in a fresh interpreter: TensorFlow's switches are global."""
    folder = tmp_path_factory.mktemp("digits")
    subprocess.run([sys.executable, SCRIPT, folder], check=True, capture_output=True, timeout=300)
    return folder


def test_that_the_script_writes_the_checked_in_graph(made):
    assert {node.name: node for node in graph_of(made).node} == {node.name: node for node in graph_of(SAMPLE).node}
    assert {path.name for path in made.iterdir()} == {path.name for path in SAMPLE.iterdir()}


def test_that_the_script_writes_the_checked_in_roles(made):
    assert (made / "roles.tsv").read_text() == (SAMPLE / "roles.tsv").read_text()


def test_that_every_node_of_the_sample_has_a_role():
    header, *lines = (SAMPLE / "roles.tsv").read_text(encoding="utf-8").splitlines()
    assert header == "node\trole"
    assert [line.split("\t")[0] for line in lines] == list(dict.fromkeys(line.split("\t")[0] for line in lines))
    assert {line.split("\t")[0] for line in lines} == {node.name for node in graph_of(SAMPLE).node}


def test_that_the_sample_stays_small():
    assert sum(path.stat().st_size for path in SAMPLE.iterdir()) <= 400_000
