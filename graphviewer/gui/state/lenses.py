"""Overlays of the moment, search hits and traces: shown over what was there, and taken away again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from PySide6.QtCore import QObject

from graphviewer.gui.state.session import Session
from graphviewer.gui.state.versions import Comparison, Tab
from graphviewer.model.document import Document
from graphviewer.model.overlay import Overlay

LENSES = ("search", "trace")


class Shown(NamedTuple):
    """A graph on screen, and the tab that keeps its lenses."""

    document: Document
    tab: Tab


class Lenses(QObject):
    """Puts lenses on the graphs on screen; there is one overlay at a time."""

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._before = "roles"

    def shown(self) -> list[Shown]:
        """The graphs on screen, as they are looked at: one, or those before and after. The last one is searched."""
        current = self._session.current
        if current is None:
            return []
        if not isinstance(current, Comparison):
            return [Shown(current.document.unfolded, current)]
        if current.is_merged_shown:
            return [Shown(current.merged.document.unfolded, current)]
        return [Shown(version.document.unfolded, version) for version in (current.before, current.after)]

    @property
    def kind(self) -> str:
        """The lens that is shown; empty for none."""
        return self._session.overlay_kind if self._session.overlay_kind in LENSES else ""

    def show(self, kind: str, graphs: Sequence[Shown], overlays: Sequence[Overlay]) -> None:
        """Lay an overlay over each graph; what was shown before comes back with ``leave``."""
        session = self._session
        for graph, overlay in zip(graphs, overlays, strict=True):
            graph.tab.lenses[kind] = overlay
        if not self.kind:
            self._before = session.overlay_kind
        if session.overlay_kind == kind:
            session.overlay_changed.emit()
        else:
            session.show_overlay(kind)

    def leave(self, kind: str = "") -> bool:
        """Show again what was shown before; false where no lens (or not this one) is shown."""
        if not self.kind or kind not in ("", self.kind):
            return False
        for tab in self._session.tabs:
            tab.lenses.pop(self.kind, None)
        is_comparing = isinstance(self._session.current, Comparison)
        self._session.show_overlay("roles" if self._before == "diff" and not is_comparing else self._before)
        return True
