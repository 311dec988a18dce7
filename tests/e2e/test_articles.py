"""The jobs that people come with from articles, done in the shell on graphs that TensorFlow builds on the spot.

Where an article is wrong, the tool has to show it: that is tested too.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytestmark = pytest.mark.slow

_PLAIN = {**os.environ, "NO_COLOR": "1"}


@pytest.fixture(scope="module")
def tf():
    return pytest.importorskip("tensorflow")


def shell(*args, exits=0):
    """Run ``graphviewer`` as a user does; its standard output."""
    words = [sys.executable, "-m", "graphviewer", *map(str, args)]
    done = subprocess.run(words, capture_output=True, text=True, env=_PLAIN, check=False)
    assert done.returncode == exits, done.stderr
    return done.stdout


def shell_json(*args, exits=0):
    return json.loads(shell(*args, "--json", exits=exits))


def load(tf, path):
    """A graph file imported into a new graph, as the articles do."""
    graph_def = tf.compat.v1.GraphDef.FromString(Path(path).read_bytes())
    graph = tf.Graph()
    with graph.as_default():
        tf.import_graph_def(graph_def, name="")
    return graph


def session_of(tf, graph):
    """A session without Grappler, whose rewrites would cost equality in the last bit."""
    config = tf.compat.v1.ConfigProto()
    config.graph_options.rewrite_options.disable_meta_optimizer = True
    return tf.compat.v1.Session(graph=graph, config=config)


# Job 1: linear regression, optimised with graph_util.remove_training_nodes.


@pytest.fixture(scope="module")
def regression(tf, tmp_path_factory):
    """The article's program: train, save; its folder, some data, and the predictions of the trained model."""
    v1, folder = tf.compat.v1, tmp_path_factory.mktemp("regression")
    data = np.random.default_rng(0).normal(size=(32, 10)).astype(np.float32)
    target = data @ np.arange(10, dtype=np.float32)[:, None] + 3
    with tf.Graph().as_default() as graph, session_of(tf, graph) as session:
        v1.get_variable_scope().set_use_resource(False)  # as in the article's TensorFlow
        x, y = v1.placeholder(tf.float32, [None, 10], "x"), v1.placeholder(tf.float32, [None, 1], "y")
        w = v1.get_variable("w", [10, 1])
        b = v1.get_variable("b", [1], initializer=v1.zeros_initializer())
        output = tf.add(tf.matmul(x, tf.identity(w, "w_used")), b, name="output")
        loss = tf.reduce_mean(tf.square(output - y), name="loss")
        train = v1.train.GradientDescentOptimizer(0.1).minimize(loss)
        saver = v1.train.Saver()
        session.run(v1.global_variables_initializer())
        for _ in range(200):
            session.run(train, {x: data, y: target})
        saver.save(session, str(folder / "model.ckpt"))
        predictions = session.run(output, {x: data})
        (folder / "graph.pb").write_bytes(graph.as_graph_def().SerializeToString())
    return folder, data, predictions


def test_that_remove_training_nodes_keeps_what_the_article_says_it_removes(tf, regression, tmp_path):
    folder, _, _ = regression
    graph, mine = folder / "graph.pb", tmp_path / "removed.pb"
    original = tf.compat.v1.GraphDef.FromString(graph.read_bytes())
    theirs = tf.compat.v1.graph_util.remove_training_nodes(original)
    result = shell_json("strip", graph, "--method", "remove-training-nodes", "-o", mine)
    assert result["nodes"] == [len(original.node), len(theirs.node)]
    kept = tf.compat.v1.GraphDef.FromString(mine.read_bytes())
    assert {node.name for node in kept.node} == {node.name for node in theirs.node}

    assert {"ApplyGradientDescent", "SaveV2", "RestoreV2"} <= {node.op for node in kept.node}
    diff = shell_json("diff", graph, mine, exits=1)
    gone = [change for change in diff["changes"] if change["after"] is None]
    assert gone
    assert {change["details"]["op"][0] for change in gone} == {"Identity"}
    assert any("gradients" in warning.lower() for warning in result["warnings"])


def test_that_extracting_removes_what_the_article_hoped_for(regression, tmp_path):
    folder, _, _ = regression
    graph = folder / "graph.pb"
    removed = shell_json("strip", graph, "--method", "remove-training-nodes", "-o", tmp_path / "removed.pb")
    extracted = shell_json("strip", graph, "--output", "output", "-o", tmp_path / "extracted.pb")
    assert extracted["nodes"][1] < removed["nodes"][1] / 3
    assert extracted["bytes"][1] < removed["bytes"][1] / 3
    summary = shell_json("diff", graph, tmp_path / "extracted.pb", exits=1)["summary"]
    assert summary["removed"] == extracted["nodes"][0] - extracted["nodes"][1]
    assert summary["rewired"] == summary["added"] == 0
    text = shell("diff", graph, tmp_path / "extracted.pb", exits=1)
    assert "− gradients/" in text
    assert "− save/" in text


