"""A file that must stay what it was when it was first looked at."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from graphviewer.errors import CheckpointError
from graphviewer.formats.paths import open_regular

COPY_AGAIN = "Copy the checkpoint again from where it was made."
_LFS = b"version https://git-lfs"


@dataclass(frozen=True)
class StableFile:
    """A file's path with the size and time it had; opened for each read, and only for that.

    A map held open would kill the process (SIGBUS) when training overwrites the checkpoint in place, and an open file
    could not be replaced on Windows.
    """

    path: Path
    size: int
    mtime_ns: int

    @classmethod
    def of(cls, path: Path) -> StableFile:
        """Look at a file.

        Raises:
            CheckpointError: it cannot be looked at.
        """
        try:
            status = path.stat()
        except OSError as error:
            raise _unreadable(path, error) from error
        return cls(path, status.st_size, status.st_mtime_ns)

    @property
    def name(self) -> str:
        """The file's name, for messages."""
        return self.path.name

    def read(self, offset: int, length: int) -> bytes:
        """``length`` bytes at ``offset``; never allocates more than the file holds.

        Raises:
            CheckpointError: the file ends before that, cannot be read, or changed since it was first looked at.
        """
        if offset + length > self.size:
            raise CheckpointError(
                f"{self.name} is cut short: bytes {offset:,} to {offset + length:,} are needed, it has {self.size:,}.",
                COPY_AGAIN,
            )
        try:
            with open_regular(self.path) as file:
                status = os.fstat(file.fileno())
                if (status.st_size, status.st_mtime_ns) != (self.size, self.mtime_ns):
                    raise CheckpointError(f"{self.name} changed on disk since it was opened.", "Open it again.")
                file.seek(offset)
                return _read_all(file.fileno(), length)
        except OSError as error:
            raise _unreadable(self.path, error) from error


def is_lfs_pointer(path: Path) -> bool:
    """The file is what Git LFS leaves where a large file was not downloaded; false for what cannot be read."""
    try:
        with open_regular(path) as file:
            return file.read(len(_LFS)) == _LFS
    except OSError:
        return False


def _read_all(descriptor: int, length: int) -> bytes:
    """Exactly ``length`` bytes where there are so many: one read stops at 2 GiB on Linux."""
    data = os.read(descriptor, length)
    if len(data) == length:
        return data
    parts, have = [data], len(data)
    while have < length and parts[-1]:
        parts.append(os.read(descriptor, length - have))
        have += len(parts[-1])
    return b"".join(parts)


def _unreadable(path: Path, error: OSError) -> CheckpointError:
    reason = (error.strerror or type(error).__name__).lower()
    return CheckpointError(f"{path.name} cannot be read: {reason}.", f"It is looked for in {path.parent}.")
