"""Classifiers of images and texts, and what people hang around them."""

import numpy as np
import tensorflow as tf

from kinds.registry import Part, kind

v1 = tf.compat.v1


def _entropy(labels: tf.Tensor, logits: tf.Tensor) -> tf.Tensor:
    return v1.reduce_mean(v1.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))


@kind(tuned=False, seen=True)
def conditional_batch_norm(part: Part) -> object:
    """Batch norm as of 2016: a conditional on ``is_training`` around an ExponentialMovingAverage of the moments."""

    def norm(x: tf.Tensor, training: tf.Tensor, name: str) -> tf.Tensor:
        size = [x.shape[-1]]
        beta = part.variable(f"{name}/beta", size, start=v1.zeros_initializer())
        gamma = part.variable(f"{name}/gamma", size, start=v1.ones_initializer())
        mean, variance = v1.nn.moments(x, [0, 1, 2])
        average = v1.train.ExponentialMovingAverage(0.5, name=f"{name}_average")

        def updated() -> tuple[tf.Tensor, tf.Tensor]:
            with part("batch_norm_update"):
                update = average.apply([mean, variance])
            with v1.control_dependencies([update]):
                return v1.identity(mean), v1.identity(variance)

        now = v1.cond(training, updated, lambda: (average.average(mean), average.average(variance)))
        # TensorFlow lets the branch's result share the Switch of the update; only the update waits for the pivot.
        part.correct("sub_1/Switch_1", "inference")
        for pivot in ("Switch", "switch_t"):
            part.roles[now[0].op.name.replace("Merge", pivot)] = "batch_norm_update"
        for value in (mean, variance):
            kept = average.average(value).op.name
            part.roles[kept] = part.roles[f"{kept}/read"] = "inference"
        return v1.nn.batch_normalization(x, *now, beta, gamma, 1e-3)

    with part("inference"):
        x = v1.placeholder(tf.float32, [None, 8, 8, 3])
        training = v1.placeholder(tf.bool, [])
        hidden = v1.nn.relu(norm(part.conv(x, 4, "conv1"), training, "norm1"))
        hidden = v1.nn.relu(norm(part.conv(hidden, 8, "conv2"), training, "norm2"))
        logits = part.dense(v1.reduce_mean(hidden, [1, 2]), 10, "last")
        probabilities = v1.nn.softmax(logits)
    with part("loss"):
        labels = v1.placeholder(tf.int32, [None])
        loss = _entropy(labels, logits)
    with part("metric"):
        right = v1.nn.in_top_k(logits, labels, 1)
        accuracy = v1.reduce_mean(v1.cast(right, tf.float32))
    step = part.step()
    with part("optimizer"):
        rate = v1.train.exponential_decay(0.1, step, 100, 0.9, staircase=True)
    train = part.minimize(v1.train.MomentumOptimizer(rate, 0.9), loss, step)
    with part("moving_average"), v1.control_dependencies([train]):
        v1.train.ExponentialMovingAverage(0.999, step, name="weights_average").apply(v1.trainable_variables())
    part.close(loss, accuracy)
    return probabilities


@kind(tuned=True)
def weight_decay(part: Part) -> object:
    """The MNIST tutorial: L2 of the dense layers in the loss, a training and an evaluation tower, a batch counter."""

    def model(x: tf.Tensor, training: bool) -> tf.Tensor:
        with v1.variable_scope("model", reuse=v1.AUTO_REUSE):
            for number, channels in enumerate((4, 8)):
                x = v1.nn.max_pool2d(v1.nn.relu(part.conv(x, channels, f"conv{number}", size=5)), 2, 2, "SAME")
            shape = x.shape.as_list()
            x = v1.nn.relu(part.dense(v1.reshape(x, [shape[0], shape[1] * shape[2] * shape[3]]), 16, "dense1"))
            x = v1.nn.dropout(x, rate=0.5) if training else x
            return part.dense(x, 10, "dense2")

    with part("training_forward"):
        images = v1.placeholder(tf.float32, [4, 8, 8, 1])
        logits = model(images, True)
        v1.nn.softmax(logits)
    with part("loss"):
        labels = v1.placeholder(tf.int64, [4])
        loss = _entropy(labels, logits)
        decayed = [each for each in v1.trainable_variables() if "dense" in each.op.name]
        loss += 5e-4 * sum(v1.nn.l2_loss(each) for each in decayed)
    with part("global_step"):
        batch = v1.Variable(0, dtype=tf.float32, trainable=False)
    with part("optimizer"):
        rate = v1.train.exponential_decay(0.01, batch * 4, 1000, 0.95, staircase=True)
    part.minimize(v1.train.MomentumOptimizer(rate, 0.9), loss, batch)
    with part("inference"):
        prediction = v1.nn.softmax(model(v1.placeholder(tf.float32, [16, 8, 8, 1]), False))
    part.close()
    return prediction


