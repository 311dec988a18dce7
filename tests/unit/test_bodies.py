"""Called functions with their nodes inside the calls."""

from __future__ import annotations

import numpy as np
import pytest

from graphviewer import protos
from graphviewer.layout.opening import first_open, network_scope
from graphviewer.model import bodies
from graphviewer.model.bodies import LIBRARY, Unfolded, calling_ops, extended
from graphviewer.model.document import Document
from graphviewer.model.function_body import FEW, FunctionBody
from graphviewer.model.overlay import Overlay
from tests.function_graphs import add_function, branching, call, nested


def edges(document: Document) -> set[tuple[str, str]]:
    graph = document.graph
    pairs = zip(graph.src.tolist(), graph.dst.tolist(), strict=True)
    return {(graph.names[source], graph.names[target]) for source, target in pairs}


def recursive(count: int = 1) -> Document:
    graph_def = protos.GraphDef()
    for number in range(count):
        call(graph_def.node, f"call_{number}", "PartitionedCall", [], f="loop")
    loop = add_function(graph_def, "loop", [], [("c", "Const", [])], {})
    call(loop.node_def, "again", "PartitionedCall", [], f="loop")
    return Document("graphdef", graph_def)


def test_that_a_document_without_functions_is_its_own_unfolded_one():
    document = Document("graphdef", protos.GraphDef(node=[protos.NodeDef(name="a", op="Const")]))
    assert document.unfolded is document


def test_that_nodes_of_the_graph_keep_their_numbers_and_edges():
    document = nested()
    shown, count = document.unfolded, len(document.graph)
    assert list(shown.graph.names[:count]) == list(document.graph.names)
    for column in ("src", "dst", "port", "slot"):
        main = getattr(document.graph, column)
        assert np.array_equal(getattr(shown.graph, column)[: len(main)], main)
    assert shown.graph_def is document.graph_def and len(document.graph) == 3


def test_that_data_flows_from_the_call_through_arguments_and_bodies_to_results():
    assert edges(nested().unfolded) == {
        ("x", "call"),
        ("call", "y"),
        ("call", "call/a"),
        ("call/a", "call/scope/inner"),
        ("call/scope/inner", "call/r"),
        ("call/scope/inner", "call/scope/inner/b"),
        ("call/scope/inner/b", "call/scope/inner/mul"),
        ("call/scope/inner/mul", "call/scope/inner/mul'"),
    }


def test_that_edges_stay_sorted_by_destination_and_slot():
    graph = nested().unfolded.graph
    order = np.lexsort((graph.slot, graph.dst))
    assert np.array_equal(order, np.arange(len(order)))


def test_that_the_call_becomes_a_scope_that_holds_its_own_leaf():
    scopes = nested().unfolded.scopes
    item = scopes.by_path["call"]
    assert [scopes.labels[child] for child in scopes.children(item)] == ["(call)", "a", "scope", "r"]
    assert scopes.size[item] == 7


def test_that_nodes_of_functions_are_told_as_in_the_file():
    shown = nested().unfolded
    mul = shown.graph.index["call/scope/inner/mul"]
    assert shown.node(mul) is shown.functions["square"].node_def[0]
    argument, result = (shown.node(shown.graph.index[name]) for name in ("call/a", "call/r"))
    assert (argument.op, result.op) == ("_Arg", "_Retval")
    assert shown.around(mul).function == "square" and shown.around(0) is None
    assert shown.caller[mul - shown.main] == shown.graph.index["call"]


def test_that_branches_have_scopes_in_the_order_of_the_op():
    shown = branching().unfolded
    assert [one.path for one in shown.opened] == ["cond/then_branch", "cond/else_branch"]
    assert ("cond/else_branch/act", "cond/else_branch/out") in edges(shown)
    assert shown.graph.ops[shown.graph.index["cond/then_branch/act"]] == "Relu"


def test_that_a_call_whose_name_is_a_scope_already_puts_its_function_beside_what_is_there():
    document = nested()
    document.graph_def.node.add(name="call/r", op="NoOp")
    shown = document.unfolded
    assert shown.opened[0].path == "call/f"
    assert len(set(shown.graph.names)) == len(shown.graph)


def test_that_arguments_are_traced_to_what_the_call_gives():
    shown = branching().unfolded
    graph = shown.graph
    given = [graph.names[graph.src[shown.passed(one, 0)]] for one in shown.opened]
    assert given == ["x", "x"]  # input 0 of If is the condition
    assert shown.passed(shown.opened[0], 7) is None


def test_that_outputs_of_nodes_in_functions_get_the_port_that_their_text_means():
    graph_def = protos.GraphDef()
    nodes = [("u", "Unique", ["a"]), ("s", "Split", ["a", "a"]), ("i", "Identity", ["u:idx:0", "^s"])]
    function = add_function(graph_def, "f", ["a"], nodes, {"r": "s:output:2"})
    function.node_def[1].attr["num_split"].i = 3
    body = FunctionBody.of(function, {})
    found = {
        (body.names[source], body.names[target], port)
        for source, target, port in zip(body.src.tolist(), body.dst.tolist(), body.port.tolist(), strict=True)
    }
    assert {("u", "i", 1), ("s", "i", -1), ("s", "r", 2)} <= found


