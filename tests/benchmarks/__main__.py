"""``make bench``: how long it takes, against what it may take; a table, and out/benchmarks.json.

Needs large graphs: the folder named by GRAPHVIEWER_GRAPHS, or those that a make_graphs.py beside the checkout
(../shared/tools) writes to out/graphs. Figures are medians; machines are noisy, so a limit that is missed once may hold
the next time, and ratios between rows say more than single figures.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
MAKER = ROOT.parent / "shared" / "tools" / "make_graphs.py"
NAMES = ("resnet_s", "resnet50", "resnet152", "MobileNetV2", "NASNetMobile", "EfficientNetB7", "NASNetLarge")


class Row(NamedTuple):
    """One figure: what it measures, its median, the limit, and all runs."""

    measure: str
    unit: str
    median: float
    limit: float | None
    runs: list[float]

    @property
    def verdict(self) -> str:
        if self.limit is None:
            return ""
        return "ok" if self.median <= self.limit else "MISSED"


def graphs_folder() -> Path:
    """The folder of large graphs, made on first use."""
    given = os.environ.get("GRAPHVIEWER_GRAPHS")
    if given:
        return Path(given)
    folder = ROOT / "out" / "graphs"
    if not (folder / "NASNetLarge.pb").exists():
        if not MAKER.exists():
            sys.exit(f"No large graphs: set GRAPHVIEWER_GRAPHS, or put make_graphs.py at {MAKER}.")
        subprocess.run([sys.executable, str(MAKER), str(folder), *NAMES], check=True, stdout=subprocess.DEVNULL)
    return folder


def path_of(folder: Path, name: str) -> Path:
    """A graph's file: the training graphs have folders of their own."""
    return folder / name / "graph.pb" if name.startswith("resnet") else folder / f"{name}.pb"


def run_json(*arguments: str) -> dict[str, float]:
    """The JSON that a fresh process prints last."""
    command = [sys.executable, *arguments]
    done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT, timeout=300)
    return json.loads(done.stdout.strip().splitlines()[-1])


def process_rows(folder: Path, runs: int) -> Iterable[Row]:
    """Whole processes: ``graphviewer open FILE --timings --quit``."""
    empty = [run_json("-m", "graphviewer", "open", "--timings", "--quit")["window_s"] for _ in range(runs)]
    yield Row("process start to empty window", "s", statistics.median(empty), 0.6, empty)
    found = [
        run_json("-m", "graphviewer", "open", str(path_of(folder, "resnet152")), "--timings", "--quit")
        for _ in range(runs)
    ]
    first = [one["first_picture_s"] for one in found]
    yield Row("process start to first picture, resnet152", "s", statistics.median(first), 1.3, first)
    peak = [one["peak_mb"] for one in found]
    yield Row("peak memory of the window's process, resnet152", "MB", statistics.median(peak), 350, peak)


_LIMITS = {
    "resnet_s": 0.20,
    "resnet50": 0.29,
    "resnet152": 0.50,
    "MobileNetV2": 0.15,
    "NASNetMobile": 0.26,
    "EfficientNetB7": 0.32,
    "NASNetLarge": 0.34,
}


def window_rows(folder: Path, runs: int, names: Iterable[str]) -> Iterable[Row]:
    """A running window, one fresh process per graph: see ``probe.py``."""
    for name in names:
        probe = str(Path(__file__).with_name("probe.py"))
        found = run_json(probe, str(path_of(folder, name)), str(runs))
        limits = {
            f"open to first picture, {name}": ("open_s", "s", _LIMITS[name]),
            f"expand one scope, worst, {name}": ("expand_s", "s", 0.15),
            f"expand all, painted, {name}": ("expand_all_s", "s", 1.5),
            f"event-loop gap while opening, {name}": ("open_gap_ms", "ms", 50),
            f"event-loop gap while expanding all, {name}": ("expand_gap_ms", "ms", 50),
            f"frame as opened, p95, {name}": ("frame_ms", "ms", 8),
            f"frame all expanded, p95, {name}": ("frame_all_ms", "ms", 14),
        }
        for measure, (key, unit, limit) in limits.items():
            yield Row(measure, unit, statistics.median(found[key]), limit, found[key])


def table(rows: Iterable[Row]) -> str:
    """Aligned text."""
    lines = [f"{'measure':58} {'median':>9} {'limit':>9}"]
    for row in rows:
        limit = f"{row.limit:g} {row.unit}" if row.limit is not None else ""
        lines.append(f"{row.measure:58} {row.median:9.3f} {limit:>9}  {row.verdict}")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--graphs", nargs="*", default=list(NAMES), choices=NAMES)
    parser.add_argument("--json", type=Path, default=ROOT / "out" / "benchmarks.json")
    given = parser.parse_args()
    folder = graphs_folder()
    parts: tuple[Callable[[], Iterable[Row]], ...] = (
        lambda: process_rows(folder, given.runs),
        lambda: window_rows(folder, given.runs, given.graphs),
    )
    rows = [row for part in parts for row in part()]
    print(table(rows))
    given.json.parent.mkdir(parents=True, exist_ok=True)
    given.json.write_text(json.dumps([row._asdict() | {"verdict": row.verdict} for row in rows], indent=1) + "\n")
    print(f"written to {given.json}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
