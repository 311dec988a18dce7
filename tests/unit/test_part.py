"""The part of a graph that runs, what it could touch, and how far outputs are apart: all without TensorFlow."""

from __future__ import annotations

import numpy as np
import pytest

from graphviewer import protos
from graphviewer.analysis.touches import touches
from graphviewer.model.document import Document
from graphviewer.model.names import Endpoint
from graphviewer.protos import DataType
from graphviewer.runtime.compare import difference
from graphviewer.runtime.part import serialized, trace


def document(*nodes: tuple[str, str, list[str]]) -> Document:
    graph_def = protos.GraphDef()
    for name, op, inputs in nodes:
        graph_def.node.add(name=name, op=op, input=inputs, device="/job:worker")
    return Document("graphdef", graph_def)


def names(part) -> list[str]:
    return [part.document.graph.names[number] for number in part.numbers]


def written(part) -> dict[str, list[str]]:
    raw = serialized(part, dict.fromkeys(part.fed, DataType.FLOAT))
    return {node.name: list(node.input) for node in protos.GraphDef.FromString(raw).node}


PIPELINE = document(
    ("files", "Const", []),
    ("data", "TFRecordDataset", ["files"]),
    ("next", "IteratorGetNext", ["data"]),
    ("x", "Placeholder", []),
    ("images", "Identity", ["next:1", "^next"]),
    ("y", "Add", ["images", "x"]),
    ("loss", "MadeUp", ["y"]),
)


def test_that_only_what_the_outputs_need_runs_cut_at_placeholders_and_pipelines():
    part = trace(PIPELINE, [Endpoint("y")])
    assert names(part) == ["images", "y"]
    assert part.asked == part.fed == (Endpoint("next", 1), Endpoint("x"))
    assert written(part) == {"next": [], "x": [], "images": ["next"], "y": ["images", "x"]}
    assert not part.touches()


def test_that_a_fed_tensor_cuts_off_what_computes_it():
    part = trace(PIPELINE, [Endpoint("y")], [Endpoint("images")])
    assert names(part) == ["y"]
    assert (part.fed, part.asked) == ((Endpoint("x"), Endpoint("images")), (Endpoint("x"),))


def test_that_a_node_that_is_fed_and_needed_keeps_its_name():
    split = document(("s", "Split", []), ("y", "Add", ["s", "s:1"]))
    part = trace(split, [Endpoint("y")], [Endpoint("s", 1)])
    assert written(part) == {"s_1": [], "s": [], "y": ["s", "s_1"]}


@pytest.mark.parametrize(("op", "sparse"), [("ParseExample", "Nsparse"), ("ParseExampleV2", "num_sparse")])
def test_that_parsed_examples_are_fed_unless_the_serialized_ones_are(op, sparse):
    graph = document(("s", "Placeholder", []), ("parse", op, ["s"]), ("y", "Relu", ["parse:1"]))
    assert trace(graph, [Endpoint("y")]).asked == (Endpoint("parse", 1),)
    assert names(trace(graph, [Endpoint("y")], [Endpoint("s")])) == ["parse", "y"]
    graph.graph_def.node[1].attr[sparse].i = 1
    assert trace(graph, [Endpoint("y")]).asked == (Endpoint("s"),)


def test_that_a_dangling_input_is_left_for_tensorflow_to_find():
    part = trace(document(("y", "Relu", ["absent", "^gone"])), [Endpoint("y")])
    assert written(part) == {"y": ["absent", "^gone"]}


def test_that_loops_end():
    ring = document(("enter", "Enter", []), ("merge", "Merge", ["enter", "next"]), ("next", "NextIteration", ["merge"]))
    assert names(trace(ring, [Endpoint("merge")])) == ["enter", "merge", "next"]


def test_that_devices_colocation_and_recorded_shapes_are_forgotten():
    graph = document(("y", "Const", []))
    graph.graph_def.node[0].attr["_class"].list.s.append(b"loc:@absent")
    (node,) = protos.GraphDef.FromString(serialized(trace(graph, [Endpoint("y")]), {})).node
    assert (node.device, dict(node.attr)) == ("", {})


