"""The state of a window as one object: what is open, chosen, selected and shown. Panels read it and listen."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from PySide6.QtCore import QObject, Signal

from graphviewer.errors import GraphViewerError, ReadError, UnknownNameError
from graphviewer.gui.state.background import Background
from graphviewer.gui.state.selection import ANY, Picked, Selection
from graphviewer.gui.state.turns import Turns
from graphviewer.gui.state.versions import Comparison, Family, Tab, Version, families
from graphviewer.layout.style import Style
from graphviewer.model.endpoints import endpoints_named
from graphviewer.model.names import Endpoint

if TYPE_CHECKING:
    import numpy as np

    from graphviewer.gui.state.loading import Loaded
    from graphviewer.model.document import Document


class Session(QObject):
    """Documents, versions, comparisons, endpoints, selection and overlay of one window.

    Everything here happens in the GUI thread and is quick; ``Analyst`` and ``Operator`` do the long work and put
    their results here.
    """

    tabs_changed = Signal()
    current_changed = Signal()
    selection_changed = Signal()
    selected = Signal()  # by someone who looks at this very graph: not by going back, or to another tab
    reveal_requested = Signal(object)  # Selection: show it, opening the scopes around it
    expanded_changed = Signal(object)  # Selection whose place in the window should stay, or None
    style_changed = Signal()
    endpoints_changed = Signal()
    suggestions_changed = Signal()
    overlay_changed = Signal()
    said = Signal(str)  # one calm line for the status bar
    failed = Signal(object)  # GraphViewerError

    def __init__(self, background: Background, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.background = background
        self.turns = Turns(self)
        self.tabs: list[Tab] = []
        self.current: Tab | None = None
        self.style = Style()
        self.overlay_kind = "roles"
        self.hidden: dict[str, set[str]] = {"roles": set(), "diff": set()}
        self.stacks: Mapping[str, Collection[str]] = {}  # members of the stacks that are drawn, by path
        self.node_bytes: WeakKeyDictionary[Document, np.ndarray] = WeakKeyDictionary()  # of outputs, once measured
        self._picked = Picked()

    # -- tabs ---------------------------------------------------------------------------------------------------

    @property
    def version(self) -> Version | None:
        """The version that panels speak about: the current one, or the result of the current comparison."""
        return self.current.after if isinstance(self.current, Comparison) else self.current

    @property
    def family(self) -> Family | None:
        """The family of the current tab."""
        return self.current.family if self.current else None

    def versions(self, family: Family | None = None) -> list[Version]:
        """The open versions, of one family or of all, in tab order."""
        found = [tab for tab in self.tabs if isinstance(tab, Version)]
        return [version for version in found if family is None or version.family is family]

    def add_loaded(self, loaded: Loaded, path: Path, *, title: str = "", file: Path | None = None) -> Version:
        """Show a freshly opened file as a family of its own.

        Args:
            loaded: what was read.
            path: what was asked for.
            title: name of the family; by default the document's.
            file: what the worker is to read, where the path alone does not say it.
        """
        family = Family(title or loaded.document.title or path.name, expanded=set(loaded.expanded))
        version = Version(loaded.document, loaded.layout, "Original", family, file or loaded.document.path or path)
        self.add_tab(version)
        return version

    def add_tab(self, tab: Tab) -> None:
        """Add a tab behind those of its family, and show it."""
        last = max((at for at, other in enumerate(self.tabs) if other.family is tab.family), default=len(self.tabs) - 1)
        self.tabs.insert(last + 1, tab)
        self.tabs_changed.emit()
        self.show_tab(tab)

    def replace_tab(self, old: Tab, new: Tab) -> None:
        """Put a tab in the place of another, and show it where that one was shown."""
        self.tabs[self.tabs.index(old)] = new
        self.tabs_changed.emit()
        if self.current is old:
            self.show_tab(new)

    def show_tab(self, tab: Tab | None) -> None:
        """Make a tab the current one."""
        if tab is self.current:
            return
        before, self.current = self.current, tab
        picked = self._picked
        self._take_selection(before, tab)
        if isinstance(tab, Comparison):
            self.overlay_kind = "diff"
            tab.family.expanded |= tab.twins.around(tab.family.expanded)
        elif self.overlay_kind == "diff":
            self.overlay_kind = "roles"
        self.current_changed.emit()
        self.endpoints_changed.emit()
        self.suggestions_changed.emit()
        self.overlay_changed.emit()
        if self._picked is not picked:
            self.selection_changed.emit()

    def _take_selection(self, before: Tab | None, after: Tab | None) -> None:
        """Take what is selected along where both tabs show the same file; else show what was selected in the other."""
        there, picked = families(after), self._picked
        if not there:
            self._picked = Picked()
            return
        if set(there) & set(families(before)) and there[0].picked is not picked:
            there[0].picked = picked.copy()
        self._picked = there[0].picked

    def close_tab(self, tab: Tab) -> None:
        """Close a tab; closing a version closes the comparisons that show it."""
        gone = [tab] + [
            other for other in self.tabs if isinstance(other, Comparison) and tab in (other.before, other.after)
        ]
        at = self.tabs.index(tab)
        self.tabs = [other for other in self.tabs if other not in gone]
        self.tabs_changed.emit()
        if self.current in gone:
            self.show_tab(self.tabs[min(at, len(self.tabs) - 1)] if self.tabs else None)

    # -- selection ----------------------------------------------------------------------------------------------

    @property
    def selection(self) -> Selection | None:
        """What is selected in the current tab."""
        return self._picked.first

    @property
    def second(self) -> Selection | None:
        """What is picked beside it."""
        return self._picked.second

    def select(self, selection: Selection | None, *, reveal: bool = False) -> None:
        """Select a node or scope everywhere; ``reveal`` also opens the scopes around it and moves the view."""
        picked = self._picked
        if selection != picked.first or picked.second is not None:
            if picked.first is not None and selection != picked.first:
                picked.back.append(picked.first)
                picked.forward.clear()
            picked.first, picked.second = selection, None
            self.selection_changed.emit()
            self.selected.emit()
        if reveal and selection is not None:
            self.reveal_requested.emit(selection)

    def select_second(self, selection: Selection) -> None:
        """Pick a second node or scope beside the selected one, or no longer."""
        picked = self._picked
        if picked.first in (None, selection):
            self.select(selection)
        else:
            picked.second = None if selection == picked.second else selection
            self.selection_changed.emit()

    @property
    def previous(self) -> Selection | None:
        """What was selected before."""
        return self._picked.back[-1] if self._picked.back else None

    @property
    def can_go_back(self) -> bool:
        """Whether something else was selected before."""
        return bool(self._picked.back)

    @property
    def can_go_forward(self) -> bool:
        """Whether ``go_back`` can be undone."""
        return bool(self._picked.forward)

    def go_back(self) -> None:
        """Select what was selected before."""
        self._step(self._picked.back, self._picked.forward)

    def go_forward(self) -> None:
        """Undo ``go_back``."""
        self._step(self._picked.forward, self._picked.back)

    def _step(self, source: list[Selection], target: list[Selection]) -> None:
        if source:
            picked = self._picked
            if picked.first is not None:
                target.append(picked.first)
            picked.first, picked.second = source.pop(), None
            self.selection_changed.emit()
            self.reveal_requested.emit(picked.first)

    # -- scopes -------------------------------------------------------------------------------------------------

    def name_of(self, path: str, side: int = ANY) -> str:
        """The name under which a scope is kept open: in a comparison, that of its twin in the first graph."""
        return self.current.twins.name(path, side) if isinstance(self.current, Comparison) else path

    def is_open(self, path: str, side: int = ANY) -> bool:
        """Whether a scope is open."""
        return self.family is not None and self.name_of(path, side) in self.family.expanded

    def show_expanded(self, paths: Iterable[str]) -> None:
        """Open exactly these scopes and those around them; all paths here are names that ``name_of`` gives."""
        if self.family is not None:
            self.family.expanded = self._with_parents(paths)
            self.expanded_changed.emit(None)

    def expand(self, paths: Iterable[str], anchor: Selection | None = None) -> None:
        """Open scopes, and those around them."""
        self._set_expanded(self._with_parents(paths), add=True, anchor=anchor)

    def collapse(self, paths: Iterable[str], anchor: Selection | None = None) -> None:
        """Close scopes."""
        self._set_expanded(set(paths), add=False, anchor=anchor)

    def toggle(self, path: str, side: int = ANY) -> None:
        """Open a closed scope, close an open one, keeping it in its place."""
        change = self.collapse if self.is_open(path, side) else self.expand
        change([self.name_of(path, side)], Selection(path, True, side))

    def _set_expanded(self, paths: set[str], *, add: bool, anchor: Selection | None) -> None:
        family = self.family
        if family is None:
            return
        changed = family.expanded | paths if add else family.expanded - paths
        if changed != family.expanded:
            family.expanded = changed
            self.expanded_changed.emit(anchor)

    def _with_parents(self, paths: Iterable[str]) -> set[str]:
        paths = set(paths)
        if isinstance(self.current, Comparison):
            paths |= self.current.twins.around(paths)
        found = set[str]()
        for path in paths:
            while path and path not in found:
                found.add(path)
                path = path.rpartition("/")[0]
        return found

    def expand_below(self, path: str = "", side: int = ANY) -> None:
        """Open a scope and all scopes inside it."""
        version, top = self.version, self.name_of(path, side)
        if version is None:
            return
        is_one = not isinstance(self.current, Comparison)
        known = set(version.document.unfolded.scopes.by_path if is_one else self.current.twins.names)
        tops = (top, *(self.name_of(member, side) for member in self.stacks.get(path, ()))) if path else ("",)
        prefixes = tuple(f"{one}/" if one else "" for one in tops)
        known |= {self.name_of(stack, side) for stack in self.stacks}
        inside = {other for other in known if other and (other in tops or other.startswith(prefixes))}
        self.expand(inside, Selection(path, True, side) if path else None)

    def collapse_all(self) -> None:
        """Close every scope."""
        if self.family is not None:
            self.collapse(set(self.family.expanded))

    def set_style(self, style: Style) -> None:
        """Lay out all graphs in another way."""
        if style != self.style:
            self.style = style
            self.style_changed.emit()

    # -- endpoints ----------------------------------------------------------------------------------------------

    def set_endpoints(
        self, *, outputs: Iterable[Endpoint] | None = None, inputs: Iterable[Endpoint] | None = None
    ) -> None:
        """Replace the chosen outputs, the inputs, or both at once, of the current family; None leaves them."""
        family, changed = self.family, False
        if family is None:
            return
        for kind, endpoints in (("outputs", outputs), ("inputs", inputs)):
            chosen = getattr(family, kind) if endpoints is None else list(dict.fromkeys(endpoints))
            if chosen != getattr(family, kind):
                setattr(family, kind, chosen)
                changed = True
        if changed:
            for version in self.versions(family):
                version.roles = None
            self.endpoints_changed.emit()

    def toggle_endpoint(self, kind: str, endpoint: Endpoint) -> None:
        """Add an output or input, or take it away when it is already chosen."""
        family = self.family
        if family is None:
            return
        chosen = getattr(family, kind)
        if endpoint in chosen:
            self.set_endpoints(**{kind: [other for other in chosen if other != endpoint]})
        elif reason := self._refusal(kind, endpoint):
            text = f"'{endpoint}' cannot be an {kind.removesuffix('s')}: {reason}"
            self.failed.emit(GraphViewerError(text, "Pick another node."))
        else:
            self.set_endpoints(**{kind: [*chosen, endpoint]})

    def _refusal(self, kind: str, endpoint: Endpoint) -> str | None:
        """Why a node can not be an output or input, as the end of a sentence."""
        from graphviewer.analysis.refusals import refuse_output

        if self.version is None:
            return None
        document = self.version.document
        if endpoint.node not in document.graph.index:
            is_inside = endpoint.node in document.unfolded.graph.index
            return (
                "it is inside a function; choose the call around it" if is_inside else "this version has no such node"
            )
        return refuse_output(document, endpoint) if kind == "outputs" else None

    def type_endpoints(self, kind: str, text: str) -> None:
        """Add endpoints typed or pasted in any usual spelling.

        Raises:
            UnknownNameError: a name means no node; the hint lists the nearest.
        """
        version, family = self.version, self.family
        if version is None or family is None:
            return
        lines = [part for line in text.splitlines() for part in [line.strip()] if part]
        found = endpoints_named(version.document, lines, "inputs" if kind == "inputs" else "outputs")
        refused = [(one, reason) for one in found if kind == "outputs" and (reason := self._refusal(kind, one))]
        if refused:
            raise UnknownNameError(f"'{refused[0][0]}' cannot be an output: {refused[0][1]}", "Pick another node.")
        self.set_endpoints(**{kind: [*getattr(family, kind), *found]})

    def is_unchanged(self, *versions: Version) -> bool:
        """Whether the worker would read what the window shows of versions; says so where a file has changed."""
        try:
            for version in versions:
                version.require_unchanged()
        except ReadError as error:
            self.failed.emit(error)
            return False
        return True

    # -- overlay ------------------------------------------------------------------------------------------------

    def show_overlay(self, kind: str) -> None:
        """Choose the one overlay that is shown: ``roles``, ``diff`` or ``none``."""
        if kind != self.overlay_kind:
            self.overlay_kind = kind
            self.overlay_changed.emit()

    def toggle_category(self, category: str) -> None:
        """Hide, or show again, the nodes of a category of the current overlay."""
        hidden = self.hidden.setdefault(self.overlay_kind, set())
        hidden ^= {category}
        self.overlay_changed.emit()
