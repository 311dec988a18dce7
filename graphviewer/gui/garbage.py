"""Python's cycle collector, kept to the GUI thread.

Python collects in whichever thread allocates. A Qt object that is part of a cycle would then be destroyed in a
background thread, which Qt answers with "Timers cannot be stopped from another thread" and, now and then, a crash.

A collection walks every object that it may free: with a large graph open and compared, tens of milliseconds each time.
So what came with a graph is looked at once and then frozen: never looked at again. It needs no collector: what a closed
tab showed has no cycles, and goes with the last reference to it. Cycles of widgets may be frozen with it. They wait
until no graph is open or being opened, and nothing happens.
"""

from __future__ import annotations

import gc
from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer

_INTERVAL_MS = 1_000
_MANY = 5_000
"""New objects at once that can only be a graph, or what was found out about one."""


class GarbageCollector(QObject):
    """Switches automatic collection off and collects from a timer of the GUI thread instead."""

    def __init__(self, is_idle: Callable[[], bool], parent: QObject | None = None) -> None:
        """``is_idle`` tells whether no graph is open or expected: then all that was frozen may be looked at again."""
        super().__init__(parent)
        self._thresholds = gc.get_threshold()
        gc.disable()
        gc.freeze()  # what the imports made lives as long as the process: never look at it again
        self._is_idle, self._has_frozen = is_idle, False
        self._timer = QTimer(self, interval=_INTERVAL_MS)
        self._timer.timeout.connect(self.check)
        self._timer.start()

    def check(self) -> None:
        """Collect the oldest generation that is due, as Python itself would; freeze what a graph left."""
        counts = gc.get_count()
        is_quiet = self._has_frozen and counts[0] <= self._thresholds[0] and self._is_idle()
        if is_quiet or counts[0] > _MANY:
            if is_quiet:
                gc.unfreeze()
            gc.collect()
            gc.freeze()
            self._has_frozen = not is_quiet
            return
        for generation in (2, 1, 0):
            if counts[generation] > self._thresholds[generation]:
                gc.collect(generation)
                return

    def close(self) -> None:
        """Give collection back to Python."""
        self._timer.stop()
        gc.enable()
