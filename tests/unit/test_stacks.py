"""Repeated sibling scopes drawn as one."""

import numpy as np
import pytest

from graphviewer import protos
from graphviewer.layout.nested import NestedLayout
from graphviewer.layout.stacks import stacked
from graphviewer.layout.style import Style
from graphviewer.model.graph import Graph
from graphviewer.model.scopes import build_scopes


def graph_of(nodes):
    """A graph of name: inputs; a node's op is the last part of its name."""
    made = [protos.NodeDef(name=name, op=name.rpartition("/")[2], input=inputs) for name, inputs in nodes.items()]
    return Graph.from_nodes(made)


BETWEEN = {"net/x": ["net/unit1/relu"], "net/y": ["net/x"]}


def chain(numbers, *, stem="net/unit", extra=()):
    """Units of four ops, each fed by the one before."""
    nodes, feed = {"image": []}, "image"
    for number in numbers:
        unit = f"{stem}{number}"
        nodes[f"{unit}/conv"] = [feed]
        nodes[f"{unit}/bias"] = [f"{unit}/conv"]
        nodes[f"{unit}/norm"] = [f"{unit}/bias"]
        nodes[f"{unit}/relu"] = [f"{unit}/norm"]
        feed = f"{unit}/relu"
    return build_scopes(graph_of(nodes | dict(extra)))


def test_that_equal_units_in_a_chain_are_one_stack():
    scopes = stacked(chain(range(1, 6)))
    stack = scopes.by_path["net/unit1…5 ×5"]
    assert [scopes.path(item) for item in scopes.children(stack)] == [f"net/unit{number}" for number in range(1, 6)]
    assert scopes.size[stack] == 20
    drawing = NestedLayout(scopes).draw({scopes.by_path["net"]})
    assert stack in drawing.item and scopes.by_path["net/unit1"] not in drawing.item


def test_that_members_are_in_order_of_their_numbers():
    scopes = stacked(build_scopes(graph_of({f"rep{number}/{name}": [] for number in (10, 9, 11) for name in "abcd"})))
    assert "rep9…11 ×3" in scopes.by_path


@pytest.mark.parametrize(
    ("why", "scopes"),
    [
        ("too few", chain([1, 2])),
        ("other edges inside", chain([1, 2, 3], extra={"net/unit3/relu": ["image"]}.items())),
        ("more inside", chain([1, 2, 3], extra={"net/unit2/more": []}.items())),
        ("one skips another", chain([1, 2, 3], extra={"net/unit3/conv": ["net/unit2/relu", "net/unit1/relu"]}.items())),
        ("something lies between", chain([1, 2, 3], extra={**BETWEEN, "net/unit2/conv": ["net/y"]}.items())),
    ],
)
def test_that_what_differs_or_would_close_a_circle_is_not_stacked(why, scopes):
    assert stacked(scopes) is scopes, why


def test_that_scopes_that_nothing_connects_are_stacked():
    scopes = stacked(build_scopes(graph_of({f"rep_{number}/{name}": [] for number in range(4) for name in "abcd"})))
    assert "rep_0…3 ×4" in scopes.by_path


def test_that_a_stack_changes_no_number_and_no_path_of_what_was_there():
    plain = chain(range(1, 6))
    scopes = stacked(plain)
    assert [scopes.path(item) for item in range(len(plain))] == [plain.path(item) for item in range(len(plain))]
    assert np.array_equal(scopes.leaf, plain.leaf)
    unit = scopes.by_path["net/unit3"]
    assert [scopes.path(item) for item in scopes.ancestors(unit)] == ["net/unit1…5 ×5", "net", ""]


def test_that_stacks_lie_inside_stacks():
    units = {
        f"block{block}/unit{unit}/{name}": []
        for block in range(3)
        for unit in range(3)
        for name in ("conv", "bias", "norm", "relu")
    }
    scopes = stacked(build_scopes(graph_of(units)))
    inner = scopes.by_path["block1/unit0…2 ×3"]
    assert [scopes.path(item) for item in scopes.ancestors(inner)] == ["block1", "block0…2 ×3", ""]
    drawing = NestedLayout(scopes).draw(range(len(scopes)))
    assert set(drawing.item.tolist()) == set(range(1, len(scopes)))


def test_that_a_style_keeps_its_layout_and_a_direction_turns_it():
    scopes = chain(range(1, 6))
    layout = NestedLayout(scopes)
    assert layout.styled(Style(stacked=True)) is layout.styled(Style(stacked=True))
    everything = range(len(scopes))
    down, right = (layout.styled(Style(way)).draw(everything) for way in ("down", "right"))
    assert down.height > down.width and right.width > right.height
    assert np.array_equal(down.item, right.item)
