"""Job 3 of the articles by way of a SavedModel: nothing of the file runs until its static graph is proved and run."""

from __future__ import annotations

import json

import numpy as np
import pytest
from click.testing import CliRunner

from graphviewer.cli import main
from tests.keras_models import article_model

pytestmark = pytest.mark.slow


def answer(*words, exits=0):
    done = CliRunner().invoke(main, [*map(str, words), "--json"])
    assert done.exit_code == exits, done.output
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    """The article's model, exported; its folder, some data, and its predictions."""
    tf = pytest.importorskip("tensorflow")
    folder = tmp_path_factory.mktemp("exported")
    model, data = article_model(tf, seed=2, rows=32, epochs=1)
    model.export(str(folder / "model"), verbose=False)
    np.save(folder / "data.npy", data)
    return folder, model.predict(data, batch_size=32, verbose=0)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("suffix", ["pb", "pbtxt"])
def test_that_an_exported_model_becomes_a_static_graph_that_equals_it(exported, tmp_path, suffix):
    folder, predictions = exported
    model, static = folder / "model", tmp_path / f"static.{suffix}"
    found = answer("outputs", model)
    output, given = found["outputs"][0], found["inputs"][0]
    assert "signature" in output["reason"] and "signature" in given["reason"]

    made = answer("freeze", model, "--output", output["name"], "--verify", "-o", static)

    assert made["frozen"] == 4
    assert (made["verification"]["verdict"], made["verification"]["outputs"][0]["max_abs"]) == ("same", 0)
    facts = answer("info", static)
    assert (facts["variables"], facts["parameters"]) == (0, 784 * 128 + 128 + 128 * 10 + 10)
    feed = f"{given['name']}={folder / 'data.npy'}"
    (ran,) = answer("run", static, "--output", output["name"], "--feed", feed, "-o", tmp_path)["outputs"]
    np.testing.assert_allclose(np.load(ran["file"]), predictions, rtol=1e-6, atol=1e-7)


def test_that_the_calls_can_be_unfolded_into_plain_nodes(exported, tmp_path):
    """Claimed by the article: a GraphDef lists the layers. True once the functions are put into the graph."""
    folder, _ = exported
    output = answer("outputs", folder / "model")["outputs"][0]["name"]
    answer("freeze", folder / "model", "--output", output, "-o", tmp_path / "frozen.pb")
    assert "MatMul" not in answer("info", tmp_path / "frozen.pb")["ops"]

    answer("apply", "inline-functions", tmp_path / "frozen.pb", "-o", tmp_path / "plain.pb")

    facts = answer("info", tmp_path / "plain.pb")
    assert (facts["functions"], facts["ops"]["MatMul"], facts["ops"]["Softmax"]) == (0, 2, 1)
    proof = answer("verify", tmp_path / "frozen.pb", tmp_path / "plain.pb", "--output", output)
    assert (proof["verdict"], proof["outputs"][0]["max_abs"]) == ("same", 0)
