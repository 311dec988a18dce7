"""Keeps suggestions, roles, problems and comparisons of a session up to date.

What walks the whole graph in Python runs in the worker: in a thread of this process it would take the GIL from the
window for a second at a time.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QTimer, Signal

from graphviewer.analysis.suggestion import Suggestion
from graphviewer.gui.state.session import Session
from graphviewer.gui.state.versions import Comparison, Tab, Version
from graphviewer.gui.work.jobs import Callbacks, Jobs
from graphviewer.model.names import Endpoint
from graphviewer.model.overlay import Overlay
from graphviewer.model.problem import Problem
from graphviewer.worker.protocol import Failed

if TYPE_CHECKING:
    from graphviewer.analysis.diff import Pin
    from graphviewer.analysis.unfolded_diff import UnfoldedDiff
    from graphviewer.model.document import Document


class Analyst(QObject):
    """Listens to a session and fills in what is derived from it."""

    compared = Signal(object)  # Comparison
    checked = Signal(object)  # Version

    def __init__(self, session: Session, jobs: Jobs, folder: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session, self._jobs, self._folder = session, jobs, folder
        self._numbers = itertools.count(1)
        session.endpoints_changed.connect(self.refresh)
        session.current_changed.connect(self.refresh)
        self.compared.connect(self._explain)

    def examine(self, version: Version) -> None:
        """Rank outputs and inputs of a newly opened graph, and look for its problems."""
        self._suggest(version)
        self._check(version)

    # -- in the worker ------------------------------------------------------------------------------------------

    def _ask(
        self,
        name: str,
        version: Version,
        done: Callable[[Mapping[str, Any]], None],
        *,
        about: Comparison | None = None,
        **params: Any,
    ) -> None:
        """Ask the worker about a version, for a comparison or for itself; a newer question of the same kind about the
        same replaces an older one.
        """
        if not self._session.is_unchanged(version):
            return
        callbacks = Callbacks(done, self._failed)
        outputs = [params["out"]] if "out" in params else []
        request = {"path": str(version.file), **params}
        self._jobs.submit(name, request, callbacks, key=f"{name}-{id(about or version)}", outputs=outputs)

    def _suggest(self, version: Version) -> None:
        def done(found: Mapping[str, Any]) -> None:
            version.suggested_outputs = _suggestions(found["outputs"])
            version.suggested_inputs = _suggestions(found["inputs"])
            version.taken_outputs = [Endpoint.parse(name) for name in found["default"]]
            self._session.suggestions_changed.emit()

        chosen = [str(one) for one in self._chosen(version, "outputs")]
        self._ask("suggest", version, done, outputs=chosen)

    def _check(self, version: Version) -> None:
        def done(found: Mapping[str, Any]) -> None:
            version.problems = [Problem(**problem) for problem in found["problems"]]
            version.problem_count, version.notes = found["total"], tuple(found["notes"])
            self.checked.emit(version)

        self._ask("check", version, done)

    def refresh(self) -> None:
        """Classify the nodes of the current version(s) for the chosen outputs, and suggest inputs for them."""
        current = self._session.current
        versions = [current.before, current.after] if isinstance(current, Comparison) else [current]
        for version in versions:
            if version is not None and version.roles is None and self._chosen(version, "outputs"):
                self._classify(version)
        version = self._session.version
        if version is not None and version.problems is None:
            self._check(version)
        if version is not None and not version.suggested_outputs and version.roles is None:
            self._suggest(version)

    def _classify(self, version: Version) -> None:
        outputs, inputs = ([str(one) for one in self._chosen(version, kind)] for kind in ("outputs", "inputs"))
        out = self._folder / f"roles-{next(self._numbers)}.json"

        def then(roles: Overlay) -> None:
            version.roles = roles
            self._session.overlay_changed.emit()
            for tab in self._session.tabs:
                if isinstance(tab, Comparison) and tab.before is version:
                    self._explain(tab)

        def done(_counts: Mapping[str, Any]) -> None:
            self._session.background.submit(
                "analysis", f"roles-{id(version)}", lambda: _read_overlay(out), then, self._session.failed.emit
            )

        self._ask("roles", version, done, outputs=outputs, inputs=inputs, out=str(out))
        self._suggest(version)

    @staticmethod
    def _chosen(version: Version, kind: str) -> list:
        """The endpoints that this version of the graph still has."""
        index = version.document.graph.index
        return [one for one in getattr(version.family, kind) if one.node in index]

    def _failed(self, failure: Failed) -> None:
        self._session.failed.emit(failure.as_error())

    # -- comparing ----------------------------------------------------------------------------------------------

    def compare(self, before: Version, after: Version, pins: Sequence[Pin] | None = None) -> None:
        """Diff two versions or documents and open the comparison, or show it where it is open already.

        ``pins`` replace those of a comparison that is open: it is made again, in the same tab. Nothing comes of it
        where a tab that it needs is closed.
        """
        tabs = (tab for tab in self._session.tabs if isinstance(tab, Comparison))
        known = next((tab for tab in tabs if (tab.before, tab.after) == (before, after)), None)
        if known is not None and pins is None:
            self._session.show_tab(known)
            return
        needed = [before, after] if known is None else [before, after, known]
        if not self._are_open(needed):
            return
        pins = tuple(pins or ())
        provenance = after.provenance if after.parent is before else None

        def work() -> Comparison:
            from graphviewer.analysis.diff import compare
            from graphviewer.analysis.diff.purposes import explained
            from graphviewer.analysis.merge import merge
            from graphviewer.analysis.merged_functions import unfolded_edges, unfolded_overlay
            from graphviewer.analysis.merged_order import in_place
            from graphviewer.analysis.stats import totals as totals_of
            from graphviewer.analysis.unfolded_diff import unfold_diff
            from graphviewer.gui.state.loading import lay_out
            from graphviewer.gui.state.twins import Twins

            roles, graphs = before.roles, (_with_nodes(before.document), _with_nodes(after.document))
            diff = explained(compare(*graphs, provenance, pins=pins), roles)
            merged = in_place(merge(*graphs, diff))
            totals = (totals_of(before.document), totals_of(after.document))
            diff.summary()  # views ask for it and for names first: they are not left to the GUI thread
            unfolded, overlay = unfold_diff(diff), unfolded_overlay(merged)
            edges, twins = unfolded_edges(merged, overlay), Twins(unfolded, merged)
            layout = lay_out(merged.document)
            _ = merged.document.unfolded.graph.index
            return Comparison(
                before, after, diff, unfolded, merged, overlay, edges, twins, layout, totals, pins=pins, purposes=roles
            )

        def then(comparison: Comparison) -> None:
            if not self._are_open(needed):
                return
            if known is not None:
                comparison.is_merged_shown, comparison.opened_before = known.is_merged_shown, known.opened_before
                self._session.replace_tab(known, comparison)
            else:
                self._session.add_tab(comparison)
            # In a turn of the event loop of its own: what it sets off need not add up with what the tab did.
            QTimer.singleShot(0, self, lambda: self.compared.emit(comparison))

        key = f"compare-{id(before)}-{id(after)}"
        self._session.background.submit("analysis", key, work, then, self._session.failed.emit)

    def _are_open(self, tabs: Iterable[Tab]) -> bool:
        return all(tab in self._session.tabs for tab in tabs)

    def _explain(self, comparison: Comparison) -> None:
        """Find out what the nodes that went away were for: for the chosen outputs, or else for what survived."""
        from graphviewer.analysis.diff.purposes import surviving_outputs

        before, roles = comparison.before, comparison.before.roles
        if before.document.kind == "checkpoint" or not comparison.diff.summary()["removed"]:
            return
        if roles is not None:
            if roles is not comparison.purposes:
                self._give_reasons(comparison, lambda: roles)
            return
        outputs = [str(one) for one in surviving_outputs(comparison.diff)]
        if not outputs or self._chosen(before, "outputs"):  # roles for the chosen ones are on their way
            return
        out = self._folder / f"roles-{next(self._numbers)}.json"

        def done(_counts: Mapping[str, Any]) -> None:
            self._give_reasons(comparison, lambda: _read_overlay(out))

        self._ask("roles", before, done, about=comparison, outputs=outputs, inputs=[], out=str(out))

    def _give_reasons(self, comparison: Comparison, read: Callable[[], Overlay]) -> None:
        """Say of the nodes that went away what their roles were."""
        from graphviewer.analysis.diff.purposes import explained
        from graphviewer.analysis.merged_functions import with_reasons
        from graphviewer.analysis.unfolded_diff import unfold_diff

        def work() -> tuple[Overlay, UnfoldedDiff, Overlay]:
            roles = read()
            unfolded = unfold_diff(explained(comparison.diff, roles))
            return roles, unfolded, with_reasons(comparison.merged_overlay, comparison.merged, unfolded.overlays[0])

        def then(found: tuple[Overlay, UnfoldedDiff, Overlay]) -> None:
            comparison.explain(*found)
            self._session.overlay_changed.emit()

        key = f"explain-{id(comparison)}"
        self._session.background.submit("analysis", key, work, then, self._session.failed.emit)


def _suggestions(found: list[Mapping[str, Any]]) -> list[Suggestion]:
    return [Suggestion(one["name"], one["score"], one["reason"]) for one in found]


def _with_nodes(document: Document) -> Document:
    """What is compared: of a checkpoint, which has no nodes of its own, those that are drawn for its variables."""
    return document if len(document.graph) else document.unfolded


def _read_overlay(path: Path) -> Overlay:
    return Overlay.from_json(json.loads(path.read_text("utf-8", "surrogatepass")))
