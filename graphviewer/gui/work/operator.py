"""Runs operations in the background worker, and puts their results into the session."""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, Signal

from graphviewer.errors import GraphViewerError, ReadError, TrainingModeError
from graphviewer.gui.state.session import Session
from graphviewer.gui.state.versions import Family, Version
from graphviewer.gui.work.jobs import Callbacks, Jobs
from graphviewer.model.provenance import Provenance, provenance_path
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
    offered = Signal(str, object)  # text of a button beside the last error, and what it does

    def __init__(self, session: Session, jobs: Jobs, folder: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session, self._jobs, self._folder = session, jobs, folder
        self._runs: dict[int, Run] = {}
        self._numbers = itertools.count(1)

    def run(self, operation: str, label: str, version: Version, parameters: Mapping[str, Any]) -> Run | None:
        """Start an operation on a version; its result becomes a new version beside it."""
        try:
            version.require_unchanged()
        except ReadError as error:
            self._session.failed.emit(error)
            return None
        number = next(self._numbers)
        target = self._folder / f"{number}-{operation}.meta"
        request = {
            "operation": operation,
            "path": str(version.file),
            "out": str(target),
            "parameters": dict(parameters),
        }
        run = Run(number, f"{label} — {version.title}", version, label, target)
        callbacks = Callbacks(
            done=lambda result: self._done(run, result),
            failed=lambda failure: self._failed(run, failure),
            progress=lambda fraction, message: self._update(run, fraction=fraction, message=message),
            cancelled=lambda: self._cancelled(run),
        )
        outputs = [target, provenance_path(target)]
        self._runs[self._jobs.submit("operation", request, callbacks, outputs=outputs)] = run
        self.run_changed.emit(run)
        return run

    def cancel(self, run: Run) -> None:
        """Stop a job at once; nothing half-written stays."""
        for job, known in self._runs.items():
            if known is run and run.is_active:
                self._jobs.cancel(job)
                return

    def active(self) -> list[Run]:
        """Jobs that wait or run."""
        return [run for run in self._runs.values() if run.is_active]

    def _cancelled(self, run: Run) -> None:
        self._update(run, message="cancelled", is_active=False)
        self._session.said.emit("Cancelled; nothing was changed.")

    def _failed(self, run: Run, failure: Failed | GraphViewerError) -> None:
        self._update(run, message=failure.message, is_active=False)
        self._session.failed.emit(GraphViewerError(failure.message, failure.hint))
        if isinstance(failure, Failed) and failure.kind == TrainingModeError.__name__:
            outputs = {"outputs": [str(one) for one in run.version.family.outputs]}
            self.offered.emit(
                "Apply inference mode", lambda: self.run("inference-mode", "Inference mode", run.version, outputs)
            )

    def _done(self, run: Run, result: Mapping[str, Any]) -> None:
        self._update(run, fraction=1.0, message="reading the result", result=result)
        self._session.background.submit(
            "open",
            f"result-{run.number}",
            lambda: self._read(run),
            lambda version: self._show(run, version),
            lambda error: self._failed(run, error),
        )

    def _read(self, run: Run) -> Version:
        from graphviewer.formats import open_document
        from graphviewer.gui.state.loading import lay_out

        document = open_document(run.target, checkpoint=run.result.get("checkpoint"))
        provenance = Provenance.from_json(json.loads(provenance_path(run.target).read_text("utf-8")))
        parent = run.version
        label = self._new_label(_PAST.get(provenance.operation, run.label), parent.family)
        made = Version(document, lay_out(document), label, parent.family, run.target, parent, provenance)
        made.is_saved = False
        return made

    def _new_label(self, label: str, family: Family) -> str:
        """``Frozen``, then ``Frozen 2``."""
        taken = {version.label for version in self._session.versions(family)}
        numbered = (label if number == 1 else f"{label} {number}" for number in itertools.count(1))
        return next(one for one in numbered if one not in taken)

    def _show(self, run: Run, version: Version) -> None:
        if run.version not in self._session.tabs:
            self._update(run, message="not shown: its tab was closed", is_active=False)
            return
        version.summary = summary_line(run.version, version, run.result)
        self._update(run, message=version.summary, is_active=False)
        self._session.add_tab(version)
        self.finished.emit(run.version, version)

    def _update(self, run: Run, **changes: Any) -> None:
        for name, value in changes.items():
            setattr(run, name, value)
        if not run.is_active:  # a row of JOBS must not keep a closed graph in memory
            self._runs = {job: other for job, other in self._runs.items() if other is not run}
        self.run_changed.emit(run)


_PAST = {
    "freeze": "Frozen",
    "extract": "Extracted",
    "cut-inputs": "Inputs cut",
    "remove-training-nodes": "Pass-through nodes removed",
    "inference-mode": "Inference mode",
    "fold-constants": "Folded",
    "inline-functions": "Inlined",
    "clear-devices": "Devices cleared",
    "prune-library": "Library pruned",
    "rename": "Renamed",
}


def summary_line(before: Version, after: Version, result: Mapping[str, Any]) -> str:
    """One calm line: what came of it."""
    line = f"{after.label}: {len(before.document.graph):,} → {len(after.document.graph):,} nodes"
    if frozen := result.get("frozen"):
        line += f", {frozen:,} variables became constants"
    if warnings := result.get("warnings"):
        line += f"; {len(warnings)} warning{'s' if len(warnings) > 1 else ''}: {warnings[0]}"
    return line
