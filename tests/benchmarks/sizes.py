"""Time and peak memory of opening against the size of the file, from 1 MB to 2.3 GB; the files are made on the spot.

They are graphs of 1,000 nodes, every tenth a constant with an equal share of the bytes, and sparse: they take no disk.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from graphviewer import protos
from graphviewer.formats.wire import header
from graphviewer.protos import DataType

SIZES = (1, 8, 60, 100, 357, 1_000, 2_300)
"""Megabytes."""

SECONDS, MEGABYTES = 0.2, 150
_NODES, _CONSTANTS = 1_000, 100

_PROBE = """
import json, sys, time
from graphviewer.formats import open_document
begin = time.perf_counter()
document = open_document(sys.argv[1], alone=True)
took = time.perf_counter() - begin
assert len(document.graph) == int(sys.argv[2])
with open("/proc/self/status") as file:
    peak = next(int(line.split()[1]) for line in file if line.startswith("VmHWM"))
print(json.dumps({"seconds": took, "peak_mb": peak / 1024}))
"""


def write_graph(path: Path, size: int) -> None:
    """Write a GraphDef of ``size`` bytes, nearly all of them in constants."""
    share = size // _CONSTANTS // 4 * 4
    with path.open("wb") as file:
        for number in range(_NODES):
            if number % (_NODES // _CONSTANTS):
                node = protos.NodeDef(name=f"layer_{number}/relu", op="Relu", input=[f"layer_{number - 1}/relu"])
                if number % (_NODES // _CONSTANTS) == 1:
                    node.input[0] = f"layer_{number - 1}/weights"
                node.attr["T"].type = DataType.FLOAT
                raw = node.SerializeToString()
                file.write(header(1, len(raw)) + raw)
            else:
                file.write(_constant(f"layer_{number}/weights", share))
                file.seek(share, 1)
        file.write(protos.GraphDef(versions={"producer": 1_000}).SerializeToString())


def _constant(name: str, length: int) -> bytes:
    """The bytes of a float32 Const up to where its content of ``length`` bytes begins."""
    tensor = protos.TensorProto(dtype=DataType.FLOAT)
    tensor.tensor_shape.dim.add(size=length // 4)
    inner = tensor.SerializeToString() + header(4, length)
    value = header(8, len(inner) + length) + inner
    entry = header(1, 5) + b"value" + header(2, len(value) + length) + value
    node = protos.NodeDef(name=name, op="Const")
    node.attr["dtype"].type = DataType.FLOAT
    body = node.SerializeToString() + header(5, len(entry) + length) + entry
    return header(1, len(body) + length) + body


def measure(runs: int) -> Iterator[tuple[int, list[float], list[float]]]:
    """Size in MB, seconds to open, and peak memory of the process in MB, each process a fresh one."""
    with tempfile.TemporaryDirectory(prefix="graphviewer-sizes-") as folder:
        for size in SIZES:
            path = Path(folder) / f"{size}.pb"
            write_graph(path, size * 1_000_000)
            command = [sys.executable, "-c", _PROBE, str(path), str(_NODES)]
            found = [
                json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
                for _ in range(runs)
            ]
            path.unlink()
            yield size, [one["seconds"] for one in found], [one["peak_mb"] for one in found]


def main() -> None:
    """Print the table alone."""
    for size, seconds, peaks in measure(3):
        print(f"{size:5} MB  {statistics.median(seconds):6.3f} s  {statistics.median(peaks):6.0f} MB")


if __name__ == "__main__":
    main()
