"""Optimizers whose steps, or parts of them, run in the branch of a conditional: TF1's nodes, and TF2's functions."""

import tensorflow as tf

from kinds.registry import Part, kind

v1 = tf.compat.v1


def _entropy(labels: tf.Tensor, logits: tf.Tensor) -> tf.Tensor:
    return v1.reduce_mean(v1.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))


@kind(tuned=False, seen=True, resource=True, functional=True)
def functional_steps(part: Part) -> object:
    """Loss scaling whose conditionals call functions: one applies or skips the step, others move scale and counter."""
    with part("inference"):
        x = v1.placeholder(tf.float32, [None, 12])
        hidden = v1.nn.relu(part.dense(x, 16, "hidden"))
        logits = part.dense(hidden, 4, "last")
        probabilities = v1.nn.softmax(logits)
    fixed = {"trainable": False}
    scale = part.variable("scale", [], "optimizer", start=v1.constant_initializer(32768.0), **fixed)
    good = part.variable("good_steps", [], "optimizer", start=v1.zeros_initializer(), dtype=tf.int32, **fixed)
    with part("loss"):
        labels = v1.placeholder(tf.int32, [None])
        loss = _entropy(labels, logits)
        scaled = loss * scale
    with part("metric"):
        accuracy = v1.reduce_mean(v1.cast(v1.equal(v1.cast(v1.argmax(logits, 1), tf.int32), labels), tf.float32))
    step = part.step()
    adam = v1.train.AdamOptimizer(1e-3)
    with part("gradient"):
        pairs = [(gradient / scale, each) for gradient, each in adam.compute_gradients(scaled)]
        finite = v1.reduce_all([v1.reduce_all(v1.is_finite(gradient)) for gradient, _ in pairs])
    with part("optimizer"):

        def grown() -> tf.Operation:
            due = v1.equal(good, 1999)
            larger = v1.cond(due, lambda: v1.group(v1.assign(scale, scale * 2.0)), v1.no_op)
            with v1.control_dependencies([larger]):
                return v1.group(v1.assign(good, v1.where(due, 0, good + 1)))

        def shrunk() -> tf.Operation:
            return v1.group(v1.assign(scale, v1.maximum(scale / 2.0, 1.0)), v1.assign(good, 0))

        v1.cond(finite, lambda: adam.apply_gradients(pairs, global_step=step), v1.no_op)
        v1.cond(finite, grown, shrunk)
    part.close(loss, accuracy)
    return probabilities


@kind(tuned=False, seen=True)
def slow_weights(part: Part) -> object:
    """Lookahead: every fifth step, a conditional moves slow copies towards the weights, and sets these back to them."""
    with part("inference"):
        x = v1.placeholder(tf.float32, [None, 8, 8, 1])
        hidden = v1.nn.relu(part.conv(x, 4, "conv"))
        logits = part.dense(v1.reshape(hidden, [-1, 256]), 5, "last")
        probabilities = v1.nn.softmax(logits)
    with part("loss"):
        labels = v1.placeholder(tf.int32, [None])
        loss = _entropy(labels, logits)
    step, trained = part.step(), v1.trainable_variables()
    train = part.minimize(v1.train.AdamOptimizer(1e-3), loss, step)
    with part("initializer"):
        first = [each.initialized_value() for each in trained]
    with part("optimizer"):
        slow = [v1.Variable(value, trainable=False) for value in first]

        def synchronized() -> tf.Operation:
            moved = [v1.assign(kept, kept + 0.5 * (each - kept)) for kept, each in zip(slow, trained, strict=True)]
            with v1.control_dependencies(moved):
                return v1.group(*(v1.assign(each, value) for each, value in zip(trained, moved, strict=True)))

        with v1.control_dependencies([train]):
            v1.cond(v1.equal(v1.mod(step, 5), 0), synchronized, v1.no_op)
    part.close(loss)
    return probabilities


