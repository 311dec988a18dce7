"""Ways to apply gradients that are not one ``minimize``."""

import tensorflow as tf

from kinds.registry import Part, kind

v1 = tf.compat.v1


@kind(tuned=True)
def manual_descent(part: Part) -> object:
    """``tf.gradients`` and assignments: plain descent for one layer, momentum with own slots for the other."""
    with part("inference"):
        x = v1.placeholder(tf.float32, [None, 8])
        hidden = v1.nn.tanh(part.dense(x, 16, "hidden"))
        logits = part.dense(hidden, 4, "last")
        probabilities = v1.nn.softmax(logits)
    with part("loss"):
        labels = v1.placeholder(tf.float32, [None, 4])
        loss = -v1.reduce_mean(v1.reduce_sum(labels * v1.log(probabilities), 1))
    trained = v1.trainable_variables()
    with part("gradient"):
        gradients = v1.gradients(loss, trained)
    with part("optimizer"):
        rate = v1.placeholder(tf.float32, [])
        updates = []
        for each, gradient in zip(trained[:2], gradients[:2], strict=True):
            updates.append(v1.assign_sub(each, rate * gradient))
        for each, gradient in zip(trained[2:], gradients[2:], strict=True):
            speed = v1.get_variable(f"{each.op.name}_speed", each.shape, initializer=v1.zeros_initializer())
            moved = 0.9 * speed - rate * gradient
            updates += [v1.assign(speed, moved), v1.assign(each, each + moved)]
        v1.group(*updates)
    with part("metric"):
        right = v1.equal(v1.argmax(probabilities, 1), v1.argmax(labels, 1))
        accuracy = v1.reduce_mean(v1.cast(right, tf.float32))
    part.close(loss, accuracy)
    return probabilities


@kind(tuned=True)
def accumulation(part: Part) -> object:
    """Gradients of several batches are summed up in variables; one op clears these, one applies their mean."""
    with part("inference"):
        x = v1.placeholder(tf.float32, [None, 8, 8, 1])
        hidden = v1.nn.relu(part.conv(x, 4, "conv"))
        score = part.dense(v1.reshape(hidden, [-1, 256]), 1, "last")
        probability = v1.nn.sigmoid(score)
    with part("loss"):
        y = v1.placeholder(tf.float32, [None, 1])
        loss = v1.reduce_mean(v1.nn.sigmoid_cross_entropy_with_logits(labels=y, logits=score))
    adam = v1.train.AdamOptimizer(1e-3)
    trained = v1.trainable_variables()
    with part("initializer"):
        zeros = [v1.zeros_like(each.initialized_value()) for each in trained]
    with part("optimizer"):
        sums = [v1.Variable(each, trainable=False) for each in zeros]
        v1.group(*(each.assign(v1.zeros_like(each)) for each in sums))
        count = v1.Variable(0.0, trainable=False)
    with part("gradient"):
        pairs = adam.compute_gradients(loss, trained)
    with part("optimizer"):
        adds = [total.assign_add(gradient) for total, (gradient, _) in zip(sums, pairs, strict=True)]
        v1.group(*adds, count.assign_add(1.0))
        step = part.step()
        adam.apply_gradients([(total / count, each) for total, each in zip(sums, trained, strict=True)], step)
    part.close(loss)
    return probability


