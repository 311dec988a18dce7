"""Graphs whose data comes from queues and files, and graphs made to be served."""

import tensorflow as tf

from kinds.registry import Part, kind

v1 = tf.compat.v1


@kind(tuned=False)
def queues(part: Part) -> object:
    """The CIFAR-10 tutorial: readers, queues and distortions, averaged losses and weights, histograms."""
    with part("input_pipeline"):
        files = v1.train.string_input_producer(["data_batch_1.bin", "data_batch_2.bin"])
        _, record = v1.FixedLengthRecordReader(1 + 12 * 12 * 3).read(files)
        raw = v1.decode_raw(record, tf.uint8)
        label = v1.cast(v1.strided_slice(raw, [0], [1]), tf.int32)
        image = v1.reshape(v1.strided_slice(raw, [1], [1 + 432]), [3, 12, 12])
        image = v1.random_crop(v1.cast(v1.transpose(image, [1, 2, 0]), tf.float32), [8, 8, 3])
        image = v1.image.random_brightness(v1.image.random_flip_left_right(image), 63)
        image = v1.image.per_image_standardization(image)
        images, labels = v1.train.shuffle_batch([image, v1.reshape(label, [])], 4, 40, 20)
    for queue, steps in (("input_producer", ("Cast", "mul")), ("shuffle_batch", ("sub", "Maximum", "Cast", "mul"))):
        part.correct(tuple(f"{queue}/{step}" for step in ("fraction_", *steps)), "summary")
    part.correct(("input_producer/Size", "input_producer/Greater"), "check")
    with part("inference"):
        x = v1.nn.lrn(v1.nn.max_pool2d(v1.nn.relu(part.conv(images, 4, "conv1", size=5)), 3, 2, "SAME"), 4)
        x = v1.nn.relu(part.dense(v1.reshape(x, [4, -1]) if x.shape[1] is None else v1.reshape(x, [4, 64]), 8, "local"))
        logits = part.dense(x, 10, "softmax_linear")
    with part("summary"):
        v1.summary.histogram("activations", x)
        v1.summary.scalar("sparsity", v1.nn.zero_fraction(x))
    with part("loss"):
        entropy = v1.nn.sparse_softmax_cross_entropy_with_logits(labels=v1.cast(labels, tf.int64), logits=logits)
        decay = v1.multiply(v1.nn.l2_loss(v1.trainable_variables("local")[0]), 0.004)
        total = v1.add_n([v1.reduce_mean(entropy), decay])
    with part("metric"):
        v1.nn.in_top_k(logits, labels, 1)
    step = part.step()
    with part("optimizer"):
        rate = v1.train.exponential_decay(0.1, step, 1000, 0.1, staircase=True)
    with part("moving_average"):
        averages = v1.train.ExponentialMovingAverage(0.9, name="avg")
        averaged = averages.apply([total])
    with part("summary"):
        v1.summary.scalar("average", averages.average(total))
    optimizer = v1.train.GradientDescentOptimizer(rate)
    with part("gradient"), v1.control_dependencies([averaged]):
        pairs = optimizer.compute_gradients(total)
    with part("optimizer"):
        applied = optimizer.apply_gradients(pairs, global_step=step)
    with part("summary"):
        for gradient, each in pairs:
            v1.summary.histogram(f"{each.op.name}/gradients", gradient)
    with part("moving_average"), v1.control_dependencies([applied]):
        v1.train.ExponentialMovingAverage(0.9999, step).apply(v1.trainable_variables())
    part.close(total)
    return logits


@kind(tuned=True)
def estimator_export(part: Part) -> object:
    """What an estimator exports: parsed examples, all predictions of a head, a vocabulary, a sharded saver."""
    with part("inference"):
        examples = v1.placeholder(tf.string, [None])
        spec = {"x": v1.FixedLenFeature([6], tf.float32), "word": v1.VarLenFeature(tf.string)}
        parsed = v1.parse_example(examples, spec)
        buckets = v1.string_to_hash_bucket_fast(parsed["word"].values, 20)
        word = tf.SparseTensor(parsed["word"].indices, buckets, parsed["word"].dense_shape)
        table = part.variable("table", [20, 4])
        x = v1.concat([v1.nn.safe_embedding_lookup_sparse([table], word), parsed["x"]], 1)
        logits = part.dense(v1.nn.relu(part.dense(x, 8, "hidden")), 3, "logits")
        probabilities = v1.nn.softmax(logits)
    with part("training_forward"):
        classes = v1.argmax(logits, 1)
        shown = v1.expand_dims(classes, -1)
        start = tf.lookup.KeyValueTensorInitializer(tf.constant([0, 1, 2], tf.int64), tf.constant(["a", "b", "c"]))
        names = tf.lookup.StaticHashTable(start, "?").lookup(shown)
    part.correct("key_value_init", "initializer")
    with part("unused"):
        v1.train.get_or_create_global_step()
    with part("save_restore"):
        v1.train.Saver(sharded=True)
    with part("initializer"):
        v1.group(v1.global_variables_initializer())
        v1.group(v1.local_variables_initializer(), v1.tables_initializer())
        v1.report_uninitialized_variables().mark_used()
    return probabilities, names, shown


@kind(tuned=True)
def csv_queues(part: Part) -> object:
    """Text files through a queue for training and one for evaluation; two towers share their weights."""

    def rows(name: str) -> tuple[tf.Tensor, tf.Tensor]:
        files = v1.train.string_input_producer([f"{name}.csv"], num_epochs=2, name=f"{name}_files")
        _, line = v1.TextLineReader(skip_header_lines=1).read(files)
        *columns, label = v1.decode_csv(line, [[0.0]] * 4 + [[0]])
        return v1.train.batch([v1.stack(columns), label], 8, num_threads=2, name=f"{name}_batch")

    def tower(x: tf.Tensor) -> tf.Tensor:
        return part.dense(v1.nn.relu(part.dense(x, 8, "hidden")), 3, "last")

    with part("input_pipeline"):
        features, labels = rows("train")
        test_features, test_labels = rows("test")
    queued = ("train_files", "test_files", "train_batch", "test_batch")
    part.correct(tuple(f"{name}/{step}" for name in queued for step in ("fraction_", "Cast", "mul")), "summary")
    part.correct(("_files/Size", "_files/Greater"), "check")
    with part("training_forward"):
        logits = tower(features)
    with part("inference"):
        probabilities = v1.nn.softmax(tower(test_features))
    with part("loss"):
        loss = v1.reduce_mean(v1.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))
    with part("metric"):
        right = v1.nn.in_top_k(probabilities, test_labels, 1)
        accuracy = v1.reduce_mean(v1.cast(right, tf.float32))
    step = part.step()
    with part("optimizer"):
        rate = v1.train.inverse_time_decay(0.1, step, 100, 0.5)
    part.minimize(v1.train.AdadeltaOptimizer(rate), loss, step)
    with part("summary"):
        v1.summary.scalar("rate", rate)
    part.close(loss, accuracy, local=True)
    return probabilities
