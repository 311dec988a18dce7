"""Comparing resnet152 with its frozen form and with renamed copies: two open documents, whole commands, the window."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from copies import write_renamed
from freezing import OUTPUT, Figure, frozen, measured, seconds

OPEN_SECONDS, COMMAND_SECONDS, RENAMED_SECONDS = 0.5, 1.2, 2.0
PICTURE_SECONDS, GAP_MS = 1.0, 50
"""From the wish to compare to both sides painted, the comparison itself included."""

_OPEN = """
import json, sys, time
from graphviewer.analysis.diff import compare
from graphviewer.formats import open_document
first, second = map(open_document, sys.argv[1:3])
for document in (first, second):  # a window has drawn them
    assert document.scopes
seconds, cpu = [], []
for _ in range(int(sys.argv[3])):
    begin, busy = time.perf_counter(), time.process_time()
    compare(first, second)
    seconds.append(time.perf_counter() - begin)
    cpu.append(time.process_time() - busy)
print(json.dumps({"seconds": seconds, "cpu": cpu}))
"""


def measure(folder: Path, runs: int) -> Iterator[Figure]:
    """Compare the same graphs in each way.

    Args:
        folder: of the large graphs.
        runs: of each way.
    """
    with tempfile.TemporaryDirectory(prefix="graphviewer-bench-") as made:
        graph, result, renamed, other = (
            folder / "resnet152" / "graph.pb", *(Path(made) / f"{name}.pb" for name in ("frozen", "renamed", "other")),
        )  # fmt: skip
        frozen(str(folder / "resnet152" / "model.ckpt-100.meta"), OUTPUT, str(result))
        write_renamed(graph, renamed, "import")
        write_renamed(result, other, "import")
        pairs = (
            ("its frozen form", result, OPEN_SECONDS, COMMAND_SECONDS),
            ("a renamed copy", renamed, RENAMED_SECONDS, RENAMED_SECONDS),
            ("its frozen form, renamed", other, RENAMED_SECONDS, RENAMED_SECONDS),
        )
        for words, after, limit, _ in pairs:
            yield _both_open(f"compare resnet152 with {words}, both open", limit, graph, after, runs)
        for words, after, _, limit in pairs:
            found = [measured("-m", "graphviewer", "diff", str(graph), str(after), codes=(1,)) for _ in range(runs)]
            yield seconds(f"diff of resnet152 and {words}, whole process", found, limit)
        for option in ("--json", "--stat"):
            command = ("-m", "graphviewer", "diff", str(graph), str(result), option)
            found = [measured(*command, codes=(1,)) for _ in range(runs)]
            yield seconds(f"diff {option} of resnet152 and its frozen form", found, COMMAND_SECONDS)
        yield from _in_window(graph, result, runs)


def _both_open(measure: str, limit: float, before: Path, after: Path, runs: int) -> Figure:
    command = [sys.executable, "-c", _OPEN, str(before), str(after), str(runs)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    found = json.loads(done.stdout)
    return Figure(measure, "s", limit, found["seconds"], statistics.median(found["cpu"]))


def _in_window(before: Path, after: Path, runs: int) -> Iterator[Figure]:
    probe = str(Path(__file__).with_name("probe.py"))
    command = [sys.executable, probe, "compare", str(before), str(runs), str(after)]
    found = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()[-1])
    cpu = statistics.median(found["split_cpu_s"])
    yield Figure("compare two open graphs, split view painted", "s", PICTURE_SECONDS, found["split_s"], cpu)
    yield Figure("event-loop gap while comparing open graphs", "ms", GAP_MS, found["split_gap_ms"])
