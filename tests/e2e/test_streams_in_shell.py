"""Standard streams that are closed or full: the work is done, and who has something to say says why it cannot."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from graphviewer.resources import resource

SAMPLE = resource("samples/digits")

pytestmark = pytest.mark.skipif(os.name != "posix", reason="streams as shells of Unix leave them")
CLOSED = "graphviewer: The output could not be written: standard output is closed."


def shell(redirection: str, *words: object, **environment: str) -> subprocess.CompletedProcess[str]:
    """What becomes of a verb whose streams a shell redirects."""
    command = ["sh", "-c", f'exec "$@" {redirection}', "sh", sys.executable, "-m", "graphviewer", *map(str, words)]
    changed = {**os.environ, **environment}
    return subprocess.run(command, check=False, capture_output=True, text=True, timeout=120, env=changed)


@pytest.mark.parametrize("words", [("info", SAMPLE), ("info", SAMPLE, "--json"), ("--version",), ("freeze", "--help")])
def test_that_a_closed_output_is_said_to_be_closed(words):
    done = shell(">&-", *words)
    assert done.returncode == 2
    assert done.stderr.splitlines() == [CLOSED, "Leave it open, or send it to a file."]


def test_that_a_verb_with_a_closed_output_still_makes_its_file(tmp_path):
    done = shell(">&-", "freeze", SAMPLE, "--output", "net_1/probabilities", "-o", tmp_path / "out.pb")
    assert done.returncode == 2
    assert CLOSED in done.stderr.splitlines()
    assert shell("", "info", tmp_path / "out.pb").returncode == 0


def test_that_a_closed_error_stream_takes_nothing_from_the_output():
    done = shell("2>&-", "info", SAMPLE)
    assert (done.returncode, done.stdout) == (0, shell("", "info", SAMPLE).stdout)


def test_that_no_file_takes_the_place_of_a_closed_stream(tmp_path):
    done = shell("<&- >&- 2>&-", "freeze", SAMPLE, "--output", "net_1/probabilities", "-o", tmp_path / "out.pb")
    assert done.returncode == 2
    assert shell("", "info", tmp_path / "out.pb").returncode == 0


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no device that is always full")
@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("words", [("info", SAMPLE), ("--help",)])
def test_that_a_full_output_is_named(words, unbuffered):
    done = shell(">/dev/full", *words, PYTHONUNBUFFERED=unbuffered)
    assert done.returncode == 2
    assert done.stderr.splitlines()[0] == "graphviewer: The output could not be written: no space left on device."


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no device that is always full")
def test_that_messages_nobody_can_take_do_not_change_the_exit_code():
    assert shell("2>/dev/full", "check", SAMPLE).returncode == shell("", "check", SAMPLE).returncode
    assert shell("2>/dev/full", "info", "absent.pb").returncode == 2
