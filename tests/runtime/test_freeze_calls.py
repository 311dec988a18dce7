"""Freezing through every way of calling a function: bit for bit what the session gave, or a named refusal."""

import numpy as np
import pytest
import tensorflow as tf
from freeze_cases import output, variable
from tensorflow.python.framework.function import Defun
from test_freeze import LEFTOVERS, assert_equal, freeze, ops_of, run, trained

from graphviewer import protos
from graphviewer.errors import OperationError
from graphviewer.model.document import Document

raw = tf.raw_ops


def read(handle, shape):
    value = raw.ReadVariableOp(resource=handle, dtype=tf.float32)
    value.set_shape(shape)
    return value


def called_by_name() -> None:
    value = variable("v", [3, 2], resource=True)

    @Defun(tf.resource, tf.float32)
    def scaled(handle, by):
        return raw.ReadVariableOp(resource=handle, dtype=tf.float32) * by

    output(scaled(value.handle, tf.constant(2.0)))


def called_by_name_with_captures() -> None:
    value = variable("v", [3, 2], resource=True)

    @Defun(tf.float32)
    def scaled(by):
        return value.read_value() * by

    output(scaled(tf.constant(2.0)))


def called_by_name_with_two_shapes() -> None:
    first, second = variable("v", [3, 2], resource=True), variable("w", [4], resource=True)

    @Defun(tf.resource)
    def inner(handle):
        return raw.ReadVariableOp(resource=handle, dtype=tf.float32)

    @Defun(tf.resource, tf.resource)
    def both(one, other):
        return tf.reduce_sum(inner(one), [0, 1]) + tf.reduce_sum(inner(other), [0])

    output(both(first.handle, second.handle))


def called_by_name_for_a_handle() -> None:
    value = variable("v", [3, 2], resource=True)

    @Defun(tf.resource)
    def same(handle):
        return tf.identity(handle)

    output(read(same(value.handle), [3, 2]))


def own(shared_name="v"):
    handle = raw.VarHandleOp(dtype=tf.float32, shape=[3], shared_name=shared_name, container="", name="mine")
    return raw.ReadVariableOp(resource=handle, dtype=tf.float32)


def own_variable() -> None:
    value = variable("v", [3], resource=True)
    output(tf.function(lambda by: own() * by)(tf.constant(2.0)) + value)


def own_variable_alone() -> None:
    variable("v", [3], resource=True)
    inner = tf.function(lambda by: own() * by)
    output(tf.function(lambda by: inner(by) + 1.0)(tf.constant(2.0)))


def own_variable_in_branch() -> None:
    variable("v", [3], resource=True)
    output(tf.cond(tf.constant(True), own, lambda: tf.zeros([3])))


def mapped_function() -> None:
    value = variable("v", [3], resource=True)
    function = tf.function(lambda x: value * x, input_signature=[tf.TensorSpec([])]).get_concrete_function()
    made = raw.MapDefun(
        arguments=[tf.constant([1.0, 2.0])], captured_inputs=function.captured_inputs, output_types=[tf.float32],
        output_shapes=[tf.TensorShape([3])], f=function,
    )  # fmt: skip
    output(made[0])


def batched_function() -> None:
    value = variable("v", [3], resource=True)
    function = tf.function(lambda x: value * x, input_signature=[tf.TensorSpec([None, 3])]).get_concrete_function()
    made = raw.BatchFunction(
        in_tensors=[tf.ones([2, 3])], captured_tensors=function.captured_inputs, f=function, num_batch_threads=1,
        max_batch_size=4, batch_timeout_micros=0, Tout=[tf.float32],
    )  # fmt: skip
    output(made[0])


def total(dataset):
    return dataset.reduce(tf.zeros([3]), lambda whole, one: whole + one)


def mapped_dataset() -> None:
    value = variable("v", [3], resource=True)
    data = tf.data.Dataset.range(4)
    for parallel in (None, 2):
        data = data.map(lambda x: tf.cast(x, tf.float32) + value[0], num_parallel_calls=parallel)
    output(total(data.map(lambda x: x * value)))


def reduced_dataset() -> None:
    value = variable("v", [3], resource=True)
    data = tf.data.Dataset.range(3)
    output(data.reduce(tf.zeros([3]), lambda whole, one: whole + value * tf.cast(one, tf.float32)))


