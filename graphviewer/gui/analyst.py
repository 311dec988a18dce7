"""Keeps suggestions, roles and comparisons of a session up to date, in the background."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from graphviewer.analysis.diff import compare
from graphviewer.analysis.endpoints import suggest_inputs, suggest_outputs
from graphviewer.analysis.merge import merge
from graphviewer.analysis.roles import classify
from graphviewer.errors import GraphViewerError
from graphviewer.gui.loading import lay_out
from graphviewer.gui.session import Session
from graphviewer.gui.versions import Comparison, Version
from graphviewer.model.names import Endpoint


class Analyst(QObject):
    """Listens to a session and fills in what is derived from it."""

    compared = Signal(object)  # Comparison

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        session.endpoints_changed.connect(self.refresh)
        session.current_changed.connect(self.refresh)

    def suggest(self, version: Version) -> None:
        """Rank the outputs and inputs of a newly opened graph."""

        def work() -> tuple[list, list]:
            outputs = suggest_outputs(version.document)
            chosen = [Endpoint(best.name) for best in outputs[:1]]
            return outputs, suggest_inputs(version.document, chosen) if chosen else []

        def then(found: tuple[list, list]) -> None:
            version.family.suggested_outputs, version.family.suggested_inputs = found
            self._session.suggestions_changed.emit()

        self._session.background.submit("analysis", f"suggest-{id(version.family)}", work, then, self._session.failed.emit)

    def refresh(self) -> None:
        """Classify the nodes of the current version(s) for the chosen outputs, and suggest inputs for them."""
        current = self._session.current
        versions = [current.before, current.after] if isinstance(current, Comparison) else [current]
        for version in versions:
            if version is not None and version.roles is None:
                self._classify(version)

    def _classify(self, version: Version) -> None:
        index = version.document.graph.index
        outputs = [one for one in version.family.outputs if one.node in index]
        inputs = [one for one in version.family.inputs if one.node in index]
        if not outputs:
            return

        def work() -> tuple:
            return classify(version.document, outputs, inputs), suggest_inputs(version.document, outputs)

        def then(found: tuple) -> None:
            version.roles, version.family.suggested_inputs = found
            self._session.overlay_changed.emit()
            self._session.suggestions_changed.emit()

        self._session.background.submit("analysis", f"roles-{id(version)}", work, then, self._session.failed.emit)

    def compare(self, before: Version, after: Version) -> None:
        """Diff two versions or documents and open the comparison."""
        for tab in self._session.tabs:
            if isinstance(tab, Comparison) and (tab.before, tab.after) == (before, after):
                self._session.show_tab(tab)
                return
        provenance = after.provenance if after.parent is before else None

        def work() -> Comparison:
            diff = compare(before.document, after.document, provenance)
            merged = merge(before.document, after.document, diff)
            return Comparison(before, after, diff, merged, lay_out(merged.document.scopes))

        def then(comparison: Comparison) -> None:
            self._session.add_tab(comparison)
            self.compared.emit(comparison)

        self._session.background.submit("compare", f"compare-{id(before)}-{id(after)}", work, then, self._fail)

    def _fail(self, error: GraphViewerError) -> None:
        self._session.failed.emit(error)
