"""Random graphs of conditionals, loops and functions: operations in a row give what TensorFlow gave before."""

import numpy as np
import pytest
import tensorflow as tf
from flow_graphs import FlowGraph
from test_freeze import exact_session
from test_rewriting_operations import apply

from graphviewer import protos
from graphviewer.model.document import Document

v1 = tf.compat.v1

ROWS = [
    ["freeze"],
    ["freeze", "fold-constants", "remove-training-nodes"],
    ["freeze", "inline-functions", "fold-constants"],
    ["inline-functions", "remove-training-nodes", "freeze"],
    ["inline-functions", "fold-constants", "inference-mode", "freeze"],
]
FEEDS = [{"x:0": np.float32(x), "p:0": p} for x, p in ((0.5, False), (2.25, True), (-1.0, False))]


def given(session, names):
    return [session.run([f"{name}:0" for name in names], feed) for feed in FEEDS]


def untied(graph_def, seed):
    """Half of the calls wait for their arguments alone, as in graphs of other makers."""
    calls = [node for node in graph_def.node if node.op.endswith("PartitionedCall") or node.op.startswith("legacy")]
    for at, node in enumerate(calls):
        data = [text for text in node.input if not text.startswith("^")]
        if (at + seed) % 2 and data:
            node.input[:] = data
    return graph_def


def drawn(seed, folder, number=6):
    """A document, the names of its outputs, and what they gave."""
    v1.disable_control_flow_v2()
    with tf.Graph().as_default() as graph:
        names = FlowGraph(seed).outputs(number)
        saver, initialize = v1.train.Saver(), v1.global_variables_initializer()
        meta = protos.MetaGraphDef.FromString(v1.train.export_meta_graph(graph=graph).SerializeToString())
    graph_def = protos.GraphDef()
    graph_def.CopyFrom(untied(meta.graph_def, seed))
    meta.ClearField("graph_def")
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(v1.GraphDef.FromString(graph_def.SerializeToString()), name="")
        with exact_session(graph) as session:
            session.run(initialize.name)
            path = str(folder / "model.ckpt")
            session.run(saver.as_saver_def().save_tensor_name, {saver.as_saver_def().filename_tensor_name: path})
            values = given(session, names)
    document = Document("metagraph", graph_def, meta=meta, checkpoint=folder / "model.ckpt")
    return document, names, values


@pytest.mark.parametrize("seed", range(4))
def test_that_operations_in_a_row_change_no_value(seed, tmp_path):
    document, names, before = drawn(seed, tmp_path)
    for row in ROWS:
        made = document
        for operation in row:
            given_outputs = {} if operation == "inline-functions" else {"outputs": names}
            own = {"checkpoint": str(document.checkpoint), "saver": "names"} if operation == "freeze" else {}
            made = apply(operation, made, **given_outputs, **own).document
        with tf.Graph().as_default() as graph:
            tf.import_graph_def(v1.GraphDef.FromString(made.graph_def.SerializeToString()), name="")
            with exact_session(graph) as session:
                np.testing.assert_allclose(given(session, names), before, rtol=1e-6, err_msg=" -> ".join(row))
