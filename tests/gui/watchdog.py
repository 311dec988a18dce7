"""Whether the window's thread answers: how long it worked on end."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from PySide6.QtCore import QTimer

LONGEST = 0.05
"""CPU seconds that the window's thread may spend between two looks at its events on a machine that is not loaded."""

SLOWNESS = 1.6
"""Machines on which tests run share caches and cores: their CPU seconds are up to so much longer."""


class Watchdog:
    """The most CPU time that this thread spent between two turns of the event loop: a timer of 1 ms looks at it.

    CPU time of the thread, for wall time also passes while other programs, or threads that hold the GIL, run.
    """

    def __init__(self) -> None:
        self.longest, self.at, self.step = 0.0, "", ""
        self._before = time.thread_time()
        self._timer = QTimer(interval=1)
        self._timer.timeout.connect(self._beat)
        self._timer.start()

    def _beat(self) -> None:
        now = time.thread_time()
        if now - self._before > self.longest:
            self.longest, self.at = now - self._before, self.step
        self._before = now

    @contextmanager
    def watching(self, step: str) -> Iterator[None]:
        """Name what is done next."""
        self.step = step
        self._before = time.thread_time()
        yield
        self._beat()
