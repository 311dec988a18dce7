"""Measure a running window on one graph, in a process of its own; prints one line of JSON with lists of runs.

``probe.py open|scopes|operate|compare GRAPH RUNS [OTHER]``, always in a window that is already there: ``open`` opens
the graph again and again; ``scopes`` expands scopes one by one and all at once, and moves the view along a scripted
path; ``operate`` extracts the inference graph and compares it with what it was made from; ``compare`` opens a second
graph and compares the two.
"""

from __future__ import annotations

import gc
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import numpy as np
from PySide6.QtCore import QCoreApplication, QElapsedTimer, QEvent, QEventLoop, QPointF, QSettings, QTimer
from PySide6.QtGui import QImage, QPainter
from PySide6.QtWidgets import QApplication

from graphviewer.gui.app import application
from graphviewer.gui.stage.pane import Pane
from graphviewer.gui.state.versions import Comparison
from graphviewer.gui.timings import peak_megabytes
from graphviewer.gui.window import Window
from graphviewer.model.names import Endpoint

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
    """Counts the drawings that a pane takes, and the paints of its canvas that hold one."""

    def __init__(self, pane: Pane) -> None:
        self.pane = pane
        self.count = self.drawn = 0
        self.pane.canvas.painted.connect(self._note)
        self.pane.drawn.connect(self._note_drawing)

    def _note_drawing(self) -> None:
        self.drawn += 1

    def _note(self) -> None:
        self.count += self.pane.drawing is not None


class Bench:
    """A window and what was measured in it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.app = application()
        store = QSettings(tempfile.mktemp(suffix=".ini"), QSettings.Format.IniFormat)
        store.setValue("settings/animate", "false")
        self.window = Window(store)
        self.window.files.ask_discard = lambda titles: True  # nobody is there to be asked
        self.window.show()
        self.app.processEvents()
        self.painted, self.watch = Painted(self.window.stage.left), LoopWatch()
        self.found: dict[str, list[float]] = {}

    def note(self, key: str, value: float) -> None:
        """Add one run's figure."""
        self.found.setdefault(key, []).append(round(value, 5))

    def wait(self, ready: Callable[[], bool]) -> None:
        """Run the event loop until ``ready``."""
        wait(self.app, ready)

    def rest(self) -> None:
        """Wait until nothing runs in the background any more."""
        self.wait(lambda: not self.window.background.busy() and not self.window.jobs.is_busy())

    def open(self) -> None:
        """Open the graph: wall and CPU seconds to the end of the first paint, the longest gap until all is at rest."""
        window = self.window
        while window.session.current is not None:
            window.close_tab()
        self.wait(lambda: not window.background.busy())
        # Without app.exec() nobody does what deleteLater asked for, and widgets keep what they show.
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
        gc.collect()
        self.painted.count = 0
        with self.watch.watching():
            begin, cpu = time.perf_counter(), time.process_time()
            window.open_path(self.path)
            self.wait(lambda: self.painted.count > 0)
            self.note("open_s", time.perf_counter() - begin)
            self.note("open_cpu_s", time.process_time() - cpu)
            self.rest()
        self.note("open_gap_ms", self.watch.longest)
        self.note("peak_mb", peak_megabytes())

    def scopes(self, runs: int) -> None:
        """Expand one scope, and all."""
        times = []
        for _ in range(runs):
            self.open()  # anew: no layout of a scope is known yet
            times.append(scope_times(self.app, self.window, self.painted))
        self.note("expand_s", max(map(median, zip(*times, strict=True))))
        for _ in range(runs):
            self.note("frame_ms", frame_times(self.window))
        for _ in range(runs):
            with self.watch.watching():
                cpu = time.process_time()
                change = lambda: self.window.session.expand_below("")  # noqa: E731
                self.note("expand_all_s", change_scopes(self.app, self.painted, change))
                self.note("expand_all_cpu_s", time.process_time() - cpu)
            self.note("expand_gap_ms", self.watch.longest)
            self.note("frame_all_ms", frame_times(self.window))
            change_scopes(self.app, self.painted, self.window.session.collapse_all)

    def operate(self) -> None:
        """Extract what the suggested output needs, and compare: the gaps, and seconds to the comparison on screen."""
        self.open()
        session, window = self.window.session, self.window
        session.set_endpoints(outputs=[Endpoint(session.version.suggested_outputs[0].name)])
        self.rest()
        compared: list[Comparison] = []
        window.analyst.compared.connect(compared.append)
        with self.watch.watching():
            begin = time.perf_counter()
            window.run_operation("extract")
            self.wait(lambda: bool(session.versions()[1:]))
            self.note("operate_s", time.perf_counter() - begin)
        self.note("operate_gap_ms", self.watch.longest)
        with self.watch.watching():
            begin = time.perf_counter()
            self.wait(lambda: bool(compared))
            self.note("diff_s", time.perf_counter() - begin)
            self.rest()
        self.note("diff_gap_ms", self.watch.longest)
        window.analyst.compared.disconnect(compared.append)  # else the list, and all that is in it, lives on

    def compare(self, other: Path, runs: int) -> None:
        """Open a second graph and compare: seconds until both sides are painted, and the gaps until all is at rest."""
        self.open()
        window, session, first = self.window, self.window.session, self.window.session.version
        window.open_path(other)
        self.wait(lambda: session.version is not first)
        self.rest()
        second, sides = session.version, [Painted(pane) for pane in window.stage.all_panes()]
        for _ in range(runs):
            for side in sides:
                side.count = 0
            with self.watch.watching():
                begin, cpu = time.perf_counter(), time.process_time()
                window.analyst.compare(first, second)
                self.wait(lambda: window.stage.is_comparing and all(side.count for side in sides))
                self.note("split_s", time.perf_counter() - begin)
                self.note("split_cpu_s", time.process_time() - cpu)
                self.rest()
            self.note("split_gap_ms", self.watch.longest)
            session.close_tab(session.current)
            self.rest()


def change_scopes(app: QApplication, painted: Painted, change: Callable[[], None]) -> float:
    """Seconds from a change of the open scopes to the end of the paint that shows it."""
    drawn, begin = painted.drawn, time.perf_counter()
    change()
    wait(app, lambda: painted.drawn > drawn)  # the same drawing again where a scope is a member of a closed stack
    painted.count = 0
    wait(app, lambda: painted.count > 0)
    return time.perf_counter() - begin


def scope_times(app: QApplication, window: Window, painted: Painted, most: int = 40) -> list[float]:
    """Seconds for the expansion of each of the largest scopes, each from the first picture."""
    session, scopes = window.session, window.session.version.document.scopes
    start = set(session.family.expanded)
    paths = sorted(
        (path for path in scopes.by_path if path and path not in start),
        key=lambda p: -len(scopes.children(scopes.by_path[p])),
    )[:most]
    times = []
    for path in paths:
        above = path.rpartition("/")[0]
        if above:
            session.expand([above])
            wait(app, lambda: not window.background.busy())
        times.append(change_scopes(app, painted, lambda path=path: session.expand([path])))
        session.collapse(set(session.family.expanded) - start)
        wait(app, lambda: not window.background.busy())
    return times


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


def main(what: str, path: Path, runs: int, other: Path | None = None) -> dict[str, list[float]]:
    """The figures of one graph, or of two."""
    bench = Bench(path)
    if what == "scopes":
        bench.scopes(runs)
    elif what == "compare" and other is not None:
        bench.compare(other, runs)
    else:
        for _ in range(runs):
            bench.open() if what == "open" else bench.operate()
    bench.window.close()
    return bench.found


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), *map(Path, sys.argv[4:]))))
