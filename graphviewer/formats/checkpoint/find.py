"""Which checkpoint a path means: a prefix, one of its files, a folder that was trained into, or a graph beside one."""

from __future__ import annotations

import glob
import re
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import NamedTuple

from google.protobuf import text_encoding

from graphviewer.formats.checkpoint.sstable import is_table

__all__ = [
    "Step",
    "belongs_to",
    "checkpoint_steps",
    "data_files",
    "find_checkpoint",
    "how_chosen",
    "is_checkpoint",
    "missing_v1_shards",
    "stem_of",
    "v1_files",
]

_STATE = "checkpoint"
_FILE_SUFFIX = re.compile(r"\.(index|meta|data-\d{5}-of-\d{5})\Z")
_V1_SHARD = re.compile(r"-\d{5}-of-(\d{5})\Z")
_STEP = re.compile(r"-(\d{1,18})\Z")
_NAMED_PATH = re.compile(r'^\s*(?:all_)?model_checkpoint_paths?\s*:\s*"((?:[^"\\]|\\.)*)"', re.MULTILINE)
_LONGEST_STATE = 1 << 20


class Step(NamedTuple):
    """One checkpoint of a folder.

    Attributes:
        step: the number after the last dash of the prefix; None where there is none.
        mtime_ns: when it was written.
    """

    prefix: Path
    step: int | None
    mtime_ns: int


def find_checkpoint(path: Path | str) -> Path | None:
    """The prefix of the checkpoint that ``path`` means, or None.

    ``path`` may be a prefix, a file of a checkpoint (``.index``, ``.data-…``, ``.meta``, a V1 table), the state file
    ``checkpoint``, or a folder: its state file decides, even after the folder was moved; then SavedModel's variables;
    then the highest step. It may also be a graph file, which is joined by a checkpoint of its own name, else by the one
    that the folder's state file names, else by the only checkpoint there.
    """
    path = Path(path)
    if path.is_dir():
        return _in_folder(path) or (path if is_checkpoint(path) else None)
    whole = path.with_name(_V1_SHARD.sub("", path.name) or path.name)
    if is_checkpoint(whole):
        return whole
    if is_checkpoint(path):
        return path
    prefix = stem_of(path)
    if prefix != path:
        return prefix if is_checkpoint(prefix) else None
    if path.name == _STATE and path.is_file():
        return _in_folder(path.parent)
    return _beside(path) if path.is_file() else None


def checkpoint_steps(folder: Path | str) -> list[Step]:
    """All checkpoints in a folder, the newest last: by step, then by time."""
    folder = Path(folder)
    prefixes: dict[Path, Path] = {}
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        if path.name.endswith(".index") and len(path.name) > len(".index"):
            prefixes[path.with_name(path.name.removesuffix(".index"))] = path
        elif _may_be_v1(path) and is_table(path):
            prefixes.setdefault(path.with_name(_V1_SHARD.sub("", path.name) or path.name), path)
    steps = [Step(prefix, _step(prefix.name), path.stat().st_mtime_ns) for prefix, path in prefixes.items()]
    return sorted(steps, key=lambda step: (-1 if step.step is None else step.step, step.mtime_ns))


def how_chosen(prefix: Path) -> tuple[str, int]:
    """Why ``find_checkpoint`` takes a checkpoint of a folder, and how many are there.

    One of ``only``, ``state`` (the folder's state file names it), ``newest``, ``name`` (it has the graph's name).
    """
    steps = checkpoint_steps(prefix.parent)
    if len(steps) <= 1:
        return "only", 1
    if next(_named_by_state(prefix.parent), None) == prefix:
        return "state", len(steps)
    return "newest" if steps[-1].prefix == prefix else "name", len(steps)


def is_checkpoint(prefix: Path) -> bool:
    """There is an index, or V1 tables, with this prefix."""
    return bool(prefix.name) and (prefix.with_name(prefix.name + ".index").is_file() or bool(v1_files(prefix)))


def belongs_to(path: Path, prefix: Path) -> bool:
    """``path`` is a file of the checkpoint, or the state file beside it; a graph is not."""
    rest = path.name.removeprefix(prefix.name)
    ours = rest == "" or bool(_FILE_SUFFIX.fullmatch(rest) or _V1_SHARD.fullmatch(rest))
    return path.name == _STATE or (ours and path.name.startswith(prefix.name))


