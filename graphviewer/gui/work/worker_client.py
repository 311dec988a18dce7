"""The window's side of the background process: a queue of jobs, Cancel at once, and a new worker after a crash."""

from __future__ import annotations

import itertools
import os
import re
import signal
import sys
from collections import deque
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, QProcess, QProcessEnvironment, Signal

import graphviewer
from graphviewer.gui.scratch import Scratch
from graphviewer.worker import protocol

_STDERR_KEPT = 16_384
_LINES_SHOWN = 12
_PATIENCE_MS = 3000


@dataclass(frozen=True, eq=False)
class _Job:
    """A job that waits or runs; ``outputs`` are the files that it makes."""

    message: protocol.Job
    outputs: tuple[Path, ...]

    @property
    def number(self) -> int:
        return self.message.job


class WorkerClient(QObject):
    """Runs jobs in a background process, one after the other.

    Every submitted job ends with exactly one of ``done``, ``failed`` and ``cancelled``, unless the client is closed
    first. Signals are emitted from the event loop, but for ``cancelled``, which ``cancel`` emits itself.
    """

    progress = Signal(int, float, str)  # job, fraction 0..1, what is being done
    done = Signal(int, object)  # job, result: dict
    failed = Signal(int, object)  # job, protocol.Failed
    cancelled = Signal(int)  # job
    logged = Signal(int, str, str)  # job, level, text

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._numbers = itertools.count(1)
        self._waiting: deque[_Job] = deque()
        self._current: _Job | None = None
        self._process: _Process | None = None
        self._closed = False
        self._alive: set[_Process] = set()
        alive = self._alive
        self.destroyed.connect(lambda: _end_all(alive))  # told before the children, the processes, are deleted

    @property
    def process_id(self) -> int:
        """The worker's process number; 0 while there is none."""
        return int(self._process.processId()) if self._process is not None else 0

    @property
    def is_busy(self) -> bool:
        """Whether a job runs or waits."""
        return self._current is not None or bool(self._waiting)

    def start(self) -> None:
        """Start the worker ahead of the first job; call it after the first picture. Harmless when it runs."""
        if self._process is None and not self._closed:
            self._process = _Process(self)
            self._alive.add(self._process)
            self._process.received.connect(self._receive)
            self._process.ended.connect(self._ended)
            self._process.launch()

    def submit(self, name: str, params: Mapping[str, Any], outputs: Iterable[str | Path] = ()) -> int:
        """Queue a job; its number is in every signal about it.

        Args:
            name: a key of ``graphviewer.worker.jobs.JOBS``.
            params: JSON-able.
            outputs: files that the job makes; deleted when it ends early. One that is there already is left alone.
        """
        number = next(self._numbers)
        made = tuple(path for path in map(Path, outputs) if not path.exists())
        self._waiting.append(_Job(protocol.Job(number, name, dict(params)), made))
        self.start()
        self._send_next()
        return number

    def cancel(self, number: int) -> None:
        """Stop a job and return at once: dropped if it waits, else its worker is killed and a new one started.

        A job that has ended is left as it is.
        """
        if self._current is not None and self._current.number == number:
            job, self._current = self._current, None
            self._retire(job)
            self.start()
            self.cancelled.emit(number)
            self._send_next()
            return
        for job in self._waiting:
            if job.number == number:
                self._waiting.remove(job)
                self.cancelled.emit(number)
                return

    def drop(self, number: int) -> None:
        """Forget a job that still waits, without a signal; one that runs is left to end."""
        for job in self._waiting:
            if job.number == number:
                self._waiting.remove(job)
                return

    def close(self) -> None:
        """End the worker and drop all jobs without a signal; when this returns no process is left."""
        self._closed = True
        self._waiting.clear()
        job, self._current = self._current, None
        self._retire(job)
        _end_all(self._alive)

    def _send_next(self) -> None:
        if self._current is None and self._waiting and self._process is not None and self._process.is_ready:
            self._current = self._waiting.popleft()
            self._process.write(protocol.encode(self._current.message))

    def _receive(self, message: object) -> None:
        """Pass a message of the worker on; what it still says about a job that is over is dropped."""
        if isinstance(message, protocol.Hello):
            self._send_next()
            return
        current = self._current
        if current is None or getattr(message, "job", None) != current.number:
            return
        if isinstance(message, protocol.Progress):
            self.progress.emit(message.job, message.fraction, message.message)
        elif isinstance(message, protocol.Log):
            self.logged.emit(message.job, message.level, message.text)
        elif isinstance(message, protocol.Done | protocol.Failed):
            self._current = None
            if isinstance(message, protocol.Done):
                self.done.emit(message.job, dict(message.result))
            else:
                _delete(current.outputs)
                self.failed.emit(message.job, message)
            self._send_next()

    def _ended(self, words: str, detail: str) -> None:
        """The worker is gone, and nobody asked it to go."""
        process, self._process = self._process, None
        if process is None:
            return
        current, self._current = self._current, None
        lost = [current] if current is not None else []
        if not process.is_ready:  # it never came up: trying again for each job would end the same way
            lost += self._waiting
            self._waiting.clear()
        for job in lost:
            process.doomed += job.outputs
        self._bury(process)
        if self._waiting:
            self.start()
        hint = "The window is not affected; try again, or work on a smaller part of the graph."
        for job in lost:
            message = f"The background process {words} during this job."
            self.failed.emit(job.number, protocol.Failed(job.number, message, hint, detail))

    def _retire(self, job: _Job | None) -> None:
        """Kill the worker without waiting for its death; its half-written files go when it is dead."""
        process, self._process = self._process, None
        if process is not None:
            process.received.disconnect(self._receive)
            process.ended.disconnect(self._ended)
            process.doomed = job.outputs if job is not None else ()
            process.finished.connect(lambda: self._bury(process))
            process.kill_all()

    def _bury(self, process: _Process) -> None:
        """Remove what a dead worker left half-written."""
        self._alive.discard(process)
        process.sweep()
        process.deleteLater()


