"""Suggested outputs and inputs, and outputs that are refused."""

import pytest
from graphs import BOOL, FLOAT, INT32, RESOURCE, STRING, GraphBuilder, shuffled, training_graph

from graphviewer import protos
from graphviewer.analysis.endpoints import suggest_inputs, suggest_outputs, take_outputs, warn_output
from graphviewer.analysis.refusals import refuse_output
from graphviewer.model.document import Document, Payload, Payloads
from graphviewer.model.names import Endpoint

NEVER = {"gradient", "optimizer", "save_restore", "initializer", "summary", "check", "batch_norm_update"}


def names(suggestions):
    return [suggestion.name for suggestion in suggestions]


def frozen_network(weight_values=600):
    """Placeholder, a big constant, softmax; nothing trains it."""
    b = GraphBuilder()
    b.node("x", "Placeholder", dtype=FLOAT, shape=[-1, 4])
    b.const("w", 0.1)
    b.graph_def.node[-1].attr["value"].tensor.tensor_content = b"\0" * weight_values
    b.node("hidden", "MatMul", "x", "w", T=FLOAT)
    b.node("y", "Softmax", "hidden", T=FLOAT)
    return b


def test_that_the_validation_output_and_the_end_of_the_pipeline_come_first():
    document = training_graph().document()
    assert names(suggest_outputs(document))[0] == "valid/prob"
    assert names(suggest_inputs(document, [Endpoint("valid/prob")]))[0] == "images"


@pytest.mark.parametrize("seed", range(3))
def test_that_the_first_suggestions_need_no_names(seed):
    graph_def, renamed = shuffled(training_graph().graph_def, seed)
    document = Document("graphdef", graph_def)
    assert names(suggest_outputs(document))[0] == renamed["valid/prob"]
    assert names(suggest_inputs(document, [Endpoint(renamed["valid/prob"])]))[0] == renamed["images"]


def test_that_nodes_of_training_are_never_suggested():
    builder = training_graph()
    suggested = names(suggest_outputs(builder.document(), 100))
    assert len(suggested) >= 5
    assert {builder.truth[name] for name in suggested} & NEVER == set()
    assert "loss" not in suggested
    assert "decay" not in suggested


def test_that_inner_nodes_fill_the_list_and_rank_below_what_they_lead_to():
    found = suggest_outputs(frozen_network().document())
    assert names(found) == ["y", "hidden"]
    assert found[0].score > found[1].score
    assert found[1].reason.startswith("Leads to y; ")


def test_that_the_limit_holds():
    assert len(suggest_outputs(training_graph().document(), 3)) == 3
    assert len(suggest_inputs(training_graph().document(), [Endpoint("valid/prob")], 1)) == 1


def test_that_every_suggestion_says_why():
    document = training_graph().document()
    found = [*suggest_outputs(document), *suggest_inputs(document, [Endpoint("valid/prob")])]
    assert all(suggestion.reason and suggestion.reason[0].isupper() for suggestion in found)
    reason = {suggestion.name: suggestion.reason for suggestion in found}
    assert "100% of the trained variables" in reason["valid/prob"]
    assert "training mode" in reason["net/prob"]
    assert "random numbers" in reason["net/prob"]


def signed(b, outputs=(), inputs=(), key="serving_default"):
    meta = protos.MetaGraphDef()
    signature = meta.signature_def[key]
    for name in outputs:
        signature.outputs[f"o_{name}"].name = name
    for name in inputs:
        signature.inputs[f"i_{name}"].name = name
    return b.document(meta)


def test_that_a_signature_wins_with_its_ports():
    document = signed(training_graph(), outputs=["valid/Relu:0", "batch:1"], inputs=["images:0"])
    found = suggest_outputs(document)
    assert set(names(found)[:2]) == {"valid/Relu", "batch:1"}
    assert "signature serving_default/o_valid/Relu:0" in {n.name: n for n in found}["valid/Relu"].reason
    best = suggest_inputs(document, [Endpoint("valid/prob")])[0]
    assert (best.name, best.score) == ("images", 20.0)


def test_that_a_signature_input_which_the_outputs_do_not_need_is_left_out():
    b = frozen_network()
    b.node("other", "Placeholder", dtype=FLOAT)
    document = signed(b, inputs=["other:0", "x:0"])
    assert names(suggest_inputs(document, [Endpoint("y")])) == ["x"]


