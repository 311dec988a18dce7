"""Training graphs as people write them in TF1, built by TensorFlow."""

from __future__ import annotations

from collections.abc import Sequence

import tensorflow as tf

from graphviewer import protos
from graphviewer.model.document import Document

v1 = tf.compat.v1


def as_document(graph: tf.Graph, *, with_meta: bool = False) -> Document:
    """The graph as the window would open it, with or without what a .meta file holds."""
    graph_def = protos.GraphDef.FromString(graph.as_graph_def().SerializeToString())
    if not with_meta:
        return Document("graphdef", graph_def)
    with graph.as_default():
        meta = protos.MetaGraphDef.FromString(v1.train.export_meta_graph().SerializeToString())
    return Document("metagraph", graph_def, meta=meta)


def batch_norm(x: tf.Tensor, training: bool, name: str) -> tf.Tensor:
    with v1.variable_scope(name):
        size = [x.shape[-1]]
        gamma = v1.get_variable("gamma", size, initializer=v1.ones_initializer())
        beta = v1.get_variable("beta", size, initializer=v1.zeros_initializer())
        mean = v1.get_variable("moving_mean", size, trainable=False, initializer=v1.zeros_initializer())
        variance = v1.get_variable("moving_variance", size, trainable=False, initializer=v1.ones_initializer())
        if not training:
            return v1.nn.fused_batch_norm(x, gamma, beta, mean, variance, is_training=False)[0]
        y, batch_mean, batch_variance = v1.nn.fused_batch_norm(x, gamma, beta, is_training=True)[:3]
        for moving, value in ((mean, batch_mean), (variance, batch_variance)):
            v1.add_to_collection(v1.GraphKeys.UPDATE_OPS, v1.assign_sub(moving, (moving - value) * 0.01))
        return y


def convolution(x: tf.Tensor, size: int, channels: int, stride: int, name: str) -> tf.Tensor:
    with v1.variable_scope(name):
        weights = v1.get_variable("weights", [size, size, x.shape[-1], channels])
        return v1.nn.conv2d(x, weights, strides=[1, stride, stride, 1], padding="SAME")


def residual_unit(x: tf.Tensor, channels: int, stride: int, training: bool, name: str) -> tf.Tensor:
    with v1.variable_scope(name):
        shortcut = x
        if stride != 1 or x.shape[-1] != channels * 4:
            shortcut = batch_norm(convolution(x, 1, channels * 4, stride, "shortcut"), training, "bn_sc")
        y = v1.nn.relu(batch_norm(convolution(x, 1, channels, 1, "conv1"), training, "bn1"))
        y = v1.nn.relu(batch_norm(convolution(y, 3, channels, stride, "conv2"), training, "bn2"))
        y = batch_norm(convolution(y, 1, channels * 4, 1, "conv3"), training, "bn3")
        return v1.nn.relu(y + shortcut)


def tower(x: tf.Tensor, depths: Sequence[int], training: bool) -> tf.Tensor:
    x = v1.nn.relu(batch_norm(convolution(x, 7, 8, 2, "conv0"), training, "bn0"))
    x = v1.nn.max_pool2d(x, 3, 2, "SAME")
    for stage, depth in enumerate(depths):
        for unit in range(depth):
            stride = 2 if unit == 0 and stage else 1
            x = residual_unit(x, 8 * 2**stage, stride, training, f"stage{stage + 1}/unit{unit + 1}")
    x = v1.reduce_mean(x, [1, 2], name="pool")
    if training:
        x = v1.nn.dropout(x, rate=0.5)
    weights = v1.get_variable("fc/w", [x.shape[-1], 10])
    offset = v1.get_variable("fc/b", [10])
    return v1.nn.softmax(v1.nn.xw_plus_b(x, weights, offset, name="logits"), name="prob")


def parse(record: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    features = {"img": v1.FixedLenFeature([], tf.string), "y": v1.FixedLenFeature([], tf.int64)}
    parsed = v1.parse_single_example(record, features)
    image = tf.cast(v1.decode_raw(parsed["img"], tf.uint8), tf.float32)
    return tf.reshape(image, [32, 32, 3]), parsed["y"]


def resnet(depths: Sequence[int] = (2, 2), *, resource: bool = False) -> tf.Graph:
    """A ResNet with TFRecord pipeline, training tower ``net``, validation tower ``net_1``, batch norm, Adam and saver.

    ``net_1/prob`` is the right output and ``images`` the right input.
    """
    graph = tf.Graph()
    with graph.as_default():
        (v1.enable_resource_variables if resource else v1.disable_resource_variables)()
        records = tf.data.TFRecordDataset(v1.placeholder(tf.string, [None], "filenames"))
        images, labels = v1.data.make_initializable_iterator(records.map(parse).shuffle(100).batch(4)).get_next()
        images = v1.identity(images, name="images")
        for training in (True, False):
            with v1.variable_scope("net", reuse=not training):
                tower(images, depths, training)
        logits = graph.get_tensor_by_name("net/logits:0")
        loss = v1.reduce_mean(v1.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits), name="loss")
        v1.summary.scalar("training_loss", loss)
        v1.summary.merge_all()
        step = v1.train.get_or_create_global_step()
        adam = v1.train.AdamOptimizer(1e-3)
        with v1.control_dependencies(v1.get_collection(v1.GraphKeys.UPDATE_OPS)):
            adam.apply_gradients(adam.compute_gradients(loss), global_step=step)
        v1.train.Saver(max_to_keep=2)
        v1.global_variables_initializer()
    return graph


