"""The verbs verify and run, and ``--verify``: texts, JSON, exit codes, streams."""

from __future__ import annotations

import json

import numpy as np
import pytest
import tensorflow as tf
from click.testing import CliRunner, Result
from proof_graphs import network, saved

from graphviewer.cli import main

v1 = tf.compat.v1


def shell(*args: object) -> Result:
    return CliRunner().invoke(main, [str(arg) for arg in args])


@pytest.fixture
def trained(tmp_path):
    return saved(network(resource=True), tmp_path).path


def test_that_freeze_with_verify_says_so_and_verify_agrees(trained, tmp_path):
    frozen = tmp_path / "frozen.pb"

    made = shell("freeze", trained, "--output", "y", "-o", frozen, "--verify")
    proved = shell("verify", trained, frozen, "--output", "y")

    assert made.exit_code == 0
    assert made.stdout.strip().endswith("verified: difference 0")
    assert (proved.exit_code, proved.stdout.splitlines()[0]) == (0, "same: difference 0")
    assert "fed x: float32 [2, 4], made up" in proved.stderr


def test_that_strip_and_apply_can_be_verified_too(trained, tmp_path):
    stripped = shell("strip", trained, "--output", "y", "-o", tmp_path / "stripped.pb", "--verify", "--json")
    cut = shell("apply", "extract", trained, "--output", "y", "-o", tmp_path / "cut.pb", "--verify")

    assert json.loads(stripped.stdout)["verification"]["verdict"] == "same"
    assert "verified: difference 0" in cut.stdout
    assert (stripped.exit_code, cut.exit_code) == (0, 0)


def test_that_a_difference_exits_with_1_and_the_json_of_the_contract(trained, tmp_path):
    other = saved(lambda: tf.tanh(v1.placeholder(tf.float32, [None, 4], "x")[:, :3], name="y"), tmp_path / "other").path

    result = shell("verify", trained, other, "--json")

    found = json.loads(result.stdout)
    assert (result.exit_code, found["verdict"]) == (1, "different")
    assert list(found)[:4] == ["verdict", "reason", "outputs", "seconds"]
    assert set(found["outputs"][0]) >= {"name", "max_abs", "max_rel", "nan_equal"}


def test_that_what_cannot_be_verified_exits_with_2_and_says_why(tmp_path):
    trained = saved(network(resource=True, rate=0.5), tmp_path).path
    frozen = tmp_path / "frozen.pb"

    made = shell("freeze", trained, "--output", "y", "-o", frozen, "--allow-training-mode", "--verify")
    result = shell("verify", trained, frozen, "--json")

    assert made.exit_code == result.exit_code == 2
    assert frozen.exists()
    assert "not deterministic" in made.stderr
    assert json.loads(result.stdout)["verdict"] == "cannot"
    assert json.loads(result.stdout)["seconds"] == [None, None]


def test_that_what_would_be_touched_is_listed_first(tmp_path):
    (tmp_path / "secret").write_text("x")
    graph = saved(lambda: v1.read_file(v1.constant(str(tmp_path / "secret")), name="y"), tmp_path).path

    verified, ran = shell("verify", graph, graph, "--output", "y"), shell("run", graph, "--output", "y")

    assert verified.exit_code == ran.exit_code == 2
    assert "reads files: y (ReadFile)" in verified.stderr
    assert "--yes" in ran.stderr
    assert shell("run", graph, "--output", "y", "--yes").exit_code == 0


def test_that_run_prints_statistics_and_writes_arrays(trained, tmp_path):
    np.save(tmp_path / "x.npy", np.zeros([1, 4], np.float32))
    words = ["run", trained, "--output", "y", "--feed", f"x={tmp_path / 'x.npy'}"]

    text, as_json = shell(*words), shell(*words, "-o", tmp_path / "out", "--json")

    (found,) = json.loads(as_json.stdout)["outputs"]
    assert text.exit_code == as_json.exit_code == 0
    assert "[1, 3]" in text.stdout
    assert list(found)[:7] == ["name", "dtype", "shape", "min", "max", "mean", "file"]
    value = np.load(tmp_path / "out" / "y.npy")
    assert (found["shape"], found["max"]) == ([1, 3], pytest.approx(float(value.max())))


@pytest.mark.parametrize(
    ("feed", "reason"), [("x", "feeds nothing"), ("z=1", "no tensor 'z'"), ("x=no.npy", "no file")]
)
def test_that_a_wrong_feed_is_trouble_with_a_hint(feed, reason, trained):
    result = shell("run", trained, "--output", "y", "--feed", feed)
    assert result.exit_code == 2
    assert reason in result.stderr


