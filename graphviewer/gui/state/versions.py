"""The documents of a session: a file and the versions made from it."""

from __future__ import annotations

import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from graphviewer.errors import ReadError
from graphviewer.model.bodies import extended
from graphviewer.model.document import Document
from graphviewer.model.names import Endpoint
from graphviewer.model.overlay import Overlay
from graphviewer.model.problem import Problem
from graphviewer.model.provenance import Provenance

if TYPE_CHECKING:
    from graphviewer.analysis.diff import Diff, Pin
    from graphviewer.analysis.endpoints import Suggestion
    from graphviewer.analysis.merge import Merged
    from graphviewer.analysis.stats import Statistics
    from graphviewer.export.code import Step
    from graphviewer.gui.state.session import Selection
    from graphviewer.layout.nested import NestedLayout
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
    """A file and all versions made from it; they share endpoints and open scopes, so that views stay in step.

    Attributes:
        expanded: paths of open scopes.
        outputs, inputs: the chosen endpoints.
    """

    title: str
    expanded: set[str] = field(default_factory=set)
    outputs: list[Endpoint] = field(default_factory=list)
    inputs: list[Endpoint] = field(default_factory=list)


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


@dataclass(eq=False)
class Version:
    """One graph of a family.

    Attributes:
        file: where the worker can read it: the opened file, or a file in the session's folder.
        parent, provenance: what it was made from, and how; None for the original.
        roles: the overlay for the chosen outputs, when there are any.
        suggested_outputs, suggested_inputs: ranked candidates; empty until they are computed.
        is_saved: closing the window loses nothing.
        verdicts: by the version it was verified against, the JSON of ``verify``.
        summary: one calm line about how it was made.
        problems: faults of the graph, the first thousands of ``problem_count``; None until it was checked.
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
    suggested_inputs: Sequence[Suggestion] = ()
    is_saved: bool = True
    verdicts: WeakKeyDictionary[Version, Mapping[str, Any]] = field(default_factory=WeakKeyDictionary)
    roles: Overlay | None = None
    summary: str = ""
    problems: Sequence[Problem] | None = None
    problem_count: int = 0
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


@dataclass(eq=False)
class Comparison:
    """Two versions side by side, and as one merged graph.

    Attributes:
        totals: the numbers of both.
        pins: pairs of names that a person says are the same node, or that one has no twin.
        opened_before: the scopes that were open when only changes began to be shown; None where all is shown.
    """

    before: Version
    after: Version
    diff: Diff
    merged: Merged
    merged_layout: NestedLayout
    totals: tuple[Statistics, Statistics]
    is_merged_shown: bool = False
    lenses: dict[str, Overlay] = field(default_factory=dict)
    pins: tuple[Pin, ...] = ()
    opened_before: frozenset[str] | None = None

    def partner(self, name: str, side: int) -> str | None:
        """What the node of a name in the other graph is called before (side 0) or after (side 1)."""
        graphs, links = (self.diff.before.graph, self.diff.after.graph), (self.diff.origin, self.diff.match)
        node = graphs[1 - side].index.get(name, -1)
        number = int(links[side][node]) if node >= 0 else -1
        return graphs[side].names[number] if number >= 0 else None

    def in_before(self, selection: Selection) -> Selection:
        """What a node of the merged graph that only the first graph has is called there."""
        node = -1 if selection.is_scope else self.merged.document.graph.index.get(selection.path, -1)
        old = int(self.merged.from_before[node]) if node >= 0 else -1
        return selection if old < 0 else selection._replace(path=self.before.document.graph.names[old])

    @property
    def family(self) -> Family:
        """The family whose endpoints and open scopes the views show."""
        return self.before.family

    def overlay(self, kind: str) -> Overlay | None:
        """The overlay of a kind for the merged graph, or else for the one after."""
        if not self.is_merged_shown:
            return self.after.overlay(kind)
        return self.merged.overlay if kind == "diff" else self.lenses.get(kind)

    @property
    def title(self) -> str:
        """What the tab says."""
        return f"{self.before.label} ↔ {self.after.label}"


Tab = Version | Comparison
