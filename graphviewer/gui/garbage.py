"""Python's cycle collector, kept to the GUI thread.

Python collects in whichever thread allocates. A Qt object that is part of a cycle would then be destroyed in a
background thread, which Qt answers with "Timers cannot be stopped from another thread" and, now and then, a crash.
"""

from __future__ import annotations

import gc

from PySide6.QtCore import QObject, QTimer

_INTERVAL_MS = 1_000


class GarbageCollector(QObject):
    """Switches automatic collection off and collects from a timer of the GUI thread instead."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._thresholds = gc.get_threshold()
        gc.disable()
        gc.freeze()  # what the imports made lives as long as the process: never look at it again
        self._timer = QTimer(self, interval=_INTERVAL_MS)
        self._timer.timeout.connect(self.check)
        self._timer.start()

    def check(self) -> None:
        """Collect the oldest generation that is due, as Python itself would."""
        counts = gc.get_count()
        for generation in (2, 1, 0):
            if counts[generation] > self._thresholds[generation]:
                gc.collect(generation)
                return

    def close(self) -> None:
        """Give collection back to Python."""
        self._timer.stop()
        gc.enable()