@kind(tuned=False)
def clipping(part: Part) -> object:
    """A text CNN: gradients clipped by their global norm and recorded, predictions, dropout by placeholder."""
    with part("inference"):
        words = v1.placeholder(tf.int32, [None, 12])
        keep = v1.placeholder(tf.float32, [])
        embedding = part.variable("embedding", [50, 8])
        embedded = v1.expand_dims(v1.nn.embedding_lookup(embedding, words), -1)
        pooled = []
        for size in (2, 3):
            kernel = part.variable(f"kernel{size}", [size, 8, 1, 4])
            bias = part.variable(f"bias{size}", [4], start=v1.zeros_initializer())
            x = v1.nn.relu(v1.nn.bias_add(v1.nn.conv2d(embedded, kernel, [1, 1, 1, 1], "VALID"), bias))
            pooled.append(v1.nn.max_pool2d(x, [1, 12 - size + 1, 1, 1], [1, 1, 1, 1], "VALID"))
        dropped = v1.nn.dropout(v1.reshape(v1.concat(pooled, 3), [-1, 8]), rate=1 - keep)
        scores = part.dense(dropped, 2, "output")
        predictions = v1.argmax(scores, 1)
    with part("loss"):
        labels = v1.placeholder(tf.float32, [None, 2])
        l2 = v1.constant(0.0)
        for each in v1.trainable_variables("output"):
            l2 += v1.nn.l2_loss(each)
        losses = v1.nn.softmax_cross_entropy_with_logits_v2(logits=scores, labels=labels)
        loss = v1.reduce_mean(losses) + 0.1 * l2
    with part("metric"):
        accuracy = v1.reduce_mean(v1.cast(v1.equal(predictions, v1.argmax(labels, 1)), tf.float32))
    step = part.step()
    adam = v1.train.AdamOptimizer(1e-3)
    with part("gradient"):
        gradients, variables = zip(*adam.compute_gradients(loss), strict=True)
        gradients, _ = tf.clip_by_global_norm(gradients, 5.0)
    with part("summary"):
        for gradient, each in zip(gradients, variables, strict=True):
            v1.summary.histogram(each.op.name, gradient)
            v1.summary.scalar(f"{each.op.name}_sparsity", v1.nn.zero_fraction(gradient))
    with part("optimizer"):
        adam.apply_gradients(zip(gradients, variables, strict=True), global_step=step)
    part.close(loss, accuracy)
    return predictions, scores


