"""Freezing against TensorFlow: the frozen graph gives bit for bit what the session gave."""

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf
from freeze_cases import CASES, Case, output, variable

from graphviewer import protos
from graphviewer.errors import OperationError
from graphviewer.formats import open_document
from graphviewer.model.document import Document
from graphviewer.operations.registry import Result, operations

v1 = tf.compat.v1


@dataclass
class Trained:
    """A graph with its checkpoint, and what its session gave."""

    document: Document
    values: dict[str, np.ndarray]


def exact_session(graph: tf.Graph) -> v1.Session:
    """A session without optimizers: Grappler's rewrites, and folding on one thread, change the last bits."""
    config = v1.ConfigProto()
    config.graph_options.optimizer_options.opt_level = v1.OptimizerOptions.L0
    config.graph_options.rewrite_options.disable_meta_optimizer = True
    return v1.Session(graph=graph, config=config)


def trained(build, folder: Path, fetches=("y:0",), *, feed=None, control_flow_v2=True, with_saver=True) -> Trained:
    """Build, give every variable random values, save, run."""
    graph = tf.Graph()
    with graph.as_default():
        (v1.enable_control_flow_v2 if control_flow_v2 else v1.disable_control_flow_v2)()
        v1.set_random_seed(1)
        build()
        saver = v1.train.Saver() if v1.global_variables() else None
        initialize = v1.global_variables_initializer()
        meta = protos.MetaGraphDef.FromString(v1.train.export_meta_graph(graph=graph).SerializeToString())
        with exact_session(graph) as session:
            session.run(initialize)
            if saver is not None:
                saver.save(session, str(folder / "model.ckpt"), write_meta_graph=False)
                meta.saver_def.ParseFromString(saver.as_saver_def().SerializeToString())
            values = dict(zip(fetches, session.run(list(fetches), feed or {}), strict=True))
    graph_def = protos.GraphDef()
    graph_def.CopyFrom(meta.graph_def)
    meta.ClearField("graph_def")
    checkpoint = folder / "model.ckpt" if saver is not None else None
    kept = meta if with_saver else None
    return Trained(Document("metagraph", graph_def, meta=kept, checkpoint=checkpoint), values)


def run(result: Result, fetches=("y:0",), feed=None) -> dict[str, np.ndarray]:
    """What the frozen graph gives, in a session without variables."""
    graph = tf.Graph()
    with graph.as_default():
        tf.import_graph_def(v1.GraphDef.FromString(result.document.graph_def.SerializeToString()), name="")
        with exact_session(graph) as session:
            return dict(zip(fetches, session.run(list(fetches), feed or {}), strict=True))


def assert_equal(before: dict[str, np.ndarray], after: dict[str, np.ndarray]) -> None:
    for name, value in before.items():
        np.testing.assert_array_equal(after[name], value, strict=True)


def freeze(document: Document, outputs=("y",), **options) -> Result:
    """Freeze; what was frozen stays as it is."""
    before = document.graph_def.SerializeToString(deterministic=True)
    try:
        return operations()["freeze"].run(document, outputs=outputs, **options)
    finally:
        assert document.graph_def.SerializeToString(deterministic=True) == before


def ops_of(document: Document) -> set[str]:
    bodies = [node for function in document.graph_def.library.function for node in function.node_def]
    return {node.op for node in [*document.graph_def.node, *bodies]}


LEFTOVERS = {"VarHandleOp", "VariableV2", "ReadVariableOp", "ResourceGather", "AssignVariableOp", "Assign", "RefSwitch"}


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_that_a_frozen_graph_gives_what_its_session_gave(case: Case, tmp_path):
    original = trained(case.build, tmp_path, control_flow_v2=case.control_flow_v2)

    result = freeze(original.document, **case.options)

    assert_equal(original.values, run(result))
    assert not ops_of(result.document) & LEFTOVERS
    assert case.warns in " ".join(result.warnings)


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_that_values_are_found_without_a_saver(case: Case, tmp_path):
    original = trained(case.build, tmp_path, control_flow_v2=case.control_flow_v2, with_saver=False)

    result = freeze(original.document, saver="names", **case.options)

    assert_equal(original.values, run(result))


