"""Which graph and which checkpoint a path means: a file, a checkpoint's prefix, or a folder that holds them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from graphviewer.errors import ReadError
from graphviewer.formats.checkpoint import data_files, find_checkpoint, open_checkpoint, stem_of
from graphviewer.formats.foreign import Foreign
from graphviewer.formats.paths import require_readable_kind, unreadable
from graphviewer.formats.sniff import identify
from graphviewer.formats.source import open_source
from graphviewer.model.names import nearest

SAVED_MODELS = ("saved_model.pb", "saved_model.pbtxt")
_GRAPH_NAMES = ("graph.pbtxt", "graph.pb")
_GRAPH_KINDS = ("metagraph", "graphdef", "pbtxt", "savedmodel")
_SHARD = re.compile(r"\.data-\d{5}-of-\d{5}\Z")
_MOST_LISTED = 5
_MOST_LOOKED_AT = 1_000
_MOST_TRIED = 20  # files with a name like the one asked for: each is looked into
_MOST_OFFERED = 3


class Located(NamedTuple):
    """What to open.

    Attributes:
        graph: file with the graph; None when there is a checkpoint alone.
        checkpoint: prefix of the checkpoint that belongs to it, where the path itself says so.
    """

    graph: Path | None
    checkpoint: Path | None = None


def locate(path: Path, *, alone: bool = False) -> Located:
    """The files that a path means.

    Args:
        path: a file, a checkpoint's prefix or one of its files, or a folder.
        alone: do not look for the graph of a checkpoint.

    Raises:
        ReadError: there is nothing to open; the hint names what is near.
    """
    require_readable_kind(path)
    try:
        return _located(path, alone)
    except OSError as error:
        raise unreadable(path, error) from error


def _located(path: Path, alone: bool) -> Located:
    if path.is_dir():
        return _in_folder(path)
    if path.is_file() and not _is_of_checkpoint(path):
        return Located(path)
    prefix = find_checkpoint(path)
    if prefix is not None:
        return Located(None if alone else _graph_of(prefix), prefix)
    if path.is_file():
        open_checkpoint(path)  # says what is missing
    if data_files(stem_of(path)):
        open_checkpoint(path)  # says that the index is missing
    raise _absent(path)


def _is_of_checkpoint(path: Path) -> bool:
    """A table, a data file or a state file; ``.meta`` is a graph."""
    return bool(_SHARD.search(path.name)) or path.name == "checkpoint" or kind_of(path) == "checkpoint"


def kind_of(path: Path) -> str | None:
    """The kind of a file; None for what cannot be opened."""
    try:
        with open_source(path) as source:
            found = identify(source)
    except ReadError:
        return None
    return None if isinstance(found, Foreign) else found[0].kind


def _graph_of(prefix: Path) -> Path | None:
    """The graph that a checkpoint was made with: its .meta, the SavedModel around it, or the run's graph file."""
    meta = prefix.with_name(prefix.name + ".meta")
    if meta.is_file() and kind_of(meta) == "metagraph":
        return meta
    model = saved_model_of(prefix)
    if model is not None:
        return _first(model / name for name in SAVED_MODELS)
    return _first(prefix.parent / name for name in _GRAPH_NAMES)


def saved_model_of(prefix: Path) -> Path | None:
    """The folder of the SavedModel whose variables a checkpoint is; None for another checkpoint."""
    inside = prefix.name == prefix.parent.name == "variables"
    return prefix.parent.parent if inside else None


def _first(paths: Iterable[Path]) -> Path | None:
    return next((path for path in paths if path.is_file()), None)


