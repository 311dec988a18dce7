"""Reading checkpoints made by hand: values, parts, and every way in which files can be damaged."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from checkpoint_files import finish, packed, varint, write_bundle, write_v1

from graphviewer.errors import CheckpointError
from graphviewer.formats.checkpoint import WHOLE, open_checkpoint, parse_slice_spec
from graphviewer.formats.checkpoint.slices import slice_key
from graphviewer.formats.checkpoint.sstable import Table
from graphviewer.protos import DataType

KERNEL = np.arange(12, dtype="f4").reshape(3, 4)
BIAS = np.array([1, -2], "i8")
NAMES = np.array([[b"cat", b""], [b"\0\xff dog", b"x" * 300]], object)
VARIABLES = {"dense/bias": BIAS, "dense/kernel": KERNEL, "flag": np.array(True), "names": NAMES}
HALVES = [(((0, 3), (0, 2)), KERNEL[:, :2]), (((0, 3), (2, 2)), KERNEL[:, 2:])]


@pytest.fixture
def prefix(tmp_path: Path) -> Path:
    return write_bundle(tmp_path / "model.ckpt-7", VARIABLES)


def test_that_a_v2_checkpoint_gives_names_shapes_dtypes_and_values(prefix):
    checkpoint = open_checkpoint(prefix)
    assert checkpoint.kind == "V2"
    assert checkpoint.keys() == sorted(VARIABLES)
    assert checkpoint.shape("dense/kernel") == [3, 4]
    assert checkpoint.dtype("names") == DataType.STRING
    for key, values in VARIABLES.items():
        assert np.array_equal(checkpoint.read(key), values)


def test_that_raw_bytes_are_those_of_the_values_and_strings_have_none(prefix):
    checkpoint = open_checkpoint(prefix)
    assert checkpoint.raw("dense/kernel") == KERNEL.tobytes()
    assert checkpoint.raw("names") is None


def test_that_a_slice_of_a_whole_variable_is_cut_out(prefix):
    read = open_checkpoint(prefix).read
    assert np.array_equal(read("dense/kernel", [(1, 2), (0, WHOLE)]), KERNEL[1:3])
    with pytest.raises(CheckpointError, match=r"'dense/kernel'.*does not lie inside"):
        read("dense/kernel", [(2, 2), (0, 4)])


def test_that_parts_are_joined_and_a_slice_reads_only_the_parts_it_touches(tmp_path):
    prefix = write_bundle(tmp_path / "parted", {"a": BIAS, "w": HALVES}, shards=2)
    checkpoint = open_checkpoint(prefix)
    assert checkpoint.keys() == ["a", "w"]
    assert checkpoint.slices("w") == [part for part, _ in HALVES]
    assert checkpoint.slices("a") == []
    assert np.array_equal(checkpoint.read("w"), KERNEL)
    assert np.array_equal(checkpoint.read("w", ((1, 2), (1, 2))), KERNEL[1:3, 1:3])
    assert checkpoint.raw("w") is None
    data = tmp_path / "parted.data-00001-of-00002"
    data.write_bytes(data.read_bytes()[:-1] + b"!")
    checkpoint = open_checkpoint(prefix)
    assert np.array_equal(checkpoint.read("w", ((0, 3), (0, 2))), KERNEL[:, :2])
    with pytest.raises(CheckpointError, match=r"'w'.*data-00001-of-00002.*checksum"):
        checkpoint.read("w")


def test_that_a_variable_with_a_lost_or_doubled_part_is_called_incomplete(tmp_path):
    for parts in ([HALVES[0], HALVES[0]], [HALVES[1]]):
        checkpoint = open_checkpoint(write_bundle(tmp_path / "lost", {"w": parts}))
        with pytest.raises(CheckpointError, match=r"'w' is incomplete"):
            checkpoint.read("w", ((0, 3), (0, 2)))


def test_that_a_missing_key_names_the_nearest(prefix):
    with pytest.raises(CheckpointError, match=r"no variable 'dens/kernel'.*dense/kernel"):
        open_checkpoint(prefix).read("dens/kernel")


def test_that_a_missing_shard_is_named_with_its_variable_and_the_other_still_read(tmp_path):
    prefix = write_bundle(tmp_path / "two", {"a": BIAS, "b": KERNEL}, shards=2)
    (tmp_path / "two.data-00001-of-00002").unlink()
    checkpoint = open_checkpoint(prefix)
    assert np.array_equal(checkpoint.read("a"), BIAS)
    with pytest.raises(CheckpointError, match=r"'b'.*two\.data-00001-of-00002 is missing") as caught:
        checkpoint.read("b")
    assert "Copy" in caught.value.hint
    assert [problem.reason for problem in checkpoint.problems()] == [
        "The data file two.data-00001-of-00002 is missing."
    ]


def test_that_data_cut_short_and_flipped_bits_name_variable_and_file(prefix):
    data = prefix.with_name("model.ckpt-7.data-00000-of-00001")
    whole = data.read_bytes()
    data.write_bytes(whole[:30])
    with pytest.raises(CheckpointError, match=r"'names'.*data-00000-of-00001 is cut short"):
        open_checkpoint(prefix).read("names")
    data.write_bytes(bytes([whole[0] ^ 4]) + whole[1:-1] + bytes([whole[-1] ^ 1]))
    checkpoint = open_checkpoint(prefix)
    assert [problem.node for problem in checkpoint.problems()] == ["dense/bias", "names"]
    assert np.array_equal(checkpoint.read("dense/kernel"), KERNEL)


def test_that_a_data_file_that_changed_since_opening_is_not_read(prefix):
    checkpoint = open_checkpoint(prefix)
    data = prefix.with_name("model.ckpt-7.data-00000-of-00001")
    data.write_bytes(data.read_bytes() + b"more")
    with pytest.raises(CheckpointError, match=r"'flag'.*changed on disk"):
        checkpoint.read("flag")


def test_that_a_data_file_that_is_a_git_lfs_pointer_is_called_so(prefix):
    data = prefix.with_name("model.ckpt-7.data-00000-of-00001")
    data.write_bytes(b"version https://git-lfs.github.com/spec/v1\n")
    with pytest.raises(CheckpointError, match="git lfs pull"):
        open_checkpoint(prefix).read("names")


def test_that_a_missing_index_is_named(prefix):
    prefix.with_name("model.ckpt-7.index").unlink()
    for path in (prefix, prefix.parent, prefix.with_name("model.ckpt-7.data-00000-of-00001")):
        with pytest.raises(CheckpointError, match=r"index model\.ckpt-7\.index is missing"):
            open_checkpoint(path)


def test_that_an_index_cannot_make_the_reader_allocate_more_than_the_files_hold(tmp_path):
    huge = 1 << 40
    parts = [(((0, huge),), np.zeros(1, "f4"))]
    checkpoint = open_checkpoint(write_bundle(tmp_path / "a", {"w": [(((0, 1),), np.zeros(1, "f4")), *parts]}))
    with pytest.raises(CheckpointError, match=r"'w'"):
        checkpoint.read("w")
    halves = [(((0, huge),), np.zeros(1, "f4")), (((huge, huge),), np.zeros(1, "f4"))]
    with pytest.raises(CheckpointError, match=r"'w'.*more than its files hold"):
        open_checkpoint(write_bundle(tmp_path / "b", {"w": halves})).read("w")


def test_that_a_shape_that_numpy_cannot_hold_is_refused(tmp_path):
    checkpoint = open_checkpoint(write_bundle(tmp_path / "a", {"w": [(((0, 0), (0, 1 << 62)), np.zeros(0, "f4"))]}))
    with pytest.raises(CheckpointError, match=r"'w'.*too large"):
        checkpoint.read("w")


def test_that_snappy_may_not_claim_an_absurd_size(tmp_path):
    content = varint(1 << 31) + b"\0a"
    first = packed(content, 1)
    path = tmp_path / "bomb"
    path.write_bytes(finish(first, [(b"z", varint(0) + varint(len(content)))]))
    with pytest.raises(CheckpointError, match=r"claims to unpack from 7 to 2,147,483,648 bytes"):
        open_checkpoint(path)


def test_that_a_long_key_repeated_without_end_is_refused(tmp_path):
    name = b"k" * 60_000
    entries = varint(0) + varint(len(name)) + varint(0) + name + (varint(len(name)) + b"\0\0") * 3_000
    content = entries + (0).to_bytes(4, "little") + (1).to_bytes(4, "little")
    path = tmp_path / "keys.index"
    path.write_bytes(finish(packed(content, 0), [(b"z", varint(0) + varint(len(content)))]))
    with pytest.raises(CheckpointError, match="keys are far larger"):
        list(Table(path))


@pytest.mark.parametrize("snappy", [False, True])
def test_that_v1_tables_are_read_in_parts_and_whole(tmp_path, snappy):
    whole = [(((0, WHOLE), (0, WHOLE)), KERNEL)]
    path = write_v1(tmp_path / "old.ckpt-1", {"parted": HALVES, "whole": whole}, (3, 4), snappy=snappy)
    checkpoint = open_checkpoint(path)
    assert (checkpoint.kind, checkpoint.keys()) == ("V1", ["parted", "whole"])
    for key in checkpoint:
        assert np.array_equal(checkpoint.read(key), KERNEL)
    assert checkpoint.slices("whole") == []
    assert np.array_equal(checkpoint.read("parted", ((2, 1), (1, 3))), KERNEL[2:, 1:])
    assert checkpoint.raw("whole") is None


def test_that_v1_shards_are_joined_and_a_lost_one_is_named(tmp_path):
    for number, part in enumerate(HALVES):
        write_v1(tmp_path / f"old-{number:05d}-of-00002", {"w": [part]}, (3, 4))
    assert np.array_equal(open_checkpoint(tmp_path / "old").read("w"), KERNEL)
    assert np.array_equal(open_checkpoint(tmp_path / "old-00001-of-00002").read("w"), KERNEL)
    (tmp_path / "old-00000-of-00002").unlink()
    with pytest.raises(CheckpointError, match="old-00000-of-00002 is missing"):
        open_checkpoint(tmp_path / "old")


def test_that_v1_values_that_do_not_fill_their_shape_are_refused(tmp_path):
    path = write_v1(tmp_path / "short", {"w": [(((0, WHOLE),) * 2, KERNEL[:2])]}, (3, 4))
    with pytest.raises(CheckpointError, match=r"'w'.*holds 8 values"):
        open_checkpoint(path).read("w")


def test_that_an_index_under_another_name_is_recognised(prefix):
    prefix.with_name("model.ckpt-7.index").rename(prefix.with_name("renamed"))
    with pytest.raises(CheckpointError, match=r"must end in \.index"):
        open_checkpoint(prefix.with_name("renamed"))


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b'node { name: "x" op: "NoOp" }\n', "text"),
        (b"\x0a\x09\x0a\x01x\x12\x04NoOp", "GraphDef"),
        (b"version https://git-lfs.github.com/spec/v1\n", "Git LFS pointer"),
        (b"<html><body>404</body></html>", "web page"),
    ],
)
def test_that_a_file_that_is_no_checkpoint_is_called_what_it_is(tmp_path, content, what):
    (tmp_path / "model.pb").write_bytes(content)
    with pytest.raises(CheckpointError, match=rf"model\.pb is not a checkpoint but .*{what}"):
        open_checkpoint(tmp_path / "model.pb")
    (tmp_path / "x.index").write_bytes(content)
    with pytest.raises(CheckpointError, match=rf"x\.index is not a checkpoint's index but .*{what}"):
        open_checkpoint(tmp_path / "x")


def test_that_a_prefix_that_is_absent_names_those_that_are_there(prefix):
    with pytest.raises(CheckpointError, match=r"no checkpoint .*model\.ckpt.*Checkpoints there: model\.ckpt-7"):
        open_checkpoint(prefix.with_name("model.ckpt"))


@pytest.mark.parametrize(
    ("name", "part", "key"),
    [
        (b"w", ((0, WHOLE),), "00 770001 0101 80 7f"),
        (b"w", ((0, 64),), "00 770001 0101 80 c040"),
        (b"w", ((63, 64),), "00 770001 0101 bf c040"),
        (b"w", ((8191, 9000),), "00 770001 0101 dfff e02328"),
        (b"w", ((200000, 70000),), "00 770001 0101 e30d40 e11170"),
        (b"a\0\1b\xff", (), "00 6100ff0162ff000001 00"),
    ],
)
def test_that_slice_keys_are_those_that_tensorflow_writes(name, part, key):
    assert slice_key(name, part).hex() == key.replace(" ", "")


def test_that_slice_specs_are_parsed():
    assert parse_slice_spec("") is None
    assert parse_slice_spec("4 5 0,2:-") == ([4, 5], ((0, 2), (0, 5)))
    for bad in ("4", "4 x", "4 0,9", "4 5 0,1", "4 1"):
        with pytest.raises(CheckpointError):
            parse_slice_spec(bad)
