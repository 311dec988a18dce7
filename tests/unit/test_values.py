"""What is said of a tensor's values."""

from __future__ import annotations

import json

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis.extra import numpy as arrays

from graphviewer.analysis.values import BINS, describe_values


def test_that_odd_values_are_counted_and_left_out():
    found = describe_values(np.array([1, 3, np.nan, np.inf, 0], np.float32))
    assert (found.count, found.odd, found.least, found.most, found.zeros) == (5, 2, 0.0, 3.0, 1)
    assert found.mean == pytest.approx(4 / 3)
    assert sum(found.bars) == 3


def test_that_few_whole_numbers_get_a_bar_each():
    assert describe_values(np.array([[0, 1], [1, 3]], np.int64)).bars == (1, 2, 0, 1)
    assert describe_values(np.array([True, False, True])).bars == (1, 2)
    assert describe_values(np.full(7, 2.5)).bars == (7,)
    assert len(describe_values(np.linspace(0, 1, 500)).bars) == BINS


def test_that_texts_and_nothing_have_no_numbers():
    texts = describe_values(np.array([b"caf\xc3\xa9", b"\xff" * 200], object))
    assert (texts.count, texts.least, texts.bars) == (2, None, ())
    assert texts.sample.startswith("'café', ")
    assert len(texts.sample) < 400
    assert describe_values(np.zeros((0, 3))).count == 0


@given(
    arrays.arrays(
        arrays.scalar_dtypes().filter(lambda dtype: dtype.kind in "fiucb"),
        arrays.array_shapes(min_dims=0, max_dims=2, max_side=6),
    )
)
def test_that_any_numbers_can_be_described_in_json(values):
    found = describe_values(values)
    json.dumps(found.to_json(), allow_nan=False)
    assert sum(found.bars) == found.count - found.odd


def test_that_bfloat16_is_described():
    found = describe_values(np.array([1, 2, 4], ml_dtypes.bfloat16))
    assert (found.least, found.most, found.sample) == (1.0, 4.0, "1, 2, 4")
