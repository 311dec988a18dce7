"""Frames, and the worker's side of the conversation."""

from __future__ import annotations

import io
import subprocess
import sys
import tempfile
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphviewer.errors import OperationError
from graphviewer.worker import protocol
from graphviewer.worker.jobs import run_job
from graphviewer.worker.protocol import Decoder, Done, Failed, Hello, Job, Log, Progress, ProtocolError

MESSAGES = [
    Hello(12, "0.1"),
    Job(1, "parse", {"path": "/tmp/ü.pb", "deep": [1, {"a": None}]}),
    Progress(1, 0.5, "reading"),
    Log(1, "warning", "line\nline"),
    Done(1, {"nodes": [3, 2]}),
    Failed(2, "It broke.", "Mend it.", "Traceback"),
]


@given(st.lists(st.integers(1, 40), min_size=1, max_size=30))
def test_that_messages_arrive_whole_however_the_bytes_are_cut(cuts):
    data = b"".join(map(protocol.encode, MESSAGES))
    decoder, found, at, turn = Decoder(), [], 0, 0
    while at < len(data):
        size = cuts[turn % len(cuts)]
        found += decoder.feed(data[at : at + size])
        at, turn = at + size, turn + 1
    assert found == MESSAGES


def test_that_a_stream_gives_its_messages_and_then_none():
    stream = io.BytesIO(b"".join(map(protocol.encode, MESSAGES)))
    assert [protocol.read(stream) for _ in MESSAGES] == MESSAGES
    assert protocol.read(stream) is None


def test_that_a_stream_cut_inside_a_frame_gives_none():
    assert protocol.read(io.BytesIO(protocol.encode(MESSAGES[0])[:-1])) is None


@pytest.mark.parametrize(
    "frame",
    [
        b"\xff\xff\xff\xff",
        b"WARNING: something was printed",
        b"\0\0\0\x02[]",
        b'\0\0\0\x0e{"type":"bye"}',
        b'\0\0\0\x0f{"type":"done"}',
        b"\0\0\0\x03\xff\xfe\xfd",
    ],
)
def test_that_what_is_no_frame_is_refused(frame):
    with pytest.raises(ProtocolError):
        list(Decoder().feed(frame))
    with pytest.raises(ProtocolError):
        protocol.read(io.BytesIO(frame))


def test_that_an_unsendable_result_is_refused_before_it_is_sent():
    with pytest.raises(ProtocolError, match="Done"):
        protocol.encode(Done(1, {"bytes": b"raw"}))


def test_that_an_unknown_job_or_operation_names_the_known_ones():
    with pytest.raises(OperationError, match="parse"):
        run_job("no-such-job", {})
    with pytest.raises(OperationError, match="extract"):
        run_job("operation", {"operation": "no-such-one", "path": "x.pb", "out": "y.pb"})


def converse(jobs: str, *requests: Job) -> tuple[list[protocol.Message], str]:
    """What a worker with these jobs answers, and what it wrote to standard error."""
    code = f"from graphviewer.worker.server import serve\n{jobs}\nserve(lambda: run)"
    command = [sys.executable, "-c", code]
    with (
        tempfile.TemporaryFile() as errors,
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors) as worker,
    ):
        watchdog = threading.Timer(30, worker.kill)
        watchdog.start()
        worker.stdin.write(b"".join(map(protocol.encode, requests)))
        worker.stdin.flush()
        answers = []
        while sum(isinstance(answer, Done | Failed) for answer in answers) < len(requests):
            answers.append(protocol.read(worker.stdout))
            assert answers[-1] is not None, "the worker ended early"
        worker.stdin.close()
        worker.wait()
        watchdog.cancel()
        watchdog.join()
        errors.seek(0)
        return answers, errors.read().decode()


def test_that_prints_of_python_of_the_system_and_of_children_do_not_break_frames():
    jobs = """
import os, subprocess
def run(name, params, progress):
    print("python", "x" * 100_000, flush=True)
    os.write(1, b"system")
    subprocess.run(["sh", "-c", "echo child; cat"], check=True)
    return {"name": name}
"""
    answers, errors = converse(jobs, Job(1, "first"), Job(2, "second"))
    assert [type(answer) for answer in answers] == [Hello, Done, Done]
    assert [answer.result["name"] for answer in answers[1:]] == ["first", "second"]
    assert errors.count("system") == errors.count("child\n") == 2


def test_that_progress_is_throttled_and_never_out_of_range():
    jobs = """
def run(name, params, progress):
    for step in range(-10, 100_000):
        progress(step / 50_000, "step")
    return {}
"""
    answers, _ = converse(jobs, Job(1, "count"))
    reports = [answer for answer in answers if isinstance(answer, Progress)]
    assert 1 <= len(reports) < 50
    assert all(0 <= report.fraction <= 1 for report in reports)
    assert isinstance(answers[-1], Done)


def test_that_every_way_to_fail_is_told_and_the_next_job_runs():
    jobs = """
import logging
from graphviewer.errors import ReadError
def run(name, params, progress):
    if name == "user": raise ReadError("No such file.", "Look elsewhere.")
    if name == "memory": raise MemoryError
    if name == "bug": raise KeyError("x")
    if name == "unsendable": return {"x": b"raw"}
    logging.getLogger("any").warning("careful with %s", name)
    return {}
"""
    names = ["user", "memory", "bug", "unsendable", "good"]
    answers, _ = converse(jobs, *(Job(number, name) for number, name in enumerate(names, 1)))
    ends = {answer.job: answer for answer in answers if isinstance(answer, Done | Failed)}
    assert ends[1] == Failed(1, "No such file.", "Look elsewhere.", kind="ReadError")
    assert "memory" in ends[2].message
    assert "KeyError" in ends[3].message
    assert "Traceback" in ends[3].detail
    assert "cannot be sent" in ends[4].message
    assert ends[5] == Done(5, {})
    assert Log(5, "warning", "careful with good") in answers
