"""Walks through the graph: ancestors, descendants, paths, parts shown by themselves, bookmarks."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple
from weakref import WeakKeyDictionary

from PySide6.QtCore import QObject, Signal

from graphviewer.gui.stage.trace_bar import TraceBar
from graphviewer.gui.state.lenses import Lenses
from graphviewer.gui.state.selection import AFTER, ANY, BEFORE, Selection
from graphviewer.gui.state.session import Session
from graphviewer.gui.state.versions import Comparison, Isolated, Version
from graphviewer.gui.words.describe import node_count

if TYPE_CHECKING:
    from graphviewer.gui.canvas.camera import Camera
    from graphviewer.gui.stage.stage import Stage
    from graphviewer.model.document import Document
    from graphviewer.model.overlay import Overlay

FEW_LEVELS = 3
"""What ``fewer`` makes of all levels."""

MOST_OPENED = 150
"""A part with at most so many nodes is shown with all its scopes open."""


@dataclass(frozen=True)
class Request:
    """What is to be traced.

    Attributes:
        kind: ``ancestors``, ``descendants``, ``both`` or ``path``.
        starts: where it starts; a path has two.
        levels: edges to walk, -1 for all.
    """

    kind: str
    starts: tuple[Selection, ...]
    levels: int = -1


class Answer(NamedTuple):
    """A trace of one graph: what is lit, in words and in few words, and whether more lies beyond the levels."""

    overlay: Overlay
    text: str
    brief: str
    farthest: int = 0
    goes_on: bool = False


class Exploration(QObject):
    """The commands that light up or isolate what lies around the selection; all walks are off the GUI thread."""

    traced = Signal()
    isolated_changed = Signal()
    said = Signal(str)

    def __init__(self, session: Session, stage: Stage, lenses: Lenses, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session, self._stage, self.lenses = session, stage, lenses
        self.bar = TraceBar()
        stage.tools.addWidget(self.bar)
        self.request: Request | None = None
        self._answer: Answer | None = None
        self._bookmarks: WeakKeyDictionary[object, dict[int, Selection]] = WeakKeyDictionary()
        self._views: WeakKeyDictionary[Version, Camera] = WeakKeyDictionary()
        session.style_changed.connect(self._views.clear)  # the whole graph will lie elsewhere
        self.bar.levels_changed.connect(self.set_levels)
        self.bar.isolate_clicked.connect(self.isolate)
        self.bar.show_all_clicked.connect(self.show_all)
        self.bar.closed.connect(self.back_out)
        stage.merged_button.toggled.connect(lambda _on: lenses.leave("trace"))
        session.current_changed.connect(self._tab_changed)
        session.overlay_changed.connect(self._overlay_changed)
        session.reveal_requested.connect(self._look_outside)

    # -- traces -------------------------------------------------------------------------------------------------

    def trace(self, kind: str) -> None:
        """Light up ``ancestors``, ``descendants`` or ``both`` of what is selected."""
        starts = tuple(one for one in (self._session.selection, self._session.second) if one is not None)
        if starts:
            self._run(Request(kind, starts))

    @property
    def ends(self) -> tuple[Selection, Selection] | None:
        """The ends of a path: both picks, or the selection and what was selected before."""
        selected, second, previous = self._session.selection, self._session.second, self._session.previous
        if selected is not None and second is not None:
            return selected, second
        return (previous, selected) if selected and previous and previous != selected else None

    def find_path(self) -> None:
        """Light up the ways between two nodes."""
        if self.ends is not None:
            self._run(Request("path", self.ends))

    @property
    def has_levels(self) -> bool:
        """Whether a trace with levels is shown."""
        return self.request is not None and self.request.kind != "path"

    def set_levels(self, levels: int) -> None:
        """Walk so many edges; -1 for all."""
        if self.request is not None and self.has_levels and levels != self.request.levels:
            self._run(replace(self.request, levels=levels))

    def more(self) -> None:
        """One level more; all where there are no more."""
        if self.request is not None and self.request.levels >= 0:
            goes_on = self._answer is not None and self._answer.goes_on
            self.set_levels(self.request.levels + 1 if goes_on else -1)

    def fewer(self) -> None:
        """One level less."""
        if self.request is not None and self._answer is not None:
            levels = self.request.levels if self.request.levels >= 0 else min(FEW_LEVELS + 1, self._answer.farthest)
            self.set_levels(max(levels - 1, 1))

    def _run(self, request: Request) -> None:
        graphs, current = self.lenses.shown(), self._session.current

        def work() -> list[Answer | None]:
            if isinstance(current, Comparison):
                return _compared_answers(current, [graph.document for graph in graphs], request)
            return [_answer(graph.document, request) for graph in graphs]

        def done(answers: list[Answer | None]) -> None:
            found = [(graph, answer) for graph, answer in zip(graphs, answers, strict=True) if answer is not None]
            if graphs != self.lenses.shown():
                return
            if not found:
                self.said.emit(_nothing(request))
                return
            self.request, self._answer = request, found[-1][1]
            self.lenses.show("trace", [graph for graph, _ in found], [answer.overlay for _, answer in found])
            self.said.emit(self._answer.text)
            self.traced.emit()

        self._session.background.submit("explore", "trace", work, done, self._session.failed.emit)

    # -- a part by itself ---------------------------------------------------------------------------------------

    def isolate(self) -> None:
        """Draw by themselves: what a lens lights up, or else the selection with its direct neighbours."""
        version, selection = self._session.current, self._session.selection
        if not isinstance(version, Version):
            return
        lens = version.lenses.get(self.lenses.kind)
        starts = tuple(one for one in (selection, self._session.second) if one is not None)
        if lens is None and not starts:
            return
        whole = version.document.unfolded
        what = {"search": "search hits", "trace": self._answer.brief if self._answer else ""}
        title = what[self.lenses.kind] if lens is not None else f"{_short(starts)} and its neighbours"

        def work() -> Isolated | None:
            return _isolated(whole, lens, starts, title)

        def done(isolated: Isolated | None) -> None:
            if isolated is not None and version is self._session.current:
                self._show_part(version, isolated)

        self._session.background.submit("explore", "isolate", work, done, self._session.failed.emit)

    def _show_part(self, version: Version, isolated: Isolated) -> None:
        family = version.family
        if version.isolated is None:
            self._views[version] = self._stage.left.canvas.camera
            isolated.before = frozenset(family.expanded)
        else:
            isolated.before = version.isolated.before
        version.isolated = isolated
        family.expanded = set(isolated.expanded)
        self._stage.show_anew()
        self.said.emit(self._part_text(version))
        self._session.overlay_changed.emit()  # its counts are others now
        self.isolated_changed.emit()

    @property
    def is_isolated(self) -> bool:
        """Whether a part is drawn in place of the whole graph."""
        return isinstance(self._session.current, Version) and self._session.current.isolated is not None

    def show_all(self) -> None:
        """Draw the whole graph again, as it was."""
        version = self._session.current
        if isinstance(version, Version) and version.isolated is not None:
            version.family.expanded = set(version.isolated.before)
            version.isolated = None
            self._stage.show_anew(self._views.pop(version, None))
            self.said.emit("The whole graph is shown.")
            self._session.overlay_changed.emit()  # its counts are others now
            self.isolated_changed.emit()

    def _look_outside(self, selection: Selection) -> None:
        """What is to be shown is not in the part: show the whole graph."""
        version = self._session.current
        part = version.isolated.part if isinstance(version, Version) and version.isolated is not None else None
        if part is not None and selection.item(part.scopes) is None:
            self.show_all()

    @staticmethod
    def _part_text(version: Version) -> str:
        assert version.isolated is not None
        part = version.isolated.part
        return f"{len(part.graph):,} of {node_count(version.document)}: {version.isolated.title}"

    # -- state --------------------------------------------------------------------------------------------------

    def back_out(self) -> bool:
        """Take the lens away, or else show the whole graph; false where there is nothing to leave."""
        if self.lenses.leave():
            return True
        if self.is_isolated:
            self.show_all()
            return True
        return False

    def _tab_changed(self) -> None:
        self.lenses.leave("trace")
        self._refresh_bar()

    def _overlay_changed(self) -> None:
        if self.lenses.kind != "trace":
            self.request = self._answer = None
        self._refresh_bar()

    def _refresh_bar(self) -> None:
        version, is_lit = self._session.current, self.lenses.kind == "trace" and self._answer is not None
        text, full = (self._answer.brief, self._answer.text) if is_lit and self._answer else ("", "")
        if self.is_isolated and not is_lit:
            text = full = self._part_text(version)
        levels = self.request.levels if self.request is not None and self.has_levels else None
        is_drawn = isinstance(version, Version) and version.isolated is not None and version.isolated.title == text
        can_isolate = is_lit and not is_drawn and not isinstance(version, Comparison)
        self.bar.show_state(text, full, levels=levels, can_isolate=can_isolate, is_isolated=self.is_isolated)

    # -- bookmarks ----------------------------------------------------------------------------------------------

    def bookmark(self, number: int) -> Selection | None:
        """The node or scope behind a bookmark of the current family."""
        return self._bookmarks.get(self._session.family, {}).get(number) if self._session.family else None

    def set_bookmark(self, number: int) -> None:
        """Remember what is selected; once more forgets it."""
        family, selection = self._session.family, self._session.selection
        if family is not None and selection is not None:
            kept = self._bookmarks.setdefault(family, {})
            if kept.get(number) == selection:
                del kept[number]
                self.said.emit(f"Bookmark {number} is free again.")
            else:
                kept[number] = selection
                self.said.emit(f"Bookmark {number}: {selection.path}. Press {number} to come back.")
            self.traced.emit()

    def go_to_bookmark(self, number: int) -> None:
        """Select and show what a bookmark remembers."""
        found = self.bookmark(number)
        if found is not None:
            self._session.select(found, reveal=True)


def _nodes(document: Document, selection: Selection) -> list[int]:
    item = selection.item(document.scopes)
    return [] if item is None else document.scopes.nodes_inside(item)


def _short(starts: Collection[Selection]) -> str:
    return " and ".join(one.path.rpartition("/")[2] for one in starts)


def _names(starts: Collection[Selection]) -> str:
    return " and ".join(one.path for one in starts)


def _answer(document: Document, request: Request) -> Answer | None:
    """Trace one graph; None where it has no such nodes, or no path."""
    from graphviewer.analysis.neighbourhood import reach

    groups = [_nodes(document, start) for start in request.starts]
    if request.kind == "path":
        return _path_answer(document, request, groups)
    seeds = sorted({node for group in groups for node in group})
    if not seeds:
        return None
    up, down = request.kind != "descendants", request.kind != "ancestors"
    found = reach(document.graph, seeds, up=up, down=down, limit=request.levels)
    counts = found.overlay.counts()
    above, below = (counts.get(one, 0) + counts.get("both", 0) for one in ("ancestor", "descendant"))
    parts = [f"{above:,} {'node' if above == 1 else 'nodes'} above"] if up else []
    parts += [f"{below:,} {'node' if below == 1 else 'nodes'} below"] if down else []
    within = f" within {request.levels:,} level{'s' if request.levels != 1 else ''}" if request.levels >= 0 else ""
    beyond = "; more beyond" if found.goes_on else ""
    text, brief = (
        f"{' and '.join(parts)} {name}{within}{beyond}" for name in (_names(request.starts), _short(request.starts))
    )
    return Answer(found.overlay, f"{text}.", brief, found.farthest, found.goes_on)


def _compared_answers(comparison: Comparison, documents: Sequence[Document], request: Request) -> list[Answer | None]:
    """Trace the graph in which the start was chosen; the one beside it shows the twins of what is lit."""
    twins, side = comparison.twins, _side(comparison, request)
    if len(documents) == 1:
        return [_answer(documents[0], replace(request, starts=tuple(map(twins.merged, request.starts))))]
    starts = tuple(seen for one in request.starts if (seen := twins.seen(one, side)) is not None)
    found = _answer(documents[side], replace(request, starts=starts)) if len(starts) == len(request.starts) else None
    if found is None:
        return [None, None]
    twin = found._replace(overlay=comparison.unfolded.carried(found.overlay, 1 - side))
    return [found, twin] if side == BEFORE else [twin, found]


def _side(comparison: Comparison, request: Request) -> int:
    """The graph to walk: that of the first start; the one after, where that is not said and all starts are in it."""
    first, after = request.starts[0], comparison.twins.scopes[AFTER]
    if first.side != ANY:
        return first.side
    return AFTER if all(one.item(after) is not None for one in request.starts) else BEFORE


def _path_answer(document: Document, request: Request, groups: list[list[int]]) -> Answer | None:
    from graphviewer.analysis.neighbourhood import paths

    found = paths(document.graph, *groups) if all(groups) else None
    if found is None:
        return None
    one, other = request.starts if not found.is_reversed else request.starts[::-1]
    control = ", control edges included" if found.has_control else ""
    total, steps = int(found.on_any.sum()), len(found.shortest) - 1
    text = (
        f"From {one.path} to {other.path}: the shortest way has {steps:,} steps, {total:,} nodes lie on any{control}."
    )
    brief = (
        f"{_short([one])} to {_short([other])}: {steps:,} steps on the shortest way, {total:,} nodes on any{control}"
    )
    return Answer(found.overlay, text, brief)


def _nothing(request: Request) -> str:
    if request.kind == "path":
        return f"No way leads between {_names(request.starts)}."
    return f"{_names(request.starts)} is not in this graph."


def _isolated(whole: Document, lens: Overlay | None, starts: Collection[Selection], title: str) -> Isolated | None:
    """The part of a graph that a lens lights up, or that lies around some nodes, laid out."""
    from graphviewer.analysis.neighbourhood import lit, reach
    from graphviewer.gui.state.loading import lay_out
    from graphviewer.layout.nested import initial_open
    from graphviewer.model.part import Part

    if lens is None:
        seeds = sorted({node for start in starts for node in _nodes(whole, start)})
        lens = reach(whole.graph, seeds, up=True, down=True, limit=1).overlay
    part = Part.of(whole, lit(lens).nonzero()[0].tolist())
    if not len(part.graph):
        return None
    scopes = part.scopes
    is_small = len(part.graph) <= MOST_OPENED
    expanded = set(scopes.by_path) - {""} if is_small else {scopes.path(item) for item in initial_open(scopes)}
    return Isolated(part, lay_out(part), title, frozenset(expanded))