@pytest.mark.parametrize(
    ("op", "kind"),
    [
        ("ReadFile", "reads files"),
        ("WriteFile", "writes files"),
        ("SaveV2", "writes files"),
        ("RestoreV2", "reads files"),
        ("InitializeTableFromTextFileV2", "reads files"),
        ("PyFunc", "runs Python"),
        ("EagerPyFunc", "runs Python"),
        ("DataServiceDatasetV4", "uses the network"),
        ("RpcCall", "uses the network"),
    ],
)
def test_that_ops_that_reach_outside_are_listed(op, kind):
    assert protos.op_def(op) is not None
    (touch,) = touches(document(("a", op, []), ("b", "Relu", ["a"])))
    assert (touch.node, touch.op, touch.kind) == ("a", op, kind)


def test_that_ops_that_stay_inside_are_not_listed():
    inside = (
        "ReadVariableOp",
        "TensorArrayReadV3",
        "Recip",
        "PrintV2",
        "DebugIdentity",
        "IteratorGetNext",
        "MapDataset",
    )
    assert touches(document(*((op, op, []) for op in inside))) == []


def test_that_printing_to_a_file_counts_and_printing_to_the_terminal_does_not():
    graph = document(("a", "PrintV2", []), ("b", "PrintV2", []))
    graph.graph_def.node[0].attr["output_stream"].s = b"file:///tmp/x"
    graph.graph_def.node[1].attr["output_stream"].s = b"stderr"
    assert [touch.node for touch in touches(graph)] == ["a"]


def test_that_nodes_of_called_functions_count_also_where_functions_call_in_a_ring():
    graph = document(("call", "PartitionedCall", []), ("other", "Relu", []))
    graph.graph_def.node[0].attr["f"].func.name = "outer"
    for name, callee in (("outer", "inner"), ("inner", "outer"), ("unused", "inner")):
        function = graph.graph_def.library.function.add()
        function.signature.name = name
        function.node_def.add(name="again", op=callee)
        function.node_def.add(name="read", op="ReadFile")
    assert [(touch.function, touch.node) for touch in touches(graph, [0])] == [("outer", "read"), ("inner", "read")]
    assert touches(graph, [1]) == []
    assert len(touches(graph)) == 3


def compared(before, after):
    return difference("y", np.asarray(before), np.asarray(after))


def test_that_floats_within_the_tolerance_are_the_same_and_the_difference_is_told():
    found = compared(np.float32([1.0, 100.0]), np.float32([1.0, 100.005]))
    assert found.same
    assert found.max_abs == pytest.approx(0.005, rel=1e-2)
    assert found.max_rel == pytest.approx(0.00005, rel=1e-2)
    assert not compared(np.float32([1.0]), np.float32([1.001])).same


def test_that_nan_and_infinities_are_the_same_only_in_the_same_places():
    nan, inf = np.nan, np.inf
    assert compared([nan, inf, 1.0], [nan, inf, 1.0]) == difference("y", [nan, inf, 1.0], [nan, inf, 1.0])
    assert compared([nan, inf, 1.0], [nan, inf, 1.0]).same
    moved = compared([nan, 1.0], [1.0, nan])
    assert (moved.same, moved.nan_equal) == (False, False)
    infinite = compared([1.0, 2.0], [inf, 2.0])
    assert (infinite.same, infinite.max_abs, infinite.nan_equal) == (False, None, True)


def test_that_integers_bools_and_strings_are_compared_exactly():
    large = 2**53
    found = compared(np.array([large]), np.array([large + 1]))
    assert (found.same, found.max_abs) == (False, 1.0)
    assert not compared([10_000], [10_001]).same
    assert not compared([True], [False]).same
    assert compared(np.array([b"a"], object), np.array([b"a"], object)).same
    assert not compared(np.array([b"a"], object), np.array([b"b"], object)).same


def test_that_other_shapes_and_dtypes_are_different():
    assert "[2] before and [1, 2] after" in compared([1.0, 2.0], [[1.0, 2.0]]).reason
    assert "float32 before and float64 after" in compared(np.float32([1]), np.float64([1])).reason
    assert compared(np.zeros([0, 2]), np.zeros([0, 2])).same
