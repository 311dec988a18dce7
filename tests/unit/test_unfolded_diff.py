"""What differs inside functions is told where they are opened."""

from __future__ import annotations

import pytest

from graphviewer import protos
from graphviewer.analysis.diff import compare
from graphviewer.analysis.merge import Merged, merge
from graphviewer.analysis.merged_functions import unfolded_edges, unfolded_overlay
from graphviewer.analysis.merged_order import in_place
from graphviewer.analysis.unfolded_diff import UnfoldedDiff, unfold_diff
from graphviewer.model.document import Document
from graphviewer.model.overlay import EDGE_STATUSES, Overlay
from tests.comparison_graphs import NEW_BODY, OLD_BODY, calling


def _document(graph_def: protos.GraphDef) -> Document:
    return Document("graphdef", graph_def)


def _statuses(document: Document, overlay: Overlay) -> dict[str, str | None]:
    return {name: overlay.category(node) for node, name in enumerate(document.unfolded.graph.names)}


@pytest.fixture(params=["f_1", "f_2"])
def found(request: pytest.FixtureRequest) -> UnfoldedDiff:
    """One node of a function's body replaced by one of another name; the function renumbered, or not."""
    return unfold_diff(compare(_document(calling(OLD_BODY)), _document(calling(NEW_BODY, "", request.param))))


def test_that_each_node_of_an_opened_function_has_a_status_of_its_own(found: UnfoldedDiff) -> None:
    before = _statuses(found.diff.before, found.overlays[0])
    after = _statuses(found.diff.after, found.overlays[1])
    assert before["net/call/half"] == after["net/call/half"] == "unchanged"
    assert before["net/call/lost"] == "removed" and after["net/call/new"] == "added"
    assert after["net/call/last"] == "rewired"
    assert after["net/after"] == "unchanged"


def test_that_nodes_of_functions_are_linked_by_number(found: UnfoldedDiff) -> None:
    names = found.diff.before.unfolded.graph.names, found.diff.after.unfolded.graph.names
    pairs = {names[0][node]: names[1][twin] for node, twin in enumerate(found.match.tolist()) if twin >= 0}
    assert pairs["net/call/half"] == "net/call/half" and pairs["net/call/last"] == "net/call/last"
    assert "net/call/lost" not in pairs
    assert all(found.origin[twin] == node for node, twin in enumerate(found.match.tolist()) if twin >= 0)


def test_that_changes_inside_functions_are_listed_with_full_names(found: UnfoldedDiff) -> None:
    inside = {change.name: change for change in found.changes if "function" in change.details}
    assert set(inside) == {"net/call/lost", "net/call/new", "net/call/last"}
    function = found.diff.after.graph_def.library.function[0].signature.name
    assert {change.details["function"] for change in inside.values()} == {function}
    after = found.diff.after.unfolded.graph.index
    assert inside["net/call/new"].after_node == after["net/call/new"]
    assert found.change(1, after["net/call/new"]).status == "added"
    assert found.change(1, after["net/call/half"]) is None


def test_that_the_body_of_a_call_that_went_away_went_away() -> None:
    after = calling(NEW_BODY)
    after.node[2].input[0] = "x"
    del after.node[1]
    found = unfold_diff(compare(_document(calling(OLD_BODY)), _document(after)))
    statuses = _statuses(found.diff.before, found.overlays[0])
    assert {status for name, status in statuses.items() if name.startswith("net/call")} == {"removed"}
    node = found.diff.before.unfolded.graph.index["net/call/half"]
    assert found.overlays[0].reasons[node].startswith("inside net/call: ")
    assert found.change(0, node) is None


def test_that_equal_functions_are_unchanged_under_another_name_and_prefix() -> None:
    before, after = _document(calling(OLD_BODY)), _document(calling(OLD_BODY, "import/", "f_9"))
    found = unfold_diff(compare(before, after))
    names = before.unfolded.graph.names, after.unfolded.graph.names
    pairs = {names[0][node]: names[1][twin] for node, twin in enumerate(found.match.tolist())}
    assert pairs == {name: f"import/{name}" for name in names[0]}
    assert _statuses(after, found.overlays[1])["import/net/call/last"] == "unchanged"


def _merged(before: protos.GraphDef, after: protos.GraphDef) -> Merged:
    documents = _document(before), _document(after)
    return in_place(merge(*documents, compare(*documents)))


