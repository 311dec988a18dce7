"""What the panes show for a tab."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from graphviewer.gui.stage.pane import Subject
from graphviewer.gui.state.versions import Comparison, Tab, Version
from graphviewer.model.bodies import extended

if TYPE_CHECKING:
    from collections.abc import Callable

    from graphviewer.layout.nested import NestedLayout
    from graphviewer.model.document import Document
    from graphviewer.model.overlay import Overlay


def subjects_of(tab: Tab | None) -> tuple[Subject | None, Subject | None]:
    """What the left and the right pane show for a tab."""
    if tab is None:
        return None, None
    if isinstance(tab, Version):
        return (_isolated_subject(tab) if tab.isolated else _subject(tab.document, tab.layout, tab.overlay)), None
    return (_merged_subject(tab), None) if tab.is_merged_shown else (_side_subject(tab, 0), _side_subject(tab, 1))


def _merged_subject(tab: Comparison) -> Subject:
    shown, name = tab.merged.document.unfolded, tab.twins.name if tab.twins.is_renamed else None
    return Subject(shown, tab.merged_layout, tab.overlay, tab.merged_edges, seen=tab.twins.merged, opened_name=name)


def _side_subject(tab: Comparison, side: int) -> Subject:
    """One of two graphs side by side."""
    version = (tab.before, tab.after)[side]
    plain = _subject(version.document, version.layout, version.overlay)
    return replace(
        plain,
        overlay=lambda kind: tab.unfolded.overlays[side] if kind == "diff" else plain.overlay(kind),
        side=side,
        seen=lambda selection: tab.twins.seen(selection, side),
        opened_name=(lambda path: tab.twins.name(path, side)) if side and tab.twins.is_renamed else None,
    )


def _isolated_subject(version: Version) -> Subject:
    return _subject(version.isolated.part, version.isolated.layout, version.shown_overlay)


def _subject(document: Document, layout: NestedLayout, overlay: Callable[[str], Overlay | None]) -> Subject:
    """A graph with its functions opened, and what is laid over the graph taken inside them."""
    shown = document.unfolded

    def inside_too(kind: str) -> Overlay | None:
        found = overlay(kind)
        return None if found is None else extended(found, shown)

    return Subject(shown, layout, inside_too)
