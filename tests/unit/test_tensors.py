"""TensorProtos: values as TensorFlow reads them, and nothing allocated that a file only claims."""

from __future__ import annotations

import contextlib
import tracemalloc

import ml_dtypes
import numpy as np
import pytest
from google.protobuf.message import DecodeError
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from graphviewer import protos
from graphviewer.model import tensors
from graphviewer.model.making import const_node, make_tensor
from graphviewer.model.tensors import TensorError, describe_tensor, node_shape, numpy_dtype, tensor_value
from graphviewer.protos import DataType

HUGE = (1 << 16, 1 << 16)  # 16 GiB of float32


def proto(dtype: int, shape: tuple[int, ...] = (), **fields: object) -> object:
    found = protos.TensorProto(dtype=dtype, **fields)
    found.tensor_shape.SetInParent()
    for size in shape:
        found.tensor_shape.dim.add(size=size)
    return found


@pytest.mark.parametrize(
    ("dtype", "fields", "values"),
    [
        (DataType.FLOAT, {"float_val": [0.5, -1]}, [0.5, -1]),
        (DataType.DOUBLE, {"double_val": [0.1, 2]}, [0.1, 2]),
        (DataType.HALF, {"half_val": [0x3C00, 0xC000]}, [1, -2]),
        (DataType.BFLOAT16, {"half_val": [0x3F80, 0xC000]}, [1, -2]),
        (DataType.INT8, {"int_val": [-3, 4]}, [-3, 4]),
        (DataType.UINT8, {"int_val": [255, 256]}, [255, 0]),
        (DataType.QINT8, {"int_val": [-3, 4]}, [-3, 4]),
        (DataType.QUINT8, {"int_val": [3, 200]}, [3, 200]),
        (DataType.UINT16, {"int_val": [65535, 0]}, [65535, 0]),
        (DataType.INT64, {"int64_val": [-(1 << 62), 5]}, [-(1 << 62), 5]),
        (DataType.UINT64, {"uint64_val": [1 << 63, 5]}, [1 << 63, 5]),
        (DataType.UINT32, {"uint32_val": [1 << 31, 5]}, [1 << 31, 5]),
        (DataType.BOOL, {"bool_val": [True, False]}, [True, False]),
        (DataType.COMPLEX64, {"scomplex_val": [1, 2, 3, -4]}, [1 + 2j, 3 - 4j]),
        (DataType.COMPLEX128, {"dcomplex_val": [1, 2, 3, -4]}, [1 + 2j, 3 - 4j]),
        (DataType.STRING, {"string_val": [b"a\0", b""]}, [b"a\0", b""]),
        (24, {"float8_val": b"\x3c\xc0"}, [1, -2]),
        (DataType.FLOAT, {"tensor_content": b"\0\0\0\x3f\0\0\x80\xbf"}, [0.5, -1]),
        (DataType.STRING, {"tensor_content": b"\2\1ab\xff"}, [b"ab", b"\xff"]),
    ],
)
def test_that_listed_and_packed_values_are_read(dtype, fields, values):
    found = tensor_value(proto(dtype, (2,), **fields))
    assert found.dtype == numpy_dtype(dtype)
    assert found.tolist() == values


@pytest.mark.parametrize(
    ("listed", "values"),
    [([], [0, 0, 0]), ([7], [7, 7, 7]), ([1, 2], [1, 2, 2]), ([1, 2, 3, 4], [1, 2, 3])],
)
def test_that_the_last_value_fills_and_surplus_is_ignored_as_tensorflow_does(listed, values):
    assert tensor_value(proto(DataType.INT32, (3,), int_val=listed)).tolist() == values


def test_that_a_splat_of_16_gib_is_neither_allocated_to_read_nor_to_describe_nor_to_write():
    splat = proto(DataType.FLOAT, HUGE, float_val=[0.5])
    tracemalloc.start()
    values = tensor_value(splat)
    text = describe_tensor(splat)
    copy = make_tensor(values, DataType.FLOAT)
    cast = make_tensor(np.broadcast_to(0.5, HUGE), DataType.FLOAT)
    zeros = tensor_value(proto(DataType.FLOAT, HUGE))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1 << 20
    assert values.shape == HUGE
    assert values[-1, -1] == 0.5
    assert text == "float32 [65536, 65536]: 0.5 repeated"
    assert copy == cast == splat
    assert zeros[1, 1] == 0


def test_that_a_partly_listed_tensor_of_16_gib_is_refused():
    with pytest.raises(TensorError, match=r"2 values for 4,294,967,296 elements"):
        tensor_value(proto(DataType.FLOAT, HUGE, float_val=[0.5, 1]))


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (proto(DataType.FLOAT, (2, 3), tensor_content=b"12345"), r"has 5 bytes, but float32 \[2, 3\] needs 24"),
        (proto(DataType.STRING, (2,), tensor_content=b"\2\x7fab"), "do not fit"),
        (proto(DataType.STRING, (1 << 50,), tensor_content=b"\2\2abab"), "runs over its end|do not fit"),
        (proto(DataType.FLOAT, (-1,)), "no known shape"),
        (proto(DataType.FLOAT, (1 << 40, 1 << 40)), "too large"),
        (proto(DataType.FLOAT, (0, 1 << 62)), "too large"),
        (proto(DataType.FLOAT, (1,) * 200), "too large"),
        (proto(DataType.VARIANT), "variant holds no values"),
        (proto(DataType.RESOURCE), "resource holds no values"),
        (proto(99), "dtype 99 holds no values"),
    ],
)
def test_that_a_tensor_without_readable_values_says_why(bad, reason):
    with pytest.raises(TensorError, match=reason):
        tensor_value(bad)
    assert describe_tensor(bad)


