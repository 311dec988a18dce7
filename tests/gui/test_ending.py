"""The end of the process, when the window is closed in the middle of something."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

WHILE_A_LANE_COMPUTES = """
import sys
import numpy as np
from PySide6.QtCore import QTimer
from graphviewer.gui import app
from graphviewer.gui.window import Window

def compute():
    while True:
        np.unique(numbers)

def show(window):
    shown(window)
    window.background.submit("lane", "key", compute, print, print)
    QTimer.singleShot(200, window.close)

numbers, shown, Window.show = np.arange(300_000) % 1_000, Window.show, show
sys.exit(app.run(None))
"""


def test_that_a_window_closed_while_a_lane_computes_ends_the_process_in_peace(tmp_path: Path) -> None:
    place = {"HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", WHILE_A_LANE_COMPUTES],
        env={**os.environ, **place},
        timeout=60,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
