"""What a Keras file expands to, asked before anything in it is expanded: by its zip, and by the HDF5 inside."""

from __future__ import annotations

import shutil
import tempfile
import zipfile
from pathlib import Path
from typing import IO, Any

from graphviewer.errors import ReadError
from graphviewer.formats.source import EXPANDED_LIMIT

_MAGIC = b"\x89HDF\r\n\x1a\n"
_ZIP = b"PK\3\4"
_MOST_EXPANSION = 20  # weights hardly shrink when they are packed


def refuse_bomb(path: Path) -> None:
    """Refuse a file that expands to far more than it is.

    Raises:
        ReadError: it does, or it is damaged.
    """
    try:
        if holds_hdf5(path):
            _limit(path, path.stat().st_size, _declared(path, path.name))
        else:
            _refuse_archive(path)
    except (zipfile.BadZipFile, EOFError, OSError) as error:
        raise ReadError(f"{path.name} is a damaged Keras file: {error}.", "Copy or download it again.") from error


def holds_hdf5(path: Path) -> bool:
    """The file begins as HDF5 does."""
    with path.open("rb") as file:
        return file.read(len(_MAGIC)) == _MAGIC


def _refuse_archive(path: Path) -> None:
    packed = path.stat().st_size
    with zipfile.ZipFile(path) as archive:
        entries = archive.infolist()
        _limit(path, packed, sum(entry.file_size for entry in entries))
        declared = sum(_declared_inside(archive, entry, path.name) for entry in entries)
    _limit(path, packed, declared)


def _declared_inside(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, name: str) -> int:
    """The bytes that an entry expands to once more, where it holds weights: HDF5, or an archive of arrays (.npz)."""
    with archive.open(entry) as packed:
        head = packed.read(len(_MAGIC))
        is_hdf5 = head == _MAGIC or entry.filename.endswith(".h5")  # HDF5 may begin behind a block of the user's
        if not is_hdf5 and not head.startswith(_ZIP):
            return 0
        with tempfile.TemporaryFile(prefix="graphviewer-") as unpacked:
            unpacked.write(head)
            shutil.copyfileobj(packed, unpacked)
            unpacked.seek(0)
            return _declared(unpacked, name) if is_hdf5 else _declared_in_zip(unpacked)


def _declared_in_zip(file: IO[bytes]) -> int:
    with zipfile.ZipFile(file) as archive:
        return sum(entry.file_size for entry in archive.infolist())


def _declared(file: Path | IO[bytes], name: str) -> int:
    """The bytes of all datasets as they would be in memory, unpacked and with what was never written filled in.

    Raises:
        ReadError: it is no sound HDF5.
    """
    import h5py

    total = 0

    def add(_name: str, one: Any) -> None:
        nonlocal total
        if isinstance(one, h5py.Dataset):
            total += int(one.size or 0) * int(one.dtype.itemsize)

    try:
        with h5py.File(file, "r") as opened:
            opened.visititems(add)
    except (OSError, RuntimeError, KeyError, ValueError, TypeError) as error:
        raise ReadError(f"{name} is a damaged HDF5 file: {error}.", "Copy or download it again.") from error
    return total


def _limit(path: Path, packed: int, unpacked: int) -> None:
    if unpacked > max(EXPANDED_LIMIT, _MOST_EXPANSION * packed):
        raise ReadError(f"{path.name} unpacks to {unpacked:,} bytes: no model does.", "Do not trust this file.")
