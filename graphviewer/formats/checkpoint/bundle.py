"""V2 checkpoints: ``prefix.index``, a table of BundleEntryProtos, and ``prefix.data-00000-of-00001``, raw bytes.

Source: tensorflow/core/util/tensor_bundle/tensor_bundle.cc, core/protobuf/tensor_bundle.proto
"""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from google.protobuf.message import DecodeError
from numpy.typing import NDArray

from graphviewer import protos
from graphviewer.errors import CheckpointError
from graphviewer.formats.checkpoint.checkpoint import (
    Checkpoint,
    MissingFileError,
    Variable,
    element_count,
    part_shape,
    variable_of,
)
from graphviewer.formats.checkpoint.checksum import masked_crc32c
from graphviewer.formats.checkpoint.slices import Slice, extents, slice_key
from graphviewer.formats.checkpoint.sstable import Table
from graphviewer.formats.checkpoint.stable_file import COPY_AGAIN, StableFile, is_lfs_pointer
from graphviewer.model.problem import Problem
from graphviewer.model.tensors import TensorError, read_varint

__all__ = ["Bundle"]

_BIG_ENDIAN = 1


class _Place(NamedTuple):
    """Where the bytes of a variable, or of a part of one, lie."""

    dtype: int
    shard: int
    offset: int
    size: int
    crc32c: int


