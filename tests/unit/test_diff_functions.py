"""Functions and signatures, compared inside."""

from __future__ import annotations

import pytest
from diff_graphs import document, node

from graphviewer import protos
from graphviewer.analysis.diff import compare
from graphviewer.analysis.diff.patch import patch
from graphviewer.model.document import Document


def function(name, op="Relu", *, argument="x", result="y", extra=False, calls=None):
    made = protos.FunctionDef()
    made.signature.name = name
    made.signature.input_arg.add(name=argument, type=1)
    made.signature.output_arg.add(name=result, type=1)
    made.node_def.add(name="first", op=op, input=[argument])
    if calls:
        made.node_def[0].attr["f"].func.name = calls
    if extra:
        made.node_def.add(name="second", op="Exp", input=["first:activations:0"])
    made.ret[result] = "second:y:0" if extra else "first:activations:0"
    return made


def call(name, caller="call"):
    return node(caller, "PartitionedCall", f=protos.AttrValue(func=protos.NameAttrList(name=name)))


def changes(diff):
    return [(one.status, one.before, one.after, one.match) for one in diff.functions]


def test_that_equal_libraries_have_no_changes_and_know_their_names():
    graph = document(call("f"), functions=[function("f")])
    diff = compare(graph, document(call("f"), functions=[function("f")]))
    assert diff.same and diff.functions == ()
    assert diff.function_names == {"f": "f"}


def test_that_a_changed_function_tells_its_nodes():
    before = document(call("f"), functions=[function("f")])
    after = document(call("f"), functions=[function("f", "Relu6", extra=True)])
    diff = compare(before, after)
    assert changes(diff) == [("changed", "f", "f", "name")]
    inside = diff.functions[0].inside
    assert {one.name: one.status for one in inside.changes} == {"first": "changed", "second": "added", "y": "rewired"}
    assert diff.functions[0].reason == "inside: 1 added, 1 changed, 1 rewired"
    assert [one.op for one in inside.before.graph_def.node] == ["_Arg", "Relu", "_Retval"]
    assert not diff.changes and not diff.same


def test_that_counters_in_names_of_functions_arguments_and_results_do_not_count():
    before = document(call("f_12"), functions=[function("f_12", argument="x_7", result="y_7")])
    after = document(call("f_99"), functions=[function("f_99", argument="x_8", result="y_8")])
    diff = compare(before, after)
    assert diff.same and diff.functions == ()
    assert diff.function_names == {"f_12": "f_99"}


def exported(number, called):
    """A function as TensorFlow writes it: counters in its name, in that of what it calls, and in texts."""
    made = function(f"__inference_f_{number}", "PartitionedCall", calls=called)
    made.signature.input_arg.add(name=f"while_cond_{number}___redundant_placeholder0", type=21)
    made.arg_attr[0].attr["_user_specified_name"].s = str(number + 3).encode()
    made.node_def[0].attr["_gradient_op_type"].s = f"PartitionedCall-{number}".encode()
    made.attr["backward_function_name"].s = f"__inference___backward_f_{number}_{number + 7}".encode()
    made.attr["api_implements"].s = f"lstm_{number:08x}-0000-4000-8000-000000000000".encode()
    return made


def test_that_two_exports_of_one_model_differ_in_generated_names_only():
    graphs = [
        document(call(f"__inference_f_{at}"), functions=[exported(at, f"g_{at}"), function(f"g_{at}")])
        for at in (2287, 2847)
    ]
    diff = compare(*graphs)
    assert diff.same and diff.functions == ()
    assert diff.note == "only generated names of functions differ: 2 functions"
    names = {"__inference_f_2287": "__inference_f_2847", "g_2287": "g_2847"}
    assert diff.renamed_functions == names
    assert diff.to_json()["function_names"] == names
    assert patch(graphs[0], diff).graph_def == graphs[1].graph_def


def test_that_equal_names_need_no_note():
    graph = document(call("f"), functions=[function("f")])
    diff = compare(graph, graph)
    assert diff.note == "" and "function_names" not in diff.to_json()


def test_that_twins_are_linked_by_where_they_are_called():
    before = document(call("f_1", "a"), call("f_2", "b"), functions=[function("f_1"), function("f_2")])
    after = document(call("f_2", "a"), call("f_3", "b"), functions=[function("f_3"), function("f_2")])
    diff = compare(before, after)
    assert diff.same and diff.function_names == {"f_1": "f_2", "f_2": "f_3"}


