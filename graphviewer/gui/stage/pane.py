"""One canvas and what it shows: a graph with its open scopes and an overlay."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QPoint, Qt, QTimer, Signal
from PySide6.QtWidgets import QMenu

from graphviewer.gui.canvas.boxes import in_view
from graphviewer.gui.canvas.scene import Endpoints, Scene
from graphviewer.gui.canvas.view import GraphCanvas
from graphviewer.gui.state.loading import draw_open
from graphviewer.gui.state.selection import AFTER, ANY, Selection
from graphviewer.gui.state.session import Session
from graphviewer.gui.words.describe import describe_briefly, describe_chip, describe_stack, output_shapes
from graphviewer.gui.words.texts import elided, label
from graphviewer.layout.opening import network_scope
from graphviewer.layout.stacks import StackedScopes
from graphviewer.model.bodies import Unfolded, calling_ops

if TYPE_CHECKING:
    import numpy as np

    from graphviewer.gui.style.theme import Theme
    from graphviewer.layout.drawing import Drawing
    from graphviewer.layout.nested import NestedLayout
    from graphviewer.model.document import Document
    from graphviewer.model.overlay import Overlay
    from graphviewer.model.scopes import Scopes

MOST_ENDS = 40
"""Entries of the menu that lists the other ends of edges at a hub."""

MOST_MEASURED = 200_000
"""Nodes of a graph whose tensors are measured: a walk over more of them would take seconds from the window."""


@dataclass(frozen=True, eq=False)
class Subject:
    """What a pane shows.

    Attributes:
        overlay: gives the overlay of a kind, None where there is none.
        edge_status: int8 [edges], what a comparison says of each edge (``model.overlay.EDGE_STATUSES``).
        side: of a comparison whose graphs are side by side.
        seen: what is selected, by its name here; None where it is not here.
        opened_name: the name under which a scope of this graph is kept open; None where that is its path.
    """

    document: Document
    layout: NestedLayout
    overlay: Callable[[str], Overlay | None]
    edge_status: np.ndarray | None = None
    side: int = ANY
    seen: Callable[[Selection], Selection | None] | None = None
    opened_name: Callable[[str], str] | None = None

    def name_of(self, path: str) -> str:
        """The name under which a scope is kept open."""
        return path if self.opened_name is None else self.opened_name(path)


class Pane(QObject):
    """Connects a canvas to the session: drawing, selection, endpoints, overlay, hover."""

    drawn = Signal()
    led = Signal()  # the view is to follow the pane beside it
    menu_requested = Signal(object, QPoint)  # Selection, where

    def __init__(self, session: Session, theme: Theme, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self.canvas = GraphCanvas(theme)
        self.canvas.tooltip = self._describe
        self.subject: Subject | None = None
        self.drawing: Drawing | None = None
        self._drawn_scopes: Scopes | None = None
        self._node_bytes: np.ndarray | None = None
        self._is_unmeasured = False
        self._pending: Selection | None = None
        self._fit_next = False
        self._connect_canvas()
        session.selection_changed.connect(self._show_selection)
        session.endpoints_changed.connect(self.repaint_scene)
        session.suggestions_changed.connect(self.repaint_scene)
        session.overlay_changed.connect(self.repaint_scene)
        session.expanded_changed.connect(self.redraw)
        session.style_changed.connect(self._restyle)
        session.reveal_requested.connect(self.reveal)

    def _connect_canvas(self) -> None:
        canvas = self.canvas
        canvas.item_clicked.connect(self._click)
        canvas.item_activated.connect(self._activate)
        canvas.background_clicked.connect(lambda: self._session.select(None))
        canvas.context_menu.connect(self._menu)
        canvas.stub_clicked.connect(self._list_ends)
        canvas.painted.connect(self._painted)

    # -- what is shown ------------------------------------------------------------------------------------------

    def show_subject(self, subject: Subject | None, *, fit: bool) -> None:
        """Show another graph; ``fit`` also brings all of it into view."""
        self.subject, self.drawing, self._drawn_scopes = subject, None, None
        self._fit_next = fit
        self._session.background.drop(self._key)
        self._node_bytes = None
        if subject is None:
            self.canvas.set_scene(None)
        else:
            self.redraw(None)

    def _painted(self) -> None:
        """Measure what is drawn after its first picture, which it would delay."""
        if self._is_unmeasured and self.subject is not None and self.drawing is not None:
            self._is_unmeasured = False
            self._measure(self.subject)

    def _measure(self, subject: Subject) -> None:
        """Ask how large the tensors are, so that edges can be as wide."""

        def work() -> np.ndarray:
            from graphviewer.analysis.sizes import output_bytes

            return output_bytes(subject.document)

        def then(node_bytes: np.ndarray) -> None:
            self._session.node_bytes[subject.document] = node_bytes
            if subject is self.subject and node_bytes.any():
                self._node_bytes = node_bytes
                self.repaint_scene()

        if subject.document in self._session.node_bytes:
            then(self._session.node_bytes[subject.document])
        elif len(subject.document.graph) <= MOST_MEASURED:
            self._session.background.submit("analysis", f"sizes-{id(self)}", work, then, self._session.failed.emit)

    @property
    def scopes(self) -> Scopes:
        """The scope tree that is drawn: the document's, with stacks where the settings want them."""
        return self._drawn_scopes or self.subject.document.scopes

    @property
    def is_in_place(self) -> bool:
        """Whether the view is where it belongs: what is to be shown is drawn, and was brought into view."""
        return self.drawing is not None and not self._fit_next

    def _restyle(self) -> None:
        """Lay out in another way: no place on the canvas means what it meant."""
        self._fit_next = True
        self.redraw()

    @property
    def _key(self) -> str:
        return f"draw-{id(self)}"

    def redraw(self, anchor: Selection | None = None) -> None:
        """Lay out the open scopes anew, in the background; ``anchor`` keeps its place in the window."""
        subject, family = self.subject, self._session.family
        if subject is None or family is None:
            return
        expanded, style = frozenset(family.expanded), self._session.style

        def work() -> tuple[Scopes, Drawing]:
            return draw_open(subject.layout, style, expanded, subject.opened_name)

        def then(drawn: tuple[Scopes, Drawing]) -> None:
            if subject is self.subject:
                self._take(*drawn, anchor)

        self._session.background.submit("layout", self._key, work, then, self._session.failed.emit)

    def _take(self, scopes: Scopes, drawing: Drawing, anchor: Selection | None) -> None:
        is_first = self.drawing is None
        is_lost = not is_first and self._is_view_empty()  # by someone who moved away from all that is drawn
        self._drawn_scopes, self.drawing = scopes, drawing
        self._is_unmeasured |= is_first
        self._session.stacks = scopes.stacks if isinstance(scopes, StackedScopes) else {}
        item = self.item_of(anchor) if anchor else None
        self.canvas.set_scene(self._scene(), anchor=item)
        if self._fit_next:
            self._fit_next = False
            self._begin()
        elif not is_lost and self.subject.side != AFTER and self._is_view_empty():
            self.canvas.fit()  # scopes were opened or closed, and what was looked at lies elsewhere
        if self._pending is not None:
            pending, self._pending = self._pending, None
            self.reveal(pending)
        self.drawn.emit()

    def _begin(self) -> None:
        """Show the beginning; of two graphs the first one is looked at, and the second shows what is beside that."""
        if self.subject.side == AFTER:
            self.led.emit()
        else:
            self.canvas.fit()
            self._show_network()

    def _is_view_empty(self) -> bool:
        scene = self.canvas.scene_shown
        return not len(in_view(scene, self.canvas.camera, scene.solids).box)

    def _show_network(self) -> None:
        """Begin with the call that holds the network where not all can be read at once: variables come before it."""
        item = network_scope(self.subject.document)
        rect = self.canvas.item_rect(item) if item is not None else None
        if rect is not None and not self.canvas.view_rect().contains(rect):
            self.canvas.ensure_visible(item, animate=False)

    def repaint_scene(self) -> None:
        """Take over selection, endpoints and overlay without laying out anew."""
        if self.drawing is not None and self.subject is not None:
            self.canvas.set_scene(self._scene())

    def _scene(self) -> Scene:
        assert self.subject is not None and self.drawing is not None
        session = self._session
        kind = session.overlay_kind
        return Scene(
            self.drawing,
            self.scopes,
            overlay=self.subject.overlay(kind),
            hidden=frozenset(session.hidden.get(kind, ())),
            endpoints=self._endpoints(),
            selection=self._selected_items(),
            functions=calling_ops(self.subject.document),
            edge_status=self.subject.edge_status,
            shape_of=partial(_shape_of, self.subject.document),
            node_bytes=self._node_bytes,
        )

    def item_of(self, selection: Selection) -> int | None:
        """The item of what is selected, or of its twin where that has another name in the graph beside this one."""
        seen = selection if self.subject.seen is None else self.subject.seen(selection)
        return None if seen is None else seen.item(self.scopes)

    def selection_of(self, item: int) -> Selection:
        """What selects an item."""
        return Selection.of(self.scopes, item, self.subject.side)

    def _selected_items(self) -> frozenset[int]:
        chosen = [one for one in (self._session.selection, self._session.second) if one and self.subject]
        items = [self.item_of(one) for one in chosen]
        return frozenset(item for item in items if item is not None)

    def _endpoints(self) -> Endpoints:
        family, version = self._session.family, self._session.version
        if family is None or version is None:
            return Endpoints()
        offered = [
            () if family.outputs else version.suggested_outputs[:1],
            () if family.inputs else version.suggested_inputs[:1],
        ]
        suggested = [self._nodes(one.endpoint.node for one in found) for found in offered]
        chosen = [self._nodes(one.node for one in ends) for ends in (family.outputs, family.inputs)]
        return Endpoints(*chosen, *suggested)

    def _nodes(self, names: Iterable[str]) -> tuple[int, ...]:
        index = self.subject.document.graph.index
        return tuple(index[name] for name in names if name in index)

    # -- what a person does -------------------------------------------------------------------------------------

    def _select(self, item: int) -> None:
        if self.subject is not None:
            self._session.select(self.selection_of(item))

    def _click(self, item: int, modifiers: Qt.KeyboardModifier) -> None:
        if self.drawing is None:  # the canvas still shows the tab before, whose items mean other nodes here
            return
        if modifiers & Qt.KeyboardModifier.ShiftModifier and self.subject is not None:
            self._session.select_second(self.selection_of(item))
        else:
            self._select(item)

    def _activate(self, item: int) -> None:
        if self.drawing is None:
            return
        scopes = self.scopes
        if scopes.is_scope[item]:
            self._session.toggle(scopes.path(item), self.subject.side)

    def _menu(self, item: int, where: QPoint) -> None:
        if self.drawing is not None and item >= 0:
            if item not in self._selected_items():
                self._select(item)
            self.menu_requested.emit(self._session.selection, where)

    def _list_ends(self, _item: int, ends: Sequence[int], where: QPoint) -> None:
        """The nodes at the other ends of edges that are not drawn; one that is chosen is gone to."""
        if self.drawing is None:
            return
        menu = QMenu(self.canvas)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for end in ends[:MOST_ENDS]:
            selection = self.selection_of(end)
            go = lambda selection=selection: self._session.select(selection, reveal=True)  # noqa: E731
            menu.addAction(label(elided(selection.path)), go)
        if len(ends) > MOST_ENDS:
            menu.addAction(f"and {len(ends) - MOST_ENDS:,} more").setEnabled(False)
        menu.popup(where)

    def _show_selection(self) -> None:
        if self.subject is not None:
            self.canvas.set_selection(self._selected_items())

    def reveal(self, selection: Selection) -> None:
        """Bring a node or scope into view, opening the scopes around it first where they are closed."""
        subject, family = self.subject, self._session.family
        item = self.item_of(selection) if subject is not None else None
        if item is None or family is None:
            return
        scopes = self.scopes
        if self.drawing is not None and self.canvas.scene_shown.shows(item):
            self.canvas.ensure_visible(item)
            return
        self._pending = selection
        around = {subject.name_of(scopes.path(above)) for above in scopes.ancestors(item)[:-1]}
        if not around <= family.expanded:
            # the first pane that is asked opens the scopes for all; the others find them open and wait for the drawing
            QTimer.singleShot(0, self, lambda: self._session.expand(around))

    def item_under_pointer(self) -> int:
        """The item below the mouse, -1 for none."""
        return self.canvas.hovered

    def _describe(self, item: int) -> str:
        if self.subject is None or self.drawing is None:
            return ""
        if item >= len(self.subject.document.scopes):
            return describe_stack(self.scopes, item)
        text = describe_briefly(self.subject.document, item, self.subject.overlay(self._session.overlay_kind))
        scene = self.canvas.scene_shown
        return text + describe_chip(int(scene.more[scene.box_of_item[item]]) if scene.shows(item) else 0)


def _shape_of(document: Document, node: int) -> str:
    """What is written on an edge from a node; of the document that is drawn, which may no longer be the subject's."""
    if isinstance(document, Unfolded) and node in document.calls:
        return ""  # what leads from it are its arguments
    shapes = output_shapes(document.node(node))
    return shapes[0] if shapes and shapes[0] != "[]" else ""  # a scalar's shape says nothing on an edge
