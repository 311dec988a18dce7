r"""Text format of protocol buffers: small texts in Python, big and odd ones by protoc in a process of its own.

Python needs 12 s for 28 MB and holds the GIL; protoc needs 1.7 s and gives an equal message. Python's reader hands
escapes to a codec that knows others than protoc: it takes ``\N{DIGIT ONE}``, and ``\C`` with a mere warning (an error
in later Pythons), and doubts ``\?`` and surrogates, which are valid. Texts with such escapes are for protoc to judge.
"""

from __future__ import annotations

import codecs
import re
import subprocess
import sys
import tempfile
import time
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import numpy as np
from google.protobuf import text_format
from google.protobuf.message import DecodeError

from graphviewer import protos
from graphviewer.errors import ReadError, WriteError
from graphviewer.formats.source import Source
from graphviewer.model.progress import Progress, silent
from graphviewer.resources import resource

PROTOC_ABOVE = 1 << 18
_POLL_SECONDS = 0.1
_PROTOC_BYTES_PER_SECOND = 20e6
_PIECE = 1 << 20
_HEAD = 4096
_DEEPEST = 100  # what protobuf's readers of the binary form allow
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f]")
_COMMENTS = re.compile(r"(?m)^\s*#.*$")
_FIRST_FIELD = re.compile(r"\s*([A-Za-z_]\w*)\s*[:{]")
_ODD_ESCAPE = re.compile(r"""(?<!\\)(?:\\\\)*\\(?:[^0-7abfnrtvx\\'"]|x(?![0-9a-fA-F])|[4-7][0-7]{2})""")
_PLACE = re.compile(r"^(?:[^:\n]*:)?(\d+):(\d+)\s*:\s*(.+)$", re.MULTILINE)


class ProtocError(Exception):
    """What protoc wrote on standard error."""


class _CrashedError(ProtocError):
    """protoc came to its end without a word."""


def decode_text(data: bytes, *, cut: bool = False) -> str | None:
    """Bytes as text (UTF-8 with or without byte order mark, or UTF-16 with one); None when they are no text.

    ``cut``: the data are the beginning of more, so that a character may be broken at the end.
    """
    encoding = "utf-16" if data.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig"
    try:
        return codecs.getincrementaldecoder(encoding)().decode(data, final=not cut)
    except UnicodeDecodeError:
        return None


def parse_text(source: Source, message: str, progress: Progress = silent) -> bytes:
    """The binary form of a text file.

    Args:
        message: ``GraphDef``, ``MetaGraphDef`` or ``SavedModel``.

    Raises:
        ReadError: not valid, with line and column.
        Cancelled: by ``progress``.
    """
    text = decode_text(source.read(0, source.size))
    if text is None:
        raise ReadError(f"{source.name} is text with bytes that are not UTF-8.", "Save it again as UTF-8.")
    may_be_deep = _braces_around(text.encode()) > _DEEPEST
    try:
        raw = _encoded(source, message, text, progress)
    except (RecursionError, _CrashedError) as error:
        raise _too_deep(source) if may_be_deep else _broken(source, str(error)) from error
    if may_be_deep and not _can_be_read(raw, message):
        raise _too_deep(source)
    return raw


def _encoded(source: Source, message: str, text: str, progress: Progress) -> bytes:
    try:
        if source.size <= PROTOC_ABOVE and not _ODD_ESCAPE.search(text):
            raw: bytes = text_format.Parse(text, getattr(protos, message)()).SerializePartialToString()
            return raw
        with protoc("encode", message, [text.encode()], progress) as output:
            return output.read()
    except _CrashedError:
        raise
    except (text_format.ParseError, ProtocError, ValueError) as error:
        raise _broken(source, str(error)) from error


def _braces_around(data: bytes) -> int:
    """How many braces are open where most are; those in strings and comments count too, so that it may be fewer."""
    open_now = most = 0
    for start in range(0, len(data), _PIECE):
        codes = np.frombuffer(data, np.uint8, min(_PIECE, len(data) - start), start)
        steps = (codes == ord("{")).view(np.int8) - (codes == ord("}")).view(np.int8)
        depths = np.cumsum(steps[steps != 0], dtype=np.int64) + open_now
        if len(depths):
            open_now, most = int(depths[-1]), max(most, int(depths.max()))
    return most


