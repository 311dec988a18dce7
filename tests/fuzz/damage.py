"""Harm a file: flip bits, cut it, tear pieces out, splice in pieces of another; and watch what reading it costs."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from hypothesis import strategies as st

SECONDS, MEGABYTES = 2.0, 500
_LONGEST = 4_096


def edits(others: Sequence[bytes]) -> st.SearchStrategy[list[Callable[[bytes], bytes]]]:
    """A few changes, to be made one after the other; places are fractions of a file's length."""
    place = st.floats(0, 1, exclude_max=True)
    length = st.integers(1, _LONGEST)
    return st.lists(
        st.one_of(
            st.builds(_flip, place, st.integers(1, 255)),
            st.builds(_cut, place),
            st.builds(_tear, place, length),
            st.builds(_repeat, place, length),
            st.builds(_splice, place, st.sampled_from(others), place, length),
            st.builds(_write, place, st.binary(min_size=1, max_size=12)),
        ),
        min_size=1,
        max_size=4,
    )


def _flip(place: float, mask: int) -> Callable[[bytes], bytes]:
    def flip(data: bytes) -> bytes:
        at = int(place * len(data))
        return data[:at] + bytes(byte ^ mask for byte in data[at : at + 1]) + data[at + 1 :]

    return flip


def _cut(place: float) -> Callable[[bytes], bytes]:
    return lambda data: data[: int(place * len(data))]


def _tear(place: float, length: int) -> Callable[[bytes], bytes]:
    return lambda data: data[: int(place * len(data))] + data[int(place * len(data)) + length :]


def _repeat(place: float, length: int) -> Callable[[bytes], bytes]:
    def repeat(data: bytes) -> bytes:
        at = int(place * len(data))
        return data[: at + length] + data[at:]

    return repeat


def _splice(place: float, other: bytes, start: float, length: int) -> Callable[[bytes], bytes]:
    piece = other[int(start * len(other)) :][:length]
    return lambda data: data[: int(place * len(data))] + piece + data[int(place * len(data)) :]


def _write(place: float, piece: bytes) -> Callable[[bytes], bytes]:
    def write(data: bytes) -> bytes:
        at = int(place * len(data))
        return data[:at] + piece + data[at + len(piece) :]

    return write


@contextmanager
def limits() -> Iterator[None]:
    """Fail where the block takes over 2 s of the processor, children included; on Linux, refuse it 500 MB more."""
    begin = _processor_seconds()
    with _memory_limit():
        yield
    took = _processor_seconds() - begin
    assert took < SECONDS, f"took {took:.1f} s"


def _processor_seconds() -> float:
    return sum(os.times()[:4])  # of this process and of children that ended


@contextmanager
def _memory_limit() -> Iterator[None]:
    if not sys.platform.startswith("linux"):
        yield
        return
    import resource

    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (used + (MEGABYTES << 20), before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)