def updated_then_read() -> None:
    value = variable("v", [3], resource=True)
    output(v1.assign_add(value, [1.0, 1.0, 1.0]) * 2.0)


def updated_then_read_in_function() -> None:
    value = variable("v", [3], resource=True)

    @tf.function
    def step():
        value.assign_add([1.0, 1.0, 1.0])
        return value.read_value() * 2.0

    output(step())


def updated_in_inner_function() -> None:
    value = variable("v", [3], resource=True)

    @tf.function
    def update():
        value.assign_add([1.0, 1.0, 1.0])

    @tf.function
    def step():
        update()
        return value.read_value() * 2.0

    output(step())


@pytest.mark.parametrize("build", [updated_then_read, updated_then_read_in_function, updated_in_inner_function])
def test_that_a_read_after_an_update_is_refused_unless_the_value_before_is_accepted(build, tmp_path):
    original = trained(build, tmp_path)

    with pytest.raises(OperationError, match=r"after .* has changed it"):
        freeze(original.document)

    result = freeze(original.document, accept_value_before=True)
    np.testing.assert_allclose(run(result)["y:0"], original.values["y:0"] - 2.0, rtol=1e-6)


def tower(images: tf.Tensor, *, training: bool, resource: bool) -> tf.Tensor:
    """A small residual network, as people write training and validation towers."""
    x = images
    for name, channels in (("a", 4), ("b", 4)):
        with v1.variable_scope(name):
            weights = v1.get_variable("weights", [3, 3, x.shape[-1], channels], use_resource=resource)
            y = v1.nn.conv2d(x, weights, strides=[1, 1, 1, 1], padding="SAME")
            stats = [
                v1.get_variable(
                    part, [channels], initializer=v1.random_uniform_initializer(0.5, 1.5), use_resource=resource
                )
                for part in ("gamma", "beta", "mean", "variance")
            ]
            if training:
                y, mean, variance = v1.nn.fused_batch_norm(y, *stats[:2], is_training=True)[:3]
                for moving, batch in ((stats[2], mean), (stats[3], variance)):
                    update = v1.assign_sub(moving, (moving - batch) * 0.1)
                    v1.add_to_collection(v1.GraphKeys.UPDATE_OPS, update)
            else:
                y = v1.nn.fused_batch_norm(y, *stats, is_training=False)[0]
            x = v1.nn.relu(y + x if x.shape[-1] == channels else y)
    x = v1.reduce_mean(x, [1, 2])
    if training:
        x = v1.nn.dropout(x, rate=0.5)
    weights = v1.get_variable("fc/w", [x.shape[-1], 3], use_resource=resource)
    logits = v1.identity(v1.matmul(x, weights), name="logits")
    v1.nn.softmax(logits, name="prob")
    return logits


def training_graph(resource: bool):
    """A training and a validation tower on one tf.data pipeline, with Adam and summaries."""

    def build() -> None:
        data = tf.data.Dataset.from_tensor_slices((np.zeros([4, 8, 8, 3], "f4"), np.zeros([4], "i8"))).batch(2)
        images, labels = v1.data.make_initializable_iterator(data).get_next()
        images = tf.identity(images, name="images")
        with v1.variable_scope("net"):
            logits = tower(images, training=True, resource=resource)
        with v1.variable_scope("net", reuse=True):
            tower(images, training=False, resource=resource)
        loss = v1.reduce_mean(v1.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))
        v1.summary.scalar("loss", loss)
        step = v1.train.get_or_create_global_step()
        with v1.control_dependencies(v1.get_collection(v1.GraphKeys.UPDATE_OPS)):
            v1.train.AdamOptimizer(1e-3).minimize(loss, global_step=step)

    return build


IMAGES = np.random.RandomState(3).rand(5, 8, 8, 3).astype("f4")


