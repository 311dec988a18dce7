"""Verifying: equal graphs are the same to the last bit, and every way not to be is told with its reason."""

from __future__ import annotations

import subprocess
import sys
import time

import numpy as np
import pytest
import tensorflow as tf
from freeze_cases import CASES, Case
from proof_graphs import changed, network, saved

from graphviewer import protos
from graphviewer.errors import Cancelled, UnknownNameError
from graphviewer.formats import open_document, save_document
from graphviewer.model.document import Document
from graphviewer.model.making import make_tensor
from graphviewer.model.tensors import tensor_value
from graphviewer.operations.registry import operations
from graphviewer.runtime.verify import verify
from graphviewer.worker.jobs import run_job

v1 = tf.compat.v1


def freeze(document: Document, outputs=("y",), **options) -> Document:
    return operations()["freeze"].run(document, outputs=outputs, **options).document


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_that_a_frozen_graph_is_the_same(case: Case, tmp_path):
    document = saved(case.build, tmp_path, control_flow_v2=case.control_flow_v2)

    found = verify(document, freeze(document, **case.options), ["y"])

    assert (found.verdict, found.reason) == ("same", "difference 0")


@pytest.mark.parametrize("resource", [True, False], ids=["resource", "reference"])
@pytest.mark.parametrize("saver", [True, False], ids=["saver", "no saver"])
def test_that_variables_get_their_values_with_and_without_a_saver(resource, saver, tmp_path):
    document = saved(network(resource=resource), tmp_path, saver=saver)

    found = verify(document, freeze(document))

    assert (found.verdict, found.reason) == ("same", "difference 0")
    assert [one.name for one in found.outputs] == ["y"]
    assert [(feed.name, feed.dtype, feed.shape, feed.made) for feed in found.feeds] == [("x", "float32", (2, 4), True)]
    assert all(seconds > 0 for seconds in found.seconds)


def test_that_a_saver_whose_checkpoint_lacks_slots_does_not_stop_the_proof(tmp_path):
    def build() -> None:
        network(resource=True)()
        v1.get_variable("never_saved", [2], use_resource=True)

    document = saved(build, tmp_path)
    smaller = saved(network(resource=True), tmp_path / "other")

    found = verify(document, freeze(document, checkpoint=smaller.checkpoint), checkpoint=smaller.checkpoint)

    assert (found.verdict, found.reason) == ("same", "difference 0")


def test_that_a_changed_weight_is_different_by_what_it_was_changed(tmp_path):
    def build() -> None:
        tf.identity(v1.placeholder(tf.float32, [None, 2], "x") + v1.get_variable("w", [2]), name="y")

    def change(node) -> None:
        values = tensor_value(node.attr["value"].tensor).copy()
        values[1] += 0.25
        node.attr["value"].tensor.CopyFrom(make_tensor(values, protos.DataType.FLOAT))

    document = saved(build, tmp_path)

    found = verify(document, changed(freeze(document), "w", change))

    assert found.verdict == "different"
    assert found.outputs[0].max_abs == pytest.approx(0.25, abs=1e-6)
    assert "'y' differs by up to 0.25 in 2 of 4 values" in found.reason


def test_that_nan_is_the_same_only_in_the_same_places(tmp_path):
    document = saved(lambda: v1.log(v1.placeholder(tf.float32, [2], "x"), name="y"), tmp_path)
    values = {"x": np.array([1.0, -1.0], np.float32)}

    def change(node) -> None:
        node.op = "Neg"

    same = verify(document, document, ["y"], values)
    found = verify(document, changed(document, "y", change), ["y"], values)

    assert (same.verdict, same.outputs[0].nan_equal) == ("same", True)
    assert (found.verdict, found.outputs[0].nan_equal) == ("different", False)
    assert "1 NaN before and 0 after" in found.reason


def test_that_the_savers_word_on_values_is_not_the_freezes_own(tmp_path):
    def build() -> None:
        first, second = (v1.get_variable(name, [2], use_resource=True) for name in ("first", "second"))
        tf.subtract(first, second, name="y")

    with tf.Graph().as_default() as graph, v1.Session(graph=graph) as session:
        build()
        first, second = v1.global_variables()
        session.run(v1.global_variables_initializer())
        v1.train.Saver({"first": second, "second": first}).save(session, str(tmp_path / "crossed"))
    document = open_document(tmp_path / "crossed.meta")

    assert verify(document, freeze(document), ["y"]).reason == "difference 0"
    assert verify(document, freeze(document, saver="names"), ["y"]).verdict == "different"


