"""The articles' jobs on the bundled sample, in the shell as the README has it: look, strip, freeze, run, compare."""

from __future__ import annotations

import json
import shutil

import numpy as np
import pytest
from click.testing import CliRunner

from graphviewer.cli import main
from graphviewer.formats import open_document, save_document
from graphviewer.model.making import make_tensor
from graphviewer.model.tensors import tensor_value
from graphviewer.resources import resource

pytestmark = pytest.mark.slow

META, OUTPUT, INPUT = "model.ckpt-500.meta", "net_1/probabilities", "images"
TRAINED = 14
"""Variables of the network that the output needs."""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A copy of the sample, which is where the commands run."""
    place = tmp_path / "digits"
    shutil.copytree(resource("samples/digits"), place)
    monkeypatch.chdir(place)
    return place


def shell(*words, exits=0):
    done = CliRunner().invoke(main, [str(word) for word in words])
    assert done.exit_code == exits, done.output
    return done


def answer(*words, exits=0):
    return json.loads(shell(*words, "--json", exits=exits).stdout)


def ops_of(path):
    return answer("info", path)["ops"]


# Job 1: what remove_training_nodes removes, what extracting removes, and what either costs


def test_that_both_ways_to_strip_are_told_apart_with_what_they_cost(folder):
    removed = answer("strip", META, "--method", "remove-training-nodes", "--output", OUTPUT, "-o", "removed.pb")
    extracted = answer("strip", META, "--output", OUTPUT, "--input", INPUT, "-o", "extracted.pb", "--verify")

    whole, left, needed = ops_of(META), ops_of("removed.pb"), ops_of("extracted.pb")
    assert left["ApplyAdam"] == whole["ApplyAdam"] and "SaveV2" in left
    assert not {"ApplyAdam", "SaveV2", "OneShotIterator", "IteratorV2", "ScalarSummary"} & set(needed)
    for result in (removed, extracted):
        assert result["nodes"][0] == 517
        assert result["bytes"][1] < result["bytes"][0]
    assert removed["nodes"][1] > 10 * extracted["nodes"][1]
    assert any("Gradients" in warning for warning in removed["warnings"])
    proof = extracted["verification"]
    assert (proof["verdict"], proof["outputs"][0]["max_abs"]) == ("same", 0)
    assert all(seconds > 0 for seconds in proof["seconds"])


def test_that_the_two_results_are_compared_with_a_role_for_all_that_went(folder):
    shell("strip", META, "--method", "remove-training-nodes", "--output", OUTPUT, "-o", "removed.pb")
    shell("strip", META, "--output", OUTPUT, "--input", INPUT, "-o", "extracted.pb")

    found = answer("diff", "removed.pb", "extracted.pb", exits=1)

    gone = [change for change in found["changes"] if change["status"] == "removed"]
    roles = {change["details"]["role"] for change in gone}
    assert roles >= {"gradient", "optimizer", "save_restore", "initializer", "input_pipeline", "loss"}
    assert all(change["reason"] for change in gone)


# Job 2: from a checkpoint to a .pb that runs


def test_that_the_suggested_output_and_input_are_those_of_the_validation_tower(folder):
    found = answer("outputs", META)

    assert (found["outputs"][0]["name"], found["inputs"][0]["name"]) == (OUTPUT, INPUT)


def test_that_the_frozen_sample_is_proved_and_runs_on_a_feed(folder):
    frozen = answer("freeze", META, "--output", OUTPUT, "--input", INPUT, "-o", "frozen.pb")
    assert (frozen["frozen"], frozen["warnings"]) == (TRAINED, [])
    np.save("images.npy", np.random.default_rng(0).random((5, 16, 16, 1), np.float32))

    proof = answer("verify", META, "frozen.pb", "--feed", f"{INPUT}=images.npy")
    sides = [
        answer("run", path, "--output", OUTPUT, "--feed", f"{INPUT}=images.npy", "-o", path + ".out")["outputs"][0]
        for path in (META, "frozen.pb")
    ]

    assert (proof["verdict"], proof["outputs"][0]["max_abs"]) == ("same", 0)
    values = [np.load(side["file"]) for side in sides]
    np.testing.assert_array_equal(*values)
    assert values[0].shape == (5, 10)
    np.testing.assert_allclose(values[0].sum(1), 1, rtol=1e-5)


def test_that_the_checkpoint_and_the_frozen_graph_hold_the_same_values(folder):
    shell("freeze", META, "--output", OUTPUT, "--input", INPUT, "-o", "frozen.pb")
    for file in folder.glob("*.meta"):
        file.unlink()  # else the checkpoint brings its graph

    found = answer("diff", "model.ckpt-500", "frozen.pb", exits=1)

    assert found["of"] == "variables"
    assert found["summary"]["unchanged"] == TRAINED
    assert {change["status"] for change in found["changes"]} == {"removed"}  # slots, counters


def test_that_one_changed_weight_is_found_by_running_and_by_comparing(folder):
    shell("freeze", META, "--output", OUTPUT, "--input", INPUT, "-o", "frozen.pb")
    document = open_document(folder / "frozen.pb")
    graph_def = document.graph_def
    bias = next(node for node in graph_def.node if node.name == "net/dense2/bias")
    values = tensor_value(bias.attr["value"].tensor).copy()
    values[3] += 1
    bias.attr["value"].tensor.CopyFrom(make_tensor(values, bias.attr["dtype"].type))
    save_document(document.with_graph(graph_def), folder / "other.pb")

    proof = answer("verify", META, "other.pb", exits=1)
    (change,) = answer("diff", "frozen.pb", "other.pb", exits=1)["changes"]

    assert proof["verdict"] == "different"
    assert proof["outputs"][0]["max_abs"] > 1e-6
    assert (change["before"], change["status"]) == ("net/dense2/bias", "changed")
    difference = change["details"]["difference"]
    assert (difference["differing"], round(difference["max_abs"], 5)) == (1, 1.0)


def test_that_what_a_new_layer_needs_is_told_with_lines_to_paste(folder):
    shell("strip", META, "--output", OUTPUT, "--input", INPUT, "-o", "net.pb")
    shell("apply", "rename", "net.pb", "--scopes", "net/dense2=head", "-o", "new.pb")

    text = shell("variables", "new.pb", "--checkpoint", "model.ckpt-500").stdout
    found = answer("variables", "new.pb", "--checkpoint", "model.ckpt-500")

    alone = {row["name"]: row["nearest"] for row in found["variables"] if row["status"] == "only_graph"}
    assert set(alone) == {"head/kernel", "head/bias"}
    assert found["coverage"] == (TRAINED - 2) / TRAINED
    assert "    assign(session, 'net/dense1/kernel', read('net/dense1/kernel'))" in text
    assert "    # assign(session, 'head/kernel', read('net/dense2/kernel'))" in text


@pytest.mark.parametrize("verb", ["info", "check"])
def test_that_a_folder_given_as_a_dot_is_called_by_its_name(folder, verb):
    assert shell(verb, ".").stdout.startswith("digits")
