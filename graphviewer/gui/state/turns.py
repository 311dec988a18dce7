"""What a change sets off, spread over turns of the event loop."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer


class Turns(QObject):
    """Makes calls that can wait: one in each turn of the event loop, and each once, however often it was asked for.

    Another tab concerns a dozen panels, and some of them for three reasons. Filled in one turn they would keep the
    mouse waiting for as long as all of them take together.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._waiting: dict[Callable[[], None], None] = {}  # in the order in which they were first asked for
        self._timer = QTimer(self, singleShot=True, interval=0)
        self._timer.timeout.connect(self._next)

    def later(self, call: Callable[[], None]) -> Callable[[], None]:
        """What a signal connects to so that ``call`` has a turn of its own."""

        def ask() -> None:
            self._waiting.setdefault(call)
            self._timer.start()

        return ask

    def awaits(self, call: Callable[[], None]) -> bool:
        """Whether this call is still to be made: until then a panel shows what was, and a click on it means nothing."""
        return call in self._waiting

    def busy(self) -> bool:
        """Whether a call is still to be made."""
        return bool(self._waiting)

    def _next(self) -> None:
        call = next(iter(self._waiting))
        del self._waiting[call]
        if self._waiting:
            self._timer.start()
        call()
