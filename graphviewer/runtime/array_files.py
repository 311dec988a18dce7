"""Arrays in files that say how large they are: what they say is compared with what there is, before anything is loaded.

Source: NumPy, ``numpy.lib.format``, format versions 1.0 to 3.0.
"""

from __future__ import annotations

import math
import zipfile
from pathlib import Path
from typing import IO

from numpy.lib import format as npy

_SUFFIX = ".npy"


def require_whole(path: Path) -> None:
    """Make sure that the file of an array holds as many bytes as its header declares.

    A file that is no ``.npy`` file passes: loading it says why.

    Raises:
        ValueError: it does not, or its header does not parse.
        OSError: it cannot be read.
    """
    with path.open("rb") as file:
        _require_rest(file, path.stat().st_size)


def require_whole_member(path: Path, key: str) -> None:
    """As ``require_whole``, for one array of a ``.npz`` file.

    Raises:
        ValueError, OSError: as there.
        zipfile.BadZipFile: no archive.
    """
    with zipfile.ZipFile(path) as archive:
        name = key if key in archive.namelist() else key + _SUFFIX
        if name in archive.namelist():
            with archive.open(name) as file:
                _require_rest(file, archive.getinfo(name).file_size)


def _require_rest(file: IO[bytes], size: int) -> None:
    magic = file.read(npy.MAGIC_LEN)
    if not magic.startswith(npy.MAGIC_PREFIX) or len(magic) < npy.MAGIC_LEN:
        return
    # Versions 2 and 3 differ only in how the names of fields are encoded.
    read = npy.read_array_header_1_0 if magic[-2] == 1 else npy.read_array_header_2_0
    shape, _is_fortran, dtype = read(file)
    declared, found = math.prod(shape) * dtype.itemsize, size - file.tell()
    if not dtype.hasobject and declared > found:
        raise ValueError(f"its header declares {declared:,} bytes of values, and {max(found, 0):,} are there")
