"""Folders for temporary files that are locked as long as their owner lives, so that those of the dead can be removed.

The kernel lets go of a lock when its owner ends, however that ends: no process number is taken for another's.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
import tempfile
import weakref
from contextlib import suppress
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows, where nothing is swept: who would lock a folder there?
    fcntl = None  # type: ignore[assignment]

_PREFIX = "graphviewer-scratch-"
_NAME = re.compile(re.escape(_PREFIX) + r"\w+")


class Scratch:
    """A folder for temporary files of this process, which goes with this object.

    Attributes:
        path: where it is.
    """

    def __init__(self) -> None:
        while True:
            self.path = Path(tempfile.mkdtemp(prefix=_PREFIX))
            lock = _locked(self.path)
            # Without locks, nobody can take it for a dead one's either; without the folder, somebody just did.
            if lock is not None or self.path.is_dir():
                break
        self._removed = weakref.finalize(self, _remove, self.path, lock)

    def remove(self) -> None:
        """Delete the folder with all that is in it."""
        self._removed()


def _remove(path: Path, lock: int | None) -> bool:
    """Delete a folder, then let go of its lock; whether it is gone."""
    shutil.rmtree(path, ignore_errors=True)  # which follows no links
    if lock is not None:
        os.close(lock)
    return not path.exists()


def sweep() -> int:
    """Remove the folders whose owners ended without doing so, such as by SIGKILL; returns how many.

    Only folders of this user that ``Scratch`` made; what is no folder itself, such as a link to one, is left alone.
    """
    return sum(_is_swept(path) for path in _candidates())


def _candidates() -> list[Path]:
    with suppress(OSError), os.scandir(tempfile.gettempdir()) as entries:
        return [Path(entry.path) for entry in entries if _NAME.fullmatch(entry.name)]
    return []


def _is_swept(path: Path) -> bool:
    lock = _locked(path)
    return lock is not None and _remove(path, lock)


def _locked(path: Path) -> int | None:
    """A descriptor that holds the lock of a folder of this user; None where another one does, or there is none."""
    if fcntl is None:
        return None
    try:
        folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        status = os.fstat(folder)
        fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        is_ours = status.st_uid == os.geteuid() and stat.S_IMODE(status.st_mode) == stat.S_IRWXU
        if is_ours and os.path.samestat(status, os.lstat(path)):  # it was not swept before the lock was taken
            return folder
    except OSError:
        pass
    os.close(folder)
    return None
