"""What people come for, in the window, on the bundled sample: what the well-known articles say, and what is true."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from graphviewer.gui.state.versions import Comparison, Version
from tests.gui.conftest import WAIT

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from graphviewer.gui.window import Window

OUTPUT = "net_1/probabilities"
APPLY = {"ApplyAdam", "ResourceApplyAdam"}


def run(window: Window, qtbot: QtBot, operation: str, on: Version) -> Comparison:
    """Run an operation from its card and wait for the comparison."""
    window.session.show_tab(on)
    known = len(window.session.tabs)
    window.run_operation(operation)
    qtbot.waitUntil(
        lambda: len(window.session.tabs) == known + 2 and isinstance(window.session.current, Comparison), timeout=WAIT
    )
    return window.session.current


def test_that_remove_training_nodes_leaves_the_gradients_and_extracting_does_not(opened: Window, qtbot: QtBot) -> None:
    original = opened.session.version
    opened.session.type_endpoints("outputs", OUTPUT)
    removed = run(opened, qtbot, "remove-training-nodes", original)
    gone = {change.before for change in removed.diff.changes if change.status in ("removed", "spliced")}
    ops = {removed.before.document.graph.ops[removed.before.document.graph.index[name]] for name in gone}
    assert ops and ops <= {"Identity", "CheckNumerics", "StopGradient"}
    assert APPLY & set(removed.after.document.graph.ops), "the optimizer must still be there"
    extracted = run(opened, qtbot, "extract", original)
    assert not APPLY & set(extracted.after.document.graph.ops)
    sizes = [totals.nodes for totals in (*removed.totals, extracted.totals[1])]
    assert sizes[0] > sizes[1] > sizes[2]
    assert all(totals.bytes > 0 for totals in removed.totals)


def test_that_both_results_can_be_compared_with_each_other(opened: Window, qtbot: QtBot) -> None:
    original = opened.session.version
    opened.session.type_endpoints("outputs", OUTPUT)
    removed = run(opened, qtbot, "remove-training-nodes", original).after
    extracted = run(opened, qtbot, "extract", original).after
    opened.analyst.compare(removed, extracted)
    qtbot.waitUntil(lambda: getattr(opened.session.current, "before", None) is removed, timeout=WAIT)
    assert opened.session.current.after is extracted


@pytest.mark.parametrize("card", ["freeze", "extract", "cut-inputs", "remove-training-nodes"])
def test_that_each_operation_says_what_it_does(opened: Window, card: str) -> None:
    found = opened.furniture.operations.cards[card]
    assert len(found.heading.toolTip()) > 60
    if card == "remove-training-nodes":
        assert "gradient" in found.heading.toolTip().lower()
