"""Roles and suggestions of any graph, damaged ones too."""

from hypothesis import given, settings
from hypothesis import strategies as st

from graphviewer import protos
from graphviewer.analysis.endpoints import suggest_inputs, suggest_outputs
from graphviewer.analysis.roles import ROLES, classify
from graphviewer.model.document import Document
from graphviewer.model.names import Endpoint, parse_input

OPS = (
    *(
        "Assign",
        "AssignAdd",
        "AssignSub",
        "VariableV2",
        "Identity",
        "NoOp",
        "Const",
        "Switch",
        "Merge",
        "Enter",
        "Exit",
    ),
    *(
        "NextIteration",
        "ApplyAdam",
        "ReluGrad",
        "Fill",
        "OnesLike",
        "Placeholder",
        "IteratorGetNext",
        "SaveV2",
        "Assert",
    ),
    *("RestoreV2", "FusedBatchNormV3", "RandomUniform", "ScalarSummary", "MadeUp", "Shape", "Mul", "LoopCond", ""),
    *("ScatterSub", "ConcatV2", "UnsortedSegmentSum", "Unique", "Rsqrt", "Sum", "Square", "Maximum", "InTopKV2"),
    *("AccumulatorApplyGradient", "IsVariableInitialized", "CTCGreedyDecoder", "ApplyGradientDescent", "MatMul"),
)


@st.composite
def damaged_graphs(draw):
    """Nodes of any op that read any others, themselves included: cycles, absent names, doubles, wrong arity."""
    count = draw(st.integers(1, 25))
    names = [f"n{number}" for number in range(count)]
    graph_def = protos.GraphDef()
    for name in names:
        inputs = draw(st.lists(st.sampled_from([*names, "absent"]), max_size=4))
        ports = draw(st.lists(st.sampled_from(["{}", "{}:1", "^{}"]), min_size=len(inputs), max_size=len(inputs)))
        written = [port.format(text) for port, text in zip(ports, inputs, strict=True)]
        graph_def.node.add(name=draw(st.sampled_from([name, "n0"])), op=draw(st.sampled_from(OPS)), input=written)
    return graph_def


@settings(max_examples=40)
@given(damaged_graphs())
def test_that_any_graph_gets_one_role_and_one_reason_per_node(graph_def):
    document = Document("graphdef", graph_def)
    overlay = classify(document, [Endpoint(graph_def.node[0].name)], [Endpoint(graph_def.node[-1].name)])
    assert ((overlay.codes >= 0) & (overlay.codes < len(ROLES))).all()
    assert all(overlay.reasons)


@settings(max_examples=30)
@given(damaged_graphs())
def test_that_suggestions_of_any_graph_name_its_nodes(graph_def):
    document = Document("graphdef", graph_def)
    outputs = suggest_outputs(document)
    assert all(parse_input(suggestion.name)[0] in document.graph.index for suggestion in outputs)
    inputs = suggest_inputs(document, [Endpoint(graph_def.node[0].name)])
    assert all(suggestion.name.split(":")[0] in document.graph.index for suggestion in inputs)
