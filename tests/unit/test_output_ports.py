"""Suggested outputs where one node gives several results."""

import pytest
from graphs import FLOAT, INT32, GraphBuilder

from graphviewer import protos
from graphviewer.analysis.candidates.ports import result_ports
from graphviewer.analysis.endpoints import suggest_inputs, suggest_outputs, take_outputs
from graphviewer.model.names import Endpoint
from graphviewer.protos import DataType


def function(b, name, arguments, results, nodes=(), dtypes=None):
    """A function of the library; ``results`` by name what gives each."""
    made = b.graph_def.library.function.add()
    made.signature.name = name
    for argument in arguments:
        made.signature.input_arg.add(name=argument, type=FLOAT)
    for at, (result, source) in enumerate(results.items()):
        made.signature.output_arg.add(name=result, type=dtypes[at] if dtypes else FLOAT)
        made.ret[result] = source
    for node_name, op, *inputs in nodes:
        made.node_def.add(name=node_name, op=op, input=inputs).attr["T"].type = FLOAT
    return made


def calls(node, **functions):
    for key, name in functions.items():
        node.attr[key].func.name = name


def called(op="StatefulPartitionedCall", dtypes=(FLOAT, FLOAT)):
    """A network that is one call of a function with two results, as frozen SavedModels are."""
    b = GraphBuilder()
    b.node("x", "Placeholder", dtype=FLOAT, shape=[-1, 4])
    nodes = [("first", "Relu", "x"), ("second", "Tanh", "x")]
    results = dict([("a", "first:activations:0"), ("b", "second:y:0")][: len(dtypes)])
    made = function(b, "net", ["x"], results, nodes, dtypes)
    for node, size in zip(made.node_def, (4, 2), strict=True):
        shape = node.attr["_output_shapes"].list.shape.add()
        for one in (-1, size):
            shape.dim.add(size=one)
    inputs = ["x"] if "Call" in op else ["flag", "x"]
    if "Call" not in op:
        b.node("flag", "Placeholder", dtype=DataType.BOOL, shape=[])
    b.node("call", op, *inputs, Tout=list(dtypes))
    keys = {"f": "net"} if "Call" in op else {"then_branch": "net", "else_branch": "net"}
    calls(b.graph_def.node[-1], **keys)
    return b


def suggested(b):
    return [one.name for one in suggest_outputs(b.document())]


@pytest.mark.parametrize("op", ["StatefulPartitionedCall", "PartitionedCall", "If", "StatelessIf"])
def test_that_every_result_of_the_last_call_is_suggested_with_its_shape(op):
    first, second = suggest_outputs(called(op).document())[:2]
    assert (first.name, second.name) == ("call", "call:1")
    assert first.reason.endswith("output 1 of 2, float32 [?, 4]")
    assert second.reason.endswith("output 2 of 2, float32 [?, 2]")
    assert first.score == second.score


def test_that_handles_among_the_results_are_left_out():
    assert suggested(called(dtypes=(FLOAT, DataType.RESOURCE))) == ["call"]
    assert suggested(called(dtypes=(DataType.VARIANT, FLOAT))) == ["call:1"]


def test_that_a_call_with_one_result_says_nothing_of_results():
    (one,) = suggest_outputs(called(dtypes=(FLOAT,)).document())
    assert "output 1" not in one.reason


def test_that_what_a_loop_hands_through_is_no_result():
    b = GraphBuilder()
    b.node("x", "Placeholder", dtype=FLOAT, shape=[-1, 4])
    b.const("w")
    function(b, "goes_on", ["i", "w", "h"], {"c": "i"}, dtypes=[DataType.BOOL])
    nodes = [("step", "Mul", "h", "w"), ("kept", "Identity", "w")]
    function(b, "body", ["i", "w", "h"], {"i_": "i", "w_": "kept:output:0", "h_": "step:z:0"}, nodes)
    b.node("loop", "While", "w", "w", "x", T=[FLOAT] * 3)
    calls(b.graph_def.node[-1], cond="goes_on", body="body")
    assert suggested(b)[0] == "loop:2"
    assert not {"loop", "loop:1"} & set(suggested(b))


def test_that_all_parts_of_a_split_are_suggested():
    b = GraphBuilder()
    b.node("x", "Placeholder", dtype=FLOAT, shape=[-1, 4])
    b.const("axis", dtype=INT32)
    b.node("parts", "Split", "axis", "x", num_split=3, T=FLOAT)
    assert suggested(b)[:3] == ["parts", "parts:1", "parts:2"]


def test_that_statistics_of_a_batch_norm_are_no_results():
    b = GraphBuilder()
    b.node("x", "Placeholder", dtype=FLOAT, shape=[-1, 2, 2, 3])
    b.const("one")
    b.node("bn", "FusedBatchNormV3", "x", *["one"] * 4, T=FLOAT)
    assert suggested(b) == ["bn"]


def test_that_all_results_of_one_call_are_taken_together():
    taken = take_outputs(called().document())
    assert taken.outputs == (Endpoint("call"), Endpoint("call", 1))
    assert taken.text.startswith("No output was named; the 2 outputs of one node were taken: 'call', 'call:1': ")
    assert "as likely" not in taken.text


def test_that_a_damaged_call_is_suggested_as_far_as_it_can_be_read():
    b = called()
    del b.graph_def.library.function[:]
    assert suggested(b)[:2] == ["call", "call:1"]
    b.graph_def.node[-1].attr["Tout"].Clear()
    assert suggested(b) in ([], ["call"])


def placeholders(*shapes, producer=1000):
    b = GraphBuilder()
    b.graph_def.versions.producer = producer
    for at, shape in enumerate(shapes):
        b.node(f"x{at}", "Placeholder", dtype=FLOAT, **({} if shape is None else {"shape": shape}))
    b.node("y", "AddN", *(f"x{at}" for at in range(len(shapes))), N=len(shapes), T=FLOAT)
    return {one.name: one for one in suggest_inputs(b.document(), [Endpoint("y")])}


def test_that_scalars_beside_tensors_are_taken_for_settings():
    found = placeholders([-1, 4], [])
    assert "such as keep_prob" in found["x1"].reason
    assert found["x1"].score < found["x0"].score


def test_that_scalars_are_inputs_where_there_is_nothing_else():
    found = placeholders([], [])
    assert {one.reason for one in found.values()} == {"Placeholder of a scalar"}
    assert {one.score for one in found.values()} == {5.0}


def test_that_old_graphs_do_not_tell_a_scalar_from_an_unknown_shape():
    assert placeholders([], producer=21)["x0"].reason == "Placeholder of a scalar, or of unknown rank"
    assert placeholders(None)["x0"].reason == "Placeholder"


def test_that_a_signature_with_one_port_of_a_call_does_not_hide_the_other():
    meta = protos.MetaGraphDef()
    meta.signature_def["serving_default"].outputs["b"].name = "call:1"
    found = [one.name for one in suggest_outputs(called().document(meta))]
    assert found[:2] == ["call:1", "call"]
    assert len(found) == len(set(found))


def test_that_looking_at_a_loop_without_a_body_adds_none_to_it():
    """Asking protobuf for an attribute that is not there puts an empty one there, which would be saved."""
    b = GraphBuilder()
    b.node("x", "Placeholder", dtype=FLOAT)
    b.node("loop", "StatelessWhile", "x")
    document = b.document()
    before = document.graph_def.SerializeToString(deterministic=True)
    assert result_ports(document, document.graph.index["loop"]) == [0]
    assert document.graph_def.SerializeToString(deterministic=True) == before
