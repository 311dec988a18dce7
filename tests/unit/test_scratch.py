"""Temporary folders: those of the living stay, those of the dead go, and nothing else is touched."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile

import pytest

from graphviewer.gui.scratch import Scratch, sweep

pytestmark = pytest.mark.skipif(os.name != "posix", reason="folders are locked on Unix only")
MAKE = "from graphviewer.gui.scratch import Scratch; one = Scratch(); "
WAIT = "print(one.path, flush=True); input()"


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def owner(place, before=""):
    """A process that has a folder; its path."""
    environment = {**os.environ, "TMPDIR": str(place)}
    pipe = subprocess.PIPE
    process = subprocess.Popen(
        [sys.executable, "-c", MAKE + before + WAIT],
        stdin=pipe,
        stdout=pipe,
        stderr=subprocess.DEVNULL,
        env=environment,
        text=True,
    )
    return process, process.stdout.readline().strip()


def test_that_a_folder_goes_once_its_owner_was_killed_and_not_before(place):
    process, path = owner(place)
    with process:
        (place / path / "deep").mkdir()
        (place / path / "deep" / "file").write_text("left")
        assert sweep() == 0
        assert os.path.isdir(path)
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert sweep() == 1
    assert not os.path.exists(path)


def test_that_a_folder_goes_with_its_object(place):
    one = Scratch()
    path = one.path
    (path / "file").write_text("text")
    assert sweep() == 0
    one.remove()
    one.remove()
    assert not path.exists()
    path = Scratch().path
    assert not path.exists()


def test_that_a_child_does_not_keep_the_folder_of_its_dead_owner(place):
    child = "import subprocess, sys; subprocess.Popen([sys.executable, '-c', 'input()']); "
    process, path = owner(place, child)
    with process:
        process.kill()
        process.wait()
        assert sweep() == 1  # the child waits for the end of our pipe
    assert not os.path.exists(path)


def test_that_links_other_names_and_files_are_left_alone(place):
    kept = place / "kept"
    kept.mkdir()
    (kept / "file").write_text("text")
    (place / "graphviewer-scratch-link").symlink_to(kept)
    (place / "graphviewer-scratch-file").write_text("text")
    (place / "graphviewer-other").mkdir(mode=0o700)
    (place / "graphviewer-scratch-open").mkdir()
    (place / "graphviewer-scratch-open").chmod(0o755)  # not as Scratch makes them
    dead = place / "graphviewer-scratch-dead"
    dead.mkdir(mode=0o700)
    (dead / "link").symlink_to(kept)
    assert sweep() == 1
    assert (kept / "file").read_text() == "text"
    left = {path.name.removeprefix("graphviewer-") for path in place.iterdir()}
    assert left == {"kept", "scratch-link", "scratch-file", "other", "scratch-open"}
