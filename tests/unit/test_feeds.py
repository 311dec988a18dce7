"""Values for what a graph is fed, without TensorFlow."""

from __future__ import annotations

import os
import zipfile

import numpy as np
import pytest

from graphviewer import protos
from graphviewer.model.document import Document
from graphviewer.model.names import Endpoint
from graphviewer.model.tensors import numpy_dtype
from graphviewer.protos import DataType
from graphviewer.runtime.feeds import (
    FeedError,
    Wanted,
    batch_size,
    guesses,
    has_any_rank,
    make,
    make_all,
    narrowed,
    read,
    wanted,
)

FLOAT = DataType.FLOAT


@pytest.mark.parametrize("dtype", [*range(1, 20), 22, 23, 24, 25])
def test_that_every_dtype_with_values_gets_a_value_of_its_kind(dtype):
    value = make(Wanted("x", dtype, [-1, 3]))
    assert (value.shape, value.dtype) == ((2, 3), numpy_dtype(dtype))
    if value.dtype.kind in "iu" and dtype != DataType.UINT8:
        assert set(value.ravel().tolist()) <= {0, 1}
    if dtype == DataType.STRING:
        assert set(value.ravel().tolist()) == {b"a"}


@pytest.mark.parametrize(
    ("name", "dtype", "value"),
    [
        ("net/is_training", DataType.BOOL, False),
        ("phase_train:0", DataType.BOOL, False),
        ("keep_prob", FLOAT, 1.0),
        ("dropout_rate", FLOAT, 0.0),
    ],
)
def test_that_switches_told_by_name_get_what_they_have_in_inference(name, dtype, value):
    assert make(Wanted(name, dtype, [])).item() == value
    assert make(Wanted(name, dtype, None)).item() == value


def test_that_serialized_examples_are_empty_ones():
    assert make(Wanted("tf_example", DataType.STRING, None)).tolist() == [b"", b""]


def test_that_images_of_any_size_are_large_enough_for_convolutions():
    assert make(Wanted("x", FLOAT, [-1, -1, -1, 3])).shape == (2, 64, 64, 3)


def test_that_values_depend_on_the_name_and_the_seed_alone():
    value = make(Wanted("x", FLOAT, [4]))
    assert np.array_equal(value, make(Wanted("x", FLOAT, [4])))
    assert not np.array_equal(value, make(Wanted("y", FLOAT, [4])))
    assert not np.array_equal(value, make(Wanted("x", FLOAT, [4]), seed=1))


@pytest.mark.parametrize(
    ("want", "reason"),
    [
        (Wanted("x", FLOAT, None), "shape of 'x' is not known"),
        (Wanted("x", FLOAT, [1 << 40, 1 << 40]), "too large"),
        (Wanted("x", DataType.RESOURCE, []), "No value can be made"),
        (Wanted("x", 0, []), "dtype unknown"),
    ],
)
def test_that_what_cannot_be_made_up_is_asked_for(want, reason):
    with pytest.raises(FeedError, match=reason):
        make(want)


def test_that_all_tensors_that_no_value_can_be_made_for_are_named_at_once():
    wants = [Wanted("a", FLOAT, None), Wanted("b", FLOAT, [2]), Wanted("c", DataType.RESOURCE, [])]
    with pytest.raises(FeedError, match="for 2 tensors: 'a' .float32 of unknown rank.") as caught:
        make_all(wants, 0, 2)
    assert caught.value.needs == ("a",)
    assert "a short list" in caught.value.hint
    assert "computed from it" in caught.value.hint
    assert "--feed" not in caught.value.hint


def test_that_only_what_has_a_dtype_and_no_usual_value_is_given_guessed_shapes():
    assert has_any_rank(Wanted("x", FLOAT, None))
    for want in (
        Wanted("x", FLOAT, []),
        Wanted("keep_prob", FLOAT, None),
        Wanted("x", 0, None),
        Wanted("x", DataType.RESOURCE, None),
    ):
        assert not has_any_rank(want)
    assert [len(shape) for shape in guesses(3)] == [0, 1, 2, 4]