def test_that_writes_and_tensorflows_own_signatures_are_not_suggested():
    b = training_graph()
    document = signed(b, outputs=["net/moving_mean/AssignSub:0", "init:0", "absent:0"])
    assert names(suggest_outputs(document))[0] == "valid/prob"
    document = signed(frozen_network(), outputs=["hidden:0"], key="__saved_model_init_op")
    assert names(suggest_outputs(document))[0] == "y"


def test_that_gradients_are_suggested_where_nothing_is_trained():
    """Molecular dynamics: the forces are gradients of the energy."""
    b = frozen_network()
    b.node("forces", "ReluGrad", "y", "hidden", T=FLOAT)
    assert names(suggest_outputs(b.document()))[0] == "forces"


def test_that_the_inside_of_a_loop_is_refused_and_not_suggested():
    b = frozen_network()
    b.node("w/Enter", "Enter", "y", T=FLOAT)
    b.node("w/Merge", "Merge", "w/Enter", "w/Next", N=2, T=FLOAT)
    b.node("w/Cond", "LoopCond", "w/Merge")
    b.node("w/Switch", "Switch", "w/Merge", "w/Cond", T=FLOAT)
    b.node("w/Next", "NextIteration", "w/Switch:1", T=FLOAT)
    b.node("w/dead_end", "Softmax", "w/Switch:1", T=FLOAT)
    b.node("w/Exit", "Exit", "w/Switch", T=FLOAT)
    document = b.document()
    assert names(suggest_outputs(document))[0] == "w/Exit"
    assert not any("dead_end" in name for name in names(suggest_outputs(document)))
    assert "inside a loop" in refuse_output(document, Endpoint("w/dead_end"))
    assert refuse_output(document, Endpoint("w/Exit")) is None


def test_that_weights_left_in_a_big_file_still_count():
    b = frozen_network(weight_values=0)
    b.node("decoy", "Softmax", "x", T=FLOAT)
    payloads = Payloads(None, 0, 0, {1: Payload(0, 4096)})
    document = Document("graphdef", b.graph_def, payloads=payloads)
    found = {suggestion.name: suggestion for suggestion in suggest_outputs(document)}
    assert found["y"].score > found["decoy"].score
    assert "none of the weights" in found["decoy"].reason


def test_that_inputs_are_ranked_by_what_they_are():
    b = GraphBuilder()
    b.node("handle", "Placeholder", dtype=RESOURCE)
    b.node("training", "Placeholder", dtype=BOOL)
    b.node("rate", "PlaceholderWithDefault", "one", dtype=FLOAT, shape=[])
    b.const("one", 1.0)
    b.node("unused", "Placeholder", dtype=FLOAT)
    b.node("images", "Placeholder", dtype=FLOAT, shape=[-1, 8, 8, 3])
    b.node("y", "MadeUp", "handle", "training", "rate", "images")
    found = suggest_inputs(b.document(), [Endpoint("y")])
    assert names(found) == ["images", "rate", "training", "handle"]
    assert "is_training" in found[2].reason


def test_that_a_decoding_placeholder_comes_with_what_lies_behind_it():
    b = GraphBuilder()
    b.node("bytes", "Placeholder", dtype=STRING, shape=[-1])
    b.node("decoded", "DecodeRaw", "bytes", out_type=FLOAT)
    b.node("scaled", "Square", "decoded", T=FLOAT)
    read = b.variable("w", [4, 2], role="")
    b.node("y", "MatMul", "scaled", read, T=FLOAT)
    assert names(suggest_inputs(b.document(), [Endpoint("y")])) == ["bytes", "scaled"]


def test_that_every_needed_port_of_a_pipeline_is_an_input_of_its_own():
    b = GraphBuilder()
    b.node("queue", "FIFOQueueV2", component_types=[FLOAT, FLOAT, INT32])
    b.node("next", "QueueDequeueV2", "queue", component_types=[FLOAT, FLOAT, INT32])
    b.node("y", "Mul", "next", "next:1", T=FLOAT)
    b.node("z", "Square", "next:2", T=INT32)
    assert set(names(suggest_inputs(b.document(), [Endpoint("y")]))) >= {"next", "next:1"}
    assert "next:2" not in names(suggest_inputs(b.document(), [Endpoint("y")]))


