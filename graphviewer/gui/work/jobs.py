"""Jobs of the background worker, with what to do when they end."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, Signal

from graphviewer.gui.work.worker_client import WorkerClient
from graphviewer.worker.protocol import Failed


def _nothing(*_arguments: object) -> None:
    """For callers that do not care."""


@dataclass(frozen=True)
class Callbacks:
    """Called in the GUI thread; exactly one of ``done``, ``failed`` and ``cancelled`` ends a job."""

    done: Callable[[Mapping[str, Any]], None]
    failed: Callable[[Failed], None]
    progress: Callable[[float, str], None] = _nothing
    cancelled: Callable[[], None] = _nothing


@dataclass(eq=False)
class Run:
    """A job that someone waits for: a row of JOBS.

    Attributes:
        number: of the job.
        title: what it does, and to what.
        fraction: how far it is, 0 to 1.
        message: what it does now; at the end, what came of it.
        is_active: it waits or runs.
    """

    number: int
    title: str
    fraction: float = 0.0
    message: str = "waiting"
    is_active: bool = True


class Jobs(QObject):
    """Passes each job's signals to those who asked for it, and keeps account of the jobs that have a title."""

    run_changed = Signal(object)  # Run

    def __init__(self, client: WorkerClient, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._client = client
        self._waiting: dict[int, Callbacks] = {}
        self._newest: dict[str, int] = {}
        self._runs: dict[int, Run] = {}
        client.progress.connect(self._progress)
        client.done.connect(self._done)
        client.failed.connect(self._failed)
        client.cancelled.connect(self._cancelled)

    def submit(
        self,
        name: str,
        params: Mapping[str, Any],
        callbacks: Callbacks,
        *,
        key: str = "",
        outputs: Iterable[str | Path] = (),
        title: str = "",
    ) -> int:
        """Run a job; one with the same ``key`` that was asked for before is forgotten.

        Args:
            name: a key of ``worker.jobs.JOBS``.
            params: JSON-able.
            outputs: files that the job makes; deleted when it ends early.
            title: makes it a row of JOBS with Cancel; then who asked says with ``end`` what came of it.
        """
        if key in self._newest:
            old = self._newest.pop(key)
            self._waiting.pop(old, None)
            self._client.drop(old)
        number = self._client.submit(name, params, outputs)
        self._waiting[number] = callbacks
        if key:
            self._newest[key] = number
        if title:
            run = self._runs[number] = Run(number, title)
            self.run_changed.emit(run)
        return number

    def cancel(self, number: int) -> None:
        """Stop a job at once."""
        self._client.cancel(number)

    def active(self) -> list[Run]:
        """Jobs with a title that wait or run, or whose result is being read."""
        return list(self._runs.values())

    def run_of(self, number: int) -> Run | None:
        """The row of a job that has not ended."""
        return self._runs.get(number)

    def end(self, number: int, message: str) -> None:
        """Say what came of a job with a title."""
        self._update(number, message=message, is_active=False)

    def _update(self, number: int, **changes: Any) -> None:
        run = self._runs.get(number)
        if run is None:
            return
        for name, value in changes.items():
            setattr(run, name, value)
        if not run.is_active:
            del self._runs[number]
        self.run_changed.emit(run)

    def is_busy(self) -> bool:
        """Whether anyone still waits for a job."""
        return bool(self._waiting)

    def close(self) -> None:
        """End the worker; nobody is called any more."""
        self._waiting.clear()
        self._runs.clear()
        self._client.close()

    def _progress(self, number: int, fraction: float, message: str) -> None:
        if number in self._waiting:
            self._update(number, fraction=fraction, message=message)
            self._waiting[number].progress(fraction, message)

    def _done(self, number: int, result: Mapping[str, Any]) -> None:
        if (callbacks := self._waiting.pop(number, None)) is not None:
            self._update(number, fraction=1.0, message="reading the result")
            callbacks.done(result)

    def _failed(self, number: int, failure: Failed) -> None:
        if (callbacks := self._waiting.pop(number, None)) is not None:
            self.end(number, failure.message)
            callbacks.failed(failure)

    def _cancelled(self, number: int) -> None:
        if (callbacks := self._waiting.pop(number, None)) is not None:
            self.end(number, "cancelled")
            callbacks.cancelled()
