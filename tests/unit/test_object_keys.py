"""Keys that a SavedModel's objects tell: its functions name what they capture, its checkpoint names what it holds."""

from __future__ import annotations

from function_graphs import add_function, call

from graphviewer import protos
from graphviewer.analysis.variable_keys import NAMES_ONLY, variable_sources
from graphviewer.errors import CheckpointError
from graphviewer.model.document import Document
from graphviewer.protos import DataType

KEYS = ("first/.ATTRIBUTES/VARIABLE_VALUE", "second/.ATTRIBUTES/VARIABLE_VALUE")


class Objects:
    """A checkpoint that has two values of one shape, and an object graph."""

    def __init__(self, raw):
        self._raw = raw

    @property
    def object_graph(self):
        if isinstance(self._raw, Exception):
            raise self._raw
        return self._raw

    def keys(self):
        return list(KEYS)

    def shape(self, key):
        return [3]

    def dtype(self, key):
        return DataType.FLOAT


def saved_objects(children=(("first", 1), ("second", 2))):
    """The checkpoint's objects: a root that holds two variables."""
    found = protos.TrackableObjectGraph()
    root = found.nodes.add()
    for name, number in children:
        root.children.add(local_name=name, node_id=number)
    for key in KEYS:
        found.nodes.add().attributes.add(name="VARIABLE_VALUE", full_name="w", checkpoint_key=key)
    return found


def model(bound=(2, 3), children=(("second", 2), ("first", 3)), inputs=("x", "a", "b"), sizes=(3, 3)):
    """A call that captures 'a' and 'b'; the model numbers its objects otherwise than the checkpoint, all named 'w'."""
    graph_def = protos.GraphDef()
    graph_def.node.add(name="x", op="Placeholder")
    for name in ("a", "b"):
        node = graph_def.node.add(name=name, op="VarHandleOp")
        node.attr["dtype"].type = DataType.FLOAT
        node.attr["shape"].shape.dim.add(size=3)
        node.attr["shared_name"].s = name.encode()
    call(graph_def.node, "y", "StatefulPartitionedCall", inputs, f="wrapper")
    add_function(graph_def, "wrapper", ["given", "one", "two"], [], {})
    meta = protos.MetaGraphDef()
    objects = meta.object_graph_def
    root = objects.nodes.add()
    root.user_object.identifier = "_generic_user_object"
    objects.nodes.add().function.SetInParent()
    for size in sizes:
        variable = objects.nodes.add().variable
        variable.dtype, variable.name = DataType.FLOAT, "w"
        variable.shape.dim.add(size=size)
    for name, number in children:
        root.children.add(local_name=name, node_id=number)
    objects.concrete_functions["wrapper"].bound_inputs.extend(bound)
    return Document("savedmodel", graph_def, meta=meta)


def keys_of(document, raw, **options):
    found = variable_sources(document, Objects(raw), **options)
    return {document.graph.names[number]: source.key for number, source in found.items()}


def test_that_captures_are_paired_by_place_and_objects_by_the_names_of_children():
    found = keys_of(model(), saved_objects().SerializeToString())
    assert found == {"a": KEYS[1], "b": KEYS[0]}
    assert keys_of(model(bound=(3, 2)), saved_objects().SerializeToString()) == {"a": KEYS[0], "b": KEYS[1]}


def test_that_only_names_were_asked_for():
    assert keys_of(model(), saved_objects().SerializeToString(), saver=NAMES_ONLY) == {}


def test_that_a_call_that_is_not_as_it_was_saved_says_nothing():
    for changed in (model(inputs=("a", "b")), model(inputs=("x", "a", "b", "x")), model(bound=(2, 3, 2, 3))):
        assert keys_of(changed, saved_objects().SerializeToString()) == {}


def test_that_an_object_of_another_shape_or_kind_is_not_the_variable():
    raw = saved_objects().SerializeToString()
    assert keys_of(model(sizes=(4, 3)), raw) == {"b": KEYS[0]}
    assert keys_of(model(bound=(1, 3)), raw) == {"b": KEYS[0]}


def test_that_a_variable_that_two_objects_claim_gets_no_key():
    assert keys_of(model(inputs=("x", "a", "a")), saved_objects().SerializeToString()) == {}


def test_that_objects_of_another_checkpoint_are_not_mixed_up():
    others = saved_objects(children=(("first", 1), ("third", 2)))
    assert keys_of(model(), others.SerializeToString()) == {"b": KEYS[0]}


def test_that_damaged_objects_say_nothing():
    for raw in (None, b"", b"\xff\xff", CheckpointError("cut short")):
        assert keys_of(model(), raw) == {}
    astray = model(bound=(-1, 9), children=(("first", 99), ("second", -5)))
    assert keys_of(astray, saved_objects(children=(("first", 77), ("second", -1))).SerializeToString()) == {}


def test_that_objects_that_hold_each_other_end():
    document, saved = model(), saved_objects()
    document.meta.object_graph_def.nodes[0].children.add(local_name="self", node_id=0)
    document.meta.object_graph_def.nodes[1].children.add(local_name="root", node_id=0)
    saved.nodes[0].children.add(local_name="self", node_id=0)
    assert keys_of(document, saved.SerializeToString()) == {"a": KEYS[1], "b": KEYS[0]}
