"""Extraction from any graph: exactly what the outputs need, as it was and in order."""

from hypothesis import given
from hypothesis import strategies as st

from graphviewer import protos
from graphviewer.model.names import CONTROL_PORT, parse_input
from graphviewer.operations.registry import operations
from graphviewer.protos import DataType
from tests.unit.operation_graphs import assert_every_node_accounted_for, by_name, document


def extract(before, outputs, inputs=()):
    return operations()["extract"].run(before, outputs=outputs, inputs=inputs)


@st.composite
def graphs(draw):
    """Nodes that read earlier ones, and NextIterations that read any, control edges included."""
    count = draw(st.integers(1, 12))
    made = []
    ops = draw(st.lists(st.sampled_from(["Custom", "Custom", "NextIteration"]), min_size=count, max_size=count))
    for number, op in enumerate(ops):
        last = count - 1 if op == "NextIteration" else number - 1
        reads = st.tuples(st.integers(0, max(last, 0)), st.integers(-1, 2))
        inputs = sorted(draw(st.lists(reads, max_size=4 if last >= 0 else 0)), key=lambda read: read[1] == CONTROL_PORT)
        inputs = [(at, port if ops[at] == "Custom" else min(port, 0)) for at, port in inputs]
        texts = [f"^n{at}" if port < 0 else f"n{at}:{port}" if port else f"n{at}" for at, port in inputs]
        made.append(protos.NodeDef(name=f"n{number}", op=op, input=texts))
    return document(*made), draw(st.lists(st.integers(0, count - 1), min_size=1, max_size=3))


def reachable(before, outputs):
    """The same by the definition: a fixed point over inputs."""
    needed = set(outputs)
    while True:
        more = {parse_input(text)[0] for name in needed for text in by_name(before)[name].input} - needed
        if not more:
            return needed
        needed |= more


@given(graphs())
def test_that_exactly_the_ancestors_of_the_outputs_stay_as_they_were_and_in_order(given_graph):
    before, numbers = given_graph
    outputs = [f"n{number}" for number in numbers]

    result = extract(before, outputs)

    needed = reachable(before, outputs)
    assert list(result.document.graph_def.node) == [made for made in before.graph_def.node if made.name in needed]
    assert_every_node_accounted_for(before, result)


@given(graphs(), st.data())
def test_that_with_inputs_the_result_stops_there_and_reads_nothing_that_is_absent(given_graph, data):
    before, numbers = given_graph
    fed = data.draw(st.sampled_from(before.graph.names))
    for made in before.graph_def.node:
        made.op, made.attr["T"].type = made.op.replace("Custom", "Identity"), DataType.FLOAT
        made.input[:] = [text.partition(":")[0] for text in made.input]
    before = document(*before.graph_def.node)

    result = extract(before, [f"n{number}" for number in numbers], [fed])

    names = set(result.document.graph.names)
    assert not result.document.graph.dangling
    assert names <= reachable(before, [f"n{number}" for number in numbers])
    if fed in names:
        assert by_name(result.document)[fed].op == "Placeholder"
    assert_every_node_accounted_for(before, result)