def stem_of(path: Path) -> Path:
    """``path`` without the suffix of a checkpoint's file."""
    return path.with_name(_FILE_SUFFIX.sub("", path.name) or path.name)


def data_files(path: Path) -> list[Path]:
    """The V2 data files of a prefix, or in a folder and its SavedModel variables, whether or not there is an index."""
    any_shard = ".data-?????-of-?????"
    if path.is_dir():
        return sorted([*path.glob("*" + any_shard), *path.glob("variables/variables" + any_shard)])
    return sorted(path.parent.glob(glob.escape(path.name) + any_shard))


def missing_v1_shards(files: Sequence[Path]) -> list[Path]:
    """The shards of a V1 checkpoint that the names of the others speak of."""
    found = next((match for path in files if (match := _V1_SHARD.search(path.name))), None)
    if found is None:
        return []
    total, stem = found[1], files[0].name.removesuffix(found[0])
    wanted = (files[0].with_name(f"{stem}-{number:05d}-of-{total}") for number in range(int(total)))
    return [path for path in wanted if path not in files]


def v1_files(prefix: Path) -> list[Path]:
    """The tables of a V1 checkpoint: the file itself, or its shards."""
    if is_table(prefix):
        return [prefix] if not prefix.name.endswith(".index") else []
    if not prefix.parent.is_dir():
        return []
    start = prefix.name + "-"
    shards = (path for path in prefix.parent.iterdir() if path.name.startswith(start))
    return sorted(path for path in shards if _V1_SHARD.sub("", path.name) == prefix.name and is_table(path))


def _may_be_v1(path: Path) -> bool:
    """Worth a look at its end: V1 tables have no suffix of their own."""
    return (
        not _FILE_SUFFIX.search(path.name) and path.suffix not in {".pb", ".pbtxt", ".h5", ".keras"} and path.is_file()
    )


def _step(name: str) -> int | None:
    found = _STEP.search(name)
    return int(found[1]) if found else None


def _in_folder(folder: Path) -> Path | None:
    """State file, SavedModel's variables, highest step."""
    named = next(_named_by_state(folder), None)
    if named is not None:
        return named
    variables = folder / "variables" / "variables"
    if is_checkpoint(variables):
        return variables
    steps = checkpoint_steps(folder)
    return steps[-1].prefix if steps else None


def _beside(graph: Path) -> Path | None:
    """The checkpoint that belongs to a graph file. Unrelated checkpoints in one folder are not guessed between."""
    own = graph.with_suffix("")
    if own != graph and is_checkpoint(own):
        return own
    variables = graph.parent / "variables" / "variables"
    if graph.name.startswith("saved_model.pb"):
        return variables if is_checkpoint(variables) else None
    named = next(_named_by_state(graph.parent), None)
    if named is not None:
        return named
    steps = checkpoint_steps(graph.parent)
    series = {_STEP.sub("", step.prefix.name) for step in steps}
    return steps[-1].prefix if len(series) == 1 else None


def _named_by_state(folder: Path) -> Iterator[Path]:
    """Checkpoints that the state file names and that exist, the latest first.

    The file of that name in this folder wins over an absolute path: the folder may be a copy, and the original still be
    there, trained further.
    """
    state = folder / _STATE
    if not state.is_file() or is_table(state):
        return
    with open(state, "rb") as file:
        text = file.read(_LONGEST_STATE).decode("utf-8", "replace")
    for quoted in _NAMED_PATH.findall(text):
        name = _unquoted(quoted)
        # A state file may come from another system than this one.
        last = PureWindowsPath(name).name if "\\" in name else PurePosixPath(name).name
        here = folder / last
        for place in (here,) if data_files(here) else (here, folder / name):  # a part of it here: not the original
            if last and is_checkpoint(place):
                yield place


def _unquoted(text: str) -> str:
    """A text-format string without its escapes (octal escapes are UTF-8 bytes)."""
    try:
        return bytes(text_encoding.CUnescape(text)).decode("utf-8", "replace")
    except ValueError:
        return text
