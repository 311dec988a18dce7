"""Job 3 of the articles, in the shell: a trained Keras model becomes a static graph that gives what the model gives."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import numpy as np
import pytest
from click.testing import CliRunner

from graphviewer.cli import main
from tests.keras_models import article_model

pytestmark = pytest.mark.slow

_PLAIN = {**os.environ, "NO_COLOR": "1"}


@pytest.fixture(scope="module")
def tf():
    return pytest.importorskip("tensorflow")


def shell(*args, exits=0):
    """Run ``graphviewer`` as a user does."""
    words = [sys.executable, "-m", "graphviewer", *map(str, args)]
    done = subprocess.run(words, capture_output=True, text=True, env=_PLAIN, check=False)
    assert done.returncode == exits, done.stderr
    return done


def here(*args, exits=0):
    """The same in this process, where TensorFlow is loaded already: that saves seconds each time."""
    done = CliRunner().invoke(main, [*map(str, args)])
    assert done.exit_code == exits, done.output
    return done


@pytest.fixture(scope="module")
def trained(tf, tmp_path_factory):
    """The article's model after a few steps, in both formats; its folder, some data, and its predictions."""
    folder = tmp_path_factory.mktemp("keras")
    model, data = article_model(tf, seed=1, rows=64, epochs=2)
    for suffix in ("keras", "h5"):
        model.save(folder / f"model.{suffix}")
    np.save(folder / "data.npy", data)
    return folder, model.predict(data, batch_size=64, verbose=0)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("suffix", "out"), [("keras", ".pb"), ("h5", ".pbtxt")])
def test_that_a_keras_model_becomes_a_static_graph_that_equals_it(trained, tmp_path, suffix, out):
    folder, predictions = trained
    source, target = folder / f"model.{suffix}", tmp_path / f"static{out}"
    refused = here("convert", source, target, exits=2)
    assert "runs code" in refused.stderr
    (shell if suffix == "keras" else here)("convert", source, target, "--run")

    facts = json.loads(here("info", target, "--json").stdout)
    assert facts["variables"] == 0
    assert facts["parameters"] == 784 * 128 + 128 + 128 * 10 + 10
    assert facts["functions"] == 0
    assert not {op for op in facts["ops"] if "Dropout" in op or "Random" in op}
    found = json.loads(here("outputs", target, "--json").stdout)
    (given,), best = [one["name"] for one in found["inputs"]], found["outputs"][0]["name"]

    feed = f"{given}={folder / 'data.npy'}"
    ran = json.loads(here("run", target, "--output", best, "--feed", feed, "-o", tmp_path, "--json").stdout)
    (result,) = ran["outputs"]
    assert result["shape"] == [64, 10]
    assert np.abs(np.load(result["file"]) - predictions).max() < 1e-6


def test_that_both_formats_give_the_same_graph(trained, tmp_path):
    folder, _ = trained
    for suffix in ("keras", "h5"):
        here("convert", folder / f"model.{suffix}", tmp_path / f"{suffix}.meta", "--run")
    here("diff", tmp_path / "keras.meta", tmp_path / "h5.meta")
    meta = json.loads(here("info", tmp_path / "keras.meta", "--json").stdout)
    assert meta["signatures"] == ["serving_default"]


def test_that_a_file_that_keras_refuses_is_said_in_a_sentence(tf, tmp_path):
    tensors = tf.keras.layers.Input((3,))
    twice = tf.keras.layers.Lambda(lambda x: x * 2, output_shape=(3,))(tensors)
    tf.keras.Model(tensors, twice).save(tmp_path / "lambda.keras")
    done = here("convert", tmp_path / "lambda.keras", tmp_path / "out.pb", "--run", exits=2)
    assert "lambda.keras cannot be loaded" in done.stderr
    assert "Lambda" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "out.pb").exists()
