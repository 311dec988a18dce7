"""Classes chosen from a prediction, and the prediction itself, as suggested outputs of a graph that trains."""

import pytest
from graphs import BOOL, FLOAT, INT32, INT64, GraphBuilder
from role_graphs import descent, seed

from graphviewer.analysis.endpoints import suggest_outputs


def classifier(*, probabilities=True):
    """Logits ``z`` and their cross entropy, trained; on request ``p``, the softmax of ``z``."""
    b = GraphBuilder()
    b.node("x", "Placeholder", dtype=FLOAT, shape=[-1, 3])
    b.node("labels", "Placeholder", dtype=INT64, shape=[-1])
    b.variable("w", [3, 5], role="")
    b.node("z", "MatMul", "x", "w/read", T=FLOAT)
    b.node("xent", "SparseSoftmaxCrossEntropyWithLogits", "z", "labels", T=FLOAT)
    b.const("axes", dtype=INT32)
    b.node("loss", "Mean", "xent", "axes", T=FLOAT)
    seed(b, "one")
    b.node("form", "Shape", "xent", T=FLOAT)
    b.node("tiled", "Tile", "one", "form", T=FLOAT)
    b.node("dz", "Mul", "tiled", "xent:1", T=FLOAT)
    b.node("dw", "MatMul", "x", "dz", T=FLOAT)
    descent(b)
    if probabilities:
        b.node("p", "Softmax", "z", T=FLOAT)
    return b


def choose(b, source, name="chosen"):
    b.const(f"{name}/axis", 1, dtype=INT32)
    return b.node(name, "ArgMax", source, f"{name}/axis", T=FLOAT)


def measure(b, chosen, dtype=INT64):
    """The share of right answers."""
    b.node("equal", "Equal", chosen, "labels", T=dtype)
    b.node("hits", "Cast", "equal", SrcT=BOOL, DstT=FLOAT)
    b.node("accuracy", "Mean", "hits", "axes", T=FLOAT)


def ranking(b):
    return [one.name for one in suggest_outputs(b.document())]


def test_that_probabilities_come_before_the_classes_that_a_metric_reads():
    b = classifier()
    measure(b, choose(b, "p"))
    assert ranking(b)[:3] == ["p", "chosen", "z"]


def test_that_classes_say_what_they_are_chosen_from():
    b = classifier()
    measure(b, choose(b, "p"))
    reasons = {one.name: one.reason for one in suggest_outputs(b.document())}
    assert reasons["p"].startswith("Only the loss or metrics use it, or the choice of a class; op Softmax")
    assert reasons["chosen"].endswith("is chosen from p")


def test_that_logits_come_before_the_classes_that_a_metric_reads():
    b = classifier(probabilities=False)
    measure(b, choose(b, "z"))
    assert ranking(b)[:2] == ["z", "chosen"]


def test_that_classes_which_are_cast_for_a_metric_count_as_read_by_it():
    b = classifier()
    b.node("numbers", "Cast", choose(b, "p"), SrcT=INT64, DstT=INT32)
    measure(b, "numbers", INT32)
    assert ranking(b)[:2] == ["p", "chosen"]


def test_that_probabilities_come_before_a_threshold_that_a_metric_reads():
    b = classifier(probabilities=False)
    b.node("p", "Sigmoid", "z", T=FLOAT)
    b.node("rounded", "Round", "p", T=FLOAT)
    b.node("numbers", "Cast", "rounded", SrcT=FLOAT, DstT=INT64)
    measure(b, "numbers")
    assert ranking(b)[0] == "p"


def test_that_a_name_does_not_lift_the_classes_for_a_metric_above_the_probabilities():
    b = classifier()
    measure(b, choose(b, "p", "predictions"))
    assert ranking(b)[:2] == ["p", "predictions"]


def test_that_classes_to_fetch_follow_the_probabilities_that_they_are_made_from():
    b = classifier()
    choose(b, "p")
    assert ranking(b)[:2] == ["p", "chosen"]


def test_that_classes_to_fetch_come_before_logits():
    b = classifier(probabilities=False)
    choose(b, "z")
    assert ranking(b)[:2] == ["chosen", "z"]


def test_that_classes_at_the_end_of_a_graph_that_does_not_train_are_its_output():
    """Whoever froze it chose them."""
    b = GraphBuilder()
    b.node("x", "Placeholder", dtype=FLOAT, shape=[-1, 3])
    b.const("w")
    b.graph_def.node[-1].attr["value"].tensor.tensor_content = b"\0" * 600
    b.node("z", "MatMul", "x", "w", T=FLOAT)
    b.node("p", "Softmax", "z", T=FLOAT)
    choose(b, "p")
    assert ranking(b)[0] == "chosen"


@pytest.mark.parametrize("further", ["Relu", "Gather"])
def test_that_probabilities_which_the_network_goes_on_with_are_no_end(further):
    b = classifier()
    measure(b, choose(b, "p"))
    inputs = ["w/read", "chosen"] if further == "Gather" else ["p"]
    b.node("end", further, *inputs, T=FLOAT)
    reasons = {one.name: one.reason for one in suggest_outputs(b.document())}
    assert "choice of a class" not in reasons.get("p", "")
