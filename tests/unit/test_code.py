"""Chains of operations written down: what is written does the same again."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from graphviewer.cli import main
from graphviewer.export.code import Step, python_snippet, shell_commands
from graphviewer.formats import open_document

GRAPH = """
node { name: "x y" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } } }
node { name: "id" op: "Identity" input: "x y" attr { key: "T" value { type: DT_FLOAT } } }
node { name: "out" op: "Relu" input: "id" attr { key: "T" value { type: DT_FLOAT } } }
node { name: "other" op: "Relu" input: "id" attr { key: "T" value { type: DT_FLOAT } } }
versions { producer: 100 }
"""


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "it's a graph.pbtxt"
    path.write_text(GRAPH)
    return path


def steps(folder: Path) -> list[Step]:
    return [
        Step("extract", {"outputs": ["out"], "inputs": []}, str(folder / "1.meta")),
        Step("remove-training-nodes", {"outputs": ["out"], "inputs": None}, str(folder / "2.pb")),
    ]


def test_that_shell_commands_give_the_same_result(source: Path, tmp_path: Path) -> None:
    text = shell_commands(source, steps(tmp_path))
    for line in text.splitlines():
        words = shlex.split(line)
        assert words[0] == "graphviewer"
        done = CliRunner().invoke(main, words[1:])
        assert done.exit_code == 0, done.output
    assert sorted(open_document(tmp_path / "2.pb").graph.names) == ["out", "x y"]


def test_that_the_python_snippet_gives_the_same_result(source: Path, tmp_path: Path) -> None:
    exec(python_snippet(source, steps(tmp_path)), {})
    assert sorted(open_document(tmp_path / "2.pb").graph.names) == ["out", "x y"]


def test_that_flags_are_written_without_a_value_and_empty_parameters_not_at_all(tmp_path: Path) -> None:
    step = Step("freeze", {"outputs": ["a", "b:1"], "allow_training_mode": True, "saver": "", "rename": None}, "f.pb")
    assert shell_commands(Path("g.pb"), [step]) == (
        "graphviewer apply freeze g.pb --outputs a --outputs b:1 --allow-training-mode -o f.pb"
    )
