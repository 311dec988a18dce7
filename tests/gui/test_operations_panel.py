"""The operations are imported in a thread and their cards made as they are looked at: the window never waits."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.gui.conftest import WAIT
from tests.gui.watchdog import LONGEST, SLOWNESS

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from graphviewer.gui.window import Window

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("first", ["show", "run"])
def test_that_the_first_look_at_operations_does_not_keep_the_window_waiting(first: str, tmp_path: Path) -> None:
    out = tmp_path / "found.json"
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen"}
    command = [sys.executable, "-m", "tests.gui.operations_probe", first, str(out)]
    subprocess.run(command, cwd=ROOT, env=environment, check=True, timeout=120, capture_output=True)
    found = json.loads(out.read_text("utf-8"))
    assert max(found.values()) < LONGEST * SLOWNESS, found


def test_that_cards_are_filled_when_they_are_unfolded(opened: Window) -> None:
    cards = opened.furniture.operations.cards
    filled = {name for name, card in cards.items() if "body" in vars(card)}
    assert filled == {"freeze"} and len(cards) > 5
    cards["extract"].heading.setChecked(True)
    assert "none chosen" in cards["extract"]._fields["outputs"][1].text()
    assert not cards["extract"].run_button.isEnabled()
    opened.session.type_endpoints("outputs", "net_1/probabilities")
    assert cards["extract"].run_button.isEnabled()
    assert cards["extract"]._fields["outputs"][1].text() == "net_1/probabilities"


def test_that_cards_are_made_some_time_after_the_first_graph_came(opened: Window, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: "cards" in vars(opened.furniture.operations), timeout=WAIT)


@pytest.mark.screen
def test_that_no_card_is_cut_after_the_window_was_tiny(opened: Window, qtbot: QtBot) -> None:
    furniture = opened.furniture
    furniture.raise_panel("operations")
    qtbot.waitUntil(lambda: "cards" in vars(furniture.operations), timeout=WAIT)
    for card in furniture.operations.cards.values():
        card.heading.setChecked(True)
    for size in ((60, 40), (3000, 2000), (60, 40), (1500, 900)):
        opened.resize(*size)
        qtbot.wait(50)
    panel = furniture.operations
    has_room = panel.viewport().width() >= panel.widget().minimumSizeHint().width()
    assert panel.width() >= 250
    assert has_room or panel.horizontalScrollBar().isVisible()