@pytest.mark.parametrize(
    ("edit", "reason"),
    [
        (lambda f: setattr(f.signature.input_arg[0], "type", 2), "argument x: float32 → float64; inside: 1 changed"),
        (lambda f: setattr(f.signature.output_arg[0], "type", 2), "result y: float32 → float64; inside: 1 changed"),
        (lambda f: f.signature.input_arg.add(name="z", type=3), "argument z (int32) is new; inside: 1 added"),
        (lambda f: setattr(f.attr["_XlaMustCompile"], "b", True), "attribute _XlaMustCompile: absent → True"),
        (lambda f: setattr(f.signature, "is_stateful", True), "attribute is_stateful: False → True"),
        (
            lambda f: f.arg_attr[0].attr["_output_shapes"].list.shape.add().dim.add(size=4),
            "argument x: float32 → float32 [4]",
        ),
        (lambda f: f.control_ret.update(first="first"), "its declaration differs"),
    ],
)
def test_that_a_function_tells_what_differs_in_its_declaration(edit, reason):
    changed = function("f_2")
    edit(changed)
    (one,) = compare(
        document(call("f_1"), functions=[function("f_1")]), document(call("f_2"), functions=[changed])
    ).functions
    assert one.reason == reason


def test_that_attributes_at_their_default_do_not_count_in_functions():
    written, left_out = function("f", "MatMul"), function("f", "MatMul")
    written.node_def[0].attr["transpose_a"].b = False
    assert compare(document(call("f"), functions=[written]), document(call("f"), functions=[left_out])).same


def test_that_functions_called_in_the_same_place_are_compared_whatever_they_are_called():
    before = document(call("f_1"), functions=[function("f_1", calls="g_1"), function("g_1")])
    after = document(call("h_2"), functions=[function("h_2", calls="k_2"), function("k_2", "Tanh")])
    diff = compare(before, after)
    assert changes(diff) == [("changed", "g_1", "k_2", "structure")]
    assert diff.functions[0].reason == "called g_1 before; inside: 1 changed"
    assert diff.function_names == {"f_1": "h_2", "g_1": "k_2"}


def test_that_functions_that_nothing_calls_are_told_too():
    before = document(functions=[function("kept"), function("gone_1"), function("train_5")])
    after = document(functions=[function("kept"), function("new", "Exp"), function("train_9", "Tanh")])
    diff = compare(before, after)
    assert changes(diff) == [
        ("removed", "gone_1", None, "none"),
        ("changed", "train_5", "train_9", "name"),
        ("added", None, "new", "none"),
    ]
    assert not diff.changes and not diff.same


def test_that_a_function_of_one_side_alone_makes_no_difference():
    assert compare(document(functions=[function("f")]), document()).same


def test_that_equal_twins_are_each_found_once():
    before = document(functions=[function("a_1"), function("b_1")])
    after = document(functions=[function("b_2"), function("a_2")])
    assert compare(before, after).function_names == {"a_1": "a_2", "b_1": "b_2"}


def with_signatures(*nodes, **signatures):
    graph = document(*nodes)
    meta = protos.MetaGraphDef()
    for key, (method, inputs, outputs) in signatures.items():
        signature = meta.signature_def[key]
        signature.method_name = method
        for side, tensors in ((signature.inputs, inputs), (signature.outputs, outputs)):
            for name, (tensor, dtype) in tensors.items():
                side[name].name, side[name].dtype = tensor, dtype
    return Document("metagraph", graph.graph_def, meta=meta, title="test")


NODES = (node("x", "Placeholder"), node("y", "Relu", "x"))
SERVE = ("predict", {"x": ("x:0", 1)}, {"y": ("y:0", 1)})


def test_that_signatures_are_compared_by_key_method_and_tensor():
    before = with_signatures(*NODES, serve=SERVE, old=SERVE)
    after = with_signatures(
        *NODES, serve=("classify", {"x": ("x:0", 2)}, {"y": ("y:0", 1), "z": ("y:0", 1)}), new=SERVE
    )
    diff = compare(before, after)
    assert [(one.status, one.name) for one in diff.signatures] == [
        ("added", "new"), ("removed", "old"), ("changed", "serve"),
    ]  # fmt: skip
    assert diff.signatures[2].details == {
        "method": ["predict", "classify"],
        "inputs": {"x": ["x float32 []", "x float64 []"]},
        "outputs": {"z": [None, "y float32 []"]},
    }
    assert "output z is new" in diff.signatures[2].reason
    assert diff.same


def test_that_a_signature_follows_renamed_nodes():
    renamed = ("predict", {"x": ("in/x:0", 1)}, {"y": ("in/y:0", 1)})
    moved = (node("in/x", "Placeholder"), node("in/y", "Relu", "in/x"))
    assert compare(with_signatures(*NODES, serve=SERVE), with_signatures(*moved, serve=renamed)).signatures == ()


def test_that_a_file_that_cannot_have_signatures_lacks_none():
    assert compare(with_signatures(*NODES, serve=SERVE), document(*NODES)).signatures == ()