def everything(*, resource: bool = False) -> tf.Graph:
    """A small classifier with all that hangs around one: schedule, clipping, averages, metrics, asserts, histograms."""
    graph = tf.Graph()
    with graph.as_default():
        (v1.enable_resource_variables if resource else v1.disable_resource_variables)()
        v1.disable_control_flow_v2()
        x = v1.placeholder(tf.float32, [None, 8], "x")
        y = v1.placeholder(tf.int64, [None], "y")
        w = v1.get_variable("w", [8, 4])
        b = v1.get_variable("b", [4], initializer=v1.zeros_initializer())
        logits = v1.nn.xw_plus_b(x, w, b, name="logits")
        v1.nn.softmax(logits, name="prob")
        with v1.control_dependencies([v1.debugging.assert_less(y, tf.constant(4, tf.int64), name="label_check")]):
            rows = v1.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits, name="rows")
        loss = v1.add(v1.reduce_mean(rows), 1e-3 * v1.nn.l2_loss(w), name="loss")
        v1.summary.scalar("loss_summary", loss)
        v1.summary.histogram("w_summary", w)
        v1.metrics.accuracy(y, v1.argmax(logits, 1), name="accuracy")
        step = v1.train.get_or_create_global_step()
        rate = v1.train.exponential_decay(0.1, step, 100, 0.9, name="rate")
        optimizer = v1.train.MomentumOptimizer(rate, 0.9, name="Momentum")
        gradients, variables = zip(*optimizer.compute_gradients(loss), strict=True)
        clipped, _ = tf.clip_by_global_norm(gradients, 1.0)
        train = optimizer.apply_gradients(zip(clipped, variables, strict=True), global_step=step, name="train")
        average = v1.train.ExponentialMovingAverage(0.99, step)
        with v1.control_dependencies([train]):
            average.apply([w, b])
        v1.train.Saver()
        v1.global_variables_initializer()
        v1.local_variables_initializer()
    return graph


def adversarial() -> tf.Graph:
    """Two networks with an optimizer each: a generator that ends in ``g/image``, a discriminator that judges it."""
    graph = tf.Graph()
    with graph.as_default():
        v1.disable_resource_variables()
        noise = v1.placeholder(tf.float32, [None, 5], "noise")
        real = v1.placeholder(tf.float32, [None, 8], "real")
        with v1.variable_scope("g"):
            image = v1.nn.tanh(v1.matmul(noise, v1.get_variable("w", [5, 8])), name="image")
        with v1.variable_scope("d"):
            judge = v1.get_variable("w", [8, 1])
            real_score, fake_score = v1.matmul(real, judge, name="real"), v1.matmul(image, judge, name="fake")
        ones = v1.nn.sigmoid_cross_entropy_with_logits
        judge_loss = v1.reduce_mean(
            ones(logits=real_score, labels=tf.ones_like(real_score))
            + ones(logits=fake_score, labels=tf.zeros_like(fake_score))
        )
        maker_loss = v1.reduce_mean(ones(logits=fake_score, labels=tf.ones_like(fake_score)))
        for loss, scope, rate in ((judge_loss, "d", 1e-3), (maker_loss, "g", 1e-4)):
            trained = v1.get_collection(v1.GraphKeys.TRAINABLE_VARIABLES, scope=f"{scope}/")
            v1.train.AdamOptimizer(rate, name=f"Adam_{scope}").minimize(loss, var_list=trained)
    return graph


def recurrent() -> tf.Graph:
    """A TF1 loop over time, trained: forward and backward while loops, stacks, tensor arrays."""
    graph = tf.Graph()
    with graph.as_default():
        v1.disable_resource_variables()
        v1.disable_control_flow_v2()
        x = v1.placeholder(tf.float32, [3, None, 8], "x")
        y = v1.placeholder(tf.float32, [None, 4], "y")
        w, u = v1.get_variable("w", [8, 4]), v1.get_variable("u", [4, 4])
        inputs = v1.TensorArray(tf.float32, 3).unstack(x)

        def step(time: tf.Tensor, state: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
            return time + 1, tf.tanh(tf.matmul(inputs.read(time), w) + tf.matmul(state, u))

        start = tf.zeros_like(y)
        _, state = v1.while_loop(lambda time, _: time < 3, step, [0, start])
        prob = v1.nn.sigmoid(v1.matmul(state, v1.get_variable("out", [4, 4])), name="prob")
        loss = v1.reduce_mean(v1.squared_difference(prob, y), name="loss")
        v1.train.GradientDescentOptimizer(0.1).minimize(loss)
    return graph
