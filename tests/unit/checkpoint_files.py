"""Write tiny checkpoints by hand, byte by byte, as the format says."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import cramjam
import numpy as np

from graphviewer import protos
from graphviewer.formats.checkpoint.checksum import masked_crc32c
from graphviewer.formats.checkpoint.slices import Slice, slice_key
from graphviewer.protos import DataType

MAGIC = bytes.fromhex("57fb808b247547db")
DTYPES = {"f4": DataType.FLOAT, "i8": DataType.INT64, "?": DataType.BOOL}
Parts = Sequence[tuple[Slice, np.ndarray]]


def varint(number: int) -> bytes:
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes([*out, number])


def block(entries: Iterable[tuple[bytes, bytes]]) -> bytes:
    out, before = bytearray(), b""
    for key, value in entries:
        shared = next((at for at, pair in enumerate(zip(key, before, strict=False)) if pair[0] != pair[1]), None)
        shared = min(len(key), len(before)) if shared is None else shared
        out += varint(shared) + varint(len(key) - shared) + varint(len(value)) + key[shared:] + value
        before = key
    return bytes(out) + (0).to_bytes(4, "little") + (1).to_bytes(4, "little")


def packed(content: bytes, kind: int) -> bytes:
    body = content + bytes([kind])
    return body + masked_crc32c(body).to_bytes(4, "little")


def table_bytes(entries: Mapping[bytes, bytes], *, snappy: bool = False, per_block: int = 3) -> bytes:
    out, index = bytearray(), []
    ordered = sorted(entries.items())
    for at in range(0, len(ordered), per_block):
        some = ordered[at : at + per_block]
        content = block(some)
        if snappy:
            content = bytes(cramjam.snappy.compress_raw(content))
        index.append((some[-1][0], varint(len(out)) + varint(len(content))))
        out += packed(content, int(snappy))
    return finish(bytes(out), index)


def finish(blocks: bytes, index: Iterable[tuple[bytes, bytes]]) -> bytes:
    content = block(index)
    meta = block([])
    handles = varint(len(blocks)) + varint(len(meta)) + varint(len(blocks) + len(meta) + 5) + varint(len(content))
    return blocks + packed(meta, 0) + packed(content, 0) + handles.ljust(40, b"\0") + MAGIC


def dtype_of(values: np.ndarray) -> int:
    if values.dtype.hasobject:
        return DataType.STRING
    return next(number for kind, number in DTYPES.items() if values.dtype == np.dtype(kind))


def stored(values: np.ndarray) -> tuple[bytes, int]:
    """The bytes of a tensor in a data file and their checksum."""
    if not values.dtype.hasobject:
        return values.tobytes(), masked_crc32c(values.tobytes())
    texts = list(values.ravel())
    lengths = b"".join(len(text).to_bytes(4, "little") for text in texts)
    mark, body = masked_crc32c(lengths).to_bytes(4, "little"), b"".join(texts)
    return b"".join(varint(len(text)) for text in texts) + mark + body, masked_crc32c(lengths, mark, body)


def write_bundle(prefix: Path, variables: Mapping[str, np.ndarray | Parts], *, shards: int = 1) -> Path:
    """A V2 checkpoint; a variable given as (slice, values) pairs is stored in parts. Shards take turns."""
    data = [bytearray() for _ in range(shards)]
    entries = {b"": protos.BundleHeaderProto(num_shards=shards).SerializeToString()}

    def place(key: bytes, values: np.ndarray, number: int) -> None:
        raw, crc = stored(values)
        entry = protos.BundleEntryProto(dtype=dtype_of(values), shard_id=number, offset=len(data[number]))
        entry.size, entry.crc32c = len(raw), crc
        fill_shape(entry.shape, values.shape)
        data[number] += raw
        entries[key] = entry.SerializeToString()

    for number, (name, values) in enumerate(variables.items()):
        if isinstance(values, np.ndarray):
            place(name.encode(), values, number % shards)
            continue
        entry = protos.BundleEntryProto(dtype=dtype_of(values[0][1]))
        fill_shape(entry.shape, [max(s + n for s, n in pairs) for pairs in zip(*(p for p, _ in values), strict=True)])
        for part, value in values:
            fill_slice(entry.slices.add(), part)
            place(slice_key(name.encode(), part), value, number % shards)
        entries[name.encode()] = entry.SerializeToString()
    index = prefix.with_name(prefix.name + ".index")
    index.write_bytes(table_bytes(entries))
    for number, content in enumerate(data):
        prefix.with_name(f"{prefix.name}.data-{number:05d}-of-{shards:05d}").write_bytes(content)
    return prefix


def write_v1(path: Path, variables: Mapping[str, Parts], shape: Sequence[int], *, snappy: bool = True) -> Path:
    """A V1 checkpoint of float variables, all of one full shape."""
    meta = protos.SavedTensorSlices()
    entries = {}
    for name, parts in variables.items():
        entry = meta.meta.tensor.add(name=name, type=DataType.FLOAT)
        fill_shape(entry.shape, shape)
        for part, values in parts:
            fill_slice(entry.slice.add(), part)
            found = protos.SavedTensorSlices()
            found.data.name = name
            found.data.data.float_val.extend(values.ravel().tolist())
            entries[slice_key(name.encode(), part)] = found.SerializeToString()
    entries[b""] = meta.SerializeToString()
    path.write_bytes(table_bytes(entries, snappy=snappy))
    return path


def fill_shape(proto: object, sizes: Iterable[int]) -> None:
    for size in sizes:
        proto.dim.add(size=size)


def fill_slice(proto: object, part: Slice) -> None:
    for start, length in part:
        extent = proto.extent.add(start=start)
        if length >= 0:
            extent.length = length
