"""A graph in a git repository: 'git diff' shows what changed, 'git difftool' opens the window."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import numpy as np
import pytest

from graphviewer import protos
from graphviewer.model.making import const_node
from graphviewer.protos import DataType

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="no git on this machine")


def graph(value=1.0, op="Relu"):
    made = protos.GraphDef()
    made.node.add(name="x", op="Placeholder").attr["dtype"].type = DataType.FLOAT
    made.node.append(const_node("net/w", DataType.FLOAT, values=np.full(100, value, np.float32) + np.arange(100) * 0.5))
    made.node.add(name="net/y", op=op, input=["x"])
    return made.SerializeToString()


@pytest.fixture
def repository(tmp_path, monkeypatch):
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_SYSTEM", os.devnull)
    folder = tmp_path / "repository"
    folder.mkdir()

    def git(*words):
        own = ["-c", "user.name=test", "-c", "user.email=test@example.org", "-c", "core.pager=cat"]
        return subprocess.run(["git", *own, *words], cwd=folder, capture_output=True, text=True, check=True).stdout

    git("init", "--quiet")
    (folder / "model.pb").write_bytes(graph())
    (folder / "Scene.meta").write_text("fileFormatVersion: 2\nguid: d708\n")
    (folder / "json.py").write_text("raise SystemExit('a file of the repository was imported')\n")
    git("add", ".")
    git("commit", "--quiet", "-m", "first")
    return folder, git


def graphviewer(folder, *words, text=None):
    return subprocess.run(
        [sys.executable, "-P", "-m", "graphviewer", *words],
        cwd=folder, capture_output=True, text=True, input=text, check=False,
    )  # fmt: skip


def test_that_git_diff_shows_the_nodes_that_changed(repository):
    folder, git = repository
    assert graphviewer(folder, "git-setup", "--yes").returncode == 0
    (folder / "model.pb").write_bytes(graph(value=2.0, op="Relu6"))
    changed = [line for line in git("diff").splitlines() if line[:1] in "+-" and line[:3] not in ("+++", "---")]
    assert sorted(line[:26] for line in changed) == [
        "+    value: float32 [100]:",
        "+net/y = Relu6(x)",
        "-    value: float32 [100]:",
        "-net/y = Relu(x)",
    ]
    assert git("diff", "-U0").split("@@")[2].startswith(" net/w = Const")


def test_that_equal_graphs_written_differently_show_no_difference(repository):
    folder, git = repository
    graphviewer(folder, "git-setup", "--yes")
    made = protos.GraphDef.FromString(graph())
    turned = protos.GraphDef(node=list(reversed(made.node)))
    turned.versions.producer = 27
    (folder / "model.pb").write_bytes(turned.SerializeToString())
    assert [line for line in git("diff").splitlines() if line.startswith("@@")] == []


def test_that_other_files_of_the_same_suffix_are_still_compared(repository):
    folder, git = repository
    graphviewer(folder, "git-setup", "--yes")
    (folder / "Scene.meta").write_text("fileFormatVersion: 2\nguid: e819\n")
    (folder / "noise.pb").write_bytes(b"\x00\xff\xfe" * 5)
    git("add", "--intent-to-add", "noise.pb")
    text = git("diff")
    assert "-guid: d708\n+guid: e819" in text
    assert "15 bytes, sha256:" in text


def test_that_a_repository_is_changed_only_after_asking(repository):
    folder, _ = repository
    before = (folder / ".git" / "config").read_text()
    refused = graphviewer(folder, "git-setup", text="n\n")
    assert refused.returncode != 0
    assert "diff.graphviewer.textconv" in refused.stdout and "*.pb diff=graphviewer" in refused.stdout
    assert (folder / ".git" / "config").read_text() == before
    assert not (folder / ".gitattributes").exists()


def test_that_setup_twice_is_setup_once_and_can_be_undone(repository):
    folder, git = repository
    attributes = folder / ".gitattributes"
    attributes.write_text("*.png binary\n")
    for _ in range(2):
        assert graphviewer(folder, "git-setup", "--yes").returncode == 0
    assert attributes.read_text().splitlines() == [
        "*.png binary", "*.pb diff=graphviewer", "*.pbtxt diff=graphviewer", "*.meta diff=graphviewer",
    ]  # fmt: skip
    assert git("config", "--get-all", "diff.graphviewer.textconv").count("textconv") == 1
    assert graphviewer(folder, "git-setup", "--remove", "--yes").returncode == 0
    assert attributes.read_text() == "*.png binary\n"
    assert "graphviewer" not in (folder / ".git" / "config").read_text()


def test_that_setup_outside_a_repository_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    refused = graphviewer(tmp_path, "git-setup", "--yes")
    assert refused.returncode == 2
    assert "git refuses" in refused.stderr


def test_that_difftool_opens_both_sides(repository, monkeypatch, tmp_path):
    folder, git = repository
    graphviewer(folder, "git-setup", "--yes")
    command = git("config", "difftool.graphviewer.cmd").strip()
    picture = tmp_path / "window.png"
    git("config", "difftool.graphviewer.cmd", command.replace(" open ", f" open --quit --screenshot '{picture}' "))
    (folder / "model.pb").write_bytes(graph(op="Relu6"))
    git("difftool", "--no-prompt", "--tool=graphviewer", "--", "model.pb")
    assert picture.read_bytes().startswith(b"\x89PNG")
