"""The laws of the comparison: what it reports, applied to the first graph, gives the second, and fits its schema."""

from __future__ import annotations

import json

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from graphviewer import protos
from graphviewer.analysis.diff import compare
from graphviewer.analysis.diff.patch import patch
from graphviewer.model.document import Document
from graphviewer.model.making import make_tensor
from graphviewer.protos import DataType
from graphviewer.resources import resource
from tests.unit.diff_graphs import node
from tests.unit.diff_meaning import meaning
from tests.unit.json_schema import faults, through_json

SCHEMA = json.loads(resource("schema/diff-1.json").read_text("utf-8"))
NAMES = st.sampled_from(["a", "b", "a_1", "s/a", "s/b", "t/a", "t/b", "import/a", "import/s/a", "import/s/b"])
INPUTS = st.builds("".join, st.tuples(st.sampled_from(["", "^"]), NAMES, st.sampled_from(["", ":0", ":1"])))
OPS = st.sampled_from(["Identity", "Relu", "MatMul", "Const", "VariableV2", "PartitionedCall", "Unheard"])
ATTRS = st.dictionaries(
    st.sampled_from(["T", "dtype", "shape", "transpose_a", "value", "f", "_class", "_output_shapes", "other"]),
    st.sampled_from(range(3)),
    max_size=3,
)
NODES = st.tuples(NAMES, OPS, st.lists(INPUTS, max_size=3), ATTRS, st.sampled_from(["", "/gpu:0"]))
GRAPHS = st.lists(NODES, max_size=7, unique_by=lambda entry: entry[0])
LIBRARIES = st.dictionaries(
    st.sampled_from(["f_1", "f_2", "g_1", "g_2"]),
    st.tuples(st.sampled_from(["Relu", "Tanh"]), st.sampled_from(["", "f_1", "g_2"])),
    max_size=3,
)


def attribute(key, number):
    value = protos.AttrValue()
    if key in ("T", "dtype"):
        value.type = (1, 2, 3)[number]
    elif key == "shape":
        value.shape.dim.add(size=number)
    elif key == "transpose_a":
        value.b = bool(number)
    elif key == "value":
        same = np.full(3, min(number, 1), np.float32)
        value.tensor.CopyFrom(make_tensor(same if number else same.copy() + 0.0, DataType.FLOAT))
    elif key == "f":
        value.func.name = ("f_1", "f_2", "g_1")[number]
    elif key == "_class":
        value.list.s.append((b"loc:@a", b"loc:@s/a", b"loc:@nowhere")[number])
    elif key == "_output_shapes":
        value.list.shape.add().dim.add(size=number)
    else:
        value.i = number
    return value


def build(nodes, library=()):
    graph = protos.GraphDef()
    for name, op, inputs, attrs, device in nodes:
        graph.node.append(node(name, op, *inputs, device=device, **{k: attribute(k, v) for k, v in attrs.items()}))
    for name, (op, calls) in dict(library).items():
        function = graph.library.function.add()
        function.signature.name = name
        function.signature.input_arg.add(name=f"x_{name}", type=1)
        inner = function.node_def.add(name="n", op=op, input=[f"x_{name}"])
        if calls:
            inner.attr["f"].func.name = calls
        function.signature.output_arg.add(name=f"y_{name}", type=1)
        function.ret[f"y_{name}"] = "n:y:0"
    return Document("graphdef", graph, title="any")


def called(document):
    """The names of functions that nodes call, by node, and what is in the library, by name: names do count here."""
    library = {one.signature.name: inside(one) for one in document.graph_def.library.function}
    return sorted(map(calls, document.graph_def.node)), library


def calls(node):
    return node.name, [value.func.name for value in node.attr.values() if value.HasField("func")]


def inside(function):
    ends = [*function.signature.input_arg, *function.signature.output_arg]
    nodes = [(node.op, list(node.input), calls(node)) for node in function.node_def]
    return [one.name for one in ends], nodes, dict(function.ret)


@given(GRAPHS, GRAPHS, LIBRARIES, LIBRARIES)
@settings(max_examples=50)
def test_that_a_graph_and_its_difference_to_another_give_the_other(before, after, library, other):
    first, second = build(before, library), build(after, other)
    diff = compare(first, second)
    patched = patch(first, diff)
    assert meaning(patched) == meaning(second)
    assert called(patched) == called(second)
    assert not diff.same or meaning(first) == meaning(second)


@given(GRAPHS, st.sampled_from(["import/", "tower_0/net/"]), st.integers(0, 6))
@settings(max_examples=15)
def test_that_a_renamed_and_edited_graph_is_given_too(nodes, prefix, edited):
    def renamed(text):
        return text[0] + prefix + text[1:] if text.startswith("^") else prefix + text

    moved = [(prefix + name, op, list(map(renamed, inputs)), attrs, "") for name, op, inputs, attrs, _ in nodes]
    if edited < len(moved):
        moved[edited] = (moved[edited][0], "Tanh", *moved[edited][2:])
    first, second = build(nodes), build(moved)
    assert meaning(patch(first, compare(first, second))) == meaning(second)


@given(GRAPHS, GRAPHS, LIBRARIES, LIBRARIES)
@settings(max_examples=15)
def test_that_every_comparison_fits_the_documented_format(before, after, library, other):
    data = through_json(compare(build(before, library), build(after, other)).to_json())
    assert faults(data, SCHEMA) == []