@kind(tuned=False, seen=True, resource=True)
def mixed_precision(part: Part) -> object:
    """Computes in float16, keeps float32 weights, scales the loss and skips steps whose gradients overflow."""

    def half(*shape: int, name: str) -> tf.Tensor:
        return v1.cast(part.variable(name, shape), tf.float16)

    with part("inference"):
        x = v1.placeholder(tf.float32, [None, 16])
        hidden = v1.nn.relu(v1.matmul(v1.cast(x, tf.float16), half(16, 32, name="w1")) + half(32, name="b1"))
        logits = v1.cast(v1.matmul(hidden, half(32, 4, name="w2")) + half(4, name="b2"), tf.float32)
        probabilities = v1.nn.softmax(logits)
    scale = part.variable("loss_scale", [], "optimizer", start=v1.constant_initializer(1024.0), trainable=False)
    with part("loss"):
        labels = v1.placeholder(tf.int32, [None])
        loss = _entropy(labels, logits)
        scaled = loss * scale
    step = part.step()
    optimizer = v1.train.MomentumOptimizer(0.1, 0.9)
    with part("gradient"):
        pairs = optimizer.compute_gradients(scaled)
        pairs = [(v1.cast(gradient, tf.float32) / scale, each) for gradient, each in pairs]
        finite = v1.reduce_all([v1.reduce_all(v1.is_finite(gradient)) for gradient, _ in pairs])
    with part("optimizer"):
        v1.cond(finite, lambda: v1.group(optimizer.apply_gradients(pairs, global_step=step)), v1.no_op)
        v1.assign(scale, v1.cond(finite, lambda: scale * 1.001, lambda: scale / 2.0))
    part.close(loss)
    return probabilities


@kind(tuned=False)
def transfer_learning(part: Part) -> object:
    """The retrain example: a frozen network up to a bottleneck that can be fed, one new layer, many summaries."""
    random = np.random.default_rng(0)

    def frozen(*shape: int) -> tf.Tensor:
        return v1.constant(random.normal(size=shape).astype(np.float32))

    with part("inference"):
        x = v1.placeholder(tf.float32, [None, 16, 16, 3])
        for size in ((3, 8), (8, 16)):
            x = v1.nn.relu(v1.nn.conv2d(x, frozen(3, 3, *size), strides=[1, 2, 2, 1], padding="SAME") + frozen(size[1]))
        bottleneck = v1.squeeze(v1.nn.avg_pool2d(x, 4, 4, "VALID"), [1, 2])
        bottleneck = v1.placeholder_with_default(bottleneck, [None, 16])
        weights = part.variable("final_weights", [16, 5])
        biases = part.variable("final_biases", [5], start=v1.zeros_initializer())
        logits = v1.matmul(bottleneck, weights) + biases
        result = v1.nn.softmax(logits)
    with part("summary"):
        for name, value in (("weights", weights), ("biases", biases), ("logits", logits)):
            mean = v1.reduce_mean(value)
            v1.summary.scalar(f"{name}/mean", mean)
            v1.summary.scalar(f"{name}/deviation", v1.sqrt(v1.reduce_mean(v1.square(value - mean))))
            v1.summary.scalar(f"{name}/max", v1.reduce_max(value))
            v1.summary.histogram(f"{name}/histogram", value)
    with part("loss"):
        truth = v1.placeholder(tf.int64, [None])
        loss = v1.losses.sparse_softmax_cross_entropy(labels=truth, logits=logits)
    with part("metric"):
        right = v1.equal(v1.argmax(result, 1), truth)
        accuracy = v1.reduce_mean(v1.cast(right, tf.float32))
    part.minimize(v1.train.GradientDescentOptimizer(0.01), loss)
    part.close(loss, accuracy)
    return result


