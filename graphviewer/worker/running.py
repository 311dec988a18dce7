"""Jobs that run graphs: these alone import TensorFlow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from graphviewer.formats import open_document, save_document
from graphviewer.model.progress import Progress, part_of, silent
from graphviewer.worker.opening import chosen_outputs, opened


def verify(
    before: str,
    after: str,
    outputs: Sequence[str] = (),
    feeds: Mapping[str, str] = MappingProxyType({}),
    *,
    checkpoint: str | None = None,
    saver: str = "",
    rename: str = "",
    tags: Sequence[str] | None = None,
    allow: bool = False,
    seed: int = 0,
    progress: Progress = silent,
) -> dict[str, Any]:
    """Whether two files compute the same; the JSON of ``verify``. Imports TensorFlow.

    Args:
        outputs: names that both files know; by default where ``after`` ends.
        feeds: files or numbers by tensor name; the rest is made up from ``seed``.
        checkpoint: values of the variables of both files.
        saver, rename: which values are those of the variables of ``before``, as ``freeze`` takes these.
        tags: which graph of ``before``, where that is a SavedModel with several.
        allow: run graphs that could touch files, the network or Python; without it the verdict is ``cannot``, and
            ``touches`` lists what to ask about.
    """
    from graphviewer.runtime.restore import Matching
    from graphviewer.runtime.verify import verify as compare_runs

    first = open_document(before, checkpoint=checkpoint, tags=tags, progress=part_of(progress, 0.0, 0.1))
    second = open_document(after, progress=part_of(progress, 0.1, 0.2))
    found = compare_runs(
        first,
        second,
        outputs,
        feeds,
        checkpoint=first.checkpoint if checkpoint is not None else None,
        matching=Matching(saver, rename),
        allow=allow,
        seed=seed,
        progress=part_of(progress, 0.2, 1.0),
    )
    return found.to_json()


def run(
    path: str,
    outputs: Sequence[str] = (),
    feeds: Mapping[str, str] = MappingProxyType({}),
    *,
    checkpoint: str | None = None,
    tags: Sequence[str] | None = None,
    folder: str | None = None,
    npy: str | None = None,
    force: bool = False,
    allow: bool = False,
    seed: int = 0,
    progress: Progress = silent,
) -> dict[str, Any]:
    """Run a graph forward; the JSON of ``run``, and what was fed. Imports TensorFlow.

    Args:
        outputs: names of nodes or tensors; by default all of the signature, else the best suggestion.
        feeds: files or numbers by tensor name; the rest is made up from ``seed``.
        folder: write each output there as ``.npy``.
        npy: write the one output to this file.
        force: replace files that are there.
        allow: run a graph that could touch files, the network or Python; ask ``touches`` first.
    """
    from graphviewer.runtime.run import run as run_graph

    document = open_document(path, checkpoint=checkpoint, tags=tags, progress=part_of(progress, 0.0, 0.2))
    chosen, taken = chosen_outputs(document, outputs)
    found, fed = run_graph(
        document,
        [str(endpoint) for endpoint in chosen],
        feeds,
        folder=Path(folder) if folder is not None else None,
        file=Path(npy) if npy is not None else None,
        force=force,
        allow=allow,
        seed=seed,
        progress=part_of(progress, 0.2, 1.0),
    )
    answer = {"outputs": [output.to_json() for output in found], "feeds": [feed._asdict() for feed in fed]}
    return {**answer, "taken": taken} if taken else answer


def touches(
    path: str,
    outputs: Sequence[str] = (),
    feeds: Sequence[str] = (),
    *,
    progress: Progress = silent,
) -> dict[str, Any]:
    """What a run of ``outputs`` could touch outside the graph when ``feeds`` are given, without running anything."""
    from graphviewer.runtime.pairing import touched

    document = opened(path, None, progress)
    found = touched(document, [str(endpoint) for endpoint in chosen_outputs(document, outputs).outputs], feeds)
    return {"touches": [touch._asdict() for touch in found]}


def keras(
    path: str,
    out: str,
    *,
    force: bool = False,
    prove: bool = False,
    feeds: Mapping[str, str] = MappingProxyType({}),
    progress: Progress = silent,
) -> dict[str, Any]:
    """Load a Keras model, which runs code from its file, and write its graph with the weights in it.

    Imports TensorFlow and Keras. Ask the user first.

    Args:
        path: ``.keras`` or ``.h5``.
        out: file to write; ``.meta`` keeps the signature.
        force: replace a file that is there.
        prove: run the model, and the graph that was written, on the same values; the answer then holds the JSON of
            ``verify`` as ``verification``.
        feeds: files or numbers by tensor name, for ``prove``; the rest is made up.
    """
    from graphviewer.runtime.keras import read_keras

    model = read_keras(Path(path), part_of(progress, 0.0, 0.7))
    progress(0.7, f"writing {Path(out).name}")
    save_document(model.document, out, force=force)
    answer = {"output": out, "nodes": len(model.document.graph_def.node)}
    if not prove:
        return answer
    from graphviewer.runtime.keras_proof import prove as compare_runs

    verdict = compare_runs(model, open_document(out), feeds, progress=part_of(progress, 0.75, 1.0))
    return answer | {"verification": verdict.to_json()}
