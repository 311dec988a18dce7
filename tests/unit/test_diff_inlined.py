"""A graph that calls functions beside one that has them inlined."""

from __future__ import annotations

import pytest
from cli_graphs import run
from operation_graphs import F, call, document, function, identity, placeholder

from graphviewer.analysis.diff import compare
from graphviewer.analysis.diff.inlined import caller, calling_side
from graphviewer.operations.registry import operations

CHAIN = [
    identity(f"n{number} = {op} {'x' if number == 0 else f'n{number - 1}:y:0'}")
    for number, op in enumerate(["Relu", "Exp", "Neg"] * 4)
]


def calling(name="y", body="f"):
    return document(
        placeholder(),
        call(f"{name} = PartitionedCall x", body),
        functions=[function(body, {"x": F}, {"y": (F, "n11:y:0")}, *CHAIN)],
    )


def elsewhere():
    """The body's nodes under other names, and no call."""
    nodes = [identity(f"net/m{at} = {node.op} {'x' if at == 0 else f'net/m{at - 1}'}") for at, node in enumerate(CHAIN)]
    return document(placeholder(), *nodes)


def test_that_the_side_that_calls_is_found_whichever_it_is():
    assert calling_side(compare(calling(), elsewhere())) == 0
    assert calling_side(compare(elsewhere(), calling())) == 1
    assert caller(compare(calling(), elsewhere())) == "the first graph"


def test_that_graphs_that_both_call_or_do_something_else_are_left_alone():
    assert calling_side(compare(calling(), calling("z"))) is None
    other = document(placeholder(), *(identity(f"m{at} = MatMul x x") for at in range(12)))
    assert calling_side(compare(calling(), other)) is None
    inlined = operations()["inline-functions"].run(calling())
    assert calling_side(compare(calling(), inlined.document)) is None  # its calls became their bodies under their names


def test_that_the_shell_says_what_to_do(tmp_path):
    paths = tmp_path / "a.pb", tmp_path / "b.pb"
    for path, one in zip(paths, (calling(), elsewhere()), strict=True):
        path.write_bytes(one.graph_def.SerializeToString())
    text = run("diff", *paths).stdout
    assert "a.pb calls functions, the other graph has them inlined" in text
    assert "graphviewer apply inline-functions" in text


@pytest.mark.parametrize(("graph", "told"), [(calling(), True), (elsewhere(), False)])
def test_that_freezing_says_that_calls_stay(graph, told):
    warnings = operations()["freeze"].run(graph, outputs=[graph.graph_def.node[-1].name]).warnings
    assert any("1 call of a function stays a call" in one and "inline-functions" in one for one in warnings) == told
