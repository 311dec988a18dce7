"""Graphs with gradients that no optimizer takes: on the way to the answer, in the loss, or to make harder examples."""

from collections.abc import Sequence

import tensorflow as tf

from kinds.generators import frozen_features
from kinds.registry import VARIABLES, Part, kind

v1 = tf.compat.v1


def _entropy(labels: tf.Tensor, logits: tf.Tensor) -> tf.Tensor:
    return v1.reduce_mean(v1.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))


def _distance(x: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
    return v1.reduce_mean(v1.square(x - y))


def _numbers(count: int = 1, size: int = 1) -> list[tf.Tensor]:
    return [v1.placeholder(tf.float32, [None, size]) for _ in range(count)]


def _weights(part: Part, inputs: int = 1, outputs: int = 1) -> list[tf.Tensor]:
    shapes = {"w1": [inputs, 16], "b1": [16], "w2": [16, outputs], "b2": [outputs]}
    return [part.variable(name, shape) for name, shape in shapes.items()]


def _answer(x: tf.Tensor, weights: Sequence[tf.Tensor]) -> tf.Tensor:
    hidden = v1.nn.relu(v1.matmul(x, weights[0]) + weights[1])
    return v1.matmul(hidden, weights[2]) + weights[3]


def _moved(inner: tf.Tensor, weights: Sequence[tf.Tensor]) -> list[tf.Tensor]:
    slopes = v1.gradients(inner, list(weights))
    return [each - 0.1 * slope for each, slope in zip(weights, slopes, strict=True)]


def _spare(part: Part, *outputs: tf.Tensor) -> None:
    """Outputs do not need all that ``tf.gradients`` builds, nor inner losses themselves: correct the roles of these."""
    part._note()
    needed: set[tf.Operation] = set()
    stack = [output.op for output in outputs]
    while stack:
        op = stack.pop()
        if op not in needed:
            needed.add(op)
            stack += [*(tensor.op for tensor in op.inputs), *op.control_inputs]
    names = {op.name for op in needed}
    for name, role in part.roles.items():
        variable = part.graph.get_operation_by_name(name).type in VARIABLES
        if role == "inference" and name not in names and not variable:
            part.roles[name] = "gradient" if "/gradients" in name else "loss"


def _trained(part: Part, output: tf.Tensor) -> tf.Tensor:
    """The outer training: ``output`` comes nearer to what is wanted of it."""
    with part("loss"):
        (right,) = _numbers()
        loss = _distance(output, right)
    _spare(part, output)
    part.minimize(v1.train.AdamOptimizer(1e-3), loss, part.step())
    part.close(loss)
    return output


@kind(tuned=False, seen=True)
def first_order_steps(part: Part) -> object:
    """First-order MAML: two steps of descent on labelled examples, not differentiated, then the answer to others."""

    def answer(x: tf.Tensor, weights: list[tf.Tensor]) -> tf.Tensor:
        x = v1.nn.relu(v1.nn.conv2d(x, weights[0], strides=[1, 2, 2, 1], padding="SAME") + weights[1])
        return v1.matmul(v1.reshape(x, [-1, 64]), weights[2]) + weights[3]

    with part("inference"):
        seen, labels = v1.placeholder(tf.float32, [None, 8, 8, 1]), v1.placeholder(tf.int64, [None])
        asked = v1.placeholder(tf.float32, [None, 8, 8, 1])
        weights = [part.variable("kernel", [3, 3, 1, 4]), part.variable("shift", [4], start=v1.zeros_initializer())]
        weights += [part.variable("w", [64, 5]), part.variable("b", [5], start=v1.zeros_initializer())]
        fast, early = weights, []
        for _ in range(2):
            early.append(_entropy(labels, answer(seen, fast)))
            slopes = [v1.stop_gradient(slope) for slope in v1.gradients(early[-1], fast)]
            fast = [each - 0.1 * slope for each, slope in zip(fast, slopes, strict=True)]
        logits = answer(asked, fast)
        probabilities = v1.nn.softmax(logits)
    with part("loss"):
        right = v1.placeholder(tf.int64, [None])
        loss = _entropy(right, logits)
    with part("metric"):
        accuracy = v1.reduce_mean(v1.cast(v1.equal(v1.argmax(logits, 1), right), tf.float32))
    _spare(part, probabilities)
    part.minimize(v1.train.AdamOptimizer(1e-3), loss, part.step())
    part.close(loss, accuracy)
    return probabilities, logits


@kind(tuned=False, seen=True, resource=True)
def learned_steps(part: Part) -> object:
    """Meta-SGD on two tasks: learned rates, gradients of gradients; the loss before the step is recorded too."""

    def answer(x: tf.Tensor, weights: list[tf.Tensor]) -> tf.Tensor:
        hidden = v1.nn.elu(v1.matmul(x, weights[0]) + weights[1])
        return v1.matmul(hidden, weights[2]) + weights[3]

    with part("inference"):
        seen, wanted, asked = (v1.placeholder(tf.float32, [2, 10, 1]) for _ in range(3))
        shapes = ([1, 16], [16], [16, 1], [1])
        made = [(part.variable(f"w{i}", shape), part.variable(f"rate{i}", shape)) for i, shape in enumerate(shapes)]
        weights, rates = [one for one, _ in made], [rate for _, rate in made]
        answers, before = [], []
        for task in range(2):
            before.append(v1.reduce_mean(v1.square(answer(seen[task], weights) - wanted[task])))
            slopes = v1.gradients(before[-1], weights)
            fast = [each - rate * slope for each, rate, slope in zip(weights, rates, slopes, strict=True)]
            answers.append(answer(asked[task], fast))
        output = v1.stack(answers)
    with part("loss"):
        right = v1.placeholder(tf.float32, [2, 10, 1])
        loss = v1.add_n([v1.reduce_mean(v1.square(answers[task] - right[task])) for task in range(2)]) / 2.0
    with part("metric"):
        before_step = v1.add_n(before) / 2.0
    _spare(part, output)
    adam = v1.train.AdamOptimizer(1e-3)
    with part("gradient"):
        pairs = [(v1.clip_by_value(gradient, -10.0, 10.0), each) for gradient, each in adam.compute_gradients(loss)]
    with part("optimizer"):
        adam.apply_gradients(pairs)
    part.close(before_step, loss)
    return output, answers[0], answers[1]


@kind(tuned=False, seen=True)
def hostile_examples(part: Part) -> object:
    """FGSM: the same network learns from images that were moved against its own loss; the clean pass is the answer."""

    def network(x: tf.Tensor) -> tf.Tensor:
        x = v1.nn.relu(part.conv(x, 4, "conv", stride=2))
        return part.dense(v1.reshape(x, [-1, 64]), 10, "last")

    with part("inference"):
        image = v1.placeholder(tf.float32, [None, 8, 8, 1])
        logits = network(image)
        probabilities = v1.nn.softmax(logits)
    with part("loss"):
        labels = v1.placeholder(tf.int64, [None])
        clean = _entropy(labels, logits)
    with part("gradient"):
        slope = v1.gradients(clean, image)[0]
    with part("training_forward"):
        moved = v1.stop_gradient(v1.clip_by_value(image + 0.1 * v1.sign(slope), 0.0, 1.0))
        moved_logits = network(moved)
    with part("loss"):
        hostile = _entropy(labels, moved_logits)
        loss = 0.5 * clean + 0.5 * hostile
    with part("metric"):
        right = [v1.equal(v1.argmax(each, 1), labels) for each in (logits, moved_logits)]
        accuracies = [v1.reduce_mean(v1.cast(each, tf.float32)) for each in right]
    part.minimize(v1.train.MomentumOptimizer(0.01, 0.9), loss, part.step())
    part.close(clean, hostile, *accuracies)
    return probabilities, logits


@kind(tuned=False, seen=True)
def forces(part: Part) -> object:
    """A potential between atoms: forces are its slope, the loss compares both with what is known."""
    with part("inference"):
        places = v1.placeholder(tf.float32, [None, 6])
        hidden = v1.nn.tanh(part.dense(places, 16, "hidden1"))
        hidden = v1.nn.tanh(part.dense(hidden, 16, "hidden2"))
        energy = part.dense(hidden, 1, "energy")
        force = v1.negative(v1.gradients(energy, places)[0])
    with part("loss"):
        known_energy, known_force = v1.placeholder(tf.float32, [None, 1]), v1.placeholder(tf.float32, [None, 6])
        energy_loss = v1.reduce_mean(v1.square(energy - known_energy))
        force_loss = v1.reduce_mean(v1.square(force - known_force))
        loss = 0.02 * energy_loss + force_loss
    _spare(part, force)
    part.minimize(v1.train.AdamOptimizer(1e-3), loss, part.step())
    part.close(energy_loss, force_loss)
    return force, energy


@kind(tuned=False)
def painted_image(part: Part) -> object:
    """Neural style without a network: the image itself is trained, a frozen network with constant weights judges it."""
    with part("inference"):
        image = part.variable("image", [1, 16, 16, 3])
        painted = v1.cast(v1.clip_by_value(image + 127.5, 0.0, 255.0), tf.uint8)
    with part("training_forward"):
        content = v1.placeholder(tf.float32, [1, 16, 16, 3])
        wanted, made = frozen_features(content), frozen_features(image)
    with part("loss"):
        flat = v1.reshape(made[0], [-1, 4])
        target = v1.placeholder(tf.float32, [4, 4])
        style = v1.reduce_sum(v1.square(v1.matmul(flat, flat, transpose_a=True) - target))
        loss = 1e-3 * v1.nn.l2_loss(made[-1] - wanted[-1]) + style
        loss += v1.nn.l2_loss(image[:, 1:] - image[:, :-1])
    part.minimize(v1.train.AdamOptimizer(1.0), loss)
    part.close()
    return painted


@kind(tuned=False, seen=True)
def flat_slopes(part: Part) -> object:
    """Double backpropagation: the slope of the loss towards the image is kept small, as a part of the loss."""
    with part("inference"):
        image = v1.placeholder(tf.float32, [None, 8, 8, 1])
        x = v1.nn.relu(part.conv(image, 4, "conv", stride=2))
        logits = part.dense(v1.reshape(x, [-1, 64]), 10, "last")
        classes = v1.argmax(logits, 1)
    with part("loss"):
        labels = v1.placeholder(tf.int64, [None])
        entropy = _entropy(labels, logits)
    with part("gradient"):
        slope = v1.gradients(entropy, image)[0]
    with part("loss"):
        loss = entropy + 0.1 * v1.reduce_sum(v1.square(slope))
    part.minimize(v1.train.GradientDescentOptimizer(0.1), loss, part.step())
    part.close(entropy, loss)
    return classes, logits


@kind(tuned=False, seen=True)
def tasks_in_a_loop(part: Part) -> object:
    """MAML as it was published: ``map_fn`` over tasks, two steps in each, labels of one-hot vectors."""

    def task(given: tuple[tf.Tensor, tf.Tensor, tf.Tensor]) -> tf.Tensor:
        seen, labels, asked = given
        fast = weights
        for _ in range(2):
            entropy = v1.nn.softmax_cross_entropy_with_logits_v2(labels=labels, logits=_answer(seen, fast))
            fast = _moved(v1.reduce_mean(entropy), fast)
        return _answer(asked, fast)

    with part("inference"):
        weights = _weights(part, 4, 3)
        seen, labels, asked = (v1.placeholder(tf.float32, [2, 5, size]) for size in (4, 3, 4))
        logits = v1.map_fn(task, (seen, labels, asked), fn_output_signature=tf.float32)
    with part("loss"):
        right = v1.placeholder(tf.float32, [2, 5, 3])
        loss = v1.reduce_mean(v1.nn.softmax_cross_entropy_with_logits_v2(labels=right, logits=logits))
    _spare(part, logits)
    part.minimize(v1.train.AdamOptimizer(1e-3), loss, part.step())
    part.close(loss)
    return logits


@kind(tuned=False, seen=True)
def steps_in_a_loop(part: Part) -> object:
    """MAML whose steps are the turns of a loop, with the moved weights as its state."""

    def step(number: tf.Tensor, *fast: tf.Tensor) -> tuple[tf.Tensor, ...]:
        return number + 1, *_moved(_distance(_answer(seen, fast), wanted), fast)

    with part("inference"):
        weights = _weights(part)
        seen, wanted, asked = _numbers(3)
        state = (0, *map(v1.identity, weights))
        _, *fast = v1.while_loop(lambda number, *_: number < 3, step, state)
        output = _answer(asked, fast)
    return _trained(part, output)


@kind(tuned=False, seen=True)
def head_steps(part: Part) -> object:
    """ANIL: the step moves the last weights only, without any op that is made for gradients."""

    def answer(x: tf.Tensor, last: tf.Tensor) -> tf.Tensor:
        return _answer(x, [*weights[:2], last, weights[3]])

    with part("inference"):
        weights = _weights(part)
        seen, wanted, asked = _numbers(3)
        (fast,) = _moved(_distance(answer(seen, weights[2]), wanted), weights[2:3])
        output = answer(asked, fast)
    return _trained(part, output)


@kind(tuned=False, seen=True)
def context_steps(part: Part) -> object:
    """CAVIA: the step moves what is fed beside the question, starting from zeros; the weights stay."""

    def answer(x: tf.Tensor, context: tf.Tensor) -> tf.Tensor:
        beside = v1.tile(v1.reshape(context, [1, 2]), [v1.shape(x)[0], 1])
        return _answer(v1.concat([x, beside], 1), weights)

    with part("inference"):
        weights = _weights(part, 3)
        seen, wanted, asked = _numbers(3)
        context = v1.zeros([2])
        (context,) = _moved(_distance(answer(seen, context), wanted), [context])
        output = answer(asked, context)
    return _trained(part, output)


@kind(tuned=False, seen=True)
def smooth_answers(part: Part) -> object:
    """Virtual adversarial training: answers shall not change where a gradient says that they change most."""

    def network(x: tf.Tensor) -> tf.Tensor:
        return part.dense(v1.nn.relu(part.dense(x, 16, "hidden")), 3, "last")

    def divergence(wanted: tf.Tensor, found: tf.Tensor) -> tf.Tensor:
        return v1.reduce_mean(v1.reduce_sum(wanted * (v1.log(wanted + 1e-8) - v1.log(found + 1e-8)), 1))

    with part("inference"):
        (x,) = _numbers(size=6)
        logits = network(x)
        probabilities = v1.nn.softmax(logits)
    with part("loss"):
        labels = v1.placeholder(tf.int64, [None])
        entropy = _entropy(labels, logits)
    with part("training_forward"):
        anywhere = v1.random_normal(v1.shape(x))
        near = v1.nn.softmax(network(x + 1e-6 * anywhere))
    with part("loss"):
        change = divergence(v1.stop_gradient(probabilities), near)
    with part("gradient"):
        worst = v1.stop_gradient(v1.nn.l2_normalize(v1.gradients(change, anywhere)[0], 1))
    with part("training_forward"):
        beside = v1.nn.softmax(network(x + 2.0 * worst))
    with part("loss"):
        loss = entropy + divergence(v1.stop_gradient(probabilities), beside)
    part.minimize(v1.train.AdamOptimizer(1e-3), loss, part.step())
    part.close(loss)
    return probabilities, logits
