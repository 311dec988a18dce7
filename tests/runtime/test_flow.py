"""Operations inside conditionals and loops of TF1: what they add runs only where, and as often as, it should."""

import numpy as np
import pytest
import tensorflow as tf
from freeze_cases import output, variable
from tensorflow.python.framework import function as legacy_function
from test_freeze import assert_equal, exact_session, freeze, run, trained
from test_rewriting_operations import Session, apply, built

from graphviewer import protos
from graphviewer.model.document import Document

v1 = tf.compat.v1


def repeated(step, start):
    """Three times ``step(index, y)`` in a loop."""
    return v1.while_loop(lambda index, _: index < 3, lambda index, y: (index + 1, step(index, y)), [0, start])[1]


def gather_in_a_loop():
    rows = variable("v", [4, 2], resource=True)
    output(repeated(lambda index, y: y + tf.gather(rows, index), tf.zeros([2])))


def gather_in_a_loop_in_a_branch_in_a_loop():
    rows, choice = variable("v", [4, 2], resource=True), v1.placeholder_with_default(True, [], "p")

    def inner(index, y):
        chosen = v1.cond(choice, lambda: tf.gather(rows, [index]), lambda: rows[:1])
        return y + chosen[0] + repeated(lambda at, z: z + tf.gather(rows, at), y)

    output(repeated(inner, tf.zeros([2])))


def initialized_in_a_loop():
    value = variable("v", [2], resource=True)

    def step(_, y):
        return y + tf.cast(v1.is_variable_initialized(value), tf.float32)

    output(repeated(step, tf.zeros([2])))


def in_a_function_with_a_loop():
    rows = variable("v", [4, 2], resource=True)

    @legacy_function.Defun(tf.resource, func_name="Looped")
    def looped(handle):
        def step(index, y):
            known = tf.raw_ops.VarIsInitializedOp(resource=handle)
            row = tf.raw_ops.ResourceGather(resource=handle, indices=index, dtype=tf.float32)
            return y + row * tf.cast(known, tf.float32)

        return v1.while_loop(
            lambda index, _: index < 3,
            lambda index, y: (index + 1, step(index, y)),
            [0, tf.zeros([2])],
            shape_invariants=[tf.TensorShape([]), tf.TensorShape(None)],
        )[1]

    output(looped(rows.handle))


def waits_in_a_branch(resource):
    def build():
        value, choice = variable("v", [], resource=resource), v1.placeholder("bool", [], "p")
        x = v1.placeholder(tf.float32, [], "x")

        def checked():
            with tf.control_dependencies([v1.assert_less(x, 100.0), v1.assign_add(value, x)]):
                return tf.constant(7.0)

        output(v1.cond(choice, checked, lambda: x * 2.0) + v1.cond(choice, lambda: x, checked))

    return build


def waits_in_a_loop(resource):
    def build():
        value = variable("v", [], resource=resource)

        def step(index, y):
            with tf.control_dependencies([v1.check_numerics(y, "bad"), v1.assign_add(value, y)]):
                return y + tf.constant(7.0)

        output(repeated(step, tf.zeros([])))

    return build


FROZEN = {
    "gather in a loop": gather_in_a_loop,
    "gather in nested flow": gather_in_a_loop_in_a_branch_in_a_loop,
    "initialized in a loop": initialized_in_a_loop,
    "loop in a function": in_a_function_with_a_loop,
    "waits in a loop, resource": waits_in_a_loop(True),
    "waits in a loop, reference": waits_in_a_loop(False),
}


@pytest.mark.parametrize("build", FROZEN.values(), ids=FROZEN)
def test_that_constants_that_freezing_adds_live_where_they_are_read(build, tmp_path):
    original = trained(build, tmp_path, control_flow_v2=False)
    assert_equal(original.values, run(freeze(original.document)))


@pytest.mark.parametrize("operation", ["freeze", "inference-mode"])
@pytest.mark.parametrize("choice", [False, True])
@pytest.mark.parametrize("resource", [False, True], ids=["reference", "resource"])
def test_that_a_constant_that_waited_in_a_branch_stays_in_it(resource, choice, operation, tmp_path):
    feed = {"p:0": choice, "x:0": np.float32(3.0)}
    original = trained(waits_in_a_branch(resource), tmp_path, feed=feed, control_flow_v2=False)

    result = freeze(original.document) if operation == "freeze" else apply(operation, original.document, outputs=["y"])

    if operation == "freeze":
        assert_equal(original.values, run(result, feed=feed))
    else:
        assert_equal(original.values, run(freeze(result.document), feed=feed))


