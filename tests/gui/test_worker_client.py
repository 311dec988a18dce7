"""The background process as the window sees it: it may die, hang or be cancelled; the window lives."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from graphviewer import protos
from graphviewer.gui.work.worker_client import WorkerClient, how_it_ended
from tests.gui.conftest import WAIT

NODES = 150_000
SECONDS = WAIT / 1000

needs_signals = pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="this system cannot stop a process")


@pytest.fixture
def client(qapp):
    client = WorkerClient()
    yield client
    client.close()


@pytest.fixture(scope="module")
def text_graph(tmp_path_factory) -> Path:
    """A text graph that takes the worker a while to read and to write."""
    path = tmp_path_factory.mktemp("graph") / "chain.pbtxt"
    nodes = [f'node {{ name: "n{i}" op: "Identity" input: "n{max(i - 1, 0)}" }}\n' for i in range(NODES)]
    path.write_text('node { name: "n0" op: "NoOp" }\n' + "".join(nodes[1:]) + "versions { producer: 1 }\n")
    return path


@pytest.fixture
def small_graph(tmp_path) -> Path:
    path = tmp_path / "small.pbtxt"
    path.write_text('node { name: "a" op: "NoOp" } versions { producer: 1 }')
    return path


class Heard:
    """Everything that a client said, in order."""

    def __init__(self, client: WorkerClient) -> None:
        self.events: list[tuple] = []
        client.progress.connect(lambda job, fraction, message: self.events.append(("progress", job, fraction)))
        client.done.connect(lambda job, result: self.events.append(("done", job, result)))
        client.failed.connect(lambda job, failure: self.events.append(("failed", job, failure)))
        client.cancelled.connect(lambda job: self.events.append(("cancelled", job)))

    def end_of(self, job: int) -> tuple | None:
        ends = [event for event in self.events if event[0] != "progress" and event[1] == job]
        assert len(ends) <= 1, f"job {job} ended more than once: {ends}"
        return ends[0] if ends else None


def parse(client: WorkerClient, source: Path, target: Path) -> int:
    return client.submit("parse", {"path": str(source), "out": str(target)}, outputs=[target])


def stop_at_first_progress(client: WorkerClient, qtbot, job: int) -> int:
    """Stop the worker with SIGSTOP as soon as it reports progress of ``job``; its process number."""
    with qtbot.waitSignal(client.progress, timeout=WAIT, check_params_cb=lambda number, *_: number == job):
        pass
    process = client.process_id
    os.kill(process, signal.SIGSTOP)
    return process


def is_alive(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def wait_until_dead(process: int, seconds: float = SECONDS) -> bool:
    end = time.monotonic() + seconds
    while is_alive(process) and time.monotonic() < end:
        time.sleep(0.02)
    return not is_alive(process)


def test_that_jobs_run_in_order_and_end_once(client, qtbot, small_graph, tmp_path):
    heard = Heard(client)
    jobs = [parse(client, small_graph, tmp_path / f"{i}.pb") for i in range(3)]
    qtbot.waitUntil(lambda: not client.is_busy, timeout=WAIT)
    assert [event[1] for event in heard.events if event[0] == "done"] == jobs
    assert all(heard.end_of(job)[2]["nodes"] == 1 for job in jobs)
    assert all((tmp_path / f"{i}.pb").exists() for i in range(3))


def test_that_an_error_of_a_job_arrives_with_its_hint_and_the_worker_lives_on(client, qtbot, small_graph, tmp_path):
    heard = Heard(client)
    bad = parse(client, tmp_path / "absent.pb", tmp_path / "out.pb")
    good = parse(client, small_graph, tmp_path / "good.pb")
    qtbot.waitUntil(lambda: not client.is_busy, timeout=WAIT)
    kind, _, failure = heard.end_of(bad)
    assert kind == "failed"
    assert "absent.pb" in failure.message
    assert not failure.detail
    assert heard.end_of(good)[0] == "done"


def test_that_a_fault_of_the_program_is_said_with_its_traceback(client, qtbot):
    with qtbot.waitSignal(client.failed, timeout=WAIT) as ended:
        client.submit("parse", {"no_such_parameter": 1})
    failure = ended.args[1]
    assert "TypeError" in failure.message
    assert "Traceback" in failure.detail


@needs_signals
def test_that_killing_the_worker_in_the_middle_fails_the_job_and_the_next_one_works(
    client, qtbot, text_graph, small_graph, tmp_path
):
    heard = Heard(client)
    out = tmp_path / "session"
    out.mkdir()
    killed = parse(client, text_graph, out / "killed.pb")
    following = parse(client, small_graph, tmp_path / "next.pb")
    os.kill(stop_at_first_progress(client, qtbot, killed), signal.SIGKILL)
    qtbot.waitUntil(lambda: not client.is_busy, timeout=WAIT)
    kind, _, failure = heard.end_of(killed)
    assert kind == "failed"
    assert "SIGKILL" in failure.message
    assert heard.end_of(following)[0] == "done"
    assert list(out.iterdir()) == []


@needs_signals
def test_that_cancel_returns_at_once_though_the_worker_is_stopped(client, qtbot, text_graph, small_graph, tmp_path):
    heard = Heard(client)
    out = tmp_path / "session"
    out.mkdir()
    job = parse(client, text_graph, out / "cancelled.pb")
    following = parse(client, small_graph, tmp_path / "next.pb")
    process = stop_at_first_progress(client, qtbot, job)
    start = time.monotonic()
    client.cancel(job)
    assert time.monotonic() - start < 2.5  # a wait for a worker that does not answer takes 3 s
    assert heard.end_of(job) == ("cancelled", job)
    assert wait_until_dead(process)
    qtbot.waitUntil(lambda: not client.is_busy, timeout=WAIT)
    assert heard.end_of(following)[0] == "done"
    assert list(out.iterdir()) == []


@needs_signals
def test_that_half_written_files_of_a_cancelled_job_go_and_older_ones_stay(client, qtbot, text_graph, tmp_path):
    old, new = tmp_path / "old.pb", tmp_path / "new.pb"
    old.write_bytes(b"old")
    job = client.submit("parse", {"path": str(text_graph), "out": str(new)}, outputs=[old, new])
    stop_at_first_progress(client, qtbot, job)
    new.write_bytes(b"half")
    temporary = tmp_path / ".new.pb.abcd1234"
    temporary.write_bytes(b"half")
    client.cancel(job)
    qtbot.waitUntil(lambda: not new.exists(), timeout=WAIT)
    assert not temporary.exists()
    assert old.read_bytes() == b"old"


@needs_signals
def test_that_what_a_job_started_ends_with_it(client, qtbot, text_graph, tmp_path):
    """A text graph of this size is read by protoc in a process of its own."""
    job = parse(client, text_graph, tmp_path / "out.pb")
    qtbot.waitUntil(lambda: len(group_of(client.process_id)) > 1, timeout=WAIT)
    group = group_of(client.process_id)
    client.cancel(job)
    assert all(wait_until_dead(process) for process in group)


def group_of(leader: int) -> list[int]:
    """The processes of a process group."""
    return [int(entry.name) for entry in Path("/proc").glob("[1-9]*") if leader and in_group(entry, leader)]


def in_group(entry: Path, leader: int) -> bool:
    try:
        return int((entry / "stat").read_text().rpartition(")")[2].split()[2]) == leader
    except OSError:
        return False


def test_that_a_waiting_job_is_dropped_without_disturbing_the_running_one(client, qtbot, small_graph, tmp_path):
    heard = Heard(client)
    first = parse(client, small_graph, tmp_path / "first.pb")
    second = parse(client, small_graph, tmp_path / "second.pb")
    client.cancel(second)
    assert heard.end_of(second) == ("cancelled", second)
    qtbot.waitUntil(lambda: not client.is_busy, timeout=WAIT)
    assert heard.end_of(first)[0] == "done"
    assert not (tmp_path / "second.pb").exists()


def test_that_cancelling_a_job_that_has_ended_does_nothing(client, qtbot, small_graph, tmp_path):
    heard = Heard(client)
    job = parse(client, small_graph, tmp_path / "done.pb")
    qtbot.waitUntil(lambda: not client.is_busy, timeout=WAIT)
    process = client.process_id
    client.cancel(job)
    assert heard.end_of(job)[0] == "done"
    assert client.process_id == process
    assert (tmp_path / "done.pb").exists()


def test_that_a_worker_that_dies_while_idle_is_replaced_for_the_next_job(client, qtbot, small_graph, tmp_path):
    heard = Heard(client)
    client.start()
    first = client.process_id
    os.kill(first, signal.SIGTERM)
    qtbot.waitUntil(lambda: client.process_id == 0, timeout=WAIT)
    job = parse(client, small_graph, tmp_path / "out.pb")
    qtbot.waitUntil(lambda: not client.is_busy, timeout=WAIT)
    assert heard.end_of(job)[0] == "done"


def test_that_a_worker_that_cannot_start_fails_the_jobs_in_words(client, qtbot, monkeypatch, small_graph, tmp_path):
    monkeypatch.setattr(sys, "executable", str(tmp_path / "no-python"))
    heard = Heard(client)
    jobs = [parse(client, small_graph, tmp_path / f"{i}.pb") for i in range(2)]
    qtbot.waitUntil(lambda: not client.is_busy, timeout=WAIT)
    assert all(heard.end_of(job)[0] == "failed" for job in jobs)
    assert "could not be started" in heard.end_of(jobs[0])[2].message


@needs_signals
def test_that_closing_leaves_no_process_and_no_file(qapp, qtbot, text_graph, tmp_path):
    client = WorkerClient()
    heard = Heard(client)
    out = tmp_path / "session"
    out.mkdir()
    job = parse(client, text_graph, out / "out.pb")
    process = stop_at_first_progress(client, qtbot, job)
    client.close()
    assert wait_until_dead(process)
    assert heard.end_of(job) is None
    assert list(out.iterdir()) == []
    client.submit("parse", {})
    assert client.process_id == 0


@needs_signals
def test_that_deleting_the_client_without_closing_it_leaves_no_process(qapp, qtbot, text_graph, tmp_path):
    import shiboken6

    client = WorkerClient()
    process = stop_at_first_progress(client, qtbot, parse(client, text_graph, tmp_path / "out.pb"))
    shiboken6.delete(client)
    assert wait_until_dead(process)


@needs_signals
def test_that_the_worker_ends_when_the_window_is_killed(text_graph, tmp_path):
    code = f"""
