"""Segmentation and detection."""

import numpy as np
import tensorflow as tf

from kinds.registry import Part, kind

v1 = tf.compat.v1


@kind(tuned=True)
def segmentation(part: Part) -> object:
    """A small U-Net: batch norm that a fed flag switches, dice loss, a streaming mean IoU, image summaries."""

    def norm(x: tf.Tensor, training: tf.Tensor, name: str) -> tf.Tensor:
        size = [x.shape[-1]]
        gamma = part.variable(f"{name}/gamma", size, start=v1.ones_initializer())
        beta = part.variable(f"{name}/beta", size, start=v1.zeros_initializer())
        mean = part.variable(f"{name}/mean", size, start=v1.zeros_initializer(), trainable=False)
        variance = part.variable(f"{name}/variance", size, start=v1.ones_initializer(), trainable=False)
        y, now_mean, now_variance = v1.cond(
            training,
            lambda: v1.nn.fused_batch_norm(x, gamma, beta, is_training=True)[:3],
            lambda: v1.nn.fused_batch_norm(x, gamma, beta, mean, variance, is_training=False)[:3],
        )
        for statistic in (now_mean, now_variance):
            part.correct(statistic.op.name, "batch_norm_update")
        with part("batch_norm_update"):
            decay = v1.cond(training, lambda: v1.constant(0.99), lambda: v1.constant(1.0))
            for kept, value in ((mean, now_mean), (variance, now_variance)):
                update = v1.assign_sub(kept, (kept - value) * (1.0 - decay))
                v1.add_to_collection(v1.GraphKeys.UPDATE_OPS, update)
        return v1.nn.relu(y)

    with part("inference"):
        image = v1.placeholder(tf.float32, [2, 16, 16, 3])
        training = v1.placeholder(tf.bool, [])
        down = norm(part.conv(image, 4, "down1"), training, "norm1")
        x = norm(part.conv(v1.nn.max_pool2d(down, 2, 2, "SAME"), 8, "down2"), training, "norm2")
        up = v1.nn.conv2d_transpose(x, part.variable("up", [2, 2, 4, 8]), [2, 16, 16, 4], [1, 2, 2, 1])
        x = norm(part.conv(v1.concat([down, up], 3), 4, "up1"), training, "norm3")
        logits = part.conv(x, 2, "last", size=1)
        probabilities = v1.nn.softmax(logits)
    with part("training_forward"):
        shown = v1.argmax(probabilities, 3)
    with part("loss"):
        mask = v1.placeholder(tf.int32, [2, 16, 16])
        wanted = v1.one_hot(mask, 2)
        overlap = v1.reduce_sum(probabilities * wanted, [1, 2, 3])
        both = v1.reduce_sum(probabilities, [1, 2, 3]) + v1.reduce_sum(wanted, [1, 2, 3])
        loss = 1.0 - v1.reduce_mean(2.0 * overlap / (both + 1e-7))
    with part("metric"):
        v1.metrics.mean_iou(mask, shown, 2)
    step = part.step()
    with part("optimizer"):
        rate = v1.train.polynomial_decay(7e-3, step, 1000, power=0.9)
    with v1.control_dependencies(v1.get_collection(v1.GraphKeys.UPDATE_OPS)):
        part.minimize(v1.train.MomentumOptimizer(rate, 0.9), loss, step)
    with part("summary"):
        v1.summary.image("image", image)
        v1.summary.image("mask", v1.cast(v1.expand_dims(shown * 255, 3), tf.uint8))
    part.close(loss, local=True)
    return probabilities, shown


@kind(tuned=False, seen=True, resource=True)
def detector(part: Part) -> object:
    """SSD: two feature maps, boxes and classes, hard negatives in the loss; decoded boxes and non-max suppression."""
    anchors = np.random.default_rng(0).random([80, 4]).astype(np.float32)
    with part("inference"):
        image = v1.placeholder(tf.float32, [1, 32, 32, 3])
        x = v1.nn.relu(part.conv(image, 4, "base1", stride=2))
        maps = [v1.nn.relu(part.conv(x, 8, "base2", stride=2))]
        maps.append(v1.nn.relu(part.conv(maps[0], 8, "base3", stride=2)))
        boxes, classes = [], []
        for number, each in enumerate(maps):
            boxes.append(v1.reshape(part.conv(each, 4, f"boxes{number}"), [1, -1, 4]))
            classes.append(v1.reshape(part.conv(each, 3, f"classes{number}"), [1, -1, 3]))
        moves, logits = v1.concat(boxes, 1), v1.concat(classes, 1)
        scores = v1.nn.softmax(logits)
        centers = moves[0, :, :2] * anchors[:, 2:] + anchors[:, :2]
        sizes = v1.exp(moves[0, :, 2:]) * anchors[:, 2:]
        corners = v1.concat([centers - sizes / 2, centers + sizes / 2], 1)
        best = v1.reduce_max(scores[0, :, 1:], 1)
        kept = v1.image.non_max_suppression(corners, best, 10)
        found = v1.gather(corners, kept)
    with part("training_forward"):
        found_scores = v1.gather(best, kept)
    with part("loss"):
        true_classes = v1.placeholder(tf.int32, [1, 80])
        true_moves = v1.placeholder(tf.float32, [1, 80, 4])
        entropy = v1.nn.sparse_softmax_cross_entropy_with_logits(labels=true_classes, logits=logits)
        positive = v1.cast(true_classes > 0, tf.float32)
        count = v1.maximum(v1.reduce_sum(positive), 1.0)
        hard, _ = v1.nn.top_k(v1.reshape(entropy * (1 - positive), [-1]), 20)
        difference = v1.abs(moves - true_moves)
        smooth = v1.where(difference < 1.0, 0.5 * difference**2, difference - 0.5)
        place_loss = v1.reduce_sum(v1.reduce_sum(smooth, -1) * positive) / count
        class_loss = (v1.reduce_sum(entropy * positive) + v1.reduce_sum(hard)) / count
        loss = class_loss + place_loss
    step = part.step()
    with part("optimizer"):
        rate = v1.train.piecewise_constant(step, [100, 200], [1e-3, 1e-4, 1e-5])
    part.minimize(v1.train.RMSPropOptimizer(rate, momentum=0.9), loss, step)
    part.close(loss, class_loss, place_loss)
    return found, found_scores
