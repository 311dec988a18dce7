"""Optimizers made of single ops, and steps that are skipped."""

import tensorflow as tf

from kinds.registry import Part, kind

v1 = tf.compat.v1


@kind(tuned=True)
def trust_ratios(part: Part) -> object:
    """LAMB by hand: moments with corrected bias, weight decay, the ratio of two norms, clipped gradients."""
    with part("inference"):
        x = v1.placeholder(tf.float32, [None, 12])
        hidden = v1.nn.elu(part.dense(x, 16, "hidden"))
        logits = part.dense(hidden, 3, "last")
        probabilities = v1.nn.softmax(logits)
    with part("loss"):
        labels = v1.placeholder(tf.int64, [None])
        loss = v1.reduce_mean(v1.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))
    step = part.step()
    trained = v1.trainable_variables()
    with part("gradient"):
        gradients = [v1.clip_by_norm(gradient, 2.0) for gradient in v1.gradients(loss, trained)]
    with part("optimizer"):
        rate = v1.train.exponential_decay(1e-2, step, 100, 0.5)
        count = v1.cast(step, tf.float32) + 1.0
        updates = []
        for number, (each, gradient) in enumerate(zip(trained, gradients, strict=True)):
            zeros = {"initializer": v1.zeros_initializer(), "trainable": False}
            m = v1.get_variable(f"lamb_m_{number}", each.shape, **zeros)
            v = v1.get_variable(f"lamb_v_{number}", each.shape, **zeros)
            new_m = v1.assign(m, 0.9 * m + 0.1 * gradient)
            new_v = v1.assign(v, 0.99 * v + 0.01 * gradient * gradient)
            update = (new_m / (1 - v1.pow(0.9, count))) / (v1.sqrt(new_v / (1 - v1.pow(0.99, count))) + 1e-6)
            update += 0.01 * each
            weight_norm, update_norm = v1.norm(each), v1.norm(update)
            ratio = v1.where(update_norm > 0, weight_norm / update_norm, 1.0)
            updates.append(v1.assign_sub(each, rate * ratio * update))
        train = v1.group(*updates)
    with part("global_step"):
        counted = v1.assign_add(step, 1)
    with part("optimizer"):
        v1.group(train, counted)
    part.close(loss)
    return probabilities


@kind(tuned=True, resource=True)
def nesterov(part: Part) -> object:
    """Keras 1's SGD: its own learning rate, momentum and iterations as variables, updates as a list of assignments."""
    with part("inference"):
        x = v1.placeholder(tf.float32, [None, 8, 8, 1])
        hidden = v1.nn.relu(part.conv(x, 4, "conv"))
        output = v1.nn.sigmoid(part.dense(v1.reshape(hidden, [-1, 256]), 1, "dense"))
    with part("loss"):
        target = v1.placeholder(tf.float32, [None, 1])
        weights = v1.placeholder(tf.float32, [None])
        error = v1.reduce_mean(v1.square(output - target), axis=-1)
        loss = v1.reduce_mean(error * weights / v1.reduce_mean(v1.cast(v1.not_equal(weights, 0.0), tf.float32)))
    with part("metric"):
        v1.reduce_mean(v1.cast(v1.equal(target, v1.round(output)), tf.float32))
    scalars = {
        name: part.variable(f"SGD/{name}", [], "optimizer", start=v1.constant_initializer(value), trainable=False)
        for name, value in (("lr", 0.01), ("momentum", 0.9), ("decay", 1e-6))
    }
    iterations = part.variable("SGD/iterations", [], "global_step", start=v1.zeros_initializer(), trainable=False)
    trained = v1.trainable_variables()
    with part("gradient"):
        gradients = v1.gradients(loss, trained)
    with part("optimizer"):
        rate = scalars["lr"] * (1.0 / (1.0 + scalars["decay"] * iterations))
    with part("global_step"):
        updates = [v1.assign_add(iterations, 1.0)]
    with part("optimizer"):
        for number, (each, gradient) in enumerate(zip(trained, gradients, strict=True)):
            start = {"initializer": v1.zeros_initializer(), "trainable": False}
            moment = v1.get_variable(f"SGD/moment_{number}", each.shape, **start)
            speed = scalars["momentum"] * moment - rate * gradient
            updates += [v1.assign(moment, speed), v1.assign(each, each + scalars["momentum"] * speed - rate * gradient)]
        v1.group(*updates)
    part.close()
    return output