@kind(tuned=False, seen=True)
def occasional_steps(part: Part) -> object:
    """BERT on small devices: gradients are summed up; every n-th time a branch takes Adam's step by assignments."""
    with part("inference"):
        ids = v1.placeholder(tf.int32, [None, 6])
        embedded = v1.nn.embedding_lookup(part.variable("embedding", [30, 8]), ids)
        hidden = v1.tanh(part.dense(v1.reduce_mean(embedded, 1), 16, "hidden"))
        logits = part.dense(hidden, 3, "last")
        probabilities = v1.nn.softmax(logits)
    with part("loss"):
        labels = v1.placeholder(tf.int32, [None])
        one_hot = v1.one_hot(labels, 3)
        loss = v1.reduce_mean(-v1.reduce_sum(one_hot * v1.nn.log_softmax(logits), -1))
    step, trained = part.step(), v1.trainable_variables()
    with part("gradient"):
        gradients = [v1.convert_to_tensor(gradient) for gradient in v1.gradients(loss, trained)]
    zeros = {"initializer": v1.zeros_initializer(), "trainable": False}
    with part("optimizer"):
        sums = [v1.get_variable(f"sum{number}", each.shape, **zeros) for number, each in enumerate(trained)]
        slots = [
            [v1.get_variable(f"{slot}{number}", each.shape, **zeros) for slot in "mv"]
            for number, each in enumerate(trained)
        ]
        due = v1.equal(v1.mod(step + 1, 4), 0)
        added = [v1.assign_add(total, gradient) for total, gradient in zip(sums, gradients, strict=True)]

        def applied() -> tf.Operation:
            means, _ = tf.clip_by_global_norm([total / 4.0 for total in added], 1.0)
            updates = []
            for each, mean, (m, v) in zip(trained, means, slots, strict=True):
                new_m = 0.9 * m + 0.1 * mean
                new_v = 0.999 * v + 0.001 * v1.square(mean)
                update = new_m / (v1.sqrt(new_v) + 1e-6) + 0.01 * each
                updates += [v1.assign(each, each - 1e-3 * update), v1.assign(m, new_m), v1.assign(v, new_v)]
            with v1.control_dependencies(updates):
                return v1.group(*(v1.assign(total, v1.zeros_like(total)) for total in sums))

        with v1.control_dependencies(added):
            train = v1.cond(due, applied, lambda: v1.group(*added))
    with part("global_step"):
        counted = v1.assign_add(step, 1)
    with part("optimizer"):
        v1.group(train, counted)
    part.close(loss)
    return probabilities


@kind(tuned=False, seen=True, resource=True)
def guarded_descent(part: Part) -> object:
    """Batches whose gradient is too long are left out: momentum by assignments in a branch, whose results are read."""
    with part("inference"):
        x = v1.placeholder(tf.float32, [None, 10])
        value = part.dense(v1.nn.tanh(part.dense(x, 12, "hidden")), 1, "value")
    with part("loss"):
        target = v1.placeholder(tf.float32, [None, 1])
        loss = v1.reduce_mean(v1.square(value - target))
    step, trained = part.step(), v1.trainable_variables()
    with part("gradient"):
        gradients = v1.gradients(loss, trained)
        norm = v1.global_norm(gradients)
    zeros = {"initializer": v1.zeros_initializer(), "trainable": False}
    with part("optimizer"):
        speeds = [v1.get_variable(f"speed{number}", each.shape, **zeros) for number, each in enumerate(trained)]

        def moved() -> tf.Operation:
            updates = []
            for each, speed, gradient in zip(trained, speeds, gradients, strict=True):
                faster = v1.assign(speed, 0.9 * speed + gradient)
                updates.append(v1.assign_sub(each, 0.01 * faster))
            return v1.group(*updates)

        train = v1.cond(norm < 100.0, moved, v1.no_op)
    with part("global_step"), v1.control_dependencies([train]):
        counted = v1.assign_add(step, 1)
    with part("optimizer"):
        v1.group(counted)
    part.close(loss, norm)
    return value


@kind(tuned=False, resource=True, functional=True)
def functional_turns(part: Part) -> object:
    """Two losses in turn by the parity of the step, each in a called function; dropout in a called branch as well."""
    with part("inference"):
        x = v1.placeholder(tf.float32, [None, 10])
        training = v1.placeholder_with_default(False, [])
        hidden = v1.nn.relu(part.dense(x, 16, "hidden"))
        hidden = v1.cond(training, lambda: v1.nn.dropout(hidden, rate=0.5), lambda: v1.identity(hidden))
        probabilities = v1.nn.softmax(part.dense(hidden, 4, "last"))
    with part("training_forward"):
        again = part.dense(hidden, 10, "decoder", kept="training_forward")
    with part("loss"):
        labels = v1.placeholder(tf.float32, [None, 4])
        loss = -v1.reduce_mean(v1.reduce_sum(labels * v1.log(probabilities + 1e-9), 1))
        error = v1.reduce_mean(v1.square(again - x))
    step = part.step()
    first, second = v1.train.AdamOptimizer(1e-3, name="A"), v1.train.MomentumOptimizer(1e-2, 0.9, name="B")
    with part("gradient"):
        pairs = first.compute_gradients(loss, v1.trainable_variables("hidden") + v1.trainable_variables("last"))
        others = second.compute_gradients(error, v1.trainable_variables("decoder"))
    with part("optimizer"):
        even = v1.equal(v1.mod(step, 2), 0)
        v1.cond(even, lambda: first.apply_gradients(pairs, step), lambda: second.apply_gradients(others, step))
    part.close(loss, error)
    return probabilities
