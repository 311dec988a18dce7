"""Open a checkpoint, or say what is there instead."""

from __future__ import annotations

from pathlib import Path

from graphviewer.errors import CheckpointError, ReadError
from graphviewer.formats.checkpoint.bundle import Bundle
from graphviewer.formats.checkpoint.checkpoint import Checkpoint
from graphviewer.formats.checkpoint.find import (
    belongs_to,
    checkpoint_steps,
    data_files,
    find_checkpoint,
    stem_of,
    v1_files,
)
from graphviewer.formats.checkpoint.sstable import is_table
from graphviewer.formats.checkpoint.stable_file import COPY_AGAIN
from graphviewer.formats.checkpoint.v1 import TableCheckpoint
from graphviewer.model.names import nearest
from graphviewer.model.problem import Problem

__all__ = ["index_problem", "open_checkpoint"]


def open_checkpoint(path: Path | str) -> Checkpoint:
    """Read the index of a checkpoint; values are read later, from the files as they are now.

    Args:
        path: a prefix, or one of its files, or a folder: what ``find_checkpoint`` understands, but for a graph file.

    Raises:
        CheckpointError: there is none, or its index is missing or damaged.
    """
    path = Path(path)
    prefix = find_checkpoint(path)
    if prefix is None or (path.is_file() and not belongs_to(path, prefix)):
        raise _none_at(path)
    index = prefix.with_name(prefix.name + ".index")
    if not index.is_file():
        return TableCheckpoint(prefix, v1_files(prefix))
    if not is_table(index):
        raise _no_index(index)
    return Bundle(prefix)


def _no_index(index: Path) -> CheckpointError:
    """The index is there, and is none."""
    what, hint = _describe(index)
    if what:
        return CheckpointError(f"{index.name} is not a checkpoint's index but {what}.", hint)
    return CheckpointError(
        f"{index.name} is damaged or cut short: it does not end as a checkpoint's index does.",
        COPY_AGAIN,
    )


def _none_at(path: Path) -> CheckpointError:
    """Say what is at ``path``, and which checkpoints are near."""
    data = data_files(path if path.is_dir() else stem_of(path))
    if data:
        return _index_missing(data[0])
    folder = path if path.is_dir() else path.parent
    names = [step.prefix.name for step in checkpoint_steps(folder)]
    close = nearest(path.name, names) or names[-3:]
    hint = (
        f"Checkpoints there: {', '.join(close)}." if close else "A checkpoint is named by its prefix: model.ckpt-1000."
    )
    if path.is_dir():
        return CheckpointError(f"There is no checkpoint in the folder {path}.", hint)
    if path.is_file():
        return CheckpointError(
            f"{path.name} is not a checkpoint but {_describe(path)[0] or 'something unknown'}.", hint
        )
    return CheckpointError(f"There is no checkpoint {path}.", hint)


def _index_missing(data: Path) -> CheckpointError:
    problem = index_problem(data)
    return CheckpointError(problem.reason, problem.hint)


def index_problem(data: Path) -> Problem:
    """What to say of a data file whose index is not beside it."""
    index = data.name.rpartition(".data-")[0] + ".index"
    return Problem(
        "checkpoint",
        "error",
        f"{data.name} is there, but its index {index} is missing.",
        f"Copy it to {data.parent} from where the checkpoint was made: the values cannot be read without it.",
    )


def _describe(path: Path) -> tuple[str, str]:
    """What a file is, in words, and what to do about it; empty for what nobody knows."""
    from graphviewer.formats.foreign import Foreign  # late: the formats' package knows this one
    from graphviewer.formats.sniff import identify
    from graphviewer.formats.source import open_source

    try:
        with open_source(path) as source:
            found = identify(source)
    except ReadError as error:
        return "", error.hint
    if isinstance(found, Foreign):
        return found.what, found.hint
    return f"a {found[0].label}", "Give the checkpoint's prefix, such as model.ckpt-1000."