class Bundle(Checkpoint):
    """A V2 checkpoint."""

    kind = "V2"

    def __init__(self, prefix: Path) -> None:
        """Read the index.

        Raises:
            CheckpointError: the index is missing or damaged.
        """
        index = prefix.with_name(prefix.name + ".index")
        self._places: dict[bytes, _Place] = {}
        variables = []
        header = None
        for key, value in Table(index):
            if key == b"":
                header = _parse(protos.BundleHeaderProto, value, index)
                continue
            entry = _parse(protos.BundleEntryProto, value, index)
            self._places[key] = _Place(entry.dtype, entry.shard_id, entry.offset, entry.size, entry.crc32c)
            if not key.startswith(b"\0"):  # those are the parts of partitioned variables
                parts = [extents(part, len(entry.shape.dim)) for part in entry.slices]
                variables.append(variable_of(key, entry.dtype, entry.shape, parts, index.name))
        if header is None:
            raise CheckpointError(f"{index.name} is damaged: it has no header.", COPY_AGAIN)
        super().__init__(prefix, variables)
        self._num_shards: int = header.num_shards
        self._big_endian = header.endianness == _BIG_ENDIAN
        self._shards = self._present_shards()

    def _shard_path(self, number: int) -> Path:
        return self.prefix.with_name(f"{self.prefix.name}.data-{number:05d}-of-{self._num_shards:05d}")

    def _present_shards(self) -> dict[int, StableFile]:
        """The data files that are there, looked at now so that a later change is noticed."""
        named = {place.shard for place in self._places.values()}
        found = {number: self._shard_path(number) for number in named}
        return {number: StableFile.of(path) for number, path in found.items() if path.is_file()}

    def missing_files(self) -> list[Path]:
        named = {place.shard for place in self._places.values() if place.size}
        return [self._shard_path(number) for number in sorted(named - set(self._shards))]

    def _short_files(self) -> list[Problem]:
        ends: dict[int, int] = {}
        for place in self._places.values():
            if place.size:
                ends[place.shard] = max(ends.get(place.shard, 0), place.offset + place.size)
        return [
            Problem(
                "checkpoint",
                "error",
                f"The data file {shard.name} is cut short: its values take {ends[number]:,} bytes, it has "
                f"{shard.size:,}.",
                COPY_AGAIN,
            )
            for number, shard in sorted(self._shards.items())
            if ends.get(number, 0) > shard.size
        ]

    def raw(self, key: str) -> bytes | None:
        variable = self._variable(key)
        if variable.slices or self._big_endian or self._numpy_dtype(key, variable).hasobject:
            return None
        return self._bytes(key, variable, None)

    def _capacity(self) -> int:
        return sum(shard.size for shard in self._shards.values())

    def _part(self, key: str, variable: Variable, part: Slice | None) -> NDArray[Any]:
        dtype, shape = self._numpy_dtype(key, variable), part_shape(variable, part)
        if dtype.hasobject:
            return self._strings(key, variable, part, element_count(shape)).reshape(shape)
        data = self._bytes(key, variable, part)
        values = np.frombuffer(data, dtype.newbyteorder(">") if self._big_endian else dtype)
        return values.astype(dtype, copy=False).reshape(shape)

    def _place(self, key: str, variable: Variable, part: Slice | None) -> _Place:
        place = self._places.get(variable.name if part is None else slice_key(variable.name, part))
        if place is None or place.dtype != variable.dtype:
            raise CheckpointError(f"{self.prefix.name}.index is damaged: it lacks a part of '{key}'.", COPY_AGAIN)
        return place

    def _bytes(self, key: str, variable: Variable, part: Slice | None) -> bytes:
        """The verified bytes of a dense variable or part."""
        place = self._place(key, variable, part)
        shape = part_shape(variable, part)
        needed = element_count(shape) * self._numpy_dtype(key, variable).itemsize
        if needed != place.size:
            raise CheckpointError(
                f"{self.prefix.name}.index is damaged: '{key}' {shape} needs {needed:,} bytes, not {place.size:,}.",
                COPY_AGAIN,
            )
        data = self._stored(key, place)
        if masked_crc32c(data) != place.crc32c:
            raise self._damaged(key, place)
        return data

    def _strings(self, key: str, variable: Variable, part: Slice | None, count: int) -> NDArray[Any]:
        """Strings: their lengths as varints, a checksum of the lengths, then all bytes."""
        place = self._place(key, variable, part)
        data = self._stored(key, place)
        try:
            lengths, at = _lengths(data, count)
        except TensorError as error:
            raise self._damaged(key, place) from error
        plain = b"".join(struct.pack("<I" if length < 1 << 32 else "<Q", length) for length in lengths)
        mark, body = data[at : at + 4], data[at + 4 :]
        told = int.from_bytes(mark, "little")
        if (
            told != masked_crc32c(plain)
            or masked_crc32c(plain, mark, body) != place.crc32c
            or sum(lengths) != len(body)
        ):
            raise self._damaged(key, place)
        values, at = np.empty(count, object), 0
        for number, length in enumerate(lengths):
            values[number] = body[at : at + length]
            at += length
        return values

    def _stored(self, key: str, place: _Place) -> bytes:
        """The bytes at ``place``; a fault names the variable."""
        if place.size == 0:
            return b""
        path = self._shard_path(place.shard)
        try:
            shard = self._shards.get(place.shard) or StableFile.of(path)
            return shard.read(place.offset, place.size)
        except CheckpointError as error:
            if not path.exists():
                raise MissingFileError(
                    f"'{key}' cannot be read: the data file {path.name} is missing.",
                    f"Copy it to {path.parent} from where the checkpoint was made.",
                ) from error
            hint = (
                "It is a Git LFS pointer: fetch the real file with 'git lfs pull'."
                if is_lfs_pointer(path)
                else error.hint
            )
            raise CheckpointError(f"'{key}' cannot be read: {error.message}", hint) from error

    def _damaged(self, key: str, place: _Place) -> CheckpointError:
        name = self._shard_path(place.shard).name
        return CheckpointError(f"'{key}' cannot be read: {name} is damaged, its checksum does not fit.", COPY_AGAIN)


def _parse(message: Any, value: bytes, index: Path) -> Any:
    try:
        return message.FromString(value)
    except DecodeError as error:
        raise CheckpointError(f"{index.name} is damaged, or a table of something else.", COPY_AGAIN) from error


def _lengths(data: bytes, count: int) -> tuple[list[int], int]:
    """The lengths of ``count`` strings, and where their checksum begins."""
    if count > len(data):
        raise TensorError(f"{count:,} strings do not fit {len(data):,} bytes.")
    lengths, at = [], 0
    for _ in range(count):
        length, at = read_varint(data, at)
        lengths.append(length)
    return lengths, at
