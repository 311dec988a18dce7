"""Roles of every node for chosen outputs."""

import pytest
from graphs import BOOL, FLOAT, INT64, GraphBuilder, shuffled, training_graph

from graphviewer import protos
from graphviewer.analysis.roles import ROLES, classify, role_rules
from graphviewer.model.document import Document
from graphviewer.model.names import Endpoint

PROB = [Endpoint("valid/prob")]


def roles(document, outputs, inputs=()):
    overlay = classify(document, outputs, inputs)
    return {name: overlay.category(number) for number, name in enumerate(document.graph.names)}


def markers(document, overlay, name):
    return overlay.markers.get(document.graph.index[name], frozenset())


def test_that_roles_are_those_of_the_contract():
    assert " ".join(ROLES) == (
        "inference training_forward loss metric gradient optimizer global_step moving_average batch_norm_update "
        "save_restore initializer summary input_pipeline check unused"
    )


def test_that_every_node_of_a_training_graph_has_the_role_it_was_built_for():
    builder = training_graph()
    found = roles(builder.document(), PROB)
    assert {name: role for name, role in found.items() if role != builder.truth[name]} == {}


@pytest.mark.parametrize("seed", range(3))
def test_that_roles_do_not_hang_on_names_or_on_the_order_of_nodes(seed):
    builder = training_graph()
    graph_def, renamed = shuffled(builder.graph_def, seed)
    found = roles(Document("graphdef", graph_def), [Endpoint(renamed["valid/prob"])])
    wrong = {name: found[renamed[name]] for name, role in builder.truth.items() if found[renamed[name]] != role}
    assert len(wrong) <= 0.02 * len(found), wrong
    assert not any("inference" in (role, builder.truth[name]) for name, role in wrong.items())


def test_that_a_chosen_training_tower_is_inference_and_the_other_tower_is_not():
    document = training_graph().document()
    found = roles(document, [Endpoint("net/prob")])
    assert found["net/bn"] == "inference"
    assert found["valid/prob"] == found["valid/MatMul"] == "training_forward"
    assert found["net/moving_mean/AssignSub"] == "batch_norm_update"


def test_that_every_reason_is_a_sentence_that_names_what_it_is_about():
    document = training_graph().document()
    overlay = classify(document, PROB)
    assert all(reason.endswith(".") and "{" not in reason for reason in overlay.reasons)
    reason = dict(zip(document.graph.names, overlay.reasons, strict=True))
    assert reason["valid/logits"] == "Needed by valid/prob."
    assert reason["Adam/update_net/w"] == "ApplyAdam applies a gradient to net/w."
    assert reason["net/moving_mean/AssignSub"] == "Moves net/moving_mean towards a statistic of the activations."


def test_that_chosen_inputs_cut_what_lies_behind_them():
    b = GraphBuilder()
    b.node("raw", "Placeholder", dtype=FLOAT)
    b.node("scaled", "Square", "raw", T=FLOAT)
    b.node("y", "Relu", "scaled", T=FLOAT)
    document = b.document()
    assert roles(document, [Endpoint("y")])["raw"] == "inference"
    found = roles(document, [Endpoint("y")], [Endpoint("scaled")])
    assert found == {"raw": "input_pipeline", "scaled": "inference", "y": "inference"}
    overlay = classify(document, [Endpoint("y")], [Endpoint("scaled")])
    assert "input" in markers(document, overlay, "scaled")
    assert "input" not in markers(document, overlay, "raw")


def test_that_updates_and_asserts_that_training_hangs_on_an_output_are_not_inference():
    b = training_graph()
    b.node("group", "NoOp", "^net/moving_mean/AssignSub", "^check")
    b.node("out", "Identity", "valid/prob", "^group", T=FLOAT)
    found = roles(b.document(), [Endpoint("out")])
    assert found["out"] == found["valid/prob"] == "inference"
    assert found["net/moving_mean/AssignSub"] == "batch_norm_update"
    assert found["check"] == "check"
    assert found["net/bn"] == "training_forward"
    assert found["group"] != "inference"


def test_that_control_edges_that_decide_what_runs_are_inference():
    b = GraphBuilder()
    b.node("x", "Placeholder", dtype=FLOAT)
    b.node("p", "Placeholder", dtype=BOOL)
    b.node("c/Switch", "Switch", "p", "p", T=BOOL)
    b.node("c/switch_t", "Identity", "c/Switch:1", T=BOOL)
    b.const("c/one", 1.0, control=["c/switch_t"])
    b.node("c/x", "Switch", "x", "p", T=FLOAT)
    b.node("c/Merge", "Merge", "c/x", "c/one", N=2, T=FLOAT)
    assert set(roles(b.document(), [Endpoint("c/Merge")]).values()) == {"inference"}


def test_that_an_output_inside_the_pipeline_needs_the_pipeline():
    found = roles(training_graph().document(), [Endpoint("batch", 1)])
    assert [found[name] for name in ("batch", "queue", "count")] == ["inference"] * 3
    assert found["enqueue"] == "input_pipeline"


def test_that_a_parser_that_the_caller_feeds_is_inference():
    b = GraphBuilder()
    b.node("bytes", "Placeholder", dtype=protos.DataType.STRING)
    b.node("decoded", "DecodeRaw", "bytes", out_type=FLOAT)
    b.node("y", "Relu", "decoded", T=FLOAT)
    assert set(roles(b.document(), [Endpoint("y")]).values()) == {"inference"}


