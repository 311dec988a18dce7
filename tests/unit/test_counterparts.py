"""Which tensors are compared where the names of two graphs differ."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from operation_graphs import const, document, node
from test_signature_names import served

from graphviewer import protos
from graphviewer.errors import OperationError, UnknownNameError
from graphviewer.model.names import Endpoint
from graphviewer.protos import DataType
from graphviewer.runtime.counterparts import Paired, paired_inputs, paired_outputs

F = DataType.FLOAT


def static(*outputs, inputs=("in",), shapes=None):
    """A bare graph: each output is a Relu of the first input."""
    fed = [node(f"{name} = Placeholder", dtype=F, shape=(shapes or {}).get(name, [-1])) for name in inputs]
    return document(*fed, *(node(f"{name} = Relu {inputs[0]}", T=F) for name in outputs))


def signed(old, **keys):
    meta = protos.MetaGraphDef()
    for key, name in keys.items():
        meta.signature_def["serving_default"].outputs[key].name = f"{name}:0"
    return document(*old.graph_def.node, meta=meta)


def texts(pairs):
    return [(str(pair.before), str(pair.after), pair.by) for pair in pairs]


def test_that_outputs_of_one_name_need_no_reason():
    graph = static("y")
    assert paired_outputs(graph, graph, []) == [Paired(Endpoint("y"), Endpoint("y"))]


def test_that_a_signature_stands_for_the_ends_of_a_bare_graph_in_order():
    before, after = served("serving_default"), static("a", "b")
    expected = [
        ("serving_default_call", "a", "their position"),
        ("serving_default_call:1", "b", "their position"),
    ]
    assert texts(paired_outputs(before, after, [])) == expected
    assert texts(paired_outputs(after, before, [])) == [(new, old, by) for old, new, by in expected]
    assert texts(paired_outputs(before, after, ["output_1"])) == expected[1:]
    assert texts(paired_outputs(before, after, ["b"])) == expected[1:]


def test_that_keys_pair_the_outputs_of_two_signatures_whatever_their_order():
    before, after = signed(static("a", "b"), left="a", right="b"), signed(static("c", "d"), right="c", left="d")
    key = "the signature's key '{}'".format
    assert sorted(texts(paired_outputs(before, after, []))) == [("a", "d", key("left")), ("b", "c", key("right"))]
    assert texts(paired_outputs(before, after, ["right"])) == [("b", "c", "the name 'right'")]


def test_that_signatures_without_a_common_key_are_paired_by_position():
    before, after = signed(static("a"), output_0="a"), signed(static("b"), output="b")
    assert texts(paired_outputs(before, after, [])) == [("a", "b", "their position")]


def test_that_keys_are_counted_as_people_count():
    before = signed(static("a", "b", "c"), output_2="a", output_10="b", output_1="c")
    found = paired_outputs(before, static("x", "y", "z"), [])
    assert [(str(one.before), str(one.after)) for one in found] == [("c", "x"), ("a", "y"), ("b", "z")]


def test_that_more_ends_than_are_looked_at_are_not_paired():
    names = [f"n{number}" for number in range(11)]
    before = signed(static(*names), **{f"output_{number}": name for number, name in enumerate(names)})
    with pytest.raises(OperationError, match="no output in common"):
        paired_outputs(before, static(*(f"m{number}" for number in range(12))), [])


def test_that_other_numbers_of_outputs_are_not_paired():
    with pytest.raises(OperationError, match="no output in common"):
        paired_outputs(served("serving_default"), static("a", "b", "c"), [])


def test_that_the_lone_outputs_of_two_bare_graphs_are_paired_and_others_are_not():
    expected = [("a", "b", "their position")]
    assert texts(paired_outputs(static("a"), static("b"), [])) == expected
    assert texts(paired_outputs(static("a"), static("b"), ["a"])) == expected
    for before, after in ((static("a", "b"), static("c", "d")), (static("a"), static("c", "d"))):
        with pytest.raises(OperationError, match="no output in common"):
            paired_outputs(before, after, [])


def test_that_lone_outputs_of_other_dtypes_are_not_paired():
    after = document(const("c", 1.0), node("b = Cast c", SrcT=F, DstT=DataType.INT32))
    with pytest.raises(OperationError, match="no output in common"):
        paired_outputs(static("a"), after, [])


def test_that_a_pair_is_chosen_by_writing_both_names():
    before, after = static("a", "b"), static("c", "d", "a")
    assert texts(paired_outputs(before, after, ["a=d"])) == [("a", "d", "your choice")]
    assert texts(paired_outputs(before, after, ["a=d,b=c:0", "a=a"])) == [
        ("a", "d", "your choice"),
        ("b", "c", "your choice"),
        ("a", "a", ""),
    ]
    for text in ("a=", "=a", "a=c=d"):
        with pytest.raises(OperationError, match="pairs no two outputs"):
            paired_outputs(before, after, [text])


def test_that_an_unknown_name_is_told_with_the_graph_that_lacks_it():
    before, after = static("a", "b"), replace(static("a", "c"), path=Path("folder/frozen.pb"))
    for names, place in (
        (["a=z"], r"no node 'z' in the result \(frozen.pb\)\."),
        (["z=a"], r"no node 'z' in the original\."),
        (["b"], r"no node 'b' in the result \(frozen.pb\)\."),
        (["c"], r"no node 'c' in the original\."),
        (["z"], r"no node 'z' in either graph\."),
    ):
        with pytest.raises(UnknownNameError, match=place):
            paired_outputs(before, after, names)


def test_that_outputs_of_other_dtypes_are_not_paired():
    before = signed(static("a"), output_0="a")
    after = document(const("c", 1.0), node("b = Cast c", SrcT=F, DstT=DataType.INT32))
    with pytest.raises(OperationError, match="no output in common"):
        paired_outputs(before, after, [])


def test_that_a_name_that_neither_graph_has_is_refused():
    with pytest.raises(UnknownNameError, match="no node 'z'"):
        paired_outputs(static("a"), static("a"), ["z"])


def test_that_inputs_are_paired_by_key_then_by_position():
    before = served("serving_default")
    pairs = paired_inputs(before, static("y", inputs=["x"]), [Endpoint("serving_default_x")], [Endpoint("x")])
    assert texts(pairs or ()) == [("serving_default_x", "x", "the signature's key 'x'")]
    pairs = paired_inputs(before, static("y"), [Endpoint("serving_default_x")], [Endpoint("in")])
    assert texts(pairs or ()) == [("serving_default_x", "in", "their position")]


def test_that_an_input_that_the_result_has_and_does_not_need_stands_for_no_other():
    graph = static("y", inputs=["one", "two"])
    meta = protos.MetaGraphDef()
    meta.signature_def["serving_default"].inputs["more"].name = "two:0"
    before = document(*graph.graph_def.node, meta=meta)
    after = static("z", inputs=["in", "more"])
    pairs = paired_inputs(before, after, [Endpoint("one"), Endpoint("two")], [Endpoint("in")])
    assert texts(pairs or ()) == [("one", "in", "their position")]


def test_that_inputs_of_another_shape_or_number_are_not_paired():
    shapes = {"p": [-1, 3], "q": [-1, 4], "r": [-1]}
    graph = static("y", inputs=["p", "q", "r"], shapes=shapes)
    p, q, r = map(Endpoint, "pqr")
    assert paired_inputs(graph, graph, [p], [q]) is None
    assert paired_inputs(graph, graph, [p], [r]) is None
    assert paired_inputs(graph, graph, [p, q], [r]) is None
