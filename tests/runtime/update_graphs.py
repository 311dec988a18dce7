"""Random rows of reads and updates of two variables, one after the other, in conditionals, loops and functions."""

from __future__ import annotations

from random import Random

import tensorflow as tf
from freeze_cases import output

v1 = tf.compat.v1


class UpdateGraph:
    """Builds ``y`` in the default graph, as a seed says: every step waits for the one before."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.outer, self.resource = v1.get_default_graph(), self.random.random() < 0.6
        three = v1.constant_initializer(3.0)
        self.variables = [v1.get_variable(name, [], use_resource=self.resource, initializer=three) for name in "vw"]
        self.choice = v1.placeholder_with_default(True, [], "p")
        output(self.row(4, 2))

    def row(self, number: int, depth: int) -> tf.Tensor:
        """``number`` steps, and what some of them give, put together."""
        used, last = [], []
        for _ in range(number):
            with tf.control_dependencies(last):
                made = self.step(depth)
            last = [made]
            if isinstance(made, tf.Tensor) and (not made.dtype._is_ref_dtype or self.random.random() < 0.5):
                used.append(made)
        with tf.control_dependencies(last):
            whole = tf.constant(0.0)
            for one in used:
                whole = whole * 3.0 + one if self.random.random() < 0.8 else whole
        whole.set_shape([])
        return whole

    def step(self, depth: int) -> tf.Tensor | tf.Operation:
        """A read, an update, both, or neither; with ``depth`` also rows of them in a conditional, loop or function."""
        value = self.random.choice(self.variables)
        plain = [self.read, self.read, self.add, self.double, lambda one: v1.assign_sub(one, 1.0) * 1.0]
        plain.append(lambda _: tf.constant(2.0))
        if not self.resource and v1.get_default_graph() is not self.outer:  # functions cannot take references
            plain = plain[-1:]
        deep = [self.conditional, self.loop, *([self.call] if self.resource else [])]
        chosen = self.random.choice([*plain, *(deep if depth else [])])
        return chosen(depth - 1) if chosen in deep else chosen(value)

    def read(self, value: tf.Variable) -> tf.Tensor:
        return (value.read_value() if self.resource else tf.identity(value)) * 1.0

    def add(self, value: tf.Variable) -> tf.Tensor | tf.Operation:
        return value.assign_add(1.0, read_value=False) if self.resource else v1.assign_add(value, 1.0)

    def double(self, value: tf.Variable) -> tf.Tensor | tf.Operation:
        if self.resource:
            return value.assign(value * 2.0, read_value=False)
        return v1.assign(value, tf.identity(value) * 2.0)

    def conditional(self, depth: int) -> tf.Tensor:
        return v1.cond(self.choice, lambda: self.row(2, depth), lambda: self.row(2, depth))

    def loop(self, depth: int) -> tf.Tensor:
        def step(index: tf.Tensor, y: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
            made = self.row(2, depth)
            with tf.control_dependencies([made]):
                return index + 1, y * 2.0 + made

        return v1.while_loop(lambda index, _: index < 2, step, [0, 0.0])[1]

    def call(self, depth: int) -> tf.Tensor:
        function = tf.function(lambda: self.row(self.random.choice([1, 2, 3]), depth), autograph=False)
        first = function()
        with tf.control_dependencies([first]):
            return first + function() * 10.0 if self.random.random() < 0.5 else first
