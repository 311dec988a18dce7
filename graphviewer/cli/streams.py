"""Standard streams as the shell left them: closed ones are filled, and what becomes of output that nobody can take."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import TextIO

_INPUT, _OUTPUT, _ERRORS = range(3)


def prepare_streams() -> None:
    """Fill streams that are closed, so that no file takes their place, and let no character be too much for them.

    Standard output becomes one that refuses to be written to: work is done, and only who has something to say fails.
    Messages on a closed standard error are lost without a word, as they were meant to be.
    Source: gnulib, ``stdopen``.
    """
    _fill(_INPUT, os.O_RDONLY)
    if _fill(_OUTPUT, os.O_RDONLY) and sys.stdout is None:
        sys.stdout = _writer(_OUTPUT)
    if _fill(_ERRORS, os.O_WRONLY) and sys.stderr is None:
        sys.stderr = _writer(_ERRORS)
    own = sys.__stdout__
    if own is not None and own is sys.stdout and getattr(own, "write_through", False):
        sys.stdout = _writer(_OUTPUT, own.encoding)  # else what cannot be written is lost, and so is the reason
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def _fill(number: int, mode: int) -> bool:
    """Whether a stream was closed; it is then open on the null device.

    Args:
        number: of the stream; those with lower numbers are open.
        mode: of ``os.open``.
    """
    try:
        os.fstat(number)
    except OSError:
        opened = os.open(os.devnull, mode)
        if opened != number:
            os.dup2(opened, number)
            os.close(opened)
        return True
    return False


def _writer(number: int, encoding: str = "utf-8") -> TextIO:
    return open(number, "w", encoding=encoding, closefd=False)


def is_output_refused() -> bool:
    """Whether output waits that cannot be written."""
    try:
        sys.stdout.flush()
    except OSError:
        return True
    return False


def drop(stream: TextIO) -> None:
    """Throw away what waits in a stream and all to come: the interpreter would try to write it once more."""
    with suppress(OSError):  # of a stream that is no file there is nothing to throw away
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, stream.fileno())
        os.close(null)
