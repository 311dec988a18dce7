"""What an error says in the window and in the shell."""

import ast
import re
from pathlib import Path

import pytest

import graphviewer
from graphviewer.errors import DamagedError, GraphViewerError, NoOutputError

FLAG = re.compile(r"(^|[\s('\"])--[a-z]")
SOURCES = Path(graphviewer.__file__).parent


def test_that_a_hint_serves_the_shell_too_where_it_has_no_words_of_its_own():
    assert GraphViewerError("No.", "Do so.").shell == "Do so."
    error = GraphViewerError("No.", "Do so.", shell="Do --so.")
    assert (error.hint, error.shell, str(error)) == ("Do so.", "Do --so.", "No. Do so.")


def test_that_the_shell_is_told_what_the_window_has_a_button_for():
    assert DamagedError("No.", "Copy it.").shell == "Copy it. 'graphviewer convert --salvage' does that."
    assert DamagedError("No.", "Copy it.").hint == "Copy it."
    assert NoOutputError().shell.endswith("--output names one.")


def _hints(source: Path):
    """Each text that an error of this file has for its hint."""
    for node in ast.walk(ast.parse(source.read_text("utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id.endswith("Error"):
            hints = [*node.args[1:2], *(word.value for word in node.keywords if word.arg == "hint")]
            for part in (part for hint in hints for part in ast.walk(hint)):
                if isinstance(part, ast.Constant) and isinstance(part.value, str):
                    yield part.value


@pytest.mark.parametrize(
    "package", ["analysis", "formats", "gui", "layout", "model", "operations", "runtime", "worker"]
)
def test_that_no_hint_of_the_window_names_a_flag(package):
    hints = [(str(source), hint) for source in (SOURCES / package).rglob("*.py") for hint in _hints(source)]
    assert not [(source, hint) for source, hint in hints if FLAG.search(hint)]
