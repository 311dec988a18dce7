"""Networks of unusual form: a taught student, gated experts, capsules, graphs, triplets, a codebook."""

import tensorflow as tf

from kinds.registry import Part, kind

v1 = tf.compat.v1


def _entropy(labels: tf.Tensor, logits: tf.Tensor) -> tf.Tensor:
    return v1.reduce_mean(v1.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))


@kind(tuned=False)
def distillation(part: Part) -> object:
    """A student learns from the labels and from the soft answers of a teacher that is not trained."""
    with part("inference"):
        image = v1.placeholder(tf.float32, [None, 8, 8, 1])
        hidden = v1.nn.relu(part.dense(v1.reshape(image, [-1, 64]), 16, "student/hidden"))
        logits = part.dense(hidden, 10, "student/last")
        probabilities = v1.nn.softmax(logits)
    with part("training_forward"):
        x = v1.nn.relu(part.conv(image, 8, "teacher/conv1", kept="training_forward"))
        x = v1.nn.max_pool2d(x, 2, 2, "SAME")
        x = v1.nn.relu(part.conv(x, 8, "teacher/conv2", kept="training_forward"))
        taught = part.dense(v1.reshape(x, [-1, 128]), 10, "teacher/last", kept="training_forward")
        soft = v1.stop_gradient(v1.nn.softmax(taught / 4.0))
    with part("loss"):
        labels = v1.placeholder(tf.int64, [None])
        hard_loss = _entropy(labels, logits)
        softened = v1.nn.softmax_cross_entropy_with_logits_v2(labels=soft, logits=logits / 4.0)
        soft_loss = v1.reduce_mean(softened) * 16.0
        loss = 0.3 * hard_loss + 0.7 * soft_loss
    with part("metric"):
        accuracy = v1.reduce_mean(v1.cast(v1.equal(v1.argmax(logits, 1), labels), tf.float32))
        teachers = v1.reduce_mean(v1.cast(v1.equal(v1.argmax(taught, 1), labels), tf.float32))
    student = v1.trainable_variables("student")
    part.minimize(v1.train.MomentumOptimizer(0.05, 0.9, use_nesterov=True), loss, part.step(), student)
    with part("save_restore"):
        v1.train.Saver(v1.global_variables("teacher"), name="teacher_saver")
    part.close(loss, hard_loss, soft_loss, accuracy, teachers)
    return probabilities


@kind(tuned=False)
def experts(part: Part) -> object:
    """A mixture of experts: a noisy gate takes the best two while it trains; losses balance their load."""

    def squared_variation(x: tf.Tensor) -> tf.Tensor:
        mean, variance = v1.nn.moments(x, [0])
        return variance / (v1.square(mean) + 1e-10)

    def mixed(x: tf.Tensor, training: bool) -> tuple[tf.Tensor, tf.Tensor]:
        with v1.variable_scope("experts", reuse=v1.AUTO_REUSE):
            scores = v1.matmul(x, part.variable("gate", [8, 4]))
            if training:
                spread = v1.nn.softplus(v1.matmul(x, part.variable("noise", [8, 4], "training_forward"))) + 1e-2
                scores += v1.random_normal(v1.shape(scores)) * spread
            values, chosen = v1.nn.top_k(scores, 2)
            gates = v1.reduce_sum(v1.expand_dims(v1.nn.softmax(values), 2) * v1.one_hot(chosen, 4), 1)
            kernel = part.variable("kernel", [4, 8, 16])
            answers = v1.nn.relu(v1.einsum("bd,edh->beh", x, kernel))
            hidden = v1.reduce_sum(answers * v1.expand_dims(gates, 2), 1)
            return part.dense(hidden, 3, "last"), gates

    with part("training_forward"):
        logits, gates = mixed(v1.placeholder(tf.float32, [None, 8]), True)
    with part("loss"):
        labels = v1.placeholder(tf.int64, [None])
        importance = v1.reduce_sum(gates, 0)
        load = v1.reduce_sum(v1.cast(gates > 0, tf.float32), 0)
        balance = 1e-2 * (squared_variation(importance) + squared_variation(load))
        loss = _entropy(labels, logits) + balance
    part.minimize(v1.train.AdamOptimizer(1e-3), loss, part.step())
    with part("inference"):
        clean, _ = mixed(v1.placeholder(tf.float32, [None, 8]), False)
        probabilities = v1.nn.softmax(clean)
    part.close(loss, balance)
    return probabilities, clean


