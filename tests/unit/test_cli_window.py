"""Verbs that draw, as far as they go without drawing."""

from __future__ import annotations

import sys
import types

import pytest
from cli_graphs import nodes, run, write


@pytest.fixture
def graph(tmp_path):
    return write(tmp_path / "graph.pb", *nodes())


@pytest.fixture
def other(tmp_path):
    return write(tmp_path / "other.pb", *nodes("Tanh"))


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        (["{graph}"], {"path": "{graph}"}),
        (["open", "{graph}", "--diff", "{other}"], {"path": "{graph}", "diff": "{other}"}),
        ([], {"path": None}),
        (["--timings", "--quit", "{graph}"], {"path": "{graph}", "timings": True, "quit_after": True}),
        (["{graph}", "--tags", "serve,gpu"], {"path": "{graph}", "tags": ("serve", "gpu")}),
        (["{graph}", "--screenshot", "{graph}.png"], {"path": "{graph}", "screenshot": "{graph}.png"}),
    ],
)
def test_that_a_file_without_a_verb_is_opened(graph, other, monkeypatch, args, expected):
    called = []
    app = types.ModuleType("graphviewer.gui.app")
    app.run = lambda path, **options: called.append({"path": path, **options}) or 0
    monkeypatch.setitem(sys.modules, "graphviewer.gui.app", app)
    fill = {"{graph}": str(graph), "{other}": str(other), "{graph}.png": f"{graph}.png"}
    result = run(*(fill.get(arg, arg) for arg in args))
    assert result.exit_code == 0, result.stderr
    wanted = {"diff": None, "checkpoint": None, "tags": None, "timings": False, "quit_after": False, "screenshot": None}
    wanted |= {key: fill.get(value, value) if isinstance(value, str) else value for key, value in expected.items()}
    assert {
        key: str(value) if key in ("path", "diff", "screenshot") and value else value
        for key, value in called[0].items()
    } == wanted


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--overlay", "diff"), "other file"),
        (("--size", "big"), "1600x1000"),
        (("--expand", "nett"), "net"),
        (("--output", "nowhere"), "nowhere"),
    ],
)
def test_that_render_says_what_it_cannot_draw(graph, tmp_path, words, says):
    result = run("render", graph, *words, "-o", tmp_path / "out.png")
    assert result.exit_code == 2
    assert says in result.stderr
    assert not (tmp_path / "out.png").exists()
