"""Runs operations in the background worker, and puts their results into the session."""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, Signal

from graphviewer.errors import GraphViewerError
from graphviewer.formats import open_document
from graphviewer.gui.loading import lay_out
from graphviewer.gui.session import Session
from graphviewer.gui.versions import Version
from graphviewer.gui.worker_client import WorkerClient
from graphviewer.model.provenance import Provenance
from graphviewer.worker.protocol import Failed


@dataclass(eq=False)
class Run:
    """One operation on its way: shown as a row of JOBS."""

    number: int
    title: str
    version: Version
    label: str
    target: Path
    fraction: float = 0.0
    message: str = "waiting"
    is_active: bool = True
    result: Mapping[str, Any] = field(default_factory=dict)


class Operator(QObject):
    """The session's connection to the worker."""

    run_changed = Signal(object)  # Run
    finished = Signal(object, object)  # Version before, Version after

    def __init__(self, session: Session, client: WorkerClient, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session, self._client = session, client
        self._runs: dict[int, Run] = {}
        self._folder = tempfile.TemporaryDirectory(prefix="graphviewer-", ignore_cleanup_errors=True)
        self._numbers = itertools.count(1)
        client.progress.connect(self._progress)
        client.done.connect(self._done)
        client.failed.connect(self._failed)
        client.cancelled.connect(self._cancelled)

    @property
    def folder(self) -> Path:
        """The session's own folder, readable by the user alone; gone when the window closes."""
        return Path(self._folder.name)

    def close(self) -> None:
        """Stop the worker and delete the session's folder."""
        self._client.close()
        self._folder.cleanup()

    def run(self, operation: str, label: str, version: Version, parameters: Mapping[str, Any]) -> Run:
        """Start an operation on a version; its result becomes a new version beside it."""
        number = next(self._numbers)
        target = self.folder / f"{number}-{operation}.meta"
        request = {
            "operation": operation,
            "path": str(version.file),
            "out": str(target),
            "parameters": dict(parameters),
        }
        job = self._client.submit("operation", request, outputs=[target, provenance_path(target)])
        run = self._runs[job] = Run(number, f"{label} — {version.title}", version, label, target)
        self.run_changed.emit(run)
        return run

    def cancel(self, run: Run) -> None:
        """Stop a job at once; nothing half-written stays."""
        for job, known in self._runs.items():
            if known is run and run.is_active:
                self._client.cancel(job)
                return

    def active(self) -> list[Run]:
        """Jobs that wait or run."""
        return [run for run in self._runs.values() if run.is_active]

    def _progress(self, job: int, fraction: float, message: str) -> None:
        self._update(job, fraction=fraction, message=message)

    def _cancelled(self, job: int) -> None:
        self._update(job, message="cancelled", is_active=False)
        self._session.said.emit("Cancelled; nothing was changed.")

    def _failed(self, job: int, failure: Failed) -> None:
        self._update(job, message=failure.message, is_active=False)
        self._session.failed.emit(GraphViewerError(failure.message, failure.hint))

    def _done(self, job: int, result: Mapping[str, Any]) -> None:
        run = self._runs.get(job)
        if run is None:
            return
        self._update(job, fraction=1.0, message="reading the result", result=result)
        self._session.background.submit(
            "open", f"result-{job}", lambda: self._read(run), lambda version: self._show(job, version), self._unreadable(job)
        )

    def _unreadable(self, job: int) -> Any:
        def fail(error: GraphViewerError) -> None:
            self._failed(job, Failed(job=job, message=error.message, hint=error.hint))

        return fail

    def _read(self, run: Run) -> Version:
        import json

        document = open_document(run.target)
        provenance = Provenance.from_json(json.loads(provenance_path(run.target).read_text("utf-8")))
        label = _PAST.get(provenance.operation, run.label)
        parent = run.version
        layout = lay_out(document.scopes)
        return Version(document, layout, label, parent.family, run.target, parent, provenance)

    def _show(self, job: int, version: Version) -> None:
        run = self._runs[job]
        version.summary = summary_line(run.version, version, run.result)
        self._update(job, message=version.summary, is_active=False)
        self._session.add_tab(version)
        self.finished.emit(run.version, version)

    def _update(self, job: int, **changes: Any) -> None:
        run = self._runs.get(job)
        if run is not None:
            for name, value in changes.items():
                setattr(run, name, value)
            self.run_changed.emit(run)


_PAST = {
    "freeze": "Frozen",
    "extract": "Extracted",
    "cut-inputs": "Inputs cut",
    "remove-training-nodes": "Training nodes removed",
}


def provenance_path(target: Path) -> Path:
    """Where a session version keeps its provenance."""
    return target.with_suffix(".provenance.json")


def summary_line(before: Version, after: Version, result: Mapping[str, Any]) -> str:
    """One calm line: what came of it."""
    line = f"{after.label}: {len(before.document.graph):,} → {len(after.document.graph):,} nodes"
    if frozen := result.get("frozen"):
        line += f", {frozen:,} variables became constants"
    if warnings := result.get("warnings"):
        line += f"; {len(warnings)} warning{'s' if len(warnings) > 1 else ''}: {warnings[0]}"
    return line
