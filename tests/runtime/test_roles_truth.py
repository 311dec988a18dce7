"""Roles and suggestions on graphs that TensorFlow built, against hand-made truth and TensorFlow's own name scopes."""

import csv
import os
import re
from pathlib import Path

import pytest
import tensorflow as tf
from builders import adversarial, as_document, everything, recurrent, resnet
from graphs import shuffled

from graphviewer.analysis.endpoints import suggest_inputs, suggest_outputs
from graphviewer.analysis.roles import classify
from graphviewer.model.document import Document
from graphviewer.model.names import Endpoint

PROB = [Endpoint("net_1/prob")]
TRUTH = Path(os.environ.get("GRAPHVIEWER_TRUTH", Path(__file__).resolve().parents[3] / "shared" / "truth"))


@pytest.fixture(scope="module")
def resnet_document():
    return as_document(resnet())


def roles(document, outputs):
    overlay = classify(document, [Endpoint(output) for output in outputs])
    return {name: overlay.category(number) for number, name in enumerate(document.graph.names)}


def test_that_roles_agree_with_the_hand_made_truth(resnet_document):
    path = TRUTH / "resnet_s.tsv"
    if not path.exists():
        pytest.skip(f"{path.name} is not there; GRAPHVIEWER_TRUTH names its folder")
    with path.open() as file:
        truth = {row["node"]: row["role"] for row in csv.DictReader(file, delimiter="\t")}
    found = roles(resnet_document, ["net_1/prob"])
    assert truth.keys() == found.keys()
    wrong = {name: (role, found[name]) for name, role in truth.items() if found[name] != role}
    assert len(wrong) <= 0.01 * len(truth), wrong
    assert not any("inference" in pair for pair in wrong.values()), wrong


BY_NAME = (  # what TensorFlow calls the nodes that its own functions make; the first that fits
    ("save_restore", r"save/"),
    ("initializer", r".*/(Initializer|initial_value)\b|(?!save|Adam).*/Assign$|init$"),
    ("gradient", r"gradients/"),
    ("optimizer", r"Adam|.*/Adam(_1)?(/read)?$|beta[12]_power"),
    ("summary", r"training_loss|Merge/"),
    ("global_step", r"global_step"),
    ("batch_norm_update", r"net/.*bn\w+/(sub|mul|AssignSub)(_1)?(/y)?$"),
    ("inference", r"net_1/|images$|net/.*/(weights|gamma|beta|moving_mean|moving_variance|w|b)(/read)?$"),
    ("training_forward", r"net/"),
)


def test_that_roles_agree_with_tensorflows_scopes(resnet_document):
    found = roles(resnet_document, ["net_1/prob"])
    wrong = {}
    for name, role in found.items():
        expected = next((role for role, pattern in BY_NAME if re.match(pattern, name)), role)
        if role != expected:
            wrong[name] = (expected, role)
    assert wrong == {}


@pytest.mark.parametrize("seed", range(2))
def test_that_inference_is_found_whatever_the_names_are(resnet_document, seed):
    graph_def, renamed = shuffled(resnet_document.graph_def, seed)
    document = Document("graphdef", graph_def)
    named = roles(resnet_document, ["net_1/prob"])
    found = roles(document, [renamed["net_1/prob"]])
    wrong = {name: found[renamed[name]] for name, role in named.items() if found[renamed[name]] != role}
    assert len(wrong) <= 0.01 * len(found)
    assert not any("inference" in (role, named[name]) for name, role in wrong.items())
    assert suggest_outputs(document)[0].name == renamed["net_1/prob"]


@pytest.mark.parametrize("resource", [False, True])
def test_that_the_validation_tower_and_its_images_are_suggested_first(resource):
    document = as_document(resnet((1, 1), resource=resource))
    assert suggest_outputs(document)[0].name == "net_1/prob"
    assert suggest_inputs(document, PROB)[0].name == "images"


