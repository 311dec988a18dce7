"""Runs operations in the background worker, and puts their results into the session."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal

from graphviewer.errors import GraphViewerError, TrainingModeError
from graphviewer.gui.state.session import Session
from graphviewer.gui.state.versions import Family, Version
from graphviewer.gui.words.texts import elided
from graphviewer.gui.work.jobs import Callbacks, Jobs, Run
from graphviewer.model.provenance import Provenance, provenance_path
from graphviewer.worker.protocol import Failed

if TYPE_CHECKING:
    from graphviewer.layout.style import Style
    from graphviewer.operations.registry import Choice


@dataclass(frozen=True, eq=False)
class _Order:
    """An operation on its way: of which version, what people call it, and where its result will be."""

    job: int
    version: Version
    label: str
    target: Path


class Operator(QObject):
    """The session's connection to the worker."""

    finished = Signal(object, object)  # Version before, Version after
    noticed = Signal(str)  # what to know about the last result
    offered = Signal(str, object)  # text of a button beside the last error or notice, and what it does

    def __init__(self, session: Session, jobs: Jobs, folder: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session, self._jobs, self._folder = session, jobs, folder
        self._numbers = itertools.count(1)

    def run(self, operation: str, label: str, version: Version, parameters: Mapping[str, Any]) -> Run | None:
        """Start an operation on a version; its result becomes a new version beside it."""
        if not self._session.is_unchanged(version):
            return None
        target = self._folder / f"{next(self._numbers)}-{operation}.meta"
        request = {
            "operation": operation,
            "path": str(version.file),
            "out": str(target),
            "parameters": dict(parameters),
        }
        callbacks = Callbacks(
            done=lambda result: self._read_result(_Order(job, version, label, target), result),
            failed=lambda failure: self._failed(version, failure),
            cancelled=lambda: self._session.said.emit("Cancelled; nothing was changed."),
        )
        outputs = [target, provenance_path(target)]
        title = f"{label} — {version.title}"
        job = self._jobs.submit("operation", request, callbacks, outputs=outputs, title=title)
        return self._jobs.run_of(job)

    def ask_choices(
        self,
        operation: str,
        version: Version,
        outputs: Sequence[str],
        checkpoint: str | None,
        then: Callable[[Mapping[str, Sequence[Choice]]], None],
    ) -> None:
        """What the parameters of an operation can be, by name of the parameter; a newer question replaces an older one.

        None are told where the graph or its checkpoint cannot be read: the operation says so itself.
        """
        request = {
            "path": str(version.file),
            "operation": operation,
            "outputs": list(outputs),
            "checkpoint": checkpoint,
        }

        def done(found: Mapping[str, Any]) -> None:
            from graphviewer.operations.registry import Choice

            then({name: [Choice(**one) for one in listed] for name, listed in found["choices"].items()})

        callbacks = Callbacks(done, lambda _failure: then({}), cancelled=lambda: then({}))
        self._jobs.submit("choices", request, callbacks, key=f"choices-{operation}")

    def _failed(self, version: Version, failure: Failed) -> None:
        self._session.failed.emit(failure.as_error())
        if failure.kind == TrainingModeError.__name__:
            self._offer(version, [str(one) for one in version.family.outputs])

    def offer_outputs(self, version: Version | None, then: Callable[[], None]) -> None:
        """Offer to take the outputs that suggest themselves where none is chosen, and to go on."""
        taken = list(version.taken_outputs) if version is not None and not version.family.outputs else []
        if not taken:
            return

        def take() -> None:
            self._session.set_endpoints(outputs=taken)
            then()

        more = f" and {len(taken) - 1:,} more of its call" if len(taken) > 1 else ""
        self.noticed.emit("No output is chosen. Click a node and press O, or take what suggests itself.")
        self.offered.emit(f"Use '{elided(str(taken[0]))}'{more}", take)

    def _offer_inference_mode(self, version: Version, result: Mapping[str, Any]) -> None:
        """Say of a result that can still compute as in training what decides, and offer to mend the original."""
        count, first = len(result["switches"]), result["switches"][0]
        which = f"'{first}'" if count == 1 else f"'{first}' and {count - 1:,} more inputs"
        decides = "decides" if count == 1 else "decide"
        self.noticed.emit(f"The result can still compute as in training: what is fed to {which} {decides}.")
        self._offer(version, result["outputs"])

    def _offer(self, version: Version, outputs: Sequence[str]) -> None:
        given = {"outputs": list(outputs)}
        self.offered.emit("Apply inference mode", lambda: self.run("inference-mode", "Inference mode", version, given))

    def _read_result(self, order: _Order, result: Mapping[str, Any]) -> None:
        style, expanded = self._session.style, frozenset(order.version.family.expanded)

        def failed(error: GraphViewerError) -> None:
            self._jobs.end(order.job, error.message)
            self._session.failed.emit(error)

        self._session.background.submit(
            "open",
            f"result-{order.job}",
            lambda: self._read(order, result, style, expanded),
            lambda version: self._show(order, version, result),
            failed,
        )

    def _read(self, order: _Order, result: Mapping[str, Any], style: Style, expanded: Collection[str]) -> Version:
        from graphviewer.formats import open_document
        from graphviewer.gui.state.loading import draw_open, lay_out

        document = open_document(order.target, checkpoint=result.get("checkpoint"))
        provenance = Provenance.from_json(json.loads(provenance_path(order.target).read_text("utf-8")))
        parent = order.version
        label = self._new_label(_PAST.get(provenance.operation, order.label), parent.family)
        layout = lay_out(document)
        draw_open(layout, style, expanded)  # the pane finds its drawing made
        made = Version(document, layout, label, parent.family, order.target, parent, provenance)
        made.is_saved = False
        return made

    def _new_label(self, label: str, family: Family) -> str:
        """``Frozen``, then ``Frozen 2``."""
        taken = {version.label for version in self._session.versions(family)}
        numbered = (label if number == 1 else f"{label} {number}" for number in itertools.count(1))
        return next(one for one in numbered if one not in taken)

    def _show(self, order: _Order, version: Version, result: Mapping[str, Any]) -> None:
        if order.version not in self._session.tabs:
            self._jobs.end(order.job, "not shown: its tab was closed")
            return
        version.summary = summary_line(order.version, version, result)
        self._jobs.end(order.job, version.summary)
        self._session.add_tab(version)
        self.finished.emit(order.version, version)
        if result.get("switches"):
            self._offer_inference_mode(order.version, result)


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
        line += f", {frozen:,} variables became constants" if frozen > 1 else ", 1 variable became a constant"
    if warnings := result.get("warnings"):
        line += f"; {len(warnings)} warning{'s' if len(warnings) > 1 else ''}: {warnings[0]}"
    return line
