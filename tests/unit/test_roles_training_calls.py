"""Calls of functions that compute as in training: TF2's conditionals around dropout and batch norm."""

import numpy as np
import pytest
from graphs import BOOL, FLOAT, INT32, GraphBuilder

from graphviewer.analysis.check import training_notes
from graphviewer.analysis.endpoints import suggest_outputs
from graphviewer.analysis.roles import classify
from graphviewer.analysis.roles.facts import Facts
from graphviewer.analysis.roles.markers import training_calls
from graphviewer.model.names import Endpoint


def body(b, name, kind):
    """A function of one tensor: ``norm`` is on batch statistics, ``trained`` is a norm that is not."""
    made = b.graph_def.library.function.add()
    made.signature.name = name
    made.signature.input_arg.add(name="h", type=FLOAT)
    made.signature.output_arg.add(name="result", type=FLOAT)

    def node(name, op, *inputs, **flags):
        added = made.node_def.add(name=name, op=op, input=inputs)
        for key, value in flags.items():
            added.attr[key].b = value

    if kind in ("dropout", "noise"):
        node("form", "Shape", "h")
        node("rate", "Const")
        made.node_def[-1].attr["dtype"].type = FLOAT
        made.node_def[-1].attr["value"].tensor.dtype = FLOAT
        node("uniform", "RandomUniform", "form:output:0")
        node("keep", "GreaterEqual" if kind == "dropout" else "AddV2", "uniform:output:0", "rate:output:0")
        node("result", *(["SelectV2", "keep:z:0", "h", "rate:output:0"] if kind == "dropout" else ["Add", "h", "keep"]))
        made.ret["result"] = "result:output:0" if kind == "dropout" else "result:z:0"
    elif kind in ("norm", "trained"):
        node("norm", "FusedBatchNormV3", *["h"] * 5, is_training=kind == "norm")
        made.ret["result"] = "norm:y:0"
    else:
        made.ret["result"] = "h"


def branching(kind="dropout", op="If", nested=False):
    """``end`` reads an If of a fed bool, one branch of which is of a kind and the other hands its argument on."""
    b = GraphBuilder()
    b.node("x", "Placeholder", dtype=FLOAT, shape=[-1, 4])
    b.node("flag", "Placeholder", dtype=BOOL, shape=[])
    body(b, "on", kind)
    body(b, "off", "plain")
    if nested:
        body(b, "outer", "plain")
        outer = b.graph_def.library.function[-1]
        call = outer.node_def.add(name="inner", op="PartitionedCall", input=["h"])
        call.attr["f"].func.name = "on"
        call.attr["Tout"].list.type.append(FLOAT)
        outer.ret["result"] = "inner:output:0"
    b.node("drop", op, "flag", "x", Tout=[FLOAT])
    b.graph_def.node[-1].attr["then_branch"].func.name = "outer" if nested else "on"
    b.graph_def.node[-1].attr["else_branch"].func.name = "off"
    b.node("end", "Tanh", "drop", T=FLOAT)
    return b


def training(b):
    document = b.document()
    return [document.graph.names[at] for at in np.flatnonzero(training_calls(Facts(document)))]


@pytest.mark.parametrize("op", ["If", "StatelessIf"])
@pytest.mark.parametrize("kind", ["dropout", "norm"])
@pytest.mark.parametrize("nested", [False, True])
def test_that_a_conditional_around_dropout_or_batch_norm_is_in_training_mode(op, kind, nested):
    b = branching(kind, op, nested)
    assert training(b) == ["drop"]
    document = b.document()
    overlay = classify(document, [Endpoint("end")])
    assert "training_mode" in overlay.markers[document.graph.index["drop"]]


@pytest.mark.parametrize("kind", ["plain", "noise", "trained"])
def test_that_other_conditionals_are_not(kind):
    b = branching(kind)
    assert training(b) == []
    assert training_notes(b.document()) == []


def test_that_check_notes_it():
    (note,) = training_notes(branching().document())
    assert note.startswith("One node computes, or can compute, as in training (batch statistics or dropout), 'drop'; ")


def test_that_outputs_below_it_say_so():
    best = suggest_outputs(branching().document())[0]
    assert best.name == "end"
    assert "1 batch norm or dropout above it is in training mode" in best.reason


def test_that_a_function_which_calls_itself_does_no_harm():
    b = branching()
    on = b.graph_def.library.function[0]
    again = on.node_def.add(name="again", op="PartitionedCall", input=["h"])
    again.attr["f"].func.name = "on"
    again.attr["Tout"].list.type.append(FLOAT)
    assert training(b) == ["drop"]


def test_that_what_a_pipeline_calls_is_no_part_of_the_network():
    b = GraphBuilder()
    body(b, "augment", "dropout")
    b.const("source", dtype=INT32)
    b.node("dataset", "TensorSliceDataset", "source")
    b.node("mapped", "MapDataset", "dataset")
    b.graph_def.node[-1].attr["f"].func.name = "augment"
    assert training(b) == []
