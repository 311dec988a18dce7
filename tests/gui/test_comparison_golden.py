"""Pictures of comparisons, looked at once and kept: inside functions, and of graphs under other prefixes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from PySide6.QtWidgets import QDockWidget

from graphviewer import protos
from graphviewer.gui.state.selection import AFTER, Selection
from tests.comparison_graphs import calling, network
from tests.gui.conftest import WAIT
from tests.gui.test_window_golden import settle

if TYPE_CHECKING:
    from PySide6.QtGui import QImage
    from pytestqt.qtbot import QtBot

    from graphviewer.gui.window import Window

pytestmark = pytest.mark.screen

SIZE = (1000, 640)

BEFORE_BODY = (
    ("half", "Relu", ["x"]),
    ("lost", "Abs", ["half:activations:0"]),
    ("scale", "Mul", ["lost:y:0", "half:activations:0"]),
    ("last", "Neg", ["scale:z:0"]),
)
AFTER_BODY = (
    ("half", "Elu", ["x"]),
    ("new", "Exp", ["half:activations:0"]),
    ("scale", "Mul", ["new:y:0", "half:activations:0"]),
    ("last", "Neg", ["scale:z:0"]),
)

Golden = Callable[["QImage", str], None]


def spare_result(graph_def: protos.GraphDef) -> protos.GraphDef:
    """The same graph whose function has a second result."""
    function = graph_def.library.function[0]
    function.signature.output_arg.add(name="spare", type=protos.DataType.FLOAT)
    function.ret["spare"] = "lost:y:0"
    return graph_def


def compared(window: Window, qtbot: QtBot, folder: Path, theme: str, *graphs: protos.GraphDef) -> None:
    """Compare two graphs on a stage of one size, whatever stands around it."""
    if window.theme.name != theme:
        window.switch_theme()
    for dock in window.findChildren(QDockWidget):
        dock.hide()
    window.stage.setFixedSize(*SIZE)
    for count, graph in enumerate(graphs, 1):
        path = folder / f"graph_{count}.pb"
        path.write_bytes(graph.SerializeToString())
        window.open_path(path)
        qtbot.waitUntil(lambda count=count: len(window.session.versions()) == count, timeout=WAIT)
    window.analyst.compare(*window.session.versions())
    qtbot.waitUntil(lambda: window.comparing.comparison is not None, timeout=WAIT)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("view", ["split", "merged"])
def test_that_a_function_that_differs_inside_looks_as_it_did_where_it_is_opened(
    window: Window, qtbot: QtBot, tmp_path: Path, golden: Golden, theme: str, view: str
) -> None:
    compared(window, qtbot, tmp_path, theme, spare_result(calling(BEFORE_BODY)), calling(AFTER_BODY))
    window.session.show_expanded(["net", "net/call"])
    if view == "merged":
        window.stage.toggle_merged()
    settle(window, qtbot)
    window.stage.fit()
    settle(window, qtbot)
    golden(window.stage.grab().toImage(), f"comparison_function_{view}_{theme}")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_that_imports_under_other_prefixes_look_as_they_did_with_a_scope_open_in_both(
    window: Window, qtbot: QtBot, tmp_path: Path, golden: Golden, theme: str
) -> None:
    after = network("tower_0/")
    after.node[-1].op = "Rsqrt"
    compared(window, qtbot, tmp_path, theme, network("import/"), after)
    window.session.show_expanded(["import", "import/net", "import/net/two"])
    window.session.select(Selection("tower_0/net/two/inner", True, AFTER))
    settle(window, qtbot)
    window.stage.fit()
    settle(window, qtbot)
    golden(window.stage.grab().toImage(), f"comparison_prefixes_{theme}")