def test_that_many_captured_variables_are_gathered_in_a_scope():
    graph_def = protos.GraphDef()
    handles = [f"h{number}" for number in range(FEW + 1)]
    function = add_function(graph_def, "f", handles, [("arguments", "NoOp", [])], {}, protos.DataType.RESOURCE)
    function.signature.input_arg.add(name="image", type=protos.DataType.FLOAT)
    names = FunctionBody.of(function, {}).names
    assert names[:2] == ["arguments'/h0", "arguments'/h1"] and "image" in names


def test_that_a_function_that_calls_itself_is_shown_once():
    shown = recursive().unfolded
    assert list(shown.graph.names) == ["call_0", "call_0/c", "call_0/again"]
    (closed,) = shown.closed[shown.graph.index["call_0/again"]]
    assert "calls itself" in closed.reason
    assert shown.shown(closed.function).path == "call_0"


def test_that_a_function_called_a_thousand_times_does_not_explode(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(bodies, "MOST_REPEATED", 300)
    shown = recursive(1_000).unfolded
    assert len(shown.graph) <= 1_000 + 2 + 300
    assert "too many" in shown.closed[999][0].reason


def test_that_calls_which_double_at_every_level_end(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(bodies, "MOST_REPEATED", 1_000)
    graph_def = protos.GraphDef()
    call(graph_def.node, "start", "PartitionedCall", [], f="f0")
    for level in range(40):
        function = add_function(graph_def, f"f{level}", [], [], {})
        for side in "ab":
            call(function.node_def, side, "PartitionedCall", [], f=f"f{level + 1}")
    shown = Document("graphdef", graph_def).unfolded
    assert len(shown.graph) < 1_200
    assert max(len(name) for name in shown.graph.names) < 100


def test_that_long_names_stay_within_a_limit(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(bodies, "MOST_CHARACTERS", 10_000)
    document = nested()
    document.graph_def.node[1].name = "c" * 20_000
    assert "too long" in document.unfolded.closed[1][0].reason


def test_that_functions_nothing_calls_are_in_the_library_scope():
    document = nested()
    document.graph_def.node[1].attr["f"].func.name = "absent"
    shown = document.unfolded
    assert f"{LIBRARY}/outer/scope/inner/mul" in shown.graph.index
    assert f"{LIBRARY}/square/mul" not in shown.graph.index  # outer calls it
    assert shown.caller.tolist() == [-1] * len(shown.caller)


def test_that_functions_which_only_call_each_other_are_in_the_library_scope():
    document = recursive(0)
    document.graph_def.node.add(name="x", op="NoOp")
    assert list(document.unfolded.graph.names) == ["x", f"{LIBRARY}/loop/c", f"{LIBRARY}/loop/again"]


def test_that_damaged_functions_are_shown_as_far_as_they_go():
    graph_def = protos.GraphDef()
    call(graph_def.node, "call", "PartitionedCall", [], f="f")
    add_function(graph_def, "f", ["a", "a"], [("n", "Own", ["gone:z:0", "", "^", "n:z:99999999"])], {"r": "gone"})
    shown = Document("graphdef", graph_def).unfolded
    assert list(shown.graph.names) == ["call", "call/a", "call/a", "call/n", "call/r"]
    assert edges(shown) == {("call", "call/a"), ("call/n", "call/n")}


def test_that_roles_inside_a_call_are_those_of_the_call():
    document = nested()
    shown = document.unfolded
    roles = Overlay("roles", ("inference", "loss"), np.array([-1, 1, 0], np.int8), ["", "why", "so"])
    whole = extended(roles, shown)
    inner = shown.graph.index["call/scope/inner/mul"]
    assert whole.category(inner) == "loss" and whole.reasons[inner] == "inside call: why"
    assert whole.category(0) is None and whole.category(2) == "inference"
    assert extended(roles, shown) is whole and extended(whole, shown) is whole
    assert extended(roles, document) is roles


def test_that_a_changed_call_does_not_claim_that_every_node_inside_changed():
    shown = nested().unfolded
    for status, inside in (("changed", None), ("added", "added")):
        diff = Overlay("diff", ("added", "changed"), np.full(3, ("added", "changed").index(status), np.int8), [""] * 3)
        assert extended(diff, shown).category(shown.main) == inside


def test_that_the_call_of_the_default_signature_is_open_and_those_that_save_are_closed():
    document = nested()
    call(document.graph_def.node, "save", "PartitionedCall", ["x"], f="save")
    add_function(document.graph_def, "save", [], [(f"n{at}", "NoOp", []) for at in range(100)], {})
    meta = protos.MetaGraphDef()
    meta.saver_def.save_tensor_name = "save:0"
    meta.signature_def["serving_default"].outputs["y"].name = "call:0"
    document = Document("savedmodel", document.graph_def, meta=meta)
    scopes = document.unfolded.scopes
    assert scopes.path(network_scope(document)) == "call"
    assert {scopes.path(item) for item in first_open(document)} == {"", "call", "call/scope", "call/scope/inner"}


def test_that_ops_which_call_by_an_attribute_count_as_calls():
    assert calling_ops(branching().unfolded) == {"yes", "no", "If"}
    assert isinstance(branching().unfolded, Unfolded)


def test_that_scopes_of_gradients_and_savers_are_not_opened_first():
    graph_def = protos.GraphDef()
    for scope in ("gradients", "net", "save_1"):
        for at in range(12):
            graph_def.node.add(name=f"{scope}/n{at}", op="NoOp")
    shown = Document("graphdef", graph_def)
    scopes = shown.unfolded.scopes
    assert {scopes.path(item) for item in first_open(shown)} == {"", "net"}
