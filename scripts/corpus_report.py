"""``make corpus-report``: freeze every real graph that has values, and prove each result where TensorFlow can run it.

Takes the folder that GRAPHVIEWER_CORPUS names, or ../shared/corpus beside the checkout: every SavedModel in it, one row
per signature, and every ``.meta`` with a checkpoint beside it, one row for each of its three best suggestions. What
has a shape that nothing tells is fed a scalar. The work is done in a
process of its own, so that a graph that brings TensorFlow down costs one row.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, NamedTuple

from graphviewer.analysis.endpoints import suggest_outputs
from graphviewer.errors import GraphViewerError
from graphviewer.formats import open_document
from graphviewer.formats.checkpoint import find_checkpoint
from graphviewer.model.document import Document
from graphviewer.model.names import Endpoint
from graphviewer.protos import DataType
from graphviewer.runtime.feeds import wanted
from graphviewer.worker.jobs import run_job

ROOT = Path(__file__).resolve().parents[1]
SECONDS = 60
"""What one row may take."""

SUGGESTIONS = 3
"""Rows of a graph without signatures."""

_COLUMNS = ("file", "outputs", "nodes", "verdict", "max abs", "reason")


class Case(NamedTuple):
    """A graph to freeze; ``signature`` and ``outputs`` are empty where it has, or suggests, none."""

    path: Path
    signature: str = ""
    outputs: tuple[str, ...] = ()


class Row(NamedTuple):
    """What became of a case.

    Attributes:
        file: the path inside the corpus, with the signature.
        outputs: what the result computes.
        nodes: before and after; None when nothing was made.
        verdict: of the verification; ``refused`` (by freeze) or ``crashed`` beside.
        max_abs, max_rel: largest differences; None when nothing was compared.
        reason: of the verdict; for a failure with its hint.
    """

    file: str
    outputs: tuple[str, ...]
    nodes: tuple[int, int] | None
    verdict: str
    max_abs: float | None
    max_rel: float | None
    reason: str

    def cells(self) -> tuple[str, ...]:
        """The texts of the table."""
        nodes = f"{self.nodes[0]:,} → {self.nodes[1]:,}" if self.nodes else ""
        more = f" +{len(self.outputs) - 2}" if len(self.outputs) > 2 else ""
        difference = "" if self.max_abs is None else f"{self.max_abs:.3g}"
        return (self.file, ", ".join(self.outputs[:2]) + more, nodes, self.verdict, difference, self.reason)


def corpus_folder() -> Path:
    """Where the real files are.

    Raises:
        SystemExit: there are none.
    """
    folder = Path(os.environ.get("GRAPHVIEWER_CORPUS") or ROOT.parent / "shared" / "corpus")
    if not folder.is_dir():
        sys.exit("No corpus of real files: set GRAPHVIEWER_CORPUS to its folder.")
    return folder


def cases(folder: Path) -> Iterator[Case]:
    """Every SavedModel's signatures, and every meta graph with a checkpoint, in order of their paths."""
    for path in sorted([*folder.rglob("saved_model.pb*"), *folder.rglob("*.meta")]):
        if path.suffix != ".meta":
            yield from _of_one(path.parent)
        elif find_checkpoint(path) is not None:
            yield from _of_one(path)


def _of_one(path: Path) -> Iterator[Case]:
    try:
        document = open_document(path)
    except GraphViewerError:  # the row tells why
        yield Case(path)
        return
    found = {
        name: tuple(dict.fromkeys(tensor.name for _, tensor in sorted(signature.outputs.items())))
        for name, signature in sorted(document.signatures.items())
        if not name.startswith("__saved_model_")
    }
    signed = [Case(path, name, outputs) for name, outputs in found.items() if outputs]
    suggested = (Case(path, "", (one.name,)) for one in suggest_outputs(document, SUGGESTIONS))
    yield from signed or list(suggested) or [Case(path)]


