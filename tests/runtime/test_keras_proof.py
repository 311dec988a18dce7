"""A graph made of a Keras model, proved against the model; and against the SavedModel that Keras exports."""

from __future__ import annotations

import json

import numpy as np
import pytest
from click.testing import CliRunner

from graphviewer.cli import main
from graphviewer.formats import open_document, save_document
from graphviewer.runtime.keras import read_keras
from graphviewer.runtime.keras_proof import prove

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


def shell(*args, exits=0):
    done = CliRunner().invoke(main, [str(arg) for arg in args])
    assert done.exit_code == exits, done.output
    return done


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """``plain``: dense with dropout; ``two``: an LSTM with two inputs and two outputs; each as file and as folder."""
    keras = pytest.importorskip("tensorflow").keras
    folder = tmp_path_factory.mktemp("models")
    keras.utils.set_random_seed(3)
    layers = keras.layers
    plain = keras.Sequential(
        [layers.Input((5,)), layers.Dense(4, "relu"), layers.Dropout(0.5), layers.Dense(3, "softmax")]
    )
    steps, more = layers.Input((4, 2)), layers.Input((3,), name="more")
    state = layers.LSTM(6)(steps)
    two = keras.Model([steps, more], [layers.Dense(2)(layers.Concatenate()([state, more])), state])
    for name, model in (("plain", plain), ("two", two)):
        model.save(folder / f"{name}.keras")
        model.export(folder / name, verbose=False)
    return folder


def weights_of_another(path, out):
    """Write the graph with one constant changed."""
    document = open_document(path)
    graph = type(document.graph_def)()
    graph.CopyFrom(document.graph_def)
    node = next(node for node in graph.node if node.op == "Const" and len(node.attr["value"].tensor.tensor_content) > 8)
    tensor = node.attr["value"].tensor
    tensor.tensor_content = (np.frombuffer(tensor.tensor_content, np.float32) + 1).tobytes()
    save_document(document.with_graph(graph), out)
    return out


@pytest.mark.parametrize("name", ["plain", "two"])
@pytest.mark.parametrize("suffix", ["pb", "meta"])
def test_that_a_converted_model_is_proved_equal(models, tmp_path, name, suffix):
    out = tmp_path / f"static.{suffix}"
    done = shell("convert", models / f"{name}.keras", out, "--run", "--verify")
    assert ", verified: difference " in done.stdout


def test_that_loading_is_still_asked_for_first(models, tmp_path):
    done = shell("convert", models / "plain.keras", tmp_path / "out.pb", "--verify", exits=2)
    assert "add --run" in done.stderr
    assert not (tmp_path / "out.pb").exists()


def test_that_a_graph_with_other_weights_is_told_from_its_model(models, tmp_path):
    model = read_keras(models / "plain.keras")
    save_document(model.document, tmp_path / "static.pb")
    right = prove(model, open_document(tmp_path / "static.pb"))
    wrong = prove(model, open_document(weights_of_another(tmp_path / "static.pb", tmp_path / "wrong.pb")))
    assert (right.verdict, wrong.verdict) == ("same", "different")
    assert right.outputs[0].max_abs is not None and right.outputs[0].max_abs < 1e-6
    assert [(feed.name, feed.dtype, feed.shape) for feed in right.feeds] == [("input", "float32", (2, 5))]
    assert all(seconds is not None and seconds > 0 for seconds in right.seconds)


def test_that_a_converted_model_has_its_authors_names_and_no_dead_reads(models):
    document = read_keras(models / "two.keras").document
    assert set(document.signatures["serving_default"].inputs) == {"input", "more"}
    graph = document.graph
    values = [number for number, op in enumerate(graph.ops) if op != "NoOp"]
    unread = {graph.names[number] for number in values if not graph.consumers(number)}
    assert unread == {"Identity", "Identity_1"}


@pytest.mark.parametrize(("name", "count"), [("plain", 1), ("two", 2)])
def test_that_a_saved_model_is_compared_with_a_graph_of_other_names(models, tmp_path, name, count):
    shell("convert", models / f"{name}.keras", tmp_path / "static.pb", "--run")
    done = shell("verify", models / name, tmp_path / "static.pb")
    assert done.stdout.startswith("same: ")
    assert "stands for Identity of the result, by their position" in done.stderr
    back = json.loads(shell("verify", tmp_path / "static.pb", models / name, "--json").stdout)
    assert (back["verdict"], len(back["outputs"])) == ("same", count)
    outputs = [pair for pair in back["paired"] if pair["before"].startswith("Identity")]
    assert [pair["after"].split(":")[0] for pair in outputs] == ["StatefulPartitionedCall_1"] * count


def test_that_a_key_of_the_signature_names_what_to_compare(models, tmp_path):
    shell("convert", models / "two.keras", tmp_path / "static.pb", "--run")
    found = json.loads(shell("verify", models / "two", tmp_path / "static.pb", "--output", "output_1", "--json").stdout)
    assert [one["name"] for one in found["outputs"]] == ["StatefulPartitionedCall_1:1"]
    assert (found["verdict"], found["paired"][0]["after"]) == ("same", "Identity_1")


def test_that_a_difference_is_found_under_other_names_too(models, tmp_path):
    shell("convert", models / "plain.keras", tmp_path / "static.pb", "--run")
    wrong = weights_of_another(tmp_path / "static.pb", tmp_path / "wrong.pb")
    assert shell("verify", models / "plain", wrong, exits=1).stdout.startswith("different: ")


@pytest.mark.parametrize("name", ["output_0", "Identity", "serving_default/output_0", "serving_default:output_0"])
def test_that_a_key_of_the_signature_names_the_output_of_a_freeze(models, tmp_path, name):
    done = shell("freeze", models / "plain", "--output", name, "-o", tmp_path / "frozen.pb", "--verify")
    assert "verified: difference 0" in done.stdout


def test_that_each_variable_of_an_exported_model_counts_once(models):
    facts = json.loads(shell("info", models / "plain", "--json").stdout)
    weights, seed = 5 * 4 + 4 + 4 * 3 + 3, 2
    assert (facts["variables"], facts["parameters"]) == (5, weights + seed)


def test_that_any_graph_that_is_converted_can_be_proved(models, tmp_path):
    done = shell("convert", models / "plain", tmp_path / "model.meta", "--verify")
    assert ", verified: difference 0" in done.stdout


def test_that_a_conversion_is_proved_with_the_values_that_are_given(models, tmp_path):
    shell("convert", models / "plain.keras", tmp_path / "static.pb", "--run")
    graph = open_document(tmp_path / "static.pb").graph
    (given,) = [name for name, op in zip(graph.names, graph.ops, strict=True) if op == "Placeholder"]
    words = ["convert", models / "plain.keras", tmp_path / "again.pb", "--run", "--feed", f"{given}=1,2,3,4,5"]

    done = shell(*words, "--verify")
    refused = shell(*words[:-2], "--force", *words[-2:], exits=2)

    assert f"fed {given}: float32 [1, 5], as given" in done.stderr
    assert "verified: difference" in done.stdout
    assert "Add --verify" in refused.stderr
