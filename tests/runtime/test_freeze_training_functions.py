"""What computes as in training inside functions, as TensorFlow writes them: found, and told like what is outside."""

import pytest
import tensorflow as tf

from graphviewer import protos
from graphviewer.errors import OperationError, TrainingModeError
from graphviewer.model.document import Document
from graphviewer.operations.registry import Result, operations

v1 = tf.compat.v1


def norm(x: tf.Tensor, *, training: bool) -> tf.Tensor:
    """A batch norm on the batch's statistics, or on given ones."""
    ones, given = tf.ones([4]), {} if training else {"mean": tf.zeros([4]), "variance": tf.ones([4])}
    return v1.nn.fused_batch_norm(x, ones, ones, is_training=training, **given)[0]


def chosen(condition: tf.Tensor, x: tf.Tensor) -> tf.Tensor:
    return v1.cond(condition, lambda: norm(x, training=True), lambda: norm(x, training=False))


def drop(x: tf.Tensor) -> tf.Tensor:
    return tf.nn.dropout(x, 0.5)


def flag() -> tf.Tensor:
    return v1.placeholder(tf.bool, [], "flag")


def off() -> tf.Tensor:
    return tf.identity(tf.constant(False))


def switched_on(x: tf.Tensor) -> tf.Tensor:
    """A loop whose second turn takes the branch in training mode."""
    step = lambda on, a: (tf.logical_not(on), chosen(on, a))  # noqa: E731
    return tf.while_loop(lambda on, a: True, step, [tf.constant(False), x], maximum_iterations=2)[1]


def made(build) -> Document:
    """The graph of ``y = build(x)``, its conditionals and loops as functions."""
    with tf.Graph().as_default() as graph:
        v1.enable_control_flow_v2()
        tf.identity(build(v1.placeholder(tf.float32, [None, 2, 2, 4], "x")), name="y")
    return Document("graphdef", protos.GraphDef.FromString(graph.as_graph_def().SerializeToString()))


def run(operation: str, document: Document, **options) -> Result:
    return operations()[operation].run(document, outputs=["y"], **options)


@pytest.mark.parametrize(
    "build",
    [
        pytest.param(lambda x: tf.function(drop)(x), id="dropout in a function"),
        pytest.param(lambda x: tf.function(lambda x: tf.function(drop)(x))(x), id="dropout in a function's function"),
        pytest.param(
            lambda x: tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, drop(a)), [0, x])[1],
            id="dropout in a loop",
        ),
        pytest.param(lambda x: chosen(tf.identity(tf.constant(True)), x), id="branch of a constant"),
        pytest.param(lambda x: tf.function(chosen)(tf.constant(True), x), id="branch of a constant argument"),
        pytest.param(lambda x: switched_on(x), id="branch of what a loop starts with as False"),
    ],
)
def test_that_training_mode_in_a_function_is_refused_unless_allowed(build):
    document = made(build)

    with pytest.raises(OperationError, match="computes as in training.*/(dropout/SelectV2|FusedBatchNormV3)"):
        run("freeze", document)
    assert "as in training" in " ".join(run("freeze", document, allow_training_mode=True).warnings)


@pytest.mark.parametrize(
    "build",
    [
        pytest.param(lambda x: chosen(flag(), x), id="conditional"),
        pytest.param(lambda x: v1.cond(flag(), lambda: drop(x), lambda: x), id="dropout"),
        pytest.param(lambda x: tf.function(lambda x, on: chosen(on, x))(x, flag()), id="argument of a function"),
    ],
)
def test_that_the_placeholder_that_chooses_a_branch_in_training_mode_is_named(build):
    result = run("freeze", made(build))

    assert result.switches == ("flag",)
    assert "'flag' decides whether" in " ".join(result.warnings)


@pytest.mark.parametrize(
    "build",
    [
        pytest.param(lambda x: chosen(off(), x), id="in the graph"),
        pytest.param(lambda x: tf.function(chosen)(off(), x), id="argument of a function"),
        pytest.param(lambda x: tf.function(lambda x: chosen(off(), x))(x), id="in a function"),
    ],
)
def test_that_a_branch_that_a_constant_never_takes_is_no_matter(build):
    result = run("freeze", made(build))

    assert result.switches == ()
    assert "training" not in " ".join(result.warnings)


def test_that_random_numbers_in_a_function_are_told():
    document = made(lambda x: tf.function(lambda x: x + tf.random.normal([4]))(x))

    assert "depend on random numbers: " in " ".join(run("freeze", document).warnings)


def test_that_random_numbers_of_a_pipeline_are_its_own_business():
    def build(x):
        data = tf.data.Dataset.from_tensor_slices([[1.0], [2.0]]).map(drop)
        return x * v1.data.make_one_shot_iterator(data).get_next()

    assert "random" not in " ".join(run("freeze", made(build)).warnings)


def test_that_dropout_in_a_function_is_repaired_once_it_is_inlined():
    document = operations()["inline-functions"].run(made(lambda x: tf.function(drop)(x))).document

    repaired = run("inference-mode", document).document

    assert "RandomUniform" not in repaired.graph.ops
    assert not run("freeze", repaired).warnings


def sometimes(x: tf.Tensor) -> tf.Tensor:
    return v1.cond(v1.random_uniform([]) > 0.5, lambda: drop(x), lambda: x)


def looped(body, x: tf.Tensor) -> tf.Tensor:
    return tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, body(a)), [0, x])[1]


@pytest.mark.parametrize(
    "build",
    [
        pytest.param(lambda x: tf.function(drop)(x), id="function"),
        pytest.param(lambda x: chosen(tf.identity(tf.constant(True)), x), id="branch of a constant"),
        pytest.param(lambda x: tf.function(chosen)(tf.constant(True), x), id="branch of a constant argument"),
    ],
)
def test_that_inference_mode_is_offered_where_it_mends_what_functions_do(build):
    document = made(build)

    with pytest.raises(TrainingModeError):
        run("freeze", document)
    inlined = operations()["inline-functions"].run(document).document
    left = run("inference-mode", inlined).warnings

    assert not any("stays a function" in warning for warning in left)


@pytest.mark.parametrize(
    "build",
    [
        pytest.param(lambda x: looped(drop, x), id="loop"),
        pytest.param(lambda x: looped(lambda a: chosen(tf.identity(tf.constant(True)), a), x), id="branch in a loop"),
        pytest.param(lambda x: tf.function(lambda x: looped(drop, x))(x), id="loop in a function"),
        pytest.param(sometimes, id="branch chosen by what is computed"),
    ],
)
def test_that_what_no_operation_mends_is_only_allowed(build):
    document = made(build)

    with pytest.raises(OperationError, match="as in training") as caught:
        run("freeze", document)
    inlined = operations()["inline-functions"].run(document).document
    mended = run("inference-mode", inlined)

    assert not isinstance(caught.value, TrainingModeError)
    assert "inference mode first" not in caught.value.hint
    assert "--allow-training-mode" in caught.value.shell
    assert "--allow-training-mode" not in caught.value.hint
    assert "as in training in a body that stays a function" in " ".join(mended.warnings)
    assert "inline-functions" not in " ".join(mended.warnings)
    with pytest.raises(OperationError, match="as in training"):
        run("freeze", mended.document)
