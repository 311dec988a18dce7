"""Variables that a Keras export brings several times are counted once."""

from __future__ import annotations

import pytest
from function_graphs import add_function, call

from graphviewer import protos
from graphviewer.analysis.distinct import ANONYMOUS, distinct_variables
from graphviewer.analysis.stats import statistics
from graphviewer.model.document import Document
from graphviewer.protos import DataType


def handle(graph_def, name, *sizes):
    node = graph_def.node.add(name=name, op="VarHandleOp")
    node.attr["dtype"].type = DataType.FLOAT
    for size in sizes:
        node.attr["shape"].shape.dim.add(size=size)
    graph_def.node.add(name=f"{name}/Read", op="ReadVariableOp", input=[name])


def copied(graph_def, name, source):
    """``name`` has the value of ``source`` first."""
    graph_def.node.add(name=f"{name}/first", op="ReadVariableOp", input=[source])
    graph_def.node.add(name=f"{name}/Assign", op="AssignVariableOp", input=[name, f"{name}/first"])
    graph_def.node.add(name=f"{name}/IsInitialized", op="VarIsInitializedOp", input=[name])


def exported():
    """As Keras writes it: ``kernel_1`` is used, ``Variable`` is its copy, ``kernel`` is left over from tracing."""
    graph_def = protos.GraphDef()
    for name in ("kernel", "kernel_1", "Variable"):
        handle(graph_def, name, 20, 8)
    copied(graph_def, "Variable", "kernel_1")
    add_function(graph_def, "restore", ["a", "b"], [("r", "RestoreV2", [])], {})
    add_function(graph_def, "serve", ["a"], [], {})
    call(graph_def.node, "restored", "StatefulPartitionedCall", ["kernel_1", "Variable"], f="restore")
    call(graph_def.node, "served", "StatefulPartitionedCall", ["kernel_1"], f="serve")
    return graph_def


def counted(graph_def):
    document = Document("savedmodel", graph_def)
    return [document.graph.names[number] for number in distinct_variables(document)]


def test_that_a_copy_and_what_tracing_left_do_not_count():
    graph_def = exported()
    assert counted(graph_def) == ["kernel_1"]
    found = statistics(Document("savedmodel", graph_def))
    assert (found.variables, found.parameters) == (1, 160)


def test_that_a_copy_that_is_trained_on_counts():
    graph_def = exported()
    graph_def.node.add(name="update", op="AssignSubVariableOp", input=["Variable", "Variable/Read"])
    assert counted(graph_def) == ["kernel_1", "Variable"]


def test_that_a_copy_that_is_used_counts():
    graph_def = exported()
    call(graph_def.node, "again", "StatefulPartitionedCall", ["Variable"], f="serve")
    assert counted(graph_def) == ["kernel_1", "Variable"]


@pytest.mark.parametrize("use", ["kernel", "kernel/Read"])
def test_that_a_used_variable_counts_beside_one_of_its_name(use):
    graph_def = exported()
    graph_def.node.add(name="use", op="Identity", input=[use])
    assert counted(graph_def) == ["kernel", "kernel_1"]


def test_that_unused_variables_of_other_names_or_shapes_count():
    graph_def = protos.GraphDef()
    for name, size in (("a", 3), ("b", 3), ("a_1", 4)):
        handle(graph_def, name, size)
    assert counted(graph_def) == ["a", "b", "a_1"]


def test_that_handles_of_one_shared_name_are_one_variable():
    graph_def = protos.GraphDef()
    for name, shared in (("w", "w"), ("again", "w"), ("u", "u"), ("c", ANONYMOUS), ("d", ANONYMOUS)):
        handle(graph_def, name, 3)
        graph_def.node[-2].attr["shared_name"].s = shared.encode()
    assert counted(graph_def) == ["w", "u", "c", "d"]
    graph_def.node[2].attr["container"].s = b"other"
    assert counted(graph_def) == ["w", "again", "u", "c", "d"]


def test_that_a_variable_that_a_loader_writes_the_path_of_an_asset_into_does_not_count():
    graph_def = protos.GraphDef()
    handle(graph_def, "path")
    handle(graph_def, "w", 3)
    graph_def.node.add(name="asset", op="Placeholder")
    graph_def.node.add(name="path/Assign", op="AssignVariableOp", input=["path", "asset"])
    meta = protos.MetaGraphDef()
    meta.asset_file_def.add(filename="vocab.txt").tensor_info.name = "asset:0"
    document = Document("savedmodel", graph_def, meta=meta)
    assert [document.graph.names[number] for number in distinct_variables(document)] == ["w"]