def test_that_roles_name_the_training_only_nodes_of_the_regression(regression):
    folder, _, _ = regression
    roles = shell_json("roles", folder / "graph.pb", "--output", "output")["roles"]
    assert {roles[name]["role"] for name in ("x", "w", "b", "output")} == {"inference"}
    assert roles["y"]["role"] == roles["loss"]["role"] == "loss"
    assert roles["GradientDescent/update_w/ApplyGradientDescent"]["role"] == "optimizer"
    assert roles["save/SaveV2"]["role"] == "save_restore"


def test_that_the_frozen_regression_predicts_as_the_trained_one(tf, regression, tmp_path):
    folder, data, predictions = regression
    frozen = tmp_path / "frozen.pb"
    result = shell_json("freeze", folder / "model.ckpt.meta", "--output", "output", "--input", "x", "-o", frozen)
    assert result["frozen"] == 2
    graph = load(tf, frozen)
    with session_of(tf, graph) as session:
        assert np.array_equal(session.run("output:0", {"x:0": data}), predictions)
    assert shell_json("check", frozen) == {"problems": []}


# Job 2: load a .pb and run it; turn a checkpoint into a .pb.


def _network(tf, images, *, training):
    """A small network with batch norm, and dropout while it trains; returns its class scores."""
    v1 = tf.compat.v1
    with v1.variable_scope("xxnet", reuse=v1.AUTO_REUSE):
        flat = tf.reshape(images, [-1, 64], name="input")
        w = v1.get_variable("dense/w", [64, 16])
        hidden = tf.matmul(flat, w)[:, None, None, :]
        scale, offset, mean, variance = (
            v1.get_variable(f"bn/{name}", [16], initializer=start, trainable=name in ("scale", "offset"))
            for name, start in (
                ("scale", v1.ones_initializer()),
                ("offset", v1.zeros_initializer()),
                ("mean", v1.zeros_initializer()),
                ("variance", v1.ones_initializer()),
            )
        )
        if training:
            hidden, batch_mean, batch_variance = v1.nn.fused_batch_norm(hidden, scale, offset, is_training=True)[:3]
            for moving, batch in ((mean, batch_mean), (variance, batch_variance)):
                v1.add_to_collection(v1.GraphKeys.UPDATE_OPS, v1.assign_sub(moving, 0.1 * (moving - batch)))
        else:
            hidden = v1.nn.fused_batch_norm(hidden, scale, offset, mean, variance, is_training=False)[0]
        hidden = tf.nn.relu(hidden[:, 0, 0, :])
        if training:
            hidden = v1.nn.dropout(hidden, rate=0.5)
        logits = tf.matmul(hidden, v1.get_variable("out/w", [16, 3]))
        return logits, tf.nn.softmax(logits, name="score")


def _records(tf, path, count):
    """A TFRecord file of random images and labels."""
    rng = np.random.default_rng(1)
    with tf.io.TFRecordWriter(str(path)) as writer:
        for _ in range(count):
            image = tf.train.Feature(bytes_list=tf.train.BytesList(value=[rng.bytes(64)]))
            label = tf.train.Feature(int64_list=tf.train.Int64List(value=[int(rng.integers(3))]))
            features = tf.train.Features(feature={"image": image, "label": label})
            writer.write(tf.train.Example(features=features).SerializeToString())


def _read(tf, path, batch):
    """The images and labels that a TFRecord pipeline gives."""
    v1 = tf.compat.v1

    def parse(record):
        wanted = {"image": v1.FixedLenFeature([], tf.string), "label": v1.FixedLenFeature([], tf.int64)}
        found = v1.parse_single_example(record, wanted)
        pixels = tf.reshape(tf.cast(tf.io.decode_raw(found["image"], tf.uint8), tf.float32) / 255, [8, 8])
        return pixels, found["label"]

    records = v1.data.TFRecordDataset(str(path)).map(parse).repeat().batch(batch)
    return v1.data.make_one_shot_iterator(records).get_next()


