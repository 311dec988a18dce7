"""Runs original and result side by side in the worker, and graphs forward; asks before a file may touch anything."""

from __future__ import annotations

import itertools
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

from PySide6.QtCore import QObject, Signal

from graphviewer.errors import ReadError
from graphviewer.gui.state.session import Session
from graphviewer.gui.state.versions import Version
from graphviewer.gui.work.jobs import Callbacks, Jobs
from graphviewer.model.names import parse_input
from graphviewer.worker.protocol import Failed

Ask = Callable[[Sequence[Mapping[str, str]]], bool]
Feeds = Mapping[str, str]
"""Files or numbers by the name of the tensor that they are fed to; values are made up for what is not named."""

_PIECE = 16 << 20
_MADE_UP: Feeds = MappingProxyType({})


class Prover(QObject):
    """Verification and forward runs of a session.

    Attributes:
        ask: shows what a graph could touch (files, network, Python) and gives the user's answer.
    """

    changed = Signal()
    ran = Signal(object, object)  # Version, the JSON of `run`, whose files are there until the next run has ended

    def __init__(self, session: Session, jobs: Jobs, folder: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session, self._jobs, self._folder = session, jobs, folder
        self._numbers = itertools.count(1)
        self._shown: Path | None = None  # folder of the last run's values
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

    def verify(
        self,
        before: Version,
        after: Version,
        feeds: Feeds = _MADE_UP,
        outputs: Sequence[str] = (),
        *,
        allow: bool = False,
    ) -> None:
        """Run both sides on the same feeds and compare; without ``outputs``, what was chosen, or else the usual."""
        if not self._session.is_unchanged(before, after):
            return
        checkpoint = before.document.checkpoint
        request = {
            "before": str(before.file),
            "after": str(after.file),
            "outputs": list(outputs or chosen_outputs(before, after)),
            "feeds": dict(feeds),
            "checkpoint": str(checkpoint) if checkpoint else None,
            "allow": allow,
            **_matching(before, after),
        }

        def done(found: Mapping[str, Any]) -> str:
            if found["touches"] and not allow and self.ask(found["touches"]):
                self.verify(before, after, feeds, outputs, allow=True)
                return "allowed, and begun again"
            summary = after.summary
            for known in after.verdicts.values():
                summary = summary.removesuffix(verdict_line(known)).removesuffix("; ")
            after.verdicts[before] = found
            after.summary = f"{summary}; {verdict_line(found)}".removeprefix("; ")
            self._session.tabs_changed.emit()
            return after.summary

        self._submit("verify", request, done, f"Verify — {after.title}")

    def run(self, version: Version, outputs: Sequence[str], feeds: Feeds = _MADE_UP, *, allow: bool = False) -> None:
        """One forward pass of the named tensors; asks first where the graph touches anything."""
        if not self._session.is_unchanged(version):
            return

        folder = self._folder / f"run-{next(self._numbers)}"

        def forward(permission: bool) -> None:
            checkpoint = version.document.checkpoint
            request = {
                "path": str(version.file),
                "outputs": list(outputs),
                "feeds": dict(feeds),
                "checkpoint": str(checkpoint) if checkpoint else None,
                "folder": str(folder),
                "allow": permission,
            }
            title = f"Run — {', '.join(outputs[:1]) or version.title}"
            self._submit("run", request, done, title, lambda: self._sweep(folder))

        def done(found: Mapping[str, Any]) -> str:
            before, self._shown = self._shown, folder
            self.ran.emit(version, found)
            if before is not None:
                self._sweep(before)
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

    def save(self, values: Path, target: Path) -> None:
        """Copy the values of a run to the file that the user named (the dialog asked before replacing one)."""
        sources = [
            source
            for one in self._session.versions()
            for source in (one.file, one.document.path, one.document.checkpoint)
        ]

        def work() -> int:
            from graphviewer.formats.inputs import refuse_to_replace
            from graphviewer.formats.writing import write_atomically

            refuse_to_replace(target, sources, because="is open here")
            write_atomically(target, _pieces(values), force=True)
            return target.stat().st_size

        def then(size: int) -> None:
            self._session.said.emit(f"Saved {target} ({size:,} bytes).")

        self._session.background.submit("save", f"save-{target}", work, then, self._session.failed.emit)

    def _sweep(self, folder: Path) -> None:
        """Remove the values of a run, once what is being saved of them is saved."""
        work = partial(shutil.rmtree, folder, ignore_errors=True)
        self._session.background.submit(
            "save", f"sweep-{folder}", work, lambda _nothing: None, self._session.failed.emit
        )

    def _submit(
        self,
        name: str,
        request: Mapping[str, Any],
        done: Callable[[Mapping[str, Any]], str],
        title: str = "",
        undo: Callable[[], None] = lambda: None,
    ) -> None:
        """Run a job; ``done`` gives what came of it, in words; ``undo`` clears up after one that gave nothing."""

        def end() -> None:
            self._running.discard(number)
            self.state = ""
            self.changed.emit()

        def finished(found: Mapping[str, Any]) -> None:
            self._jobs.end(number, done(found))
            end()

        def failed(failure: Failed) -> None:
            self._session.failed.emit(failure.as_error())
            cancelled()

        def cancelled() -> None:
            undo()
            end()

        def progress(_fraction: float, message: str) -> None:
            self.state = message
            self.changed.emit()

        number = self._jobs.submit(name, request, Callbacks(finished, failed, progress, cancelled), title=title)
        self._running.add(number)
        self.changed.emit()

    def cancel(self) -> None:
        """Stop what runs, at once: a graph may have a loop that never ends."""
        for number in tuple(self._running):
            self._jobs.cancel(number)


def _pieces(file: Path) -> Iterator[bytes]:
    """The bytes of a file, some at a time.

    Raises:
        ReadError: it went away.
    """
    try:
        with file.open("rb") as stream:
            while piece := stream.read(_PIECE):
                yield piece
    except OSError as error:
        raise ReadError("The values of this run are no longer there.", "Run it again.") from error


def chosen_outputs(before: Version, after: Version) -> list[str]:
    """What a comparison is about: the outputs that the result was made for, else those chosen here; of these, the ones
    that both graphs have.
    """
    made = after.provenance.parameters.get("outputs", ()) if after.provenance is not None else ()
    names = list(map(str, made or after.family.outputs or before.family.outputs))
    both = before.document.graph.index.keys() & after.document.graph.index.keys()
    return [name for name in names if parse_input(name)[0] in both]


def _matching(before: Version, after: Version) -> dict[str, str]:
    """Which values the variables of the original had when it was frozen on the way to the result."""
    version, found = after, dict[str, str]()
    while version is not before and version.parent is not None:
        made = version.provenance.parameters if version.provenance is not None else {}
        found = found or {name: str(made[name]) for name in ("saver", "rename") if made.get(name)}
        version = version.parent
    return found if version is before else {}


def verdict_line(found: Mapping[str, Any]) -> str:
    """A verdict in a few words: ``verified: difference 0``."""
    if found["verdict"] == "same":
        return f"verified: {found['reason']}" + (f", which proves little: {found['doubt']}" if found["doubt"] else "")
    return f"verified: DIFFERENT, {found['reason']}" if found["verdict"] == "different" else str(found["reason"])
