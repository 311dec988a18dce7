"""Freezing any graph of training: no variable is left, and every node is accounted for."""

from hypothesis import given
from hypothesis import strategies as st

from tests.unit.operation_graphs import (
    WEIGHTS,
    F,
    Values,
    document,
    freeze,
    identity,
    node,
    placeholder,
    value_of,
    variable,
)


@st.composite
def training_graphs(draw):
    """Variables, reads, arithmetic, updates and groups, wired at random."""
    made, values, controls = [placeholder("n0")], ["n0"], []
    for number in range(1, draw(st.integers(2, 14))):
        name, kind = f"n{number}", draw(st.sampled_from(["variable", "handle", "sum", "update", "group"]))
        waits = [f"^{one}" for one in draw(st.lists(st.sampled_from(controls), max_size=2))] if controls else []
        source, other = draw(st.sampled_from(values)), draw(st.sampled_from(values))
        if kind == "variable":
            made += [variable(name, [2, 2]), identity(" ".join([f"{name}r = Identity {name}", *waits]))]
            values.append(f"{name}r")
        elif kind == "handle":
            made += [
                node(f"{name} = VarHandleOp", dtype=F, shape=[2, 2]),
                node(" ".join([f"{name}r = ReadVariableOp {name}", *waits]), dtype=F),
            ]
            values.append(f"{name}r")
        elif kind == "sum":
            made.append(identity(" ".join([f"{name} = Add {source} {other}", *waits])))
            values.append(name)
        elif kind == "update":
            made += [variable(f"{name}v", [2, 2]), node(f"{name} = AssignAdd {name}v {source}", T=F)]
            controls.append(name)
        else:
            made.append(node(" ".join([f"{name} = NoOp", *waits, f"^{source}"])))
            controls.append(name)
    return document(*made), draw(st.sampled_from(values))


@given(training_graphs())
def test_that_no_variable_is_left_and_every_node_is_accounted_for(given_graph):
    before, output = given_graph
    checkpoint = Values(
        {name: WEIGHTS for name, op in zip(before.graph.names, before.graph.ops, strict=True) if "Var" in op}
    )

    result = freeze(before, checkpoint, [output])

    after = result.document.graph
    assert not {"VariableV2", "VarHandleOp", "ReadVariableOp", "AssignAdd"} & set(after.ops)
    assert not after.dangling
    assert all(
        made.op != "Const" or value_of(result, made.name).shape == (2, 2) for made in result.document.graph_def.node
    )
