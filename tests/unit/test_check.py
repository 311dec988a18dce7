"""What is found wrong with a graph."""

from __future__ import annotations

import time

import pytest
from format_files import const, graph

from graphviewer import protos
from graphviewer.analysis.check import MOST_PER_KIND, check
from graphviewer.analysis.versions import GRAPH_VERSION
from graphviewer.model.document import Document, Payload, Payloads
from graphviewer.model.problem import Problem
from graphviewer.protos import DataType


def sound():
    """x -> y (Identity), z = AddN(x, y), and a constant."""
    made = graph(2)
    made.node[1].name = "y"
    node = made.node.add(name="z", op="AddN", input=["x", "y"])
    node.attr["T"].type, node.attr["N"].i = DataType.FLOAT, 2
    made.node.append(const("c", b"1234"))
    return made


def found(graph_def, **more):
    return [(problem.kind, problem.node) for problem in check(Document("graphdef", graph_def, **more))]


def test_that_a_sound_graph_has_no_problems():
    assert found(sound()) == []


def rename_last(made):
    made.node[3].name = "y"


def unroll(made):
    made.node[1].input[0] = "z"


FAULTS = [
    ("dangling", "y", lambda made: made.node[1].input.__setitem__(0, "absent")),
    ("dangling", "y", lambda made: made.node[1].input.append("^absent")),
    ("empty-input", "y", lambda made: made.node[1].input.__setitem__(0, "")),
    ("duplicate", "y", rename_last),
    ("cycle", "y", unroll),
    ("cycle", "y", lambda made: made.node[1].input.__setitem__(0, "y")),
    ("bad-port", "y", lambda made: made.node[1].input.__setitem__(0, "x:3")),
    ("input-order", "z", lambda made: made.node[2].input.insert(0, "^c")),
    ("arity", "y", lambda made: made.node[1].input.append("x")),
    ("arity", "z", lambda made: made.node[2].attr["N"].__setattr__("i", 3)),
    ("arity", "z", lambda made: made.node[2].attr["N"].__setattr__("i", (1 << 63) - 1)),
    ("no-op", "c", lambda made: made.node[3].__setattr__("op", "")),
    ("no-name", "", lambda made: made.node[3].__setattr__("name", "")),
    ("bad-name", "знак", lambda made: made.node[3].__setattr__("name", "знак")),
    ("unknown-op", "z", lambda made: made.node[2].__setattr__("op", "MyOp")),
    ("missing-attr", "z", lambda made: made.node[2].attr.__delitem__("T")),
    ("extra-attr", "y", lambda made: made.node[1].attr["color"].__setattr__("i", 1)),
    ("newer", "", lambda made: made.versions.__setattr__("producer", 99_999)),
    ("too-new", "", lambda made: made.versions.__setattr__("min_consumer", 99_998)),
    ("too-new", "", lambda made: made.versions.bad_consumers.append(GRAPH_VERSION)),
    ("bad-dtype", "z", lambda made: made.node[2].attr["T"].__setattr__("type", 99)),
    ("const", "c", lambda made: made.node[3].attr["value"].tensor.__setattr__("tensor_content", b"123")),
    ("const", "c", lambda made: made.node[3].attr["value"].tensor.__setattr__("dtype", DataType.INT32)),
    ("const", "c", lambda made: made.node[3].attr["value"].tensor.tensor_shape.dim[0].__setattr__("size", -1)),
    ("colocation", "y", lambda made: made.node[1].attr["_class"].list.s.append(b"loc:@absent")),
]


@pytest.mark.parametrize(("kind", "node", "harm"), FAULTS)
def test_that_each_fault_marks_its_node(kind, node, harm):
    made = sound()
    harm(made)
    assert (kind, node) in found(made)
    assert {each for each, _ in found(made)} == {kind}


def test_that_a_text_outside_the_allowed_ones_marks_its_node():
    made = sound()
    node = made.node.add(name="conv", op="Conv2D", input=["x", "c"])
    node.attr["T"].type, node.attr["padding"].s, node.attr["data_format"].s = DataType.FLOAT, b"SAME", b"NDHWC"
    node.attr["strides"].list.i.extend([1, 1, 1, 1])
    (problem,) = check(Document("graphdef", made))
    assert (problem.kind, problem.hint) == ("bad-attr", "It takes NCHW, NHWC.")


def test_that_a_call_of_an_absent_function_marks_its_node():
    made = sound()
    call = made.node.add(name="call", op="PartitionedCall")
    call.attr["Tin"].list.SetInParent()
    call.attr["Tout"].list.SetInParent()
    call.attr["f"].func.name = "absent"
    assert found(made) == [("no-function", "call")]
    call.attr["f"].func.name = "f"
    assert found(made) == []


