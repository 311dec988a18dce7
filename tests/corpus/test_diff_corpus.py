"""Comparisons of real pairs; every summary was looked at, and the reasons for it are told beside it."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import pytest

from graphviewer.analysis.diff import STATUSES, compare
from graphviewer.analysis.diff.patch import patch
from graphviewer.analysis.diff.purposes import explained, roles_of_before
from graphviewer.analysis.diff.variables import compare_variables, values_of
from graphviewer.formats import open_document

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "unit"))
from diff_meaning import meaning

TFX = "tfx_trainer/"
GRAPH, META = TFX + "graph.pbtxt", TFX + "model.ckpt-1000.meta"
EXPORT, EVENTS = TFX + "export/chicago-taxi/1646034756", TFX + "events.out.tfevents.1646034739.host"
EVALUATION = TFX + "eval_chicago-taxi-eval/events.out.tfevents.1646034751.host"
CIFAR, FROZEN = "dotnet_cifar/model.ckpt.meta", "dotnet_cifar/frozen_model.pb"
VARIADIC = "dotnet_cifar/frozen_model_variadic_input_shape.pb"
REGRESSION = "tf2onnx_regression/"
MINITAUR = "bullet_minitaur_{}_env/model.ckpt-14000000.meta"

PAIRS = {
    # Two variables frozen, the training graph gone.
    (REGRESSION + "checkpoint/model.meta", REGRESSION + "graphdef/frozen.pb"): {
        "removed": 120, "converted": 2, "unchanged": 6,
    },
    # The same graph exported: a second saver of 20 nodes; the saver's names moved to the CPU.
    (REGRESSION + "checkpoint/model.meta", REGRESSION + "saved_model"): {"added": 20, "changed": 3, "unchanged": 125},
    (REGRESSION + "saved_model", REGRESSION + "graphdef/frozen.pb"): {"removed": 140, "converted": 2, "unchanged": 6},
    # W1, Wconv1 and bconv1 frozen; b1 is not on the way to the output.
    (CIFAR, FROZEN): {"removed": 331, "converted": 3, "unchanged": 10},
    # Here the input is another, with its own shape, and the first layer reads it.
    (CIFAR, VARIADIC): {"removed": 331, "added": 1, "converted": 3, "changed": 1, "unchanged": 9},
    (FROZEN, VARIADIC): {"added": 1, "changed": 1, "unchanged": 12},
    # 72 batch norms folded into weights (a new constant each, BiasAdd in their place), 143 variables frozen, and their
    # 143 reads spliced out.
    ("tfpose_thin/graph.pb", "tfpose_thin_opt/graph_opt.pb"): {
        "removed": 4026, "added": 72, "converted": 143, "spliced": 143, "changed": 72, "rewired": 143, "unchanged": 76,
    },
    # One run, written three times.
    (GRAPH, META): {"unchanged": 2502},
    (META, GRAPH): {"unchanged": 2502},
    (GRAPH, EVENTS): {"unchanged": 2502},
    # Training gone; the export parses examples and transforms them; batches of any size in place of 40, and two packed
    # positions are constants there. What batches change in ten branches of conditionals is told of these functions.
    (META, EXPORT): {
        "removed": 1249, "added": 84, "converted": 2, "changed": 77, "rewired": 5, "unchanged": 1169,
    },
    # Training gone, metrics come; where both restore and initialise variables the lists differ. The data set is read
    # otherwise, which is told of the function that makes it.
    (META, EVALUATION): {"removed": 934, "added": 982, "changed": 44, "rewired": 28, "unchanged": 1496},
    # Made by a newer TensorFlow: Gather became GatherV2 with an axis, NonMaxSuppressionV2 V3 with a threshold; a
    # softmax of one node in place of eleven.
    ("tf_mtcnn/mtcnn.pb", "tf_mtcnn/mtcnn_1.12.pb"): {
        "removed": 13, "added": 25, "renamed": 29, "changed": 3, "unchanged": 849,
    },
    # The same program for another robot: other sizes (most of "changed" are inferred shapes), and the order of some
    # loops' inputs, hence their counters, came from a set.
    (MINITAUR.format("reactive"), MINITAUR.format("trotting")): {
        "converted": 1, "renamed": 1394, "changed": 1026, "rewired": 239, "unchanged": 4982,
    },
    # Another task: weights and sizes differ, and each LSTM cell lost a level of scope.
    ("foolnltk/seg.pb", "foolnltk/ner.pb"): {"renamed": 12, "changed": 31, "unchanged": 301},
    ("dl4j/ae/frozen_graph.pbtxt", "dl4j/ae/frozen_model.pb"): {"unchanged": 15},
}  # fmt: skip


@pytest.fixture(scope="module")
def opened(corpus):
    documents = {}

    def get(path):
        if path not in documents:
            documents[path] = open_document(corpus / path)
        return documents[path]

    return get


@pytest.fixture(scope="module")
def compared(opened):
    diffs = {}

    def get(pair):
        if pair not in diffs:
            diffs[pair] = compare(*map(opened, pair))
        return diffs[pair]

    return get


@pytest.mark.parametrize("pair", PAIRS, ids=" - ".join)
def test_that_the_summary_is_as_it_was_found_right(pair, compared):
    diff = compared(pair)
    assert {status: count for status, count in diff.summary().items() if count} == PAIRS[pair]
    assert diff.same == (set(PAIRS[pair]) == {"unchanged"})


@pytest.mark.parametrize("pair", PAIRS, ids=" - ".join)
def test_that_applying_the_difference_gives_the_second_graph(pair, compared):
    diff = compared(pair)
    assert meaning(patch(diff.before, diff)) == meaning(diff.after)


@pytest.mark.parametrize("pair", PAIRS, ids=" - ".join)
def test_that_every_node_has_one_status_and_every_removal_a_role_and_a_reason(pair, compared):
    diff = compared(pair)
    assert len(diff.status_before) == len(diff.match) and (diff.status_before >= 0).all()
    told = Counter(one.before_node for one in diff.changes if one.before_node >= 0)
    unchanged = (diff.status_before == STATUSES.index("unchanged")).nonzero()[0].tolist()
    assert sorted([*told, *unchanged]) == list(range(len(diff.match)))
    assert set(told.values()) <= {1}
    for one in explained(diff, roles_of_before(diff)).changes:
        assert one.reason
        assert one.status not in ("removed", "spliced") or one.details["role"], one.name


def test_that_a_newer_op_in_the_same_place_is_found(compared):
    diff = compared(("tf_mtcnn/mtcnn.pb", "tf_mtcnn/mtcnn_1.12.pb"))
    ops = Counter(tuple(one.details.get("op", ())) for one in diff.changes if one.status == "renamed")
    assert ops[("Gather", "GatherV2")] == 21
    assert ops[("NonMaxSuppressionV2", "NonMaxSuppressionV3")] == 4


def test_that_functions_are_compared_inside(compared):
    diff = compared((META, EXPORT))
    assert Counter(one.status for one in diff.functions) == {"removed": 11, "changed": 10, "added": 28}
    changed = [one for one in diff.functions if one.inside is not None]
    assert {len(one.inside.changes) for one in changed} == {2}  # sizes of a batch
    assert compared((GRAPH, META)).functions == ()


def test_that_signatures_are_compared(compared):
    added = compared((META, EXPORT)).signatures
    assert [(one.status, one.name) for one in added] == [
        ("added", key) for key in ("classification", "predict", "regression", "serving_default")
    ]


def values(corpus, path):
    return values_of(open_document(corpus / path, alone=True))


def test_that_checkpoints_of_one_run_are_compared_by_their_values(corpus):
    found = compare_variables(*(values(corpus, TFX + f"model.ckpt-{step}") for step in (0, 1000)))
    assert {status: n for status, n in found.summary().items() if n} == {"changed": 52, "unchanged": 8}
    first = found.sorted("difference")[0]
    assert (first.name, first.details["difference"]["max_abs"]) == ("global_step", 1000.0)


def test_that_a_frozen_graph_holds_the_values_of_its_checkpoint(corpus):
    found = compare_variables(values(corpus, "dotnet_cifar/model.ckpt"), values(corpus, FROZEN))
    assert {status: n for status, n in found.summary().items() if n} == {"removed": 11, "unchanged": 3}