def test_that_an_unregistered_op_cannot_be_verified(tmp_path):
    document = saved(network(resource=True), tmp_path)

    def change(node) -> None:
        node.op = "MadeUpTanh"

    strange = changed(document, "Tanh", change)
    found = verify(strange, freeze(strange))

    assert found.verdict == "cannot"
    assert found.reason == "cannot verify: op 'MadeUpTanh' is not registered in this TensorFlow"
    assert "'Tanh'" in found.hint


def test_that_an_unregistered_op_that_the_outputs_do_not_need_is_no_matter(tmp_path):
    document = saved(network(resource=True), tmp_path)
    result = freeze(document)
    graph_def = protos.GraphDef()
    graph_def.CopyFrom(document.graph_def)
    graph_def.node.add(name="extra", op="MadeUpSummary", input=["y"])

    assert verify(document.with_graph(graph_def), result, ["y"]).verdict == "same"


def test_that_dropout_is_not_deterministic(tmp_path):
    document = saved(network(resource=False, rate=0.5), tmp_path)

    found = verify(document, freeze(document, allow_training_mode=True))

    assert found.verdict == "cannot"
    assert "not deterministic: 'dropout/random_uniform/RandomUniform' draws random numbers" in found.reason


def test_that_an_inner_tensor_of_the_original_is_fed_what_the_result_is_fed(tmp_path):
    def build() -> None:
        data = tf.data.Dataset.from_tensor_slices((np.zeros([4, 3], "f4"), np.zeros([4], "i4"))).batch(4, True)
        rows, factors = v1.data.make_one_shot_iterator(data).get_next()
        rows = tf.identity(rows, name="rows")
        tf.multiply(rows * v1.get_variable("w", [3]), tf.cast(factors, tf.float32)[:, None], name="y")

    document = saved(build, tmp_path)

    inner = verify(document, freeze(document, inputs=["rows", "IteratorGetNext:1"]), ["y"])
    whole = verify(document, freeze(document, inputs=["IteratorGetNext"]), ["y"])

    assert (inner.reason, whole.reason) == ("difference 0", "difference 0")
    assert {feed.name for feed in inner.feeds} == {"rows", "IteratorGetNext:1"}
    assert {feed.name for feed in whole.feeds} == {"IteratorGetNext", "IteratorGetNext:1"}


def test_that_feeds_come_from_files(tmp_path):
    document = saved(lambda: v1.square(v1.placeholder(tf.float32, name="x"), name="y"), tmp_path)
    np.save(tmp_path / "x.npy", np.full([5, 2], 3.0))

    found = verify(document, document, ["y"], {"x": str(tmp_path / "x.npy")})

    assert found.verdict == "same"
    assert [(feed.shape, feed.made) for feed in found.feeds] == [((5, 2), False)]


def test_that_a_placeholder_that_was_folded_away_is_fed_in_the_original_only(tmp_path):
    def build() -> None:
        training = v1.placeholder(tf.bool, [], "is_training")
        x = v1.placeholder(tf.float32, [None, 2], "x")
        tf.identity(v1.cond(training, lambda: x * 100.0, lambda: x + v1.get_variable("w", [2])), name="y")

    def fold(node) -> None:
        node.op = "Const"
        node.attr.pop("shape")
        node.attr["value"].tensor.CopyFrom(make_tensor(np.array(False), protos.DataType.BOOL))

    document = saved(build, tmp_path, control_flow_v2=False)

    found = verify(document, changed(freeze(document), "is_training", fold), ["y"])

    assert (found.verdict, found.reason) == ("same", "difference 0")
    assert {feed.name for feed in found.feeds} == {"is_training", "x"}


def test_that_an_input_the_original_does_not_have_is_named(tmp_path):
    document = saved(network(resource=True), tmp_path)
    other = saved(lambda: tf.identity(v1.placeholder(tf.float32, [None, 3], "z"), name="y"), tmp_path / "other")

    found = verify(document, other, ["y"])

    assert found.verdict == "cannot"
    assert "'z' is fed in the result, and the original has no tensor of that name" in found.reason


