"""Updates of variables that a network runs on the way: right where a frozen graph can be, else refused by name."""

import pytest
import tensorflow as tf
from freeze_cases import output, variable
from test_freeze import assert_equal, freeze, run, trained
from update_graphs import UpdateGraph

from graphviewer.errors import OperationError

v1 = tf.compat.v1


def counter(value, *, before=True):
    """A function that gives a variable's value and adds one to it, in either order."""

    @tf.function
    def count():
        if before:
            given = value.read_value() + 0.0
            value.assign_add(1.0)
            return given
        value.assign_add(1.0)
        return tf.constant(2.0)

    return count


def called_twice_in_a_function():
    count = counter(variable("v", [], resource=True))
    output(tf.function(lambda: count() * 10.0 + count())())


def called_twice_in_the_graph():
    count = counter(variable("v", [], resource=True))
    first = count()
    with tf.control_dependencies([first]):
        output(first * 10.0 + count())


def called_after_another_function_updated():
    value = variable("v", [], resource=True)
    update, count = counter(value, before=False), counter(value)
    output(tf.function(lambda: update() + count())())


def called_twice_through_another_function():
    count = counter(variable("v", [], resource=True))
    outer = tf.function(lambda: count() + 1.0)
    output(tf.function(lambda: outer() * 10.0 + outer())())


def range_loop():
    value = variable("v", [], resource=True)

    @tf.function
    def total():
        whole = tf.constant(0.0)
        for _ in tf.range(3):
            whole += value
            value.assign_add(1.0)
        return whole

    output(total())


def range_loop_around_a_call():
    count = counter(variable("v", [], resource=True))

    @tf.function
    def total():
        whole = tf.constant(0.0)
        for _ in tf.range(3):
            whole += count()
        return whole

    output(total())


def condition_of_a_loop():
    value = variable("v", [], resource=True)

    def body(step):
        with tf.control_dependencies([value.assign_add(1.0)]):
            return step + 1.0

    output(tf.while_loop(lambda step: step + value < 9.0, body, [0.0])[0])


def loop_that_reads_first():
    value = variable("v", [], resource=True)

    def step(index, whole):
        given = value.read_value()
        with tf.control_dependencies([given]):
            update = value.assign_add(1.0)
        with tf.control_dependencies([update]):
            return index + 1, whole + given

    output(v1.while_loop(lambda index, _: index < 3, step, [0, 0.0])[1])


def loop_around_a_call():
    count = counter(variable("v", [], resource=True))
    output(v1.while_loop(lambda index, _: index < 3, lambda index, y: (index + 1, y + count()), [0, 0.0])[1])


def mapped_dataset():
    count = counter(variable("v", [], resource=True))
    data = tf.data.Dataset.range(3).map(lambda _: count())
    output(data.reduce(0.0, lambda whole, one: whole * 10.0 + one))


def reference_updated_twice():
    value = variable("v", [], resource=False)
    first = v1.assign_add(value, 1.0)
    with tf.control_dependencies([first]):
        output(v1.assign_sub(value, 5.0))


def reference_read_before_it_is_replaced():
    value = variable("v", [], resource=False)
    given = v1.identity(value)
    with tf.control_dependencies([given]):
        update = v1.assign(value, value * 2.0)
    output(update + given)


def reference_read_in_another_form():
    value = variable("v", [1, 2], resource=False)
    given = tf.reshape(v1.identity(value), [2])
    with tf.control_dependencies([given]):
        update = v1.assign(value, value * 2.0)
    output(tf.reshape(update, [2]) + given)


def reference_in_a_loop():
    value = variable("v", [], resource=False)

    def step(index, whole):
        return index + 1, whole + v1.assign_add(value, 1.0)

    output(v1.while_loop(lambda index, _: index < 3, step, [0, 0.0])[1])


FUNCTIONS = [
    called_twice_in_a_function,
    called_twice_in_the_graph,
    called_after_another_function_updated,
    called_twice_through_another_function,
    range_loop,
    range_loop_around_a_call,
    condition_of_a_loop,
    loop_that_reads_first,
    loop_around_a_call,
    mapped_dataset,
]
REFERENCES = [
    reference_updated_twice,
    reference_read_before_it_is_replaced,
    reference_read_in_another_form,
]
LOOPS = [loop_that_reads_first, loop_around_a_call, reference_in_a_loop]
CASES = [*((build, True) for build in [*FUNCTIONS, *REFERENCES]), *((build, False) for build in LOOPS)]


@pytest.mark.parametrize(("build", "functions"), CASES, ids=[f"{one.__name__}-{two}" for one, two in CASES])
def test_that_a_read_which_an_update_precedes_is_refused_with_the_update(build, functions, tmp_path):
    original = trained(build, tmp_path, control_flow_v2=functions)

    with pytest.raises(OperationError, match=r"after '.*Assign.*' \(Assign.*\) has changed it"):
        freeze(original.document)

    freeze(original.document, accept_value_before=True)


def single_update():
    output(v1.assign_add(variable("v", [], resource=False), 1.0) * 2.0)


def chained_by_data():
    value = variable("v", [], resource=False)
    output(v1.assign_sub(v1.assign_add(value, 1.0), 5.0))


def replaced_after_an_update():
    value = variable("v", [], resource=False)
    with tf.control_dependencies([v1.assign_add(value, 1.0)]):
        output(v1.assign(value, 10.0) * 2.0)


def average_that_is_used():
    mean, x = variable("m", [2], resource=False), tf.constant([1.0, 2.0])
    output(v1.assign_sub(mean, (mean - x) * 0.1) + x)


def read_for_its_update_alone():
    value, other = variable("v", [], resource=True), variable("w", [], resource=True)

    @tf.function
    def doubled():
        for _ in tf.range(3):
            value.assign(value * 2.0)
        return other + 1.0

    output(doubled() + doubled())


def called_twice_without_updates():
    value = variable("v", [], resource=True)
    inner = tf.function(lambda x: value * x)
    output(tf.function(lambda: inner(inner(2.0)))())


def branches_of_one_call():
    value, choice = variable("v", [], resource=True), v1.placeholder_with_default(False, [], "p")

    def updating():
        with tf.control_dependencies([value.assign_add(1.0, read_value=False)]):
            return tf.constant(5.0)

    output(tf.function(lambda: tf.cond(choice, updating, lambda: value * 2.0))())


@pytest.mark.parametrize("functions", [True, False], ids=["functions", "switches"])
@pytest.mark.parametrize(
    "build",
    [
        single_update,
        chained_by_data,
        replaced_after_an_update,
        average_that_is_used,
        read_for_its_update_alone,
        called_twice_without_updates,
        branches_of_one_call,
    ],
)
def test_that_updates_which_change_no_value_that_is_read_are_no_obstacle(build, functions, tmp_path):
    original = trained(build, tmp_path, control_flow_v2=functions)
    assert_equal(original.values, run(freeze(original.document)))


@pytest.mark.parametrize("seed", range(24))
def test_that_a_drawn_row_of_reads_and_updates_is_refused_or_right(seed, tmp_path):
    original = trained(lambda: UpdateGraph(seed), tmp_path, control_flow_v2=bool(seed % 2))
    try:
        result = freeze(original.document, saver="names")
    except OperationError as error:
        assert "has changed it" in str(error)  # noqa: PT017
    else:
        assert_equal(original.values, run(result))
