"""Reports of other tools where what counts is what the graph gives when it runs: TensorFlow runs both sides."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf
from builders import as_document, recurrent
from freeze_cases import output
from proof_graphs import changed
from test_freeze import Trained, assert_equal, exact_session, freeze, run, trained

from graphviewer import protos
from graphviewer.analysis.diff.variables import compare_variables, values_of
from graphviewer.errors import OperationError
from graphviewer.formats import open_document
from graphviewer.model.document import Document
from graphviewer.operations.registry import operations
from graphviewer.runtime.verify import verify

v1 = tf.compat.v1
X = np.random.RandomState(5).rand(3, 4).astype("f4")


def placeholder(shape=(None, 4)):
    return v1.placeholder(tf.float32, shape, "x")


# The frozen graph will not load or run


def norm_in_conditional() -> None:
    """As in facenet: a batch norm that updates its moving averages in one branch of a cond on phase_train."""
    x, training = placeholder(), v1.placeholder(tf.bool, [], "phase_train")
    mean = v1.get_variable("mean", [4], use_resource=False)

    def train():
        batch = tf.reduce_mean(x, 0)
        return x - batch + v1.assign_sub(mean, (mean - batch) * 0.1) * 0.0

    output(v1.cond(training, train, lambda: x - mean))


@pytest.fixture
def facenet(tmp_path) -> Trained:
    return trained(norm_in_conditional, tmp_path, feed={"x:0": X, "phase_train:0": False}, control_flow_v2=False)


def test_that_the_conditional_on_phase_train_loads_and_runs_as_before_facenet161_tf3628(facenet):
    kept = freeze(facenet.document)
    folded = freeze(operations()["inference-mode"].run(facenet.document, outputs=["y"]).document)

    assert_equal(facenet.values, run(kept, feed={"x:0": X, "phase_train:0": False}))
    assert_equal(facenet.values, run(folded, feed={"x:0": X}))
    assert any(rewrite.node == "cond/AssignSub" for rewrite in kept.rewrites)


def test_that_the_workaround_by_hand_is_found_to_give_other_values_tensorflow_onnx1791(tmp_path):
    """A graph whose update was taken out with a script loads, and gives the value before the update."""

    def build() -> None:
        value = v1.get_variable("v", [4], use_resource=False)
        output(placeholder() + v1.assign_sub(value, tf.ones([4])))

    original = trained(build, tmp_path, feed={"x:0": X})
    result = freeze(original.document)
    assert_equal(original.values, run(result, feed={"x:0": X}))

    def without_the_update(node) -> None:
        node.input[:] = [node.input[0], "v"]

    by_hand = changed(result.document, "add", without_the_update)
    found = verify(original.document, by_hand, ["y"])

    assert found.verdict == "different"
    assert found.outputs[0].max_abs == pytest.approx(1.0, rel=1e-5)


def test_that_gathers_beside_a_taken_name_give_the_same_rows_tf53866(tmp_path):
    def build() -> None:
        table = v1.get_variable("table", [5, 3], use_resource=True)
        first = tf.raw_ops.ResourceGather(resource=table.handle, indices=[4, 1], dtype=tf.float32, name="Gather")
        taken = tf.constant(2.0, name="Gather/axis")
        second = tf.raw_ops.ResourceGather(
            resource=table.handle, indices=[0, 3], dtype=tf.float32, name="Gather/axis_1"
        )
        output(first * taken + second)

    original = trained(build, tmp_path)

    assert_equal(original.values, run(freeze(original.document)))


@pytest.mark.filterwarnings("ignore")
def test_that_an_exported_lstm_freezes_and_gives_what_the_model_gives_tf36391(tmp_path):
    layers = tf.keras.layers
    model = tf.keras.Sequential([layers.Input((5, 3)), layers.LSTM(4), layers.Dense(2)])
    model.export(str(tmp_path / "exported"), verbose=False)
    rows = np.random.RandomState(1).rand(7, 5, 3).astype("f4")
    document = open_document(tmp_path / "exported")
    signature = document.signatures["serving_default"]
    ((given,), (made,)) = (signature.inputs.values(), signature.outputs.values())

    result = freeze(document, [made.name])

    values = run(result, [made.name], {given.name: rows})[made.name]
    np.testing.assert_allclose(values, model(rows).numpy(), rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("resource", [True, False], ids=["resource", "reference"])
def test_that_no_assignment_stays_and_a_read_that_waits_for_one_names_it_tf35406(resource, tmp_path):
    def build() -> None:
        value = v1.get_variable("v", [4], use_resource=resource)
        with v1.control_dependencies([v1.assign_add(value, tf.ones([4]), name="step").op]):
            output(placeholder() + (value.read_value() if resource else tf.identity(value._ref())))

    original = trained(build, tmp_path, feed={"x:0": X})

    update = r"'(step|AssignAddVariableOp)' \(Assign\w*\)"
    with pytest.raises(OperationError, match=f"reads 'v' after {update} has changed it"):
        freeze(original.document)


# It loads, but gives wrong numbers


def averaged() -> None:
    """One step of training and an exponential moving average of the weights, as in the Inception recipe."""
    x = placeholder()
    weights = v1.get_variable("w", [4, 2], use_resource=False)
    output(tf.matmul(x, weights))
    step = v1.assign_sub(weights, tf.ones_like(weights))
    average = v1.train.ExponentialMovingAverage(0.75)
    with v1.control_dependencies([step]):
        tf.group(average.apply([weights]), name="train")


@pytest.fixture
def with_averages(tmp_path) -> tuple[Document, dict[str, np.ndarray]]:
    """The graph after a step, and what ``y`` is with the weights and with their averages."""
    with tf.Graph().as_default() as graph, exact_session(graph) as session:
        v1.disable_control_flow_v2()
        averaged()
        saver = v1.train.Saver()
        session.run(v1.global_variables_initializer())
        session.run("train")
        saver.save(session, str(tmp_path / "model.ckpt"))
        values = {"w": session.run("y:0", {"x:0": X})}
        session.run(
            v1.assign(graph.get_tensor_by_name("w:0"), graph.get_tensor_by_name("w/ExponentialMovingAverage:0"))
        )
        values["average"] = session.run("y:0", {"x:0": X})
    return open_document(tmp_path / "model.ckpt.meta"), values


def test_that_the_averages_give_what_a_session_that_loads_them_gives_tf9724(with_averages):
    document, values = with_averages

    raw, smooth = freeze(document), freeze(document, saver="moving-averages")

    assert np.abs(values["w"] - values["average"]).max() > 0.1
    assert_equal({"y:0": values["w"]}, run(raw, feed={"x:0": X}))
    assert_equal({"y:0": values["average"]}, run(smooth, feed={"x:0": X}))
    assert any("--saver moving-averages" in warning for warning in raw.warnings)


def test_that_a_result_with_other_weights_is_caught_before_it_is_saved_tf12450(with_averages):
    document, values = with_averages

    found = verify(document, freeze(document, saver="moving-averages").document, ["y"], {"x": X})

    assert found.verdict == "different"
    assert found.outputs[0].max_abs == pytest.approx(np.abs(values["w"] - values["average"]).max(), rel=1e-5)


def test_that_each_variable_of_a_checkpoint_is_compared_with_the_constant_it_became_tf35167(with_averages, tmp_path):
    document, _ = with_averages
    checkpoint = values_of(open_document(document.checkpoint, alone=True))

    frozen = {name: values_of(freeze(document, **options).document) for name, options in (
        ("raw", {}), ("smooth", {"saver": "moving-averages"}),
    )}  # fmt: skip
    same, other = (compare_variables(checkpoint, frozen[name]) for name in ("raw", "smooth"))

    assert [(one.status, one.name) for one in same.changes] == [("removed", "w/ExponentialMovingAverage")]
    (change,) = [one for one in other.changes if one.status == "changed"]
    assert (change.name, change.details["difference"]["differing"]) == ("w", 8)
    assert change.details["difference"]["max_abs"] == pytest.approx(0.75)  # three quarters of the step


def test_that_a_graph_saved_for_training_is_refused_and_repaired_tf26075(tmp_path):
    def build() -> None:
        x = placeholder((None, 2, 2, 4))
        parts = [v1.get_variable(name, [4], use_resource=False) for name in ("scale", "offset")]
        mean, variance = (
            v1.get_variable(name, [4], initializer=v1.random_uniform_initializer(0.5, 1.5), use_resource=False)
            for name in ("moving_mean", "moving_variance")
        )
        made, *batch = v1.nn.fused_batch_norm(x, *parts, is_training=True)[:3]
        for moving, value in zip((mean, variance), batch, strict=True):
            v1.assign_sub(moving, (moving - value) * 0.1)
        output(made)
        tf.identity(v1.nn.fused_batch_norm(x, *parts, mean, variance, is_training=False)[0], name="twin")

    images = np.random.RandomState(2).rand(3, 2, 2, 4).astype("f4")
    original = trained(build, tmp_path, ["y:0", "twin:0"], feed={"x:0": images})

    with pytest.raises(OperationError, match="computes as in training") as error:
        freeze(original.document)
    assert "inference mode" in error.value.hint.lower()
    repaired = operations()["inference-mode"].run(original.document, outputs=["y"])
    given = run(freeze(repaired.document), feed={"x:0": images})
    assert_equal({"y:0": original.values["twin:0"]}, given)
    assert np.abs(given["y:0"] - original.values["y:0"]).max() > 1e-2


# Strip or optimise damages the graph


def in_a_loop() -> None:
    weight = v1.get_variable("w", [4, 4], use_resource=False)
    step = lambda i, y: (i + 1, tf.tanh(tf.matmul(y, weight)))  # noqa: E731
    output(v1.while_loop(lambda i, y: i < 3, step, [0, tf.identity(placeholder(), "start")])[1])


def in_a_conditional() -> None:
    """Constants in a branch hang on the branch by a control edge from an Identity."""
    weight, flag = v1.get_variable("w", [4], use_resource=False), v1.placeholder(tf.bool, [], "flag")
    x = tf.identity(placeholder(), "start")
    output(v1.cond(flag, lambda: x * 2.0 + weight, lambda: tf.identity(x) - tf.constant(3.0)))


OPTIONS = {"rename": {"scopes": "w=moved"}, "cut-inputs": {"inputs": ["start"]}}
KEPT = sorted(set(operations()) - {"inference-mode"})


def applied(name: str, original: Trained) -> Document:
    options = dict(OPTIONS.get(name, {}))
    if operations()[name].parameter("outputs") is not None:
        options["outputs"] = ["y"]
    return operations()[name].run(original.document, **options).document


def restored(document: Document, checkpoint: Path, feed: dict[str, object], names: dict[str, str]) -> np.ndarray:
    """``y``, with each variable's value under the key of ``names`` assigned by hand: whatever is left of the saver."""
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(v1.GraphDef.FromString(document.graph_def.SerializeToString()), name="")
        reader = tf.train.load_checkpoint(str(checkpoint))
        with exact_session(graph) as session:
            for operation in graph.get_operations():
                if operation.type == "VariableV2":
                    value = reader.get_tensor(names.get(operation.name, operation.name))
                    session.run(tf.raw_ops.Assign(ref=operation.outputs[0], value=value))
            known = {name: value for name, value in feed.items() if name.partition(":")[0] in _names(graph)}
            return session.run("y:0", known)