def test_that_missing_values_are_told(tmp_path):
    document = saved(network(resource=True), tmp_path)
    alone = document.with_graph(document.graph_def, checkpoint=None)

    found = verify(alone, freeze(document))

    assert found.verdict == "cannot"
    assert "2 variables" in found.reason


def test_that_a_result_that_tensorflow_refuses_is_told(tmp_path):
    document = saved(network(resource=True), tmp_path)

    def change(node) -> None:
        node.attr["T"].type = protos.DataType.INT64

    found = verify(document, changed(freeze(document), "Tanh", change), ["y"])

    assert found.verdict == "cannot"
    assert "TensorFlow cannot run the result" in found.reason


def test_that_a_graph_that_updates_its_variables_starts_anew_for_every_run(tmp_path):
    def build() -> None:
        tf.identity(v1.assign_add(v1.get_variable("v", [2], use_resource=False), [1.0, 2.0]), name="y")

    document = saved(build, tmp_path)

    assert verify(document, freeze(document)).reason == "difference 0"


def test_that_a_graph_that_reads_files_runs_only_with_permission(tmp_path):
    (tmp_path / "text").write_text("secret")

    def build() -> None:
        v1.read_file(v1.constant(str(tmp_path / "text")), name="y")

    document = saved(build, tmp_path)

    refused = verify(document, document, ["y"])
    allowed = verify(document, document, ["y"], allow=True)

    assert (refused.verdict, refused.seconds) == ("cannot", (None, None))
    assert [(touch.node, touch.kind) for touch in refused.touches] == [("y", "reads files")] * 2
    assert "--yes" in refused.shell and "--yes" not in refused.hint
    assert allowed.verdict == "same"


def test_that_a_savedmodel_is_the_same_after_freezing(tmp_path):
    class Net(tf.Module):
        def __init__(self):
            self.first = tf.Variable([1.0, 2.0], name="second")
            self.second = tf.Variable([3.0, 4.0], name="first")

        @tf.function(input_signature=[tf.TensorSpec([None, 2], tf.float32, name="x")])
        def serve(self, x):
            for _ in tf.range(3):
                x = x * self.first - self.second
            return {"out": x}

    net = Net()
    tf.saved_model.save(net, str(tmp_path / "model"), signatures=net.serve)
    document = open_document(tmp_path / "model")

    result = freeze(document, [document.signatures["serving_default"].outputs["out"].name])
    found = verify(document, result)

    assert (found.verdict, found.reason) == ("same", "difference 0")


def test_that_lookup_tables_are_filled_from_the_files_of_a_savedmodel(tmp_path):
    (tmp_path / "words").write_text("a\nb\n")

    class Lookup(tf.Module):
        def __init__(self):
            filled = tf.lookup.TextFileInitializer(
                str(tmp_path / "words"), tf.string, tf.lookup.TextFileIndex.WHOLE_LINE, tf.int64,
                tf.lookup.TextFileIndex.LINE_NUMBER,
            )  # fmt: skip
            self.table = tf.lookup.StaticHashTable(filled, -1)
            self.factor = tf.Variable(3, dtype=tf.int64)

        @tf.function(input_signature=[tf.TensorSpec([None], tf.string, name="words")])
        def serve(self, words):
            return {"out": self.table.lookup(words) * self.factor}

    lookup = Lookup()
    tf.saved_model.save(lookup, str(tmp_path / "model"), signatures=lookup.serve)
    (tmp_path / "words").unlink()
    document = open_document(tmp_path / "model")
    output = document.signatures["serving_default"].outputs["out"].name

    refused = verify(document, document, [output])
    found = verify(document, document, [output], allow=True)

    assert {touch.op for touch in refused.touches} == {"InitializeTableFromTextFileV2"}
    assert (found.verdict, found.reason) == ("same", "difference 0")


def test_that_the_job_gives_the_json_of_the_contract(tmp_path):
    document = saved(network(resource=True), tmp_path)
    save_document(freeze(document), tmp_path / "frozen.pb")
    steps = []

    found = run_job(
        "verify",
        {"before": str(document.path), "after": str(tmp_path / "frozen.pb"), "outputs": ["y"]},
        lambda part, text: steps.append((part, text)),
    )

    assert list(found)[:4] == ["verdict", "reason", "outputs", "seconds"]
    (output,) = found["outputs"]
    assert list(output)[:4] == ["name", "max_abs", "max_rel", "nan_equal"]
    assert list(output.values())[:6] == ["y", 0.0, 0.0, True, [2, 3], 6]
    assert output["min"] < output["max"]
    assert [part for part, _ in steps] == sorted(part for part, _ in steps)
    assert any("original" in text for _, text in steps)


