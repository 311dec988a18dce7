"""Slices of variables: where a part lies, and the key under which a checkpoint keeps it.

Source: tensorflow/core/framework/tensor_slice.cc, core/util/saved_tensor_slice_util.cc, tsl/lib/strings/ordered_code.cc
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from typing import Any

from graphviewer.errors import CheckpointError

__all__ = ["WHOLE", "Slice", "extents", "overlap", "parse_slice_spec", "resolve", "slice_key", "volume"]

Slice = tuple[tuple[int, int], ...]
"""(start, length) per dimension; length WHOLE means all of that dimension."""

WHOLE = -1


def extents(proto: Any, rank: int) -> Slice:
    """A TensorSliceProto as written, WHOLE where it names no length; a slice without extents is the whole tensor."""
    found = [(part.start, part.length if part.HasField("length") else WHOLE) for part in proto.extent]
    return tuple(found) if found else ((0, WHOLE),) * rank


def resolve(part: Sequence[tuple[int, int]], shape: Sequence[int]) -> Slice:
    """``part`` with every length given.

    Raises:
        CheckpointError: it does not lie inside ``shape``.
    """
    ends = zip(part, shape, strict=False)
    found = tuple((start, size - start if length == WHOLE else length) for (start, length), size in ends)
    inside = all(start >= 0 <= length <= size - start for (start, length), size in zip(found, shape, strict=False))
    if len(part) != len(shape) or not inside:
        raise CheckpointError(f"The slice {list(part)} does not lie inside the shape {list(shape)}.")
    return found


def volume(part: Iterable[tuple[int, int]]) -> int:
    """Elements of a resolved slice."""
    return math.prod(length for _, length in part)


def overlap(one: Slice, other: Slice) -> Slice | None:
    """What two resolved slices of a tensor share; None where that is nothing."""
    both = [(max(a, b), min(a + m, b + n) - max(a, b)) for (a, m), (b, n) in zip(one, other, strict=True)]
    return None if any(length <= 0 for _, length in both) else tuple(both)


def parse_slice_spec(spec: str) -> tuple[list[int], Slice] | None:
    """The full shape and the slice of a ``shape_and_slices`` entry of SaveV2 and RestoreV2, such as ``"4 5 0,2:-"``.

    None for the empty text, which means the whole tensor.

    Raises:
        CheckpointError: it is not of that form.
    """
    if not spec:
        return None
    *sizes, text = spec.split(" ")
    try:
        shape = [int(size) for size in sizes]
        pairs = [part.split(",") for part in text.split(":")]
        return shape, resolve([(0, WHOLE) if pair == ["-"] else (int(pair[0]), int(pair[1])) for pair in pairs], shape)
    except (ValueError, IndexError) as error:
        raise CheckpointError(f"'{spec}' does not name a slice.") from error


def slice_key(name: bytes, part: Slice) -> bytes:
    """The key of a slice of the variable ``name``, in the table of a checkpoint; ``part`` as written."""
    numbers = (_signed(number) for pair in part for number in pair)
    return _unsigned(0) + _string(name) + _unsigned(len(part)) + b"".join(numbers)


def _unsigned(number: int) -> bytes:
    """OrderedCode::WriteNumIncreasing: the number of bytes, then the bytes, big end first."""
    size = (number.bit_length() + 7) // 8
    return bytes([size]) + number.to_bytes(size, "big")


def _string(text: bytes) -> bytes:
    """OrderedCode::WriteString: escaped so that the terminator sorts before every longer string."""
    return re.sub(rb"[\0\xff]", lambda found: b"\0\xff" if found[0] == b"\0" else b"\xff\0", text) + b"\0\1"


def _signed(number: int) -> bytes:
    """OrderedCode::WriteSignedNumIncreasing: two's complement, its first bits flipped to tell sign and length."""
    size = 1 + (~number if number < 0 else number).bit_length() // 7
    bits = number & ((1 << 8 * size) - 1)
    header = ((1 << size) - 1) << 7 * size
    return (bits ^ header).to_bytes(size, "big")