def test_that_a_tf1_loop_is_no_cycle():
    made = protos.GraphDef()
    for name, op, *inputs in (
        ("start", "Placeholder"),
        ("enter", "Enter", "start"),
        ("merge", "Merge", "enter", "next"),
        ("next", "NextIteration", "merge"),
    ):
        node = made.node.add(name=name, op=op, input=inputs)
        node.attr["dtype" if op == "Placeholder" else "T"].type = DataType.FLOAT
    made.node[1].attr["frame_name"].s = b"loop"
    made.node[2].attr["N"].i = 2
    assert found(made) == []
    made.node[3].op = "Identity"
    assert found(made) == [("cycle", "merge")]


def test_that_nodes_behind_and_between_cycles_are_not_marked():
    made = protos.GraphDef()
    for name, *inputs in (("a", "b"), ("b", "a"), ("between", "b"), ("c", "d", "between"), ("d", "c"), ("end", "d")):
        made.node.add(name=name, op="MyOp", input=inputs)
    assert [entry for entry in found(made) if entry[0] == "cycle"] == [("cycle", "a"), ("cycle", "c")]


def body(*nodes, ret="inner:output:0"):
    made = graph(2)
    function = made.library.function[0]
    function.signature.input_arg.add(name="arg", type=DataType.FLOAT)
    for name, source in nodes:
        function.node_def.add(name=name, op="Identity", input=[source]).attr["T"].type = DataType.FLOAT
    function.ret["out"] = ret
    return made


def test_that_function_bodies_are_looked_at():
    assert found(body(("inner", "arg"))) == []
    (problem,) = check(Document("graphdef", body(("inner", "absent:output:0"))))
    assert (problem.kind, problem.node, problem.function) == ("dangling", "inner", "f")
    (problem,) = check(Document("graphdef", body(("inner", "arg"), ret="absent:output:0")))
    assert (problem.kind, problem.node, problem.function) == ("dangling", "", "f")
    (problem,) = check(Document("graphdef", body(("inner", "inner:output:0"))))
    assert (problem.kind, problem.node, problem.function) == ("cycle", "inner", "f")


def test_that_a_huge_splat_and_a_huge_shape_cost_nothing():
    made = sound()
    tensor = made.node[3].attr["value"].tensor
    tensor.ClearField("tensor_content")
    tensor.float_val.append(0.5)
    tensor.tensor_shape.dim[0].size = 1 << 32
    assert found(made) == []
    tensor.tensor_content = b"1234"
    for _ in range(4):
        tensor.tensor_shape.dim.add(size=1 << 62)
    assert found(made) == [("const", "c")]


def test_that_a_constant_left_in_its_file_is_measured(tmp_path):
    made = sound()
    made.node[3].attr["value"].tensor.ClearField("tensor_content")
    right, wrong = (Payloads(tmp_path, 9, 9, {3: Payload(0, length)}) for length in (4, 5))
    assert found(made, payloads=right) == []
    assert found(made, payloads=wrong) == [("const", "c")]


def test_that_faults_of_reading_come_first_and_a_dangling_input_names_what_is_near():
    made = sound()
    made.node[2].name = "layer/weights"
    made.node[1].input[0] = "layer/weigths"
    read = Problem("truncated", "error", "Cut.")
    first, second = check(Document("graphdef", made, problems=(read,)))
    assert first == read
    assert "layer/weights" in second.hint


def test_that_a_flood_of_one_kind_is_counted_and_not_listed():
    made = protos.GraphDef()
    for number in range(MOST_PER_KIND + 5):
        made.node.add(name=f"n{number}", op="NoOp", input=["^absent"])
    problems = check(Document("graphdef", made))
    assert len(problems) == MOST_PER_KIND + 1
    assert problems[-1].reason.startswith("5 more problems")


def test_that_one_unknown_op_is_one_problem():
    made = protos.GraphDef()
    for number in range(9):
        made.node.add(name=f"n{number}", op="MyOp")
    (problem,) = check(Document("graphdef", made))
    assert (problem.severity, problem.node) == ("info", "n0")
    assert "9 nodes use it" in problem.reason


def test_that_a_chain_of_20000_and_a_ring_of_20000_end():
    made = graph(20_000)
    begin = time.process_time()
    assert found(made) == []
    made.node[1].input[0] = made.node[-1].name
    assert found(made) == [("cycle", "n1")]
    assert time.process_time() - begin < 5
