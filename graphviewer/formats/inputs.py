"""Which files are read when a path is opened, so that no result is written over them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from graphviewer.errors import ReadError, WriteError
from graphviewer.formats.checkpoint import data_files, find_checkpoint, v1_files
from graphviewer.formats.locate import SAVED_MODELS, locate

_STATE = "checkpoint"


def refuse_to_replace(
    target: Path, sources: Iterable[Path | None], *, because: str = "is the file that is read"
) -> None:
    """Refuse to write over a file that is read.

    Args:
        target: the file to write.
        sources: paths as they are opened: files, checkpoint prefixes, folders; None for one that was not given.
        because: what is wrong with the target, as the end of a sentence.

    Raises:
        WriteError: the target is one of the files behind the sources.
    """
    try:
        if not target.exists():
            return
        same = any(_same(target, file) for source in sources if source is not None for file in files_read(source))
    except (OSError, ValueError, ReadError):  # opening says it better
        return
    if same:
        raise WriteError(f"{target} {because}.", "Choose another name: a file is never changed in place.")


def files_read(path: Path) -> Iterator[Path]:
    """The files that opening a path may read, values of variables and assets of a SavedModel included.

    Raises:
        ReadError: there is nothing to open.
    """
    if path.is_file():
        yield path
    found = locate(path)
    prefix = found.checkpoint
    if found.graph is not None:
        yield found.graph
        prefix = prefix or find_checkpoint(found.graph)
        if found.graph.name in SAVED_MODELS:
            for folder in ("variables", "assets", "assets.extra"):
                yield from (found.graph.parent / folder).rglob("*")
    if prefix is not None:
        yield from (prefix.with_name(prefix.name + suffix) for suffix in (".index", ".meta"))
        yield from (prefix.with_name(_STATE), *data_files(prefix), *v1_files(prefix))


def _same(target: Path, file: Path) -> bool:
    return file.is_file() and target.samefile(file)
