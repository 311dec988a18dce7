"""Roles and suggestions of the bundled sample, against the truth that lies beside it."""

import csv

import pytest

from graphviewer.analysis.endpoints import suggest_inputs, suggest_outputs
from graphviewer.analysis.roles import classify
from graphviewer.formats import open_document
from graphviewer.model.names import Endpoint
from graphviewer.resources import resource

OUTPUT = Endpoint("net_1/probabilities")


@pytest.fixture(scope="module")
def sample():
    return open_document(resource("samples/digits"))


def test_that_the_roles_of_the_sample_are_those_of_its_truth_table(sample):
    with (resource("samples/digits") / "roles.tsv").open(encoding="utf-8") as file:
        truth = {row["node"]: row["role"] for row in csv.DictReader(file, delimiter="\t")}
    overlay = classify(sample, [OUTPUT])
    found = {name: overlay.category(number) for number, name in enumerate(sample.graph.names)}
    assert found.keys() == truth.keys()
    wrong = {name: (role, found[name]) for name, role in truth.items() if found[name] != role}
    assert len(wrong) <= 0.01 * len(truth), wrong
    assert not any("inference" in pair for pair in wrong.values()), wrong


def test_that_the_sample_suggests_its_output_and_input_first(sample):
    assert suggest_outputs(sample)[0].name == OUTPUT.node
    assert suggest_inputs(sample, [OUTPUT])[0].name == "images"


def test_that_the_sample_suggests_no_check(sample):
    assert not [one for one in suggest_outputs(sample) if "Assert" in one.name]