def seven(x):
    return tf.constant(7.0)


def failing(x):
    v1.Assert(tf.constant(False), ["this branch is not taken"])
    return x + 1.0


def nested(x):
    return tf.function(seven)(x) + tf.function(lambda y: y * 2.0)(x)


def two_results(x):
    return tf.function(lambda y: (tf.constant(1.0), y))(x)[0]


BODIES = [seven, failing, nested, two_results]


def without_waits(document, op="PartitionedCall"):
    """The document with calls that wait for nothing but their arguments."""
    graph_def = protos.GraphDef()
    graph_def.CopyFrom(document.graph_def)
    for node in graph_def.node:
        if node.op.endswith(op):
            node.input[:] = [text for text in node.input if not text.startswith("^")]
    return Document("graphdef", graph_def)


@pytest.mark.parametrize("choice", [False, True])
@pytest.mark.parametrize("body", BODIES)
def test_that_an_inlined_function_runs_only_in_the_branch_that_is_taken(body, choice):
    def build():
        x, p = v1.placeholder(tf.float32, [], "x"), v1.placeholder(tf.bool, [], "p")
        output(v1.cond(p, lambda: tf.function(body)(x), lambda: x * 2.0))

    before = built(build, control_flow_v2=False)
    feed = {"x:0": np.float32(2.0), "p:0": choice and body is not failing}

    for document in (before, without_waits(before)):
        after = apply("inline-functions", document).document
        assert_equal(run(Session(document), feed=feed), run(Session(after), feed=feed))


@pytest.mark.parametrize("body", [seven, nested, two_results])
def test_that_an_inlined_function_runs_in_every_iteration(body):
    def build():
        x = v1.placeholder(tf.float32, [], "x")

        def step(_, y):
            given = tf.function(body)(y)
            given.set_shape([])
            return y * 0.5 + given

        output(repeated(step, x))

    before = built(build, control_flow_v2=False)

    for document in (before, without_waits(before)):
        after = apply("inline-functions", document).document
        feed = {"x:0": np.float32(2.0)}
        assert_equal(run(Session(document), feed=feed), run(Session(after), feed=feed))


def test_that_updates_in_an_inlined_function_happen_only_in_the_branch_that_is_taken():
    def build():
        value, p = variable("v", [], resource=True), v1.placeholder(tf.bool, [], "p")

        @tf.function
        def count(x):
            value.assign_add(tf.constant(1.0))
            return x

        output(v1.cond(p, lambda: count(tf.constant(1.0)), lambda: tf.constant(0.0)))
        tf.identity(value.read_value(), name="now")

    after = apply("inline-functions", built(build, control_flow_v2=False)).document

    with tf.Graph().as_default() as graph:
        tf.import_graph_def(v1.GraphDef.FromString(after.graph_def.SerializeToString()), name="")
        with exact_session(graph) as session:
            session.run("v/Assign")
            values = []
            for choice in (False, True):
                session.run("y:0", {"p:0": choice})
                values.append(session.run("now:0"))
    assert values[1] - values[0] == pytest.approx(1.0)


def test_that_a_batch_norm_in_a_loop_is_left_alone_with_the_reason():
    def build():
        x = v1.placeholder(tf.float32, [None, 2, 2, 3], "x")
        parts = [v1.get_variable(name, [3]) for name in ("gamma", "beta", "moving_mean", "moving_variance")]

        def step(_, y):
            given, mean, variance = v1.nn.fused_batch_norm(y, *parts[:2], is_training=True)[:3]
            updates = [v1.assign_sub(parts[2], mean), v1.assign_sub(parts[3], variance)]
            with tf.control_dependencies(updates):
                return tf.identity(given)

        output(repeated(step, x))

    result = apply("inference-mode", built(build, control_flow_v2=False), outputs=["y"])

    assert "it runs in a loop" in " ".join(result.warnings)
    run(Session(result.document), ["x:0"], {"x:0": np.zeros([1, 2, 2, 3], np.float32)})
