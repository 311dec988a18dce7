"""Run a graph forward: the values of any node, as statistics, and as arrays in files."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphviewer.analysis.values import describe_values
from graphviewer.errors import OperationError, WriteError
from graphviewer.formats.inputs import refuse_to_replace
from graphviewer.formats.writing import require_writable, write_atomically
from graphviewer.model.document import Document
from graphviewer.model.progress import Progress, silent
from graphviewer.runtime.attempts import FIRST, Attempt, first_that_runs
from graphviewer.runtime.engine import CannotRunError
from graphviewer.runtime.feeds import path_and_key
from graphviewer.runtime.network import no_value
from graphviewer.runtime.pairing import Feed, Given, Side, alone
from graphviewer.runtime.permission import require_permission

_UNSAFE = re.compile(r"[^\w.\-]+")
_LONGEST_NAME = 120
_PIECE = 16 << 20
_MOST_PADDED = 256 << 20


class Output(NamedTuple):
    """The value of one output.

    Attributes:
        name: of the tensor.
        value: what it is.
        file: where it was written; empty where it was not.
    """

    name: str
    value: NDArray[Any]
    file: str = ""

    def to_json(self) -> dict[str, Any]:
        """As the contract has it; numbers are of the finite values, and null for strings and empty arrays.

        Beside the contract's keys: ``std``, ``zeros``, and ``nan`` and ``infinite`` that ``not_finite`` is the sum of;
        ``bars``, how many values are in each of equal steps from ``min`` to ``max``.
        """
        value = self.value
        found = describe_values(value if value.dtype.kind not in "OSUc" else np.empty(0))
        return {
            "name": self.name,
            "dtype": "string" if value.dtype.kind in "OSU" else value.dtype.name,
            "shape": list(value.shape),
            "min": found.least,
            "max": found.most,
            "mean": found.mean,
            "file": self.file or None,
            "not_finite": found.odd,
            "std": found.std,
            "zeros": found.zeros,
            "nan": found.nan,
            "infinite": found.odd - found.nan,
            "bars": list(found.bars),
        }


def run(
    document: Document,
    outputs: Sequence[str],
    feeds: Given = MappingProxyType({}),
    *,
    checkpoint: Path | None = None,
    folder: Path | None = None,
    file: Path | None = None,
    force: bool = False,
    allow: bool = False,
    seed: int = 0,
    progress: Progress = silent,
) -> tuple[list[Output], list[Feed]]:
    """The values of ``outputs``, and what the graph was fed.

    Args:
        document: the graph.
        outputs: names of nodes or tensors.
        feeds: values by name; what else must be fed gets made-up values.
        checkpoint: values of the variables; by default the document's own.
        folder: write each output there as a ``.npy`` file.
        file: write the one output to this ``.npy`` file.
        force: replace files that are there.
        allow: run a graph that could touch files, the network or Python.
        seed: of made values.
        progress: told what is being done; may raise Cancelled between steps.

    Raises:
        GraphViewerError: an unknown name, an unusable feed, missing values, no permission, or TensorFlow's refusal.
        OperationError: ``file``, and not one output.
        WriteError: a file is there already, or cannot be written.
    """

    def sized(attempt: Attempt) -> Side:
        return alone(document, outputs, feeds, checkpoint=checkpoint, seed=seed, attempt=attempt)

    side = sized(FIRST)
    require_permission(side.part.touches(), allow=allow)
    names = [str(end) for end in side.outputs]
    files = _targets(names, folder, file)
    for target in files:
        if target is not None and target.parent.exists():
            require_writable(target, force=force)
            refuse_to_replace(target, [document.path, checkpoint or document.checkpoint, *_files_of(feeds)])
    progress(0.05, "starting TensorFlow")
    side, values = first_that_runs(sized, Side.shapes, lambda side: (side, _values_of(side, progress)))
    found = []
    for name, value, target in zip(names, values, files, strict=True):
        array = np.asarray(value)
        if target is not None:
            _write(target, array, force=force)
        found.append(Output(name, array, str(target) if target is not None else ""))
    return found, side.feeds


def _values_of(side: Side, progress: Progress) -> list[NDArray[Any]]:
    """Run a graph once.

    Raises:
        CannotRunError: TensorFlow refuses it, or an output has no value.
    """
    with side.network(progress) as network:
        progress(0.9, "running")
        values = network.run(side.values)
    dead = next((end for end, value in zip(side.outputs, values, strict=True) if value is None), None)
    if dead is not None:
        raise CannotRunError(*no_value(side.label, [dead]))
    return [value for value in values if value is not None]


def _files_of(feeds: Given) -> list[Path]:
    return [path_and_key(given)[0] for given in feeds.values() if isinstance(given, str)]


def _targets(names: Sequence[str], folder: Path | None, file: Path | None) -> list[Path | None]:
    """Where each output is to be written.

    Raises:
        OperationError: ``file``, and not one output.
        WriteError: ``folder`` is none.
    """
    if file is not None and len(names) != 1:
        raise OperationError(
            f"{file.name} holds one array, and {len(names):,} outputs are asked for.", "Name one, or write to a folder."
        )
    if folder is None:
        return [file] * len(names)
    _require_folder(folder)
    return _files(folder, names)


def _require_folder(folder: Path) -> None:
    """Refuse a file for a folder, and a folder that would be called like an array.

    Raises:
        WriteError: it is a file, or is not there and ends in ``.npy``.
    """
    to_file = f"or write one output to a file with --npy {folder}"
    if folder.exists() and not folder.is_dir():
        raise WriteError(
            f"{folder} is a file, and outputs are written to a folder.",
            "Name a folder.",
            shell=f"Name a folder, {to_file} --force.",
        )
    if folder.suffix.lower() == ".npy" and not folder.exists():
        raise WriteError(
            f"{folder} would become a folder: each output is written to a file in it.",
            "Name a folder.",
            shell=f"Name a folder, {to_file}.",
        )


def _files(folder: Path, names: Sequence[str]) -> list[Path | None]:
    """A file for each name, told apart where names differ only in what files cannot be called."""
    taken: set[str] = set()
    files: list[Path | None] = []
    for name in names:
        stem = _UNSAFE.sub("_", name).strip(".")[-_LONGEST_NAME:] or "output"
        free, count = stem, 1
        while free.lower() in taken:
            count += 1
            free = f"{stem}_{count}"
        taken.add(free.lower())
        files.append(folder / f"{free}.npy")
    return files


def _write(file: Path, value: NDArray[Any], *, force: bool) -> None:
    """Strings as fixed-length bytes and bfloat16 as float32: numpy alone must be able to read the file."""
    if value.dtype.hasobject:
        value = _fixed_length(file, value)
    elif value.dtype.kind == "V" or value.dtype.name.startswith(("bfloat", "float8", "float4", "int4", "uint4")):
        value = value.astype(np.float32)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise WriteError(f"{file.parent} cannot be made: {error.strerror}.") from error
    write_atomically(file, npy_pieces(value), force=force)


def _fixed_length(file: Path, value: NDArray[Any]) -> NDArray[np.bytes_]:
    """Strings as numpy keeps them in files, each as long as the longest.

    Raises:
        WriteError: one very long string among many would make a file far larger than what it holds.
    """
    lengths = [len(text) for text in value.reshape(-1)]
    whole = max(lengths, default=0) * len(lengths)
    if whole > max(_MOST_PADDED, 4 * sum(lengths)):
        raise WriteError(
            f"{file.name} would take {whole:,} bytes: .npy makes {len(lengths):,} strings as long as the longest.",
            "Run a node that gives fewer of them.",
        )
    return value.astype(np.bytes_)


def npy_pieces(value: NDArray[Any]) -> Iterator[bytes]:
    """The bytes of a ``.npy`` file, a few megabytes at a time: a large array is not in memory twice."""
    ordered, head = np.asarray(value, order="C"), io.BytesIO()
    np.lib.format.write_array_header_1_0(head, np.lib.format.header_data_from_array_1_0(ordered))
    yield head.getvalue()
    if ordered.nbytes:
        flat = ordered.reshape(-1).view(np.uint8)
        for start in range(0, flat.size, _PIECE):
            yield flat[start : start + _PIECE].tobytes()