def test_that_unknown_rank_has_no_values():
    unknown = protos.TensorProto(dtype=DataType.FLOAT)
    unknown.tensor_shape.unknown_rank = True
    assert describe_tensor(unknown) == "float32 of unknown rank: The tensor has no known shape."


@given(data=st.data())
def test_that_values_survive_being_written_and_read(data):
    dtype = data.draw(st.sampled_from([*range(1, 20), *range(22, 34)]))
    kind = numpy_dtype(dtype)
    if kind.hasobject:
        values = data.draw(arrays.arrays(object, arrays.array_shapes(min_dims=0), elements=st.binary(max_size=5)))
    else:
        shape = data.draw(arrays.array_shapes(min_dims=0, min_side=0))
        values = data.draw(arrays.arrays(np.int8, shape, elements=st.integers(0, 1))).astype(kind)
        assert make_tensor(values.tobytes(), dtype, shape) == make_tensor(values, dtype)
    found = tensor_value(make_tensor(values, dtype))
    assert found.dtype == kind
    assert np.array_equal(found, values)


@given(content=st.binary(max_size=80))
def test_that_any_message_is_described_or_refused(content):
    with contextlib.suppress(DecodeError):
        assert describe_tensor(protos.TensorProto.FromString(content))


def test_that_a_const_node_is_what_tensorflow_writes():
    node = const_node("w", DataType.INT32, values=np.arange(6).reshape(2, 3))
    assert (node.name, node.op, node.attr["dtype"].type) == ("w", "Const", DataType.INT32)
    assert node.attr["value"].tensor.tensor_content == np.arange(6, dtype="<i4").tobytes()
    assert node == const_node("w", DataType.INT32, shape=[2, 3], raw=np.arange(6, dtype="<i4").tobytes())
    scalar = const_node("s", DataType.FLOAT, values=np.array(2.5))
    assert list(scalar.attr["value"].tensor.float_val) == [2.5]
    assert scalar.attr["value"].tensor.HasField("tensor_shape")


@pytest.mark.parametrize(
    ("values", "shape"), [(b"12345678", [3]), (b"123", [1]), (np.zeros(3), [2]), (b"12345678", [-1, -2])]
)
def test_that_values_that_do_not_fit_their_shape_are_refused(values, shape):
    with pytest.raises(TensorError):
        make_tensor(values, DataType.FLOAT, shape)


@pytest.mark.parametrize(
    ("value", "shape"),
    [
        ({}, None),
        ({"type": DataType.FLOAT}, None),
        ({"shape": {"unknown_rank": True}}, None),
        ({"shape": {}}, []),
        ({"shape": {"dim": [{"size": -1}, {"size": 3}]}}, [-1, 3]),
    ],
)
def test_that_a_nodes_shape_attribute_is_read(value, shape):
    node = protos.NodeDef(name="x", op="Placeholder")
    if value:
        node.attr["shape"].CopyFrom(protos.AttrValue(**value))
    assert node_shape(node) == shape
    assert ("shape" in node.attr) == bool(value)


@pytest.mark.parametrize(
    ("values", "dtype", "text"),
    [
        (np.array(0.1, "f4"), DataType.FLOAT, "float32 []: 0.1"),
        (np.array([1, 2]), DataType.QINT8, "qint8 [2]: 1, 2"),
        (np.array([True, False]), DataType.BOOL, "bool [2]: True, False"),
        (np.array([1 + 2j]), DataType.COMPLEX64, "complex64 [1]: 1+2j"),
        (np.array([1.5, np.inf], ml_dtypes.bfloat16), DataType.BFLOAT16, "bfloat16 [2]: 1.5, inf"),
        (np.array([b"<b>\n\x1b[1m"], object), DataType.STRING, r"string [1]: '<b>\n\x1b[1m'"),
        (np.array([b"\xff"], object), DataType.STRING, r"string [1]: '\\xff'"),
        (np.zeros((0, 3)), DataType.FLOAT, "float32 [0, 3]: no values"),
        (np.arange(100), DataType.INT32, "int32 [100]: 0, 1, 2, 3, 4, 5, 6, 7, … (100 values from 0 to 99)"),
        (
            np.array([np.nan] + [0.5] * 9, ml_dtypes.bfloat16),
            DataType.BFLOAT16,
            "bfloat16 [10]: nan, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, … (10 values from 0.5 to 0.5, 1 not finite)",
        ),
    ],
)
def test_that_a_description_is_one_short_line(values, dtype, text):
    assert describe_tensor(make_tensor(values, dtype)) == text


def test_that_a_long_string_is_shortened():
    text = describe_tensor(make_tensor(np.array(b"x" * 10_000_000, object), DataType.STRING))
    assert len(text) < 2 * tensors._SHOWN_TEXT
