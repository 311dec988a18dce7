"""The worker's side of the conversation: one job after the other, until the window goes away."""

from __future__ import annotations

import logging
import os
import queue
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Mapping
from typing import Any, BinaryIO

import graphviewer
from graphviewer.errors import GraphViewerError
from graphviewer.model.progress import Progress
from graphviewer.worker import protocol

RunJob = Callable[[str, Mapping[str, Any], Progress], Mapping[str, Any]]

_QUIET_SECONDS = 0.1
_BUG_HINT = "This is a fault of graphviewer. The details are beside the job; please report them."


def serve(load: Callable[[], RunJob]) -> None:
    """Say hello, then run jobs until standard input ends. Never returns.

    Args:
        load: imports and gives what runs the jobs; called after the hello, so that the window need not wait for it.
    """
    requests, answers = _claim_streams()
    if hasattr(os, "setsid"):
        os.setsid()  # what jobs start ends together with the worker, and Ctrl+C in the shell reaches the window only
    channel = _Channel(answers)
    waiting: queue.SimpleQueue[protocol.Job] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(requests, waiting), name="listener", daemon=True).start()
    channel.send(protocol.Hello(os.getpid(), graphviewer.__version__))
    logging.getLogger().addHandler(_Forwarder(channel))
    run_job = load()
    while True:
        channel.run(waiting.get(), run_job)


def _claim_streams() -> tuple[BinaryIO, BinaryIO]:
    """The two pipes to the window, moved out of everyone's reach.

    Descriptor 1 is pointed at standard error and 0 at nothing, so that no print of Python, of C++ or of a child process
    breaks a frame, and no child eats a request.
    """
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115 - lives as long as the process
    return requests, answers


def _listen(requests: BinaryIO, waiting: queue.SimpleQueue[protocol.Job]) -> None:
    """Queue what the window asks for; end the process when the window is gone, whatever it is doing."""
    status = 0
    try:
        while (message := protocol.read(requests)) is not None:
            if isinstance(message, protocol.Job):
                waiting.put(message)
    except (protocol.ProtocolError, OSError):
        traceback.print_exc()
        status = 1
    _end(status)


def _end(status: int) -> None:
    """End this process, and what its jobs started, at once."""
    if hasattr(os, "killpg") and os.getpgrp() == os.getpid():
        os.killpg(0, signal.SIGKILL)
    os._exit(status)


class _Channel:
    """Sends messages; a frame is written whole, whichever thread it comes from."""

    def __init__(self, answers: BinaryIO) -> None:
        self._answers = answers
        self._lock = threading.Lock()
        self.job = 0

    def send(self, message: protocol.Message) -> None:
        frame = memoryview(protocol.encode(message))
        try:
            with self._lock:
                while frame:
                    frame = frame[self._answers.write(frame) :]
        except OSError:  # the window is gone
            _end(0)

    def run(self, job: protocol.Job, run_job: RunJob) -> None:
        """Run one job and send how it ended."""
        self.job = job.job
        try:
            result = run_job(job.name, job.params, _Reporter(self, job.job))
            self.send(protocol.Done(job.job, result))
        except GraphViewerError as error:
            self.send(protocol.Failed(job.job, error.message, error.hint, kind=type(error).__name__))
        except MemoryError:
            hint = "Close other programs, or work on a smaller part of the graph."
            self.send(protocol.Failed(job.job, "There was not enough memory for this.", hint, traceback.format_exc()))
        except Exception as error:
            message = f"'{job.name}' stopped with {type(error).__name__}: {error}"
            self.send(protocol.Failed(job.job, message[:1000], _BUG_HINT, traceback.format_exc()))


class _Reporter:
    """Progress of one job: the first report is sent, then no more than ten a second."""

    def __init__(self, channel: _Channel, job: int) -> None:
        self._channel, self._job = channel, job
        self._next = 0.0

    def __call__(self, fraction: float, message: str) -> None:
        now = time.monotonic()
        if now >= self._next:
            self._next = now + _QUIET_SECONDS
            self._channel.send(protocol.Progress(self._job, min(max(fraction, 0.0), 1.0), message))


class _Forwarder(logging.Handler):
    """Warnings of all loggers, sent to the window."""

    def __init__(self, channel: _Channel) -> None:
        super().__init__(logging.WARNING)
        self._channel = channel

    def emit(self, record: logging.LogRecord) -> None:
        self._channel.send(protocol.Log(self._channel.job, record.levelname.lower(), record.getMessage()[:10_000]))