@pytest.mark.parametrize(
    ("name", "port", "part"),
    [
        ("init", 0, "gives no value (op NoOp)"),
        ("check", 0, "gives no value (op Assert)"),
        ("Adam", 0, "changes a variable (op AssignAdd)"),
        ("Adam/update_net/w", 0, "changes a variable (op ApplyAdam)"),
        ("net/w/Initializer/value", 0, "first values"),
        ("save/RestoreV2", 0, "checkpoints"),
        ("save/control", 0, "checkpoints"),
        ("save/Const", 0, "checkpoints"),
        ("summary", 0, "records a summary"),
        ("valid/prob", 1, "has no output 1"),
    ],
)
def test_that_what_can_not_be_an_output_is_refused_with_the_reason(name, port, part):
    assert part in refuse_output(training_graph().document(), Endpoint(name, port))


def test_that_a_handle_is_refused():
    b = GraphBuilder()
    b.node("v", "VarHandleOp", dtype=FLOAT)
    assert "handle of a variable" in refuse_output(b.document(), Endpoint("v"))


@pytest.mark.parametrize("name", ["valid/prob", "net/prob", "loss", "grad/w", "net/w", "images", "valid/bn"])
def test_that_what_gives_a_value_is_accepted(name):
    document = training_graph().document()
    assert refuse_output(document, Endpoint(name)) is None


def test_that_an_output_without_an_input_is_warned_about():
    document = training_graph().document()
    assert "'net/w/read' depends on no input" in warn_output(document, Endpoint("net/w/read"))
    assert warn_output(document, Endpoint("valid/prob")) is None


def test_that_what_orders_the_steps_of_an_array_is_no_output():
    b = frozen_network()
    b.const("size", 2, dtype=INT32)
    b.node("array", "TensorArrayV3", "size", dtype=FLOAT)
    b.node("filled", "TensorArrayScatterV3", "array", "size", "hidden", "array:1", T=FLOAT)
    b.node("flow", "Identity", "filled", T=FLOAT)
    assert names(suggest_outputs(b.document())) == ["y", "hidden"]


def test_that_an_empty_graph_has_no_suggestions():
    document = Document("graphdef", protos.GraphDef())
    assert suggest_outputs(document) == suggest_inputs(document, [Endpoint("x")]) == []


def test_that_reads_of_frozen_variables_are_no_outputs():
    b = frozen_network()
    b.node("w/read", "Identity", "w", T=FLOAT)
    assert names(suggest_outputs(b.document())) == ["y", "hidden"]


@pytest.mark.parametrize(
    ("count", "told"),
    [(1, "1 batch norm or dropout above it is in training mode"),
     (2, "2 batch norms or dropouts above it are in training mode")],
)  # fmt: skip
def test_that_nodes_in_training_mode_are_counted_in_words(count, told):
    b = GraphBuilder()
    b.node("x", "Placeholder", dtype=FLOAT, shape=[-1, 2, 2, 3])
    b.const("scale", 1.0)
    for number in range(count):
        b.node(f"bn{number}", "FusedBatchNorm", f"bn{number - 1}" if number else "x", *["scale"] * 4, T=FLOAT)
        b.graph_def.node[-1].attr["is_training"].b = True
    b.node("y", "Softmax", f"bn{count - 1}", T=FLOAT)
    best = suggest_outputs(b.document())[0]
    assert best.name == "y"
    assert told in best.reason


def test_that_other_ends_of_a_network_are_told_where_the_best_one_is_taken():
    b = frozen_network()
    for name, op in (("box", "BiasAdd"), ("mark", "BiasAdd")):
        b.node(f"{name}/matmul", "MatMul", "x", "w", T=FLOAT)
        b.node(name, op, f"{name}/matmul", "w", T=FLOAT)
    b.node("best", "ArgMax", "y", T=FLOAT)
    document = b.document()
    text = take_outputs(document).text
    taken = text.split("'")[1]
    assert taken in ("y", "best") and text.startswith(f"No output was named; '{taken}' was taken: ")
    assert "2 more are as likely: " in text and "'box'" in text and "'mark'" in text
    assert "hidden" not in text and "matmul" not in text.partition("as likely")[2]
    assert text.endswith("; name them with --output.")


def test_that_a_dropout_does_not_put_the_network_behind_a_penalty_on_its_weights():
    """Its random numbers are its training mode: they count once."""
    b = training_graph()
    found = {one.name: one for one in suggest_outputs(b.document(), 100)}
    assert "depends on random numbers" in found["net/prob"].reason
    assert found["valid/prob"].score - found["net/prob"].score == pytest.approx(3.0)


def test_that_of_one_end_alone_nothing_else_is_told():
    document = frozen_network().document()
    assert "likely" not in take_outputs(document).text