def test_that_cancel_ends_it_between_steps(tmp_path):
    document = saved(network(resource=True), tmp_path)

    def cancel(part: float, text: str) -> None:
        if "running" in text:
            raise Cancelled("Stopped.")

    with pytest.raises(Cancelled):
        verify(document, freeze(document), progress=cancel)


def test_that_unknown_outputs_and_feeds_are_errors_that_name_the_nearest(tmp_path):
    document = saved(network(resource=True), tmp_path)
    with pytest.raises(UnknownNameError):
        verify(document, document, ["no_such_output"])
    with pytest.raises(UnknownNameError, match="no_such_input"):
        verify(document, document, ["y"], {"no_such_input": "1"})


def test_that_a_queue_without_runners_is_fed_and_does_not_wait(tmp_path):
    def build() -> None:
        queue = v1.FIFOQueue(10, [tf.float32], [[3]])
        tf.multiply(queue.dequeue_many(4), v1.get_variable("w", [3]), name="y")

    document = saved(build, tmp_path)
    start = time.monotonic()

    found = verify(document, document, ["y"])

    assert found.verdict == "same"
    assert time.monotonic() - start < 120


def test_that_a_graph_that_takes_no_batch_but_one_is_run_with_one(tmp_path):
    def build() -> None:
        x = v1.placeholder(tf.float32, [None, 4], "x")
        tf.identity(tf.reshape(x, [1, 2, 2]) * v1.get_variable("w", [2]), name="y")

    document = saved(build, tmp_path)

    found = verify(document, freeze(document))

    assert (found.verdict, found.feeds[0].shape) == ("same", (1, 4))


def test_that_a_graph_that_runs_with_no_batch_is_told_by_its_first_error(tmp_path):
    def build() -> None:
        x = v1.placeholder(tf.float32, [None, 4], "x")
        tf.identity(tf.reshape(x, [3, 4]), name="y")

    document = saved(build, tmp_path)

    found = verify(document, document, ["y"])

    assert found.verdict == "cannot"
    assert "8 values" in found.reason


def test_that_a_fed_variable_that_the_original_changes_is_told_in_plain_words(tmp_path):
    def build() -> None:
        state = v1.get_variable("state", [2], use_resource=False)
        added = v1.scatter_update(state, [0], v1.placeholder(tf.float32, [1], "x"))
        with tf.control_dependencies([added]):
            tf.add(state, 1.0, name="y")

    document = saved(build, tmp_path)
    frozen = operations()["freeze"].run(document, outputs=["y"], inputs=["state"], accept_value_before=True).document

    found = verify(document, frozen, ["y"])

    assert found.verdict == "cannot"
    assert "'state' is fed, and 'ScatterUpdate' needs the variable itself, to change it" in found.reason
    assert found.hint == "Choose outputs that need no update of 'state'."
    assert not found.needs


def test_that_what_tensorflow_is_made_of_is_no_garbage():
    """A proof collects garbage for each graph; walking through all of TensorFlow takes longer than small graphs do."""
    program = "import gc; from graphviewer.runtime.engine import load; load(); print(gc.get_freeze_count())"

    frozen = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout

    assert int(frozen) > 100_000


def test_that_an_op_without_a_kernel_asks_for_no_values(tmp_path):
    document = saved(lambda: tf.tanh(v1.placeholder(tf.float32, [2], "x"), name="y"), tmp_path)

    def on_several_devices(node) -> None:
        node.op = "NcclAllReduce"
        node.attr["reduction"].s, node.attr["num_devices"].i, node.attr["shared_name"].s = b"sum", 1, b"a"

    found = verify(document, changed(document, "y", on_several_devices), ["y"])

    assert "No OpKernel was registered to support Op 'NcclAllReduce' used by 'y'" in found.reason
    assert found.hint == "Freezing, stripping and comparing still work."
    assert not found.needs