def test_that_inference_is_what_tensorflow_extracts():
    """``extract_sub_graph`` follows the control edges that training hung on nodes; a frozen tower has none of them."""
    document = as_document(resnet((1,)))
    graph_def = tf.compat.v1.GraphDef.FromString(document.graph_def.SerializeToString())
    for node in graph_def.node:
        node.attr.pop("_class", None)
    extracted = tf.compat.v1.graph_util.extract_sub_graph(graph_def, ["net_1/prob"])
    found = roles(document, ["net_1/prob"])
    inference = {name for name, role in found.items() if role == "inference"}
    assert {node.name for node in extracted.node} - inference == {"IteratorGetNext", "IteratorV2"}
    assert inference <= {node.name for node in extracted.node}


@pytest.mark.parametrize("resource", [False, True])
@pytest.mark.parametrize("with_meta", [False, True])
def test_that_all_that_hangs_around_a_classifier_is_told_apart(resource, with_meta):
    document = as_document(everything(resource=resource), with_meta=with_meta)
    assert suggest_outputs(document)[0].name == "prob"
    assert suggest_inputs(document, [Endpoint("prob")])[0].name == "x"
    found = roles(document, ["prob"])
    expected = {
        "inference": ["prob", "logits", "logits/MatMul", "x", "w", "b"],
        "loss": ["loss", "rows/rows", "y", "L2Loss"],
        "metric": ["accuracy/total", "accuracy/count", "accuracy/Equal"],
        "optimizer": ["w/Momentum", "b/Momentum", "rate", "train", "Momentum/momentum"],
        "global_step": ["global_step"],
        "moving_average": [
            "w/ExponentialMovingAverage",
            "b/ExponentialMovingAverage",
            "ExponentialMovingAverage/decay",
        ],
        "summary": ["loss_summary", "w_summary", "w_summary/tag"],
        "gradient": ["clip_by_global_norm/mul", "global_norm/global_norm", "gradients/grad_ys_0"],
        "initializer": [
            "init",
            "init_1",
            "w/Initializer/random_uniform",
            "w/ExponentialMovingAverage/Initializer/zeros",
        ],
        "save_restore": ["save/SaveV2", "save/RestoreV2", "save/restore_all", "save/Const"],
    }
    wrong = {
        name: (role, found[name])
        for role, names in expected.items()
        for name in names
        if name in found and found[name] != role
    }
    assert wrong == {}
    assert sum(name in found for names in expected.values() for name in names) > 30


def test_that_the_whole_of_a_conditional_assert_is_a_check():
    found = roles(as_document(everything()), ["prob"])
    asserts = {name: role for name, role in found.items() if name.startswith("label_check/")}
    assert len(asserts) > 10
    assert set(asserts.values()) == {"check"}


def test_that_of_a_conditional_around_first_values_nothing_is_forward():
    """``ExponentialMovingAverage`` starts from ``initialized_value``: a conditional that asks whether there is one."""
    found = roles(as_document(everything()), ["prob"])
    conditional = {name: role for name, role in found.items() if "cond/" in name or "cond_1/" in name}
    assert conditional
    assert set(conditional.values()) == {"initializer"}


def test_that_the_end_of_a_generator_is_suggested_first():
    document = as_document(adversarial())
    assert suggest_outputs(document)[0].name == "g/image"
    found = roles(document, ["g/image"])
    assert (found["noise"], found["g/w"], found["d/w"]) == ("inference", "inference", "training_forward")
    assert found["d/w/Adam_d"] == "optimizer"


def test_that_a_trained_loop_is_inference_and_its_backward_loop_is_gradient():
    document = as_document(recurrent())
    assert suggest_outputs(document)[0].name == "prob"
    assert "x" in [suggestion.name for suggestion in suggest_inputs(document, [Endpoint("prob")])]
    found = roles(document, ["prob"])
    assert found["while/Exit"] in ("inference", "unused", "training_forward")
    assert {found[name] for name in ("while/MatMul", "while/Tanh", "while/Exit_1", "prob")} == {"inference"}
    backward = [name for name in found if name.startswith("gradients/while") and not name.endswith("/StackPushV2")]
    wrong = {name: found[name] for name in backward if found[name] != "gradient"}
    assert len(wrong) <= 0.05 * len(backward), wrong