def test_that_a_merged_graph_shows_the_nodes_of_both_bodies() -> None:
    merged = _merged(calling(OLD_BODY), calling(NEW_BODY))
    overlay = unfolded_overlay(merged)
    statuses = _statuses(merged.document, overlay)
    assert statuses["net/call/lost"] == "removed"
    assert statuses["net/call/new"] == "added"
    assert statuses["net/call/half"] == "unchanged"
    assert statuses["net/call/last"] == "rewired"


def test_that_the_edges_inside_a_merged_function_say_what_became_of_them() -> None:
    merged = _merged(calling(OLD_BODY), calling(NEW_BODY))
    graph = merged.document.unfolded.graph
    codes = unfolded_edges(merged, unfolded_overlay(merged))
    assert len(codes) == len(graph.src)
    ends = zip(graph.src.tolist(), graph.dst.tolist(), codes.tolist(), strict=True)
    inside = {
        (graph.names[src].rpartition("/")[2], graph.names[dst].rpartition("/")[2]): EDGE_STATUSES[code]
        for src, dst, code in ends
        if graph.names[dst].startswith("net/call/")
    }
    assert inside == {
        ("call", "x"): "kept",
        ("x", "half"): "kept",
        ("half", "lost"): "removed",
        ("lost", "last"): "removed",
        ("half", "new"): "added",
        ("new", "last"): "added",
        ("last", "out"): "kept",
    }


def _with_ends(arguments: str, results: dict[str, str]) -> protos.GraphDef:
    """A call of a function with these arguments and, by name, results."""
    made = calling(OLD_BODY)
    function = made.library.function[0]
    while len(function.signature.input_arg) < len(arguments):
        function.signature.input_arg.add()
    for argument, name in zip(function.signature.input_arg, arguments, strict=True):
        argument.name, argument.type = name, protos.DataType.FLOAT
    del function.signature.output_arg[:]
    function.ret.clear()
    for name, source in results.items():
        function.signature.output_arg.add(name=name, type=protos.DataType.FLOAT)
        function.ret[name] = source
    return made


def test_that_results_and_arguments_that_only_the_first_graph_has_are_in_the_merged_body() -> None:
    before = _with_ends("xy", {"out": "last:activations:0", "spare": "half:y:0"})
    after = _with_ends("x", {"out": "last:activations:0"})
    merged = _merged(before, after)
    overlay, graph = unfolded_overlay(merged), merged.document.unfolded.graph
    assert len(overlay.codes) == len(overlay.reasons) == len(graph)
    statuses = {name: status for name, status in _statuses(merged.document, overlay).items() if "net/call/" in name}
    assert statuses.pop("net/call/spare") == "removed" and statuses.pop("net/call/y") == "removed"
    assert set(statuses.values()) == {"unchanged"}
    codes = unfolded_edges(merged, overlay)
    ends = zip(graph.src.tolist(), graph.dst.tolist(), codes.tolist(), strict=True)
    lost = {(graph.names[a], graph.names[b]) for a, b, code in ends if EDGE_STATUSES[code] == "removed"}
    assert {("net/call/half", "net/call/spare"), ("net/call", "net/call/y")} <= lost


def test_that_a_result_that_reads_another_node_has_a_new_edge() -> None:
    merged = _merged(_with_ends("x", {"out": "last:activations:0"}), _with_ends("x", {"out": "half:y:0"}))
    graph, codes = merged.document.unfolded.graph, unfolded_edges(merged, unfolded_overlay(merged))
    ends = zip(graph.src.tolist(), graph.dst.tolist(), codes.tolist(), strict=True)
    found = {graph.names[a]: EDGE_STATUSES[code] for a, b, code in ends if graph.names[b] == "net/call/out"}
    assert found == {"net/call/half": "added"}


def test_that_a_removed_node_whose_name_is_another_node_after_gets_one_of_its_own() -> None:
    old = (("a", "Relu", ["x"]), ("b", "Abs", ["a:activations:0"]))
    new = (("b", "Relu", ["x"]), ("c", "Exp", ["b:activations:0"]))
    merged = _merged(calling(old), calling(new))
    names = merged.document.unfolded.graph.names
    assert len(set(names)) == len(names)


def test_that_a_function_of_one_side_is_added_or_removed_where_it_is_shown() -> None:
    before, after = calling(OLD_BODY), calling(OLD_BODY)
    uncalled = calling((("lonely", "Tanh", ["x"]),), "", "g").library.function[0]
    before.library.function.append(uncalled)
    found = unfold_diff(compare(_document(before), _document(after)))
    statuses = _statuses(found.diff.before, found.overlays[0])
    assert statuses["Function library/g/lonely"] == "removed"
    merged = _merged(before, after)
    assert _statuses(merged.document, unfolded_overlay(merged))["Function library/g/lonely"] == "removed"
