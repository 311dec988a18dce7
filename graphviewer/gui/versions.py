"""The documents of a session: a file and the versions made from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from graphviewer.model.bodies import extended
from graphviewer.model.document import Document
from graphviewer.model.names import Endpoint
from graphviewer.model.overlay import Overlay
from graphviewer.model.problem import Problem
from graphviewer.model.provenance import Provenance

if TYPE_CHECKING:
    from graphviewer.analysis.diff import Diff
    from graphviewer.analysis.endpoints import Suggestion
    from graphviewer.analysis.merge import Merged
    from graphviewer.analysis.stats import Statistics
    from graphviewer.export.code import Step
    from graphviewer.layout.nested import NestedLayout
    from graphviewer.model.part import Part


@dataclass(eq=False)
class Family:
    """A file and all versions made from it; they share endpoints and open scopes, so that views stay in step.

    Attributes:
        expanded: paths of open scopes.
        outputs, inputs: the chosen endpoints.
        suggested_outputs, suggested_inputs: ranked candidates; empty until they are computed.
    """

    title: str
    expanded: set[str] = field(default_factory=set)
    outputs: list[Endpoint] = field(default_factory=list)
    inputs: list[Endpoint] = field(default_factory=list)
    suggested_outputs: Sequence[Suggestion] = ()
    suggested_inputs: Sequence[Suggestion] = ()


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
    roles: Overlay | None = None
    summary: str = ""
    problems: Sequence[Problem] | None = None
    problem_count: int = 0
    lenses: dict[str, Overlay] = field(default_factory=dict)
    isolated: Isolated | None = None

    @property
    def title(self) -> str:
        """What tabs and the window title say."""
        return f"{self.family.title} › {self.label}" if self.parent else self.family.title

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
    """Two versions side by side, and as one merged graph; ``totals`` are the numbers of both."""

    before: Version
    after: Version
    diff: Diff
    merged: Merged
    merged_layout: NestedLayout
    totals: tuple[Statistics, Statistics]
    is_merged_shown: bool = False
    lenses: dict[str, Overlay] = field(default_factory=dict)

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
