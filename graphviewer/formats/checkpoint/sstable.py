"""Sorted string tables: the index of a V2 checkpoint, and the whole of a V1 checkpoint.

Layout: blocks of prefix-compressed entries, each followed by one byte for its compression and a masked CRC-32C; an
index block of (last key of a block, its handle); a footer of 48 bytes that points at the index block.
Source: tensorflow/tsl/lib/io/{format.cc,block.cc,table.cc} (LevelDB's format, other magic number).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import cramjam

from graphviewer.errors import CheckpointError
from graphviewer.formats.checkpoint.checksum import masked_crc32c
from graphviewer.formats.checkpoint.stable_file import COPY_AGAIN, StableFile
from graphviewer.formats.paths import open_regular
from graphviewer.model.tensors import TensorError, read_varint

__all__ = ["SNAPPY_RATIO", "Table", "is_table"]

MAGIC = (0xDB4775248B80FB57).to_bytes(8, "little")
FOOTER_SIZE = 48
_TRAILER_SIZE = 5
_PLAIN, _SNAPPY = 0, 1
SNAPPY_RATIO = 22  # three bytes of snappy give at most 64
_LARGEST_BLOCK = 1 << 31  # TensorFlow's own limit for the message in it
_KEY_BUDGET = 64 << 20  # of all keys of a table; a few bytes could repeat a long key a million times


class _Handle(NamedTuple):
    offset: int
    size: int


def is_table(path: Path) -> bool:
    """The file ends as a sorted string table does; false for what cannot be read."""
    try:
        with open_regular(path) as file:
            file.seek(0, 2)
            if file.tell() < FOOTER_SIZE:
                return False
            file.seek(-len(MAGIC), 2)
            return file.read() == MAGIC
    except OSError:
        return False


class Table:
    """A table on disk: its index is in memory, its blocks are read when asked for."""

    def __init__(self, path: Path) -> None:
        """Read the index.

        Raises:
            CheckpointError: the file is no table, or is damaged.
        """
        self.file = StableFile.of(path)
        footer = self.file.read(max(0, self.file.size - FOOTER_SIZE), min(FOOTER_SIZE, self.file.size))
        if len(footer) < FOOTER_SIZE or not footer.endswith(MAGIC):
            raise CheckpointError(
                f"{path.name} does not end as a checkpoint's table does: it is cut short, or something else.",
                COPY_AGAIN,
            )
        try:
            _, at = _handle(footer, 0)
            index, _ = _handle(footer, at)
            entries = list(self._entries(self._block(index)))
            self._blocks = [_handle(value, 0)[0] for _, value in entries]
        except TensorError as error:
            raise self._damaged("its footer is unreadable") from error
        self._last_keys = [key for key, _ in entries]

    def __iter__(self) -> Iterator[tuple[bytes, bytes]]:
        """All (key, value), in order.

        Raises:
            CheckpointError: a block is damaged.
        """
        budget = _KEY_BUDGET + self.file.size
        for handle in self._blocks:
            for key, value in self._entries(self._block(handle)):
                budget -= len(key)
                if budget < 0:
                    raise self._damaged("its keys are far larger than it")
                yield key, value

    def get(self, key: bytes) -> bytes | None:
        """The value of ``key``, reading one block.

        Raises:
            CheckpointError: that block is damaged.
        """
        number = bisect_left(self._last_keys, key)
        if number == len(self._blocks):
            return None
        block = self._block(self._blocks[number])
        return next((value for other, value in self._entries(block) if other == key), None)

    def _damaged(self, reason: str) -> CheckpointError:
        return CheckpointError(f"{self.file.name} is damaged: {reason}.", COPY_AGAIN)

    def _block(self, handle: _Handle) -> bytes:
        """The unpacked content of a block whose checksum holds."""
        raw = self.file.read(handle.offset, handle.size + _TRAILER_SIZE)
        content, kind = raw[:-_TRAILER_SIZE], raw[-_TRAILER_SIZE]
        if masked_crc32c(raw[:-4]) != int.from_bytes(raw[-4:], "little"):
            raise self._damaged(f"the checksum of the block at byte {handle.offset:,} does not fit")
        if kind == _SNAPPY:
            return self._unpacked(content, handle)
        if kind != _PLAIN:
            raise self._damaged(f"the block at byte {handle.offset:,} has the unknown compression {kind}")
        return content

    def _unpacked(self, content: bytes, handle: _Handle) -> bytes:
        """Snappy's content, if the size it declares can be true."""
        where = f"the packed block at byte {handle.offset:,}"
        try:
            size, _ = read_varint(content, 0)
        except TensorError as error:
            raise self._damaged(f"{where} has no size") from error
        if size > min(_LARGEST_BLOCK, SNAPPY_RATIO * len(content) + 64):
            raise self._damaged(f"{where} claims to unpack from {len(content):,} to {size:,} bytes")
        try:
            return bytes(cramjam.snappy.decompress_raw(content))
        except cramjam.DecompressionError as error:
            raise self._damaged(f"{where} cannot be unpacked") from error

    def _entries(self, block: bytes) -> Iterator[tuple[bytes, bytes]]:
        """The entries of a block; its last part, restart points for searching, is not needed."""
        restarts = int.from_bytes(block[-4:], "little")
        end, at, key = len(block) - 4 - 4 * restarts, 0, b""
        if end < 0:
            raise self._damaged("a block is smaller than its own index")
        try:
            while at < end:
                shared, at = read_varint(block, at)
                fresh, at = read_varint(block, at)
                length, at = read_varint(block, at)
                if shared > len(key) or at + fresh + length > end:
                    raise self._damaged("an entry reaches beyond its block")
                key = key[:shared] + block[at : at + fresh]
                at += fresh
                yield key, block[at : at + length]
                at += length
        except TensorError as error:
            raise self._damaged("an entry is cut short") from error


def _handle(data: bytes, at: int) -> tuple[_Handle, int]:
    offset, at = read_varint(data, at)
    size, at = read_varint(data, at)
    return _Handle(offset, size), at
