"""Turn a path into something to show: all that can take long, in one function for a background lane."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path

from graphviewer.formats import open_document
from graphviewer.gui.canvas.lettering import Lettering
from graphviewer.gui.canvas.measure import box_widths
from graphviewer.gui.style.theme import load_font
from graphviewer.layout.drawing import Drawing
from graphviewer.layout.nested import NestedLayout
from graphviewer.layout.opening import first_open
from graphviewer.layout.style import Style
from graphviewer.model.document import Document
from graphviewer.model.progress import Progress, silent
from graphviewer.model.scopes import ROOT, Scopes


@dataclass(frozen=True)
class Moments:
    """When each step of opening ended, as ``time.perf_counter()`` values."""

    begin: float
    read: float
    model: float
    layout: float


@dataclass(frozen=True, eq=False)
class Loaded:
    """A document with its layout, in which the open scopes are drawn already."""

    document: Document
    layout: NestedLayout
    expanded: frozenset[str]
    moments: Moments


def load(
    path: Path,
    checkpoint: Path | None = None,
    progress: Progress = silent,
    expanded: Iterable[str] | None = None,
    read: Callable[..., Document] = open_document,
    style: Style | None = None,
) -> Loaded:
    """Read a file and lay it out, so that the pane finds its drawing made.

    Args:
        path: file, checkpoint prefix or folder.
        checkpoint: prefix to use in place of the one found beside the graph.
        expanded: paths of scopes to show open; the default opens scopes until about 20 boxes show.
        style: how the pane will draw it.

    Raises:
        GraphViewerError: the file cannot be opened; the message says what it is.
    """
    begin = time.perf_counter()
    # The first canvas needs it next; in the GUI thread its library would stop the window for a quarter of a second.
    import_module("graphviewer.gui.stage.pane")
    document = read(path, checkpoint=checkpoint, progress=progress)
    read_at = time.perf_counter()
    progress(0.8, "Building the graph")
    scopes = document.unfolded.scopes
    _ = document.unfolded.graph.index  # the pane needs it next, in the GUI thread
    modelled = time.perf_counter()
    progress(0.9, "Laying out")
    layout = lay_out(document)
    opened = map(scopes.path, first_open(document)) if expanded is None else expanded
    paths = frozenset(opened)
    draw_open(layout, style or Style(), paths)
    return Loaded(document, layout, paths, Moments(begin, read_at, modelled, time.perf_counter()))


def lay_out(document: Document) -> NestedLayout:
    """A layout of the unfolded document whose boxes are as wide as their texts in the canvas's font."""
    scopes = document.unfolded.scopes
    return NestedLayout(scopes, box_widths(scopes, _lettering()))


def draw_open(
    layout: NestedLayout, style: Style, expanded: Collection[str], name: Callable[[str], str] | None = None
) -> tuple[Scopes, Drawing]:
    """The scopes as a style shows them, and the drawing with those open that have one of these names."""
    styled = layout.styled(style)
    return styled.scopes, styled.draw(open_items(styled.scopes, expanded, name))


@cache
def _lettering() -> Lettering:
    """One for all measuring; it is read only, so that several threads may share it."""
    return Lettering(load_font())


def open_items(scopes: Scopes, expanded: Collection[str], name: Callable[[str], str] | None = None) -> frozenset[int]:
    """The items of the scopes that are open: those whose every enclosing scope is open too.

    Args:
        scopes: the tree.
        expanded: names of open scopes.
        name: of a scope among them, by its path; the path itself by default.
    """
    if name is not None:
        return frozenset(_named_items(scopes, expanded, name))
    items = [item for path in set(expanded) if (item := scopes.by_path.get(path)) is not None]
    found: set[int] = set()
    for item in sorted(items, key=scopes.depth.__getitem__):
        if all(above == 0 or above in found for above in scopes.ancestors(item)):
            found.add(item)
    return frozenset(found)


def _named_items(scopes: Scopes, expanded: Collection[str], name: Callable[[str], str]) -> Iterator[int]:
    """The open scopes, the outer ones first: only they and what is right inside them are looked at."""
    waiting = [ROOT]
    while waiting:
        children = scopes.children(waiting.pop())
        for child in children[scopes.is_scope[children]].tolist():
            if name(scopes.path(child)) in expanded:
                waiting.append(child)
                yield child
