"""What freezing rewrites, what it refuses, and that nothing is lost silently."""

import numpy as np
import pytest
from operation_graphs import (
    WEIGHTS,
    F,
    Values,
    by_name,
    const,
    document,
    freeze,
    identity,
    lines,
    network,
    node,
    placeholder,
    value_of,
    variable,
)

from graphviewer import protos
from graphviewer.errors import OperationError
from graphviewer.protos import DataType


def test_that_rewrites_are_reported_with_node_rule_and_reason():
    handle = node("v = VarHandleOp", dtype=F, shape=[2, 2])
    before = document(
        placeholder(),
        handle,
        node("v/read = ReadVariableOp v", dtype=F, _output_shapes=[2, 2]),
        identity("y = MatMul x v/read"),
    )

    result = freeze(before, Values({"v": WEIGHTS}))

    assert {rewrite.node: rewrite.rule for rewrite in result.rewrites} == {
        "v": "variable -> constant",
        "v/read": "read -> identity",
    }
    assert all(rewrite.reason for rewrite in result.rewrites)
    assert "_output_shapes" not in by_name(result.document)["v/read"].attr


def test_that_waiting_for_updates_and_checks_is_dropped_and_reported():
    before = network(
        variable("count", []),
        const("one", 1.0),
        node("count/add = AssignAdd count one", T=F),
        node("check = Assert x"),
        "updates = NoOp ^count/add ^check",
        identity("z = Neg y ^updates ^x"),
    )

    result = freeze(before, Values({"net/w": WEIGHTS}), ["z"])

    assert list(by_name(result.document)["z"].input) == ["y", "^x"]
    assert result.provenance.removals["count/add"].reason.startswith("only updates variables or checks values")
    assert ("z", "wait dropped") in [(rewrite.node, rewrite.rule) for rewrite in result.rewrites]


def test_that_what_reads_the_reference_of_an_update_reads_the_new_value():
    before = document(
        placeholder(),
        variable("w", [2, 2]),
        const("one", WEIGHTS),
        node("flag = Placeholder", dtype=DataType.BOOL, shape=[]),
        node("add = AssignAdd w one", T=F),
        node("again = AssignAdd add one", T=F),
        node("switch = RefSwitch again flag", T=F),
        node("off = Neg switch", T=F),
        node("on = Square switch:1", T=F),
        node("merge = Merge off on", T=F),
        identity("y = MatMul x merge"),
    )

    result = freeze(before, Values({"w": WEIGHTS}))

    assert {"add = Add w one", "again = Add add one", "switch = Switch again flag"} <= set(lines(result.document))


@pytest.mark.parametrize("op", ["ScatterUpdate", "ApplyGradientDescent", "CountUpTo"])
def test_that_an_update_whose_result_the_outputs_use_is_refused(op):
    before = network(const("delta", WEIGHTS), node(f"update = {op} net/w delta delta", T=F), identity("z = Neg update"))

    with pytest.raises(OperationError, match=f"'update' \\({op}\\) updates a variable"):
        freeze(before, Values({"net/w": WEIGHTS}), ["z"])


def test_that_a_read_after_an_update_of_its_variable_is_refused_naming_both():
    before = document(
        placeholder(),
        node("v = VarHandleOp", dtype=F, shape=[2, 2]),
        const("delta", WEIGHTS),
        node("update = AssignAddVariableOp v delta", dtype=F),
        node("group = NoOp ^update"),
        node("late = ReadVariableOp v ^group", dtype=F),
        identity("y = MatMul x late"),
    )

    with pytest.raises(OperationError, match=r"'late' reads 'v' after 'update' \(AssignAddVariableOp\)"):
        freeze(before, Values({"v": WEIGHTS}))
    result = freeze(before, Values({"v": WEIGHTS}), accept_value_before=True)
    np.testing.assert_array_equal(value_of(result, "v"), WEIGHTS)


def test_that_a_handle_used_as_such_is_refused_naming_its_user():
    before = document(
        placeholder(),
        node("v = VarHandleOp", dtype=F, shape=[2, 2]),
        node("destroy = MyHandleOp v x"),
        identity("y = Neg destroy"),
    )

    with pytest.raises(OperationError, match=r"'destroy' \(MyHandleOp\) uses the variable 'v' itself"):
        freeze(before, Values({"v": WEIGHTS}))


def test_that_a_fed_variable_is_a_placeholder_and_needs_no_value():
    before = document(
        placeholder(),
        node("v = VarHandleOp", dtype=F, shape=[2, 2]),
        node("v/read = ReadVariableOp v", dtype=F),
        identity("y = MatMul x v/read"),
    )

    result = freeze(before, None, inputs=["v"])

    assert lines(result.document)[1:3] == ["v = Placeholder", "v/read = Identity v"]
    assert result.inputs == ("v",)


def test_that_functions_are_nested_at_most_a_hundred_deep_and_rings_end():
    functions = []
    for number in range(150):
        function = protos.FunctionDef()
        function.signature.name = f"f{number}"
        function.signature.input_arg.add(name="handle", type=DataType.RESOURCE)
        function.signature.output_arg.add(name="out", type=F)
        inner = node("call = PartitionedCall handle")
        inner.attr["f"].func.name = f"f{number + 1}"
        inner.attr["Tin"].list.type.append(DataType.RESOURCE)
        inner.attr["Tout"].list.type.append(F)
        function.node_def.append(inner)
        function.ret["out"] = "call:output:0"
        functions.append(function)
    call = node("y = PartitionedCall v")
    call.attr["f"].func.name = "f0"
    call.attr["Tin"].list.type.append(DataType.RESOURCE)
    call.attr["Tout"].list.type.append(F)
    nodes = (node("v = VarHandleOp", dtype=F, shape=[2, 2]), call)

    with pytest.raises(OperationError, match="nested more than 100 deep"):
        freeze(document(*nodes, functions=functions), Values({"v": WEIGHTS}))
    functions[0].node_def[0].attr["f"].func.name = "f0"
    assert freeze(document(*nodes, functions=functions), Values({"v": WEIGHTS})).frozen == 1
