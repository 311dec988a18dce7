"""Inference mode against TensorFlow: a repaired training graph gives bit for bit what its inference twin gives."""

import numpy as np
import pytest
import tensorflow as tf
from test_freeze import IMAGES, assert_equal, freeze, output, run, trained, training_graph, variable

from graphviewer.operations.registry import operations

v1 = tf.compat.v1
X = np.random.RandomState(7).randn(6, 4).astype("f4") * 3


def inference_mode(document, outputs=("y",), **options):
    return operations()["inference-mode"].run(document, outputs=outputs, **options)


@pytest.mark.parametrize("resource", [False, True], ids=["reference", "resource"])
def test_that_the_repaired_training_tower_equals_the_validation_tower(resource, tmp_path):
    feed = {"images:0": IMAGES}
    original = trained(training_graph(resource), tmp_path, ["net_1/prob:0", "net/prob:0"], feed=feed)

    repaired = inference_mode(original.document, ["net/prob"], inputs=["images"])
    frozen = freeze(repaired.document, ["net/prob"])

    given = run(frozen, ["net/prob:0"], feed)["net/prob:0"]
    np.testing.assert_array_equal(given, original.values["net_1/prob:0"], strict=True)
    assert np.abs(given - original.values["net/prob:0"]).max() > 1e-3
    assert repaired.warnings == frozen.warnings == ()
    rules = [rewrite.rule for rewrite in repaired.rewrites]
    assert rules.count("inference mode") == 2
    assert rules.count("spliced") == 1


def test_that_with_the_rest_kept_the_checkpoint_restores_and_the_tower_is_repaired(tmp_path):
    feed = {"images:0": IMAGES}
    original = trained(training_graph(False), tmp_path, ["net_1/prob:0"], feed=feed)

    whole = inference_mode(original.document, ["net/prob"], keep_rest=True)

    frozen = freeze(whole.document, ["net/prob"], inputs=["images"])
    given = run(frozen, ["net/prob:0"], feed)["net/prob:0"]
    np.testing.assert_array_equal(given, original.values["net_1/prob:0"], strict=True)
    assert whole.document.saver is not None


def placeholder(shape=(None, 4)):
    return v1.placeholder(tf.float32, shape, "x")


def by_rate(x):
    return v1.nn.dropout(x, rate=0.3)


def by_keep_prob(x):
    return v1.nn.dropout(x, keep_prob=v1.placeholder(tf.float32, [], "keep_prob"))


def by_rate_placeholder(x):
    return tf.nn.dropout(x, rate=v1.placeholder_with_default(0.4, [], "Placeholder_3"))


def by_noise_shape(x):
    return tf.nn.dropout(x, rate=0.3, noise_shape=[tf.shape(x)[0], 1])


def by_seeds(x):
    return tf.nn.experimental.stateless_dropout(x, rate=0.25, seed=[1, 2])


def as_in_tensorflow_1(x):
    keep = v1.placeholder(tf.float32, name="dropout")
    return v1.div(x, keep) * tf.floor(keep + v1.random_uniform(tf.shape(x), dtype=x.dtype))


def shifted_uniform(x):
    keep = tf.constant(0.8)
    low, high = tf.constant(0.0), tf.constant(1.0)
    uniform = tf.raw_ops.RandomUniform(shape=tf.shape(x), dtype=tf.float32) * (high - low) + low
    return x / keep * tf.floor(uniform + keep)


def of_whole_samples(x):
    """Drop connect, as in EfficientNet."""
    mask = tf.floor(0.8 + v1.random_uniform([tf.shape(x)[0], 1]))
    return (x / 0.8) * mask


def by_bernoulli(x):
    mask = tf.where(v1.random_uniform(tf.shape(x)) <= 0.5, tf.ones_like(x), tf.zeros_like(x))
    return x * (mask / 0.5)


def by_dropped(x):
    return tf.where(v1.random_uniform(tf.shape(x)) < 0.25, tf.zeros_like(x), x * (1 / 0.75))


def by_trained_rate(x):
    keep = variable("keep", [], resource=True)
    return x / keep * tf.floor(keep + v1.random_uniform(tf.shape(x)))


def by_chosen_rate(x):
    training = v1.placeholder(tf.bool, [], "is_training")
    return tf.nn.dropout(x, tf.where(training, 0.5, 0.0)) + tf.nn.dropout(x, tf.where(~training, 0.0, 0.5)) - x


STYLES = [by_rate, by_keep_prob, by_rate_placeholder, by_noise_shape, by_seeds, as_in_tensorflow_1, shifted_uniform]
STYLES += [of_whole_samples, by_bernoulli, by_dropped, by_trained_rate, by_chosen_rate]


@pytest.mark.parametrize("style", STYLES)
def test_that_dropout_of_every_style_is_spliced(style, tmp_path):
    original = trained(lambda: output(style(placeholder() * 2.0) + 1.0), tmp_path, [])

    result = inference_mode(original.document)

    assert_equal({"y:0": X * 2 + 1}, run(result, feed={"x:0": X}))
    assert result.warnings == ()
    assert {node.op for node in result.document.graph_def.node} <= {
        "Placeholder",
        "Const",
        "Mul",
        "AddV2",
        "Sub",
        "Identity",
    }


