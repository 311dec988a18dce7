"""How far two values are apart, and whether their being the same proves anything."""

from __future__ import annotations

import numpy as np
import pytest

from graphviewer.runtime.compare import difference, doubt_of


def test_that_shape_and_range_of_a_value_are_told():
    found = difference("y", np.array([[1.0, -2.0, np.inf]]), np.array([[1.0, -2.0, np.inf]])).to_json()
    assert (found["shape"], found["elements"], found["min"], found["max"]) == ([1, 3], 3, -2.0, 1.0)
    assert found["doubt"] == ""


@pytest.mark.parametrize(
    ("value", "doubt"),
    [
        (np.zeros([0, 4], np.float32), "has 0 elements (its shape is [0, 4])"),
        (np.full([2, 3], 0.5, np.float32), "is constant: 0.5 in all 6 elements"),
        (np.full([4], np.nan), "is constant: NaN in all 4 elements"),
        (np.array([True, True]), "is constant: True in all 2 elements"),
        (np.full([2], 1 << 40), f"is constant: {1 << 40} in all 2 elements"),
        (np.array([0.5, 0.25]), ""),
        (np.array(0.5), ""),
        (np.array([b"a", b"a"], object), ""),
    ],
)
def test_that_equal_values_that_say_little_are_doubted(value, doubt):
    assert difference("y", value, value.copy()).doubt == doubt


def test_that_a_difference_is_not_doubted():
    assert difference("y", np.zeros(3), np.ones(3)).doubt == ""


def test_that_one_telling_output_among_several_is_proof():
    dull, telling = (difference(name, value, value) for name, value in (("a", np.zeros(2)), ("b", np.arange(3.0))))
    assert doubt_of([dull, telling]) == ""
    assert doubt_of([dull]) == "'a' is constant: 0 in all 2 elements"
    assert doubt_of([dull, dull]).endswith(", and the other 1 are no better")
    assert doubt_of([]) == ""


def test_that_a_value_that_only_one_graph_has_is_a_difference():
    found = difference("y", None, np.zeros(2))
    assert (found.same, found.reason) == (False, "has no value before: its branch of a conditional is not taken")
    assert "has no value after" in difference("y", np.zeros(2), None).reason
