"""Graphs with faults open from their file, mark the node, are laid out, and stop only operations that need the node."""

from __future__ import annotations

import contextlib

import pytest
from google.protobuf import text_format

from graphviewer import protos
from graphviewer.analysis.check import check
from graphviewer.errors import GraphViewerError, OperationError
from graphviewer.formats import open_document
from graphviewer.gui.words.describe import describe_node
from graphviewer.layout.nested import NestedLayout
from graphviewer.operations.registry import operations


def node(name, op, *inputs, more='attr { key: "T" value { type: DT_FLOAT } }'):
    reads = "".join(f' input: "{text}"' for text in inputs)
    return f'node {{ name: "{name}" op: "{op}"{reads} {more} }}\n'


def attr(key, value):
    return f'attr {{ key: "{key}" value {{ {value} }} }}'


def const(name, dtype, tensor):
    value = attr("value", f"tensor {{ dtype: {dtype} {tensor} }}")
    return node(name, "Const", more=attr("dtype", f"type: {dtype}") + value)


def placeholder(shape):
    return node("bad", "Placeholder", more=IS_FLOAT + attr("shape", f"shape {{ {shape} }}"))


IS_FLOAT = attr("dtype", "type: DT_FLOAT")
SOUND = node("x", "Placeholder", more=IS_FLOAT) + node("good", "Relu", "x") + "versions { producer: 1000 }"
NEEDS = node("out", "Relu", "bad")
COLOCATED = attr("T", "type: DT_FLOAT") + attr("_class", 'list { s: "loc:@gone" }')
MARKED = {
    "an input that is absent": ("dangling", "bad", node("bad", "Relu", "gone")),
    "two nodes of one name": ("duplicate", "bad", node("bad", "Relu", "x") + node("bad", "Elu", "x")),
    "a cycle without NextIteration": ("cycle", "bad", node("bad", "Relu", "b") + node("b", "Elu", "bad")),
    "a port that the op does not have": ("bad-port", "bad", node("bad", "Relu", "x:3")),
    "a node without op": ("no-op", "bad", node("bad", "", "x", more="")),
    "a node without name": ("no-name", "", node("", "Relu", "x")),
    "too few bytes": (
        "const",
        "bad",
        const("bad", "DT_FLOAT", 'tensor_shape { dim { size: 4 } } tensor_content: "abc"'),
    ),
    "no dtype": ("const", "bad", const("bad", "DT_INVALID", "tensor_shape {}")),
    "a negative size": ("bad-shape", "bad", placeholder("dim { size: -5 }")),
    "more elements than can be counted": (
        "bad-shape",
        "bad",
        placeholder("dim { size: 9000000000 } dim { size: 9000000000 }"),
    ),
    "colocation with an absent node": ("colocation", "bad", node("bad", "Relu", "x", more=COLOCATED)),
    "an op that TensorFlow does not know": ("unknown-op", "bad", node("bad", "MyOp", "x", more="")),
    "a name beyond ASCII": ("bad-name", "знак", node("знак", "Relu", "x")),
}
STOPPED = (
    "an input that is absent",
    "two nodes of one name",
    "a cycle without NextIteration",
    "a port that the op does not have",
    "a node without op",
    "too few bytes",
    "no dtype",
    "a negative size",
    "more elements than can be counted",
)


@pytest.fixture
def opened(tmp_path):
    def save_and_open(text):
        path = tmp_path / "graph.pb"
        path.write_bytes(text_format.Parse(text, protos.GraphDef()).SerializeToString())
        return open_document(path)

    return save_and_open


@pytest.mark.parametrize("what", MARKED)
def test_that_a_fault_marks_its_node_and_leaves_the_rest_usable(opened, what):
    kind, name, text = MARKED[what]
    document = opened(SOUND + text + (NEEDS if name == "bad" else ""))
    assert (kind, name) in [(problem.kind, problem.node) for problem in check(document)]
    scopes = document.scopes
    assert set(NestedLayout(scopes).draw(frozenset()).item) == set(scopes.children(0).tolist())
    for operation in ("extract", "freeze"):
        result = operations()[operation].run(document, outputs=["good"])
        assert list(result.document.graph.names) == ["x", "good"]


@pytest.mark.parametrize("what", STOPPED)
@pytest.mark.parametrize("operation", ["extract", "freeze"])
def test_that_an_operation_whose_output_needs_the_node_is_refused_and_names_it(opened, what, operation):
    document = opened(SOUND + MARKED[what][2] + NEEDS)
    with pytest.raises(OperationError, match="'bad'"):
        operations()[operation].run(document, outputs=["out"])


@pytest.mark.parametrize("what", STOPPED)
def test_that_no_operation_trips_over_a_fault(opened, what):
    document = opened(SOUND + MARKED[what][2] + NEEDS)
    for operation in operations().values():
        given = {parameter.name: ["good"] for parameter in operation.parameters if parameter.kind == "endpoints"}
        with contextlib.suppress(GraphViewerError):
            operation.run(document, **given)


@pytest.mark.parametrize("operation", ["extract", "freeze"])
def test_that_an_unknown_op_is_extracted_and_frozen_like_any_other(opened, operation):
    document = opened(SOUND + MARKED["an op that TensorFlow does not know"][2] + NEEDS)
    result = operations()[operation].run(document, outputs=["out"])
    assert list(result.document.graph.ops) == ["Placeholder", "MyOp", "Relu"]


@pytest.mark.parametrize("dtype", ["DT_VARIANT", "DT_RESOURCE"])
def test_that_a_constant_without_values_is_shown_as_such(opened, dtype):
    document = opened(const("c", dtype, "tensor_shape {}") + "versions { producer: 1 }")
    assert f"{dtype.removeprefix('DT_').lower()} []: no values to show" in describe_node(document, 0, None)


@pytest.mark.parametrize(
    ("shape", "text"), [("unknown_rank: true", "?"), ("dim { size: -1 } dim { size: 3 }", "[?, 3]")]
)
def test_that_what_is_not_known_of_a_shape_is_a_question_mark(opened, shape, text):
    document = opened(node("x", "Placeholder", more=IS_FLOAT + attr("shape", f"shape {{ {shape} }}")))
    assert f"Output shape: {text}<" in describe_node(document, 0, None)
    assert "Output shape" not in describe_node(opened(SOUND), 0, None)


def test_that_a_graph_called_otherwise_opens_as_what_it_is(tmp_path):
    content = text_format.Parse(SOUND, protos.GraphDef()).SerializeToString()
    for name in ("saved_model.pb", "model.ckpt.meta", "graph.pbtxt"):
        (tmp_path / name).write_bytes(content)
        assert open_document(tmp_path / name).kind == "graphdef"
