"""Checkpoints compared in a real window: they have no nodes of their own, and are drawn all the same."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtWidgets import QLabel

from graphviewer.gui.state.session import Selection
from graphviewer.gui.words.describe_change import describe_comparison
from tests.gui.conftest import WAIT
from tests.unit.checkpoint_files import write_bundle

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from graphviewer.gui.window import Window


def test_that_two_checkpoints_are_compared_variable_by_variable(window: Window, tmp_path: Path, qtbot: QtBot) -> None:
    for name, width in (("one", 2), ("two", 3)):
        same, other = np.ones(4, np.float32), np.ones(width, np.float32)
        window.open_path(write_bundle(tmp_path / name, {"net/same": same, "net/wider": other, f"net/{name}": same}))
        qtbot.waitUntil(lambda name=name: name in window.windowTitle(), timeout=WAIT)
    window.analyst.compare(*window.session.versions())
    qtbot.waitUntil(lambda: window.comparing.comparison is not None, timeout=WAIT)
    qtbot.waitUntil(lambda: not window.background.busy(), timeout=WAIT)
    counts = {status: count for status, count in window.comparing.comparison.counts().items() if count}
    assert counts == {"removed": 1, "added": 1, "changed": 1, "unchanged": 1}
    for name, told in (("net/two", "added"), ("net/same", "Unchanged"), ("net/wider", "changed")):
        window.session.select(Selection(name))
        assert told in window.furniture.inspector.page.toPlainText()
        window.stage.toggle_merged()
        assert told in window.furniture.inspector.page.toPlainText()
        assert window.comparing.can_pin()


def test_that_values_that_were_not_compared_are_told_and_what_compares_them(
    window: Window, tmp_path: Path, qtbot: QtBot
) -> None:
    for value, name in enumerate(("one", "two")):
        window.open_path(write_bundle(tmp_path / name, {"net/same": np.full(4, value, np.float32)}))
        qtbot.waitUntil(lambda name=name: name in window.windowTitle(), timeout=WAIT)
    window.analyst.compare(*window.session.versions())
    qtbot.waitUntil(lambda: window.stage.legend.findChild(QLabel, "changeCount") is not None, timeout=WAIT)
    qtbot.waitUntil(lambda: not window.background.busy(), timeout=WAIT)
    headline = window.stage.legend.findChild(QLabel, "changeCount")
    assert headline.text() == "<b>No changes</b>, values not compared"
    assert "graphviewer diff --values" in headline.toolTip() and "Variables panel" in headline.toolTip()
    assert "graphviewer diff --values" in describe_comparison(window.comparing.comparison)
