"""TFRecord: length, masked CRC-32C of the length, data, masked CRC-32C of the data.

Source: tensorflow/core/lib/io/record_writer.h.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import NamedTuple

from graphviewer.formats.checkpoint.checksum import masked_crc32c
from graphviewer.formats.source import Source

HEADER, FOOTER = 12, 4


class Record(NamedTuple):
    """Where the data of one record are; ``complete`` is false for the last one of a file that is being written."""

    begin: int
    end: int
    complete: bool = True


def is_record(source: Source) -> bool:
    """The source begins with a record."""
    return _length(source, 0) is not None


def records(source: Source) -> Iterator[Record]:
    """All records, by their headers; ends after one that is cut short or whose header is damaged."""
    position = 0
    while position < source.size:
        length = _length(source, position)
        begin = position + HEADER
        if length is None or begin + length + FOOTER > source.size:
            yield Record(position, source.size, complete=False)
            return
        yield Record(begin, begin + length)
        position = begin + length + FOOTER


def is_intact(source: Source, record: Record) -> bool:
    """The data fit their checksum."""
    data = source.read(record.begin, record.end - record.begin)
    (stored,) = struct.unpack("<I", source.read(record.end, FOOTER))
    return bool(masked_crc32c(data) == stored)


def _length(source: Source, position: int) -> int | None:
    """The length in a record's header; None where there is no sound header."""
    if position + HEADER > source.size:
        return None
    raw = source.read(position, HEADER)
    length, stored = struct.unpack("<QI", raw)
    return length if masked_crc32c(raw[:8]) == stored else None