def _in_folder(folder: Path) -> Located:
    """SavedModel; a checkpoint with its graph; the only graph; the newest events file; one version folder deeper."""
    try:
        files = [path for path in sorted(folder.iterdir())[:_MOST_LOOKED_AT] if not path.name.startswith(".")]
    except OSError as error:
        raise ReadError(
            f"{folder} cannot be read: {(error.strerror or '').lower()}.", "Check its permissions."
        ) from error
    model = _first(folder / name for name in SAVED_MODELS)
    if model is not None:
        return Located(model)
    prefix = find_checkpoint(folder)
    data = [] if prefix is not None else data_files(folder)
    graph = _graph_of(prefix or stem_of(data[-1])) if prefix is not None or data else None
    if graph is not None:
        return Located(graph, prefix)
    kinds = {path: kind_of(path) for path in files if path.is_file()}
    graphs = [path for path, kind in kinds.items() if kind in _GRAPH_KINDS]
    if len(graphs) == 1:
        return Located(graphs[0])
    if len(graphs) > 1 and prefix is None:
        raise ReadError(f"{folder} holds several graphs.", f"Open one of them: {_listed(graphs)}.")
    events = [path for path, kind in kinds.items() if kind == "tfevents"]
    if events and not graphs:
        return Located(max(events, key=lambda path: path.stat().st_mtime_ns), prefix)
    if prefix is not None:
        return Located(None, prefix)
    return _deeper(folder, files)


def _deeper(folder: Path, files: list[Path]) -> Located:
    """The newest of the version folders that TensorFlow Serving reads, or the only folder with something in it.

    Raises:
        ReadError: none; the message says what is there instead.
    """
    models = [path for path in files if path.is_dir() and _first(path / name for name in SAVED_MODELS)]
    versions = [path for path in models if path.name.isdecimal()]
    if versions:
        return _in_folder(max(versions, key=lambda path: int(path.name)))
    if models:
        hint = f"Open one of its folders: {_listed(models)}."
        raise ReadError(f"{folder} holds no graph itself.", hint)
    raise _nothing(folder, files)


def _nothing(folder: Path, files: list[Path]) -> ReadError:
    for path in files:
        if path.is_file():
            with open_source(path) as source:
                found = identify(source)
            if isinstance(found, Foreign) and "LFS" in found.what:
                return ReadError(f"{folder} holds no graph: {path.name} is {found.what}.", found.hint)
    if data_files(folder):
        open_checkpoint(folder)  # says that the index is missing
    if (folder / "variables").is_dir():
        hint = "Copy the whole folder again, saved_model.pb included."
        return ReadError(f"{folder} is a SavedModel without its saved_model.pb.", hint)
    return ReadError(f"{folder} holds nothing that can be opened.", "Open a folder with a SavedModel or a checkpoint.")


def _absent(path: Path) -> ReadError:
    """The error for a path where nothing is."""
    names = _names(path.parent)
    likely = (name for name in nearest(path.name, names, _MOST_TRIED) if _can_be_opened(path.parent / name))
    close = list(islice(likely, _MOST_OFFERED))
    if not path.parent.is_dir():
        return ReadError(f"There is no folder {path.parent}.", "Check the path.")
    hint = f"Closest: {', '.join(close)}." if close else "Check the path."
    return ReadError(f"There is no file, folder or checkpoint {path}.", hint)


def _can_be_opened(path: Path) -> bool:
    """A folder, a file of a checkpoint, or one whose content is known, if only to the library that it is asked about:
    no pipe, no device.
    """
    if path.is_dir() or _SHARD.search(path.name):
        return True
    try:
        with open_source(path) as source:
            found = identify(source)
    except ReadError:
        return False
    return found.runs_code if isinstance(found, Foreign) else True


def _names(folder: Path) -> list[str]:
    try:
        return [path.name for path in _some(folder)]
    except OSError:
        return []


def _some(folder: Path) -> Iterator[Path]:
    for number, path in enumerate(folder.iterdir()):
        if number == _MOST_LOOKED_AT:
            return
        yield path


def _listed(paths: list[Path]) -> str:
    more = f" and {len(paths) - _MOST_LISTED} more" if len(paths) > _MOST_LISTED else ""
    return ", ".join(path.name for path in paths[:_MOST_LISTED]) + more