def _names(graph: tf.Graph) -> set[str]:
    return {operation.name for operation in graph.get_operations()}


@pytest.mark.parametrize("name", KEPT)
@pytest.mark.parametrize("flag", [None, True, False], ids=["loop", "true", "false"])
def test_that_loops_and_conditionals_survive_every_operation_tf19838_pr8765(name, flag, tmp_path):
    build = in_a_loop if flag is None else in_a_conditional
    feed = {"x:0": X} if flag is None else {"x:0": X, "flag:0": flag}
    original = trained(build, tmp_path, feed=feed, control_flow_v2=False)

    after = applied(name, original)

    feed = feed | {"start:0": X} if name == "cut-inputs" else feed
    given = restored(after, original.document.checkpoint, feed, {"moved": "w"})
    np.testing.assert_array_equal(given, original.values["y:0"])


@pytest.mark.parametrize("name", sorted(set(operations()) - {"freeze"}))
def test_that_what_is_made_of_a_trained_loop_imports_tf19838(name):
    """The backward loop reads stacks that the forward loop fills: a result that lost one would be an invalid graph."""
    original = as_document(recurrent())
    options = {"rename": {"scopes": "w=moved"}, "cut-inputs": {"inputs": ["x"]}}.get(name, {})
    operation = operations()[name]
    if operation.parameter("outputs") is not None:
        options["outputs"] = ["prob"]

    after = operation.run(original, **options).document

    with tf.Graph().as_default() as graph:
        tf.import_graph_def(v1.GraphDef.FromString(after.graph_def.SerializeToString()), name="")
        assert graph.get_operation_by_name("prob").type == "Sigmoid"
        assert {one.name for one in graph.get_operations()} == set(after.graph.names)


def test_that_each_of_several_inputs_keeps_its_dtype_and_runs_tf5913(tmp_path):
    def build() -> None:
        image = v1.decode_raw(v1.placeholder(tf.string, [None], "raw"), tf.uint8)
        words = v1.string_split(v1.placeholder(tf.string, [None], "text"))
        count = tf.identity(tf.size(words.values), name="count")
        output(tf.cast(tf.identity(image, name="image"), tf.float32) * tf.cast(count, tf.float32))

    feed = {"raw:0": np.array([b"abc"]), "text:0": np.array([b"two words"])}
    original = trained(build, tmp_path, feed=feed)

    result = operations()["extract"].run(original.document, outputs=["y"], inputs=["image", "count"])

    pixels = np.frombuffer(b"abc", np.uint8)[None]
    assert_equal(original.values, run(result, feed={"image:0": pixels, "count:0": np.int32(2)}))
    made = {node.name: node.attr["dtype"].type for node in result.document.graph_def.node if node.op == "Placeholder"}
    assert made == {"image": protos.DataType.UINT8, "count": protos.DataType.INT32}