@kind(tuned=True)
def skipped_steps(part: Part) -> object:
    """Steps whose loss is not finite are skipped: the optimizer runs in a branch. Noisy gradients, a fed rate."""
    with part("inference"):
        x = v1.placeholder(tf.float32, [None, 8])
        value = part.dense(v1.nn.relu(part.dense(x, 16, "hidden")), 1, "value")
    with part("loss"):
        target = v1.placeholder(tf.float32, [None, 1])
        loss = v1.losses.huber_loss(target, value)
    step = part.step()
    with part("optimizer"):
        rate = v1.placeholder_with_default(1e-3, [])
    optimizer = v1.train.RMSPropOptimizer(rate)
    with part("gradient"):
        pairs = optimizer.compute_gradients(loss)
        pairs = [(gradient + v1.random_normal(v1.shape(gradient), stddev=1e-3), each) for gradient, each in pairs]
        finite = v1.is_finite(loss)
    with part("optimizer"):
        v1.cond(finite, lambda: v1.group(optimizer.apply_gradients(pairs, global_step=step)), v1.no_op)
    part.close(loss)
    return value


@kind(tuned=False, seen=True)
def synchronous_replicas(part: Part) -> object:
    """Distributed training: gradients of many workers meet in accumulators, tokens in a queue let workers go on."""
    with part("inference"):
        x = v1.placeholder(tf.float32, [None, 8])
        logits = part.dense(v1.nn.relu(part.dense(x, 16, "hidden")), 4, "last")
        probabilities = v1.nn.softmax(logits)
    with part("loss"):
        labels = v1.placeholder(tf.int64, [None])
        loss = v1.reduce_mean(v1.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))
    step = part.step()
    optimizer = v1.train.SyncReplicasOptimizer(v1.train.AdamOptimizer(1e-3), 2, 2)
    part.minimize(optimizer, loss, step)
    part.correct("report_uninitialized", "initializer")
    part.close(loss)
    return probabilities


@kind(tuned=False)
def inverse_root_schedule(part: Part) -> object:
    """A language model with tied weights; the learning rate grows, then falls with the root of the step."""
    with part("inference"):
        ids = v1.placeholder(tf.int32, [None, 6])
        table = part.variable("embedding", [30, 8])
        x = v1.gather(table, ids) * 8**0.5
        keys = v1.reshape(part.dense(v1.reshape(x, [-1, 8]), 8, "keys"), [-1, 6, 8])
        future = v1.matrix_band_part(v1.ones([6, 6]), -1, 0)
        scores = v1.matmul(x, keys, transpose_b=True) + (1.0 - future) * -1e9
        x += v1.matmul(v1.nn.softmax(scores), x)
        logits = v1.matmul(v1.reshape(x, [-1, 8]), table, transpose_b=True)
        probabilities = v1.nn.softmax(logits)
    with part("loss"):
        targets = v1.placeholder(tf.int32, [None, 6])
        flat = v1.reshape(targets, [-1])
        smooth = v1.one_hot(flat, 30, on_value=0.9, off_value=0.1 / 29)
        entropy = v1.nn.softmax_cross_entropy_with_logits_v2(labels=smooth, logits=logits)
        mask = v1.cast(v1.not_equal(flat, 0), tf.float32)
        loss = v1.reduce_sum(entropy * mask) / v1.reduce_sum(mask)
    step = part.step()
    with part("optimizer"):
        count = v1.cast(step, tf.float32) + 1.0
        rate = 8**-0.5 * v1.minimum(count * 4000**-1.5, v1.rsqrt(count))
    adam = v1.train.AdamOptimizer(rate, 0.9, 0.98, 1e-9)
    with part("gradient"):
        gradients, trained = zip(*adam.compute_gradients(loss), strict=True)
        gradients, norm = tf.clip_by_global_norm([v1.convert_to_tensor(gradient) for gradient in gradients], 1.0)
    with part("optimizer"):
        adam.apply_gradients(zip(gradients, trained, strict=True), global_step=step)
    with part("summary"):
        v1.summary.scalar("rate", rate)
        v1.summary.scalar("norm", norm)
    part.close(loss)
    return probabilities
