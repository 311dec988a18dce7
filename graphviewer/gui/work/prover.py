"""Runs original and result side by side in the worker, and graphs forward; asks before a file may touch anything."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from PySide6.QtCore import QObject, Signal

from graphviewer.errors import GraphViewerError, ReadError
from graphviewer.gui.state.session import Session
from graphviewer.gui.state.versions import Version
from graphviewer.gui.work.jobs import Callbacks, Jobs
from graphviewer.worker.protocol import Failed

Ask = Callable[[Sequence[Mapping[str, str]]], bool]


class Prover(QObject):
    """Verification and forward runs of a session.

    Attributes:
        ask: shows what a graph could touch (files, network, Python) and gives the user's answer.
    """

    changed = Signal()
    ran = Signal(object, object)  # Version, the JSON of `run`

    def __init__(self, session: Session, jobs: Jobs, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session, self._jobs = session, jobs
        self._running: set[int] = set()
        self.state = ""
        self.ask: Ask = lambda touches: False

    @property
    def is_running(self) -> bool:
        """Whether a verification or a run is on its way."""
        return bool(self._running)

    def verdict(self, before: Version, after: Version) -> Mapping[str, Any] | None:
        """What a verification of two versions found; None before there was one."""
        return after.verdicts.get(before)

    def verify(self, before: Version, after: Version, *, allow: bool = False) -> None:
        """Run both sides on the same feeds and compare."""
        if not self._is_unchanged(before, after):
            return
        checkpoint = before.document.checkpoint
        request = {
            "before": str(before.file),
            "after": str(after.file),
            "checkpoint": str(checkpoint) if checkpoint else None,
            "allow": allow,
        }

        def done(found: Mapping[str, Any]) -> None:
            if found["touches"] and not allow and self.ask(found["touches"]):
                self.verify(before, after, allow=True)
                return
            after.verdicts[before] = found
            after.summary = f"{after.summary.partition('; verified')[0]}; {verdict_line(found)}".removeprefix("; ")
            self._session.said.emit(after.summary)
            self._session.tabs_changed.emit()

        self._submit("verify", request, done)

    def run(self, version: Version, outputs: Sequence[str], *, allow: bool = False) -> None:
        """One forward pass of the named tensors on made-up values; asks first where the graph touches anything."""
        if not self._is_unchanged(version):
            return

        def forward(permission: bool) -> None:
            checkpoint = version.document.checkpoint
            request = {
                "path": str(version.file),
                "outputs": list(outputs),
                "checkpoint": str(checkpoint) if checkpoint else None,
                "allow": permission,
            }
            self._submit("run", request, lambda found: self.ran.emit(version, found))

        def asked(found: Mapping[str, Any]) -> None:
            if not found["touches"] or self.ask(found["touches"]):
                forward(bool(found["touches"]))

        if allow:
            forward(True)
        else:
            self._submit("touches", {"path": str(version.file), "outputs": list(outputs)}, asked)

    def _submit(self, name: str, request: Mapping[str, Any], done: Callable[[Mapping[str, Any]], None]) -> None:
        def end() -> None:
            self._running.discard(number)
            self.state = ""
            self.changed.emit()

        def finished(found: Mapping[str, Any]) -> None:
            done(found)
            end()

        def failed(failure: Failed) -> None:
            self._session.failed.emit(GraphViewerError(failure.message, failure.hint))
            end()

        def progress(_fraction: float, message: str) -> None:
            self.state = message
            self.changed.emit()

        number = self._jobs.submit(name, request, Callbacks(finished, failed, progress, end))
        self._running.add(number)
        self.changed.emit()

    def cancel(self) -> None:
        """Stop what runs, at once: a graph may have a loop that never ends."""
        for number in tuple(self._running):
            self._jobs.cancel(number)

    def _is_unchanged(self, *versions: Version) -> bool:
        try:
            for version in versions:
                version.require_unchanged()
        except ReadError as error:
            self._session.failed.emit(error)
            return False
        return True


def verdict_line(found: Mapping[str, Any]) -> str:
    """A verdict in a few words: ``verified: difference 0``."""
    if found["verdict"] == "same":
        return f"verified: {found['reason']}"
    return f"verified: DIFFERENT, {found['reason']}" if found["verdict"] == "different" else str(found["reason"])


def speed_line(found: Mapping[str, Any]) -> str:
    """Run times before and after, where both ran."""
    before, after = found["seconds"]
    if before is None or after is None:
        return ""
    ratio = f", {before / after:.1f} times as fast" if 0 < after < before else ""
    return f"one run takes {before * 1e3:,.1f} → {after * 1e3:,.1f} ms{ratio}"
