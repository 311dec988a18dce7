"""Constants in a comparison: equal by meaning, told in digests and statistics."""

from __future__ import annotations

import json
import os

import numpy as np
import pytest
from diff_graphs import document, dtype, node

from graphviewer import protos
from graphviewer.analysis.diff import compare
from graphviewer.analysis.diff.values import distance, told
from graphviewer.model.document import Document, Payload, Payloads
from graphviewer.model.making import make_tensor
from graphviewer.protos import DataType


def constant(proto):
    return document(node("c", "Const", dtype=dtype(proto.dtype), value=protos.AttrValue(tensor=proto)))


def listed(shape, *values):
    proto = protos.TensorProto(dtype=DataType.FLOAT, float_val=values)
    for size in shape:
        proto.tensor_shape.dim.add(size=size)
    proto.tensor_shape.SetInParent()
    return proto


def test_that_the_encoding_of_a_tensor_does_not_count():
    raw = make_tensor(np.full((2, 3), 0.5, np.float32).copy(), DataType.FLOAT)
    assert raw.tensor_content
    assert compare(constant(raw), constant(listed([2, 3], 0.5))).same
    assert compare(constant(raw), constant(listed([2, 3], *[0.5] * 6))).same
    assert not compare(constant(raw), constant(listed([3, 2], 0.5))).same
    assert compare(constant(listed([2], np.nan)), constant(listed([2], np.nan, np.nan))).same


def test_that_a_changed_value_is_told_in_digests_and_statistics_only():
    old, new = np.arange(10_000, dtype=np.float32), np.arange(10_000, dtype=np.float32)
    new[7] += 2
    (change,) = compare(*(constant(make_tensor(v, DataType.FLOAT)) for v in (old, new))).changes
    left, right = change.details["value"]
    assert left["digest"] != right["digest"]
    assert (left["min"], left["max"], left["elements"]) == (0.0, 9999.0, 10_000)
    assert change.details["difference"] == {"elements": 10_000, "differing": 1, "max_abs": 2.0}
    assert "1 of 10,000" in change.reason
    assert len(json.dumps(change.to_json())) < 2000


def test_that_a_repeated_value_of_16_gib_is_compared_without_allocating_it():
    big = [2**16, 2**16]
    assert compare(constant(listed(big, 0.5)), constant(listed(big, 0.5, 0.5))).changes[0].status == "changed"
    (change,) = compare(constant(listed(big, 0.5)), constant(listed(big, 0.25))).changes
    assert change.details["difference"] == {"elements": 2**32, "differing": 2**32, "max_abs": 0.25}


def test_that_equal_values_have_one_digest_however_they_are_encoded():
    raw = make_tensor(np.full(4, 0.5, np.float32).copy(), DataType.FLOAT)
    other = listed([4], 0.25)
    (one,) = compare(constant(raw), constant(other)).changes
    (two,) = compare(constant(listed([4], 0.5)), constant(other)).changes
    assert one.details["value"][0]["digest"] == two.details["value"][0]["digest"]


@pytest.mark.parametrize(
    "values",
    [
        (np.array([b"a", b"b"], object), np.array([b"a", b"c"], object), DataType.STRING),
        (np.array([True, False]), np.array([True, True]), DataType.BOOL),
        (np.array([1 + 2j, 0]), np.array([1, 0]), DataType.COMPLEX128),
        (np.array([1, 2]), np.array([1, 3]), DataType.BFLOAT16),
        (np.array([np.inf, 1.0]), np.array([np.nan, 1.0]), DataType.DOUBLE),
        (np.array([0.0, 1.0]), np.array([-0.0, 1.0]), DataType.DOUBLE),
    ],
)
def test_that_values_of_every_dtype_are_told_apart(values):
    old, new, number = values
    (change,) = compare(constant(make_tensor(old, number)), constant(make_tensor(new, number))).changes
    assert change.details["difference"]["differing"] == 1
    json.dumps(change.to_json(), allow_nan=False)


def test_that_a_damaged_tensor_is_changed_and_says_what_is_wrong():
    broken = protos.TensorProto(dtype=DataType.FLOAT, tensor_content=b"abc")
    (change,) = compare(constant(broken), constant(listed([], 1.0))).changes
    assert "3 bytes" in change.details["value"][0]["problem"]


def test_that_content_left_in_files_is_compared(tmp_path):
    def left_in_file(name, content):
        file = tmp_path / name
        file.write_bytes(content)
        status = os.stat(file)
        payloads = Payloads(file, status.st_size, status.st_mtime_ns, {0: Payload(0, len(content))})
        proto = protos.TensorProto(dtype=DataType.FLOAT)
        proto.tensor_shape.dim.add(size=len(content) // 4)
        bare = constant(proto)
        return Document("graphdef", bare.graph_def, title=name, payloads=payloads)

    values = np.arange(8, dtype=np.float32)
    one, same = left_in_file("one", values.tobytes()), left_in_file("same", values.tobytes())
    assert compare(one, same).same
    assert compare(one, constant(make_tensor(values, DataType.FLOAT))).same
    (change,) = compare(one, left_in_file("other", (values + 1).tobytes())).changes
    assert change.details["difference"]["max_abs"] == 1.0


@pytest.mark.parametrize(
    ("after", "text"),
    [
        ([1, np.nan, 3], "1 of 3 elements: a NaN on one side"),
        ([np.nan] * 3, "all elements: a NaN on one side"),
        ([1, np.inf, 3], "1 of 3 elements: an infinite difference"),
        ([1, np.nan, 5], "2 of 3 elements, by up to 2: 1 with a NaN on one side"),
        ([1, 2, 3.5], "1 of 3 elements, by up to 0.5"),
    ],
)
def test_that_a_difference_that_no_number_tells_is_told_in_words(after, text):
    assert told(distance(np.array([1, 2, 3], np.float32), np.array(after, np.float32))) == text
