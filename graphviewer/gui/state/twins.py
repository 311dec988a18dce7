"""What is what in two graphs side by side, so that two views open, select and outline the same."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

import numpy as np

from graphviewer.analysis.merge import Merged
from graphviewer.analysis.scope_twins import ScopeTwins, scope_twins
from graphviewer.analysis.unfolded_diff import UnfoldedDiff
from graphviewer.gui.state.selection import AFTER, ANY, BEFORE, Selection
from graphviewer.model.graph import Ints
from graphviewer.model.scopes import ROOT, Scopes


class Twins:
    """Nodes and scopes of either graph, and of the merged one, by the names of the others.

    What is open is kept under the names of the first graph. A scope that only the second graph has is kept as if it
    stood in the twin of the scope around it.

    Attributes:
        scopes: both trees.
        items: by side, int32 [items], the item of the other tree, -1 for none.
    """

    def __init__(self, unfolded: UnfoldedDiff, merged: Merged) -> None:
        documents = (unfolded.diff.before.unfolded, unfolded.diff.after.unfolded)
        self.scopes = (documents[0].scopes, documents[1].scopes)
        self._links = (unfolded.match, unfolded.origin)
        self._merged = merged
        self.items: ScopeTwins = scope_twins(*self.scopes, unfolded.match)
        self._names_after = _names_after(*self.scopes, self.items.after)
        # Worked out now, in the background: opening all asks for the names, the first selection for the rest.
        assert self.names
        for side, scopes in enumerate(self.scopes):
            assert len(scopes.graph.out_start)
            if len(scopes.graph):
                unfolded.change(side, 0)

    @cached_property
    def is_renamed(self) -> bool:
        """Whether any scope of the second graph has another name in what is open."""
        by_path = self.scopes[AFTER].by_path
        return any(self._names_after[item] != path for path, item in by_path.items())

    @cached_property
    def names(self) -> frozenset[str]:
        """The names under which the scopes of both graphs are kept open."""
        return frozenset(self._names_after) | frozenset(self.scopes[BEFORE].by_path)

    # -- selection ----------------------------------------------------------------------------------------------

    def seen(self, selection: Selection, side: int) -> Selection | None:
        """The selection as a side has it: itself, or its twin there; None where it has none."""
        here, other = self.scopes[side], self.scopes[1 - side]
        if selection.side == side or (selection.side == ANY and selection.item(here) is not None):
            return selection
        if not selection.is_scope:
            node = other.graph.index.get(selection.path, -1)
            twin = int(self._links[1 - side][node]) if node >= 0 else -1
            return Selection(here.graph.names[twin], False, side) if twin >= 0 else None
        path = self._twin_path(selection.path, 1 - side)
        return None if path is None else Selection(path, True, side)

    def _twin_path(self, path: str, side: int) -> str | None:
        """The path of a scope's twin on the other side; a stack, which no tree knows, stands in the scope's twin."""
        scopes, rest = self.scopes[side], ""
        item = scopes.by_path.get(path)
        if item is None:
            above, _, last = path.rpartition("/")
            path, rest = above, f"/{last}"
            item = scopes.by_path.get(path, -1)
        twin = int(self.items[side][item]) if item > ROOT else -1
        if rest and item == ROOT:
            return rest[1:]
        return self.scopes[1 - side].path(twin) + rest if twin >= 0 else None

    def merged(self, selection: Selection) -> Selection:
        """The selection under the name that it has in the merged graph."""
        if selection.side != BEFORE:
            return selection._replace(side=ANY)
        if selection.is_scope:
            return Selection(self._twin_path(selection.path, BEFORE) or selection.path, True)
        node = self.scopes[BEFORE].graph.index.get(selection.path, -1)
        twin = int(self._links[BEFORE][node]) if node >= 0 else -1
        if twin >= 0:
            return Selection(self.scopes[AFTER].graph.names[twin])
        place = np.flatnonzero(self._merged.from_before == node) if node >= 0 else ()
        return Selection(self._merged.document.graph.names[place[0]] if len(place) else selection.path)

    # -- what is open -------------------------------------------------------------------------------------------

    def name(self, path: str, side: int = ANY) -> str:
        """The name under which a scope of a side, or of the merged graph, is kept open."""
        if side == BEFORE:
            return path
        item = self.scopes[AFTER].by_path.get(path)
        if item is not None:
            return self._names_after[item]
        if path in self.scopes[BEFORE].by_path:
            return path
        above, _, last = path.rpartition("/")  # a stack, or a scope that only the merged graph has
        return f"{self.name(above, side)}/{last}" if above else last

    def around(self, names: Iterable[str]) -> set[str]:
        """What else has to be open so that scopes kept under these names are seen in the second graph."""
        before, after = self.scopes
        items = self.items.before[[before.by_path.get(name, ROOT) for name in names]]
        found: set[str] = set()
        while len(items := np.unique(after.parent[items[items > ROOT]])):
            found.update(self._names_after[item] for item in items.tolist() if item)
        return found


def _names_after(before: Scopes, after: Scopes, twins: Ints) -> Sequence[str]:
    """By item after: the name under which it is kept open; empty for nodes."""
    paths: Mapping[int, str] = {item: path for path, item in before.by_path.items()}
    names = [""] * len(after)
    for item in np.flatnonzero(after.is_scope)[1:].tolist():  # those around an item come before it
        twin = int(twins[item])
        above = names[int(after.parent[item])]
        own = f"{above}/{after.labels[item]}" if above else after.labels[item]
        names[item] = paths.get(twin, own) if twin > ROOT else own
    return names