def _can_be_read(raw: bytes, message: str) -> bool:
    """Whether a message is nested no deeper than every reader of the binary form allows, TensorFlow included."""
    try:
        getattr(protos, message).FromString(raw)
    except DecodeError:
        return False
    return True


def _too_deep(source: Source) -> ReadError:
    return ReadError(
        f"{source.name} is nested too deeply: more than {_DEEPEST} messages, one inside the other.",
        "TensorFlow cannot read such a graph in its binary form either: write it anew, less deep.",
    )


def _broken(source: Source, errors: str) -> ReadError:
    found = _PLACE.search(errors)
    if found is None:
        return ReadError(f"{source.name} is not valid text format: {errors.strip()[:300]}", "Was it cut short?")
    line, column, reason = found.groups()
    where = f"line {line}, column {column}"
    return ReadError(f"{source.name} is broken at {where}: {reason.strip().rstrip('.')}.", "Correct it there.")


@contextmanager
def protoc(action: str, message: str, data: Iterable[bytes], progress: Progress = silent) -> Iterator[BinaryIO]:
    """Run protoc on ``data`` with TensorFlow's descriptors; gives its output.

    Input and output are files, not pipes, so that neither is in memory whole.

    Args:
        action: ``encode`` (text to binary) or ``decode``.

    Raises:
        ProtocError: protoc refused the data, or crashed over them.
        Cancelled: by ``progress``; protoc is ended.
    """
    kind = getattr(protos, message).DESCRIPTOR
    with tempfile.TemporaryDirectory(prefix="graphviewer-") as folder:
        descriptors, given, made = (Path(folder) / name for name in ("descriptors", "given", "made"))
        descriptors.write_bytes(zlib.decompress(resource("tensorflow/protos.fds").read_bytes()))
        with open(given, "wb") as file:
            file.writelines(data)
        command = [sys.executable, "-P", "-m", "grpc_tools.protoc", f"--descriptor_set_in={descriptors}"]
        command += [f"--{action}={kind.full_name}", kind.file.name]
        with open(given, "rb") as stdin, open(made, "wb") as stdout, open(Path(folder) / "errors", "w+b") as errors:
            with subprocess.Popen(command, stdin=stdin, stdout=stdout, stderr=errors) as process:
                _wait(process, given.stat().st_size, progress)
            errors.seek(0)
            if process.returncode:
                said = errors.read(_HEAD).decode("utf-8", "replace")
                raise ProtocError(said) if said.strip() else _CrashedError("the parser ended without a word.")
        with open(made, "rb") as file:
            yield file


def _wait(process: subprocess.Popen[bytes], size: int, progress: Progress) -> None:
    """Wait for the end of a process, reporting how far it should be."""
    started = time.monotonic()
    while True:
        try:
            process.wait(_POLL_SECONDS)
            return
        except subprocess.TimeoutExpired:
            done = (time.monotonic() - started) * _PROTOC_BYTES_PER_SECOND / (size + 1)
        try:
            progress(min(done, 0.99), "Reading text")
        except BaseException:
            process.kill()
            raise


def first_field(source: Source) -> str | None:
    """The name of the first field of a text message; None for what is no such text."""
    text = decode_text(source.head(_HEAD), cut=source.size > _HEAD)
    if text is None or _CONTROL.search(text):
        return None
    found = _FIRST_FIELD.match(_COMMENTS.sub("", text))
    return found.group(1) if found else None


def format_text(message: str, pieces: Iterable[bytes]) -> Iterator[bytes]:
    """A message, given in binary pieces, as TensorFlow writes ``.pbtxt``.

    Raises:
        WriteError: protoc failed, or the message is beyond the 2 GiB that it takes.
    """
    try:
        with protoc("decode", message, pieces) as output:
            while piece := output.read(_PIECE):
                yield piece
    except ProtocError as error:
        raise WriteError(f"The text form cannot be made: {str(error)[:300]}", "Save as binary (.pb).") from error
