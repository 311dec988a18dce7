"""What keeps turns of the event loop short: results come one by one, a legend is built when it changes."""

from __future__ import annotations

import time

from PySide6.QtCore import QTimer

from graphviewer.gui.state.background import Background


def test_that_results_that_wait_are_delivered_in_turns_of_their_own(qtbot):
    background, seen = Background(), []
    clock = QTimer(interval=0)
    clock.timeout.connect(lambda: seen.append("turn"))
    for number in range(3):
        background.submit(f"lane {number}", f"key {number}", lambda: None, lambda _: seen.append("result"), seen.append)
    time.sleep(0.2)  # all are done before the event loop runs again
    clock.start()
    qtbot.waitUntil(lambda: seen.count("result") == 3, timeout=5_000)
    clock.stop()
    background.close()
    first = seen.index("result")
    assert "result result" not in " ".join(seen[first:])


def test_that_a_closed_background_delivers_nothing_that_had_arrived(qtbot):
    background, seen = Background(), []
    background.submit("lane", "key", lambda: None, seen.append, seen.append)
    time.sleep(0.1)
    background.close()
    qtbot.wait(50)
    assert seen == []
