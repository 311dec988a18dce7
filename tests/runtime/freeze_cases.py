"""Small graphs of the kinds that freezing must get right: each builds ``y`` in the default graph."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import tensorflow as tf

v1 = tf.compat.v1
Build = Callable[[], None]


@dataclass(frozen=True)
class Case:
    """One graph.

    Attributes:
        build: adds nodes, the last of them ``y``, to the default graph.
        control_flow_v2: functions for conditionals and loops, instead of Switch and Merge.
        options: of the freeze.
        warns: part of a warning that the freeze must give.
    """

    name: str
    build: Build
    control_flow_v2: bool = True
    options: dict[str, bool] = field(default_factory=dict)
    warns: str = ""


def variable(name: str, shape: list[int], *, resource: bool) -> tf.Variable:
    return v1.get_variable(name, shape, use_resource=resource)


def output(value: tf.Tensor) -> None:
    tf.identity(value, name="y")


# Reads of one variable


def gather_batched() -> None:
    table = variable("v", [4, 5, 3], resource=True)
    indices = [[0, 1], [1, 2], [0, 0], [3, 4]]
    output(tf.raw_ops.ResourceGather(resource=table.handle, indices=indices, dtype=tf.float32, batch_dims=1))


def gather() -> None:
    output(tf.gather(variable("v", [5, 3], resource=True), [0, 3]))


def gather_long_indices() -> None:
    output(tf.gather(variable("v", [5, 3], resource=True), tf.constant([4, 0], tf.int64)))


def gather_nd() -> None:
    table = variable("v", [5, 3], resource=True)
    output(tf.raw_ops.ResourceGatherNd(resource=table.handle, indices=[[0, 1]], dtype=tf.float32))


def shape() -> None:
    output(tf.raw_ops.VariableShape(input=variable("v", [5, 3], resource=True).handle))


def sparse_read() -> None:
    output(variable("v", [5, 3], resource=True).sparse_read([1]))


def is_initialized() -> None:
    known = v1.is_variable_initialized(variable("v", [3], resource=True))
    output(tf.where(known, tf.ones([3]), tf.zeros([3])))


def is_initialized_reference() -> None:
    known = tf.raw_ops.IsVariableInitialized(ref=variable("v", [3], resource=False)._ref())
    output(tf.where(known, tf.ones([3]), tf.zeros([3])))


def caching_device() -> None:
    output(v1.get_variable("v", [3], use_resource=True, caching_device="/cpu:0") * 1.0)


def identity_n() -> None:
    first, second = variable("v", [3], resource=True), variable("w", [3], resource=True)
    handles = tf.raw_ops.IdentityN(input=[first.handle, second.handle, tf.ones([3])])
    output(tf.raw_ops.ReadVariableOp(resource=handles[1], dtype=tf.float32) - handles[2])


def integers() -> None:
    value = v1.get_variable("v", [3], tf.int64, v1.constant_initializer([1, 2, 2**40]), use_resource=True)
    output(value + 1)


def strings() -> None:
    value = v1.get_variable(
        "v", [2], tf.string, lambda *_, **__: tf.constant(["a", "bc"]), use_resource=False, trainable=False
    )
    output(v1.string_join([value, "!"]))


def half_and_bfloat() -> None:
    half = v1.get_variable("h", [3], tf.float16, v1.constant_initializer(0.3), use_resource=True)
    brain = v1.get_variable("b", [3], tf.bfloat16, v1.constant_initializer(0.7), use_resource=True)
    output(tf.cast(half, tf.float32) + tf.cast(brain, tf.float32))


def scalar() -> None:
    output(variable("v", [], resource=False) * tf.ones([2]))


# Partitioned variables


def partitioned(resource: bool) -> Build:
    def build() -> None:
        table = _in_parts(resource)
        output(tf.convert_to_tensor(table) * 2.0)

    return build


def embedding(resource: bool) -> Build:
    def build() -> None:
        output(v1.nn.embedding_lookup(_in_parts(resource), [0, 6, 3]))

    return build


def _in_parts(resource: bool) -> tf.Variable:
    return v1.get_variable("p", [7, 2], partitioner=v1.fixed_size_partitioner(3), use_resource=resource)


# Conditionals and loops


def conditional(resource: bool) -> Build:
    def build() -> None:
        choice = v1.placeholder_with_default(True, [], "p")
        first, second = variable("v", [3], resource=resource), variable("w", [3], resource=resource)
        output(v1.cond(choice, lambda: first * 2.0, lambda: second + first))

    return build


def loop(resource: bool) -> Build:
    def build() -> None:
        weight = variable("v", [3, 3], resource=resource)
        step = lambda i, y: (i + 1, tf.tanh(tf.matmul(y, weight)))  # noqa: E731
        output(v1.while_loop(lambda i, y: i < 3, step, [0, tf.ones([1, 3])])[1])

    return build


def conditional_in_loop(resource: bool) -> Build:
    def build() -> None:
        weight = variable("v", [3, 3], resource=resource)

        def step(i, y):
            return i + 1, v1.cond(i > 1, lambda: tf.matmul(y, weight), lambda: y + weight[0])

        output(v1.while_loop(lambda i, y: i < 3, step, [0, tf.ones([1, 3])])[1])

    return build


def case() -> None:
    first, second = variable("v", [3], resource=True), variable("w", [3], resource=True)
    choice = v1.placeholder_with_default(1, [], "p")
    output(tf.switch_case(choice, [lambda: first * 2.0, lambda: second + 1.0, lambda: first + second]))


def map_function(resource: bool) -> Build:
    def build() -> None:
        factor = variable("v", [3], resource=resource)
        output(tf.map_fn(lambda row: row * factor, tf.ones([2, 3])))

    return build


def reference_switch() -> None:
    choice = v1.placeholder_with_default(True, [], "p")
    no, yes = tf.raw_ops.RefSwitch(data=variable("v", [3], resource=False)._ref(), pred=choice)
    output(tf.raw_ops.Merge(inputs=[tf.identity(no), tf.identity(yes) * 2.0])[0])


def lstm() -> None:
    output(tf.keras.layers.LSTM(4)(tf.ones([1, 5, 3])))


# Functions


def function() -> None:
    factor = variable("v", [3], resource=True)
    output(tf.function(lambda x: x * factor)(tf.ones([3])))


def functions_nested_handles_swapped() -> None:
    first, second = variable("v", [3], resource=True), variable("w", [3], resource=True)

    @tf.function
    def double(handle):
        return tf.raw_ops.ReadVariableOp(resource=handle, dtype=tf.float32) * 2.0

    @tf.function
    def difference(one, other):
        return double(one) - double(other)

    output(difference(first.handle, second.handle) + difference(second.handle, first.handle) * 3.0)


def function_two_shapes() -> None:
    small, large = variable("v", [2], resource=True), variable("w", [4], resource=True)

    @tf.function(input_signature=[tf.TensorSpec([], tf.resource)])
    def total(handle):
        return tf.reduce_sum(tf.raw_ops.ReadVariableOp(resource=handle, dtype=tf.float32))

    output(total(small.handle) * total(large.handle))


def function_gathers() -> None:
    table = variable("v", [5, 3], resource=True)
    output(tf.function(lambda rows: tf.gather(table, rows))([1, 2]))


def function_gives_handle() -> None:
    value = variable("v", [3], resource=True)
    handle = tf.function(lambda: value.handle)()
    output(tf.raw_ops.ReadVariableOp(resource=handle, dtype=tf.float32))


def function_updates_another() -> None:
    value, count = variable("v", [3], resource=True), variable("w", [3], resource=True)

    @tf.function
    def step(x):
        count.assign_add(x)
        return x * value

    output(step(tf.ones([3])))


def loop_in_function() -> None:
    weight = variable("v", [3, 3], resource=True)

    @tf.function
    def run(x):
        for _ in tf.range(3):
            if tf.reduce_sum(x) > 0:
                x = tf.matmul(x, weight)
            else:
                x = x - weight[0]
        return x

    output(run(tf.ones([1, 3])))


# Updates on the way


def update_as_data(resource_free_op: str) -> Build:
    def build() -> None:
        value = variable("v", [3], resource=False)
        update = getattr(v1, resource_free_op)
        output(update(value, [1.0, 2.0, 3.0]) * 2.0)

    return build


def update_of_another_as_control(resource: bool) -> Build:
    def build() -> None:
        value, mean = variable("v", [3], resource=resource), variable("m", [3], resource=resource)
        with v1.control_dependencies([v1.assign_sub(mean, value * 0.1)]):
            output(value * 2.0)

    return build


def checks_as_control() -> None:
    value = variable("v", [3], resource=False)
    with v1.control_dependencies([v1.assert_less(value, 100.0), v1.add_check_numerics_ops()]):
        output(v1.check_numerics(value, "bad") * 2.0)


def batch_norm_in_conditional() -> None:
    images = np.random.RandomState(0).rand(2, 4, 4, 3).astype("f4")
    x = v1.placeholder_with_default(images, [None, 4, 4, 3], "x")
    training = v1.placeholder_with_default(False, [], "is_training")
    y = v1.nn.conv2d(x, variable("w", [3, 3, 3, 4], resource=False), strides=[1, 1, 1, 1], padding="SAME")
    gamma, beta, mean, variance = [variable(name, [4], resource=False) for name in ("gamma", "beta", "mean", "var")]

    def train():
        out, batch_mean, batch_variance = v1.nn.fused_batch_norm(y, gamma, beta, is_training=True)[:3]
        updates = [
            v1.assign_sub(mean, (mean - batch_mean) * 0.1),
            v1.assign_sub(variance, (variance - batch_variance) * 0.1),
        ]
        with v1.control_dependencies(updates):
            return tf.identity(out)

    def infer():
        return v1.nn.fused_batch_norm(y, gamma, beta, mean, tf.abs(variance) + 0.1, is_training=False)[0]

    output(v1.cond(training, train, infer))


def batch_norm_in_training() -> None:
    x = tf.constant(np.random.RandomState(0).rand(2, 4, 4, 3).astype("f4"))
    gamma, beta = variable("gamma", [3], resource=True), variable("beta", [3], resource=True)
    output(v1.nn.fused_batch_norm(x, gamma, beta, is_training=True)[0])


def dropout_with_fed_rate() -> None:
    rate = v1.placeholder_with_default(0.0, [], "rate")
    output(v1.nn.dropout(variable("v", [3], resource=True) * tf.ones([2, 3]), rate=rate))


def _both(name: str, build: Callable[[bool], Build], **given) -> list[Case]:
    kinds = (("resource", True), ("reference", False))
    return [Case(f"{name}, {kind} variable", build(resource), **given) for kind, resource in kinds]


def _flows(name: str, build: Callable[[bool], Build]) -> list[Case]:
    return [
        *_both(f"{name} with functions", build),
        *_both(f"{name} with switches", build, control_flow_v2=False),
    ]


CASES = [
    Case("gather with batch dimensions", gather_batched),
    Case("gather", gather),
    Case("gather with long indices", gather_long_indices),
    Case("gather_nd", gather_nd),
    Case("shape of a variable", shape),
    Case("sparse read", sparse_read),
    Case("is initialized, resource", is_initialized),
    Case("is initialized, reference", is_initialized_reference),
    Case("caching device", caching_device),
    Case("IdentityN over handles", identity_n),
    Case("int64", integers),
    Case("strings", strings),
    Case("half and bfloat16", half_and_bfloat),
    Case("scalar", scalar),
    *_both("partitioned", partitioned),
    *_both("partitioned embedding", embedding),
    *_flows("conditional", conditional),
    *_flows("loop", loop),
    *_flows("conditional in a loop", conditional_in_loop),
    Case("switch_case", case),
    *_flows("map_fn", map_function),
    Case("RefSwitch", reference_switch),
    Case("LSTM", lstm),
    Case("function", function),
    Case("nested functions, handles swapped", functions_nested_handles_swapped),
    Case("function of variables of two shapes", function_two_shapes),
    Case("gather in a function", function_gathers),
    Case("function gives a handle", function_gives_handle),
    Case("function updates another variable", function_updates_another),
    Case("loop and conditional in a function", loop_in_function),
    Case("assign as data", update_as_data("assign"), warns="updated a variable"),
    Case("assign_add as data", update_as_data("assign_add"), warns="updated a variable"),
    Case("assign_sub as data", update_as_data("assign_sub"), warns="updated a variable"),
    *_both("update of another as control", update_of_another_as_control),
    Case("checks as control", checks_as_control),
    Case("batch norm in a conditional", batch_norm_in_conditional, control_flow_v2=False, warns="is_training"),
    Case(
        "batch norm in training", batch_norm_in_training, options={"allow_training_mode": True}, warns="as in training"
    ),
    Case("dropout with a fed rate", dropout_with_fed_rate, warns="'rate'"),
]
