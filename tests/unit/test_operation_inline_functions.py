"""Inlining: bodies in the place of calls, and calls that stay."""

import pytest
from operation_graphs import (
    SQUARE,
    TWICE,
    F,
    apply,
    by_name,
    call,
    const,
    document,
    function,
    identity,
    lines,
    node,
    placeholder,
)

from graphviewer.analysis.diff import compare
from graphviewer.errors import OperationError
from graphviewer.operations import inline_functions
from graphviewer.protos import DataType

INT = DataType.INT32
BOOL = DataType.BOOL


def test_that_nested_calls_become_nodes_under_the_name_of_the_call():
    before = document(
        placeholder(), call("y = PartitionedCall x", "twice"), identity("z = Neg y"), functions=[SQUARE, TWICE]
    )

    result = apply("inline-functions", before)

    assert set(lines(result.document)) == {
        "x = Placeholder",
        "y/once/mul = Mul x x",
        "y/once = Identity y/once/mul",
        "y/again/mul = Mul y/once y/once",
        "y/again = Identity y/again/mul",
        "y = Identity y/again",
        "z = Neg y",
    }
    assert not result.document.graph_def.library.function
    assert "'square', which 'y/once' called" in result.provenance.origins["y/once/mul"].reason
    assert {one.rule for one in result.rewrites} >= {"PartitionedCall -> body", "function removed"}
    changes = {change.after: change.status for change in compare(before, result.document, result.provenance).changes}
    assert (changes["y"], changes["y/once/mul"], changes.get("z")) == ("converted", "added", None)


def test_that_a_result_waits_for_effects_in_one_order_whatever_the_order_in_memory():
    """A map of protocol buffers has another order in every process."""
    steps = [f"step{number}" for number in range(9)]
    body = function("f", {"a": F}, {"out": (F, "a")}, *(node(f"{step} = NoOp") for step in steps))
    body.control_ret.update({step: step for step in reversed(steps)})

    after = by_name(
        apply(
            "inline-functions", document(placeholder(), call("y = PartitionedCall x", "f"), functions=[body])
        ).document
    )

    assert list(after["y"].input) == ["x", *(f"^y/{step}" for step in steps)]


def test_that_what_a_call_waited_for_comes_before_all_of_its_body():
    body = function("f", {"a": F}, {"out": (F, "sum:z:0")}, const("one", 1.0), identity("sum = AddV2 a one:output:0"))
    before = document(placeholder(), "first = NoOp", call("y = PartitionedCall x ^first", "f"), functions=[body])

    after = by_name(apply("inline-functions", before).document)

    assert list(after["y/a"].input) == ["x", "^first"]
    assert list(after["y/one"].input) == ["^first"]
    assert list(after["y/sum"].input) == ["y/a", "y/one"]


def test_that_effects_of_a_body_happen_before_the_call_is_done():
    update = node("update = AssignAddVariableOp v one:output:0", dtype=F)
    body = function("f", {"v": DataType.RESOURCE}, {}, const("one", 1.0), update, node("done = NoOp ^update"))
    body.control_ret["done"] = "done"
    before = document(
        node("v = VarHandleOp", dtype=F, shape=[]),
        call("y = StatefulPartitionedCall v", "f", [DataType.RESOURCE], []),
        "end = NoOp ^y",
        functions=[body],
    )

    after = by_name(apply("inline-functions", before).document)

    assert after["y"].op == "NoOp"
    assert list(after["y"].input) == ["^y/done", "^y/update"]
    assert list(after["end"].input) == ["^y"]


def test_that_names_in_use_colocation_and_devices_are_minded():
    inner = identity("mul = Mul a a")
    inner.attr["_class"].list.s.append(b"loc:@other")
    other = identity("other = Neg a")
    other.device = "/gpu:0"
    body = function("f", {"a": F}, {"out": (F, "mul:z:0"), "same": (F, "a")}, inner, other)
    placed = call("y = PartitionedCall x", "f", outputs=[F, F])
    placed.device = "/cpu:0"
    before = document(placeholder(), placed, identity("y/mul = Neg x"), identity("z = Sub y y:1"), functions=[body])

    after = by_name(apply("inline-functions", before).document)

    assert (after["y"].op, list(after["y"].input)) == ("IdentityN", ["y/mul_1", "x"])
    assert after["y/mul_1"].attr["_class"].list.s[0] == b"loc:@y/other"
    assert (after["y/mul_1"].device, after["y/other"].device) == ("/cpu:0", "/gpu:0")