@kind(tuned=False, resource=True)
def keras_updates(part: Part) -> object:
    """Keras 2 on TF1: optimizers made of single ops, sample weights, a learning phase, a metric as a mean."""
    with part("inference"):
        x = v1.placeholder(tf.float32, [None, 20])
        phase = v1.placeholder_with_default(False, [])
        hidden = v1.nn.relu(part.dense(x, 16, "dense_1"))
        dropped = v1.cond(phase, lambda: v1.nn.dropout(hidden, rate=0.5), lambda: v1.identity(hidden))
        output = v1.nn.softmax(part.dense(dropped, 3, "dense_2"))
    with part("loss"):
        target = v1.placeholder(tf.float32, [None, None])
        weights = v1.placeholder(tf.float32, [None])
        scaled = output / v1.reduce_sum(output, 1, keepdims=True)
        entropy = -v1.reduce_sum(target * v1.log(v1.clip_by_value(scaled, 1e-7, 1 - 1e-7)), 1)
        weighted = entropy * weights / v1.reduce_mean(v1.cast(v1.not_equal(weights, 0.0), tf.float32))
        loss = 1.0 * v1.reduce_mean(weighted)
    with part("metric"):
        equal = v1.equal(v1.argmax(target, -1), v1.argmax(output, -1))
        v1.reduce_mean(v1.cast(equal, tf.float32))
    trained = v1.trainable_variables()
    scalars = {
        name: part.variable(f"Adam/{name}", [], "optimizer", start=v1.constant_initializer(value), trainable=False)
        for name, value in (("lr", 1e-3), ("beta_1", 0.9), ("beta_2", 0.999), ("decay", 0.0))
    }
    iterations = part.variable(
        "Adam/iterations", [], "global_step", start=v1.zeros_initializer(), trainable=False, dtype=tf.int64
    )
    with part("gradient"):
        gradients = v1.gradients(loss, trained)
    with part("global_step"):
        updates = [v1.assign_add(iterations, 1)]
    with part("optimizer"), v1.control_dependencies(updates):
        count = v1.cast(iterations, tf.float32)
        rate = scalars["lr"] * (1.0 / (1.0 + scalars["decay"] * count))
        one, two = scalars["beta_1"], scalars["beta_2"]
        rate = rate * (v1.sqrt(1.0 - v1.pow(two, count + 1)) / (1.0 - v1.pow(one, count + 1)))
        for number, (each, gradient) in enumerate(zip(trained, gradients, strict=True)):
            zeros = {"initializer": v1.zeros_initializer(), "trainable": False}
            m = v1.get_variable(f"Adam/m_{number}", each.shape, **zeros)
            v = v1.get_variable(f"Adam/v_{number}", each.shape, **zeros)
            new_m = one * m + (1.0 - one) * gradient
            new_v = two * v + (1.0 - two) * v1.square(gradient)
            moved = each - rate * new_m / (v1.sqrt(new_v) + 1e-7)
            updates += [v1.assign(m, new_m), v1.assign(v, new_v), v1.assign(each, moved)]
    with part("optimizer"):
        v1.group(*updates)
    part.close()
    return output


@kind(tuned=True)
def many_towers(part: Part) -> object:
    """The CIFAR-10 example on two devices: a tower each, averaged gradients, averaged weights and losses."""

    def tower(x: tf.Tensor) -> tf.Tensor:
        with v1.variable_scope("net", reuse=v1.AUTO_REUSE):
            x = v1.nn.max_pool2d(v1.nn.relu(part.conv(x, 4, "conv")), 2, 2, "SAME")
            return part.dense(v1.reshape(x, [-1, 64]), 10, "last")

    with part("training_forward"):
        images = v1.placeholder(tf.float32, [8, 8, 8, 3])
        halves = v1.split(images, 2)
    with part("loss"):
        labels = v1.placeholder(tf.int64, [8])
        label_halves = v1.split(labels, 2)
    step = part.step()
    with part("optimizer"):
        rate = v1.train.exponential_decay(0.1, step, 1000, 0.1, staircase=True)
    optimizer = v1.train.GradientDescentOptimizer(rate)
    towers, losses = [], []
    for number in range(2):
        with v1.device(f"/gpu:{number}"):
            with part("training_forward"):
                logits = tower(halves[number])
            with part("loss"):
                entropy = v1.nn.sparse_softmax_cross_entropy_with_logits(labels=label_halves[number], logits=logits)
                decay = 1e-3 * v1.nn.l2_loss(v1.trainable_variables("net/last/kernel")[0])
                losses.append(v1.add_n([v1.reduce_mean(entropy), decay]))
            with part("moving_average"):
                averages = v1.train.ExponentialMovingAverage(0.9, name=f"average{number}")
                averages.apply([losses[-1]])
            with part("gradient"):
                towers.append(optimizer.compute_gradients(losses[-1]))
    with part("gradient"):
        pairs = []
        for both in zip(*towers, strict=True):
            stacked = v1.concat([v1.expand_dims(gradient, 0) for gradient, _ in both], 0)
            pairs.append((v1.reduce_mean(stacked, 0), both[0][1]))
    with part("summary"):
        for gradient, each in pairs:
            v1.summary.histogram(f"{each.op.name}/gradient", gradient)
    with part("optimizer"):
        train = optimizer.apply_gradients(pairs, global_step=step)
    with part("moving_average"):
        averaged = v1.train.ExponentialMovingAverage(0.99, step).apply(v1.trainable_variables())
    with part("optimizer"):
        v1.group(train, averaged)
    with part("inference"):
        prediction = v1.nn.softmax(tower(v1.placeholder(tf.float32, [None, 8, 8, 3])))
    part.close(*losses)
    return prediction


