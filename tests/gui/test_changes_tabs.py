"""The filter of the changes belongs to the comparison it was typed for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphviewer.gui.state.versions import Comparison
from tests.gui.conftest import WAIT

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from graphviewer.gui.window import Window


def compared(window: Window, qtbot: QtBot, operation: str) -> Comparison:
    known = list(window.session.tabs)
    window.session.show_tab(window.session.versions()[0])
    window.run_operation(operation)
    qtbot.waitUntil(
        lambda: isinstance(window.session.current, Comparison) and window.session.current not in known, timeout=WAIT
    )
    return shown(window, qtbot)


def shown(window: Window, qtbot: QtBot) -> Comparison:
    """The current comparison, once its changes are in the table."""
    current, model = window.session.current, window.furniture.changes.model
    qtbot.waitUntil(lambda: model.changes is current.changes, timeout=WAIT)
    return current


def test_that_each_comparison_has_a_filter_of_its_own(opened: Window, qtbot: QtBot) -> None:
    opened.session.type_endpoints("outputs", "net_1/probabilities")
    first = compared(opened, qtbot, "extract")
    panel = opened.furniture.changes
    panel.filter.setText("gradients")
    panel.status.setCurrentIndex(1)
    second = compared(opened, qtbot, "remove-training-nodes")
    assert (panel.filter.text(), panel.status.currentIndex()) == ("", 0)
    assert panel.model.rowCount() == len(second.changes)
    panel.filter.setText("images")
    opened.session.show_tab(first)
    shown(opened, qtbot)
    assert (panel.filter.text(), panel.status.currentIndex()) == ("gradients", 1)
    qtbot.waitUntil(lambda: 0 < panel.model.rowCount() < len(first.changes), timeout=WAIT)
    opened.session.show_tab(second.after)
    opened.session.show_tab(second)
    shown(opened, qtbot)
    assert panel.filter.text() == "images"


def test_that_a_comparison_made_anew_keeps_the_filter(opened: Window, qtbot: QtBot) -> None:
    opened.session.type_endpoints("outputs", "net_1/probabilities")
    first = compared(opened, qtbot, "extract")
    opened.furniture.changes.filter.setText("net_1")
    opened.analyst.compare(first.before, first.after, ())
    qtbot.waitUntil(
        lambda: isinstance(opened.session.current, Comparison) and opened.session.current is not first, timeout=WAIT
    )
    shown(opened, qtbot)
    assert opened.furniture.changes.filter.text() == "net_1"
