"""Laws of all operations on random graphs: sound results, repeatable histories, no node unaccounted for."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphviewer import protos
from graphviewer.analysis.diff import compare
from graphviewer.analysis.import_check import import_faults
from graphviewer.errors import OperationError
from graphviewer.model.document import Document
from graphviewer.model.provenance import Provenance
from graphviewer.operations.registry import Result, operations
from graphviewer.protos import DataType
from tests.unit.operation_graphs import (
    WEIGHTS,
    F,
    Values,
    assert_every_node_accounted_for,
    const,
    document,
    identity,
    node,
    placeholder,
)

DEVICE = "/device:GPU:0"
PARTS = {
    "sum": ["{n} = Add {a} {b} {waits}"],
    "negative": ["{n} = Neg {a} {waits}"],
    "variable": ["{n}/w = VariableV2", "{n}/read = Identity {n}/w {waits}", "{n} = Mul {a} {n}/read"],
    "handle": ["{n}/w = VarHandleOp", "{n}/read = ReadVariableOp {n}/w {waits}", "{n} = Add {a} {n}/read"],
    "update": ["{n}/w = VariableV2", "{n} = AssignAdd {n}/w {a}"],
    "check": ["{n} = CheckNumerics {a} {waits}"],
    "call": ["{n} = PartitionedCall {a} {waits}"],
    "branch": ["{n}/switch = Switch {a} flag", "{n}/on = Neg {n}/switch:1", "{n} = Merge {n}/switch {n}/on"],
    "constant": ["{n}/c = Neg half", "{n}/d = Identity {n}/c", "{n} = Add {a} {n}/d"],
    "dropout": [
        "{n}/shape = Shape {a}",
        "{n}/random = RandomUniform {n}/shape",
        "{n}/sum = Add {n}/random half",
        "{n}/mask = Floor {n}/sum",
        "{n}/scaled = RealDiv {a} half",
        "{n} = Mul {n}/scaled {n}/mask",
    ],
}
"""Parts of networks: ``{n}`` is made of ``{a}`` and ``{b}``, all of them float matrices."""

ATTRIBUTES = {
    "VariableV2": {"dtype": F, "shape": [2, 2]},
    "VarHandleOp": {"dtype": F, "shape": [2, 2]},
    "ReadVariableOp": {"dtype": F},
    "CheckNumerics": {"T": F, "message": "not finite"},
    "Shape": {"T": F, "out_type": DataType.INT32},
    "RandomUniform": {"T": DataType.INT32, "dtype": F},
}
OPTIONS = {
    "freeze": {"allow_training_mode": True, "accept_value_before": True},
    "rename": {"scopes": "p1=moved/p1"},
    "cut-inputs": {"inputs": ["p1"]},
}
"""What an operation needs besides outputs."""


def made(line: str) -> protos.NodeDef:
    one = node(line)
    one.CopyFrom(node(line, **ATTRIBUTES.get(one.op, {"T": F})))
    one.device = DEVICE
    if one.op == "Merge":
        one.attr["N"].i = 2
    if one.op == "PartitionedCall":
        one.attr["f"].func.name = "f"
        one.attr["Tin"].list.type.append(F)
        one.attr["Tout"].list.type.append(F)
        del one.attr["T"]
    return one


def library() -> protos.FunctionDef:
    """f(x) = -x, and one that nothing calls."""
    for name in ("f", "unused"):
        function = protos.FunctionDef()
        function.signature.name = name
        function.signature.input_arg.add(name="x", type=F)
        function.signature.output_arg.add(name="y", type=F)
        function.node_def.append(identity("neg = Neg x"))
        function.ret["y"] = "neg:y:0"
        yield function


@st.composite
def networks(draw) -> tuple[Document, str]:
    """Parts on top of each other, with control edges between them; and the output."""
    nodes = [placeholder("p0"), const("half", 0.5), const("flag", True, DataType.BOOL)]
    names = ["p0"]
    for number in range(1, draw(st.integers(2, 7))):
        a, b, wait = (draw(st.sampled_from(names)) for _ in range(3))
        waits = draw(st.sampled_from(["", f"^{wait}"]))
        kind = draw(st.sampled_from(sorted(PARTS)))
        nodes += [made(line.format(n=f"p{number}", a=a, b=b, waits=waits)) for line in PARTS[kind]]
        names.append(f"p{number}")
    return document(*nodes, functions=list(library())), draw(st.sampled_from(names[1:]))


def applied(name: str, before: Document, output: str) -> Result | None:
    """The operation's result, or None where it refuses with a reason of the graph."""
    operation = operations()[name]
    options = dict(OPTIONS.get(name, {}))
    if operation.parameter("outputs") is not None:
        options["outputs"] = [output]
    values = {one: WEIGHTS for one in before.graph.names if one.endswith("/w")}
    try:
        return operation.run(before, checkpoint=Values(values), **options)
    except OperationError as error:
        if "fault of graphviewer" in error.hint:
            raise
        return None


@pytest.mark.parametrize("name", operations())
@settings(max_examples=25)
@given(networks())
def test_that_results_are_sound_repeatable_and_account_for_every_node(name, given_network):
    before, output = given_network
    assert import_faults(before) == []
    unchanged = before.graph_def.SerializeToString(deterministic=True)

    result = applied(name, before, output)

    assert before.graph_def.SerializeToString(deterministic=True) == unchanged
    if result is None:
        return
    assert import_faults(result.document) == []
    assert_every_node_accounted_for(before, result)
    again = replayed(before, Provenance.from_json(result.provenance.to_json()))
    assert serialized(again) == serialized(result)


def serialized(result: Result) -> bytes:
    return result.document.graph_def.SerializeToString(deterministic=True)


def replayed(before: Document, history: Provenance) -> Result:
    """The same once more, from nothing but what the history says."""
    values = {one: WEIGHTS for one in before.graph.names if one.endswith("/w")}
    return operations()[history.operation].run(before, checkpoint=Values(values), **history.parameters)


@pytest.mark.parametrize("name", sorted(set(operations()) - {"rename", "cut-inputs"}))
@settings(max_examples=25)
@given(networks())
def test_that_a_result_is_told_as_its_file_would_be(name, given_network):
    before, output = given_network
    result = applied(name, before, output)
    if result is None:
        return
    seen, told = (compare(before, result.document, known) for known in (None, result.provenance))
    alike = seen.match == told.match  # a file may suggest that a node was renamed that the operation made anew
    assert seen.status_before[alike].tolist() == told.status_before[alike].tolist()
