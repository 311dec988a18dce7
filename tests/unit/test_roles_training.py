"""Roles around training: averages, hand-written updates, accumulated gradients, what is only recorded or checked."""

import pytest
from graphs import BOOL, FLOAT, INT32, INT64, STRING, GraphBuilder, training_graph
from role_graphs import descent, regression, roles, seed

from graphviewer import protos
from graphviewer.analysis.candidates.parts import end_before_judge, ends_of_parts
from graphviewer.analysis.candidates.uses import Uses
from graphviewer.analysis.endpoints import suggest_outputs
from graphviewer.analysis.roles import Roles, classify
from graphviewer.analysis.roles.arithmetic import climb
from graphviewer.analysis.roles.facts import Facts
from graphviewer.analysis.roles.ones import ones
from graphviewer.model.names import Endpoint

PROB = [Endpoint("valid/prob")]


def test_that_a_moving_average_of_the_loss_leaves_it_the_loss():
    b = training_graph()
    read = b.variable("mean", [], role="moving_average")
    with b.role("moving_average"):
        b.node("mean/sub", "Sub", read, "loss", T=FLOAT)
        b.const("mean/decay", 0.1)
        b.node("mean/mul", "Mul", "mean/sub", "mean/decay", T=FLOAT)
        b.node("mean/update", "AssignSub", "mean", "mean/mul", T=FLOAT)
    found = roles(b, ["valid/prob"])
    assert {name: role for name, role in found.items() if role != b.truth[name]} == {}


def test_that_ones_are_ranked_by_their_form():
    b = GraphBuilder()
    seed(b, "scalar")
    b.const("form", 3, dtype=INT32)
    b.node("known", "Fill", "form", "scalar/one", T=FLOAT)
    b.node("computed", "Fill", "known", "scalar/one", T=FLOAT)
    b.node("like", "OnesLike", "known", T=FLOAT)
    document = b.document()
    assert {document.graph.names[node]: rank for rank, node in ones(document)} == {
        "scalar": 3,
        "known": 2,
        "computed": 1,
        "like": 0,
        "scalar/one": 0,
    }


def test_that_a_graph_without_optimizer_and_gradient_ops_trains_by_subtraction():
    b = regression()
    b.const("rate", 0.1)
    b.node("step", "Mul", "dw", "rate", T=FLOAT)
    b.node("update", "AssignSub", "w", "step", T=FLOAT)
    found = roles(b)
    assert [found[name] for name in ("update", "step", "rate", "dw", "dy", "tiled", "one", "form")] == (
        ["optimizer"] * 3 + ["gradient"] * 5
    )
    assert [found[name] for name in ("wanted", "error", "loss")] == ["loss"] * 3
    assert [found[name] for name in ("w", "w/read", "x", "y")] == ["inference"] * 4


def test_that_gradients_summed_up_in_a_variable_count_as_those_of_the_optimizer():
    b = regression()
    b.variable("total", [3, 1], role="")
    b.node("add", "AssignAdd", "total", "dw", T=FLOAT)
    b.const("zero", 0.0)
    b.node("clear", "Assign", "total", "zero", T=FLOAT)
    descent(b, "total/read")
    b.node("init", "NoOp", "^w/Assign", "^total/Assign")
    found = roles(b)
    assert [found[name] for name in ("add", "total", "total/read", "clear", "zero")] == ["optimizer"] * 5
    assert (found["total/Assign"], found["dw"], found["loss"]) == ("initializer", "gradient", "loss")


def test_that_gradients_of_many_workers_meet_in_an_accumulator():
    b = regression()
    b.node("accumulator", "ConditionalAccumulator", dtype=FLOAT)
    b.variable("local_step", [], role="", dtype=INT64)
    b.node("put", "AccumulatorApplyGradient", "accumulator", "local_step/read", "dw", dtype=FLOAT)
    b.const("count", 2, dtype=INT32)
    b.node("take", "AccumulatorTakeGradient", "accumulator", "count", dtype=FLOAT)
    descent(b, "take")
    found = roles(b)
    assert [found[name] for name in ("accumulator", "put", "take", "count")] == ["optimizer"] * 4
    assert (found["dw"], found["one"], found["loss"]) == ("gradient", "gradient", "loss")


