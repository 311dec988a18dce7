"""What a person does in and around a comparison: pins, changes only, reports, a second file that is dropped."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from weakref import WeakSet

import numpy as np
from PySide6.QtCore import QObject, QSignalBlocker
from PySide6.QtWidgets import QFileDialog

from graphviewer.gui.stage.comparison_bar import ComparisonBar
from graphviewer.gui.state.selection import ANY, Selection
from graphviewer.gui.state.versions import Comparison, Version

if TYPE_CHECKING:
    from graphviewer.analysis.diff import Pin
    from graphviewer.gui.canvas.scene import Scene
    from graphviewer.gui.stage.pane import Pane
    from graphviewer.gui.window import Window

SIDES = ("before", "after")
_UNCHANGED = "unchanged"
_BORDER = (0.1, 0.1, -0.1, -0.1)  # of the view, left, top, right, bottom: what is only there is easily overlooked


class Comparing(QObject):
    """Keeps what is under way between two graphs, and shows it in a bar above the canvas.

    Attributes:
        bar: the bar.
        waiting: side (0 before, 1 after) and name of a node whose twin is to be chosen; None otherwise.
    """

    def __init__(self, window: Window) -> None:
        super().__init__(window)
        self._window, self._session = window, window.session
        self.bar = ComparisonBar()
        self.waiting: tuple[int, str] | None = None
        self._offered: tuple[Version, Version] | None = None
        self._advice = ""
        self._clicked = 0
        self._looks_for_change = False
        self._met: WeakSet[Comparison] = WeakSet()
        stage, bar = window.stage, self.bar
        stage.panes_made.connect(self._watch_panes)
        stage.changes_button.toggled.connect(self._show_changes_only)
        stage.merged_button.toggled.connect(self._look_where_nothing_is_selected)
        self._session.current_changed.connect(self._show_current)
        self._session.tabs_changed.connect(self._withdraw)
        self._session.failed.connect(lambda _error: self._refresh())
        bar.cancelled.connect(self.back_out)
        bar.alone.connect(self._pin_alone)
        bar.unpinned.connect(self._unpin)
        bar.compare_clicked.connect(self._take_offer)

    @property
    def comparison(self) -> Comparison | None:
        """The comparison that is shown."""
        current = self._session.current
        return current if isinstance(current, Comparison) else None

    def _show_current(self) -> None:
        self.waiting, self._advice = None, ""
        if self._offered is not None and self._session.current is not self._offered[1]:
            self._offered = None
        only = self.comparison is not None and self.comparison.opened_before is not None
        with QSignalBlocker(self._window.stage.changes_button):
            self._window.stage.changes_button.setChecked(only)
        if self.comparison is not None:
            self._hide_unchanged(only)
            if self.comparison not in self._met:
                self._met.add(self.comparison)
                self._look_for_change()
                self._look_for_calls(self.comparison)
        self._refresh()

    def _withdraw(self) -> None:
        """Offer to compare no longer with a file that was closed."""
        if self._offered is not None and not set(self._offered) <= set(self._session.tabs):
            self._offered = None
            self._refresh()

    def _refresh(self) -> None:
        if self.waiting is not None:
            side, name = self.waiting
            self.bar.ask(f"Choose the node that is '{name}' in the graph {SIDES[1 - side]}: click it there.")
        elif self._offered is not None:
            before, after = self._offered
            self.bar.offer(f"{after.title} is open.", f"Compare with {before.title}")
        elif self._advice:
            self.bar.advise(self._advice)
        else:
            self.bar.show_pins(self.comparison.pins if self.comparison is not None else ())

    def _look_for_calls(self, comparison: Comparison) -> None:
        """Say how to compare a graph that calls functions with one that has them inlined."""

        def work() -> str:
            from graphviewer.analysis.diff.inlined import caller

            return caller(comparison.diff)

        def then(found: str) -> None:
            if found and comparison is self.comparison:
                self._advice = (
                    f"{found} calls functions, the other graph has them inlined: Inline functions, then compare."
                )
                self._refresh()

        self._session.background.submit("analysis", f"calls-{id(comparison)}", work, then, self._session.failed.emit)

    def back_out(self) -> bool:
        """Leave what is under way; whether anything was."""
        was = self.waiting is not None or self._offered is not None or bool(self._advice)
        self.waiting, self._offered, self._advice = None, None, ""
        self._refresh()
        return was

    # -- pins ---------------------------------------------------------------------------------------------------

    def _watch_panes(self) -> None:
        for side, pane in enumerate(self._window.stage.all_panes()):
            pane.canvas.item_clicked.connect(lambda item, _keys, side=side, pane=pane: self._click(side, pane, item))
            pane.canvas.context_menu.connect(lambda _item, _where, side=side: self._note(side))
            pane.drawn.connect(self._show_first_change)

    def _note(self, side: int) -> None:
        """Remember which view was last used: most names are on both sides."""
        self._clicked = side

    def can_pin(self) -> bool:
        """Whether the selected node is one of a side of the comparison."""
        return self._start() is not None

    def _start(self) -> tuple[int, str] | None:
        comparison, selection = self.comparison, self._session.selection
        if comparison is None or selection is None or selection.is_scope:
            return None
        sides: tuple[int, ...] = (self._clicked, 1 - self._clicked) if not comparison.is_merged_shown else (0, 1)
        if selection.side != ANY and not comparison.is_merged_shown:
            sides = (selection.side,)
        found = ((side, self._name(comparison, side, selection)) for side in sides)
        return next(((side, name) for side, name in found if name is not None), None)

    @staticmethod
    def _name(comparison: Comparison, side: int, selection: Selection) -> str | None:
        """What a node is called on a side; None where that side does not have it, or only inside a function."""
        name = selection.path
        if comparison.is_merged_shown:
            merged, node = comparison.merged, comparison.merged.document.graph.index.get(name, -1)
            number = int((merged.from_before, merged.from_after)[side][node]) if node >= 0 else -1
            graph = comparison.graphs[side]
            return graph.names[number] if number >= 0 else None
        return name if name in comparison.graphs[side].index else None

    @staticmethod
    def _refusal(comparison: Comparison, side: int, selection: Selection) -> str:
        """Why a node cannot be the twin of one of the other side."""
        _version, seen = comparison.inspected(selection)
        if seen.path not in comparison.graphs[seen.side].index:
            return f"'{seen.path}' is inside a function: only nodes of the graph itself can be pinned."
        return f"'{seen.path}' is not in the graph {SIDES[side]}."

    def pin(self) -> None:
        """Begin to say which node is the same as the selected one: the next click on the other side says it."""
        self.waiting = self._start()
        self._refresh()

    def _click(self, side: int, pane: Pane, item: int) -> None:
        self._note(side)
        comparison, waiting = self.comparison, self.waiting
        if comparison is None or waiting is None or pane.scopes.is_scope[item]:
            return
        other = 1 - waiting[0]
        if not comparison.is_merged_shown and side != other:
            self._session.said.emit(f"Click the twin in the view {SIDES[other]}; Esc ends.")
            return
        clicked = pane.selection_of(item)
        twin = self._name(comparison, other, clicked)
        if twin is None:
            self._session.said.emit(f"{self._refusal(comparison, other, clicked)} Click another node; Esc ends.")
            return
        self._pin((waiting[1], twin) if other == 1 else (twin, waiting[1]))

    def _pin_alone(self) -> None:
        if self.waiting is not None:
            side, name = self.waiting
            self._pin((name, None) if side == 0 else (None, name))

    def _pin(self, pin: Pin) -> None:
        """Compare again with one more pin; what was said of either node before no longer holds."""
        comparison = self.comparison
        if comparison is not None:
            lost = [one for one in comparison.pins if one != pin and _share_a_node(one, pin)]
            kept = [one for one in comparison.pins if one != pin and one not in lost]
            self._compare_again(comparison, (*kept, pin))
            self._session.said.emit(" ".join([_told(comparison, pin), *map(_lifted, lost)]))

    def _unpin(self, pin: Pin) -> None:
        if self.comparison is not None:
            self._compare_again(self.comparison, tuple(one for one in self.comparison.pins if one != pin))

    def _compare_again(self, comparison: Comparison, pins: Sequence[Pin]) -> None:
        self.waiting = None
        self.bar.ask("Comparing again …", is_busy=True)
        self._window.analyst.compare(comparison.before, comparison.after, pins)

    # -- changes only -------------------------------------------------------------------------------------------

    def _show_changes_only(self, checked: bool) -> None:
        """Open the scopes that hold changes, close the others, and ghost what is the same; or as it was."""
        from graphviewer.gui.state.changed_scopes import changed_scopes

        comparison = self.comparison
        if comparison is None or checked == (comparison.opened_before is not None):
            return
        if checked:
            comparison.opened_before = frozenset(comparison.family.expanded)
            paths = changed_scopes(comparison.merged.document.unfolded, comparison.merged_overlay)
            self._session.show_expanded(map(comparison.twins.name, paths))
        else:
            self._session.show_expanded(comparison.opened_before)
            comparison.opened_before = None
        self._hide_unchanged(checked)
        self._look_for_change()
        self._window.stage.show_anew()

    def _look_where_nothing_is_selected(self, _checked: bool) -> None:
        """Split view to merged view and back: what is selected stays in sight, else the first change is shown."""
        if self._session.selection is None:
            self._look_for_change()

    def _look_for_change(self) -> None:
        """Look for a change in the next drawing: it is shown from its beginning."""
        self._looks_for_change = self.comparison is not None

    def _show_first_change(self) -> None:
        """Move the view to the first box that holds a change, where none is in view: ghosts alone say nothing."""
        panes = self._window.stage.panes()
        if not self._looks_for_change or any(one.drawing is None for one in panes):
            return
        self._looks_for_change = False
        changed = [(pane, boxes) for pane in panes if len(boxes := _changed_boxes(pane.canvas.scene_shown))]
        if changed and not any(_are_seen(pane, boxes) for pane, boxes in changed):
            pane, boxes = changed[0]
            first = boxes[np.argmin(pane.canvas.scene_shown.bounds[1, boxes])]
            pane.canvas.zoom_to(int(pane.drawing.item[first]), animate=False)

    def _hide_unchanged(self, hide: bool) -> None:
        hidden = self._session.hidden["diff"]
        if hide != (_UNCHANGED in hidden):
            hidden ^= {_UNCHANGED}
            self._session.overlay_changed.emit()

    # -- report -------------------------------------------------------------------------------------------------

    def ask_report(self) -> None:
        """Let the user name the report of the comparison."""
        comparison = self.comparison
        if comparison is None:
            return
        name = f"{Path(comparison.before.family.title).stem}-changes.html"
        path, _ = QFileDialog.getSaveFileName(
            self._window, "Save Report", str(Path(self._window.files.last_folder()) / name), "Web page (*.html)"
        )
        if path:
            self.save_report(comparison, Path(path if Path(path).suffix else f"{path}.html"))

    def save_report(self, comparison: Comparison, path: Path) -> None:
        """Write the report to the file the user named (the dialog asked before replacing one)."""

        def work() -> None:
            from graphviewer.gui.reporting import write_report

            write_report(comparison.diff, path, comparison.roles, force=True)

        def done(_nothing: None) -> None:
            self._session.said.emit(f"Saved {path} ({path.stat().st_size:,} bytes).")

        self._session.said.emit(f"Writing {path.name} …")
        self._session.background.submit("save", f"save-{path}", work, done, self._session.failed.emit)

    # -- a second file ------------------------------------------------------------------------------------------

    def open_dropped(self, paths: Sequence[Path]) -> None:
        """Open files that were dropped on the window, and offer to compare each with what was shown before it."""
        for path in paths:
            known = self._session.version
            self._window.open_path(path, then=lambda version, _loaded, known=known: self._offer(known, version))

    def _offer(self, before: Version | None, after: Version) -> None:
        others = [version for version in self._session.versions() if version is not after]
        if before not in others:
            before = others[-1] if others else None
        if before is not None:
            self._offered = (before, after)
            self._refresh()

    def _take_offer(self) -> None:
        if self._offered is not None:
            before, after = self._offered
            self._offered = None
            self._refresh()
            self._window.analyst.compare(before, after)


def _changed_boxes(scene: Scene) -> np.ndarray:
    """The closed scopes and nodes of a drawing that hold a change that is not hidden."""
    if scene.overlay is None or scene.overlay.kind != "diff":
        return np.zeros(0, np.intp)
    unchanged = list(scene.overlay.categories).index(_UNCHANGED)
    changes = scene.shares.sum(axis=1) - scene.shares[:, unchanged]
    return scene.solids[(changes > 0)[scene.solids] & ~scene.is_hidden[scene.solids]]


def _are_seen(pane: Pane, boxes: np.ndarray) -> bool:
    """Whether any of some boxes is in a pane's view, away from its border."""
    view = pane.canvas.view_rect()
    view.adjust(*(share * size for share, size in zip(_BORDER, (view.width(), view.height()) * 2, strict=True)))
    left, top, right, bottom = pane.canvas.scene_shown.bounds[:, boxes]
    seen = (left > view.left()) & (right < view.right()) & (top > view.top()) & (bottom < view.bottom())
    return bool(seen.any())


def _share_a_node(one: Pin, other: Pin) -> bool:
    return any(a == b is not None for a, b in zip(one, other, strict=True))


def _told(comparison: Comparison, pin: Pin) -> str:
    """What a pin says, and what is odd about it."""
    old, new = pin
    if old is None or new is None:
        return f"'{old or new}' is pinned as having no twin."
    ops = [graph.ops[graph.index[name]] for graph, name in zip(comparison.graphs, (old, new), strict=True)]
    text = f"'{old}' and '{new}' are pinned as the same node"
    return f"{text}." if ops[0] == ops[1] else f"{text}, though one is a {ops[0]} and the other a {ops[1]}."


def _lifted(pin: Pin) -> str:
    """That a pin no longer holds."""
    old, new = pin
    return f"'{old or 'no node'}' = '{new or 'no node'}' is pinned no more."