@kind(tuned=True)
def quantization_aware(part: Part) -> object:
    """Fake quantization: the training tower moves the ranges of activations, the evaluation tower reads them."""

    def quantized(x: tf.Tensor, training: bool, name: str) -> tf.Tensor:
        start = v1.constant_initializer(6.0)
        low = part.variable(f"{name}/min", [], start=v1.zeros_initializer(), trainable=False)
        high = part.variable(f"{name}/max", [], start=start, trainable=False)
        if not training:
            return tf.quantization.fake_quant_with_min_max_vars(x, low, high)
        least, most = v1.reduce_min(x), v1.reduce_max(x)
        with part("moving_average"):
            updates = [
                v1.assign_sub(kept, (kept - value) * (1 - 0.999)) for kept, value in ((low, least), (high, most))
            ]
        with v1.control_dependencies(updates):
            return tf.quantization.fake_quant_with_min_max_vars(x, least, most)

    def layer(x: tf.Tensor, units: int, training: bool, name: str) -> tf.Tensor:
        kernel = part.variable(f"{name}/kernel", [x.shape[-1], units])
        bias = part.variable(f"{name}/bias", [units], start=v1.zeros_initializer())
        bounds = v1.reduce_min(kernel), v1.reduce_max(kernel)
        weights = tf.quantization.fake_quant_with_min_max_vars(kernel, *bounds, narrow_range=True)
        return v1.nn.bias_add(v1.matmul(x, weights), bias)

    def tower(x: tf.Tensor, training: bool) -> tf.Tensor:
        with v1.variable_scope("net", reuse=v1.AUTO_REUSE):
            x = quantized(v1.nn.relu6(layer(x, 16, training, "hidden")), training, "range1")
            return quantized(layer(x, 4, training, "last"), training, "range2")

    with part("input_pipeline"):
        placed = v1.placeholder(tf.float32, [None, 8]), v1.placeholder(tf.int64, [None])
        data = v1.data.Dataset.from_tensor_slices(placed).shuffle(100).repeat().batch(16)
        features, labels = v1.data.make_initializable_iterator(data).get_next()
    with part("training_forward"):
        logits = tower(features, True)
    with part("inference"):
        probabilities = v1.nn.softmax(tower(features, False))
    with part("loss"):
        loss = _entropy(labels, logits)
    part.minimize(v1.train.RMSPropOptimizer(1e-3), loss, part.step())
    part.close(loss)
    return probabilities


@kind(tuned=True)
def much_recorded(part: Part) -> object:
    """Statistics of weights, activations and gradients, images of filters and of a confusion matrix are recorded."""
    with part("inference"):
        x = v1.placeholder(tf.float32, [None, 8, 8, 1])
        hidden = v1.nn.relu(part.conv(x, 4, "conv", size=5))
        flat = v1.reshape(hidden, [-1, 256])
        dense = v1.nn.relu(part.dense(flat, 16, "dense"))
        logits = part.dense(dense, 10, "last")
        probabilities = v1.nn.softmax(logits)
    with part("loss"):
        labels = v1.placeholder(tf.float32, [None, 10])
        loss = -v1.reduce_mean(v1.reduce_sum(labels * v1.log(probabilities + 1e-9), 1))
    with part("metric"):
        wanted, found = v1.argmax(labels, 1), v1.argmax(probabilities, 1)
        accuracy = v1.reduce_mean(v1.cast(v1.equal(wanted, found), tf.float32))
        matrix = v1.confusion_matrix(wanted, found, 10)
    step = part.step()
    optimizer = v1.train.AdamOptimizer(1e-3)
    with part("gradient"):
        pairs = optimizer.compute_gradients(loss)
    with part("summary"):
        for each in v1.trainable_variables():
            mean = v1.reduce_mean(each)
            v1.summary.scalar(f"{each.op.name}/mean", mean)
            v1.summary.scalar(f"{each.op.name}/deviation", v1.sqrt(v1.reduce_mean(v1.square(each - mean))))
            v1.summary.scalar(f"{each.op.name}/least", v1.reduce_min(each))
        for name, value in (("conv", hidden), ("dense", dense)):
            v1.summary.histogram(name, value)
            v1.summary.scalar(f"{name}_zeros", v1.nn.zero_fraction(value))
        for gradient, each in pairs:
            v1.summary.scalar(f"{each.op.name}/gradient", v1.sqrt(v1.reduce_sum(v1.square(gradient))))
            v1.summary.histogram(f"{each.op.name}/ratio", v1.abs(gradient) / (v1.abs(each) + 1e-6))
        kernel = v1.transpose(v1.trainable_variables("conv/kernel")[0], [3, 0, 1, 2])
        v1.summary.image("filters", (kernel - v1.reduce_min(kernel)) / (v1.reduce_max(kernel) - v1.reduce_min(kernel)))
        v1.summary.image("matrix", v1.expand_dims(v1.expand_dims(v1.cast(matrix, tf.float32), 0), 3))
    with part("optimizer"):
        optimizer.apply_gradients(pairs, global_step=step)
    part.close(loss, accuracy)
    return probabilities
