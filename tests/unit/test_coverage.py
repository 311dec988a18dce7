"""Variables of a graph against keys of a checkpoint."""

from __future__ import annotations

from graphviewer import protos
from graphviewer.analysis.coverage import coverage
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
