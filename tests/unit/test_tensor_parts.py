"""Pictures, cells and largest values of arrays in files, and the bytes that such files are made of."""

from __future__ import annotations

import io

import numpy as np
import pytest

from graphviewer.analysis.values import describe_values
from graphviewer.errors import ReadError, WriteError
from graphviewer.gui.panels.result import is_probability
from graphviewer.gui.panels.tensor_parts import cells, image_axes, largest, leading_axes, picture, read
from graphviewer.runtime import run


@pytest.mark.parametrize(
    ("shape", "names"),
    [
        ([28, 28], ["HW"]),
        ([224, 224, 3], ["HWC"]),
        ([3, 224, 224], ["CHW"]),
        ([8, 224, 224, 3], ["NHWC"]),
        ([8, 224, 224, 16], ["NHWC", "NCHW"]),
        ([8, 3, 224, 224], ["NCHW"]),
        ([1, 7, 7, 2048], ["NHWC", "NCHW"]),
        ([10], []),
        ([2, 3, 4, 5, 6], []),
        ([0, 8, 8, 1], []),
        ([3, 3], []),
    ],
)
def test_that_the_likely_way_to_read_an_image_comes_first(shape: list[int], names: list[str]) -> None:
    assert [axes.name for axes in image_axes(shape)] == names


def test_that_a_channel_is_grey_from_its_least_to_its_greatest_value() -> None:
    values = np.zeros([2, 4, 5, 8], np.float32)
    values[1, ..., 6] = np.linspace(-3, 1, 20).reshape(4, 5)
    values[1, 0, 1, 6] = np.nan
    found = picture(values, image_axes(values.shape)[0], 1, 6)
    assert (found.least, found.most, found.odd, found.pixels.shape) == (-3.0, 1.0, 1, (4, 5))
    assert (found.pixels[0, 0], found.pixels[0, 1], found.pixels[3, 4]) == (0, 0, 255)


def test_that_channels_first_are_colours_too() -> None:
    values = np.zeros([3, 6, 4], np.uint8)
    values[1, 2, 3] = 10
    found = picture(values, image_axes(values.shape)[0], 0, None)
    assert found.pixels.shape == (6, 4, 3) and found.pixels[2, 3].tolist() == [0, 255, 0]


def test_that_values_of_any_size_make_a_picture() -> None:
    widest = np.array([[-1.7e308, 0, 0, 1.7e308]] * 4)
    assert picture(widest, image_axes((4, 4))[0], 0, 0).pixels[0].tolist() == [0, 128, 128, 255]
    assert set(picture(np.ones((4, 4)), image_axes((4, 4))[0], 0, 0).pixels.flat) == {128}
    large = np.arange(3000 * 10, dtype=np.float32).reshape(3000, 10)
    assert picture(large, image_axes(large.shape)[0], 0, 0).pixels.shape == (1000, 4)


def test_that_cells_are_the_first_of_the_slice_that_is_chosen() -> None:
    values = np.arange(2 * 3 * 500 * 60).reshape(2, 3, 500, 60)
    found = cells(values, [1, 2])
    assert (found.height, found.width, len(found.rows), len(found.rows[0])) == (500, 60, 200, 40)
    assert found.rows[3][4] == str(values[1, 2, 3, 4])
    assert cells(np.array(2.5), []).rows == [["2.5"]]
    assert cells(np.array([b"ab", b"c\xff"]), []).rows == [["ab"], ["c\\xff"]]


def test_that_many_axes_are_chosen_by_few_numbers() -> None:
    values = np.arange(2**8).reshape((2,) * 8)
    leading = leading_axes(values.shape)
    assert leading == (8, 2, 2, 2)
    assert cells(values, [5, 1, 0, 1]).rows[1][0] == str(values[1, 0, 1, 1, 0, 1, 1, 0])


def test_that_the_largest_come_with_their_index_and_nan_last() -> None:
    values = np.array([[0.1, 0.7, np.nan, 0.2], [5, 6, 7, 8]], np.float32)
    assert [at for at, _ in largest(values, 0, 3)] == [1, 3, 0]
    assert largest(values, 1, 1) == [(3, "8")]
    long = np.zeros(3_000_000, np.int8)
    long[[5, 2_500_000]] = 3, 4
    assert largest(long, 0, 2) == [(2_500_000, "4"), (5, "3")]


def test_that_files_are_mapped_and_one_that_went_away_is_an_error(tmp_path) -> None:
    for name, value in (("a", np.ones([3, 2])), ("empty", np.zeros([0, 4])), ("one", np.array(7))):
        np.save(tmp_path / f"{name}.npy", value)
        np.testing.assert_array_equal(read(tmp_path / f"{name}.npy"), value)
    assert isinstance(read(tmp_path / "a.npy"), np.memmap)
    with pytest.raises(ReadError, match="no longer there"):
        read(tmp_path / "gone.npy")


@pytest.mark.parametrize(
    "value",
    [
        np.arange(6, dtype=np.float16).reshape(2, 3)[:, ::-1],
        np.array(3.0),
        np.zeros([0, 5], np.int64),
        np.array([b"ab", b"c"]),
        np.asfortranarray(np.arange(6.0).reshape(2, 3)),
    ],
    ids=["strided", "scalar", "empty", "strings", "fortran"],
)
def test_that_pieces_make_the_file_that_numpy_would_write(value: np.ndarray) -> None:
    written, whole = b"".join(run.npy_pieces(value)), io.BytesIO()
    np.save(whole, np.asarray(value, order="C"))
    assert written == whole.getvalue()


def test_that_one_long_string_among_many_does_not_take_all_memory(tmp_path) -> None:
    values = np.array([b"x" * 100_000] + [b""] * 100_000, object)
    with pytest.raises(WriteError, match="10,000,100,000 bytes"):
        run._write(tmp_path / "text.npy", values, force=False)
    assert not list(tmp_path.iterdir())


def test_that_statistics_of_many_blocks_are_those_of_the_whole() -> None:
    values = np.random.default_rng(1).random(9_000_000, np.float32)
    values[[1, 8_999_999]], values[5_000_000] = np.nan, np.inf
    found, finite = describe_values(values), values[np.isfinite(values)].astype(np.float64)
    assert (found.odd, found.nan, sum(found.bars)) == (3, 2, finite.size)
    np.testing.assert_allclose((found.mean, found.std), (finite.mean(), finite.std()), rtol=1e-9)


def test_that_probabilities_are_told_from_other_vectors() -> None:
    base = {"shape": [1, 4], "dtype": "float32", "min": 0.0, "mean": 0.25, "not_finite": 0}
    assert is_probability(base)
    for change in ({"mean": 0.3}, {"min": -0.1}, {"dtype": "int32"}, {"shape": []}, {"not_finite": 1}):
        assert not is_probability({**base, **change})
