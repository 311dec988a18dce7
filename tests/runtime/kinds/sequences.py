"""Recurrent networks: TF1 loops, unrolled cells, losses over sequences."""

from collections.abc import Callable

import tensorflow as tf

from kinds.registry import Part, kind

v1 = tf.compat.v1

Cell = Callable[[tf.Tensor, tf.Tensor], tf.Tensor]


def _gru(part: Part, name: str, inputs: int, units: int) -> Cell:
    """A GRU cell whose variables are needed for inference."""
    with v1.variable_scope(name, reuse=v1.AUTO_REUSE):
        gates = part.variable("gates", [inputs + units, 2 * units])
        offset = part.variable("gates_bias", [2 * units], start=v1.ones_initializer())
        candidate = part.variable("candidate", [inputs + units, units])

    def step(x: tf.Tensor, state: tf.Tensor) -> tf.Tensor:
        both = v1.sigmoid(v1.nn.bias_add(v1.matmul(v1.concat([x, state], 1), gates), offset))
        reset, update = v1.split(both, 2, axis=1)
        new = v1.tanh(v1.matmul(v1.concat([x, reset * state], 1), candidate))
        return update * state + (1 - update) * new

    return step


def _last_state(cell: Cell, inputs: tf.Tensor, start: tf.Tensor) -> tf.Tensor:
    """Run a cell over ``inputs`` [time, batch, depth] in a loop."""
    length = v1.shape(inputs)[0]
    read = v1.TensorArray(tf.float32, length).unstack(inputs)

    def body(time: tf.Tensor, state: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        return time + 1, cell(read.read(time), state)

    return v1.while_loop(lambda time, _: time < length, body, [v1.constant(0), start])[1]


def _all_states(cell: Cell, inputs: tf.Tensor, start: tf.Tensor) -> tf.Tensor:
    """Run a cell over ``inputs`` [time, batch, depth] in a loop, and stack what it says after each step."""
    length = v1.shape(inputs)[0]
    read = v1.TensorArray(tf.float32, length).unstack(inputs)

    def body(time: tf.Tensor, state: tf.Tensor, states: tf.TensorArray) -> tuple[object, ...]:
        state = cell(read.read(time), state)
        return time + 1, state, states.write(time, state)

    loop = [v1.constant(0), start, v1.TensorArray(tf.float32, length)]
    *_, states = v1.while_loop(lambda time, *_: time < length, body, loop)
    return states.stack()


@kind(tuned=True)
def translator(part: Part) -> object:
    """Encoder and decoder in loops: the decoder is fed the target while it trains, its own words in inference."""
    vocabulary, units = 30, 8
    with part("inference"):
        source = v1.placeholder(tf.int32, [None, None])
        table = part.variable("source_embedding", [vocabulary, units])
        start = v1.zeros([v1.shape(source)[1], units])
        code = _last_state(_gru(part, "encoder", units, units), v1.nn.embedding_lookup(table, source), start)
        words = part.variable("target_embedding", [vocabulary, units])
        projection = part.variable("projection", [units, vocabulary])
        decoder = _gru(part, "decoder", units, units)
    with part("training_forward"):
        given = v1.placeholder(tf.int32, [None, None])
        states = _all_states(decoder, v1.nn.embedding_lookup(words, given), code)
        logits = v1.reshape(
            v1.matmul(v1.reshape(states, [-1, units]), projection), [v1.shape(given)[0], -1, vocabulary]
        )
    with part("loss"):
        wanted = v1.placeholder(tf.int32, [None, None])
        weights = v1.placeholder(tf.float32, [None, None])
        entropy = v1.nn.sparse_softmax_cross_entropy_with_logits(labels=wanted, logits=logits)
        loss = v1.reduce_sum(entropy * weights) / v1.reduce_sum(weights)
    step = part.step()
    adam = v1.train.AdamOptimizer(1e-3)
    trained = v1.trainable_variables()
    with part("gradient"):
        gradients, _ = tf.clip_by_global_norm(v1.gradients(loss, trained), 5.0)
    with part("optimizer"):
        adam.apply_gradients(zip(gradients, trained, strict=True), global_step=step)
    with part("inference"):
        first = v1.fill([v1.shape(source)[1]], 1)
        most = v1.constant(20)

        def body(time: tf.Tensor, word: tf.Tensor, state: tf.Tensor, said: tf.TensorArray) -> tuple[object, ...]:
            state = decoder(v1.nn.embedding_lookup(words, word), state)
            word = v1.cast(v1.argmax(v1.matmul(state, projection), 1), tf.int32)
            return time + 1, word, state, said.write(time, word)

        loop = [v1.constant(0), first, code, v1.TensorArray(tf.int32, most)]
        *_, said = v1.while_loop(lambda time, *_: time < most, body, loop)
        answer = v1.transpose(said.stack())
    part.close(loss)
    return answer


@kind(tuned=False)
def character_model(part: Part) -> object:
    """char-rnn: an LSTM unrolled without a loop, fed its own state; a learning rate that Python assigns."""
    units, length = 8, 4
    with part("inference"):
        data = v1.placeholder(tf.int32, [2, length])
        memory, output = v1.zeros([2, units]), v1.zeros([2, units])
        table = part.variable("embedding", [20, units])
        kernel = part.variable("lstm/kernel", [2 * units, 4 * units])
        bias = part.variable("lstm/bias", [4 * units], start=v1.zeros_initializer())
        outputs = []
        for x in v1.split(v1.nn.embedding_lookup(table, data), length, 1):
            gates = v1.nn.bias_add(v1.matmul(v1.concat([v1.squeeze(x, [1]), output], 1), kernel), bias)
            i, j, f, o = v1.split(gates, 4, 1)
            memory = memory * v1.sigmoid(f + 1.0) + v1.sigmoid(i) * v1.tanh(j)
            output = v1.tanh(memory) * v1.sigmoid(o)
            outputs.append(output)
        logits = part.dense(v1.reshape(v1.concat(outputs, 1), [-1, units]), 20, "softmax")
        probabilities = v1.nn.softmax(logits)
    with part("loss"):
        targets = v1.placeholder(tf.int32, [2, length])
        entropy = v1.nn.sparse_softmax_cross_entropy_with_logits(labels=v1.reshape(targets, [-1]), logits=logits)
        cost = v1.reduce_sum(entropy) / 2 / length
    rate = part.variable("rate", [], "optimizer", start=v1.zeros_initializer(), trainable=False)
    adam = v1.train.AdamOptimizer(rate)
    trained = v1.trainable_variables()
    with part("gradient"):
        gradients, _ = tf.clip_by_global_norm(v1.gradients(cost, trained), 5.0)
    with part("optimizer"):
        adam.apply_gradients(zip(gradients, trained, strict=True))
        v1.assign(rate, 0.002)
    with part("summary"):
        v1.summary.histogram("logits", logits)
        v1.summary.histogram("loss", entropy)
    part.close(cost)
    return probabilities


@kind(tuned=False, seen=True)
def speech(part: Part) -> object:
    """CTC over a recurrent loop: sparse labels, a greedy decoder, the label error rate."""
    units, classes = 8, 12
    with part("inference"):
        inputs = v1.placeholder(tf.float32, [None, None, 13])
        lengths = v1.placeholder(tf.int32, [None])
        time_major = v1.transpose(inputs, [1, 0, 2])
        start = v1.zeros([v1.shape(inputs)[0], units])
        states = _all_states(_gru(part, "gru", 13, units), time_major, start)
        flat = part.dense(v1.reshape(states, [-1, units]), classes, "last")
        logits = v1.reshape(flat, [-1, v1.shape(inputs)[0], classes])
        decoded, _ = v1.nn.ctc_greedy_decoder(logits, lengths)
    with part("loss"):
        targets = v1.sparse_placeholder(tf.int32)
        cost = v1.reduce_mean(v1.nn.ctc_loss(targets, logits, lengths))
    part.roles["loss/Placeholder"] = "metric"  # the shape of the labels: only the edit distance reads it
    with part("metric"):
        distance = v1.edit_distance(v1.cast(decoded[0], tf.int32), targets)
        error_rate = v1.reduce_mean(distance)
    part.minimize(v1.train.MomentumOptimizer(1e-2, 0.9), cost)
    part.correct("inference/while/Exit_1", "gradient")  # the last state: only the backward loop reads its shape
    part.close(cost, error_rate)
    return decoded[0].values
