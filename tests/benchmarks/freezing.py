"""Freezing as a whole process, against TensorFlow's own freeze_graph in the same run."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

OUTPUT = "net_1/prob"
TIME_SHARE, MEMORY_SHARE = 1 / 6, 1 / 4
"""Of what TensorFlow takes."""

MEGABYTES = 350

_LARGE = """
import sys
import tensorflow as tf
v1 = tf.compat.v1
v1.disable_eager_execution()
y = v1.placeholder(tf.float32, [None, 1024], "x")
for number in range(64):
    y = y @ v1.get_variable(f"layer_{number}/w", [1024, 1024])
tf.identity(y, "y")
with v1.Session() as session:
    session.run(v1.global_variables_initializer())
    v1.train.Saver().save(session, sys.argv[1])
"""
"""64 layers of 4 MB: a checkpoint of 268 MB."""


class Process(NamedTuple):
    """Wall and CPU seconds, and peak memory in MB, of a process."""

    seconds: float
    cpu_s: float
    peak_mb: float


class Figure(NamedTuple):
    """What was measured, its unit and limit, all runs, and the median of their CPU seconds."""

    measure: str
    unit: str
    limit: float | None
    runs: list[float]
    cpu_s: float | None = None


def measured(*arguments: str, codes: Sequence[int] = (0,)) -> Process:
    """Run a Python process to its end.

    Raises:
        CalledProcessError: another exit code than ``codes``; its last words are on standard error.
    """
    with tempfile.TemporaryFile() as words:
        begin = time.perf_counter()
        process = subprocess.Popen([sys.executable, *arguments], stdout=words, stderr=words)
        _, status, used = os.wait4(process.pid, 0)
        took = time.perf_counter() - begin
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode not in codes:
            words.seek(0)
            sys.stderr.buffer.write(words.read()[-2_000:])
            raise subprocess.CalledProcessError(process.returncode, arguments)
    unit = 1 if sys.platform == "darwin" else 1024
    return Process(took, used.ru_utime + used.ru_stime, used.ru_maxrss * unit / 1e6)


def measure(folder: Path, runs: int) -> Iterator[Figure]:
    """Freeze resnet152 both ways, freeze and rewrite large models.

    Args:
        folder: of the large graphs.
        runs: of each command.
    """
    with tempfile.TemporaryDirectory(prefix="graphviewer-bench-") as made:
        ours = str(Path(made) / "ours.pb")
        yield from _against_tensorflow(folder / "resnet152", ours, runs)
        yield from _large(folder, Path(made), runs)


def _against_tensorflow(model: Path, ours: str, runs: int) -> Iterator[Figure]:
    checkpoint = str(model / "model.ckpt-100")
    theirs = [
        "-m", "tensorflow.python.tools.freeze_graph", f"--input_meta_graph={checkpoint}.meta", "--input_binary=true",
        f"--input_checkpoint={checkpoint}", f"--output_node_names={OUTPUT}", f"--output_graph={ours}.theirs",
    ]  # fmt: skip
    found = [(frozen(f"{checkpoint}.meta", OUTPUT, ours), measured(*theirs)) for _ in range(runs)]
    own, other = [one for one, _ in found], [one for _, one in found]
    yield seconds("freeze of resnet152, whole process", own, None)
    yield seconds("the same by TensorFlow's freeze_graph", other, None)
    yield Figure("part of TensorFlow's time", "x", TIME_SHARE, [a.seconds / b.seconds for a, b in found])
    yield Figure("peak memory of freezing resnet152", "MB", None, [one.peak_mb for one in own])
    yield Figure("part of TensorFlow's memory", "x", MEMORY_SHARE, [a.peak_mb / b.peak_mb for a, b in found])


def _large(folder: Path, made: Path, runs: int) -> Iterator[Figure]:
    subprocess.run([sys.executable, "-c", _LARGE, str(made / "large")], check=True, capture_output=True)
    found = [frozen(str(made / "large.meta"), "y", str(made / "frozen.pb")) for _ in range(runs)]
    yield seconds("freeze of a model of 268 MB, whole process", found, None)
    yield Figure("peak memory of that", "MB", MEGABYTES, [one.peak_mb for one in found])
    clear = ["-m", "graphviewer", "apply", "clear-devices", str(folder / "EfficientNetB7.pb")]
    found = [measured(*clear, "--force", "-o", str(made / "clear.pb")) for _ in range(runs)]
    yield Figure("peak memory of clear-devices, EfficientNetB7", "MB", MEGABYTES, [one.peak_mb for one in found])


def frozen(graph: str, output: str, out: str) -> Process:
    return measured("-m", "graphviewer", "freeze", graph, "--output", output, "--force", "-o", out)


def seconds(measure: str, found: Sequence[Process], limit: float | None) -> Figure:
    return Figure(measure, "s", limit, [one.seconds for one in found], statistics.median(one.cpu_s for one in found))