@kind(tuned=False, seen=True)
def capsules(part: Part) -> object:
    """CapsNet: routing unrolled, a margin loss of lengths, a decoder that rebuilds what the labels say."""

    def squash(x: tf.Tensor) -> tf.Tensor:
        square = v1.reduce_sum(v1.square(x), -1, keepdims=True)
        return square / (1 + square) / v1.sqrt(square + 1e-9) * x

    with part("inference"):
        image = v1.placeholder(tf.float32, [4, 8, 8, 1])
        x = v1.nn.relu(part.conv(image, 8, "conv"))
        primary = squash(v1.reshape(part.conv(x, 8, "primary", stride=4), [4, 8, 1, 4]))
        weights = part.variable("routing", [8, 5, 4, 6])
        votes = v1.reduce_sum(v1.reshape(primary, [4, 8, 1, 4, 1]) * weights, 3)
        fixed = v1.stop_gradient(votes)
        logits = v1.zeros([4, 8, 5])
        for number in range(3):
            coupling = v1.expand_dims(v1.nn.softmax(logits, axis=2), 3)
            capsule = squash(v1.reduce_sum(coupling * (votes if number == 2 else fixed), 1))
            if number < 2:
                logits += v1.reduce_sum(fixed * v1.expand_dims(capsule, 1), -1)
        lengths = v1.sqrt(v1.reduce_sum(v1.square(capsule), -1) + 1e-9)
    with part("loss"):
        labels = v1.placeholder(tf.float32, [4, 5])
    with part("training_forward"):
        masked = v1.reshape(capsule * v1.expand_dims(labels, 2), [4, 30])
        hidden = v1.nn.relu(part.dense(masked, 16, "decoder/hidden", kept="training_forward"))
        rebuilt = v1.nn.sigmoid(part.dense(hidden, 64, "decoder/last", kept="training_forward"))
    with part("loss"):
        most = v1.square(v1.maximum(0.0, 0.9 - lengths))
        least = v1.square(v1.maximum(0.0, lengths - 0.1))
        margin = v1.reduce_mean(v1.reduce_sum(labels * most + 0.5 * (1 - labels) * least, 1))
        error = v1.reduce_mean(v1.square(rebuilt - v1.reshape(image, [4, 64])))
        loss = margin + 0.4 * error
    with part("metric"):
        right = v1.equal(v1.argmax(labels, 1), v1.argmax(lengths, 1))
        accuracy = v1.reduce_mean(v1.cast(right, tf.float32))
    part.minimize(v1.train.AdamOptimizer(), loss, part.step())
    with part("summary"):
        v1.summary.image("rebuilt", v1.reshape(rebuilt, [4, 8, 8, 1]))
    part.close(loss, margin, error, accuracy)
    return lengths


@kind(tuned=False)
def graph_convolution(part: Part) -> object:
    """A graph network: sparse features with dropout, a sparse support, masked loss and accuracy, L2 of one layer."""
    with part("inference"):
        features, support = v1.sparse_placeholder(tf.float32), v1.sparse_placeholder(tf.float32)
        rate = v1.placeholder_with_default(0.0, [])
        count = v1.placeholder(tf.int32, [])
        kept = v1.cast(v1.floor(1 - rate + v1.random_uniform([count])), tf.bool)
        x = v1.sparse_retain(features, kept) * (1.0 / (1 - rate))
        first = part.variable("first", [10, 8])
        hidden = v1.nn.relu(v1.sparse_tensor_dense_matmul(support, v1.sparse_tensor_dense_matmul(x, first)))
        mixed = v1.matmul(v1.nn.dropout(hidden, rate=rate), part.variable("second", [8, 4]))
        outputs = v1.sparse_tensor_dense_matmul(support, mixed)
    with part("training_forward"):
        v1.nn.softmax(outputs)
    with part("loss"):
        labels, mask = v1.placeholder(tf.float32, [None, 4]), v1.placeholder(tf.int32, [None])
        loss = 5e-4 * v1.nn.l2_loss(first)
        entropy = v1.nn.softmax_cross_entropy_with_logits_v2(logits=outputs, labels=labels)
        weights = v1.cast(mask, tf.float32)
        loss += v1.reduce_mean(entropy * (weights / v1.reduce_mean(weights)))
    with part("metric"):
        right = v1.cast(v1.equal(v1.argmax(outputs, 1), v1.argmax(labels, 1)), tf.float32)
        weighing = v1.cast(mask, tf.float32)
        v1.reduce_mean(right * (weighing / v1.reduce_mean(weighing)))
    part.minimize(v1.train.AdamOptimizer(0.01), loss)
    part.close()
    return outputs