from PySide6.QtCore import QCoreApplication
from graphviewer.gui.work.worker_client import WorkerClient
app = QCoreApplication([])
client = WorkerClient()
client.progress.connect(lambda *_: print(client.process_id, flush=True))
client.submit("parse", {{"path": {str(text_graph)!r}, "out": {str(tmp_path / "out.pb")!r}}})
app.exec()
"""
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as window:
        worker = int(window.stdout.readline())
        assert is_alive(worker)
        window.kill()
    assert wait_until_dead(worker)


@pytest.mark.parametrize(
    ("code", "crashed", "words"),
    [(3, False, "exit code 3"), (9, True, "killed"), (11, True, "SIGSEGV"), (15, True, "SIGTERM"), (999, True, "999")],
)
def test_that_the_end_of_a_process_is_told_in_words(code, crashed, words):
    assert words in how_it_ended(code, crashed)


def test_that_results_of_an_operation_open_as_a_version_with_provenance(client, qtbot, tmp_path):
    graph = protos.GraphDef()
    graph.versions.producer = 1
    for name, inputs in (("x", []), ("y", ["x"]), ("z", ["y"])):
        node = graph.node.add(name=name, op="Identity" if inputs else "Placeholder", input=inputs)
        node.attr["dtype" if not inputs else "T"].type = protos.DataType.FLOAT
    source, out = tmp_path / "graph.pb", tmp_path / "result.meta"
    source.write_bytes(graph.SerializeToString())
    request = {"operation": "extract", "path": str(source), "out": str(out), "parameters": {"outputs": ["y"]}}
    with qtbot.waitSignal(client.done, timeout=WAIT) as ended:
        client.submit("operation", request, outputs=[out, out.with_suffix(".provenance.json")])
    result = ended.args[1]
    assert result["nodes"] == [3, 2]
    assert out.with_suffix(".provenance.json").exists()
