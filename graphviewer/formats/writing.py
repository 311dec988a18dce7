"""Write a file completely or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

from graphviewer.errors import WriteError


def write_atomically(path: Path, pieces: Iterable[bytes], *, force: bool = False) -> None:
    """Write to a temporary file beside ``path``, then put it in its place in one step.

    Args:
        force: replace a file that is there.

    Raises:
        WriteError: a file is there and ``force`` is not set, the folder is not writable, or the disk is full; what was
            at ``path`` before is still there.
    """
    if path.is_dir():
        raise WriteError(f"{path} is a folder.", "Give the name of a file.")
    if path.exists() and not force:
        raise WriteError(f"{path} exists.", "Choose another name, or overwrite it (--force).")
    target = Path(os.path.realpath(path))  # a link stays a link
    temporary: Path | None = None
    try:
        with tempfile.NamedTemporaryFile(dir=target.parent, prefix=f".{target.name[:100]}.", delete=False) as file:
            temporary = Path(file.name)
            for piece in pieces:
                file.write(piece)
            file.flush()
            os.fsync(file.fileno())
        temporary.chmod(_mode(target))
        temporary.replace(target)
        temporary = None
    except OSError as error:
        reason = error.strerror or type(error).__name__
        hint = "Check the free space and the permissions of its folder; what was there before is untouched."
        raise WriteError(f"{path} cannot be written: {reason.lower()}.", hint) from error
    finally:
        if temporary is not None:
            temporary.unlink(missing_ok=True)


def _mode(target: Path) -> int:
    """The permissions of the file that is replaced, or those that a new file gets."""
    if target.exists():
        return target.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