@pytest.mark.parametrize(
    ("given", "shape", "value"),
    [
        ("0.7,0.7,0.8", [3], [0.7, 0.7, 0.8]),
        ("0.7, 0.7, 0.8", [-1, 3], [[0.7, 0.7, 0.8]]),
        ("7,", [1], [7.0]),
        ("1,true", None, [1.0, 1.0]),
    ],
)
def test_that_a_short_list_is_a_row_of_numbers(given, shape, value):
    np.testing.assert_array_equal(read(given, Wanted("t", FLOAT, shape)), np.array(value, np.float32), strict=True)


@pytest.mark.parametrize(
    ("given", "reason"),
    [("0.7,0.7", r"'0.7,0.7' has the shape \[2\]"), ("1,,2", "no file"), ("1,x", "no file"), (",", "no file")],
)
def test_that_a_list_that_does_not_fit_is_refused(given, reason):
    with pytest.raises(FeedError, match=reason):
        read(given, Wanted("t", FLOAT, [3]))


def test_that_tensors_fed_together_share_the_batch_size_that_one_of_them_has():
    assert batch_size([[32, 8], [-1], None, []]) == 32
    assert batch_size([[32, 8], [16]]) == 2
    assert batch_size([[1 << 40], [-1]]) == 2
    assert make(Wanted("x", FLOAT, [-1, -1]), batch=5).shape == (5, 2)


def test_that_unknown_sizes_are_taken_from_the_other_graph():
    assert narrowed([-1, 3], [4, 5]) == [4, 3]
    assert narrowed(None, [4, -1]) == [4, -1]
    assert narrowed([-1], [2, 2]) == [-1]


def test_that_arrays_are_read_cast_and_given_a_batch(tmp_path):
    np.save(tmp_path / "x.npy", np.arange(3))
    np.savez(tmp_path / "two.npz", a=np.ones([2, 3]), b=np.zeros([1, 3]))
    want = Wanted("x", FLOAT, [-1, 3])

    value = read(str(tmp_path / "x.npy"), want)

    assert (value.dtype, value.tolist()) == (np.float32, [[0, 1, 2]])
    assert read(f"{tmp_path / 'two.npz'}:b", want).shape == (1, 3)
    with pytest.raises(FeedError, match="2 arrays") as error:
        read(str(tmp_path / "two.npz"), want)
    assert "a, b" in error.value.hint


def test_that_numbers_and_words_are_values_too():
    assert read("0.5", Wanted("x", FLOAT, [])).item() == 0.5
    assert read("true", Wanted("x", DataType.BOOL, [])).item() is True
    assert read("7", Wanted("x", DataType.INT64, [-1, 2])).tolist() == [[7, 7]]


def test_that_any_file_gives_its_bytes_to_a_string(tmp_path):
    (tmp_path / "example.bin").write_bytes(b"\x00bytes")
    assert read(str(tmp_path / "example.bin"), Wanted("x", DataType.STRING, [-1])).tolist() == [b"\x00bytes"]


@pytest.mark.parametrize("content", [b"", b"no array", b"\x93NUMPY\x01\x00"])
def test_that_a_file_that_is_no_array_is_said_to_be_none(content, tmp_path):
    (tmp_path / "x.npy").write_bytes(content)
    with pytest.raises(FeedError, match=r"x\.npy is no array"):
        read(str(tmp_path / "x.npy"), Wanted("x", FLOAT, [2]))


def test_that_pickled_objects_are_never_loaded(tmp_path):
    np.save(tmp_path / "x.npy", np.array([{"a": 1}], object), allow_pickle=True)
    with pytest.raises(FeedError, match="no array that can be read"):
        read(str(tmp_path / "x.npy"), Wanted("x", FLOAT, [1]))


def test_that_what_does_not_fit_is_refused_with_both_sides(tmp_path):
    np.save(tmp_path / "x.npy", np.ones([4, 5]))
    np.save(tmp_path / "text.npy", np.array(["a"]))
    (tmp_path / "x.txt").write_text("1 2 3")
    for given, want, reason in (
        ("x.npy", Wanted("x", FLOAT, [-1, 3]), r"\[4, 5\], but 'x' takes \[\?, 3\]"),
        ("text.npy", Wanted("x", FLOAT, [1]), "<U1 values, but 'x' takes float32"),
        ("x.npy", Wanted("x", DataType.STRING, None), "takes strings"),
        ("x.txt", Wanted("x", FLOAT, [3]), "no array and no image"),
        ("absent.npy", Wanted("x", FLOAT, [3]), "no file"),
    ):
        with pytest.raises(FeedError, match=reason):
            read(str(tmp_path / given), want)


