"""Inner steps of training: weights that a gradient moved before they are applied, and what is no such step."""

import numpy as np
from graphs import FLOAT, INT32, GraphBuilder
from role_graphs import descent, regression, roles, seed

from graphviewer.analysis.endpoints import suggest_outputs
from graphviewer.analysis.roles import Roles
from graphviewer.analysis.roles.facts import Facts
from graphviewer.analysis.roles.steps import inner_steps

INNER = ("one", "tiled", "difference", "dy", "dw", "slope")


def stepped():
    """``answer = asked * (w - rate * dw)``, where ``dw`` is the slope of an inner loss; the outer loss trains ``w``."""
    b = regression()
    b.const("inner/rate", 0.1)
    b.node("slope", "Mul", "dw", "inner/rate", T=FLOAT)
    b.node("fast", "Sub", "w/read", "slope", T=FLOAT)
    b.node("asked", "Placeholder", dtype=FLOAT)
    b.node("answer", "MatMul", "asked", "fast", T=FLOAT)
    trained(b, "answer", "asked")
    return b


def trained(b, answer, asked):
    """A squared error of ``answer``, whose slope towards the weights of a matrix product trains ``w``."""
    b.node("right", "Placeholder", dtype=FLOAT)
    b.node("outer/error", "SquaredDifference", answer, "right", T=FLOAT)
    b.node("outer/loss", "Sum", "outer/error", "axes", T=FLOAT)
    seed(b, "outer/one")
    b.node("outer/form", "Shape", "outer/error", T=FLOAT)
    b.node("outer/tiled", "Tile", "outer/one", "outer/form", T=FLOAT)
    b.node("outer/difference", "Sub", answer, "right", T=FLOAT)
    b.node("outer/dy", "Mul", "outer/tiled", "outer/difference", T=FLOAT)
    b.node("outer/dw", "MatMul", asked, "outer/dy", T=FLOAT)
    descent(b, "outer/dw")


def names(document, mask):
    return {document.graph.names[node] for node in np.flatnonzero(mask).tolist()}


def test_that_the_answer_behind_an_inner_step_is_the_first_suggestion():
    ranked = [one.name for one in suggest_outputs(stepped().document())]
    assert ranked[0] == "answer"
    assert not {"fast", "slope", "dw", "dy", "tiled"}.intersection(ranked)


def test_that_the_prediction_of_the_inner_loss_comes_after_the_answer_and_says_why():
    ranked = {one.name: one for one in suggest_outputs(stepped().document())}
    assert ranked["y"].score < ranked["answer"].score
    assert "an inner step of training uses it" in ranked["y"].reason


def test_that_the_labels_of_an_inner_loss_do_not_speak_against_the_answer():
    ranked = {one.name: one for one in suggest_outputs(stepped().document())}
    assert "labels" not in ranked["answer"].reason


def test_that_an_inner_step_is_inference_for_the_answer_and_the_outer_loss_is_not():
    found = roles(stepped(), ["answer"])
    assert {found[name] for name in (*INNER, "fast", "answer", "asked", "wanted", "x", "w")} == {"inference"}
    assert {found[name] for name in ("right", "outer/error", "outer/loss")} == {"loss"}
    assert {found[name] for name in ("outer/one", "outer/tiled", "outer/dy", "outer/dw")} == {"gradient"}


def test_that_what_is_asked_behind_a_step_is_no_label():
    roles_of = Roles(stepped().document())
    labelled = names(roles_of.facts.document, roles_of.forward.labelled)
    assert "right" in labelled
    assert not {"asked", "answer"} & labelled


def test_that_moved_data_are_no_moved_weights():
    """``x + rate * sign(dx)`` through the network again: an adversarial example."""
    b = regression()
    b.node("turned", "MatMul", "dy", "w/read", T=FLOAT)
    b.node("dx", "ReluGrad", "turned", "x", T=FLOAT)
    b.const("size", 0.1)
    b.node("sign", "Sign", "dx", T=FLOAT)
    b.node("push", "Mul", "sign", "size", T=FLOAT)
    b.node("pushed", "AddV2", "x", "push", T=FLOAT)
    b.node("again", "MatMul", "pushed", "w/read", T=FLOAT)
    trained(b, "again", "pushed")
    document = b.document()
    steps = Roles(document).training.passes.inner_steps
    assert not steps.weights.any()
    assert {"dx", "sign", "push"} <= names(document, steps.gradients)
    assert {"pushed", "again"} <= names(document, steps.after)


