"""Variables of a graph against keys of a checkpoint."""

from __future__ import annotations

from function_graphs import add_function, call

from graphviewer import protos
from graphviewer.analysis.coverage import coverage
from graphviewer.analysis.variable_keys import variable_sources
from graphviewer.model.document import Document
from graphviewer.protos import DataType


class FakeCheckpoint:
    def __init__(self, **shapes):
        self.shapes = {key.replace("__", "/"): shape for key, shape in shapes.items()}

    def keys(self):
        return list(self.shapes)

    def shape(self, key):
        return self.shapes[key]

    def dtype(self, key):
        return DataType.FLOAT

    object_graph = None


def document(**shapes):
    graph_def = protos.GraphDef()
    for name, shape in shapes.items():
        node = graph_def.node.add(name=name.replace("__", "/"), op="VariableV2")
        node.attr["dtype"].type = DataType.FLOAT
        node.attr["shape"].shape.SetInParent()
        for size in shape:
            node.attr["shape"].shape.dim.add(size=size)
    return Document("graphdef", graph_def, title="test")


def test_that_every_variable_and_every_key_has_a_status():
    found = coverage(
        document(net__w=[2, 3], net__b=[3], net__new=[1]), FakeCheckpoint(net__w=[2, 3], net__b=[4], old__new=[1])
    )
    rows = {row.name or row.key: row for row in found.variables}
    assert {name: row.status for name, row in rows.items()} == {
        "net/w": "both",
        "net/b": "differs",
        "net/new": "only_graph",
        "old/new": "only_checkpoint",
    }
    assert rows["net/b"].held == "float32 [4]"
    assert rows["net/new"].key is None
    assert rows["net/new"].nearest == ("old/new",)
    assert (rows["old/new"].name, rows["old/new"].shape) == (None, [1])
    assert found.ratio == 1 / 3


def test_that_sizes_that_the_graph_leaves_open_fit_all():
    assert coverage(document(w=[-1, 3]), FakeCheckpoint(w=[7, 3])).variables[0].status == "both"


def test_that_a_graph_without_variables_is_covered_and_ignored_keys_are_left_out():
    found = coverage(document(), FakeCheckpoint(_OBJECT=[1]), ignored=("_OBJECT",))
    assert (found.variables, found.ratio) == ((), 1.0)


def exported():
    """As Keras writes a SavedModel: the variable in use, a copy that is only saved, and a handle that tracing left."""
    graph_def = protos.GraphDef()
    for name in ("kernel", "kernel_1", "Variable"):
        node = graph_def.node.add(name=name, op="VarHandleOp")
        node.attr["dtype"].type = DataType.FLOAT
        node.attr["shape"].shape.dim.add(size=3)
        node.attr["shared_name"].s = name.encode()
        graph_def.node.add(name=f"{name}/Read", op="ReadVariableOp", input=[name])
    graph_def.node.add(name="first", op="ReadVariableOp", input=["kernel_1"])
    graph_def.node.add(name="Variable/Assign", op="AssignVariableOp", input=["Variable", "first"])
    restore = add_function(graph_def, "restore", ["file", "a", "b"], [], {})
    restore.node_def.add(name="read", op="RestoreV2", input=["file", "names:output:0", "slices:output:0"])
    for name, values in (("names", [b"used", b"copied"]), ("slices", [b"", b""])):
        constant = restore.node_def.add(name=name, op="Const").attr["value"].tensor
        constant.dtype = DataType.STRING
        constant.tensor_shape.dim.add(size=2)
        constant.string_val.extend(values)
    for at, argument in enumerate("ab"):
        restore.node_def.add(name=f"put_{argument}", op="AssignVariableOp", input=[argument, f"read:tensors:{at}"])
    graph_def.node.add(name="path", op="Placeholder")
    call(graph_def.node, "restored", "StatefulPartitionedCall", ["path", "kernel_1", "Variable"], f="restore")
    call(graph_def.node, "served", "StatefulPartitionedCall", ["kernel_1"], f="serve")
    add_function(graph_def, "serve", ["a"], [], {})
    return graph_def


def test_that_the_variables_of_a_keras_export_are_each_listed_once_and_covered():
    found = coverage(Document("savedmodel", exported()), FakeCheckpoint(used=[3], copied=[3], other=[1]))
    assert [(row.name, row.key, row.status) for row in found.variables] == [
        ("kernel_1", "used", "both"),
        (None, "other", "only_checkpoint"),
    ]
    assert found.ratio == 1.0


def test_that_a_variable_of_which_only_a_copy_is_saved_has_a_value():
    graph_def = exported()
    graph_def.library.function[0].node_def[3].input[1] = "elsewhere"
    found = coverage(Document("savedmodel", graph_def), FakeCheckpoint(used=[3], copied=[3]))
    assert [(row.name, row.key, row.status) for row in found.variables] == [
        ("kernel_1", "copied", "both"),
        (None, "used", "only_checkpoint"),
    ]


def test_that_another_handle_of_a_variable_has_its_value_too():
    graph_def = protos.GraphDef()
    for name in ("handle", "again"):
        node = graph_def.node.add(name=name, op="VarHandleOp")
        node.attr["dtype"].type = DataType.FLOAT
        node.attr["shape"].shape.dim.add(size=3)
        node.attr["shared_name"].s = b"shared"
    graph_def.node.add(name="save/names", op="Const").attr["value"].tensor.string_val.append(b"key")
    graph_def.node[-1].attr["value"].tensor.dtype = DataType.STRING
    graph_def.node[-1].attr["value"].tensor.tensor_shape.dim.add(size=1)
    graph_def.node.add(name="save/restore", op="RestoreV2", input=["save/file", "save/names", "save/slices"])
    graph_def.node.add(name="save/Assign", op="AssignVariableOp", input=["again", "save/restore"])
    document = Document("graphdef", graph_def)
    assert {source.key for source in variable_sources(document, FakeCheckpoint(key=[3])).values()} == {"key"}
    found = coverage(document, FakeCheckpoint(key=[3]))
    assert [(row.name, row.key, row.status) for row in found.variables] == [("handle", "key", "both")]
