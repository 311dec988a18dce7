"""``make bench``: how long it takes, against what it may take; a table, and out/benchmarks.json.

Needs large graphs: the folder named by GRAPHVIEWER_GRAPHS, or those that a make_graphs.py beside the checkout
(../shared/tools) writes to out/graphs. Figures are medians; machines are noisy, so a limit that is missed once may hold
the next time, and ratios between rows say more than single figures.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

import comparing
import freezing
import sizes
from copies import write_copies

ROOT = Path(__file__).resolve().parents[2]
MAKER = ROOT.parent / "shared" / "tools" / "make_graphs.py"
PARTS = ("process", "window", "copies", "sizes", "freezing", "comparing")
NAMES = ("resnet_s", "resnet50", "resnet152", "MobileNetV2", "NASNetMobile", "EfficientNetB7", "NASNetLarge")


class Row(NamedTuple):
    """One figure: what it measures, its median, the limit, all runs, and the median of the CPU seconds it took."""

    measure: str
    unit: str
    median: float
    limit: float | None
    runs: list[float]
    cpu_s: float | None = None

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


class Limit(NamedTuple):
    """A figure of the probe, and what it may be."""

    key: str
    measure: str
    unit: str
    most: float | None
    cpu: str = ""


OPEN_LIMITS = {
    "resnet_s": 0.20,
    "resnet50": 0.29,
    "resnet152": 0.50,
    "MobileNetV2": 0.15,
    "NASNetMobile": 0.26,
    "EfficientNetB7": 0.32,
    "NASNetLarge": 0.34,
}
PEAK_LIMITS = {"resnet152": 350, "NASNetLarge": 250}
SCOPES = (
    Limit("expand_s", "expand one scope, worst", "s", 0.10),
    Limit("expand_all_s", "expand all, painted", "s", 0.8, "expand_all_cpu_s"),
    Limit("expand_gap_ms", "event-loop gap while expanding all", "ms", 50),
    Limit("frame_ms", "frame as opened, p95", "ms", 8),
    Limit("frame_all_ms", "frame all expanded, p95", "ms", 14),
)
OPERATE = (
    Limit("operate_s", "extract, result shown", "s", None),
    Limit("operate_gap_ms", "event-loop gap while an operation runs", "ms", 50),
    Limit("diff_s", "then compared", "s", None),
    Limit("diff_gap_ms", "event-loop gap while comparing", "ms", 50),
)
COPIES = {1_000: None, 10_000: None, 100_000: 1.5, 1_000_000: 15.0}
"""Nodes of a graph of copies, and seconds in which it may open."""


def probe(what: str, path: Path, runs: int, name: str, limits: Iterable[Limit]) -> Iterable[Row]:
    """Rows of one graph, from a fresh process: see ``probe.py``."""
    found = run_json(str(Path(__file__).with_name("probe.py")), what, str(path), str(runs))
    for limit in limits:
        cpu = statistics.median(found[limit.cpu]) if limit.cpu else None
        runs_of = found[limit.key]
        yield Row(f"{limit.measure}, {name}", limit.unit, statistics.median(runs_of), limit.most, runs_of, cpu)


def opening(seconds: float | None, gap: float, peak: float | None) -> tuple[Limit, ...]:
    """What is measured while a graph opens."""
    return (
        Limit("open_s", "open to first picture", "s", seconds, "open_cpu_s"),
        Limit("open_gap_ms", "event-loop gap while opening", "ms", gap),
        Limit("peak_mb", "peak memory of the window's process", "MB", peak),
    )


def window_rows(folder: Path, runs: int, names: Iterable[str]) -> Iterable[Row]:
    """Each graph in a running window."""
    for name in names:
        path = path_of(folder, name)
        yield from probe("open", path, runs, name, opening(OPEN_LIMITS[name], 50, None))
        # Opened again and again, the window holds what is left of the graph before: the first time counts.
        yield from probe("open", path, 1, name, opening(None, 50, PEAK_LIMITS.get(name))[2:])
        yield from probe("scopes", path, runs, name, SCOPES)
        if name.startswith("resnet"):
            yield from probe("operate", path, runs, name, OPERATE)


def copies_rows(folder: Path, runs: int) -> Iterable[Row]:
    """Copies of a network up to a million nodes, and how the cost grows."""
    medians = {}
    with tempfile.TemporaryDirectory() as made:
        for nodes, seconds in COPIES.items():
            path = Path(made) / f"{nodes}.pb"
            write_copies(path_of(folder, "MobileNetV2"), path, nodes)
            huge = nodes >= 1_000_000
            limits = opening(seconds, 150 if huge else 50, 2500 if huge else None)
            rows = list(probe("open", path, runs, f"{nodes:,} nodes", limits))
            medians[nodes] = rows[0].cpu_s or rows[0].median
            path.unlink()
            yield from rows
    # A fixed cost hides behind small graphs, so that the last step says more than the whole way.
    for before, after, most in ((1_000, 1_000_000, 1.0), (100_000, 1_000_000, None)):
        growth = medians[after] / medians[before] * before * math.log(before) / (after * math.log(after))
        yield Row(f"CPU per n log n, {after:,} nodes over {before:,}", "x", growth, most, [growth])


def sizes_rows(runs: int) -> Iterable[Row]:
    """Files of 1 MB to 2.3 GB: opening is to cost nearly the same."""
    for megabytes, seconds, peaks in sizes.measure(runs):
        yield Row(f"open a file of {megabytes:,} MB", "s", statistics.median(seconds), sizes.SECONDS, seconds)
        yield Row(f"peak memory, a file of {megabytes:,} MB", "MB", statistics.median(peaks), sizes.MEGABYTES, peaks)


def figures(found: Iterable[freezing.Figure]) -> Iterable[Row]:
    """Rows of a part that measures by itself: freezing, comparing."""
    for figure in found:
        yield Row(figure.measure, figure.unit, statistics.median(figure.runs), figure.limit, figure.runs, figure.cpu_s)


def line(row: Row) -> str:
    """Aligned text of one row."""
    limit = f"{row.limit:g} {row.unit}" if row.limit is not None else row.unit
    cpu = f"{row.cpu_s:.3f}" if row.cpu_s is not None else ""
    return f"{row.measure:58} {row.median:9.3f} {limit:>9} {cpu:>7}  {row.verdict}"


def main() -> int:
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--graphs", nargs="*", default=list(NAMES), choices=NAMES)
    parser.add_argument("--part", choices=("all", *PARTS), default="all")
    parser.add_argument("--json", type=Path, default=ROOT / "out" / "benchmarks.json")
    given = parser.parse_args()
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed program has its modules compiled
    folder = graphs_folder()
    parts: tuple[Callable[[], Iterable[Row]], ...] = (
        lambda: process_rows(folder, given.runs),
        lambda: window_rows(folder, given.runs, given.graphs),
        lambda: copies_rows(folder, given.runs),
        lambda: sizes_rows(given.runs),
        lambda: figures(freezing.measure(folder, given.runs)),
        lambda: figures(comparing.measure(folder, given.runs)),
    )
    print(f"{'measure':58} {'median':>9} {'limit':>9} {'CPU s':>7}")
    rows = []
    for part in parts if given.part == "all" else (parts[PARTS.index(given.part)],):
        for row in part():
            rows.append(row)
            print(line(row), flush=True)
    given.json.parent.mkdir(parents=True, exist_ok=True)
    given.json.write_text(json.dumps([row._asdict() | {"verdict": row.verdict} for row in rows], indent=1) + "\n")
    print(f"written to {given.json}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