def test_that_an_op_that_is_a_function_fills_in_its_attributes():
    body = function("Legacy", {}, {}, node("neg = Neg a"))
    body.signature.input_arg.add(name="a", type_attr="T")
    body.signature.output_arg.add(name="out", type_attr="T")
    body.signature.attr.add(name="T", type="type")
    body.ret["out"] = "neg:y:0"
    body.node_def[0].attr["T"].placeholder = "T"
    before = document(placeholder(), identity("y = Legacy x"), node("z = Legacy x"), functions=[body])

    result = apply("inline-functions", before)

    after = by_name(result.document)
    assert after["y/neg"].attr["T"].type == F
    assert after["z"].op == "Legacy"
    assert "'z' was not inlined: it does not say what 'T' is" in result.warnings[0]


LOOP = function("loop", {"a": F}, {"out": (F, "inner:output:0")}, call("inner = PartitionedCall a", "loop"))
LISTS = function("lists", {}, {})
LISTS.signature.input_arg.add(name="a", type_list_attr="T")
TORN = function("torn", {"a": F}, {"out": (F, "absent:z:0")})


@pytest.mark.parametrize(
    ("body", "reason"),
    [(LOOP, "calls itself"), (LISTS, "lists of tensors"), (TORN, "reads 'absent:z:0'"), (SQUARE, "passes 2 arguments")],
)
def test_that_calls_that_cannot_be_written_out_stay_and_are_named(body, reason):
    inputs = "x x" if body is SQUARE else "x"
    before = document(placeholder(), call(f"y = PartitionedCall {inputs}", body.signature.name), functions=[body])

    result = apply("inline-functions", before)

    assert reason in " ".join(result.warnings)
    assert body.signature.name in {kept.signature.name for kept in result.document.graph_def.library.function}


def test_that_functions_that_call_others_twice_do_not_grow_without_end(monkeypatch):
    monkeypatch.setattr(inline_functions, "MOST_NODES", 1000)
    levels = [
        function(
            f"f{n}",
            {"a": F},
            {"out": (F, "s:z:0")},
            call("l = PartitionedCall a", f"f{n + 1}"),
            call("r = PartitionedCall a", f"f{n + 1}"),
            identity("s = AddV2 l:output:0 r:output:0"),
        )
        for n in range(40)
    ]
    last = function("f40", {"a": F}, {"out": (F, "a")})
    monkeypatch.setattr(inline_functions, "Call", None)  # nothing is written out before it is counted

    with pytest.raises(OperationError, match="more than 1,000 nodes"):
        apply(
            "inline-functions", document(placeholder(), call("y = PartitionedCall x", "f0"), functions=[*levels, last])
        )


def test_that_what_is_counted_is_what_is_inlined(monkeypatch):
    before = document(
        placeholder(), call("y = PartitionedCall x", "twice"), call("z = PartitionedCall y", "twice"),
        functions=[TWICE, SQUARE],
    )  # fmt: skip
    size = len(apply("inline-functions", before).document.graph)
    monkeypatch.setattr(inline_functions, "MOST_NODES", size)
    apply("inline-functions", before)
    monkeypatch.setattr(inline_functions, "MOST_NODES", size - 1)
    monkeypatch.setattr(inline_functions, "Call", None)
    with pytest.raises(OperationError, match="more than"):
        apply("inline-functions", before)


def test_that_a_body_in_a_branch_waits_for_all_inputs_of_its_call():
    seven = function("seven", {"a": F}, {"out": (F, "c:output:0")}, const("c", 7.0))
    before = document(
        placeholder(),
        node("p = Placeholder", dtype=DataType.BOOL, shape=[]),
        identity("switch = Switch x p"),
        call("y = PartitionedCall switch:1 ^p", "seven"),
        functions=[seven],
    )

    assert lines(apply("inline-functions", before).document)[3:] == [
        "y = Identity y/c ^y/called",
        "y/a/given = Identity switch:1 ^p",
        "y/called = NoOp ^y/a/given",
        "y/a = Identity y/a/given ^y/called",
        "y/c = Const ^y/called",
    ]


def test_that_lost_gradients_are_told():
    before = document(placeholder(), call("y = PartitionedCall x", "square"), functions=[SQUARE])
    before.graph_def.library.gradient.add(function_name="square", gradient_func="square")
    before.graph_def.node[1].attr["_gradient_op_type"].s = b"PartitionedCall-7"

    warnings = apply("inline-functions", before).warnings

    assert "Gradients registered for square are lost" in warnings[0]
    assert "lost: y" in warnings[1]
