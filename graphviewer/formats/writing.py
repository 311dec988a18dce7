"""Write a file completely or not at all."""

from __future__ import annotations

import os
import signal
import stat
import tempfile
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

from graphviewer.errors import WriteError
from graphviewer.formats.paths import shown, special_kind, status_of

_NAME_A_FILE = "Give the name of a file."


def write_atomically(path: Path, pieces: Iterable[bytes], *, force: bool = False) -> None:
    """Write to a temporary file beside ``path``, then put it in its place in one step.

    Args:
        force: replace a file that is there.

    Raises:
        WriteError: as of ``require_writable``, the folder is not writable, or the disk is full; what was
            at ``path`` before is still there.
    """
    require_writable(path, force=force)
    target = Path(os.path.realpath(path))  # a link stays a link
    temporary: Path | None = None
    try:
        with (
            _unwound_when_terminated(),
            tempfile.NamedTemporaryFile(dir=target.parent, prefix=f".{target.name[:50]}.", delete=False) as file,
        ):
            temporary = Path(file.name)
            for piece in pieces:
                file.write(piece)
            file.flush()
            os.fsync(file.fileno())
            temporary.chmod(_mode(target))
            temporary.replace(target)
            temporary = None
    except OSError as error:
        raise _unwritable(path, error) from error
    finally:
        if temporary is not None:
            temporary.unlink(missing_ok=True)


def require_writable(path: Path, *, force: bool = False) -> None:
    """Refuse a target that can be told to be none before the work is done.

    Args:
        force: a file that is there may be replaced.

    Raises:
        WriteError: it cannot be a file, is a folder, a pipe or a device, or is there and ``force`` is not set.
    """
    try:
        status = status_of(path)
    except OSError as error:
        raise _unwritable(path, error) from error
    if _is_stream(path) or (status is not None and special_kind(status)):
        raise WriteError(f"{path} is not a regular file.", _NAME_A_FILE)
    if status is not None and stat.S_ISDIR(status.st_mode):
        raise WriteError(f"{path} is a folder.", _NAME_A_FILE)
    if status is not None and not force:
        raise WriteError(
            f"{path} exists.", "Choose another name.", shell="Choose another name, or overwrite it (--force)."
        )
    if status is None and not path.parent.is_dir():
        raise WriteError(f"{path} cannot be written: there is no folder {path.parent}.", "Make the folder first.")


def _is_stream(path: Path) -> bool:
    """The path is a name of something that the process has open, whatever that is at the moment."""
    return os.path.abspath(path).startswith(("/dev/std", "/dev/fd/", "/proc/"))


def _unwritable(path: Path, error: OSError) -> WriteError:
    reason = (error.strerror or type(error).__name__).lower()
    hint = "Check the free space and the permissions of its folder; what was there before is untouched."
    return WriteError(f"{shown(path)} cannot be written: {reason}.", hint)


@contextmanager
def _unwound_when_terminated() -> Iterator[None]:
    """Let SIGTERM end the process as an exit does, so that what is half-written is taken away.

    Only here, not for the whole process: TensorFlow's own code does not let Python's handlers run.
    """
    ours = threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGTERM) == signal.SIG_DFL
    if ours:
        signal.signal(signal.SIGTERM, _exit)
    try:
        yield
    finally:
        if ours:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _exit(number: int, _frame: object) -> NoReturn:
    raise SystemExit(128 + number)


def _mode(target: Path) -> int:
    """The permissions of the file that is replaced, or those that a new file gets."""
    if target.exists():
        return target.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
