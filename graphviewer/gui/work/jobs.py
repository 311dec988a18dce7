"""Jobs of the background worker, with what to do when they end."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject

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


class Jobs(QObject):
    """Passes each job's signals to those who asked for it."""

    def __init__(self, client: WorkerClient, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._client = client
        self._waiting: dict[int, Callbacks] = {}
        self._newest: dict[str, int] = {}
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
    ) -> int:
        """Run a job; one with the same ``key`` that was asked for before is forgotten.

        Args:
            name: a key of ``worker.jobs.JOBS``.
            params: JSON-able.
            outputs: files that the job makes; deleted when it ends early.
        """
        if key in self._newest:
            old = self._newest.pop(key)
            self._waiting.pop(old, None)
            self._client.drop(old)
        number = self._client.submit(name, params, outputs)
        self._waiting[number] = callbacks
        if key:
            self._newest[key] = number
        return number

    def cancel(self, number: int) -> None:
        """Stop a job at once."""
        self._client.cancel(number)

    def is_busy(self) -> bool:
        """Whether anyone still waits for a job."""
        return bool(self._waiting)

    def close(self) -> None:
        """End the worker; nobody is called any more."""
        self._waiting.clear()
        self._client.close()

    def _progress(self, number: int, fraction: float, message: str) -> None:
        if number in self._waiting:
            self._waiting[number].progress(fraction, message)

    def _done(self, number: int, result: Mapping[str, Any]) -> None:
        if (callbacks := self._waiting.pop(number, None)) is not None:
            callbacks.done(result)

    def _failed(self, number: int, failure: Failed) -> None:
        if (callbacks := self._waiting.pop(number, None)) is not None:
            callbacks.failed(failure)

    def _cancelled(self, number: int) -> None:
        if (callbacks := self._waiting.pop(number, None)) is not None:
            callbacks.cancelled()
