"""Networks that learn embeddings: sampled losses, pairs, sparse features, centres of classes."""

import numpy as np
import tensorflow as tf

from kinds.registry import Part, kind

v1 = tf.compat.v1


@tf.RegisterGradient("ReversedForDomains")
def _reversed(_: tf.Operation, gradient: tf.Tensor) -> tf.Tensor:
    return -0.3 * gradient


@kind(tuned=True)
def word_vectors(part: Part) -> object:
    """word2vec: a noise-contrastive loss with its own weights; the output compares constant words with all others."""
    with part("training_forward"):
        words = v1.placeholder(tf.int32, [16])
        embeddings = part.variable("embeddings", [100, 8], start=v1.random_uniform_initializer(-1, 1))
        embedded = v1.nn.embedding_lookup(embeddings, words)
        weights = part.variable("nce_weights", [100, 8], "training_forward")
        biases = part.variable("nce_biases", [100], "training_forward", start=v1.zeros_initializer())
    with part("loss"):
        labels = v1.placeholder(tf.int32, [16, 1])
        loss = v1.reduce_mean(v1.nn.nce_loss(weights, biases, labels, embedded, num_sampled=5, num_classes=100))
    part.minimize(v1.train.GradientDescentOptimizer(1.0), loss)
    with part("inference"):
        chosen = v1.constant(np.arange(4), tf.int32)
        normalized = embeddings / v1.sqrt(v1.reduce_sum(v1.square(embeddings), 1, keepdims=True))
        similarity = v1.matmul(v1.nn.embedding_lookup(normalized, chosen), normalized, transpose_b=True)
    part.close(loss)
    return similarity, normalized


@kind(tuned=True, resource=True)
def siamese(part: Part) -> object:
    """One network on two images, judged by their distance; either embedding is an output."""

    def embed(x: tf.Tensor) -> tf.Tensor:
        with v1.variable_scope("net", reuse=v1.AUTO_REUSE):
            x = v1.nn.max_pool2d(v1.nn.relu(part.conv(x, 4, "conv1")), 2, 2, "SAME")
            x = v1.nn.relu(part.conv(x, 8, "conv2"))
            return v1.nn.l2_normalize(part.dense(v1.reshape(x, [-1, 128]), 4, "last"), 1)

    with part("inference"):
        left = embed(v1.placeholder(tf.float32, [None, 8, 8, 1]))
    with part("training_forward"):
        right = embed(v1.placeholder(tf.float32, [None, 8, 8, 1]))
    with part("loss"):
        similar = v1.placeholder(tf.float32, [None])
        square = v1.reduce_sum(v1.square(left - right), 1)
        distance = v1.sqrt(square + 1e-6)
        near, far = similar * square, (1 - similar) * v1.square(v1.maximum(0.5 - distance, 0))
        loss = v1.reduce_mean(near + far) / 2
    part.minimize(v1.train.AdamOptimizer(1e-3), loss, part.step())
    part.close(loss)
    return left, right


@kind(tuned=False, seen=True)
def wide_and_deep(part: Part) -> object:
    """An estimator that trains: records, sparse weights with FTRL, a deep part with Adagrad, streaming metrics."""
    spec = {
        "city": v1.VarLenFeature(tf.string),
        "age": v1.FixedLenFeature([1], tf.float32),
        "label": v1.FixedLenFeature([1], tf.float32),
    }
    with part("input_pipeline"):
        files = v1.constant(["train.tfrecord"])
        data = tf.data.TFRecordDataset(files).shuffle(10).repeat().batch(4)
        data = data.map(lambda rows: v1.parse_example(rows, spec))
        features = v1.data.make_one_shot_iterator(data).get_next()
    part.correct("DeserializeSparse", "inference")
    with part("inference"):
        buckets = v1.string_to_hash_bucket_fast(features["city"].values, 20)
        city = tf.SparseTensor(features["city"].indices, buckets, features["city"].dense_shape)
        linear = part.variable("linear/city", [20, 1], start=v1.zeros_initializer())
        bias = part.variable("linear/bias", [1], start=v1.zeros_initializer())
        wide = v1.nn.safe_embedding_lookup_sparse([linear], city, combiner="sum") + bias
        table = part.variable("deep/city", [20, 4])
        deep = v1.concat([v1.nn.safe_embedding_lookup_sparse([table], city), features["age"]], 1)
        deep = part.dense(v1.nn.relu(part.dense(deep, 8, "deep/hidden")), 1, "deep/last")
        logits = v1.reshape(wide, [-1, 1]) + deep
        probabilities = v1.nn.sigmoid(logits)
    with part("loss"):
        labels = features["label"]
        entropy = v1.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits)
        loss = v1.reduce_mean(entropy)
    with part("metric"):
        v1.metrics.auc(labels, probabilities, num_thresholds=20)
        v1.metrics.mean(entropy)
    step = part.step()
    part.minimize(v1.train.FtrlOptimizer(0.05), loss, variables=v1.trainable_variables("linear"))
    part.minimize(v1.train.AdagradOptimizer(0.05), loss, variables=v1.trainable_variables("deep"))
    with part("global_step"):
        v1.assign_add(step, 1)
    with part("initializer"):
        v1.report_uninitialized_variables().mark_used()
    part.close(loss, local=True)
    return probabilities


