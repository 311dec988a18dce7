"""Write resources/samples/digits: a small training graph with its checkpoint, and the role of each of its nodes.

A convolutional network that tells digits apart, built the way TensorFlow 1 programs built them: a tf.data input
pipeline, a training tower (batch norm on batch statistics, dropout) and a validation tower that share their variables,
a loss with weight decay and its moving average, an accuracy, Adam with a decaying learning rate, summaries, a Saver.
``net_1/probabilities`` is the output to keep and ``images`` its input. The script draws the digits; nothing is fetched.

``roles.tsv`` is the truth for that output, known by construction: each part of the graph is built inside
``Truth.part(role)``, which notes the role of all nodes that appear meanwhile; initializers are told by their place.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["CUDA_VISIBLE_DEVICES"] = ""
import numpy as np
import tensorflow as tf

v1 = tf.compat.v1
SEED = 5
STEPS = 500
OUTPUT = "net_1/probabilities"
SIDE = 16
# Of each digit, which of the seven segments of a display are lit: top, two upper, middle, two lower, bottom.
SEGMENTS = (
    0b1110111,
    0b0010010,
    0b1011101,
    0b1011011,
    0b0111010,
    0b1101011,
    0b1101111,
    0b1010010,
    0b1111111,
    0b1111011,
)
STROKES = ((2, 4, 2, 11), (2, 4, 7, 5), (2, 10, 7, 11), (7, 4, 7, 11), (7, 4, 12, 5), (7, 10, 12, 11), (12, 4, 12, 11))
INITIALIZER = ("/Initializer/", "/initial_value")


class Truth:
    """The role of each node, noted while the graph grows."""

    def __init__(self, graph: Any) -> None:
        self.graph = graph
        self.roles: dict[str, str] = {}

    @contextmanager
    def part(self, role: str) -> Iterator[None]:
        """Give ``role`` to all nodes made inside that have none yet; an inner part goes before an outer one."""
        before = {node.name for node in self.graph.get_operations()}
        yield
        for op in self.graph.get_operations():
            if op.name not in before and op.name not in self.roles:
                self.roles[op.name] = "initializer" if is_initializer(op) else role


def is_initializer(op: Any) -> bool:
    """Whether the node makes the first value of a variable, or assigns it."""
    source = op.inputs[1].op if op.type == "Assign" else op
    return any(part in source.name for part in INITIALIZER)


def draw_digits(count: int, seed: int = 0) -> tuple[Any, Any]:
    """``count`` noisy, shifted digits: uint8 [count, SIDE, SIDE, 1] and int64 [count]."""
    random = np.random.default_rng(seed)
    labels = random.integers(0, 10, count)
    images = np.zeros((count, SIDE, SIDE, 1), np.uint8)
    for image, label in zip(images, labels, strict=True):
        down, right = random.integers(-2, 3, 2)
        for bit, (top, left, bottom, end) in enumerate(STROKES):
            if SEGMENTS[label] >> (6 - bit) & 1:
                image[top + down : bottom + down + 2, left + right : end + right + 1] = 200
    return np.clip(images + random.integers(0, 56, images.shape), 0, 255).astype(np.uint8), labels


def variable(name: str, shape: list[int], initializer: Any, trainable: bool = True) -> Any:
    """A variable of the current scope, shared by both towers."""
    return v1.get_variable(name, shape, initializer=initializer, trainable=trainable)


def batch_norm(x: Any, training: bool, truth: Truth) -> Any:
    """Normalise over the batch while training, with the moving averages otherwise."""
    with v1.variable_scope("batch_norm"):
        channels = [x.shape[-1]]
        with truth.part("inference"):
            gamma = variable("gamma", channels, v1.ones_initializer())
            beta = variable("beta", channels, v1.zeros_initializer())
            mean = variable("moving_mean", channels, v1.zeros_initializer(), trainable=False)
            variance = variable("moving_variance", channels, v1.ones_initializer(), trainable=False)
        if not training:
            return v1.nn.fused_batch_norm(x, gamma, beta, mean, variance, is_training=False)[0]
        y, batch_mean, batch_variance = v1.nn.fused_batch_norm(x, gamma, beta, is_training=True)[:3]
        with truth.part("batch_norm_update"):
            for moving, batch in ((mean, batch_mean), (variance, batch_variance)):
                update = v1.assign_sub(
                    moving, (moving - batch) * 0.1, name="update_" + moving.op.name.rpartition("_")[2]
                )
                v1.add_to_collection(v1.GraphKeys.UPDATE_OPS, update)
        return y


def convolution(x: Any, channels: int, training: bool, truth: Truth) -> Any:
    """Convolution, batch norm, ReLU and pooling to half the size."""
    with truth.part("inference"):
        kernel = variable("kernel", [3, 3, x.shape[-1], channels], v1.glorot_uniform_initializer(seed=1))
    x = batch_norm(v1.nn.conv2d(x, kernel, padding="SAME"), training, truth)
    return v1.nn.max_pool2d(v1.nn.relu(x), 2, 2, "SAME")


def dense(x: Any, units: int, truth: Truth, name: str | None = None) -> Any:
    """A fully connected layer, linear."""
    with truth.part("inference"):
        kernel = variable("kernel", [x.shape[-1], units], v1.glorot_uniform_initializer(seed=2))
        bias = variable("bias", [units], v1.zeros_initializer())
    return v1.nn.xw_plus_b(x, kernel, bias, name=name)


def tower(images: Any, training: bool, truth: Truth) -> Any:
    """The network: logits [batch, 10]; its probabilities are the node ``probabilities`` beside them."""
    x = images
    for layer, channels in enumerate((8, 16), 1):
        with v1.variable_scope(f"convolution{layer}"):
            x = convolution(x, channels, training, truth)
    x = v1.reshape(x, [-1, x.shape[1] * x.shape[2] * x.shape[3]], name="flatten")
    with v1.variable_scope("dense1"):
        x = v1.nn.relu(dense(x, 32, truth))
        if training:
            x = v1.nn.dropout(x, rate=0.3, seed=3)
    with v1.variable_scope("dense2"):
        logits = dense(x, 10, truth, name="logits")
    v1.nn.softmax(logits, name="probabilities")
    return logits


def input_pipeline() -> tuple[Any, Any]:
    """Images, float32 [batch, SIDE, SIDE, 1] in 0..1, and labels, int64 [batch]."""
    with v1.name_scope("input"):
        pixels = v1.placeholder(tf.uint8, [None, SIDE, SIDE, 1], "pixels")
        digits = v1.placeholder(tf.int64, [None], "digits")
        data = v1.data.Dataset.from_tensor_slices((pixels, digits))
        data = data.map(lambda image, digit: (tf.cast(image, tf.float32) / 255, digit))
        images, labels = v1.data.make_initializable_iterator(data.shuffle(512, seed=4).repeat().batch(32)).get_next()
    return images, labels


def loss_of(logits: Any, labels: Any, truth: Truth) -> Any:
    """Cross-entropy plus weight decay; the labels are checked first."""
    with truth.part("check"):
        known = v1.debugging.assert_less(labels, np.int64(10), message="There are ten digits", name="known_digits")
    with truth.part("loss"), v1.name_scope("loss"), v1.control_dependencies([known]):
        errors = v1.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits, name="cross_entropy")
        kernels = [each for each in v1.trainable_variables() if each.op.name.endswith("kernel")]
        decay = v1.multiply(1e-4, v1.add_n([v1.nn.l2_loss(kernel) for kernel in kernels]), name="weight_decay")
        return v1.add(v1.reduce_mean(errors), decay, name="total")


def build(truth: Truth) -> tuple[Any, Any, Any]:
    """Build the whole graph into the default one; the training op, the initializer and the Saver."""
    with truth.part("input_pipeline"):
        images, labels = input_pipeline()
    with truth.part("inference"):
        images = v1.identity(images, name="images")
    with truth.part("training_forward"), v1.variable_scope("net"):
        logits = tower(images, True, truth)
    with truth.part("inference"), v1.variable_scope("net", reuse=True):
        validation = tower(images, False, truth)
    with truth.part("metric"), v1.name_scope("accuracy"):
        right = v1.equal(v1.argmax(validation, 1, name="digit"), labels)
        accuracy = v1.reduce_mean(v1.cast(right, tf.float32), name="accuracy")
    loss = loss_of(logits, labels, truth)
    with truth.part("unused"):
        v1.placeholder_with_default(np.float32(0.7), [], "keep_probability")
    train = training(loss, truth)
    with truth.part("summary"):
        v1.summary.scalar("summaries/loss", loss)
        v1.summary.scalar("summaries/accuracy", accuracy)
        v1.summary.image("summaries/images", images, max_outputs=2)
        v1.summary.merge_all(name="summaries/all")
    with truth.part("save_restore"):
        saver = v1.train.Saver()
    with truth.part("initializer"):
        initializer = v1.global_variables_initializer()
    return train, initializer, saver


def training(loss: Any, truth: Truth) -> Any:
    """Adam with a decaying learning rate, after the updates of batch norm; then the loss's moving average."""
    with truth.part("global_step"):
        step = v1.train.get_or_create_global_step()
    with truth.part("optimizer"), v1.name_scope("learning_rate"):
        rate = v1.train.exponential_decay(1e-2, step, 200, 0.5)
    adam = v1.train.AdamOptimizer(rate)
    with truth.part("gradient"):
        gradients = adam.compute_gradients(loss)
    with truth.part("moving_average"):
        average = v1.train.ExponentialMovingAverage(0.9).apply([loss])
    with truth.part("optimizer"):
        with v1.control_dependencies(v1.get_collection(v1.GraphKeys.UPDATE_OPS)):
            train = adam.apply_gradients(gradients, global_step=step)
        return v1.group(train, average, name="train")


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    v1.disable_resource_variables()
    with tf.Graph().as_default() as graph:
        v1.set_random_seed(SEED)
        truth = Truth(graph)
        train, initializer, saver = build(truth)
        one_thread = v1.ConfigProto(intra_op_parallelism_threads=1, inter_op_parallelism_threads=1)
        with v1.Session(config=one_thread) as session:
            pixels, digits = draw_digits(2000)
            session.run(initializer)
            session.run("input/MakeIterator", {"input/pixels:0": pixels, "input/digits:0": digits})
            for _ in range(STEPS):
                session.run(train)
            test, answers = draw_digits(500, seed=1)
            found = session.run(OUTPUT + ":0", {"images:0": test / np.float32(255)}).argmax(1)
            print(f"{len(truth.roles)} nodes; {np.mean(found == answers):.1%} of new digits recognised")
            saver.save(session, str(folder / "model.ckpt"), global_step=STEPS, write_state=False)
    lines = (f"{name}\t{role}\n" for name, role in truth.roles.items())
    (folder / "roles.tsv").write_text("node\trole\n" + "".join(lines), encoding="utf-8")


if __name__ == "__main__":
    default = Path(__file__).resolve().parent.parent / "resources" / "samples" / "digits"
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else default)
