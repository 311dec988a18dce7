"""What can run in the background. Each job is a self-contained value: names, paths and plain parameters in, files and
a small JSON out. The window sends it to the worker; the command line calls the same function in its own process.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from graphviewer.errors import OperationError
from graphviewer.formats import open_document, save_document
from graphviewer.formats.checkpoint import how_chosen
from graphviewer.formats.encode import graph_size
from graphviewer.formats.metagraph import GRAPH_DEF
from graphviewer.formats.wire import header
from graphviewer.formats.writing import write_atomically
from graphviewer.model.document import Document
from graphviewer.model.endpoints import endpoints_named
from graphviewer.model.overlay import Overlay
from graphviewer.model.progress import Progress, part_of, silent
from graphviewer.model.provenance import Provenance, provenance_path
from graphviewer.worker.foresight import choices, predict
from graphviewer.worker.opening import chosen_outputs, opened
from graphviewer.worker.running import keras, run, touches, verify
from graphviewer.worker.variables import values, variables


def run_job(name: str, params: Mapping[str, Any], progress: Progress = silent) -> dict[str, Any]:
    """Run a job by name.

    Args:
        name: a key of ``JOBS``.
        params: the job's keyword arguments.
        progress: told how far it is.

    Raises:
        GraphViewerError: what the job says when it cannot be done; nothing half-written is left.
    """
    if name not in JOBS:
        raise OperationError(f"There is no job '{name}'.", "There are: " + ", ".join(sorted(JOBS)) + ".")
    return JOBS[name](progress=progress, **params)


def run_operation(
    operation: str,
    path: str,
    out: str,
    parameters: Mapping[str, Any] = MappingProxyType({}),
    *,
    tags: Sequence[str] | None = None,
    force: bool = False,
    keep_provenance: bool = True,
    progress: Progress = silent,
) -> dict[str, Any]:
    """Apply an operation to a file and write the result; the JSON of ``freeze``, ``strip`` and ``apply``.

    Args:
        operation: id of the operation.
        out: file to write; its suffix chooses the format, ``.meta`` keeps signatures and collections.
        parameters: the operation's own; ``outputs`` and ``inputs`` are lists of names, ``checkpoint`` is a prefix.
        tags: which graph of a SavedModel.
        force: replace a file that is there.
        keep_provenance: write ``<out>.provenance.json`` too, which tells the diff what became of every node.
    """
    from graphviewer.operations.registry import operations

    known = operations()
    if operation not in known:
        raise OperationError(f"There is no operation '{operation}'.", "There are: " + ", ".join(sorted(known)) + ".")
    target = Path(out)
    given = {name: value for name, value in parameters.items() if value is not None}
    document = open_document(path, checkpoint=given.get("checkpoint"), tags=tags, progress=part_of(progress, 0.0, 0.3))
    result = known[operation].run(document, **given, progress=part_of(progress, 0.3, 0.85))
    progress(0.85, f"writing {target.name}")
    save_document(result.document, target, force=force)
    if keep_provenance:
        text = json.dumps(result.provenance.to_json(), ensure_ascii=False)
        write_atomically(provenance_path(target), [text.encode("utf-8", "surrogatepass")], force=True)
    checkpoint = result.document.checkpoint
    return {
        "output": str(target),
        "nodes": [len(document.graph_def.node), len(result.document.graph_def.node)],
        "bytes": [_size(document, target), target.stat().st_size],
        "outputs": list(result.outputs),
        "inputs": list(result.inputs),
        "frozen": result.frozen,
        "warnings": list(result.warnings),
        "rewrites": [rewrite._asdict() for rewrite in result.rewrites],
        "tables": [use._asdict() for use in result.tables],
        "files": [use._asdict() for use in result.files],
        "switches": list(result.switches),
        "checkpoint": str(checkpoint) if checkpoint else None,
        "values": _values(document.checkpoint, given.get("checkpoint")) if result.frozen else None,
    }


def _values(prefix: Path | None, given: Any) -> dict[str, Any] | None:
    """Where values were taken from, and why there: ``given`` by the user, or as ``how_chosen`` has it."""
    if prefix is None:
        return None
    chosen, count = how_chosen(prefix)
    if given is not None and not Path(given).is_dir():
        chosen = "given"
    return {"checkpoint": str(prefix), "chosen": chosen, "of": count}


def parse(path: str, out: str, *, salvage: bool = False, progress: Progress = silent) -> dict[str, Any]:
    """Read a file that is slow to read, such as a big text graph, and write it as one that is quick to read."""
    document = open_document(path, salvage=salvage, progress=part_of(progress, 0.0, 0.8))
    progress(0.8, f"writing {Path(out).name}")
    save_document(document, out)
    return {
        "output": out,
        "kind": document.kind,
        "nodes": len(document.graph_def.node),
        "problems": [problem._asdict() for problem in document.problems],
    }


def roles(
    path: str,
    outputs: Sequence[str] = (),
    inputs: Sequence[str] = (),
    *,
    checkpoint: str | None = None,
    tags: Sequence[str] | None = None,
    out: str | None = None,
    progress: Progress = silent,
) -> dict[str, Any]:
    """The role of every node for the chosen outputs; the JSON of ``roles``. See ``chosen_outputs``.

    Args:
        out: file for the overlay as JSON; the answer then holds counts by role in place of ``roles``.
    """
    from graphviewer.analysis.roles import classify

    document = opened(path, checkpoint, progress, tags)
    progress(0.4, "finding what each node is for")
    chosen, taken = chosen_outputs(document, outputs)
    overlay = classify(document, chosen, endpoints_named(document, inputs, "inputs"))
    used: dict[str, Any] = {"outputs": [str(endpoint) for endpoint in chosen], **({"taken": taken} if taken else {})}
    if out is None:
        return {**used, "roles": _by_name(document, overlay)}
    return _answer(out, overlay.to_json(), {**used, "counts": overlay.counts()})


def diff(
    before: str,
    after: str,
    *,
    provenance: str | None = None,
    out: str | None = None,
    progress: Progress = silent,
) -> dict[str, Any]:
    """Compare two files; the JSON of ``diff``.

    Args:
        provenance: the file that the operation between the two left.
        out: file for the JSON; the answer then holds ``summary`` and ``same`` only.
    """
    from graphviewer.analysis.diff import compare

    first = open_document(before, progress=part_of(progress, 0.0, 0.3))
    second = open_document(after, progress=part_of(progress, 0.3, 0.6))
    known = Provenance.from_json(json.loads(Path(provenance).read_text("utf-8"))) if provenance else None
    progress(0.6, "comparing")
    found = compare(first, second, known)
    if out is None:
        return found.to_json()
    return _answer(out, found.to_json(), {"summary": found.summary(), "same": found.same})


def suggest(
    path: str,
    outputs: Sequence[str] = (),
    *,
    tags: Sequence[str] | None = None,
    limit: int = 10,
    progress: Progress = silent,
) -> dict[str, Any]:
    """Ranked outputs, the ``default`` where nobody names one, inputs for what is chosen; the JSON of ``outputs``."""
    from graphviewer.analysis.endpoints import suggest_inputs, suggest_outputs, take_outputs

    document = opened(path, None, progress, tags)
    progress(0.4, "looking for outputs and inputs")
    ranked = suggest_outputs(document, limit)
    taken = list(take_outputs(document, ranked).outputs) if ranked else []
    chosen = endpoints_named(document, outputs, "outputs") or taken
    fed = suggest_inputs(document, chosen, limit) if chosen else []
    listed = [[{"name": s.name, "score": s.score, "reason": s.reason} for s in found] for found in (ranked, fed)]
    return {"outputs": listed[0], "inputs": listed[1], "default": list(map(str, taken))}


def check(path: str, *, most: int = 5_000, progress: Progress = silent) -> dict[str, Any]:
    """The faults of a graph, at most ``most`` of them; the JSON of ``check`` and how many there are in all."""
    from graphviewer.analysis.check import check as find_problems
    from graphviewer.analysis.check import check_files, training_notes

    document = opened(path, None, progress)
    progress(0.4, "looking for problems")
    found = [*find_problems(document), *check_files(document)]
    notes = training_notes(document)
    return {"problems": [problem._asdict() for problem in found[:most]], "total": len(found), "notes": notes}


JOBS: Mapping[str, Callable[..., dict[str, Any]]] = MappingProxyType(
    {
        "operation": run_operation,
        "parse": parse,
        "roles": roles,
        "diff": diff,
        "suggest": suggest,
        "choices": choices,
        "predict": predict,
        "check": check,
        "verify": verify,
        "run": run,
        "touches": touches,
        "variables": variables,
        "values": values,
        "keras": keras,
    }
)


def _by_name(document: Document, overlay: Overlay) -> dict[str, Any]:
    """Role, reason and markers by node name; the first node where names repeat."""
    return {
        name: {
            "role": overlay.category(node),
            "reason": overlay.reasons[node],
            "markers": sorted(overlay.markers.get(node, ())),
        }
        for name, node in document.graph.index.items()
    }


def _answer(out: str, whole: Mapping[str, Any], short: Mapping[str, Any]) -> dict[str, Any]:
    """Write the whole JSON to ``out`` and give the short one."""
    text = json.dumps(whole, ensure_ascii=False)
    write_atomically(Path(out), [text.encode("utf-8", "surrogatepass")], force=True)
    return {"output": out, **short}


def _size(document: Document, target: Path) -> int:
    """Bytes before, to set beside those of ``target``: of the file that was opened; of what its format would hold where
    the graph came from a folder of files.
    """
    if document.path is not None and document.path.is_file():
        return document.path.stat().st_size
    size = graph_size(document)
    if target.suffix.lower() != ".meta":
        return size
    return len(header(GRAPH_DEF, size)) + size + (document.meta.ByteSize() if document.meta is not None else 0)
