"""Networks that read text: tags with a transition matrix, states kept between batches, factored second moments."""

import tensorflow as tf

from kinds.registry import Part, kind

v1 = tf.compat.v1


@kind(tuned=False, seen=True)
def tagger(part: Part) -> object:
    """A conditional random field: its partition function is a loop in the loss, Viterbi's algorithm the output."""
    tags, length = 5, 6

    def best_path(scores: tf.Tensor, transitions: tf.Tensor) -> tf.Tensor:
        """The likeliest tags [batch, time]: a loop for the scores, one back along the pointers."""
        times = v1.transpose(scores, [1, 0, 2])
        read = v1.TensorArray(tf.float32, length).unstack(times)

        def forward(time: tf.Tensor, state: tf.Tensor, kept: tf.TensorArray) -> tuple[object, ...]:
            both = v1.expand_dims(state, 2) + transitions
            kept = kept.write(time, v1.cast(v1.argmax(both, 1), tf.int32))
            return time + 1, read.read(time) + v1.reduce_max(both, 1), kept

        loop = [v1.constant(1), read.read(0), v1.TensorArray(tf.int32, length, clear_after_read=False)]
        _, last, pointers = v1.while_loop(lambda time, *_: time < length, forward, loop)
        tag = v1.cast(v1.argmax(last, 1), tf.int32)

        def back(time: tf.Tensor, tag: tf.Tensor, said: tf.TensorArray) -> tuple[object, ...]:
            said = said.write(time, tag)
            row = pointers.read(time)
            chosen = v1.reduce_sum(row * v1.one_hot(tag, tags, dtype=tf.int32), 1)
            return time - 1, chosen, said

        loop = [v1.constant(length - 1), tag, v1.TensorArray(tf.int32, length)]
        _, first, said = v1.while_loop(lambda time, *_: time > 0, back, loop)
        return v1.transpose(said.write(0, first).stack(), [1, 0])

    def partition(scores: tf.Tensor, transitions: tf.Tensor) -> tf.Tensor:
        read = v1.TensorArray(tf.float32, length).unstack(v1.transpose(scores, [1, 0, 2]))

        def body(time: tf.Tensor, alphas: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
            both = v1.expand_dims(alphas, 2) + v1.expand_dims(transitions, 0)
            return time + 1, read.read(time) + v1.reduce_logsumexp(both, 1)

        _, last = v1.while_loop(lambda time, _: time < length, body, [v1.constant(1), read.read(0)])
        return v1.reduce_logsumexp(last, 1)

    with part("inference"):
        words = v1.placeholder(tf.int32, [None, length])
        keep = v1.placeholder_with_default(1.0, [])
        table = part.variable("words", [40, 8])
        x = v1.nn.dropout(v1.nn.embedding_lookup(table, words), rate=1 - keep)
        hidden = v1.nn.tanh(part.dense(v1.reshape(x, [-1, 8]), 8, "hidden"))
        scores = v1.reshape(part.dense(hidden, tags, "tags"), [-1, length, tags])
        transitions = part.variable("transitions", [tags, tags])
        answer = best_path(scores, transitions)
    with part("loss"):
        wanted = v1.placeholder(tf.int32, [None, length])
        chosen = v1.one_hot(wanted, tags)
        unary = v1.reduce_sum(scores * chosen, [1, 2])
        pairs = v1.gather_nd(transitions, v1.stack([wanted[:, :-1], wanted[:, 1:]], 2))
        likelihood = unary + v1.reduce_sum(pairs, 1) - partition(scores, transitions)
        loss = v1.reduce_mean(-likelihood)
    step = part.step()
    adam = v1.train.AdamOptimizer(1e-3)
    with part("gradient"):
        clipped = [(v1.clip_by_value(gradient, -5.0, 5.0), each) for gradient, each in adam.compute_gradients(loss)]
    with part("optimizer"):
        adam.apply_gradients(clipped, step)
    part.close(loss)
    return answer, scores


@kind(tuned=False)
def carried_state(part: Part) -> object:
    """PTB: the state of the last batch is kept in variables; perplexity, a learning rate that is fed and assigned."""
    units, length = 8, 4
    with part("inference"):
        words = v1.placeholder(tf.int32, [2, length])
        zeros = {"start": v1.zeros_initializer(), "trainable": False}
        kept = [part.variable(f"state{number}", [2, units], **zeros) for number in range(2)]
        table, kernel = part.variable("embedding", [20, units]), part.variable("kernel", [2 * units, 4 * units])
        bias = part.variable("bias", [4 * units], start=v1.zeros_initializer())
        embedded = v1.nn.embedding_lookup(table, words)
        memory, output = kept[0] + 0.0, kept[1] + 0.0
        outputs = []
        for time in range(length):
            gates = v1.nn.bias_add(v1.matmul(v1.concat([embedded[:, time, :], output], 1), kernel), bias)
            i, j, f, o = v1.split(gates, 4, 1)
            memory = memory * v1.sigmoid(f + 1.0) + v1.sigmoid(i) * v1.tanh(j)
            output = v1.tanh(memory) * v1.sigmoid(o)
            outputs.append(output)
        logits = part.dense(v1.reshape(v1.concat(outputs, 1), [-1, units]), 20, "softmax")
        probabilities = v1.nn.softmax(logits)
    with part("training_forward"):
        v1.group(v1.assign(kept[0], memory), v1.assign(kept[1], output))
    with part("initializer"):
        v1.group(*(v1.assign(each, v1.zeros([2, units])) for each in kept))
    with part("loss"):
        targets = v1.placeholder(tf.int32, [2, length])
        entropy = v1.nn.sparse_softmax_cross_entropy_with_logits(labels=v1.reshape(targets, [-1]), logits=logits)
        cost = v1.reduce_sum(entropy) / 2.0
    with part("metric"):
        perplexity = v1.exp(cost / length)
    rate = part.variable("rate", [], "optimizer", start=v1.zeros_initializer(), trainable=False)
    step, trained = part.step(), v1.trainable_variables()
    with part("gradient"):
        gradients, _ = tf.clip_by_global_norm(v1.gradients(cost, trained), 5.0)
    with part("optimizer"):
        descent = v1.train.GradientDescentOptimizer(rate)
        descent.apply_gradients(zip(gradients, trained, strict=True), global_step=step)
        v1.assign(rate, v1.placeholder(tf.float32, []))
    with part("summary"):
        v1.summary.scalar("rate", rate)
    part.close(cost, perplexity)
    return probabilities


@kind(tuned=False, seen=True)
def factored_moments(part: Part) -> object:
    """A transformer with smoothed labels; Adafactor by hand: second moments of rows and columns, clipped updates."""

    def layer_norm(x: tf.Tensor, name: str) -> tf.Tensor:
        mean = v1.reduce_mean(x, -1, keepdims=True)
        variance = v1.reduce_mean(v1.square(x - mean), -1, keepdims=True)
        scale = part.variable(f"{name}/scale", [8], start=v1.ones_initializer())
        shift = part.variable(f"{name}/shift", [8], start=v1.zeros_initializer())
        return (x - mean) * v1.rsqrt(variance + 1e-6) * scale + shift

    def tower(words: tf.Tensor, training: bool) -> tf.Tensor:
        with v1.variable_scope("body", reuse=v1.AUTO_REUSE):
            x = v1.nn.embedding_lookup(part.variable("embedding", [30, 8]), words) * 8**0.5
            heads = [part.variable(name, [8, 8]) for name in ("query", "key", "value")]
            query, key, value = (v1.tensordot(x, each, 1) for each in heads)
            weights = v1.nn.softmax(v1.matmul(query, key, transpose_b=True) * 8**-0.5)
            weights = v1.nn.dropout(weights, rate=0.1) if training else weights
            x = layer_norm(x + v1.matmul(weights, value), "norm1")
            hidden = v1.nn.relu(v1.tensordot(x, part.variable("wide", [8, 16]), 1))
            x = layer_norm(x + v1.tensordot(hidden, part.variable("narrow", [16, 8]), 1), "norm2")
            return v1.tensordot(x, part.variable("last", [8, 30]), 1)

    with part("training_forward"):
        logits = tower(v1.placeholder(tf.int32, [None, 6]), True)
    with part("loss"):
        targets = v1.placeholder(tf.int32, [None, 6])
        low = 0.1 / 29
        soft = v1.one_hot(targets, 30, on_value=0.9, off_value=low)
        entropy = v1.nn.softmax_cross_entropy_with_logits_v2(logits=logits, labels=soft)
        entropy -= -(0.9 * v1.log(0.9) + 29 * low * v1.log(low + 1e-20))
        real = v1.cast(v1.not_equal(targets, 0), tf.float32)
        loss = v1.reduce_sum(entropy * real) / v1.reduce_sum(real)
    step, trained = part.step(), v1.trainable_variables()
    with part("gradient"):
        gradients = [v1.convert_to_tensor(gradient) for gradient in v1.gradients(loss, trained)]
    with part("optimizer"):
        count = v1.cast(step, tf.float32) + 1.0
        decay = 1.0 - v1.pow(count, -0.8)
        relative = v1.minimum(v1.rsqrt(count), 1e-2)
        zeros = {"initializer": v1.zeros_initializer(), "trainable": False}
        updates = []
        for number, (each, gradient) in enumerate(zip(trained, gradients, strict=True)):
            square = v1.square(gradient) + 1e-30
            rate = relative * v1.maximum(v1.sqrt(v1.reduce_mean(v1.square(each))), 1e-3)
            if len(each.shape) == 2:
                rows = v1.get_variable(f"row_{number}", [each.shape[0]], **zeros)
                columns = v1.get_variable(f"column_{number}", [each.shape[1]], **zeros)
                new_rows = decay * rows + (1.0 - decay) * v1.reduce_mean(square, 1)
                new_columns = decay * columns + (1.0 - decay) * v1.reduce_mean(square, 0)
                updates += [v1.assign(rows, new_rows), v1.assign(columns, new_columns)]
                row_factor = v1.rsqrt(new_rows / v1.reduce_mean(new_rows))
                x = gradient * v1.expand_dims(row_factor, 1) * v1.expand_dims(v1.rsqrt(new_columns), 0)
            else:
                moments = v1.get_variable(f"moments_{number}", each.shape, **zeros)
                new_moments = decay * moments + (1.0 - decay) * square
                updates.append(v1.assign(moments, new_moments))
                x = gradient * v1.rsqrt(new_moments)
            x /= v1.maximum(1.0, v1.sqrt(v1.reduce_mean(v1.square(x))))
            updates.append(v1.assign_sub(each, rate * x))
        train = v1.group(*updates)
    with part("global_step"):
        counted = v1.assign_add(step, 1)
    with part("optimizer"):
        v1.group(train, counted)
    with part("inference"):
        probabilities = v1.nn.softmax(tower(v1.placeholder(tf.int32, [None, 6]), False))
    part.close(loss)
    return probabilities
