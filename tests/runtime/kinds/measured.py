"""Networks that training measures and records by more than the loss: nothing of that is an output."""

import tensorflow as tf

from kinds.registry import Part, kind

v1 = tf.compat.v1


@kind(tuned=True, resource=True, functional=True)
def measured_map(part: Part) -> object:
    """A transposed convolution right before the last layer; a map that metrics and an image read, no probabilities."""
    with part("inference"):
        image = v1.placeholder(tf.float32, [None, 16, 16, 3])
        down = part.conv(v1.nn.relu(part.conv(image, 8, "first")), 8, "second", stride=2)
        kernel = part.variable("up", [3, 3, 4, 8])
        up = v1.nn.conv2d_transpose(down, kernel, v1.stack([v1.shape(down)[0], 16, 16, 4]), 2, "SAME")
        logits = part.conv(up, 4, "last", size=1)
        found = v1.argmax(logits, 3)
    with part("loss"):
        mask = v1.placeholder(tf.int32, [None, 16, 16])
        loss = v1.reduce_mean(v1.nn.sparse_softmax_cross_entropy_with_logits(labels=mask, logits=logits))
    with part("metric"):
        v1.confusion_matrix(v1.reshape(mask, [-1]), v1.reshape(found, [-1]), 4)
        v1.metrics.mean_iou(mask, found, 4)
        v1.metrics.mean(loss)
    with part("summary"):
        v1.summary.image("map", v1.cast(v1.expand_dims(found, 3), tf.uint8))
    part.minimize(v1.train.AdamOptimizer(1e-3), loss, part.step())
    part.close(loss, local=True)
    return found, logits


@kind(tuned=True, resource=True, functional=True)
def confusion(part: Part) -> object:
    """Probabilities are read by the choice of a class only, that by a guarded confusion matrix only."""
    with part("inference"):
        x = v1.placeholder(tf.float32, [None, 10])
        logits = part.dense(v1.nn.relu(part.dense(x, 16, "hidden")), 3, "last")
        probabilities = v1.nn.softmax(logits)
    with part("metric"):
        found = v1.argmax(probabilities, 1)
    with part("loss"):
        labels = v1.placeholder(tf.int64, [None])
        loss = v1.reduce_mean(v1.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))
    with part("metric"):
        v1.confusion_matrix(labels, found, 3)
    part.minimize(v1.train.GradientDescentOptimizer(0.1), loss, part.step())
    part.close(loss)
    return probabilities, found


@kind(tuned=True, resource=True, functional=True)
def recorded_map(part: Part) -> object:
    """The map is the output; only an image summary reads it, expanded and cast."""
    with part("inference"):
        image = v1.placeholder(tf.float32, [None, 16, 16, 3])
        logits = part.conv(v1.nn.relu(part.conv(image, 8, "first")), 4, "last")
        found = v1.argmax(logits, 3)
    with part("loss"):
        mask = v1.placeholder(tf.int32, [None, 16, 16])
        loss = v1.reduce_mean(v1.nn.sparse_softmax_cross_entropy_with_logits(labels=mask, logits=logits))
    with part("summary"):
        v1.summary.image("map", v1.cast(v1.expand_dims(found, 3), tf.uint8))
    part.minimize(v1.train.AdamOptimizer(1e-3), loss, part.step())
    part.close(loss)
    return found
