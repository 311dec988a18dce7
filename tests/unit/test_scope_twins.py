"""Scopes are linked by the nodes inside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from graphviewer import protos
from graphviewer.analysis.scope_twins import scope_twins
from graphviewer.model.document import Document


def _twins(before: Sequence[str], after: Sequence[str], pairs: Mapping[str, str]) -> dict[str, str]:
    """Paths of the scopes before that have a twin, and of their twins."""
    scopes = []
    for names in (before, after):
        graph_def = protos.GraphDef()
        for name in names:
            graph_def.node.add(name=name, op="NoOp")
        scopes.append(Document("graphdef", graph_def).scopes)
    match = np.array([after.index(pairs[name]) if name in pairs else -1 for name in before], np.int32)
    found = scope_twins(scopes[0], scopes[1], match)
    back = {scopes[1].path(item): scopes[0].path(int(twin)) for item, twin in enumerate(found.after) if twin >= 0}
    there = {scopes[0].path(item): scopes[1].path(int(twin)) for item, twin in enumerate(found.before) if twin >= 0}
    assert all(back.get(after_path) is not None for after_path in there.values())
    return {
        path: there[path]
        for item, path in enumerate(map(scopes[0].path, range(len(scopes[0]))))
        if scopes[0].is_scope[item] and path in there
    }


def test_that_a_prefix_has_no_twin_and_all_inside_it_has() -> None:
    names = ["net/a/w", "net/a/b", "net/c/d"]
    prefixed = [f"import/{name}" for name in names]
    assert _twins(prefixed, names, dict(zip(prefixed, names, strict=True))) == {
        "import/net": "net",
        "import/net/a": "net/a",
        "import/net/c": "net/c",
    }


def test_that_most_nodes_decide_where_a_scope_was_split() -> None:
    before = ["a/1", "a/2", "a/3"]
    after = ["b/1", "c/2", "c/3"]
    assert _twins(before, after, dict(zip(before, after, strict=True))) == {"a": "c"}


def test_that_the_same_path_decides_between_equal_votes() -> None:
    before, after = ["a/1", "a/2"], ["z/1", "a/2"]
    assert _twins(before, after, dict(zip(before, after, strict=True)))["a"] == "a"


def test_that_scopes_without_linked_nodes_have_the_one_of_the_same_path() -> None:
    assert _twins(["gone/1"], ["gone/2"], {}) == {"gone": "gone"}
    assert _twins(["gone/1"], ["new/2"], {}) == {}


def test_that_a_path_whose_scope_has_another_twin_is_not_taken_by_a_scope_that_went_away() -> None:
    before, after = ["import/net/1", "net/lost"], ["net/1"]
    assert _twins(before, after, {"import/net/1": "net/1"}) == {"import/net": "net"}


def test_that_swapped_scopes_are_linked_crosswise() -> None:
    before, after = ["a/1", "b/2"], ["b/1", "a/2"]
    assert _twins(before, after, {"a/1": "b/1", "b/2": "a/2"}) == {"a": "b", "b": "a"}