@pytest.mark.parametrize("resource", [False, True], ids=["reference", "resource"])
@pytest.mark.parametrize("output_name", ["net_1/prob", "net_1/logits"])
def test_that_the_validation_tower_of_a_training_graph_freezes_with_its_pipeline_cut(resource, output_name, tmp_path):
    fetch, feed = f"{output_name}:0", {"images:0": IMAGES}
    original = trained(training_graph(resource), tmp_path, [fetch], feed=feed)

    result = freeze(original.document, [output_name], inputs=["images"])

    assert_equal(original.values, run(result, [fetch], feed))
    assert result.inputs == ("images",)
    placeholder = next(node for node in result.document.graph_def.node if node.name == "images")
    assert [dim.size for dim in placeholder.attr["shape"].shape.dim] == [-1, 8, 8, 3]
    assert placeholder.attr["dtype"].type == protos.DataType.FLOAT
    assert not result.warnings


def test_that_the_training_tower_is_refused_with_the_nodes_that_are_in_training_mode(tmp_path):
    original = trained(training_graph(False), tmp_path, ["images:0"], feed={"images:0": IMAGES})

    with pytest.raises(OperationError, match=r"net/a/FusedBatchNormV3.*net/dropout") as error:
        freeze(original.document, ["net/prob"], inputs=["images"])
    assert "allow training mode" in error.value.hint


def test_that_an_iterator_is_cut_into_one_placeholder_per_output(tmp_path):
    def build() -> None:
        data = tf.data.Dataset.from_tensor_slices((np.zeros([4, 3], "f4"), np.zeros([4], "i4"))).batch(2, True)
        rows, factors = v1.data.make_one_shot_iterator(data).get_next()
        output(rows * variable("v", [3], resource=True) * tf.cast(factors, tf.float32)[:, None])

    original = trained(build, tmp_path)

    result = freeze(original.document, inputs=["IteratorGetNext"])

    rows, factors = np.random.RandomState(0).rand(2, 3).astype("f4"), np.arange(2, dtype="i4")
    with tf.Graph().as_default() as graph:
        document = original.document
        tf.import_graph_def(v1.GraphDef.FromString(document.graph_def.SerializeToString()), name="")
        with exact_session(graph) as session:
            session.run("save/restore_all", {"save/filename:0": str(document.checkpoint)})
            feed = {"IteratorGetNext:0": rows, "IteratorGetNext:1": factors}
            before = {"y:0": session.run("y:0", feed)}
    placeholders = [node for node in result.document.graph_def.node if node.op == "Placeholder"]
    shapes = [[dim.size for dim in node.attr["shape"].shape.dim] for node in placeholders]
    assert shapes == [[-1, 3], [-1]]
    assert [node.attr["dtype"].type for node in placeholders] == [protos.DataType.FLOAT, protos.DataType.INT32]
    assert [node.name for node in placeholders] == list(result.inputs)
    feed = dict(zip([f"{name}:0" for name in result.inputs], (rows, factors), strict=True))
    assert_equal(before, run(result, feed=feed))


def tensorflows_freeze(original: Trained, outputs: list[str]):
    """What TensorFlow's convert_variables_to_constants makes of the same graph."""
    with tf.Graph().as_default() as graph:
        graph_def = v1.GraphDef.FromString(original.document.graph_def.SerializeToString())
        tf.import_graph_def(graph_def, name="")
        with exact_session(graph) as session:
            session.run("save/restore_all", {"save/filename:0": str(original.document.checkpoint)})
            return v1.graph_util.convert_variables_to_constants(session, graph_def, outputs)


def test_that_with_colocation_kept_the_result_is_tensorflows_node_for_node(tmp_path):
    original = trained(training_graph(False), tmp_path, ["images:0"], feed={"images:0": IMAGES})
    expected = tensorflows_freeze(original, ["net_1/prob"])

    result = freeze(original.document, ["net_1/prob"], keep_colocation=True)

    ours = v1.GraphDef.FromString(result.document.graph_def.SerializeToString())
    assert [node.name for node in ours.node] == [node.name for node in expected.node]
    assert list(map(without_shapes, ours.node)) == list(map(without_shapes, expected.node))