@kind(tuned=False)
def face_embedding(part: Part) -> object:
    """facenet: softmax and centre loss; the centres of the classes move towards the embeddings by scatter updates."""
    with part("inference"):
        images = v1.placeholder(tf.float32, [None, 8, 8, 3])
        training = v1.placeholder(tf.bool, [])
        x = v1.nn.relu(part.conv(images, 4, "conv1", stride=2))
        x = v1.nn.relu(part.conv(x, 8, "conv2", stride=2))
        x = v1.reshape(x, [-1, 32])
        x = v1.cond(training, lambda: v1.nn.dropout(x, rate=0.2), lambda: x)
        prelogits = part.dense(x, 4, "bottleneck")
        embeddings = v1.nn.l2_normalize(prelogits, 1)
    with part("training_forward"):
        logits = part.dense(prelogits, 10, "logits", kept="training_forward")
    with part("loss"):
        labels = v1.placeholder(tf.int64, [None])
    with part("moving_average"):
        start = v1.zeros_initializer()
        centers = v1.get_variable("centers", [10, 4], initializer=start, trainable=False)
    with part("loss"):
        own = v1.gather(centers, labels)
    with part("moving_average"):
        moved = v1.scatter_sub(centers, labels, 0.05 * (own - prelogits))
    with part("loss"):
        with v1.control_dependencies([moved]):
            center_loss = v1.reduce_mean(v1.square(prelogits - own))
        entropy = v1.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
        decay = v1.add_n([5e-4 * v1.nn.l2_loss(each) for each in v1.trainable_variables() if "kernel" in each.op.name])
        total = v1.add_n([v1.reduce_mean(entropy), 1e-2 * center_loss, decay])
    step = part.step()
    with part("optimizer"):
        rate = v1.train.exponential_decay(v1.placeholder(tf.float32, []), step, 1000, 0.9, staircase=True)
    with part("moving_average"):
        losses = v1.train.ExponentialMovingAverage(0.9, name="losses").apply([center_loss, total])
    adagrad = v1.train.AdagradOptimizer(rate)
    with part("gradient"), v1.control_dependencies([losses]):
        pairs = adagrad.compute_gradients(total)
    with part("optimizer"):
        train = adagrad.apply_gradients(pairs, global_step=step)
    with part("moving_average"):
        v1.train.ExponentialMovingAverage(0.999, step, name="weights").apply(v1.trainable_variables())
    with part("optimizer"):
        v1.group(train)
    part.close(total)
    return embeddings, prelogits


@kind(tuned=False, seen=True)
def factorization(part: Part) -> object:
    """Ratings from the product of two embeddings and biases, with their L2 in the loss, and the error as a metric."""
    with part("inference"):
        users, items = v1.placeholder(tf.int32, [None]), v1.placeholder(tf.int32, [None])
        user = v1.nn.embedding_lookup(part.variable("users", [30, 4]), users)
        item = v1.nn.embedding_lookup(part.variable("items", [40, 4]), items)
        user_bias = v1.gather(part.variable("user_bias", [30], start=v1.zeros_initializer()), users)
        item_bias = v1.gather(part.variable("item_bias", [40], start=v1.zeros_initializer()), items)
        mean = part.variable("mean", [], start=v1.constant_initializer(3.5))
        rating = v1.reduce_sum(user * item, 1) + user_bias + item_bias + mean
    with part("loss"):
        given = v1.placeholder(tf.float32, [None])
        error = v1.nn.l2_loss(given - rating)
        decay = 0.02 * (v1.nn.l2_loss(user) + v1.nn.l2_loss(item))
        loss = error + decay
    with part("metric"):
        root = v1.sqrt(v1.reduce_mean(v1.square(given - rating)))
    part.minimize(v1.train.FtrlOptimizer(0.05), loss, part.step())
    part.close(loss, root)
    return rating


@kind(tuned=False)
def domain_adversarial(part: Part) -> object:
    """Features for classes, not for domains: a second head trains against them through a reversed gradient."""

    with part("inference"):
        x = v1.placeholder(tf.float32, [None, 8])
        features = v1.nn.relu(part.dense(x, 16, "features"))
        logits = part.dense(features, 4, "classes")
        probabilities = v1.nn.softmax(logits)
    with part("training_forward"):
        with part.graph.gradient_override_map({"Identity": "ReversedForDomains"}):
            reversed_features = v1.identity(features)
        hidden = v1.nn.relu(part.dense(reversed_features, 8, "domain_hidden", kept="training_forward"))
        domain_logits = part.dense(hidden, 2, "domains", kept="training_forward")
    with part("loss"):
        labels, domains = v1.placeholder(tf.int64, [None]), v1.placeholder(tf.int64, [None])
        entropy = v1.nn.sparse_softmax_cross_entropy_with_logits
        class_loss = v1.reduce_mean(entropy(labels=labels, logits=logits))
        domain_loss = v1.reduce_mean(entropy(labels=domains, logits=domain_logits))
        loss = class_loss + domain_loss
    with part("metric"):
        accuracy = v1.reduce_mean(v1.cast(v1.equal(v1.argmax(logits, 1), labels), tf.float32))
        domain_right = v1.equal(v1.argmax(domain_logits, 1), domains)
        domain_accuracy = v1.reduce_mean(v1.cast(domain_right, tf.float32))
    part.minimize(v1.train.MomentumOptimizer(0.01, 0.9), loss)
    part.close(loss, accuracy, domain_accuracy)
    return probabilities
