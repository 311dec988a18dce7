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
    assert set(found["outputs"][0]) == {"name", "max_abs", "max_rel", "nan_equal"}


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