class _Process(QProcess):
    """One worker process: frames out of its bytes, and how it ended in words."""

    received = Signal(object)  # protocol.Message
    ended = Signal(str, str)  # how, the end of standard error

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.is_ready = False
        self.doomed: tuple[Path, ...] = ()
        self._decoder = protocol.Decoder()
        self._errors = b""
        self._broken = ""
        self._scratch = Scratch()
        self.readyReadStandardOutput.connect(self._read)
        self.readyReadStandardError.connect(self._read_errors)
        self.finished.connect(self._finish)
        self.errorOccurred.connect(self._fail_to_start)

    def launch(self) -> None:
        """Start ``python -m graphviewer.worker`` with this very Python and package, temporary files in one folder."""
        environment = QProcessEnvironment.systemEnvironment()
        package = str(Path(graphviewer.__file__).resolve().parent.parent)
        path = [package, *filter(None, [environment.value("PYTHONPATH")])]
        environment.insert("PYTHONPATH", os.pathsep.join(path))
        for variable in ("TMPDIR", "TEMP", "TMP"):
            environment.insert(variable, str(self._scratch.path))
        self.setProcessEnvironment(environment)
        # -P: a file json.py in the folder where the window was started must not be taken for Python's own.
        self.start(sys.executable, ["-P", "-X", "faulthandler", "-m", "graphviewer.worker"])

    def kill_all(self) -> None:
        """Kill the worker, stopped or not, and what its jobs started."""
        number = int(self.processId())
        if number and hasattr(os, "killpg"):
            with suppress(ProcessLookupError, PermissionError):  # not yet the leader of its own group
                os.killpg(number, signal.SIGKILL)
        self.kill()

    def sweep(self) -> None:
        """Remove half-written outputs and the folder of temporary files, once the process is dead."""
        _delete(self.doomed)
        self._scratch.remove()

    def _read(self) -> None:
        try:
            for message in self._decoder.feed(bytes(self.readAllStandardOutput().data())):
                if isinstance(message, protocol.Hello):
                    self.is_ready = True
                self.received.emit(message)
        except protocol.ProtocolError as error:
            self._broken = f"sent what is no message ({error}) and was stopped"
            self.kill_all()

    def _read_errors(self) -> None:
        self._errors = (self._errors + bytes(self.readAllStandardError().data()))[-_STDERR_KEPT:]

    def _finish(self, code: int, status: QProcess.ExitStatus) -> None:
        self._read()
        self._read_errors()
        words = self._broken or how_it_ended(code, status == QProcess.ExitStatus.CrashExit)
        lines = self._errors.decode("utf-8", "replace").strip().splitlines()
        self.ended.emit(words, "\n".join(lines[-_LINES_SHOWN:]))

    def _fail_to_start(self, error: QProcess.ProcessError) -> None:
        if error == QProcess.ProcessError.FailedToStart:
            self.ended.emit(f"could not be started ({self.errorString()})", "")


def _end_all(processes: set[_Process]) -> None:
    """Kill processes, wait for their end, and remove what they left."""
    while processes:
        process = processes.pop()
        process.blockSignals(True)
        process.kill_all()
        process.waitForFinished(_PATIENCE_MS)
        process.sweep()


def how_it_ended(code: int, crashed: bool) -> str:
    """In words: ``was killed (SIGKILL); ...``, ``crashed (SIGSEGV)``, ``stopped with exit code 3``.

    Args:
        code: the exit code; the signal's number where it crashed, on Unix.
        crashed: it was ended by a signal.
    """
    if not crashed:
        return f"stopped with exit code {code}"
    try:
        name = signal.Signals(code).name
    except ValueError:
        return f"crashed (code {code})"
    if name == "SIGKILL":
        return "was killed (SIGKILL), by someone or because memory ran out,"
    return "was ended (SIGTERM)" if name == "SIGTERM" else f"crashed ({name})"


def _delete(outputs: Iterable[Path]) -> None:
    """Remove the files of a job that ended early, and the temporary files that atomic writing keeps beside them."""
    for path in outputs:
        temporary = re.compile(rf"\.{re.escape(path.name[:100])}\.\w{{8}}")
        folder = path.parent
        left = [one for one in folder.iterdir() if temporary.fullmatch(one.name)] if folder.is_dir() else []
        for file in [path, *left]:
            file.unlink(missing_ok=True)
