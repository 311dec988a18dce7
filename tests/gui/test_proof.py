"""Verify and run from the window."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from graphviewer.gui.state.session import Selection
from tests.gui.conftest import WAIT
from tests.gui.test_main_job import freeze
from tests.gui.test_proof_words import CANNOT

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from graphviewer.gui.window import Window

SLOW = 4 * WAIT  # TensorFlow is imported in the worker


def test_that_a_freeze_is_verified_and_the_summary_tells_the_newest_verdict_only(opened: Window, qtbot: QtBot) -> None:
    comparison = freeze(opened, qtbot)
    made, after = comparison.after.summary, comparison.after
    after.verdicts[comparison.before] = CANNOT
    after.summary = f"{made}; {CANNOT['reason']}"
    for _ in range(2):
        opened.verify()
        qtbot.waitUntil(lambda: not opened.prover.is_running, timeout=SLOW)
        assert after.summary == f"{made}; verified: difference 0"
    found = opened.prover.verdict(comparison.before, comparison.after)
    assert found["verdict"] == "same"
    assert [one["max_abs"] for one in found["outputs"]] == [0.0]
    assert "The same" in opened.furniture.proof.words.text()
    assert "ms" in opened.furniture.proof.words.text()


def test_that_an_original_that_draws_random_numbers_offers_what_to_compare_instead(
    opened: Window, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    comparison, panel = freeze(opened, qtbot), opened.furniture.proof
    asked: list = []
    monkeypatch.setattr(opened.prover, "verify", lambda *arguments: asked.append(arguments))
    assert panel.instead_button.isHidden()

    comparison.after.verdicts[comparison.before] = CANNOT | {"instead": ["net_1/probabilities=net/probabilities"]}
    panel.refresh()

    assert not panel.instead_button.isHidden()
    assert panel.instead_button.text() == "Compare With net_1/probabilities"
    panel.instead_button.click()
    assert asked == [(comparison.before, comparison.after, {}, ["net_1/probabilities=net/probabilities"])]


def test_that_a_run_shows_the_values_of_the_selected_node(opened: Window, qtbot: QtBot) -> None:
    freeze(opened, qtbot)
    opened.session.select(Selection("net_1/probabilities"))
    opened.run_node()
    qtbot.waitUntil(lambda: opened.furniture.proof.table.rowCount() == 1, timeout=SLOW)
    qtbot.waitUntil(lambda: not opened.prover.is_running, timeout=SLOW)
    table = opened.furniture.proof.table
    assert table.item(0, 0).text().startswith("net_1/probabilities")
    low, high = float(table.item(0, 3).text()), float(table.item(0, 4).text())
    assert 0.0 <= low <= high <= 1.0


def test_that_a_graph_which_touches_files_is_asked_about_and_a_no_runs_nothing(opened: Window, qtbot: QtBot) -> None:
    asked: list = []
    opened.prover.ask = lambda touches: bool(asked.append(touches))
    save = next(
        name
        for name, op in zip(
            opened.session.version.document.graph.names, opened.session.version.document.graph.ops, strict=True
        )
        if op == "RestoreV2"
    )
    opened.session.select(Selection(save))
    opened.run_node()
    qtbot.waitUntil(lambda: bool(asked), timeout=SLOW)
    qtbot.waitUntil(lambda: not opened.prover.is_running, timeout=SLOW)
    assert any(touch["kind"] == "reads files" for touch in asked[0])
    assert opened.furniture.proof.table.rowCount() == 0


@pytest.mark.parametrize(("width", "columns"), [(260, 3), (650, 6)])
def test_that_output_verdict_and_difference_are_in_sight_in_narrow_windows_too(
    opened: Window, qtbot: QtBot, width: int, columns: int
) -> None:
    comparison, panel = freeze(opened, qtbot), opened.furniture.proof
    one = {"max_abs": 1.25e-7, "max_rel": 2.5e-6, "nan_equal": True, "reason": "", "shape": [8, 10], "min": 0, "max": 1}
    found = {"verdict": "same", "reason": "difference 0", "outputs": [{"name": "net/a_long/name/of/an/output"} | one]}
    comparison.after.verdicts[comparison.before] = CANNOT | found
    opened.furniture.raise_panel("proof")
    panel.refresh()
    panel.table.resize(width, 120)
    assert sum(map(panel.table.columnWidth, range(columns))) <= panel.table.viewport().width() <= width
