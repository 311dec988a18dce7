"""Bytes that flow out of nodes."""

import numpy as np

from graphviewer import protos
from graphviewer.analysis.sizes import output_bytes
from graphviewer.model.document import Document

FLOAT, HALF, RESOURCE = 1, 19, 20


def sized(op, dtype, sizes=None, *, attr="_output_shapes", key="T"):
    node = protos.NodeDef(name=f"{op}{sizes}", op=op)
    if dtype:
        node.attr[key].type = dtype
    if sizes is not None:
        shape = node.attr["shape"].shape if attr == "shape" else node.attr[attr].list.shape.add()
        for size in sizes:
            shape.dim.add(size=size)
    return node


def measured(*nodes):
    graph = protos.GraphDef()
    graph.node.extend(nodes)
    return output_bytes(Document("graphdef", graph)).tolist()


def test_that_bytes_are_elements_times_the_size_of_one():
    assert measured(sized("Relu", FLOAT, [8, 10]), sized("Relu", HALF, [8, 10])) == [320, 160]
    assert measured(sized("Placeholder", FLOAT, [3], attr="shape", key="dtype")) == [12]


def test_that_an_unknown_size_counts_as_one_and_no_shape_as_none():
    assert measured(sized("Relu", FLOAT, [-1, 5]), sized("Relu", FLOAT), sized("Relu", FLOAT, [])) == [20, 0, 4]
    unknown = sized("Relu", FLOAT, [2])
    unknown.attr["_output_shapes"].list.shape[0].unknown_rank = True
    assert measured(unknown) == [0]


def test_that_handles_and_hostile_shapes_do_no_harm():
    found = measured(sized("VarHandleOp", RESOURCE, [4], attr="shape", key="dtype"), sized("Relu", FLOAT, [2**62] * 40))
    assert found[0] == 4 and 0 < found[1] < np.iinfo(np.int64).max


def test_that_a_constant_has_the_size_of_its_value():
    node = protos.NodeDef(name="c", op="Const")
    node.attr["dtype"].type = FLOAT
    node.attr["value"].tensor.tensor_shape.dim.add(size=7)
    assert measured(node) == [28]