def filtered_dataset() -> None:
    value = variable("v", [3], resource=True)
    data = tf.data.Dataset.range(5).filter(lambda _: value[0] < 100.0)
    data = data.take_while(lambda _: value[1] < 100.0).scan(tf.constant(0.0), lambda s, x: (s + value[2], x))
    row = lambda x: tf.data.Dataset.from_tensors(value * tf.cast(x, tf.float32))  # noqa: E731
    output(total(data.flat_map(row)) + total(data.interleave(row)))


def marked_for_reading() -> None:
    value = variable("v", [3], resource=True)
    with tf.control_dependencies([raw.DisableCopyOnRead(resource=value.handle)]):
        output(value.read_value() * 1.0)


def either_of_two_shapes() -> None:
    first, second = variable("v", [3], resource=True), variable("w", [2], resource=True)
    handle = tf.cond(tf.constant(True), lambda: tf.identity(second.handle), lambda: tf.identity(first.handle))
    output(raw.ReadVariableOp(resource=handle, dtype=tf.float32) * 1.0)


BUILDS = [
    called_by_name,
    called_by_name_with_captures,
    called_by_name_with_two_shapes,
    called_by_name_for_a_handle,
    own_variable,
    own_variable_alone,
    own_variable_in_branch,
    mapped_function,
    batched_function,
    mapped_dataset,
    reduced_dataset,
    filtered_dataset,
    marked_for_reading,
    either_of_two_shapes,
]


@pytest.mark.parametrize("build", BUILDS)
def test_that_functions_get_values_in_place_of_handles(build, tmp_path):
    original = trained(build, tmp_path)

    result = freeze(original.document)

    assert_equal(original.values, run(result))
    assert not ops_of(result.document) & LEFTOVERS


def test_that_a_variable_of_a_function_is_found_in_the_checkpoint_by_its_shared_name(tmp_path):
    def build() -> None:
        variable("v", [3], resource=True)
        output(tf.function(lambda: own() * 2.0)())

    original = trained(build, tmp_path)
    graph_def = protos.GraphDef()
    graph_def.CopyFrom(original.document.graph_def)
    kept = [node for node in graph_def.node if node.name.partition("/")[0] not in {"v", "save", "init"}]
    del graph_def.node[:]
    graph_def.node.extend(kept)
    bare = Document("graphdef", graph_def, checkpoint=original.document.checkpoint)

    result = freeze(bare)

    assert_equal(original.values, run(result))
    assert result.frozen == 1


def own_without_a_value() -> None:
    variable("v", [3], resource=True)
    output(tf.function(lambda: tf.cond(tf.constant(False), lambda: own("other"), own))())


def exchanged_in_a_loop() -> None:
    first, second = variable("v", [3], resource=True), variable("w", [3], resource=True)

    def body(step, one, other, whole):
        return step + 1, other, one, whole * 2.0 + read(one, [3])

    start = [0, tf.identity(first.handle), tf.identity(second.handle), tf.zeros([3])]
    output(tf.while_loop(lambda step, *_: step < 3, body, start)[3])


def updated_through_a_returned_handle() -> None:
    value = variable("v", [3], resource=True)

    @tf.function
    def same():
        return tf.identity(value.handle)

    handle = same()
    with tf.control_dependencies([raw.AssignAddVariableOp(resource=value.handle, value=tf.ones([3]))]):
        output(raw.ReadVariableOp(resource=handle, dtype=tf.float32) * 1.0)


@pytest.mark.parametrize(
    ("build", "reason"),
    [
        (own_without_a_value, "makes the variable 'mine' of its own, and neither .* a value of 'other'"),
        (exchanged_in_a_loop, "hands another variable on where it was given 'v'"),
        (updated_through_a_returned_handle, "reads 'v' after 'AssignAddVariableOp'"),
    ],
)
def test_that_what_has_no_answer_is_refused_with_the_reason(build, reason, tmp_path):
    original = trained(build, tmp_path)

    with pytest.raises(OperationError, match=reason):
        freeze(original.document)


def test_that_what_has_no_answer_does_no_harm_where_the_outputs_do_not_need_it(tmp_path):
    def build() -> None:
        own_without_a_value()
        tf.multiply(variable("w", [3], resource=True), 2.0, name="z")

    original = trained(build, tmp_path, ("z:0",))

    np.testing.assert_array_equal(run(freeze(original.document, ["z"]), ["z:0"])["z:0"], original.values["z:0"])
