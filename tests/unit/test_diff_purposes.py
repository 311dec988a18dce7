"""Why nodes went away, and changes summed up."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from diff_graphs import document, node

from graphviewer.analysis.diff import by_scope, compare, in_words
from graphviewer.analysis.diff.purposes import explained, role_sentences, roles_of_before, surviving_outputs
from graphviewer.analysis.merge import merge
from graphviewer.model.names import Endpoint
from graphviewer.model.overlay import role_label
from graphviewer.model.provenance import Provenance, Removal

NODES = (
    node("x", "Placeholder"),
    node("net/w", "VariableV2"),
    node("net/w/zeros", "Const"),
    node("net/w/Assign", "Assign", "net/w", "net/w/zeros"),
    node("net/y", "MatMul", "x", "net/w"),
    node("prob", "Softmax", "net/y"),
    node("train/rate", "Const"),
    node("train/Apply", "ApplyGradientDescent", "net/w", "train/rate", "net/y"),
    node("save/SaveV2", "SaveV2", "net/w"),
)
FROZEN = (NODES[0], node("net/w", "Const"), NODES[4], NODES[5])


@pytest.fixture(scope="module")
def diff():
    return compare(document(*NODES), document(*FROZEN))


@pytest.fixture(scope="module")
def roles(diff):
    return roles_of_before(diff)


def test_that_what_survived_tells_what_the_graph_was_for(diff):
    assert surviving_outputs(diff) == [Endpoint("prob", 0)]


def test_that_a_result_that_still_trains_is_seen_from_the_suggested_output():
    named = (*NODES[:5], node("named", "Identity", "net/y"), node("prob", "Softmax", "named"), *NODES[6:])
    diff = compare(document(*named), document(*NODES))
    assert surviving_outputs(diff) == []
    roles = roles_of_before(diff)
    assert roles.counts()["inference"] == 5  # x, net/w, net/y, named, prob; neither the rate nor the update
    assert role_sentences(diff, roles) == ["1 of 5 inference nodes spliced"]


def test_that_every_removed_node_has_a_role_and_a_reason(diff, roles):
    removed = [one for one in explained(diff, roles).changes if one.status == "removed"]
    assert {one.name: one.details["role"] for one in removed} == {
        "net/w/zeros": "initializer",
        "net/w/Assign": "initializer",
        "train/rate": "optimizer",
        "train/Apply": "optimizer",
        "save/SaveV2": "save_restore",
    }
    assert all(one.reason.startswith(role_label(one.details["role"]) + ": ") for one in removed)


def test_that_the_reason_of_an_operation_stays():
    provenance = Provenance({}, {"train/Apply": Removal("removed", "not needed by prob")})
    diff = compare(document(*NODES), document(*FROZEN), provenance)
    told = next(one for one in explained(diff, roles_of_before(diff)).changes if one.name == "train/Apply")
    assert (told.reason, told.details["role"]) == ("not needed by prob", "optimizer")


def test_that_roles_are_not_worked_out_where_nothing_went_away():
    graph = document(*NODES)
    diff = compare(graph, document(*NODES, node("more", "NoOp")))
    assert roles_of_before(diff) is None
    assert explained(diff, None) is diff


def test_that_roles_that_lost_nodes_are_told_in_words(diff, roles):
    assert role_sentences(diff, roles) == [
        "all 2 optimizer nodes removed",
        "all 2 initializer nodes removed",
        "the save restore node removed",
    ]


def test_that_every_text_calls_a_role_what_the_legend_calls_it(diff, roles):
    codes = np.full_like(roles.codes, list(roles.categories).index("training_forward"))
    other = replace(roles, codes=codes)
    assert role_sentences(diff, other)[0] == "5 of 9 other forward pass nodes removed"
    told = [one for one in explained(diff, other).changes if one.status == "removed"]
    assert all(one.reason.startswith("other forward pass: ") for one in told)
    assert {one.details["role"] for one in told} == {"training_forward"}


def test_that_scopes_are_summed_up_in_words(diff):
    merged = merge(diff.before, diff.after, diff)
    table = by_scope(merged.document.scopes, merged.overlay)
    assert {path: in_words(counts) for path, counts in table.items()} == {
        "net": "2 removed, 1 converted",
        "train": "2 removed",
        "save": "1 removed",
    }
    assert in_words(by_scope(merged.document.scopes, merged.overlay, depth=2)["net/w"]) == "2 removed, 1 converted"


def test_that_what_a_node_is_needed_for_is_no_reason_to_go(roles, diff):
    codes = np.full_like(roles.codes, list(roles.categories).index("inference"))
    told = [one for one in explained(diff, replace(roles, codes=codes)).changes if one.status == "removed"]
    assert {one.reason for one in told} == {"inference: only in the first graph"}


def test_that_a_role_that_lost_only_one_kind_of_node_says_which():
    reads = [node(f"train/{name}/read", "Identity", "net/w") for name in "abc"]
    before = document(*NODES, *reads)
    diff = compare(before, document(*NODES))
    roles = roles_of_before(diff)
    codes = roles.codes.copy()
    codes[-3:] = list(roles.categories).index("optimizer")
    assert role_sentences(diff, replace(roles, codes=codes)) == ["3 of 5 optimizer nodes removed, all Identity"]
