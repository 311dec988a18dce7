"""Graphs that are trained, saved and opened again, for verifying and running."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import tensorflow as tf

from graphviewer import protos
from graphviewer.formats import open_document
from graphviewer.model.document import Document

v1 = tf.compat.v1


def saved(build: Callable[[], object], folder: Path, *, control_flow_v2: bool = True, saver: bool = True) -> Document:
    """Build, give every variable random values, save graph and checkpoint, open.

    Args:
        build: adds nodes to the default graph.
        folder: for ``model.ckpt`` and its ``.meta``, or ``graph.pb``.
        control_flow_v2: functions for conditionals and loops, instead of Switch and Merge.
        saver: open the ``.meta``, which has a saver; else the bare graph with the checkpoint beside it.
    """
    graph = tf.Graph()
    with graph.as_default(), v1.Session(graph=graph) as session:
        (v1.enable_control_flow_v2 if control_flow_v2 else v1.disable_control_flow_v2)()
        v1.set_random_seed(1)
        build()
        bare = graph.as_graph_def().SerializeToString()
        has_variables = bool(v1.global_variables())
        folder.mkdir(exist_ok=True)
        if has_variables:
            keeper = v1.train.Saver()
            session.run(v1.global_variables_initializer())
            keeper.save(session, str(folder / "model.ckpt"))
    if has_variables and saver:
        return open_document(folder / "model.ckpt.meta")
    (folder / "graph.pb").write_bytes(bare)
    return open_document(folder / "graph.pb", checkpoint=folder / "model.ckpt" if has_variables else None)


def network(*, resource: bool, rate: float = 0.0) -> Callable[[], None]:
    """x [?, 4] -> dense -> y; with ``rate``, dropout between."""

    def build() -> None:
        x = v1.placeholder(tf.float32, [None, 4], "x")
        weights = v1.get_variable("w", [4, 3], use_resource=resource)
        offset = v1.get_variable("b", [3], initializer=v1.random_normal_initializer(), use_resource=resource)
        hidden = tf.tanh(tf.matmul(x, weights) + offset)
        if rate:
            hidden = v1.nn.dropout(hidden, rate=rate)
        tf.identity(hidden, name="y")

    return build


def changed(document: Document, name: str, change: Callable[[object], None]) -> Document:
    """The document with one node changed in place of a copy."""
    graph_def = protos.GraphDef()
    graph_def.CopyFrom(document.graph_def)
    change(next(node for node in graph_def.node if node.name == name))
    return document.with_graph(graph_def)