@pytest.mark.parametrize(
    ("values", "dtype", "told"),
    [
        ([1.5, 2], DataType.INT32, "'x' (int32) cannot take 1.5, which x.npy holds."),
        ([np.nan, 2], DataType.INT64, "cannot take nan"),
        ([2**40, 1], DataType.INT32, "cannot take 1099511627776"),
        ([-1, 1], DataType.UINT32, "cannot take -1"),
        (np.array([2**63, 1], np.uint64), DataType.INT64, "cannot take 9223372036854775808"),
        ([300, 1], DataType.UINT8, "cannot take 300"),
        ([0, 2], DataType.BOOL, "'x' (bool) cannot take 2"),
        ([1e300, 1], FLOAT, "'x' (float32) cannot take 1e+300"),
        ([1 + 1j, 1], FLOAT, "holds complex128 values, but 'x' takes float32"),
        (np.array(["2020", "2021"], "M8[Y]"), FLOAT, r"datetime64[Y] values, but 'x' takes float32"),
        (np.zeros(2, [("a", "f4")]), FLOAT, "values, but 'x' takes float32"),
    ],
)
def test_that_values_are_never_bent_to_fit(values, dtype, told, tmp_path):
    np.save(tmp_path / "x.npy", np.array(values))

    with pytest.raises(FeedError) as error:
        read(str(tmp_path / "x.npy"), Wanted("x", dtype, [2]))
    assert told in error.value.message


@pytest.mark.parametrize(
    ("values", "dtype"),
    [
        (np.array([1.0, 2.0]), DataType.INT32),
        (np.array([True, False]), DataType.INT64),
        (np.array([1, 0]), DataType.BOOL),
        (np.array([np.inf, np.nan]), FLOAT),
        (np.array([0.1, 1 / 3]), FLOAT),
        (np.array([1, 2], numpy_dtype(DataType.BFLOAT16)), DataType.BFLOAT16),
        (np.array([1, 2], np.float32), DataType.BFLOAT16),
        (np.array([1, 2], np.uint64), DataType.INT8),
        (np.array([1, 2]), DataType.COMPLEX64),
    ],
)
def test_that_values_that_a_dtype_can_hold_are_cast(values, dtype, tmp_path):
    np.save(tmp_path / "x.npy", values)

    found = read(str(tmp_path / "x.npy"), Wanted("x", dtype, [2]))

    assert found.dtype == numpy_dtype(dtype)
    np.testing.assert_array_equal(found, values.astype(numpy_dtype(dtype)))


def test_that_a_number_is_no_value_for_what_cannot_hold_it():
    with pytest.raises(FeedError, match=r"^'x' \(int32\) cannot take 1.5\."):
        read("1.5", Wanted("x", DataType.INT32, []))


def test_that_an_array_that_is_not_in_the_file_is_told_from_one_that_was_not_named(tmp_path):
    np.savez(tmp_path / "two.npz", a=np.ones(2), b=np.zeros(2))
    want = Wanted("x", FLOAT, [2])

    with pytest.raises(FeedError, match=r"two\.npz holds 2 arrays, and no 'c'\.") as error:
        read(f"{tmp_path / 'two.npz'}:c", want)
    assert "Keys: a, b" in error.value.hint
    with pytest.raises(FeedError, match="which one is not said"):
        read(str(tmp_path / "two.npz"), want)


def test_that_folders_and_words_are_no_values(tmp_path):
    with pytest.raises(FeedError, match="is a folder, and not a value for 'x'"):
        read(str(tmp_path), Wanted("x", FLOAT, [2]))
    with pytest.raises(FeedError, match="There is no file hello") as error:
        read("hello", Wanted("x", DataType.STRING, [2]))
    assert "any file for its bytes" in error.value.hint


