"""Opens files: reads them in the background, offers what can be done when that fails, and remembers the choices."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from PySide6.QtCore import QObject, Signal

from graphviewer.errors import DamagedError, GraphViewerError, RunsCodeError
from graphviewer.gui.state.session import Session
from graphviewer.gui.state.versions import Version
from graphviewer.gui.work.jobs import Callbacks, Jobs
from graphviewer.gui.work.prover import verdict_line

if TYPE_CHECKING:
    from graphviewer.gui.state.loading import Loaded
    from graphviewer.layout.style import Style
    from graphviewer.model.document import Document

Then = Callable[[Version, "Loaded"], None]


@dataclass(frozen=True)
class Request:
    """What was asked for.

    Attributes:
        checkpoint: prefix to use in place of the one beside the graph.
        tags: which graph of a SavedModel or an events file; None: the one to serve, the newest.
        salvage: take the complete part of a damaged file.
        title: name of the tab; by default that of the document.
        remembered: path for the list of recent files; None: ``path``.
    """

    path: Path
    checkpoint: Path | None = None
    tags: tuple[str, ...] | None = None
    salvage: bool = False
    title: str = ""
    remembered: Path | None = None


@dataclass(frozen=True)
class Choice:
    """One of several things that a path holds."""

    label: str
    request: Request
    is_shown: bool


@dataclass(frozen=True)
class Choices:
    """What there is to choose from, and what to say before it."""

    question: str
    choices: tuple[Choice, ...]


@dataclass(frozen=True, eq=False)
class _Opened:
    """A document that was read, where the worker finds it, and what else could have been opened."""

    loaded: Loaded
    file: Path | None
    choices: tuple[Choices, ...]


class Opener(QObject):
    """The session's way to files."""

    opened = Signal(object, object)  # Version, Request
    offered = Signal(str, object)  # text of a button beside the last error, and what it does
    withdrawn = Signal()  # the offer is of no use any more

    def __init__(self, session: Session, jobs: Jobs, folder: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session, self._jobs, self._folder = session, jobs, folder
        self._numbers = itertools.count(1)
        self._requests: WeakKeyDictionary[Version, Request] = WeakKeyDictionary()
        self._choices: WeakKeyDictionary[Version, tuple[Choices, ...]] = WeakKeyDictionary()

    def choices(self, version: Version) -> tuple[Choices, ...]:
        """What else could be opened in place of a version."""
        return self._choices.get(version, ())

    def choose(self, request: Request) -> None:
        """Open another choice, or show it where it is open already."""
        for version, known in list(self._requests.items()):
            if known == request and version in self._session.tabs:
                self._session.show_tab(version)
                return
        self.open(request)

    def open(self, request: Request, then: Then | None = None) -> None:
        """Read a file in the background and show it."""
        self._session.said.emit(f"Opening {request.title or request.path.name} …")
        number, style = next(self._numbers), self._session.style
        self._session.background.submit(
            "open",
            f"open-{request.path}-{request.tags}-{request.checkpoint}-{request.salvage}",
            lambda: _read(request, self._folder / f"opened-{number}.meta", style),
            lambda found: self._show(found, request, then),
            lambda error: self._fail(error, request, then),
        )

    def _show(self, found: _Opened, request: Request, then: Then | None) -> None:
        version = self._session.add_loaded(found.loaded, request.path, title=request.title, file=found.file)
        self._requests[version] = request
        self._choices[version] = found.choices
        self.withdrawn.emit()
        self.opened.emit(version, request)
        if then is not None:
            then(version, found.loaded)

    def _fail(self, error: GraphViewerError, request: Request, then: Then | None) -> None:
        if isinstance(error, RunsCodeError):
            reason = "Only Keras can read it, and loading this file runs code. Do it only if you trust who made it."
            error = RunsCodeError(error.message, reason)
        self._session.failed.emit(error)
        if isinstance(error, DamagedError) and not request.salvage:
            self.offered.emit("Open the complete part", lambda: self.open(replace(request, salvage=True), then))
        elif isinstance(error, RunsCodeError):
            self.offered.emit("Load it, running its code", lambda: self._load_keras(request, then))

    # -- Keras --------------------------------------------------------------------------------------------------

    def _load_keras(self, request: Request, then: Then | None) -> None:
        """Let the worker turn a Keras model into a graph, then open that."""
        out = self._folder / f"keras-{next(self._numbers)}.meta"
        name = request.path.name

        def done(result: Mapping[str, Any]) -> None:
            verdict = result["verification"]
            self._jobs.end(job, f"a graph of {result['nodes']:,} nodes; {verdict_line(verdict)}")

            def proved(version: Version, loaded: Any) -> None:
                version.origin_verdict, version.summary = verdict, f"made with Keras; {verdict_line(verdict)}"
                self._session.tabs_changed.emit()
                if then is not None:
                    then(version, loaded)

            self.open(replace(request, path=out, title=name, remembered=request.path), proved)

        def failed(failure: Any) -> None:
            self._session.failed.emit(failure.as_error())

        def cancelled() -> None:
            self._session.said.emit("Cancelled; nothing was opened.")

        self.withdrawn.emit()
        asked = {"path": str(request.path), "out": str(out), "prove": True}
        callbacks = Callbacks(done, failed, cancelled=cancelled)
        job = self._jobs.submit("keras", asked, callbacks, outputs=[out], title=f"Load with Keras — {name}")


def _read(request: Request, copy: Path, style: Style) -> _Opened:
    """Read, lay out, and look for other choices; runs in a background lane.

    What the worker could not read again by its path alone (a chosen graph, a salvaged one) is written to ``copy``.
    """
    from graphviewer.formats import open_document, save_document
    from graphviewer.gui.state.loading import load

    def read(path: Path, **more: Any) -> Document:
        document = open_document(path, tags=request.tags, salvage=request.salvage, **more)
        return replace(document, title=request.title) if request.remembered is not None else document

    loaded = load(request.path, request.checkpoint, read=read, style=style)
    is_special = request.tags is not None or request.salvage
    if is_special:
        save_document(loaded.document, copy)
    return _Opened(loaded, copy if is_special else None, tuple(_all_choices(loaded.document, request)))


def _all_choices(document: Any, request: Request) -> Sequence[Choices]:
    found = [_graphs(document, request), _logged(document, request), _steps(document, request)]
    return [choices for choices in found if len(choices.choices) > 1]


def _graphs(document: Any, request: Request) -> Choices:
    """The MetaGraphs of a SavedModel."""
    infos = document.extra.get("metagraphs", ())
    name = Path(request.path).resolve().name
    choices = [
        Choice(
            ", ".join(info.tags) or "(no tags)",
            replace(request, tags=info.tags, title=f"{name} [{', '.join(info.tags)}]"),
            info.shown,
        )
        for info in infos
    ]
    return Choices(f"This SavedModel holds {len(choices)} graphs:", tuple(choices))


def _logged(document: Any, request: Request) -> Choices:
    """The graphs of an events file."""
    name = Path(request.path).resolve().name
    choices = [
        Choice(one.name, replace(request, tags=(one.name,), title=f"{name} [{one.name}]"), one.shown)
        for one in document.extra.get("graphs", ())
    ]
    return Choices(f"This events file holds {len(choices)} graphs:", tuple(choices))


def _steps(document: Any, request: Request) -> Choices:
    """The checkpoints of the run that the document's one is of."""
    from graphviewer.formats.checkpoint import checkpoint_steps

    shown = document.checkpoint
    if shown is None:
        return Choices("", ())
    series = shown.name.rpartition("-")[0]
    steps = [step for step in checkpoint_steps(shown.parent) if step.prefix.name.rpartition("-")[0] == series]
    choices = [
        Choice(
            f"step {step.step:,}" if step.step is not None else step.prefix.name,
            _request_of_step(document, request, step.prefix),
            step.prefix.name == shown.name,
        )
        for step in steps
    ]
    return Choices(f"There are {len(choices)} checkpoints:", tuple(choices))


def _request_of_step(document: Any, request: Request, prefix: Path) -> Request:
    """The step with a graph of its own where it has one, else the same graph with its values."""
    if document.kind == "checkpoint" or prefix.with_name(prefix.name + ".meta").is_file():
        return replace(request, path=prefix, checkpoint=None, title=prefix.name)
    return replace(request, checkpoint=prefix, title=f"{document.title} · {prefix.name}")
