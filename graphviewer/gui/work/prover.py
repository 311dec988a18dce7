"""Runs original and result side by side in the worker, and graphs forward; asks before a file may touch anything."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from PySide6.QtCore import QObject, Signal

from graphviewer.errors import GraphViewerError, ReadError
from graphviewer.gui.state.session import Session
from graphviewer.gui.state.versions import Version
from graphviewer.gui.work.jobs import Callbacks, Jobs
from graphviewer.worker.protocol import Failed

Ask = Callable[[Sequence[Mapping[str, str]]], bool]
Feeds = Mapping[str, str]
"""Files or numbers by the name of the tensor that they are fed to; values are made up for what is not named."""

_MADE_UP: Feeds = MappingProxyType({})


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

    def verify(self, before: Version, after: Version, feeds: Feeds = _MADE_UP, *, allow: bool = False) -> None:
        """Run both sides on the same feeds and compare."""
        if not self._is_unchanged(before, after):
            return
        checkpoint = before.document.checkpoint
        request = {
            "before": str(before.file),
            "after": str(after.file),
            "feeds": dict(feeds),
            "checkpoint": str(checkpoint) if checkpoint else None,
            "allow": allow,
        }

        def done(found: Mapping[str, Any]) -> str:
            if found["touches"] and not allow and self.ask(found["touches"]):
                self.verify(before, after, feeds, allow=True)
                return "allowed, and begun again"
            after.verdicts[before] = found
            after.summary = f"{after.summary.partition('; verified')[0]}; {verdict_line(found)}".removeprefix("; ")
            self._session.tabs_changed.emit()
            return after.summary

        self._submit("verify", request, done, f"Verify — {after.title}")

    def run(self, version: Version, outputs: Sequence[str], feeds: Feeds = _MADE_UP, *, allow: bool = False) -> None:
        """One forward pass of the named tensors; asks first where the graph touches anything."""
        if not self._is_unchanged(version):
            return

        def forward(permission: bool) -> None:
            checkpoint = version.document.checkpoint
            request = {
                "path": str(version.file),
                "outputs": list(outputs),
                "feeds": dict(feeds),
                "checkpoint": str(checkpoint) if checkpoint else None,
                "allow": permission,
            }
            self._submit("run", request, done, f"Run — {', '.join(outputs) or version.title}")

        def done(found: Mapping[str, Any]) -> str:
            self.ran.emit(version, found)
            count = len(found["outputs"])
            return f"{count:,} tensor{'s' if count != 1 else ''} computed"

        def asked(found: Mapping[str, Any]) -> str:
            if not found["touches"] or self.ask(found["touches"]):
                forward(bool(found["touches"]))
            return ""

        if allow:
            forward(True)
        else:
            request = {"path": str(version.file), "outputs": list(outputs), "feeds": list(feeds)}
            self._submit("touches", request, asked)

    def _submit(
        self, name: str, request: Mapping[str, Any], done: Callable[[Mapping[str, Any]], str], title: str = ""
    ) -> None:
        """Run a job; ``done`` gives what came of it, in words."""

        def end() -> None:
            self._running.discard(number)
            self.state = ""
            self.changed.emit()

        def finished(found: Mapping[str, Any]) -> None:
            self._jobs.end(number, done(found))
            end()

        def failed(failure: Failed) -> None:
            self._session.failed.emit(GraphViewerError(failure.message, failure.hint))
            end()

        def progress(_fraction: float, message: str) -> None:
            self.state = message
            self.changed.emit()

        number = self._jobs.submit(name, request, Callbacks(finished, failed, progress, end), title=title)
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
