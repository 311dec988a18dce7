"""What the verbs print: text that fits a terminal, sizes that can be set side by side, hints that can be typed."""

from __future__ import annotations

import sys

import click
import numpy as np
import pytest
from cli_graphs import loaded, nodes, op, run, write
from format_files import graph, meta_graph, saved_model
from format_files import write as write_message

from graphviewer.cli import main
from graphviewer.cli.output import table
from graphviewer.model.making import const_node
from graphviewer.protos import DataType


def test_that_the_list_of_verbs_fits_80_columns_and_cuts_no_sentence(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    lines = run("--help").stdout.splitlines()
    assert max(map(len, lines)) <= 80
    listed = lines[lines.index("Commands:") + 1 :]
    assert len(listed) == len(main.list_commands(click.Context(main)))
    assert all(line.endswith(".") and not line.endswith("...") for line in listed)


@pytest.mark.parametrize("verb", ["freeze", "diff", "convert", "render", "open"])
def test_that_help_is_80_columns_wide_on_wider_terminals_too(monkeypatch, verb):
    monkeypatch.setenv("COLUMNS", "200")
    assert max(map(len, run(verb, "--help").stdout.splitlines())) <= 80


@pytest.fixture
def terminal(monkeypatch):
    def wide(columns):
        monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
        monkeypatch.setenv("COLUMNS", str(columns))

    return wide


ROWS = [("1", "a/" * 25 + "Softmax", "nothing uses it; depends on 100% of the weights, of which there are many")]


def test_that_a_long_reason_stands_below_its_row_on_a_narrow_terminal(terminal, capsys):
    terminal(80)
    table((">", "outputs", "because"), ROWS)
    lines = click.unstyle(capsys.readouterr().out).splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[1].split() == ["1", ROWS[0][1]]
    assert " ".join(line.strip() for line in lines[2:]) == ROWS[0][2]
    assert all(line.startswith("    ") for line in lines[2:])


def test_that_a_reason_stands_beside_its_row_where_there_is_room(terminal, capsys):
    terminal(200)
    table((">", "outputs", "because"), ROWS)
    assert click.unstyle(capsys.readouterr().out).splitlines()[1].split(maxsplit=2) == list(ROWS[0])


def test_that_a_name_longer_than_the_terminal_is_printed_whole(terminal, capsys):
    terminal(40)
    table((">", "outputs", "because"), ROWS)
    assert ROWS[0][1] in capsys.readouterr().out


def test_that_bytes_before_and_after_count_the_same_things(tmp_path):
    path = write_message(tmp_path / "model" / "saved_model.pb", saved_model(meta_graph(graph(3), "serve"))).parent
    meta = loaded(run("apply", "clear-devices", path, "-o", tmp_path / "a.meta", "--json"))["bytes"]
    again = loaded(run("apply", "clear-devices", tmp_path / "a.meta", "-o", tmp_path / "b.meta", "--json"))["bytes"]
    bare = loaded(run("apply", "clear-devices", path, "-o", tmp_path / "a.pb", "--json"))["bytes"]
    assert meta[0] == meta[1] == again[0] == again[1]
    assert bare[0] == bare[1] < meta[0]


def test_that_a_refused_freeze_says_what_to_type(tmp_path):
    f = DataType.FLOAT
    norm = op("bn", "FusedBatchNorm", "x", *["scale"] * 4, T=f)
    norm.attr["is_training"].b = True
    x, scale = nodes()[0], const_node("scale", f, values=[1.0])
    path = write(tmp_path / "training.pb", x, scale, norm, op("y", "Relu", "bn", T=f))
    result = run("freeze", path, "--output", "y", "-o", tmp_path / "out.pb")
    assert result.exit_code == 2
    assert "graphviewer apply inference-mode" in result.stderr
    assert "--allow-training-mode" in result.stderr


def test_that_a_damaged_file_is_not_proved(tmp_path):
    path = write(tmp_path / "g.pb", *nodes())
    result = run("convert", path, tmp_path / "out.pb", "--salvage", "--verify")
    assert result.exit_code == 2
    assert "exclude each other" in result.stderr
    assert not (tmp_path / "out.pb").exists()


def test_that_check_tells_of_nodes_that_compute_as_in_training_though_they_are_no_fault(tmp_path):
    norm = op("bn", "FusedBatchNormV3", "x", "s", "s", "s", "s", T=1, U=1)
    norm.attr["is_training"].b = True
    scale = const_node("s", DataType.FLOAT, values=np.ones(1, np.float32))
    graph = write(tmp_path / "bn.pb", op("x", "Placeholder", dtype=1), scale, norm)
    result = run("check", graph)
    assert result.exit_code == 0 and "no problems found" in result.stdout
    assert "'bn'" in result.stderr and "apply inference-mode" in result.stderr
    found = loaded(run("check", graph, "--json"))
    assert found["problems"] == [] and "as in training" in found["notes"][0]


def test_that_outputs_tells_how_a_switch_is_fixed(tmp_path):
    switch = op("phase", "Placeholder", dtype=10)
    nodes = [op("x", "Placeholder", dtype=1), switch, op("y", "Select", "phase", "x", "x", T=1)]
    result = run("outputs", write(tmp_path / "g.pb", *nodes), "--output", "y")
    assert "a switch such as is_training, which inference mode fixes" in result.stdout
    assert "apply inference-mode" in result.stderr and "--flags" in result.stderr


def test_that_a_diff_names_the_only_node_of_a_scope_that_changed(tmp_path):
    same = [op(f"conv/n{at}", "NoOp") for at in range(3)]
    before = write(tmp_path / "a.pb", op("conv/act", "Relu"), *same)
    after = write(tmp_path / "b.pb", op("conv/act", "Relu6"), *same)
    lines = run("diff", str(before), str(after)).stdout.splitlines()
    assert "~ conv/act  op Relu → Relu6" in lines


def test_that_sizes_say_whether_they_are_of_files_or_of_graphs(tmp_path):
    file = write(tmp_path / "g.pb", *nodes())
    assert "on disk" in run("info", file).stdout
    assert "file of " in run("freeze", file, "--output", "prob", "-o", tmp_path / "a.pb").stdout.partition("→ file")[0]
    model = write_message(tmp_path / "model" / "saved_model.pb", saved_model(meta_graph(graph(3), "serve")))
    made = run("strip", model.parent, "--output", "n2", "-o", tmp_path / "b.pb")
    assert "graph of " in made.stdout and "→ file of " in made.stdout


def test_that_freeze_tells_the_placeholders_that_decide_about_training_mode(tmp_path):
    f = DataType.FLOAT
    x, scale = nodes()[0], const_node("scale", f, values=[1.0])
    training = op("training", "Placeholder", dtype=DataType.BOOL)
    sides = [op(name, "FusedBatchNorm", end, *["scale"] * 4, T=f) for name, end in (("a", "s:1"), ("b", "s"))]
    sides[0].attr["is_training"].b, sides[1].attr["is_training"].b = True, False
    switch, merge = op("s", "Switch", "x", "training", T=f), op("y", "Merge", "b", "a", T=f, N=2)
    path = write(tmp_path / "both.pb", x, scale, training, switch, *sides, merge)
    found = loaded(run("freeze", path, "--output", "y", "-o", tmp_path / "out.pb", "--json"))
    assert found["switches"] == ["training"]
    found = loaded(run("freeze", path, "--output", "b", "-o", tmp_path / "eval.pb", "--json"))
    assert "switches" not in found
