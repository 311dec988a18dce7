"""Run a graph forward: the values of any node, as statistics, and as arrays in files."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphviewer.errors import WriteError
from graphviewer.formats.inputs import refuse_to_replace
from graphviewer.formats.writing import require_writable, write_atomically
from graphviewer.model.document import Document
from graphviewer.model.progress import Progress, silent
from graphviewer.runtime.feeds import path_and_key
from graphviewer.runtime.network import Network
from graphviewer.runtime.pairing import Feed, Given, alone
from graphviewer.runtime.permission import require_permission

_UNSAFE = re.compile(r"[^\w.\-]+")
_LONGEST_NAME = 120


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
        """As the contract has it; statistics are of the finite values, and null for strings and empty arrays."""
        value = self.value
        found: dict[str, float | None] = {"min": None, "max": None, "mean": None, "not_finite": 0}
        if value.dtype.kind not in "OSUc" and value.size:
            wide = value.astype(np.float64)
            finite = wide[np.isfinite(wide)]
            found["not_finite"] = wide.size - finite.size
            if finite.size:
                found.update(min=float(finite.min()), max=float(finite.max()), mean=float(finite.mean()))
        return {
            "name": self.name,
            "dtype": "string" if value.dtype.hasobject else value.dtype.name,
            "shape": list(value.shape),
            "min": found["min"],
            "max": found["max"],
            "mean": found["mean"],
            "file": self.file or None,
            "not_finite": found["not_finite"],
        }


def run(
    document: Document,
    outputs: Sequence[str],
    feeds: Given = MappingProxyType({}),
    *,
    checkpoint: Path | None = None,
    folder: Path | None = None,
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
        force: replace files that are there.
        allow: run a graph that could touch files, the network or Python.
        seed: of made values.
        progress: told what is being done; may raise Cancelled between steps.

    Raises:
        GraphViewerError: an unknown name, an unusable feed, missing values, no permission, or TensorFlow's refusal.
        WriteError: a file is there already, or cannot be written.
    """
    side = alone(document, outputs, feeds, checkpoint=checkpoint, seed=seed)
    require_permission(side.part.touches(), allow=allow)
    names = [str(end) for end in side.outputs]
    files = _files(folder, names) if folder is not None else [None] * len(names)
    for file in files:
        if file is not None and file.parent.exists():
            require_writable(file, force=force)
            refuse_to_replace(file, [document.path, checkpoint or document.checkpoint, *_files_of(feeds)])
    progress(0.05, "starting TensorFlow")
    with Network(
        side.part, side.outputs, checkpoint=side.checkpoint, assets=side.assets, label=side.label, progress=progress
    ) as network:
        progress(0.9, "running")
        values = network.run(side.values)
    found = []
    for name, value, file in zip(names, values, files, strict=True):
        array = np.asarray(value)
        if file is not None:
            _write(file, array, force=force)
        found.append(Output(name, array, str(file) if file is not None else ""))
    return found, side.feeds


def _files_of(feeds: Given) -> list[Path]:
    return [path_and_key(given)[0] for given in feeds.values() if isinstance(given, str)]


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
        value = value.astype(np.bytes_)
    elif value.dtype.kind == "V" or value.dtype.name.startswith(("bfloat", "float8", "float4", "int4", "uint4")):
        value = value.astype(np.float32)
    buffer = io.BytesIO()
    np.save(buffer, value, allow_pickle=False)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise WriteError(f"{file.parent} cannot be made: {error.strerror}.") from error
    write_atomically(file, [buffer.getvalue()], force=force)