def test_that_a_proof_of_a_constant_says_that_it_proves_little(tmp_path):
    def build() -> None:
        x = v1.placeholder(tf.float32, [None, 4], "x")
        tf.nn.relu(-tf.square(tf.matmul(x, v1.get_variable("w", [4, 3]))), name="y")

    one, other = saved(build, tmp_path / "one").path, saved(build, tmp_path / "other").path
    frozen = tmp_path / "frozen.pb"

    text, as_json = shell("verify", one, other), json.loads(shell("verify", one, other, "--json").stdout)
    made = shell("freeze", one, "--output", "y", "-o", frozen, "--verify")

    doubt = "'y' is constant: 0 in all 6 elements"
    assert text.stdout.splitlines()[0] == f"same: difference 0, but that proves little: {doubt}"
    assert (as_json["verdict"], as_json["doubt"]) == ("same", doubt)
    assert made.stdout.strip().endswith(f"verified: difference 0, but that proves little: {doubt}")
    assert "0 … 0" in text.stdout


def test_that_a_result_that_cannot_be_verified_is_said_to_be_written(tmp_path):
    trained = saved(network(resource=True, rate=0.5), tmp_path).path
    written = tmp_path / "f.pb"
    words = ["freeze", trained, "--output", "y", "--allow-training-mode", "--verify", "--force", "-o", written]

    text, as_json = shell(*words), shell(*words, "--json")
    unknown = shell(*words, "--feed", "nothing=1", "--json")

    assert text.exit_code == as_json.exit_code == unknown.exit_code == 2
    assert text.stdout.strip().endswith("; written, but not verified")
    assert json.loads(as_json.stdout)["verified"] is False
    assert json.loads(unknown.stdout)["verification"]["verdict"] == "cannot"
    assert "no tensor 'nothing'" in unknown.stderr
    assert written.exists()


def test_that_freeze_strip_and_apply_take_feeds_for_their_proof(trained, tmp_path):
    words = ["--output", "y", "-o", tmp_path / "out.pb", "--force"]
    for verb in (["freeze"], ["strip"], ["apply", "extract"]):
        made = shell(*verb, trained, *words, "--verify", "--feed", "x=0.5,1,2,3", "--json")
        (feed,) = json.loads(made.stdout)["verification"]["feeds"]
        assert (made.exit_code, feed["made"], feed["shape"]) == (0, False, [1, 4])

    refused = shell("freeze", trained, *words, "--feed", "x=1")

    assert refused.exit_code == 2
    assert "Add --verify" in refused.stderr


def test_that_the_value_of_a_scalar_is_told_made_up_or_given(tmp_path):
    def build() -> None:
        phase, rate = v1.placeholder(tf.bool, [], "phase"), v1.placeholder(tf.float32, [], "rate")
        x = v1.placeholder(tf.float32, [None, 2], "x")
        tf.multiply(x, tf.where(phase, 2.0, 3.0) * rate, name="y")

    graph = saved(build, tmp_path).path
    words = ["verify", graph, graph, "--output", "y", "--feed", "rate=0.7"]

    text, as_json = shell(*words), json.loads(shell(*words, "--json").stdout)

    assert "fed phase: bool [], made up: False" in text.stderr
    assert "fed rate: float32 [], as given: 0.7" in text.stderr
    values = {feed["name"]: feed["value"] for feed in as_json["feeds"]}
    assert values == {"phase": False, "rate": 0.7, "x": None}


def test_that_a_pipeline_that_was_fed_for_the_proof_is_named(tmp_path):
    def build() -> None:
        rows = tf.data.Dataset.from_tensor_slices(np.zeros([4, 4], "f4")).batch(2, True)
        row = v1.data.make_initializable_iterator(rows).get_next()
        tf.tanh(row * v1.get_variable("w", [4]), name="y")

    made = shell("freeze", saved(build, tmp_path).path, "--output", "y", "-o", tmp_path / "frozen.pb", "--verify")

    assert made.exit_code == 0
    assert "fed IteratorGetNext: float32 [2, 4], made up, in place of what the graph computes there" in made.stderr


def test_that_inference_mode_says_how_to_prove_it_and_that_way_works(tmp_path):
    def tower(name: str, x, *, training: bool) -> None:
        with v1.variable_scope("net", reuse=v1.AUTO_REUSE):
            hidden = tf.tanh(tf.matmul(x, v1.get_variable("w", [4, 3])))
        if training:
            hidden = v1.nn.dropout(hidden, rate=0.5)
        tf.nn.softmax(hidden, name=name)

    def build() -> None:
        x = v1.placeholder(tf.float32, [None, 4], "x")
        tower("train", x, training=True)
        tower("eval", x, training=False)

    trained, result = saved(build, tmp_path).path, tmp_path / "inference.meta"

    made = shell("apply", "inference-mode", trained, "--output", "train", "-o", result, "--verify", "--json")
    told = shell("apply", "inference-mode", trained, "--output", "train", "-o", result, "--verify", "--force")
    proved = shell("verify", trained, result, "--output", "eval=train", "--checkpoint", tmp_path / "model.ckpt")

    assert json.loads(made.stdout)["verification"]["instead"] == ["eval=train"]
    assert told.exit_code == 2
    assert "--output eval=train" in told.stderr
    assert "The result computes as in inference" in told.stderr
    assert (proved.exit_code, proved.stdout.splitlines()[0]) == (0, "same: difference 0")
    assert "eval of the original stands for train of the result, by your choice" in proved.stderr
