"""Graphs that take weights or gradients from elsewhere: other workers, other graphs, an inner step of training."""

import tensorflow as tf

from kinds.registry import Part, kind

v1 = tf.compat.v1


def _entropy(labels: tf.Tensor, logits: tf.Tensor) -> tf.Tensor:
    return v1.reduce_mean(v1.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))


@kind(tuned=False)
def asynchronous_agents(part: Part) -> object:
    """A3C: a worker's gradients train a global network, whose weights the worker pulls; policy, value, entropy."""

    def network(x: tf.Tensor, scope: str, kept: str, value_kept: str) -> tuple[tf.Tensor, tf.Tensor]:
        hidden = v1.nn.relu6(part.dense(x, 16, f"{scope}/actor/hidden", kept=kept))
        act = v1.nn.softmax(part.dense(hidden, 3, f"{scope}/actor/act", kept=kept))
        with part("training_forward"):
            judged = v1.nn.relu6(part.dense(x, 12, f"{scope}/critic/hidden", kept=value_kept))
            value = part.dense(judged, 1, f"{scope}/critic/value", kept=value_kept)
        return act, value

    aside = "training_forward"
    with part("inference"):
        act, _ = network(v1.placeholder(tf.float32, [None, 5]), "global", "inference", aside)
    with part("training_forward"):
        local_act, local_value = network(v1.placeholder(tf.float32, [None, 5]), "worker", aside, aside)
    with part("loss"):
        actions, target = v1.placeholder(tf.int32, [None]), v1.placeholder(tf.float32, [None, 1])
        error = v1.subtract(target, local_value)
        critic_loss = v1.reduce_mean(v1.square(error))
        log_chosen = v1.reduce_sum(v1.log(local_act + 1e-5) * v1.one_hot(actions, 3), 1, keepdims=True)
        entropy = -v1.reduce_sum(local_act * v1.log(local_act + 1e-5), 1, keepdims=True)
        actor_loss = v1.reduce_mean(-(0.001 * entropy + log_chosen * v1.stop_gradient(error)))
    for head, loss in (("actor", actor_loss), ("critic", critic_loss)):
        own, shared = v1.trainable_variables(f"worker/{head}"), v1.trainable_variables(f"global/{head}")
        with part("gradient"):
            gradients = [v1.clip_by_norm(gradient, 40.0) for gradient in v1.gradients(loss, own)]
        with part("moving_average"):
            v1.group(*(v1.assign(mine, theirs) for mine, theirs in zip(own, shared, strict=True)))
        with part("optimizer"):
            optimizer = v1.train.RMSPropOptimizer(1e-3, name=f"RMSProp_{head}")
            optimizer.apply_gradients(zip(gradients, shared, strict=True))
    part.close(actor_loss, critic_loss)
    return act, local_act


@kind(tuned=False, seen=True)
def all_reduce(part: Part) -> object:
    """Horovod with Python in place of its ops: gradients are summed over workers, first values come from one."""

    def exchanged(x: tf.Tensor) -> tf.Tensor:
        return v1.reshape(v1.py_func(lambda value: value, [x], tf.float32), v1.shape(x))

    with part("inference"):
        image = v1.placeholder(tf.float32, [None, 8, 8, 1])
        x = v1.nn.max_pool2d(v1.nn.relu(part.conv(image, 4, "conv")), 2, 2, "SAME")
        logits = part.dense(v1.reshape(x, [-1, 64]), 10, "last")
        probabilities = v1.nn.softmax(logits)
    with part("loss"):
        labels = v1.placeholder(tf.int64, [None])
        loss = _entropy(labels, logits)
    step = part.step()
    with part("optimizer"):
        warm = v1.minimum(1.0, v1.cast(step, tf.float32) / 100.0)
        optimizer = v1.train.MomentumOptimizer(0.01 * (1 + 3 * warm), 0.9)
    with part("gradient"):
        pairs = optimizer.compute_gradients(loss)
        pairs = [(exchanged(gradient) / 4.0, each) for gradient, each in pairs]
    with part("optimizer"):
        optimizer.apply_gradients(pairs, global_step=step)
    with part("metric"):
        found = v1.cast(v1.equal(v1.argmax(logits, 1), labels), tf.float32)
        accuracy = exchanged(v1.reduce_mean(found)) / 4.0
    with part("initializer"):
        v1.group(*(v1.assign(each, exchanged(each)) for each in v1.trainable_variables()))
    part.close(loss, accuracy)
    return probabilities


