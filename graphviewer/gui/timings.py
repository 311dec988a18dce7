"""When things happened, in seconds since the process started, and how much memory it took."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any


def process_start() -> float:
    """The start of this process as a ``time.perf_counter()`` value.

    Linux keeps it in ticks of 10 ms since boot; elsewhere the first call stands for it.
    """
    now = time.perf_counter()
    try:
        fields = Path("/proc/self/stat").read_text().rpartition(")")[2].split()
        started = int(fields[19]) / _ticks()
        return now - (time.clock_gettime(time.CLOCK_BOOTTIME) - started)
    except (OSError, AttributeError, IndexError, ValueError):
        return now


def _ticks() -> int:
    import os

    return os.sysconf("SC_CLK_TCK")


def peak_megabytes() -> float:
    """The most memory this process ever held, in MB (10^6 bytes); 0 where the system does not say."""
    try:
        import resource
    except ImportError:
        return 0.0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 1e6 if sys.platform == "darwin" else peak * 1024 / 1e6


class Timings:
    """Collects the moments that ``open --timings`` prints."""

    def __init__(self) -> None:
        self.start = process_start()
        self.values: dict[str, Any] = {}

    def mark(self, key: str, moment: float | None = None) -> None:
        """Note a moment, now by default."""
        self.values[key] = round((moment if moment is not None else time.perf_counter()) - self.start, 4)

    def line(self) -> dict[str, Any]:
        """The values in the contract's order."""
        self.values["peak_mb"] = round(peak_megabytes(), 1)
        order = ("window_s", "read_s", "model_s", "layout_s", "first_picture_s", "open_s", "boxes", "nodes", "peak_mb")
        return {key: self.values.get(key) for key in order}
