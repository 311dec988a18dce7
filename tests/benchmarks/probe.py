"""Measure a running window on one graph, in a process of its own; prints one line of JSON with lists of runs.

``probe.py GRAPH RUNS``: opens the graph again and again in a window that is already there, expands scopes one by one
and all at once, and moves the view along a scripted path.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import numpy as np
from PySide6.QtCore import QElapsedTimer, QEventLoop, QPointF, QSettings, QTimer
from PySide6.QtGui import QImage, QPainter
from PySide6.QtWidgets import QApplication

from graphviewer.gui.app import application
from graphviewer.gui.window import Window

DEADLINE = 120.0


class LoopWatch:
    """The longest time in which the event loop handled nothing: a timer of 1 ms that looks at the clock."""

    def __init__(self) -> None:
        self.longest = 0.0
        self._clock = QElapsedTimer()
        self._timer = QTimer(interval=1)
        self._timer.timeout.connect(self._beat)

    def _beat(self) -> None:
        self.longest = max(self.longest, self._clock.nsecsElapsed() / 1e6)
        self._clock.restart()

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Watch while the block runs."""
        self.longest = 0.0
        self._clock.start()
        self._timer.start()
        yield
        self._beat()
        self._timer.stop()


def wait(app: QApplication, ready: Callable[[], bool]) -> None:
    """Run the event loop until ``ready``, asleep between events as in real life: polling would fight for the GIL."""
    end = time.perf_counter() + DEADLINE
    alarm = QTimer(interval=5)
    alarm.start()
    while not ready():
        if time.perf_counter() > end:
            raise TimeoutError
        app.processEvents(QEventLoop.ProcessEventsFlag.WaitForMoreEvents)


class Painted:
    """Counts the paints of a canvas that hold a drawing."""

    def __init__(self, window: Window) -> None:
        self.pane = window.stage.left
        self.count = 0
        self.pane.canvas.painted.connect(self._note)

    def _note(self) -> None:
        self.count += self.pane.drawing is not None


def open_once(app: QApplication, window: Window, path: Path, painted: Painted, watch: LoopWatch) -> tuple[float, float]:
    """Seconds from asking to the end of the first paint, and the longest gap, ms."""
    while window.session.current is not None:
        window.close_tab()
    wait(app, lambda: not window.background.busy())
    painted.count = 0
    with watch.watching():
        begin = time.perf_counter()
        window.open_path(path)
        wait(app, lambda: painted.count > 0)
        took = time.perf_counter() - begin
        wait(app, lambda: not window.background.busy() and not window.jobs.is_busy())
    return took, watch.longest


def change_scopes(app: QApplication, painted: Painted, change: Callable[[], None]) -> float:
    """Seconds from a change of the open scopes to the end of the paint that shows it."""
    drawing, begin = painted.pane.drawing, time.perf_counter()
    change()
    wait(app, lambda: painted.pane.drawing is not drawing)
    painted.count = 0
    wait(app, lambda: painted.count > 0)
    return time.perf_counter() - begin


def worst_scope(app: QApplication, window: Window, painted: Painted, most: int = 40) -> float:
    """The slowest expansion of one scope, the largest ones tried, each from the first picture."""
    session, scopes = window.session, window.session.version.document.scopes
    start = set(session.family.expanded)
    paths = sorted(
        (path for path in scopes.by_path if path and path not in start),
        key=lambda p: -len(scopes.children(scopes.by_path[p])),
    )[:most]
    worst = 0.0
    for path in paths:
        above = path.rpartition("/")[0]
        if above:
            session.expand([above])
            wait(app, lambda: not window.background.busy())
        worst = max(worst, change_scopes(app, painted, lambda path=path: session.expand([path])))
        session.collapse(set(session.family.expanded) - start)
        wait(app, lambda: not window.background.busy())
    return worst


def frame_times(window: Window, steps: int = 120) -> float:
    """p95 in ms of painting the canvas along a path of pan and zoom steps, into a raster image of 1400 x 900."""
    canvas = window.stage.left.canvas
    canvas.resize(1400, 900)
    canvas.fit()
    image = QImage(1400, 900, QImage.Format.Format_ARGB32_Premultiplied)
    drawing = window.stage.left.drawing
    times = []
    for step in range(steps):
        t = step / steps
        canvas.zoom(1.06 if step % 40 < 20 else 1 / 1.06, QPointF(700, 450))
        canvas.pan(30 * np.cos(7 * t), -drawing.height * canvas.camera.scale / steps * 0.7)
        begin = time.perf_counter()
        with QPainter(image) as painter:
            canvas.render(painter)
        times.append((time.perf_counter() - begin) * 1e3)
    return float(np.percentile(times, 95))


def main(path: Path, runs: int) -> dict[str, list[float]]:
    """All figures of one graph."""
    app = application()
    store = QSettings(tempfile.mktemp(suffix=".ini"), QSettings.Format.IniFormat)
    store.setValue("settings/animate", "false")
    window = Window(store)
    window.show()
    app.processEvents()
    painted, watch = Painted(window), LoopWatch()
    found: dict[str, list[float]] = {}

    def note(key: str, value: float) -> None:
        found.setdefault(key, []).append(round(value, 5))

    for _ in range(runs):
        took, gap = open_once(app, window, path, painted, watch)
        note("open_s", took)
        note("open_gap_ms", gap)
    note("frame_ms", frame_times(window))
    note("expand_s", worst_scope(app, window, painted))
    for _ in range(runs):
        with watch.watching():
            note("expand_all_s", change_scopes(app, painted, lambda: window.session.expand_below("")))
        note("expand_gap_ms", watch.longest)
        note("frame_all_ms", frame_times(window))
        change_scopes(app, painted, window.session.collapse_all)
    window.close()
    return found


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1]), int(sys.argv[2]))))