@kind(tuned=False)
def decoupled_decay(part: Part) -> object:
    """BERT: a transformer layer, warm-up, clipped gradients, Adam with decoupled weight decay made of assignments."""

    def layer_norm(x: tf.Tensor, name: str) -> tf.Tensor:
        beta = part.variable(f"{name}/beta", [x.shape[-1]], start=v1.zeros_initializer())
        gamma = part.variable(f"{name}/gamma", [x.shape[-1]], start=v1.ones_initializer())
        mean, variance = v1.nn.moments(x, [-1], keep_dims=True)
        return v1.nn.batch_normalization(x, mean, variance, beta, gamma, 1e-12)

    def project(x: tf.Tensor, units: int, name: str) -> tf.Tensor:
        flat = part.dense(v1.reshape(x, [-1, x.shape[-1]]), units, name)
        return v1.reshape(flat, [-1, 6, units])

    with part("inference"):
        ids, mask = v1.placeholder(tf.int32, [None, 6]), v1.placeholder(tf.int32, [None, 6])
        table, places = part.variable("embedding", [40, 8]), part.variable("positions", [6, 8])
        x = layer_norm(v1.gather(table, ids) + v1.expand_dims(places, 0), "embedding_norm")
        query, key, value = (project(x, 8, name) for name in ("query", "key", "value"))
        scores = v1.matmul(query, key, transpose_b=True) * (8**-0.5)
        scores += (1.0 - v1.cast(v1.expand_dims(mask, 1), tf.float32)) * -10000.0
        x = layer_norm(x + project(v1.matmul(v1.nn.softmax(scores), value), 8, "attention"), "attention_norm")
        wide = project(x, 16, "wide")
        gelu = wide * 0.5 * (1.0 + v1.erf(wide / 2.0**0.5))
        x = layer_norm(x + project(gelu, 8, "narrow"), "output_norm")
        pooled = v1.tanh(part.dense(v1.squeeze(x[:, 0:1, :], 1), 8, "pooler"))
        logits = part.dense(pooled, 2, "classifier")
        probabilities = v1.nn.softmax(logits)
    with part("loss"):
        labels = v1.placeholder(tf.int32, [None])
        one_hot = v1.one_hot(labels, 2, dtype=tf.float32)
        each_loss = -v1.reduce_sum(one_hot * v1.nn.log_softmax(logits), axis=-1)
        loss = v1.reduce_mean(each_loss)
    step = part.step()
    with part("optimizer"):
        rate = v1.train.polynomial_decay(5e-5, step, 1000, end_learning_rate=0.0)
        done = v1.cast(step, tf.float32)
        warm = v1.cast(done < 100.0, tf.float32)
        rate = (1.0 - warm) * rate + warm * (5e-5 * (done / 100.0))
    trained = v1.trainable_variables()
    with part("gradient"):
        gradients, _ = tf.clip_by_global_norm(v1.gradients(loss, trained), 1.0)
    with part("optimizer"):
        updates = []
        for each, gradient in zip(trained, gradients, strict=True):
            zeros = {"initializer": v1.zeros_initializer(), "trainable": False}
            m = v1.get_variable(f"{each.op.name}/adam_m", each.shape, **zeros)
            v = v1.get_variable(f"{each.op.name}/adam_v", each.shape, **zeros)
            new_m = 0.9 * m + 0.1 * v1.convert_to_tensor(gradient)
            new_v = 0.999 * v + 0.001 * v1.square(v1.convert_to_tensor(gradient))
            update = new_m / (v1.sqrt(new_v) + 1e-6) + 0.01 * each
            updates += [v1.assign(each, each - rate * update), v1.assign(m, new_m), v1.assign(v, new_v)]
        train = v1.group(*updates)
    with part("global_step"):
        counted = step.assign(step + 1)
    with part("optimizer"):
        v1.group(train, counted)
    part.close(loss)
    return probabilities