@kind(tuned=False, seen=True)
def triplets(part: Part) -> object:
    """Embeddings whose hardest triplets in the batch count; training and evaluation share a network by a flag."""
    with part("inference"):
        image = v1.placeholder(tf.float32, [8, 8, 8, 3])
        x = v1.nn.max_pool2d(v1.nn.relu(part.conv(image, 4, "conv1")), 2, 2, "SAME")
        x = v1.nn.relu(part.conv(x, 8, "conv2", stride=2))
        embeddings = part.dense(v1.reshape(x, [8, 32]), 6, "last")
    with part("summary"):
        norm = v1.reduce_mean(v1.norm(embeddings, axis=1))
    with part("loss"):
        labels = v1.placeholder(tf.int64, [8])
        products = v1.matmul(embeddings, embeddings, transpose_b=True)
        squares = v1.linalg.diag_part(products)
        distances = v1.expand_dims(squares, 0) - 2.0 * products + v1.expand_dims(squares, 1)
        distances = v1.maximum(distances, 0.0)
        zero = v1.cast(v1.equal(distances, 0.0), tf.float32)
        distances = (1.0 - zero) * v1.sqrt(distances + zero * 1e-16)
        same = v1.equal(v1.expand_dims(labels, 0), v1.expand_dims(labels, 1))
        other = v1.logical_not(v1.cast(v1.eye(8), tf.bool))
        positive = v1.cast(v1.logical_and(same, other), tf.float32)
        hardest_positive = v1.reduce_max(positive * distances, 1, keepdims=True)
        negative = v1.cast(v1.logical_not(same), tf.float32)
        farthest = v1.reduce_max(distances, 1, keepdims=True)
        hardest_negative = v1.reduce_min(distances + farthest * (1.0 - negative), 1, keepdims=True)
        loss = v1.reduce_mean(v1.maximum(hardest_positive - hardest_negative + 0.5, 0.0))
    with part("metric"):
        positives, negatives = v1.reduce_mean(hardest_positive), v1.reduce_mean(hardest_negative)
    part.minimize(v1.train.AdamOptimizer(1e-3), loss, part.step())
    part.close(loss, norm, positives, negatives)
    return embeddings


@kind(tuned=False, seen=True, resource=True)
def codebook(part: Part) -> object:
    """VQ-VAE: codes are the nearest of a book whose entries are moving averages; gradients pass straight through."""
    fixed = {"trainable": False}
    with part("inference"):
        image = v1.placeholder(tf.float32, [4, 8, 8, 1])
        code = part.conv(v1.nn.relu(part.conv(image, 8, "down", stride=2)), 4, "code")
        flat = v1.reshape(code, [-1, 4])
        book = part.variable("book", [4, 6], **fixed)
        near = v1.reduce_sum(flat**2, 1, keepdims=True) - 2 * v1.matmul(flat, book)
        near += v1.reduce_sum(book**2, 0, keepdims=True)
        chosen = v1.argmax(-near, 1)
        quantized = v1.reshape(v1.nn.embedding_lookup(v1.transpose(book), chosen), v1.shape(code))
        passed = code + v1.stop_gradient(quantized - code)
        up = v1.nn.conv2d_transpose(passed, part.variable("up", [3, 3, 8, 4]), [4, 8, 8, 8], [1, 2, 2, 1])
        rebuilt = part.conv(v1.nn.relu(up), 1, "last")
    with part("moving_average"):
        counts = part.variable("counts", [6], "moving_average", start=v1.zeros_initializer(), **fixed)
        sums = part.variable("sums", [4, 6], "moving_average", start=v1.zeros_initializer(), **fixed)
        one_hot = v1.one_hot(chosen, 6)
        new_counts = v1.assign_sub(counts, (counts - v1.reduce_sum(one_hot, 0)) * 0.01)
        new_sums = v1.assign_sub(sums, (sums - v1.matmul(flat, one_hot, transpose_a=True)) * 0.01)
        total = v1.reduce_sum(new_counts)
        smooth = (new_counts + 1e-5) / (total + 6e-5) * total
        moved = v1.assign(book, new_sums / v1.reshape(smooth, [1, -1]))
    with part("loss"):
        commitment = v1.reduce_mean((v1.stop_gradient(quantized) - code) ** 2)
        error = v1.reduce_mean((rebuilt - image) ** 2)
        loss = error + 0.25 * commitment
    with part("summary"):
        shares = v1.reduce_mean(v1.one_hot(chosen, 6), 0)
        perplexity = v1.exp(-v1.reduce_sum(shares * v1.log(shares + 1e-10)))
    with v1.control_dependencies([moved]):
        part.minimize(v1.train.AdamOptimizer(1e-3), loss, part.step())
    part.close(loss, perplexity)
    return rebuilt