def test_that_markers_say_what_to_know_about_a_node():
    b = training_graph()
    b.node("mine", "NobodyKnowsThisOp", "valid/prob")
    document = b.document()
    overlay = classify(document, [Endpoint("net/prob")])
    assert "training_mode" in markers(document, overlay, "net/bn")
    assert "training_mode" in markers(document, overlay, "net/drop/mul_1")
    assert "training_mode" not in markers(document, overlay, "valid/bn")
    assert markers(document, overlay, "net/drop/uniform") == {"random", "stateful"}
    assert markers(document, overlay, "net/w") == {"variable", "stateful"}
    assert markers(document, overlay, "net/prob") == {"output"}
    assert markers(document, overlay, "mine") == {"unregistered"}
    assert markers(document, overlay, "net/Relu") == frozenset()


def test_that_a_batch_norm_made_of_single_ops_is_marked_where_it_uses_the_batch():
    b = GraphBuilder()
    b.node("x", "Placeholder", dtype=FLOAT)
    b.const("axes", dtype=protos.DataType.INT32)
    b.node("mean", "Mean", "x", "axes", T=FLOAT)
    read = b.variable("moving", [3], role="batch_norm_update")
    b.const("decay", 0.1)
    b.node("sub", "Sub", read, "mean", T=FLOAT)
    b.node("mul", "Mul", "sub", "decay", T=FLOAT)
    b.node("update", "AssignSub", "moving", "mul", T=FLOAT)
    b.node("y", "Sub", "x", "mean", T=FLOAT)
    document = b.document()
    overlay = classify(document, [Endpoint("y")])
    assert "training_mode" in markers(document, overlay, "mean")
    assert overlay.category(document.graph.index["update"]) == "batch_norm_update"


def test_that_resource_variables_that_are_read_after_their_update_go_with_it():
    b = GraphBuilder()
    b.node("x", "Placeholder", dtype=FLOAT)
    b.node("v", "VarHandleOp", dtype=FLOAT, shape=[3])
    b.node("read", "ReadVariableOp", "v", dtype=FLOAT)
    b.const("axis", 0)
    b.node("mean", "Mean", "x", "axis", T=FLOAT)
    b.node("delta", "Sub", "read", "mean", T=FLOAT)
    b.node("update", "AssignSubVariableOp", "v", "delta", dtype=FLOAT)
    b.node("again", "ReadVariableOp", "v", "^update", dtype=FLOAT)
    b.node("y", "Mul", "x", "read", T=FLOAT)
    found = roles(b.document(), [Endpoint("y")])
    assert found == {
        "x": "inference",
        "v": "inference",
        "read": "inference",
        "y": "inference",
        "axis": "batch_norm_update",
        "mean": "batch_norm_update",
        "delta": "batch_norm_update",
        "update": "batch_norm_update",
        "again": "batch_norm_update",
    }


def test_that_calls_are_told_by_what_their_functions_do():
    b = GraphBuilder()
    functions = {
        "save": "SaveV2",
        "fill": "InitializeTableV2",
        "train": "ResourceApplyAdam",
        "check": "Assert",
        "net": "Relu",
    }
    for name, op in functions.items():
        inner = b.graph_def.library.function.add(signature={"name": f"{name}_inner"})
        inner.node_def.add(name="n", op=op)
        outer = b.graph_def.library.function.add(signature={"name": name})
        outer.node_def.add(name="c", op="PartitionedCall").attr["f"].func.name = f"{name}_inner"
        b.node(f"call_{name}", "StatefulPartitionedCall", f=protos.AttrValue(func={"name": name}))
    ring = b.graph_def.library.function[0]
    ring.node_def.add(name="r", op="PartitionedCall").attr["f"].func.name = "save"
    found = roles(b.document(), [Endpoint("call_net")])
    assert [found[f"call_{name}"] for name in functions] == [
        "save_restore",
        "initializer",
        "optimizer",
        "check",
        "inference",
    ]


def test_that_without_outputs_nothing_is_inference():
    overlay = classify(training_graph().document(), [])
    assert "inference" not in overlay.counts()


def test_that_an_output_that_is_not_there_is_left_out():
    overlay = classify(training_graph().document(), [Endpoint("absent")])
    assert "inference" not in overlay.counts()


def test_that_an_empty_graph_has_no_roles():
    overlay = classify(Document("graphdef", protos.GraphDef()), PROB)
    assert len(overlay.codes) == 0
    assert overlay.counts() == {}


def test_that_rules_are_ordered_and_each_has_a_reason():
    ranks = [rule.rank for rule in role_rules()]
    assert ranks == sorted(ranks)
    assert len(set(ranks)) == len(ranks)
    assert all(rule.reason.endswith(".") and rule.role in ROLES for rule in role_rules())


@pytest.mark.parametrize(
    ("value", "role"),
    [("fed", "initializer"), ("constant", "initializer"), ("old", "optimizer"), ("other", "moving_average")],
)
def test_that_assignments_are_told_by_their_value(value, role):
    b = GraphBuilder()
    read = b.variable("v", [], role="?")
    b.node("fed", "Placeholder", dtype=FLOAT)
    b.const("constant", 2.0)
    b.const("half", 0.5)
    b.node("old", "Mul", read, "half", T=FLOAT)
    b.node("other", "Mul", b.variable("w", [], role="?"), "half", T=FLOAT)
    b.node("write", "Assign", "v", value, T=FLOAT)
    assert roles(b.document(), [])["write"] == role


def test_that_a_step_counted_without_an_optimizer_is_the_global_step():
    b = GraphBuilder()
    b.variable("step", [], role="?", dtype=INT64)
    b.const("one", 1, dtype=INT64)
    b.node("count", "AssignAdd", "step", "one", T=INT64)
    found = roles(b.document(), [])
    assert (found["step"], found["count"], found["one"]) == ("global_step",) * 3
