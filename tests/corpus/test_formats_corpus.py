"""Every file of the corpus opens as what its manifest says, or says what it is instead."""

from __future__ import annotations

import csv
import os
import re
from pathlib import Path

import pytest
from PySide6.QtGui import QImage

from graphviewer.analysis.check import check
from graphviewer.analysis.stats import statistics
from graphviewer.errors import ReadError
from graphviewer.formats import open_document
from graphviewer.gui.render import Picture, render, scene_of

CORPUS = Path(os.environ.get("GRAPHVIEWER_CORPUS") or Path(__file__).resolve().parents[3] / "shared" / "corpus")
MANIFEST = CORPUS / "MANIFEST.tsv"
REFUSED = {
    "lfs_transnet": "Git LFS pointer",
    "caffe2_pbtxt/argmin.pbtxt": "Caffe2 network",
    "unity_meta/Scripts.meta": r"Unity \.meta file",
}


def rows() -> list[dict[str, str]]:
    if not MANIFEST.is_file():
        return []
    with open(MANIFEST, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t"))


MODELS = [row for row in rows() if row["kind"] != "not-a-model"]


def test_that_there_is_a_corpus(corpus):
    assert len(rows()) > 100
    assert corpus == CORPUS


def kind_by_content(row: dict[str, str]) -> str:
    """The manifest goes by suffix: one GraphDef there is text in a file called .pb."""
    path = CORPUS / row["path"]
    is_text = row["kind"] == "graphdef" and path.read_bytes()[:6] == b"node {"
    return "pbtxt" if is_text else row["kind"]


@pytest.mark.parametrize("row", MODELS, ids=lambda row: row["path"])
def test_that_a_model_opens_with_the_nodes_and_functions_of_the_manifest(row, capfd):
    document = open_document(CORPUS / row["path"], alone=True)
    found = statistics(document)
    assert document.kind == kind_by_content(row)
    assert (found.nodes, found.functions) == (int(row["nodes"] or 0), int(row["functions"] or 0))
    if row["kind"] == "checkpoint":
        assert row["other_load"].startswith(f"{found.variables} tensors")
    problems = check(document)
    if row["import_graph_def"] == "ok":
        assert [problem for problem in problems if problem.severity == "error"] == []
    reported = [re.match(r"The op '(.+)' is not one of TensorFlow's", problem.reason) for problem in problems]
    assert {match[1] for match in reported if match} == set(row["unregistered_ops"].split(",")) - {"", "-"}
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("row", MODELS, ids=lambda row: row["path"])
def test_that_a_model_is_drawn(row, qapp, tmp_path):
    document = open_document(CORPUS / row["path"], alone=True)
    scene = scene_of(document)
    render([Picture(scene)], tmp_path / "picture.png", size=(320, 200))
    image = QImage(str(tmp_path / "picture.png"))
    colours = {image.pixel(x, y) for x in range(0, 320, 2) for y in range(0, 200, 2)}
    is_empty = row["kind"] == "tfevents" and len(document.graph) == 0
    assert (len(scene.drawing) == 0, len(colours) == 1) == (is_empty, is_empty)


@pytest.mark.parametrize("path", REFUSED if rows() else [])
def test_that_what_is_no_model_is_refused_by_what_it_is(path):
    with pytest.raises(ReadError, match=REFUSED[path]) as error:
        open_document(CORPUS / path)
    assert error.value.hint


@pytest.mark.parametrize("row", [row for row in MODELS if row["kind"] == "checkpoint"], ids=lambda row: row["path"])
def test_that_a_checkpoint_brings_its_graph_where_that_lies_beside_it(row):
    prefix = CORPUS / row["path"]
    document = open_document(prefix)
    assert document.checkpoint == prefix
    has_meta = prefix.with_name(prefix.name + ".meta").exists()
    assert (document.kind == "metagraph") == has_meta