def test_that_numbers_made_of_gradients_to_be_recorded_are_summaries():
    b = regression()
    descent(b)
    b.node("square", "Square", "dw", T=FLOAT)
    b.node("size", "Sum", "square", "axes", T=FLOAT)
    b.const("tag", dtype=STRING)
    b.node("record", "ScalarSummary", "tag", "size", T=FLOAT)
    b.node("merged", "MergeSummary", "record", N=1)
    found = roles(b)
    assert [found[name] for name in ("square", "size", "tag", "record", "merged")] == ["summary"] * 5
    assert (found["dw"], found["loss"]) == ("gradient", "loss")


def test_that_a_read_of_a_reference_goes_with_its_variable():
    b = regression()
    b.variable("global_step", [], role="", dtype=INT64)
    b.const("more", 1, dtype=INT64)
    b.node("count", "AssignAdd", "global_step", "more", T=INT64)
    b.node("rate", "Cast", "global_step/read")
    b.node("apply", "ApplyGradientDescent", "w", "rate", "dw", T=FLOAT)
    found = roles(b)
    assert (found["global_step"], found["global_step/read"], found["rate"]) == (
        "global_step",
        "global_step",
        "optimizer",
    )


def test_that_a_network_that_copies_the_trained_one_is_no_label():
    """The target network of deep Q-learning: its input reaches the loss without any trained weight."""
    b = regression()
    b.variable("copy", [3, 1], role="")
    b.node("following", "Placeholder", dtype=FLOAT)
    b.node("later", "MatMul", "following", "copy/read", T=FLOAT)
    b.node("more", "Add", "wanted", "later", T=FLOAT)
    b.graph_def.node[[node.name for node in b.graph_def.node].index("error")].input[1] = "more"
    b.node("set", "Assign", "copy", "w/read", T=FLOAT)
    descent(b)
    found = roles(b)
    assert [found[name] for name in ("following", "later", "copy", "copy/read")] == ["training_forward"] * 4
    assert (found["more"], found["wanted"], found["set"]) == ("loss", "loss", "moving_average")


def test_that_questions_about_first_values_are_initializers_to_their_end():
    b = regression()
    b.node("asks", "IsVariableInitialized", "w", dtype=FLOAT)
    b.node("not", "LogicalNot", "asks")
    b.node("where", "Where", "not", T=BOOL)
    found = roles(b)
    assert [found[name] for name in ("asks", "not", "where")] == ["initializer"] * 3


def test_that_the_end_of_a_call_that_checks_is_a_check():
    b = regression()
    function = b.graph_def.library.function.add(signature={"name": "complain"})
    function.node_def.add(name="a", op="Assert")
    b.node("fine", "IsFinite", "loss", T=FLOAT)
    b.node("guard", "If", "fine", then_branch=protos.AttrValue(func={"name": "complain"}))
    b.node("guard/Identity", "Identity", "guard", T=BOOL)
    b.node("waits", "Identity", "loss", "^guard/Identity", T=FLOAT)
    found = roles(b)
    assert [found[name] for name in ("fine", "guard", "guard/Identity")] == ["check"] * 3


def test_that_what_nothing_uses_goes_with_its_innermost_scope():
    b = GraphBuilder()
    b.node("x", "Placeholder", dtype=FLOAT)
    for number in range(4):
        b.node(f"net/layer/y{number}", "Relu", f"net/layer/y{number - 1}" if number else "x", T=FLOAT)
    b.const("net/layer/left", 2.0)
    b.node("net/save/SaveV2", "SaveV2", "net/save/names", dtypes=[FLOAT])
    b.const("net/save/names", dtype=STRING)
    b.const("net/save/left", 2.0)
    found = roles(b, ["net/layer/y3"])
    assert found["net/save/left"] == "save_restore"
    assert found["net/layer/left"] == "unused"


def test_that_a_climb_takes_only_what_nothing_else_reads():
    b = GraphBuilder()
    b.const("a")
    b.node("shared", "Neg", "a", T=FLOAT)
    b.node("own", "Neg", "shared", T=FLOAT)
    b.node("end", "Neg", "own", T=FLOAT)
    b.node("other", "Neg", "shared", T=FLOAT)
    facts = Facts(b.document())
    index = facts.graph.index
    names = {facts.graph.names[node] for node in climb(facts, [index["end"]], lambda node: True)}
    assert names == {"end", "own"}
    names = {facts.graph.names[node] for node in climb(facts, [index["end"], index["other"]], lambda node: True)}
    assert names == {"end", "own", "other", "shared", "a"}


