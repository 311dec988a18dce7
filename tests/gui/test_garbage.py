"""What a closed tab showed goes with it, and collections stay short while a large graph is open."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator
from threading import Event
from typing import TYPE_CHECKING, Any

from graphviewer.gui.state.versions import Comparison, Version
from tests.gui.conftest import WAIT
from tests.gui.test_main_job import freeze

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from graphviewer.gui.window import Window


def shown_in(window: Window) -> Iterator[tuple[str, weakref.ref[Any]]]:
    """What the open tabs hold: documents, layouts, overlays, drawings."""
    for tab in window.session.tabs:
        yield "tab", weakref.ref(tab)
        documents = [tab.document] if isinstance(tab, Version) else [tab.merged.document]
        for document in documents:
            for name in ("graph", "scopes", "unfolded"):
                yield name, weakref.ref(getattr(document, name))
            yield "document", weakref.ref(document)
        parts = (
            ("layout", "roles") if isinstance(tab, Version) else ("merged_layout", "merged_overlay", "diff", "twins")
        )
        for name in parts:
            if getattr(tab, name) is not None:
                yield name, weakref.ref(getattr(tab, name))
    for pane in window.stage.panes():
        yield "drawing", weakref.ref(pane.drawing)
        yield "scene", weakref.ref(pane.canvas.scene_shown)


def test_that_all_that_a_closed_tab_showed_goes_without_a_collection(opened: Window, qtbot: QtBot) -> None:
    opened.garbage._timer.stop()
    assert isinstance(freeze(opened, qtbot), Comparison)
    qtbot.waitUntil(lambda: all(pane.drawing is not None for pane in opened.stage.panes()), timeout=WAIT)
    opened.stage.toggle_merged()
    qtbot.waitUntil(lambda: opened.stage.left.drawing is not None, timeout=WAIT)
    opened.stage.toggle_merged()
    qtbot.waitUntil(lambda: not opened.background.busy() and not opened.jobs.is_busy(), timeout=WAIT)
    held = list(shown_in(opened))
    gc.freeze()
    while opened.session.current is not None:
        opened.close_tab()
    qtbot.waitUntil(lambda: not opened.background.busy(), timeout=WAIT)
    qtbot.waitUntil(lambda: not any(one() for _, one in held), timeout=WAIT)
    assert [name for name, one in held if one() is not None] == []


def test_that_what_came_with_a_graph_is_not_walked_again(window: Window) -> None:
    collector = window.garbage
    collector.check()
    before, graph = gc.get_freeze_count(), [[] for _ in range(20_000)]
    collector.check()
    assert gc.get_freeze_count() >= before + len(graph)
    assert len(gc.get_objects()) < 2_000


def test_that_frozen_cycles_are_freed_when_no_graph_is_open(window: Window, qtbot: QtBot) -> None:
    class Node:
        me: Node

    node = Node()
    node.me = node
    known, graph = weakref.ref(node), [[] for _ in range(20_000)]
    window.garbage.check()
    del node, graph
    opening = Event()
    window.background.submit("open", "open-x", opening.wait, lambda _: None, window.session.failed.emit)
    window.garbage.check()
    assert known() is not None, "a graph is being opened, which must not wait"
    opening.set()
    qtbot.waitUntil(lambda: not window.background.busy(), timeout=WAIT)
    window.garbage.check()
    assert known() is None
