"""The documents of a session: a file and the versions made from it."""

from __future__ import annotations

import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from graphviewer.errors import ReadError
from graphviewer.gui.state.selection import AFTER, ANY, BEFORE, Picked, Selection
from graphviewer.model.bodies import extended
from graphviewer.model.document import Document
from graphviewer.model.names import Endpoint
from graphviewer.model.overlay import Overlay
from graphviewer.model.problem import Problem
from graphviewer.model.provenance import Provenance

if TYPE_CHECKING:
    import numpy as np

    from graphviewer.analysis.diff import Change, Diff, Pin
    from graphviewer.analysis.merge import Merged
    from graphviewer.analysis.stats import Totals
    from graphviewer.analysis.suggestion import Suggestion
    from graphviewer.analysis.unfolded_diff import UnfoldedDiff
    from graphviewer.export.code import Step
    from graphviewer.gui.state.twins import Twins
    from graphviewer.layout.nested import NestedLayout
    from graphviewer.model.graph import Graph
    from graphviewer.model.part import Part


def _stamp(file: Path) -> tuple[int, int] | None:
    """What tells that a file was written again: size and time; None for a folder, a prefix, or no file."""
    try:
        status = file.stat()
    except OSError:
        return None
    return (status.st_size, status.st_mtime_ns) if stat.S_ISREG(status.st_mode) else None


@dataclass(eq=False)
class Family:
    """A file and all versions made from it; they share endpoints, selection and open scopes: views stay in step.

    Attributes:
        expanded: paths of open scopes.
        outputs, inputs: the chosen endpoints.
        picked: what is selected.
    """

    title: str
    expanded: set[str] = field(default_factory=set)
    outputs: list[Endpoint] = field(default_factory=list)
    inputs: list[Endpoint] = field(default_factory=list)
    picked: Picked = field(default_factory=Picked)


@dataclass(eq=False)
class Isolated:
    """Some nodes of a version as a drawing of their own.

    Attributes:
        title: which nodes, in words.
        expanded: scopes to open in the drawing.
        before: the scopes that were open in the whole graph.
    """

    part: Part
    layout: NestedLayout
    title: str
    expanded: frozenset[str]
    before: frozenset[str] = frozenset()
    _cut: WeakKeyDictionary[Overlay, Overlay] = field(default_factory=WeakKeyDictionary)

    def cut(self, overlay: Overlay) -> Overlay:
        """The part of an overlay of the whole graph that is about these nodes, the same object each time."""
        if overlay not in self._cut:
            self._cut[overlay] = self.part.cut(overlay)
        return self._cut[overlay]


@dataclass(eq=False, repr=False)  # its text would be that of the whole graph
class Version:
    """One graph of a family.

    Attributes:
        file: where the worker can read it: the opened file, or a file in the session's folder.
        parent, provenance: what it was made from, and how; None for the original.
        roles: the overlay for the chosen outputs, when there are any.
        suggested_outputs, suggested_inputs: ranked candidates; empty until they are computed.
        taken_outputs: those that go together and would be taken where nobody names one.
        is_saved: closing the window loses nothing.
        verdicts: by the version it was verified against, the JSON of ``verify``.
        origin_verdict: the JSON of ``verify`` against what it was made from where that is no graph: a Keras model.
        summary: one calm line about how it was made.
        problems: faults of the graph, the first thousands of ``problem_count``; None until it was checked.
        notes: sentences about the graph that are no faults.
        lenses: overlays of the moment, by kind: ``search``, ``trace``.
        isolated: the part that is shown in place of the whole.
    """

    document: Document
    layout: NestedLayout
    label: str
    family: Family
    file: Path
    parent: Version | None = None
    provenance: Provenance | None = None
    suggested_outputs: Sequence[Suggestion] = ()
    taken_outputs: Sequence[Endpoint] = ()
    suggested_inputs: Sequence[Suggestion] = ()
    is_saved: bool = True
    verdicts: WeakKeyDictionary[Version, Mapping[str, Any]] = field(default_factory=WeakKeyDictionary)
    origin_verdict: Mapping[str, Any] | None = None
    roles: Overlay | None = None
    summary: str = ""
    problems: Sequence[Problem] | None = None
    problem_count: int = 0
    notes: Sequence[str] = ()
    lenses: dict[str, Overlay] = field(default_factory=dict)
    isolated: Isolated | None = None

    def __post_init__(self) -> None:
        self._stamp = _stamp(self.file)

    def require_unchanged(self) -> None:
        """Make sure that the worker would read what the window shows.

        Raises:
            ReadError: the file changed, or went away, since it was opened.
        """
        if _stamp(self.file) != self._stamp:
            raise ReadError(f"{self.file.name} changed on disk since it was opened.", "Open it again.")

    @property
    def title(self) -> str:
        """What tabs and the window title say."""
        if self.parent is None:
            return self.family.title
        outputs = self.provenance.parameters.get("outputs", ()) if self.provenance is not None else ()
        return f"{self.label}: {outputs[0]}" if len(outputs) == 1 else self.label

    def history(self) -> tuple[Path, list[Step]]:
        """The original's file, and the operations that led from it to this version."""
        from graphviewer.export.code import Step

        steps: list[Step] = []
        version = self
        while version.parent is not None and version.provenance is not None:
            name = f"{version.label.lower().replace(' ', '-')}{'.meta' if steps else '.pb'}"
            steps.insert(0, Step(version.provenance.operation, version.provenance.parameters, name))
            version = version.parent
        return version.file, steps

    def overlay(self, kind: str) -> Overlay | None:
        """The overlay of a kind, where this version has one."""
        return self.roles if kind == "roles" else self.lenses.get(kind)

    def shown_overlay(self, kind: str) -> Overlay | None:
        """The overlay of a kind for what is drawn: the graph with its functions opened, or the isolated part of it."""
        overlay = self.overlay(kind)
        if overlay is None:
            return None
        whole = extended(overlay, self.document.unfolded)
        return whole if self.isolated is None else self.isolated.cut(whole)


