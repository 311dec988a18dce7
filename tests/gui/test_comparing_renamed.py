"""Two graphs whose scopes and nodes have other names, side by side: they open, select and outline together."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from PySide6.QtCore import Qt

from graphviewer import protos
from graphviewer.analysis.neighbourhood import lit
from graphviewer.gui.state.selection import AFTER, BEFORE, Selection
from tests.comparison_graphs import NEW_BODY, OLD_BODY, calling, network
from tests.gui.conftest import WAIT

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from graphviewer.gui.stage.pane import Pane
    from graphviewer.gui.window import Window

Click = Callable[["Pane", str], None]
Compare = Callable[[protos.GraphDef, protos.GraphDef], "Window"]


@pytest.fixture
def compare(window: Window, tmp_path: Path, qtbot: QtBot) -> Compare:
    """``compare(before, after)`` opens two graphs and compares them; all scopes are closed but the outermost."""

    def show(*graphs: protos.GraphDef) -> Window:
        for count, graph in enumerate(graphs, 1):
            path = tmp_path / f"graph_{count}.pb"
            path.write_bytes(graph.SerializeToString())
            window.open_path(path)
            qtbot.waitUntil(lambda count=count: len(window.session.versions()) == count, timeout=WAIT)
        window.analyst.compare(*window.session.versions())
        qtbot.waitUntil(lambda: window.comparing.comparison is not None, timeout=WAIT)
        window.session.show_expanded([""])
        _settle(window, qtbot)
        return window

    return show


def _settle(window: Window, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: not window.background.busy(), timeout=WAIT)


def _open(pane: Pane) -> set[str]:
    """The scopes that a pane shows open."""
    shown = set(pane.drawing.item.tolist())
    around = {int(pane.scopes.parent[item]) for item in shown} - {0, -1}
    return {pane.scopes.path(item) for item in around}


def _drawn(pane: Pane) -> set[str]:
    return {pane.scopes.path(item) for item in pane.drawing.item.tolist()}


def _lit(pane: Pane) -> set[str]:
    return {pane.scopes.path(item) for item in pane.canvas.scene_shown.selection}


def _activate(window: Window, pane: Pane, path: str, qtbot: QtBot) -> None:
    pane.canvas.item_activated.emit(pane.scopes.by_path[path])
    _settle(window, qtbot)


@pytest.mark.parametrize(("old", "new"), [("import/", ""), ("", "import/"), ("import/", "tower_0/")])
def test_that_renamed_scopes_open_and_close_together(compare: Compare, old: str, new: str, qtbot: QtBot) -> None:
    window = compare(network(old), network(new))
    left, right = window.stage.left, window.stage.right
    for prefix, pane in ((old, left), (new, right)):
        if prefix and prefix.rstrip("/") not in _open(pane):
            _activate(window, pane, prefix.rstrip("/"), qtbot)
    for pane, prefix, path in ((left, old, "net"), (right, new, "net/two"), (left, old, "net/two/inner")):
        _activate(window, pane, prefix + path, qtbot)
        assert old + path in _open(left) and new + path in _open(right)
    assert f"{old}net/one" not in _open(left) and f"{new}net/one" not in _open(right)
    _activate(window, right, f"{new}net/two", qtbot)
    assert f"{old}net/two" not in _open(left) and f"{new}net/two" not in _open(right)


def test_that_what_is_opened_inside_a_closed_prefix_of_the_other_side_is_seen_there(
    compare: Compare, qtbot: QtBot
) -> None:
    window = compare(network(), network("import/"))
    _activate(window, window.stage.left, "net", qtbot)
    assert {"import", "import/net"} <= _open(window.stage.right)


def test_that_a_scope_that_is_selected_is_outlined_on_both_sides(compare: Compare, qtbot: QtBot) -> None:
    window = compare(network("import/"), network())
    window.session.select(Selection("net/two", True, AFTER), reveal=True)
    _settle(window, qtbot)
    assert (_lit(window.stage.left), _lit(window.stage.right)) == ({"import/net/two"}, {"net/two"})
    window.session.select(Selection("import/net/one", True, BEFORE), reveal=True)
    _settle(window, qtbot)
    assert (_lit(window.stage.left), _lit(window.stage.right)) == ({"import/net/one"}, {"net/one"})
    outline = window.furniture.outline
    assert outline.model.scopes.path(outline.model.item(outline.tree.currentIndex())) == "net/one"


def test_that_a_node_that_is_revealed_is_drawn_on_both_sides(compare: Compare, qtbot: QtBot) -> None:
    window = compare(network("import/"), network("tower_0/"))
    window.session.select(Selection("tower_0/net/two/inner/exp", False, AFTER), reveal=True)
    _settle(window, qtbot)
    qtbot.waitUntil(lambda: "tower_0/net/two/inner/exp" in _drawn(window.stage.right), timeout=WAIT)
    qtbot.waitUntil(lambda: "import/net/two/inner/exp" in _drawn(window.stage.left), timeout=WAIT)
    assert _lit(window.stage.left) == {"import/net/two/inner/exp"}


def test_that_the_outline_opens_the_scope_on_both_sides(compare: Compare, qtbot: QtBot) -> None:
    window = compare(network("import/"), network())
    outline = window.furniture.outline
    outline.tree.activated.emit(outline.model.index_of(outline.model.scopes.by_path["net"]))
    _settle(window, qtbot)
    assert "import/net" in _open(window.stage.left) and "net" in _open(window.stage.right)


def test_that_everything_inside_a_renamed_scope_can_be_opened(compare: Compare, qtbot: QtBot) -> None:
    window = compare(network("import/"), network())
    window.session.select(Selection("net/two", True, AFTER))
    window.expand_below()
    _settle(window, qtbot)
    assert {"import/net/two", "import/net/two/inner"} <= _open(window.stage.left)
    assert {"net/two", "net/two/inner"} <= _open(window.stage.right)
    assert "net/one" not in _open(window.stage.right)


def test_that_the_merged_view_opens_what_the_split_view_shows(compare: Compare, qtbot: QtBot) -> None:
    window = compare(network("import/"), network())
    _activate(window, window.stage.right, "net", qtbot)
    window.stage.toggle_merged()
    _settle(window, qtbot)
    assert "net" in _open(window.stage.left)
    _activate(window, window.stage.left, "net", qtbot)
    window.stage.toggle_merged()
    _settle(window, qtbot)
    assert "import/net" not in _open(window.stage.left)


def _swapped() -> tuple[protos.GraphDef, protos.GraphDef]:
    """Two nodes whose names were exchanged."""
    graphs = network(), network()
    for node in graphs[1].node:
        node.name = {"net/two/inner/exp": "net/two/inner/sqrt", "net/two/inner/sqrt": "net/two/inner/exp"}.get(
            node.name, node.name
        )
        node.input[:] = ["net/two/inner/sqrt" if one == "net/two/inner/exp" else one for one in node.input]
    graphs[1].node[-1].input[:] = ["net/two/inner/exp"]
    graphs[1].node[5].input[:] = ["net/two/inner/sqrt"]
    return graphs


def test_that_the_twin_counts_where_another_node_has_the_name(compare: Compare, click: Click, qtbot: QtBot) -> None:
    window = compare(*_swapped())
    window.analyst.compare(
        *window.session.versions(),
        [("net/two/inner/exp", "net/two/inner/sqrt"), ("net/two/inner/sqrt", "net/two/inner/exp")],
    )
    qtbot.waitUntil(lambda: len(window.comparing.comparison.pins) == 2, timeout=WAIT)
    window.session.expand_below()
    _settle(window, qtbot)
    click(window.stage.left, "net/two/inner/exp")
    assert (_lit(window.stage.left), _lit(window.stage.right)) == ({"net/two/inner/exp"}, {"net/two/inner/sqrt"})
    click(window.stage.right, "net/two/inner/exp")
    assert (_lit(window.stage.left), _lit(window.stage.right)) == ({"net/two/inner/sqrt"}, {"net/two/inner/exp"})


# -- inside functions -------------------------------------------------------------------------------------------------


def _category(pane: Pane, name: str) -> str | None:
    scene = pane.canvas.scene_shown
    return scene.overlay.category(scene.scopes.graph.index[name])


@pytest.fixture
def bodies(compare: Compare, qtbot: QtBot) -> Window:
    """A call whose function differs inside, opened in place."""
    window = compare(calling(OLD_BODY), calling(NEW_BODY))
    window.session.expand_below()
    _settle(window, qtbot)
    return window


def test_that_a_change_inside_a_function_is_coloured_node_by_node_on_both_sides(bodies: Window) -> None:
    left, right = bodies.stage.left, bodies.stage.right
    assert {"net/call/lost", "net/call/half"} <= _drawn(left) and "net/call/new" in _drawn(right)
    assert _category(left, "net/call/lost") == "removed" and _category(right, "net/call/new") == "added"
    assert _category(left, "net/call/half") == _category(right, "net/call/half") == "unchanged"


def test_that_the_merged_view_shows_both_bodies_of_a_function(bodies: Window, qtbot: QtBot) -> None:
    bodies.stage.toggle_merged()
    _settle(bodies, qtbot)
    pane = bodies.stage.left
    assert {"net/call/lost", "net/call/new"} <= _drawn(pane)
    assert _category(pane, "net/call/lost") == "removed" and _category(pane, "net/call/new") == "added"


def test_that_the_table_lists_changes_inside_functions_with_the_name_of_the_function(bodies: Window) -> None:
    model = bodies.furniture.changes.model
    rows = [[model.index(row, column).data() for column in range(4)] for row in range(model.rowCount())]
    found = next(row for row in rows if row[1] == "net/call/lost")
    assert found[0].endswith("removed") and found[2] == "Abs" and found[3].endswith("(in ƒ f_1)")


def test_that_next_change_goes_into_the_function(bodies: Window, qtbot: QtBot) -> None:
    session, seen = bodies.session, set()
    session.show_expanded([])
    for _ in range(bodies.furniture.changes.model.rowCount()):
        qtbot.keyClick(bodies.stage.left.canvas, Qt.Key.Key_N)
        seen.add(session.selection.path)
    assert {"net/call/lost", "net/call/new", "net/call/last"} <= seen
    _settle(bodies, qtbot)
    qtbot.keyClick(bodies.stage.left.canvas, Qt.Key.Key_N, Qt.KeyboardModifier.ShiftModifier)
    assert session.selection.path in seen


def test_that_the_inspector_tells_what_became_of_a_node_inside_a_function(bodies: Window, click: Click) -> None:
    page = bodies.furniture.inspector.page
    click(bodies.stage.left, "net/call/lost")
    assert "removed" in page.toPlainText() and "f_1" in page.toPlainText()
    click(bodies.stage.right, "net/call/last")
    assert "rewired" in page.toPlainText()
    click(bodies.stage.right, "net/call/half")
    assert "Unchanged." in page.toPlainText()


def test_that_the_legend_counts_what_is_inside_functions(bodies: Window) -> None:
    counts = bodies.comparing.comparison.counts()
    assert (counts["removed"], counts["added"]) == (1, 1)


def _glowing(window: Window, side: int) -> set[str]:
    """The nodes that a trace lights up on a side."""
    version = (window.comparing.comparison.before, window.comparing.comparison.after)[side]
    names, overlay = version.document.unfolded.graph.names, version.lenses["trace"]
    return {names[node] for node in np.flatnonzero(lit(overlay))}


def test_that_a_trace_walks_the_graph_it_starts_in_and_shows_twins_beside_it(compare: Compare, qtbot: QtBot) -> None:
    after = network("tower_0/")
    after.node[-1].input[:] = ["tower_0/net/one/abs"]  # the tail reads another node there
    window = compare(network("import/"), after)
    window.session.select(Selection("tower_0/tail", False, AFTER))
    window.exploration.trace("ancestors")
    qtbot.waitUntil(lambda: window.session.overlay_kind == "trace", timeout=WAIT)
    assert _glowing(window, 1) == {f"tower_0/{name}" for name in ("tail", "net/one/abs", "net/one/relu", "x")}
    assert _glowing(window, 0) == {f"import/{name}" for name in ("tail", "net/one/abs", "net/one/relu", "x")}
    window.exploration.back_out()
    window.session.select(Selection("import/tail", False, BEFORE))
    window.exploration.trace("ancestors")
    qtbot.waitUntil(lambda: window.session.overlay_kind == "trace", timeout=WAIT)
    assert len(_glowing(window, 0)) == len(_glowing(window, 1)) == len(network().node)


def test_that_a_path_may_end_on_the_other_side(compare: Compare, qtbot: QtBot) -> None:
    window = compare(network("import/"), network(""))
    window.session.select(Selection("net/one/relu", False, AFTER))
    window.session.select_second(Selection("import/net/two/neg", False, BEFORE))
    window.exploration.find_path()
    qtbot.waitUntil(lambda: window.session.overlay_kind == "trace", timeout=WAIT)
    assert _glowing(window, 1) == {"net/one/relu", "net/one/abs", "net/two/neg"}
    assert _glowing(window, 0) == {f"import/{name}" for name in _glowing(window, 1)}


def test_that_a_merged_view_traces_from_what_was_selected_on_a_side(compare: Compare, qtbot: QtBot) -> None:
    window = compare(network("import/"), network(""))
    window.session.select(Selection("import/net/one/abs", False, BEFORE))
    window.stage.toggle_merged()
    _settle(window, qtbot)
    window.exploration.trace("ancestors")
    qtbot.waitUntil(lambda: window.session.overlay_kind == "trace", timeout=WAIT)
    comparison = window.comparing.comparison
    names = comparison.merged.document.unfolded.graph.names
    assert {names[node] for node in np.flatnonzero(lit(comparison.lenses["trace"]))} == {
        "x", "net/one/relu", "net/one/abs"
    }  # fmt: skip


def _long(last: str) -> protos.GraphDef:
    """A chain far longer than any window, whose last node differs."""
    graph_def = protos.GraphDef()
    graph_def.node.add(name="x", op="Placeholder").attr["dtype"].type = protos.DataType.FLOAT
    for number in range(120):
        name = graph_def.node[-1].name
        graph_def.node.add(name=f"step_{number}", op="Relu", input=[name]).attr["T"].type = protos.DataType.FLOAT
    graph_def.node[-1].op = last
    return graph_def


def test_that_a_comparison_is_first_seen_where_a_change_is(compare: Compare, qtbot: QtBot) -> None:
    window = compare(_long("Relu"), _long("Elu"))
    pane = window.stage.left
    rect = pane.canvas.item_rect(pane.item_of(Selection("step_119", False, BEFORE)))
    assert pane.canvas.view_rect().contains(rect)


def test_that_two_graphs_begin_together_at_the_top_of_the_first(compare: Compare, qtbot: QtBot) -> None:
    window = compare(_long("Elu"), network(""))
    left, right = window.stage.left.canvas, window.stage.right.canvas
    assert left.camera.top < 0
    assert left.camera.scale == right.camera.scale


def test_that_a_tab_whose_scopes_were_opened_elsewhere_is_never_shown_empty(compare: Compare, qtbot: QtBot) -> None:
    window = compare(network(""), network(""))
    pane, first = window.stage.left, window.session.versions()[0]
    window.session.show_tab(first)
    _settle(window, qtbot)
    pane.canvas.pan(-5_000, -5_000)
    window.session.show_tab(window.session.tabs[1])
    _settle(window, qtbot)
    window.session.show_tab(first)
    _settle(window, qtbot)
    assert pane.canvas.scene_shown.solids.size
    assert pane.canvas.view_rect().intersects(pane.canvas.item_rect(int(pane.drawing.item[0])))
