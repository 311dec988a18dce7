"""Prints how long the window's thread was busy, at most, while the operations were first shown and first run.

A process of its own: in that of the tests the operations may be imported already.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QEventLoop, QSettings

from graphviewer.gui.app import application
from graphviewer.gui.state.versions import Comparison
from graphviewer.gui.window import Window
from graphviewer.resources import resource
from tests.gui.watchdog import Watchdog

PATIENCE = 60


def main(first: str) -> dict[str, float]:
    """CPU seconds by step; ``first`` is ``show`` or ``run``."""
    app = application()
    window = Window(QSettings(tempfile.mktemp(suffix=".ini"), QSettings.Format.IniFormat))
    window.files.ask_discard = lambda titles: True
    window.show()

    def wait(ready: Callable[[], object]) -> None:
        end = time.monotonic() + PATIENCE
        while not ready():
            assert time.monotonic() < end, "nothing came"
            app.processEvents(QEventLoop.ProcessEventsFlag.AllEvents, 20)

    window.open_path(resource("samples/digits"))
    wait(lambda: window.stage.left.drawing is not None and window.session.version.suggested_outputs)
    wait(lambda: not window.background.busy() and not window.jobs.is_busy())
    assert "graphviewer.operations.freeze" not in sys.modules
    window.session.type_endpoints("outputs", "net_1/probabilities")
    panel, dog, found = window.furniture.operations, Watchdog(), {}
    steps: dict[str, tuple[Callable[[], None], Callable[[], object]]] = {
        "show": (lambda: window.furniture.raise_panel("operations"), lambda: "cards" in vars(panel)),
        "run": (lambda: window.run_operation("freeze"), lambda: isinstance(window.session.current, Comparison)),
    }
    for step in sorted(steps, key=lambda name: name != first):
        do, is_done = steps[step]
        dog.longest = 0.0
        with dog.watching(step):
            do()
            wait(is_done)
        found[step] = dog.longest
    window.close()
    return found


if __name__ == "__main__":
    Path(sys.argv[2]).write_text(json.dumps(main(sys.argv[1])), "utf-8")