@dataclass(eq=False, repr=False)
class Comparison:
    """Two versions side by side, and as one merged graph.

    Attributes:
        unfolded: what became of the nodes inside functions too.
        twins: which scope and node is which on the other side.
        merged_overlay, merged_edges: statuses of the nodes and edges of the merged graph, functions opened.
        totals: the numbers of both.
        pins: pairs of names that a person says are the same node, or that one has no twin.
        opened_before: the scopes that were open when only changes began to be shown; None where all is shown.
        purposes: roles of the first graph's nodes that the reasons speak of: for the chosen outputs, or else for what
            survived; None until they are known.
    """

    before: Version
    after: Version
    diff: Diff
    unfolded: UnfoldedDiff
    merged: Merged
    merged_overlay: Overlay
    merged_edges: np.ndarray
    twins: Twins
    merged_layout: NestedLayout
    totals: tuple[Totals, Totals]
    is_merged_shown: bool = False
    lenses: dict[str, Overlay] = field(default_factory=dict)
    pins: tuple[Pin, ...] = ()
    opened_before: frozenset[str] | None = None
    purposes: Overlay | None = None

    @property
    def roles(self) -> Overlay | None:
        """The roles of the first graph's nodes: for the chosen outputs, or else for what survived."""
        return self.before.roles if self.before.roles is not None else self.purposes

    def explain(self, purposes: Overlay, unfolded: UnfoldedDiff, merged: Overlay) -> None:
        """Take over what the nodes that went away were for, and the same statuses with reasons that say it."""
        self.purposes, self.diff, self.unfolded, self.merged_overlay = purposes, unfolded.diff, unfolded, merged

    @property
    def graphs(self) -> tuple[Graph, Graph]:
        """What was compared; of a checkpoint, the nodes that are drawn for its variables."""
        return self.diff.before.graph, self.diff.after.graph

    @property
    def changes(self) -> Sequence[Change]:
        """All changes, those inside functions last."""
        return self.unfolded.changes

    def inspected(self, selection: Selection) -> tuple[Version, Selection]:
        """The version that has what is selected, and what it is called there; the one after where both have it."""
        if self.is_merged_shown:
            node = -1 if selection.is_scope else self.merged.document.graph.index.get(selection.path, -1)
            old = int(self.merged.from_before[node]) if node >= 0 and self.merged.from_after[node] < 0 else -1
            if old >= 0:
                return self.before, Selection(self.graphs[BEFORE].names[old], False, BEFORE)
        is_there = selection.item(self.after.document.unfolded.scopes) is not None
        side = selection.side if selection.side != ANY else AFTER if is_there else BEFORE
        return (self.before, self.after)[side], selection._replace(side=side)

    def counts(self) -> dict[str, int]:
        """Nodes per status, with those inside functions that are not the same."""
        counts, inside = self.diff.summary(), self.diff.summary_inside()
        return {status: count + inside[status] for status, count in counts.items()}

    @property
    def family(self) -> Family:
        """The family whose endpoints and open scopes the views show."""
        return self.before.family

    def overlay(self, kind: str) -> Overlay | None:
        """The overlay of a kind for the merged graph, or else for the one after, or before where only that has one."""
        if not self.is_merged_shown:
            after = self.after.overlay(kind)
            return self.before.overlay(kind) if after is None else after
        return self.merged_overlay if kind == "diff" else self.lenses.get(kind)

    @property
    def title(self) -> str:
        """What the tab says."""
        if self.before.family is self.after.family:
            return f"{self.before.label} ↔ {self.after.label}"
        return " ↔ ".join(self._folders or self.titles)

    @property
    def titles(self) -> tuple[str, str]:
        """What the two are called; files of one name with the folder that tells them apart."""
        before, after = self.before.title, self.after.title
        folders = self._folders
        return (f"{folders[0]}/{before}", f"{folders[1]}/{after}") if folders is not None else (before, after)

    @property
    def _folders(self) -> tuple[str, str] | None:
        """The innermost folders that tell two files of one name apart."""
        if self.before.title != self.after.title or self.before.family is self.after.family:
            return None
        around = (reversed(one.file.absolute().parent.parts) for one in (self.before, self.after))
        return next((pair for pair in zip(*around, strict=False) if pair[0] != pair[1]), None)


Tab = Version | Comparison


def families(tab: Tab | None) -> tuple[Family, ...]:
    """The families that a tab shows: two where it compares different files."""
    if isinstance(tab, Comparison):
        return tuple(dict.fromkeys((tab.before.family, tab.after.family)))
    return (tab.family,) if tab is not None else ()
