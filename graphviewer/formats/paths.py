"""Paths that cannot be what a reader wants: no names at all, too long ones, pipes and devices."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import BinaryIO

from graphviewer.errors import ReadError

_SPECIAL = (
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISSOCK, "a socket"),
)
_NON_BLOCKING = getattr(os, "O_NONBLOCK", 0)  # Windows has neither the flag nor pipes among its files


def status_of(path: Path) -> os.stat_result | None:
    """What is at a path, links followed; None where nothing is.

    Raises:
        OSError: the path cannot be looked at: its name is too long, or a folder on the way is closed to us.
    """
    try:
        return path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except ValueError as error:  # a zero byte, or what the file system's encoding lacks
        raise OSError(0, "no file can have such a name") from error


def special_kind(status: os.stat_result) -> str:
    """``a named pipe``, ``a device``, ``a socket``; empty for files and folders."""
    return next((what for test, what in _SPECIAL if test(status.st_mode)), "")


def require_readable_kind(path: Path) -> None:
    """Refuse what would block, never end, or has no name, before anything is opened.

    Raises:
        ReadError: the path is special, or cannot be looked at; what is absent passes.
    """
    try:
        status = status_of(path)
    except OSError as error:
        raise unreadable(path, error) from error
    what = special_kind(status) if status is not None else ""
    if what:
        raise ReadError(f"{path} is {what}, not a regular file.", "Save its content to a file, and open that.")


def unreadable(path: Path, error: OSError) -> ReadError:
    """The error for a path that the system does not let us read."""
    reason = (error.strerror or type(error).__name__).lower()
    return ReadError(f"{shown(path)} cannot be read: {reason}.", "Check the path and its permissions.")


def shown(path: Path) -> str:
    """A path for a message: of a very long one, the end."""
    text = str(path)
    return text if len(text) <= 200 else "…" + text[-100:]


def open_regular(path: Path) -> BinaryIO:
    """Open a file for reading; a pipe is refused in place of waiting for who writes to it.

    Raises:
        OSError: it cannot be opened, or is no regular file.
    """
    status = status_of(path)
    if status is not None and special_kind(status):
        raise OSError(0, "not a regular file", str(path))
    return open(path, "rb", buffering=0, opener=_opener)


def _opener(path: str, flags: int) -> int:
    return os.open(path, flags | _NON_BLOCKING)