def test_that_random_numbers_that_are_no_dropout_stay_and_are_named(tmp_path):
    def build():
        x = placeholder()
        noise = x + v1.random_normal(tf.shape(x))
        unscaled = x * tf.floor(0.8 + v1.random_uniform(tf.shape(x)))
        output(noise + unscaled)

    result = inference_mode(trained(build, tmp_path, []).document)

    said = " ".join(result.warnings)
    assert "random_uniform/RandomUniform' was not repaired: what 'mul" in said
    assert "random_normal/RandomStandardNormal" in said


def batch_norm(x, training):
    """As people wrote it before there was a layer for it: an ExponentialMovingAverage of the batch's moments."""
    beta, gamma = v1.get_variable("beta", [4]), v1.get_variable("gamma", [4])
    mean, variance = v1.nn.moments(x, [0])
    averages = v1.train.ExponentialMovingAverage(0.9)

    def update():
        with tf.control_dependencies([averages.apply([mean, variance])]):
            return tf.identity(mean), tf.identity(variance)

    if training is True:
        used = update()
    else:
        used = v1.cond(training, update, lambda: (averages.average(mean), averages.average(variance)))
    return tf.nn.batch_normalization(x, *used, beta, gamma, 1e-3)


@pytest.mark.parametrize("control_flow_v2", [False, True], ids=["switch", "functions"])
@pytest.mark.parametrize("default", [None, True], ids=["placeholder", "default"])
def test_that_a_flag_becomes_a_constant_and_its_conditionals_the_branch_for_inference(
    control_flow_v2, default, tmp_path
):
    def build():
        x = placeholder()
        if default is None:
            training = v1.placeholder(tf.bool, [], "phase_train")
        else:
            training = v1.placeholder_with_default(default, [], "phase_train")
        x = v1.cond(training, lambda: tf.nn.dropout(x, 0.5), lambda: x * 1.0)
        output(batch_norm(x, training))

    feed = {"x:0": X, "phase_train:0": False}
    original = trained(build, tmp_path, feed=feed, control_flow_v2=control_flow_v2)

    repaired = inference_mode(original.document)

    assert_equal(original.values, run(freeze(repaired.document), feed={"x:0": X}))
    assert repaired.warnings == ()
    ops = {node.op for node in repaired.document.graph_def.node}
    assert not ops & {"Switch", "Merge", "If", "StatelessIf", "PlaceholderWithDefault", "RandomUniform"}


def test_that_a_flag_with_a_meaningless_name_is_told_by_what_it_switches(tmp_path):
    def build():
        x, flag = placeholder(), v1.placeholder(tf.bool, [], "b")
        output(v1.cond(flag, lambda: x * 1.0, lambda: tf.nn.dropout(x, 0.5)))

    original = trained(build, tmp_path, feed={"x:0": X, "b:0": True}, control_flow_v2=False)

    result = inference_mode(original.document)

    assert_equal(original.values, run(result, feed={"x:0": X}))


@pytest.mark.parametrize("resource", [False, True], ids=["reference", "resource"])
def test_that_a_batch_norm_of_single_ops_reads_its_moving_averages(resource, tmp_path):
    def build():
        x = placeholder()
        parts = ("beta", "gamma", "moving_mean", "moving_variance")
        initial = v1.random_uniform_initializer(0.5, 1.5)
        stats = [v1.get_variable(part, [4], initializer=initial, use_resource=resource) for part in parts]
        mean, variance = v1.nn.moments(x, [0])
        updates = [
            v1.assign_sub(moving, (moving - batch) * 0.1)
            for moving, batch in zip(stats[2:], (mean, variance), strict=True)
        ]
        with tf.control_dependencies(updates):
            normal = tf.nn.batch_normalization(x, mean, variance, *stats[:2], 1e-3)
        output(normal * 2.0)
        tf.identity(tf.nn.batch_normalization(x, *stats[2:], *stats[:2], 1e-3) * 2.0, "twin")

    original = trained(build, tmp_path, ["twin:0"], feed={"x:0": X})

    repaired = inference_mode(original.document)

    assert_equal({"y:0": original.values["twin:0"]}, run(freeze(repaired.document), feed={"x:0": X}))
    assert repaired.warnings == ()
    assert "Mean" not in {node.op for node in repaired.document.graph_def.node}


def test_that_averages_without_a_bias_are_found_behind_those_with_one(tmp_path):
    def build():
        output(batch_norm(placeholder(), True))

    original = trained(build, tmp_path, feed={"x:0": X})

    repaired = inference_mode(original.document)

    read = {name for name in repaired.document.graph.names if name.endswith("ExponentialMovingAverage")}
    assert len(read) == 2
    assert not any("biased" in name for name in repaired.document.graph.names)
    assert "moments/SquaredDifference" not in repaired.document.graph.index
