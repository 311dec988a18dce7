"""Another theme in a window at work: every widget is dressed once, in short turns, and looks as if it began so."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QApplication, QLabel

from graphviewer.gui.style.theme import apply_theme, load_theme
from tests.gui.conftest import WAIT
from tests.gui.watchdog import LONGEST, SLOWNESS, Watchdog

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from graphviewer.gui.window import Window

pytestmark = pytest.mark.screen

MOST_DRESSED = 3  # without a stylesheet, with the other one, and once more where a widget has to fit


class Dressings(QObject):
    """Counts how often each object is told that its style is another one."""

    def __init__(self) -> None:
        super().__init__()
        self.counts: Counter[QObject] = Counter()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.StyleChange:
            self.counts[watched] += 1
        return False


def settle(window: Window, qtbot: QtBot) -> None:
    """Wait until nothing is under way: what arrives late changes the picture, and the worker takes part of a core."""

    def is_quiet() -> bool:
        return not (window.background.busy() or window.jobs.is_busy() or window.session.turns.busy())

    qtbot.waitUntil(is_quiet, timeout=WAIT)
    qtbot.wait(200)  # for what timers still do


def test_that_no_widget_is_dressed_again_and_again(opened: Window, qapp: QApplication) -> None:
    seen = Dressings()
    qapp.installEventFilter(seen)
    opened.switch_theme()
    qapp.removeEventFilter(seen)
    often = {str(widget): count for widget, count in seen.counts.items() if count > MOST_DRESSED}
    assert seen.counts
    assert not often


def test_that_a_theme_that_is_on_dresses_nothing(opened: Window, qapp: QApplication) -> None:
    seen = Dressings()
    qapp.installEventFilter(seen)
    apply_theme(qapp, load_theme("light"))
    qapp.removeEventFilter(seen)
    assert not seen.counts


def test_that_switching_the_theme_keeps_turns_short(opened: Window, qtbot: QtBot) -> None:
    settle(opened, qtbot)
    for _warm in range(2):
        opened.switch_theme()
        qtbot.wait(200)
    longest: dict[str, list[float]] = {"dark": [], "light": []}
    for _again in range(2):  # other programs on the same cores only ever add to what a switch takes
        for theme, found in longest.items():
            watchdog = Watchdog()
            with watchdog.watching(theme):
                opened.switch_theme()
            qtbot.wait(200)
            found.append(watchdog.longest)
    assert all(min(found) < LONGEST * SLOWNESS for found in longest.values()), longest


def test_that_there_and_back_again_looks_the_same(opened: Window, qtbot: QtBot) -> None:
    settle(opened, qtbot)
    before = opened.grab().toImage()
    opened.switch_theme()
    settle(opened, qtbot)
    dark = opened.grab().toImage()
    opened.switch_theme()
    settle(opened, qtbot)
    assert opened.grab().toImage() == before
    assert dark != before


def colours(label: QLabel) -> set[str]:
    image = label.grab().toImage()
    return {image.pixelColor(x, y).name() for x in range(image.width()) for y in range(image.height())}


def test_that_links_are_in_the_colour_of_the_theme(opened: Window, qtbot: QtBot) -> None:
    opened.stage.welcome.set_recent(["/folder/graph.pb"])
    for name in ("dark", "light"):
        opened.switch_theme()
        qtbot.wait(100)
        for label in (opened.stage.breadcrumb, opened.stage.welcome.recent):
            assert load_theme(name).color("window.link").name() in colours(label)
