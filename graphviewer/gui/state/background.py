"""Work off the GUI thread, in this process."""

from __future__ import annotations

import logging
import queue
import threading
from collections import deque
from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QObject, Qt, QTimer, Signal

from graphviewer.errors import GraphViewerError

log = logging.getLogger(__name__)


class _Task:
    """One call: what to run, and where its result goes."""

    def __init__(self, key: str, work: Callable[[], Any], then: Callable[[Any], None], failed: Callable) -> None:
        self.key, self.work, self.then, self.failed = key, work, then, failed
        self.result: Any = None
        self.error: Exception | None = None


class Background(QObject):
    """Runs functions in named lanes, one daemon thread each; within a lane tasks run in order.

    The newest task of a key wins: an older one that waits is dropped, one that runs has its result thrown away.
    Results and errors arrive in the GUI thread, each in a turn of the event loop of its own, so that several at once do
    not add up to one long wait. Threads are daemons, so that closing the window never waits.
    """

    _finished = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._lanes: dict[str, queue.SimpleQueue[_Task]] = {}
        self._newest: dict[str, _Task] = {}
        self._running: set[_Task] = set()
        self._closed = False
        self._arrived: deque[_Task] = deque()
        self._turn = QTimer(self, singleShot=True, interval=0)
        self._turn.timeout.connect(self._deliver_next)
        self._finished.connect(self._arrive, Qt.ConnectionType.QueuedConnection)

    def submit(
        self,
        lane: str,
        key: str,
        work: Callable[[], Any],
        then: Callable[[Any], None],
        failed: Callable[[GraphViewerError], None],
    ) -> None:
        """Run ``work`` in ``lane``; hand its value to ``then``, or its error to ``failed``, in the GUI thread."""
        task = self._newest[key] = _Task(key, work, then, failed)
        if lane not in self._lanes:
            self._lanes[lane] = queue.SimpleQueue()
            threading.Thread(target=self._run, args=(self._lanes[lane],), name=f"lane-{lane}", daemon=True).start()
        self._lanes[lane].put(task)

    def drop(self, key: str) -> None:
        """Forget the task of a key: its result will not be delivered."""
        self._newest.pop(key, None)

    def busy(self) -> bool:
        """Whether any result is still awaited."""
        return bool(self._newest)

    def awaits(self, prefix: str) -> bool:
        """Whether a task whose key starts with ``prefix`` waits or runs."""
        return any(key.startswith(prefix) for key in self._newest)

    def is_working(self) -> bool:
        """Whether a lane runs a task, be its result awaited or not."""
        return bool(self._running)

    def close(self) -> None:
        """Deliver nothing any more."""
        self._closed = True
        self._newest.clear()
        self._arrived.clear()
        self._turn.stop()

    def _run(self, tasks: queue.SimpleQueue[_Task]) -> None:
        while not self._closed:
            self._work_off(tasks.get())

    def _work_off(self, task: _Task) -> None:
        """One task; a function of its own, so that a lane that waits does not keep the last graph in memory."""
        if self._newest.get(task.key) is not task:
            return
        self._running.add(task)
        try:
            task.result = task.work()
        except Exception as error:
            task.error = error
        finally:
            self._running.discard(task)
        if not self._closed:
            self._finished.emit(task)

    def _arrive(self, task: _Task) -> None:
        self._arrived.append(task)
        self._turn.start()

    def _deliver_next(self) -> None:
        if self._arrived:
            task = self._arrived.popleft()
            if self._arrived:
                self._turn.start()
            self._deliver(task)

    def _deliver(self, task: _Task) -> None:
        if self._closed or self._newest.get(task.key) is not task:
            return
        del self._newest[task.key]
        if task.error is None:
            task.then(task.result)
        elif isinstance(task.error, GraphViewerError):
            task.failed(task.error)
        else:
            log.error("%s failed", task.key, exc_info=task.error)
            task.failed(GraphViewerError(f"Something went wrong in '{task.key}': {task.error!r}.", "Please report it."))
