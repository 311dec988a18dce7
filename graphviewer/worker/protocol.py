"""What the window and the worker say to each other: length-prefixed JSON frames.

A frame is four bytes, the length of the rest in network order, then one JSON object whose ``type`` names the message.
The window sends ``job``; the worker says ``hello`` once, then for each job ``progress`` and ``log`` as they come and,
at its end, ``done`` or ``failed``. Results are small: what is big goes into files whose paths the job was given.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, BinaryIO

from graphviewer.errors import GraphViewerError

MAX_FRAME = 64 << 20
_LENGTH = struct.Struct("!I")


class ProtocolError(Exception):
    """Bytes that are no frame: the other side is broken, the connection is of no more use."""


@dataclass(frozen=True)
class Job:
    """Window to worker: do this.

    Attributes:
        name: a key of ``graphviewer.worker.jobs.JOBS``.
        params: keyword arguments of the job, JSON-able.
    """

    job: int
    name: str
    params: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Hello:
    """The worker is up and takes jobs."""

    pid: int
    version: str


@dataclass(frozen=True)
class Progress:
    """How far a job is, 0..1, and what is being done."""

    job: int
    fraction: float
    message: str


@dataclass(frozen=True)
class Log:
    """A warning that the program logged while it worked."""

    job: int
    level: str
    text: str


@dataclass(frozen=True)
class Done:
    """A job ended well."""

    job: int
    result: Mapping[str, Any]


@dataclass(frozen=True)
class Failed:
    """A job gave no result.

    Attributes:
        message: one sentence for the user.
        hint: what to do about it.
        detail: traceback, or the end of what the worker wrote to standard error; may be empty.
        kind: name of the error's class, for those that something can be offered about.
    """

    job: int
    message: str
    hint: str = ""
    detail: str = ""
    kind: str = ""

    def as_error(self) -> GraphViewerError:
        """What the window says of it."""
        return GraphViewerError(self.message, self.hint)


Message = Job | Hello | Progress | Log | Done | Failed
_TYPES = {kind.__name__.lower(): kind for kind in (Job, Hello, Progress, Log, Done, Failed)}


def encode(message: Message) -> bytes:
    """The frame of a message.

    Raises:
        ProtocolError: it is longer than MAX_FRAME, or holds what JSON cannot say.
    """
    try:
        body = json.dumps({"type": type(message).__name__.lower()} | asdict(message)).encode("ascii")
    except (TypeError, ValueError) as error:
        raise ProtocolError(f"{type(message).__name__} cannot be sent: {error}") from error
    if len(body) > MAX_FRAME:
        raise ProtocolError(f"{type(message).__name__} is too long to send: {len(body):,} bytes")
    return _LENGTH.pack(len(body)) + body


def decode(body: bytes | bytearray) -> Message:
    """The message in the body of a frame.

    Raises:
        ProtocolError: no JSON object, or no message that this side knows.
    """
    try:
        fields = json.loads(body)
        return _TYPES[fields.pop("type")](**fields)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ProtocolError(f"not a message: {bytes(body[:80])!r}") from error


class Decoder:
    """Puts messages together from bytes that come in pieces of any size."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, data: bytes) -> Iterator[Message]:
        """The messages that ``data`` completes.

        Raises:
            ProtocolError: what comes is no frame.
        """
        self._buffer += data
        while len(self._buffer) >= _LENGTH.size:
            end = _LENGTH.size + _body_length(self._buffer[: _LENGTH.size])
            if len(self._buffer) < end:
                return
            body = self._buffer[_LENGTH.size : end]
            del self._buffer[:end]
            yield decode(body)


def read(stream: BinaryIO) -> Message | None:
    """The next message of a blocking stream; None at its end.

    Raises:
        ProtocolError: what comes is no frame.
    """
    head = stream.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return None
    length = _body_length(head)
    body = stream.read(length)
    return decode(body) if len(body) == length else None


def _body_length(head: bytes | bytearray) -> int:
    length: int = _LENGTH.unpack(head)[0]
    if length > MAX_FRAME:
        raise ProtocolError(f"a frame of {length:,} bytes was announced")
    return length