def test_that_an_old_placeholder_without_a_shape_has_unknown_rank():
    graph_def = protos.GraphDef()
    node = graph_def.node.add(name="x", op="Placeholder")
    node.attr["dtype"].type = FLOAT
    node.attr["shape"].shape.SetInParent()
    graph_def.versions.producer = 23
    assert wanted(Document("graphdef", graph_def), Endpoint("x")).shape is None
    graph_def.versions.producer = 24
    assert wanted(Document("graphdef", graph_def), Endpoint("x")).shape == []


def test_that_the_batch_of_the_graphs_own_pipeline_is_known_though_any_may_be_fed():
    graph_def = protos.GraphDef()
    graph_def.node.add(name="data", op="BatchDatasetV2")
    following = graph_def.node.add(name="next", op="IteratorGetNext", input=["data"])
    for size in (40, 3):
        following.attr["output_shapes"].list.shape.add() if size == 40 else None
        following.attr["output_shapes"].list.shape[0].dim.add(size=size)

    want = wanted(Document("graphdef", graph_def), Endpoint("next"))

    assert (want.shape, want.usual_shape) == ([-1, 3], [40, 3])


def _header(version: tuple[int, int], shape: tuple[int, ...]) -> bytes:
    """The beginning of a .npy file that declares floats of a shape, and a few bytes of them."""
    text = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    length = len(text).to_bytes(2 if version == (1, 0) else 4, "little")
    return b"\x93NUMPY" + bytes(version) + length + text + bytes(16)


@pytest.mark.parametrize("version", [(1, 0), (2, 0), (3, 0)])
@pytest.mark.parametrize("shape", [(99_999_999_999, 10), (5,)])
def test_that_an_array_that_declares_more_than_its_file_holds_is_named(version, shape, tmp_path):
    (tmp_path / "x.npy").write_bytes(_header(version, shape))
    with pytest.raises(FeedError, match=r"x\.npy is no array .* declares [\d,]+ bytes of values, and 16 are there"):
        read(str(tmp_path / "x.npy"), Wanted("x", FLOAT, [-1, 10]))
    with zipfile.ZipFile(tmp_path / "x.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.npy", _header(version, shape))
    with pytest.raises(FeedError, match=r"x\.npz is no array .* declares [\d,]+ bytes of values, and 16 are there"):
        read(str(tmp_path / "x.npz"), Wanted("x", FLOAT, [-1, 10]))


@pytest.mark.parametrize("version", [(1, 0), (2, 0), (3, 0)])
def test_that_an_array_that_is_all_there_is_read_in_every_version_of_the_format(version, tmp_path):
    (tmp_path / "x.npy").write_bytes(_header(version, (2, 2)))
    assert read(str(tmp_path / "x.npy"), Wanted("x", FLOAT, [2, 2])).tolist() == [[0, 0], [0, 0]]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes")
def test_that_what_is_no_file_is_said_to_be_what_it_is(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for place, kind in ((tmp_path / "pipe", "a named pipe"), (os.devnull, "a device"), (tmp_path, "a folder")):
        with pytest.raises(FeedError, match=f"{place} is {kind}, and not a value for 'x'"):
            read(str(place), Wanted("x", FLOAT, [2]))


def test_that_a_list_longer_than_a_name_of_a_file_is_a_row():
    assert read(",".join(["1"] * 400), Wanted("x", FLOAT, [-1, 400])).shape == (1, 400)


@pytest.mark.parametrize(("text", "words"), [("a,b,zz", [b"a", b"b", b"zz"]), ("a,", [b"a"]), ("1,2", [b"1", b"2"])])
def test_that_a_short_list_feeds_strings(text, words):
    assert read(text, Wanted("words", DataType.STRING, [-1])).tolist() == words
    assert read(text, Wanted("words", DataType.STRING, None)).tolist() == words
    with pytest.raises(FeedError, match="no file a,b,c"):
        read("a,b,c", Wanted("x", FLOAT, [-1]))


def test_that_a_file_with_commas_in_its_name_feeds_its_bytes(tmp_path):
    path = tmp_path / "a,b"
    path.write_bytes(b"text")
    assert read(str(path), Wanted("words", DataType.STRING, [])).item() == b"text"
