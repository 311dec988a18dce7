"""Checkpoints made by hand with bytes cut, flipped and scribbled over: noticed, or harmless."""

from __future__ import annotations

import contextlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphviewer.errors import CheckpointError, GraphViewerError
from graphviewer.formats.checkpoint import open_checkpoint
from graphviewer.formats.checkpoint.sstable import Table
from tests.unit.checkpoint_files import table_bytes, write_bundle

KERNEL = np.arange(12, dtype="f4").reshape(3, 4)
BIAS = np.array([1, -2], "i8")
NAMES = np.array([[b"cat", b""], [b"\0\xff dog", b"x" * 300]], object)
VARIABLES = {"dense/bias": BIAS, "dense/kernel": KERNEL, "flag": np.array(True), "names": NAMES}
HALVES = [(((0, 3), (0, 2)), KERNEL[:, :2]), (((0, 3), (2, 2)), KERNEL[:, 2:])]


@pytest.fixture
def prefix(tmp_path: Path) -> Path:
    return write_bundle(tmp_path / "model.ckpt-7", VARIABLES)


def test_that_every_cut_and_every_flipped_bit_of_an_index_is_noticed_or_harmless(prefix):
    index = prefix.with_name("model.ckpt-7.index")
    whole = index.read_bytes()
    entries = dict(Table(index))
    noticed = 0
    for at in range(len(whole)):
        index.write_bytes(whole[:at])
        with pytest.raises(CheckpointError, match="index"):
            open_checkpoint(prefix)
        index.write_bytes(whole[:at] + bytes([whole[at] ^ 16]) + whole[at + 1 :])
        found = _entries_or_error(index)
        assert found == entries or "model.ckpt-7.index" in str(found)
        noticed += found != entries
    unread = 40 + 8 + 5  # the footer's padding, and the empty block about the table itself
    assert noticed >= len(whole) - unread


def _entries_or_error(index: Path) -> dict[bytes, bytes] | CheckpointError:
    try:
        return dict(Table(index))
    except CheckpointError as error:
        return error


@given(data=st.data())
def test_that_scribbling_over_an_index_gives_a_checkpoint_or_an_error_for_people(tmp_path_factory, data):
    prefix = write_bundle(tmp_path_factory.mktemp("scribbled") / "model", {"w": HALVES, **VARIABLES})
    index = prefix.with_name("model.index")
    content = bytearray(index.read_bytes())
    for at, value in data.draw(st.lists(st.tuples(st.integers(0, len(content) - 1), st.integers(0, 255)), max_size=4)):
        content[at] = value
    index.write_bytes(content)
    _read_everything(prefix)


@given(
    entries=st.dictionaries(
        st.sampled_from([b"", b"w", b"b", b"\0\1w"]) | st.binary(max_size=6), st.binary(max_size=40), max_size=6
    ),
    snappy=st.booleans(),
)
def test_that_a_sound_table_of_nonsense_gives_a_checkpoint_or_an_error_for_people(tmp_path_factory, entries, snappy):
    folder = tmp_path_factory.mktemp("nonsense")
    for name in ("v1", "v2.index"):
        (folder / name).write_bytes(table_bytes(entries, snappy=snappy))
        _read_everything(folder / name)


def _read_everything(path: Path) -> None:
    """Fails with whatever is no GraphViewerError."""
    with contextlib.suppress(GraphViewerError):
        checkpoint = open_checkpoint(path)
        checkpoint.problems()
        for key in checkpoint:
            with contextlib.suppress(GraphViewerError):
                assert list(checkpoint.read(key).shape) == checkpoint.shape(key)
