"""The bytes of a file at offsets, read when they are asked for.

A map would kill the process (SIGBUS) when another program writes the file again in place, so files are read, not
mapped, and are open only while a reader works.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from graphviewer.errors import ReadError
from graphviewer.formats.paths import open_regular, require_readable_kind, unreadable

GZIP_MAGIC = b"\x1f\x8b"
EXPANDED_LIMIT = 1 << 30
_STEP = 1 << 20
_SMALL, _AHEAD = 1 << 12, 1 << 16


class Source:
    """A file, or the bytes that were inside a compressed one.

    Attributes:
        path: the file on disk, for messages and titles.
        size: bytes that can be read.
        mtime_ns: of the file on disk.
        on_disk: the bytes are those of the file itself, so that offsets stay valid after reading.
    """

    def __init__(self, path: Path, file: BinaryIO | None = None, data: bytes = b"") -> None:
        self.path, self._file, self._data = path, file, data
        self._near, self._near_begin = b"", 0
        self.on_disk = file is not None
        status = os.fstat(file.fileno()) if file is not None else None
        self.size = status.st_size if status else len(data)
        self.mtime_ns = status.st_mtime_ns if status else 0

    @classmethod
    def of_bytes(cls, data: bytes, path: Path = Path("bytes")) -> Source:
        """Bytes that are in memory already, read like a file."""
        return cls(path, data=data)

    @property
    def name(self) -> str:
        """The file's name, for messages."""
        return self.path.name

    def read(self, offset: int, length: int) -> bytes:
        """Exactly ``length`` bytes; the caller has compared ``offset + length`` with ``size``.

        Raises:
            ReadError: the file became shorter while it was read.
        """
        if self._file is None:
            return self._data[offset : offset + length]
        at = offset - self._near_begin
        if at >= 0 and at + length <= len(self._near):
            return self._near[at : at + length]
        self._file.seek(offset)
        data = self._file.read(_AHEAD if length <= _SMALL else length)
        if len(data) < length:
            raise ReadError(f"{self.name} changed while it was read.", "Open it again when it is written completely.")
        if length > _SMALL:
            return data
        self._near, self._near_begin = data, offset  # a walk asks for what comes next, a few bytes at a time
        return data[:length]

    def head(self, length: int) -> bytes:
        """The first bytes, fewer where the file is shorter."""
        return self.read(0, min(length, self.size))


@contextmanager
def open_source(path: Path) -> Iterator[Source]:
    """The bytes of a file, unpacked where it is gzip.

    Raises:
        ReadError: no such file, not readable, not a regular file, or unpacking goes beyond the limit.
    """
    require_readable_kind(path)
    try:
        file = open_regular(path)
    except OSError as error:
        raise unreadable(path, error) from error
    with file:
        source = Source(path, file)
        yield Source.of_bytes(_unpack(source), path) if source.head(2) == GZIP_MAGIC else source


def _unpack(source: Source) -> bytes:
    """What a gzip file holds, never more than ``EXPANDED_LIMIT`` bytes."""
    unpacker, parts, total = zlib.decompressobj(31), [], 0
    try:
        for offset in range(0, source.size, _STEP):
            waiting = source.read(offset, min(_STEP, source.size - offset))
            while waiting and not unpacker.eof:
                parts.append(unpacker.decompress(waiting, _STEP))
                total += len(parts[-1])
                if total > EXPANDED_LIMIT:
                    raise ReadError(
                        f"{source.name} unpacks to more than {EXPANDED_LIMIT >> 20} MB.",
                        "Unpack it with gunzip if you trust it, and open the result.",
                    )
                waiting = unpacker.unconsumed_tail
    except zlib.error as error:
        raise ReadError(f"{source.name} is a damaged gzip file: {error}.", "Copy or download it again.") from error
    if not unpacker.eof:
        raise ReadError(f"{source.name} is a gzip file that was cut short.", "Copy or download it again.")
    return b"".join(parts)