def test_that_a_gradient_inside_a_loss_moves_nothing():
    b = regression()
    b.node("square", "Square", "dw", T=FLOAT)
    b.node("penalty", "Sum", "square", "axes", T=FLOAT)
    b.node("sum", "AddV2", "loss", "penalty", T=FLOAT)
    document = b.document()
    facts = Facts(document)
    steps = inner_steps(facts, facts.named(["one"]), facts.no_values)
    assert not steps.weights.any()
    assert names(document, steps.gradients) == {"one", "tiled", "dy", "dw", "square", "penalty"}
    assert names(document, steps.after) == {"sum"}


def test_that_a_later_step_moves_the_weights_of_an_earlier_one():
    b = stepped()
    b.node("decayed", "Mul", "fast", "inner/rate", T=FLOAT)
    b.node("turned", "Transpose", "fast", "axes", T=FLOAT)
    b.node("second", "Sub", "decayed", "slope", T=FLOAT)
    document = b.document()
    facts = Facts(document)
    steps = inner_steps(facts, facts.named(["one"]), facts.no_values)
    assert names(document, steps.weights) == {"fast", "decayed", "turned", "second"}


def test_that_a_bias_that_is_not_moved_leaves_the_answer_an_answer():
    b = stepped()
    b.variable("bias", [1], role="")
    b.node("biased", "AddV2", "answer", "bias/read", T=FLOAT)
    facts = Facts(b.document())
    steps = inner_steps(facts, facts.named(["one"]), facts.no_values)
    assert "biased" not in names(facts.document, steps.weights | steps.gradients)


def test_that_weights_stay_moved_around_a_loop():
    """The state of a loop starts as a weight; every turn subtracts a slope from it, and the last one leaves."""
    b = GraphBuilder()
    b.variable("w", [3, 1], role="")
    b.node("x", "Placeholder", dtype=FLOAT)
    b.node("go", "Placeholder", dtype=INT32)
    seed(b, "one")
    b.node("enter", "Enter", "w/read", T=FLOAT, frame_name="steps")
    b.node("state", "Merge", "enter", "next", T=FLOAT, N=2)
    b.node("switch", "Switch", "state", "go", T=FLOAT)
    b.node("y", "MatMul", "x", "switch:1", T=FLOAT)
    b.node("dy", "Mul", "y", "one", T=FLOAT)
    b.node("dw", "MatMul", "x", "dy", T=FLOAT)
    b.node("step", "Sub", "switch:1", "dw", T=FLOAT)
    b.node("next", "NextIteration", "step", T=FLOAT)
    b.node("exit", "Exit", "switch", T=FLOAT)
    b.node("answer", "MatMul", "x", "exit", T=FLOAT)
    document = b.document()
    facts = Facts(document)
    steps = inner_steps(facts, facts.named(["one"]), facts.no_values)
    assert names(document, steps.weights) == {"state", "switch", "step", "next", "exit"}
    assert "answer" in names(document, steps.after)


def test_that_ones_of_the_network_are_no_inner_gradient():
    """A scale that is one, of noise and beside a weight."""
    b = regression()
    descent(b)
    seed(b, "scale")
    b.node("noise", "Mul", "y", "scale", T=FLOAT)
    b.node("shifted", "AddV2", "w/read", "scale", T=FLOAT)
    b.node("noisy", "MatMul", "noise", "shifted", T=FLOAT)
    document = b.document()
    steps = Roles(document).training.passes.inner_steps
    assert not (steps.weights | steps.gradients | steps.after).any()
    assert roles(b, ["noisy"])["loss"] == "loss"
    assert "noisy" in [one.name for one in suggest_outputs(document)]


def test_that_nothing_is_followed_without_an_inner_gradient():
    facts = Facts(regression().document())
    steps = inner_steps(facts, np.zeros(facts.count, np.bool_), facts.no_values)
    assert not (steps.weights | steps.gradients | steps.after).any()