def without_shapes(node):
    """TensorFlow also forgets the inferred shapes of nodes that only read a constant now."""
    node.attr.pop("_output_shapes", None)
    return node


def test_that_pass_through_nodes_go_as_in_tensorflows_remove_training_nodes(tmp_path):
    original = trained(training_graph(False), tmp_path, ["images:0"], feed={"images:0": IMAGES})
    given = v1.GraphDef.FromString(original.document.graph_def.SerializeToString())
    expected = v1.graph_util.remove_training_nodes(given, ["net_1/prob"])

    result = operations()["remove-training-nodes"].run(original.document, outputs=["net_1/prob"])

    ours = v1.GraphDef.FromString(result.document.graph_def.SerializeToString())
    assert len(expected.node) < len(given.node)
    assert list(ours.node) == list(expected.node)
    assert ours.versions == given.versions


def test_that_an_extracted_metagraph_imports_and_restores(tmp_path):
    original = trained(training_graph(False), tmp_path, ["images:0"], feed={"images:0": IMAGES})

    result = operations()["extract"].run(original.document, outputs=["net_1/prob"], inputs=["images"])

    whole = protos.MetaGraphDef()
    whole.CopyFrom(result.document.meta)
    whole.graph_def.CopyFrom(result.document.graph_def)
    with tf.Graph().as_default() as graph:
        v1.train.import_meta_graph(v1.MetaGraphDef.FromString(whole.SerializeToString()))
        assert graph.get_tensor_by_name("images:0").shape.as_list() == [None, 8, 8, 3]


def test_that_a_savedmodel_with_crossed_names_freezes_to_what_its_signature_gives(tmp_path):
    class Net(tf.Module):
        def __init__(self):
            self.first = tf.Variable([1.0, 2.0], name="second")
            self.second = tf.Variable([3.0, 4.0], name="first")

        @tf.function(input_signature=[tf.TensorSpec([None, 2], tf.float32, name="x")])
        def serve(self, x):
            if tf.reduce_sum(x) > 0:
                return {"out": x * self.first - self.second}
            return {"out": x}

    net = Net()
    tf.saved_model.save(net, str(tmp_path), signatures=net.serve)
    document = open_document(tmp_path)
    signature = document.signatures["serving_default"]
    output_name, input_name = signature.outputs["out"].name, signature.inputs["x"].name

    result = freeze(document, [output_name])

    rows = np.array([[1.0, 5.0], [2.0, 0.5]], np.float32)
    before = {output_name: net.serve(rows)["out"].numpy()}
    assert_equal(before, run(result, [output_name], {input_name: rows}))
    assert "serving_default" in result.document.signatures


def test_that_lookup_tables_work_after_what_fills_them_was_run(tmp_path):
    def build() -> None:
        filled = tf.lookup.KeyValueTensorInitializer(["a", "b"], [1.0, 2.0])
        table = tf.lookup.StaticHashTable(filled, -1.0)
        words = v1.placeholder_with_default(["b", "c"], [None], "words")
        tf.multiply(table.lookup(words), variable("v", [], resource=True), name="y")

    with tf.Graph().as_default() as graph:
        build()
        saver = v1.train.Saver()
        with exact_session(graph) as session:
            session.run([v1.global_variables_initializer(), v1.tables_initializer()])
            saver.save(session, str(tmp_path / "model.ckpt"))
            before = {"y:0": session.run("y:0")}

    result = freeze(open_document(tmp_path / "model.ckpt.meta"))

    fillers = re.findall(r"'([^']+)'", result.warnings[-1])
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(v1.GraphDef.FromString(result.document.graph_def.SerializeToString()), name="")
        with exact_session(graph) as session:
            session.run(fillers)
            assert_equal(before, {"y:0": session.run("y:0")})
