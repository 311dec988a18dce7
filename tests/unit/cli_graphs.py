"""Run verbs, and write small graphs for them."""

from __future__ import annotations

import json

import numpy as np
from click.testing import CliRunner

from graphviewer import protos
from graphviewer.cli import main
from graphviewer.model.making import const_node
from graphviewer.protos import DataType


def run(*args):
    return CliRunner().invoke(main, [str(arg) for arg in args])


def loaded(result):
    """The one JSON document on standard output; messages went elsewhere."""
    return json.loads(result.stdout)


def write(path, *nodes, versions=1000):
    graph = protos.GraphDef(node=nodes)
    graph.versions.producer = versions
    path.write_bytes(graph.SerializeToString())
    return path


def op(name, kind, *inputs, **types):
    node = protos.NodeDef(name=name, op=kind, input=inputs)
    for key, value in types.items():
        node.attr[key].type = value
    return node


def nodes(hidden="Relu"):
    f = DataType.FLOAT
    x = op("x", "Placeholder", dtype=f)
    x.attr["shape"].shape.dim.add(size=2)
    return [
        x,
        const_node("w", f, values=np.ones(2, np.float32)),
        op("net/mul", "Mul", "x", "w", T=f),
        op("net/act", hidden, "net/mul", T=f),
        op("prob", "Softmax", "net/act", T=f),
        op("loss", "Mean", "prob", "axis", T=f, Tidx=DataType.INT32),
        const_node("axis", DataType.INT32, values=np.int32(0)),
    ]
