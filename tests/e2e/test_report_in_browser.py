"""The report of 'diff --html', written by the program and opened in a browser."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys

import pytest

from graphviewer import protos

HOSTILE = "</script><script>document.title='broken into'</script>"
BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


def write(path, op, extra):
    graph = protos.GraphDef()
    graph.node.add(name="x", op="Placeholder")
    graph.node.add(name="net/y", op=op, input=["x"])
    for number in range(extra):
        graph.node.add(name=f"{HOSTILE}/{number}", op="NoOp")
    path.write_bytes(graph.SerializeToString())
    return path


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    out = folder / "report.html"
    words = [write(folder / "a.pb", "Relu", 400), write(folder / "b.pb", "Relu6", 0), "--html", out]
    done = subprocess.run(
        [sys.executable, "-m", "graphviewer", "diff", *map(str, words)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1, done.stderr
    assert done.stdout.startswith("report.html: ")
    return out


def test_that_the_report_holds_a_picture_for_each_theme(report):
    assert report.read_text("utf-8").count("data:image/png;base64,iVBOR") == 2


def test_that_a_report_is_not_overwritten_unasked(report):
    before = report.read_bytes()
    words = ["diff", report.parent / "a.pb", report.parent / "b.pb", "--html", report]
    done = subprocess.run(
        [sys.executable, "-m", "graphviewer", *map(str, words)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "exists" in done.stderr and "--force" in done.stderr
    assert report.read_bytes() == before


@pytest.mark.skipif(BROWSER is None, reason="no Chromium on this machine")
def test_that_a_browser_shows_the_table_and_runs_nothing_from_the_file(report, tmp_path):
    words = [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path}"]
    words += ["--virtual-time-budget=3000", "--dump-dom", report.as_uri()]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=180, env={**os.environ})
    page = done.stdout
    assert "<title>a.pb → b.pb</title>" in page
    assert "401 of 401 changes" in page
    assert page.count('class="status status-removed"') == 300  # the first page of rows
    assert re.search(r"<td class=\"name\">&lt;/<wbr>script&gt;&lt;script&gt;document", page)