@kind(tuned=False)
def imported(part: Part) -> object:
    """A training graph imported whole, with its loss, optimizer and saver; a new layer trains on its features."""

    def older(inner: Part) -> tf.Tensor:
        with inner("inference"):
            x = v1.placeholder(tf.float32, [None, 8, 8, 1])
            x = v1.nn.relu(inner.conv(x, 4, "conv1", stride=2))
            features = v1.reshape(v1.nn.relu(inner.conv(x, 8, "conv2", stride=2)), [-1, 32])
        with inner("training_forward"):
            logits = inner.dense(features, 10, "last", kept="training_forward")
            v1.nn.softmax(logits)
        with inner("loss"):
            loss = _entropy(v1.placeholder(tf.int64, [None]), logits)
        inner.minimize(v1.train.AdamOptimizer(1e-3), loss, inner.step())
        inner.close(loss)
        return features

    with tf.Graph().as_default() as graph:
        inner = Part(graph)
        features = older(inner)
    with part("inference"):
        (features,) = v1.import_graph_def(graph.as_graph_def(), return_elements=[features.name])
    for name, role in inner.roles.items():
        part.roles[f"inference/import/{name}"] = role
    with part("inference"):
        hidden = v1.nn.relu(part.dense(features, 16, "new/hidden"))
        logits = part.dense(hidden, 3, "new/last")
        probabilities = v1.nn.softmax(logits)
    with part("loss"):
        labels = v1.placeholder(tf.int64, [None])
        loss = _entropy(labels, logits)
    with part("metric"):
        accuracy = v1.reduce_mean(v1.cast(v1.equal(v1.argmax(logits, 1), labels), tf.float32))
    part.minimize(v1.train.GradientDescentOptimizer(0.01), loss, part.step())
    part.close(loss, accuracy)
    return probabilities


@kind(tuned=False, seen=True)
def meta_learning(part: Part) -> object:
    """MAML: the answer comes after an inner step of descent, which the outer training differentiates."""

    def answer(x: tf.Tensor, weights: list[tf.Tensor]) -> tf.Tensor:
        hidden = v1.nn.relu(v1.matmul(x, weights[0]) + weights[1])
        return v1.matmul(hidden, weights[2]) + weights[3]

    with part("inference"):
        seen, wanted = v1.placeholder(tf.float32, [None, 1]), v1.placeholder(tf.float32, [None, 1])
        asked = v1.placeholder(tf.float32, [None, 1])
        weights = [part.variable("w1", [1, 16]), part.variable("b1", [16], start=v1.zeros_initializer())]
        weights += [part.variable("w2", [16, 1]), part.variable("b2", [1], start=v1.zeros_initializer())]
        inner = v1.reduce_mean(v1.square(answer(seen, weights) - wanted))
        slopes = v1.gradients(inner, weights)
        fast = [each - 0.01 * slope for each, slope in zip(weights, slopes, strict=True)]
        output = answer(asked, fast)
    # Nobody reads the inner loss itself, nor the gradients of what is fed.
    part.roles["inference/Mean"] = "loss"
    for name in ("sub_grad/Neg", "sub_grad/Sum_1", "sub_grad/Reshape_1", "MatMul_grad/MatMul"):
        part.roles[f"inference/gradients/inference/{name}"] = "gradient"
    with part("loss"):
        right = v1.placeholder(tf.float32, [None, 1])
        loss = v1.reduce_mean(v1.square(output - right))
    adam = v1.train.AdamOptimizer(1e-3)
    with part("gradient"):
        pairs = [(v1.clip_by_value(gradient, -10.0, 10.0), each) for gradient, each in adam.compute_gradients(loss)]
    with part("optimizer"):
        adam.apply_gradients(pairs)
    part.close(loss)
    return output