def two_parts(*, joined=True):
    """An actor that a critic judges, each with its own optimizer; the critic sees the state beside the action."""
    b = GraphBuilder()
    b.node("state", "Placeholder", dtype=FLOAT)
    for name in ("actor", "critic"):
        b.variable(name, [3, 3], role="")
    b.node("action", "MatMul", "state", "actor/read", T=FLOAT)
    b.const("axis", 1, dtype=INT32)
    b.node("both", "ConcatV2", "state", "action", "axis", N=2, T=FLOAT)
    b.node("value", "MatMul", "both" if joined else "action", "critic/read", T=FLOAT)
    for name, rate in (("actor", 0.1), ("critic", 0.2)):
        b.const(f"{name}/rate", rate)
        b.node(f"{name}/gradient", "ReluGrad", "value", "value", T=FLOAT)
        b.node(f"{name}/apply", "ApplyGradientDescent", name, f"{name}/rate", f"{name}/gradient", T=FLOAT)
    return b


@pytest.mark.parametrize("joined", [True, False])
def test_that_a_part_ends_before_its_result_is_joined_with_other_data(joined):
    document = two_parts(joined=joined).document()
    uses = Uses(Roles(document))
    found = ends_of_parts(uses, ~(uses.training | uses.facts.is_read))
    assert {document.graph.names[node] for node in found} == {"action"}


def test_that_a_ring_of_joining_nodes_ends():
    b = two_parts()
    node = b.graph_def.node[[node.name for node in b.graph_def.node].index("both")]
    node.input[1] = "both"
    document = b.document()
    assert suggest_outputs(document)
    assert end_before_judge(Uses(Roles(document))) == {}


def test_that_a_network_judged_by_a_frozen_one_ends_before_that():
    b = regression()
    b.const("frozen", 0.5)
    b.node("scaled", "Tanh", "y", T=FLOAT)
    b.node("features", "Conv2D", "scaled", "frozen", T=FLOAT)
    b.node("smooth", "L2Loss", "scaled", T=FLOAT)
    names = [node.name for node in b.graph_def.node]
    for name in ("error", "difference"):
        b.graph_def.node[names.index(name)].input[0] = "features"
    b.graph_def.node[names.index("loss")].input[0] = "sum"
    b.node("sum", "Add", "error", "smooth", T=FLOAT)
    descent(b)
    assert suggest_outputs(b.document())[0].name == "scaled"


def test_that_decoded_sequences_are_no_part_of_the_loss():
    b = regression()
    descent(b)
    b.node("decoded", "CTCGreedyDecoder", "y", "wanted")
    assert suggest_outputs(b.document())[0].name == "decoded"


def test_that_an_unread_state_of_a_used_loop_is_not_suggested():
    b = GraphBuilder()
    b.node("x", "Placeholder", dtype=FLOAT)
    b.node("go", "Placeholder", dtype=BOOL)
    b.node("cond", "LoopCond", "go")
    for name in ("count", "state"):
        b.node(f"{name}/Enter", "Enter", "x", T=FLOAT, frame_name="loop")
        b.node(f"{name}/Merge", "Merge", f"{name}/Enter", f"{name}/Next", N=2, T=FLOAT)
        b.node(f"{name}/Switch", "Switch", f"{name}/Merge", "cond", T=FLOAT)
        b.node(f"{name}/Next", "NextIteration", f"{name}/Switch:1", T=FLOAT)
        b.node(f"{name}/Exit", "Exit", f"{name}/Switch", T=FLOAT)
    assert {"count/Exit", "state/Exit"} <= {one.name for one in suggest_outputs(b.document())}
    b.node("y", "Relu", "state/Exit", T=FLOAT)
    found = [one.name for one in suggest_outputs(b.document())]
    assert found[0] == "y"
    assert "count/Exit" not in found


def test_that_the_labels_themselves_are_told_from_what_depends_on_them():
    b = regression()
    descent(b)
    document = b.document()
    overlay = classify(document, [Endpoint("y")])
    reasons = {name: overlay.reasons[number] for number, name in enumerate(document.graph.names)}
    assert reasons["wanted"] == "Holds the labels, and the loss needs it."
    assert reasons["error"] == "Depends on the labels, and the loss needs it."