@pytest.fixture(scope="module")
def training(tf, tmp_path_factory):
    """The article's training program; its folder, an image, and the scores of the validation tower for it."""
    v1, folder = tf.compat.v1, tmp_path_factory.mktemp("training")
    _records(tf, folder / "train.tfrecord", 64)
    with tf.Graph().as_default() as graph, session_of(tf, graph) as session:
        images, labels = _read(tf, folder / "train.tfrecord", 8)
        logits, _ = _network(tf, images, training=True)
        loss = tf.reduce_mean(v1.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits), name="loss")
        v1.summary.scalar("loss", loss)
        valid_images, _ = _read(tf, folder / "train.tfrecord", 4)
        _, score = _network(tf, valid_images, training=False)
        optimizer, step = v1.train.AdamOptimizer(0.01), v1.train.get_or_create_global_step()
        with tf.control_dependencies(v1.get_collection(v1.GraphKeys.UPDATE_OPS)):
            train = optimizer.apply_gradients(optimizer.compute_gradients(loss), step)
        saver, summaries = v1.train.Saver(max_to_keep=2), v1.summary.merge_all()
        session.run(v1.global_variables_initializer())
        with v1.summary.FileWriter(str(folder / "log"), graph) as writer:
            for number in range(20):
                _, line = session.run([train, summaries])
                writer.add_summary(line, number)
        saver.save(session, str(folder / "model.ckpt"), global_step=20)
        image = np.random.default_rng(2).random((5, 8, 8), np.float32)
        scores = session.run(score, {valid_images: image})
    return folder, image, scores


def test_that_the_validation_towers_score_is_the_first_suggestion(training):
    folder, _, _ = training
    found = shell_json("outputs", folder / "model.ckpt-20.meta")
    assert found["outputs"][0]["name"] == "xxnet_1/score"
    assert any("training mode" in one["reason"] for one in found["outputs"] if one["name"] == "xxnet/score")


def test_that_a_checkpoint_with_its_pipeline_becomes_a_pb_that_runs_on_a_feed(tf, training, tmp_path):
    folder, image, scores = training
    meta, frozen = folder / "model.ckpt-20.meta", tmp_path / "frozen.pb"
    result = shell_json("freeze", meta, "--output", "xxnet_1/score", "--input", "IteratorGetNext_1", "-o", frozen)
    assert result["frozen"] == 6
    assert result["outputs"] == ["xxnet_1/score"]
    (name,) = result["inputs"]
    graph = load(tf, frozen)
    assert not [op for op in graph.get_operations() if "Iterator" in op.type or "Variable" in op.type]
    with session_of(tf, graph) as session:
        fed = {graph.as_graph_element(name if ":" in name else f"{name}:0"): image}
        assert np.array_equal(session.run("xxnet_1/score:0", fed), scores)

    diff = shell_json("diff", meta, frozen, exits=1)
    converted = {
        change["after"]: change["details"]["conversion"]
        for change in diff["changes"]
        if change["status"] == "converted"
    }
    assert converted["IteratorGetNext_1"] == "pipeline → placeholder"
    assert converted["xxnet/dense/w"] == "variable → constant"
    assert sum(text == "variable → constant" for text in converted.values()) == 6


def test_that_freezing_the_training_tower_is_refused_and_says_why(training, tmp_path):
    folder, _, _ = training
    words = ["freeze", str(folder / "model.ckpt-20.meta"), "--output", "xxnet/score", "-o", str(tmp_path / "out.pb")]
    done = subprocess.run(
        [sys.executable, "-m", "graphviewer", *words], capture_output=True, text=True, env=_PLAIN, check=False
    )
    assert done.returncode == 2
    assert "training" in done.stderr
    assert not (tmp_path / "out.pb").exists()


def test_that_meta_checkpoint_and_events_file_are_opened_as_what_they_are(training):
    folder, _, _ = training
    (events,) = (folder / "log").iterdir()
    kinds = {
        path: shell_json("info", path) for path in (folder / "model.ckpt-20.meta", folder / "model.ckpt-20", events)
    }
    meta, checkpoint, log = kinds.values()
    assert meta["kind"] == "metagraph"
    assert meta["nodes"] == log["nodes"] > 100
    assert log["kind"] == "tfevents"
    assert meta["variables"] == log["variables"]
    assert checkpoint["kind"] in ("checkpoint", "metagraph")
    assert shell_json("diff", folder / "model.ckpt-20.meta", events)["summary"]["unchanged"] == meta["nodes"]


def test_that_a_graph_with_new_layers_hears_which_variables_stay_without_a_value(tf, training, tmp_path):
    folder, _, _ = training
    with tf.Graph().as_default() as graph:
        _network(tf, tf.compat.v1.placeholder(tf.float32, [None, 8, 8]), training=False)
        tf.compat.v1.get_variable("head/w", [16, 7])
    (tmp_path / "new.pb").write_bytes(graph.as_graph_def().SerializeToString())
    found = shell_json("variables", tmp_path / "new.pb", "--checkpoint", folder / "model.ckpt-20")
    status = {row["name"]: row["status"] for row in found["variables"] if row["name"]}
    assert status.pop("head/w") == "only_graph"
    assert set(status.values()) == {"both"}
    assert len(status) == 6
    assert any(row["status"] == "only_checkpoint" and "Adam" in row["key"] for row in found["variables"])
    assert found["coverage"] == 6 / 7