def report(case: Case, folder: Path) -> Row:
    """Freeze one graph and verify the result."""
    file = str(case.path.relative_to(folder)) + (f" [{case.signature}]" if case.signature else "")
    nodes = None
    with tempfile.TemporaryDirectory(prefix="graphviewer-report-") as made:
        target = str(Path(made) / "frozen.pb")
        try:
            request = {"operation": "freeze", "path": str(case.path), "out": target}
            frozen = run_job("operation", request | {"parameters": {"outputs": case.outputs}}, _quiet)
            nodes = (frozen["nodes"][0], frozen["nodes"][1])
            # The corpus is known: what its graphs touch are the vocabularies beside them.
            proof = {"before": str(case.path), "after": target, "outputs": frozen["outputs"], "allow": True}
            verdict = run_job("verify", proof | {"feeds": _scalars(open_document(target))}, _quiet)
        except GraphViewerError as error:
            reason = " ".join(f"{error.message} {error.hint}".replace(f"{folder}/", "").split())
            return Row(file, case.outputs, nodes, "refused", None, None, reason)
    largest = [max((one[key] or 0.0 for one in verdict["outputs"]), default=None) for key in ("max_abs", "max_rel")]
    return Row(file, case.outputs, nodes, verdict["verdict"], largest[0], largest[1], verdict["reason"])


def _scalars(document: Document) -> dict[str, str]:
    """Feeds for the number placeholders of unknown rank, which a verification makes no values for."""
    names = [node.name for node in document.graph_def.node if node.op == "Placeholder"]
    wants = [wanted(document, Endpoint(name)) for name in names]
    return {
        want.name: "true" if want.dtype == DataType.BOOL else "1"
        for want in wants
        if want.shape is None and want.dtype != DataType.STRING
    }


def _quiet(fraction: float, message: str) -> None:
    """Takes progress and shows none."""


Work = Callable[[Case, Path], Row]


def _serve(connection: Connection, folder: Path, work: Work) -> None:
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    while True:
        case = connection.recv()
        if case is None:
            return
        connection.send(work(case, folder))


class Worker:
    """A process that does one case after another; a new one is started when it died or takes too long."""

    def __init__(self, folder: Path, work: Work = report) -> None:
        self._folder, self._work = folder, work
        self._process: BaseProcess | None = None
        self._connection: Any = None

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()

    def row(self, case: Case) -> Row:
        """The row of a case, whatever it does to the process."""
        if self._process is None:
            context = multiprocessing.get_context("spawn")
            self._connection, other = context.Pipe()
            self._process = context.Process(target=_serve, args=(other, self._folder, self._work))
            self._process.start()
            other.close()
        self._connection.send(case)
        reason = f"took more than {SECONDS} s"
        try:
            if self._connection.poll(SECONDS):
                found: Row = self._connection.recv()
                return found
        except EOFError:
            self._process.join()
            reason = f"the process ended with exit code {self._process.exitcode}"
        self._stop()
        return Row(str(case.path.relative_to(self._folder)), case.outputs, None, "crashed", None, None, reason)

    def _stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._connection.close()
            self._process = None


def table(rows: Sequence[Row]) -> str:
    """The rows as aligned text; the last column as wide as it is."""
    cells = [_COLUMNS, *(row.cells() for row in rows)]
    widths = [min(60, max(len(line[column]) for line in cells)) for column in range(len(_COLUMNS) - 1)]
    return "\n".join(
        "  ".join([*(text[:width].ljust(width) for text, width in zip(line, widths, strict=False)), line[-1]]).rstrip()
        for line in cells
    )


def summary(rows: Sequence[Row]) -> str:
    """``61 graphs: 48 same, 8 refused …``, and how exact they are."""
    counts = Counter(row.verdict for row in rows)
    exact = sum(row.verdict == "same" and not row.max_abs for row in rows)
    told = ", ".join(f"{count} {verdict}" for verdict, count in counts.most_common())
    return f"{len(rows)} graphs: {told}; {exact} with difference 0"


def main() -> int:
    parser = argparse.ArgumentParser(prog="make corpus-report", description=__doc__)
    parser.add_argument("--only", default="", help="text that a path must contain")
    parser.add_argument("--json", type=Path, default=ROOT / "out" / "corpus_report.json")
    given = parser.parse_args()
    folder, begin = corpus_folder(), time.perf_counter()
    with Worker(folder) as worker:
        rows = [worker.row(case) for case in cases(folder) if given.only in str(case.path.relative_to(folder))]
    print(table(rows))
    print(f"{summary(rows)}; {time.perf_counter() - begin:.0f} s")
    given.json.parent.mkdir(parents=True, exist_ok=True)
    given.json.write_text(json.dumps([row._asdict() for row in rows], indent=1) + "\n")
    return int(any(row.verdict in ("different", "crashed") for row in rows))


if __name__ == "__main__":
    sys.exit(main())
