"""Random graphs of conditionals, loops and functions of TF1, nested in each other, as a seed says."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import tensorflow as tf
from tensorflow.python.framework import function as legacy_function

v1 = tf.compat.v1
Make = Callable[[tf.Tensor, int], tf.Tensor]


class FlowGraph:
    """Builds scalars out of a placeholder ``x``, a choice ``p`` and variables in the default graph.

    Variables that are updated are read by nothing, so that what the graph gives stays the same from run to run.
    """

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.x = v1.placeholder(tf.float32, [], "x")
        self.choice = v1.placeholder(tf.bool, [], "p")
        self.count = 0
        self.outer, self.resource = v1.get_default_graph(), self.random.random() < 0.6
        self.value, self.written = (v1.get_variable(name, [], use_resource=self.resource) for name in ("v", "written"))
        self.rows = v1.get_variable("rows", [4], use_resource=True)

    def outputs(self, number: int) -> list[str]:
        """Add some outputs; returns their names."""
        names = [f"out{at}" for at in range(number)]
        for name in names:
            tf.identity(self.scalar(self.x, 3), name=name)
        tf.where(self.choice, self.x, -self.x, name="fed")
        return [*names, "fed"]

    def scalar(self, x: tf.Tensor, depth: int) -> tf.Tensor:
        """Something made of ``x``, up to ``depth`` levels deep."""
        plain = [self.constant, self.scaled, self.read, self.gathered, self.of_shape, self.waiting, self.passed]
        deep = [self.conditional, self.decided, self.loop, self.call, self.legacy_call, self.total]
        if not self.resource and v1.get_default_graph() is not self.outer:  # functions cannot take references
            plain = [self.constant, self.scaled, self.gathered, self.of_shape, self.passed]
            deep.remove(self.decided)
        made = self.random.choice(plain if depth == 0 else [*plain, *deep, *deep])(x, depth - 1)
        made.set_shape([])
        return made

    def constant(self, x: tf.Tensor, depth: int) -> tf.Tensor:
        return tf.constant(self.random.choice([0.5, 1.0, 7.0]))

    def scaled(self, x: tf.Tensor, depth: int) -> tf.Tensor:
        return x * 0.5 + 1.0

    def passed(self, x: tf.Tensor, depth: int) -> tf.Tensor:
        return tf.identity(tf.stop_gradient(tf.identity(v1.check_numerics(x, "bad"))))

    def read(self, x: tf.Tensor, depth: int) -> tf.Tensor:
        return tf.identity(self.value) + x * 0.25

    def gathered(self, x: tf.Tensor, depth: int) -> tf.Tensor:
        return tf.gather(self.rows, tf.cast(tf.clip_by_value(x, 0.0, 3.0), tf.int32))

    def of_shape(self, x: tf.Tensor, depth: int) -> tf.Tensor:
        return tf.cast(tf.size(tf.stack([x, x, x])) * tf.constant(2), tf.float32)

    def waiting(self, x: tf.Tensor, depth: int) -> tf.Tensor:
        waits = [
            lambda: v1.check_numerics(x, "bad").op,
            lambda: v1.assert_less(x, 1e9),
            lambda: v1.assign_add(self.written, tf.constant(1.0)),
            lambda: v1.assign(self.written, x),
            lambda: tf.group(v1.assign_sub(self.written, x)),
        ]
        chosen = [wait() for wait in self.random.sample(waits, 2)]
        with tf.control_dependencies([one for one in chosen if one is not None]):
            return self.random.choice([lambda: tf.constant(3.0), lambda: tf.identity(x)])()

    def conditional(self, x: tf.Tensor, depth: int) -> tf.Tensor:
        kinds = [lambda: self.choice, lambda: x > 1.0, lambda: tf.constant(self.random.random() < 0.5)]
        branches = [lambda: self.scalar(x, depth), lambda: self.scalar(x, depth)]
        return v1.cond(self.random.choice(kinds)(), *branches)

    def decided(self, x: tf.Tensor, depth: int) -> tf.Tensor:
        known = v1.is_variable_initialized(self.value)
        asked = v1.cond(self.choice, lambda: v1.is_variable_initialized(self.value), lambda: tf.constant(False))
        return tf.where(tf.logical_and(known, asked), self.scalar(x, depth), x)

    def loop(self, x: tf.Tensor, depth: int) -> tf.Tensor:
        def step(index: tf.Tensor, y: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
            return index + 1, y * 0.25 + self.scalar(y + tf.cast(index, tf.float32), depth)

        return v1.while_loop(lambda index, _: index < 3, step, [0, x])[1]

    def total(self, x: tf.Tensor, depth: int) -> tf.Tensor:
        return self.scalar(x, depth) + self.scalar(x * 0.5, depth)

    def call(self, x: tf.Tensor, depth: int) -> tf.Tensor:
        made = tf.function(lambda y, z: (self.scalar(y, depth), self.scalar(y, 0), z), autograph=False)(x, x * 0.5)
        for one in made:
            one.set_shape([])
        return made[0] + made[self.random.choice([1, 2])] if self.random.random() < 0.5 else made[0]

    def legacy_call(self, x: tf.Tensor, depth: int) -> tf.Tensor:
        self.count += 1

        @legacy_function.Defun(tf.float32, func_name=f"legacy{self.count}")
        def body(y: tf.Tensor) -> tf.Tensor:
            y.set_shape([])
            inner = v1.while_loop(lambda index, _: index < 2, lambda index, z: (index + 1, z * 0.5 + 1.0), [0, y])[1]
            return v1.cond(y > 1.0, lambda: tf.constant(2.0), lambda: inner) + tf.constant(1.0)

        return body(x)
