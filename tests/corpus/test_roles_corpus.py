"""Roles and suggestions on real graphs of many makers."""

import csv

import pytest

from graphviewer.analysis.endpoints import suggest_inputs, suggest_outputs
from graphviewer.analysis.refusals import refuse_output
from graphviewer.analysis.roles import classify
from graphviewer.errors import GraphViewerError
from graphviewer.formats import open_document
from graphviewer.model.names import Endpoint, parse_input

KINDS = ("graphdef", "metagraph", "pbtxt", "savedmodel")
TRAINING_ONLY = {"gradient", "optimizer", "save_restore", "initializer", "check"}
FIRST = {  # by part of the path: what its makers published as the output
    "arm_kws/CNN": "labels_softmax",
    "dotnet_cifar/frozen_model.pb": "Output",
    "dotnet_cifar/model.ckpt.meta": "add_1",
    "handtracking": "num_detections",
    "mtcnn_1.12": "prob",
    "pose_cpm": "Convolutional_Pose_Machine/stage_5_out",
    "scisharp_graph/xor": "Sigmoid",
    "tfpose_thin/": "Openpose/concat_stage7",
    "tfx_trainer/graph": "head/predictions/probabilities",
    "utensor/deep_mlp": "y_pred",
}


@pytest.fixture(scope="module")
def documents(corpus):
    with (corpus / "MANIFEST.tsv").open() as file:
        paths = [row["path"] for row in csv.DictReader(file, delimiter="\t") if row["kind"] in KINDS]
    found = {}
    for path in paths:
        try:
            found[path] = open_document(corpus / path)
        except GraphViewerError:  # what does not open is tested with the formats
            continue
    assert len(found) > 50
    return found


@pytest.fixture(scope="module")
def suggested(documents):
    """The suggested outputs by path."""
    return {path: suggest_outputs(document) for path, document in documents.items()}


def test_that_every_node_gets_one_role_with_a_reason(documents, suggested):
    for path, document in documents.items():
        outputs = [Endpoint(*parse_input(one.name)) for one in suggested[path][:1]]
        overlay = classify(document, outputs)
        assert (overlay.codes >= 0).all(), path
        assert all(overlay.reasons), path


def test_that_suggested_outputs_are_accepted_and_not_there_for_training_only(documents, suggested):
    for path, document in documents.items():
        overlay = classify(document, [])
        for suggestion in suggested[path]:
            endpoint = Endpoint(*parse_input(suggestion.name))
            assert refuse_output(document, endpoint) is None, (path, suggestion)
            trains = "optimizer" in overlay.counts()
            wrong = TRAINING_ONLY if trains else TRAINING_ONLY - {"gradient"}
            if "signature" not in suggestion.reason:
                assert overlay.category(document.graph.index[endpoint.node]) not in wrong, (path, suggestion)


def test_that_the_published_output_is_suggested_first(suggested):
    wrong = {}
    for part, expected in FIRST.items():
        best = next(found for path, found in suggested.items() if part in path)[0].name
        wrong.update({part: best} if best != expected else {})
    assert wrong == {}


def test_that_signatures_lead(documents, suggested):
    signed = [path for path, document in documents.items() if "serving_default" in document.signatures]
    assert len(signed) > 10
    for path in signed:
        document, best = documents[path], suggested[path][0]
        assert best.reason.startswith("Output of the signature"), document.title
        names = {one.name for one in suggest_inputs(document, [Endpoint(*parse_input(best.name))])}
        assert names, document.title
