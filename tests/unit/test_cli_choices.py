"""--tags, --salvage, --run and the lines of ``variables`` in the shell."""

from __future__ import annotations

import io
import zipfile

import click
import numpy as np
import pytest
from checkpoint_files import write_bundle
from cli_graphs import loaded, op, run
from cli_graphs import write as write_nodes
from format_files import graph, meta_graph, saved_model, write

from graphviewer.cli import main
from graphviewer.formats import open_document
from graphviewer.protos import DataType


@pytest.fixture
def two(tmp_path):
    """A SavedModel with a graph of 3 nodes to serve and one of 5 to train."""
    model = saved_model(meta_graph(graph(3), "serve"), meta_graph(graph(5), "train"))
    write(tmp_path / "model" / "saved_model.pb", model)
    return tmp_path / "model"


def test_that_tags_choose_the_graph_for_every_verb(two, tmp_path):
    assert loaded(run("info", two, "--json"))["nodes"] == 8
    assert loaded(run("info", two, "--tags", "train", "--json"))["nodes"] == 5
    assert "2 graphs: serve | train" in run("info", two).stdout
    assert run("check", two, "--tags", "train").exit_code == 0
    assert loaded(run("outputs", two, "--tags", "train", "--json"))["outputs"][0]["name"] == "n4"
    assert set(loaded(run("roles", two, "--tags", "train", "--json"))["roles"]) == {"x", "n1", "n2", "n3", "n4"}
    assert run("convert", two, tmp_path / "train.pb", "--tags", "train").exit_code == 0
    assert len(open_document(tmp_path / "train.pb").graph) == 5
    stripped = run("strip", two, "--tags", "train", "--output", "n4", "-o", tmp_path / "s.pb", "--json")
    assert loaded(stripped)["nodes"] == [5, 5]


def test_that_diff_compares_two_graphs_of_one_file(two):
    same = run("diff", two, two, "--json")
    assert same.exit_code == 0 and loaded(same)["before"]["nodes"] == 3
    both = loaded(run("diff", two, two, "--tags", "train", "--json"))
    assert (both["before"]["nodes"], both["after"]["nodes"], both["summary"]["unchanged"]) == (5, 5, 5)
    apart = run("diff", two, two, "--tags", "serve", "--tags-after", "train", "--json")
    assert apart.exit_code == 1
    assert (loaded(apart)["before"]["nodes"], loaded(apart)["after"]["nodes"]) == (3, 5)
    assert run("diff", two, two, "--tags-after", "gpu").exit_code == 2


def test_that_a_node_that_is_pinned_twice_is_refused(two):
    refused = run("diff", two, two, "--pin", "n1=n1", "--pin", "n1=n2")
    assert refused.exit_code == 2
    assert "'n1' of the first graph is pinned twice: to 'n1' and to 'n2'." in refused.stderr
    assert run("diff", two, two, "--pin", "n1=n1", "--pin", "n1=n1").exit_code == 0


@pytest.fixture
def variable(tmp_path):
    """A graph with one variable, and two checkpoints elsewhere."""
    write_nodes(tmp_path / "graph.pb", op("w", "VariableV2", dtype=DataType.FLOAT), op("y", "Identity", "w"))
    (tmp_path / "runs").mkdir()
    for number in (1, 2):
        write_bundle(tmp_path / "runs" / f"model-{number}", {"w": np.array([1, number], "f4")})
    return tmp_path / "graph.pb", tmp_path / "runs" / "model-1", tmp_path / "runs" / "model-2"


def test_that_diff_takes_the_values_of_the_checkpoints_that_are_named(variable):
    path, first, second = variable
    same = run("diff", path, path, "--values", "--checkpoint", first, "--json")
    assert same.exit_code == 0 and loaded(same)["summary"]["unchanged"] == 1
    apart = run("diff", path, path, "--values", "--checkpoint", first, "--checkpoint-after", second, "--json")
    assert apart.exit_code == 1
    assert loaded(apart)["changes"][0]["details"]["difference"]["differing"] == 1


def test_that_a_checkpoint_that_is_named_leaves_the_other_side_a_checkpoint(variable):
    path, first, second = variable
    found = run("diff", path, second, "--values", "--checkpoint", first, "--json")
    assert found.exit_code == 1
    assert loaded(found)["changes"][0]["details"]["difference"]["differing"] == 1


def test_that_tags_that_are_not_there_are_refused_with_those_that_are(two):
    result = run("check", two, "--tags", "gpu,serve")
    assert result.exit_code == 2
    assert "There are: serve; train." in result.stderr


def test_that_a_damaged_file_offers_its_complete_part_and_convert_takes_it(tmp_path):
    path = write(tmp_path / "cut.pb", graph(6))
    path.write_bytes(path.read_bytes()[:-80])
    refused = run("info", path)
    assert refused.exit_code == 2
    assert "convert --salvage" in refused.stderr
    rescued = run("convert", path, tmp_path / "rescued.pb", "--salvage")
    assert rescued.exit_code == 0
    assert "opened in part" in rescued.stderr
    assert 0 < len(open_document(tmp_path / "rescued.pb").graph) < 6


def test_that_a_keras_file_is_not_run_unasked(tmp_path):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name in ("metadata.json", "config.json", "model.weights.h5"):
            archive.writestr(name, "{}")
    path = tmp_path / "model.keras"
    path.write_bytes(buffer.getvalue())
    result = run("convert", path, tmp_path / "out.pb")
    assert result.exit_code == 2
    assert "runs code" in result.stderr
    assert "--run" in result.stderr
    assert not (tmp_path / "out.pb").exists()
    assert "convert --run" in run("info", path).stderr


def test_that_variables_end_in_lines_to_paste(tmp_path):
    made = []
    for name in ("net/w", "new/w"):
        node = op(name, "VariableV2", dtype=DataType.FLOAT)
        node.attr["shape"].shape.dim.add(size=2)
        made.append(node)
    path = write_nodes(tmp_path / "graph.pb", *made)
    ones = np.ones(2, np.float32)
    write_bundle(tmp_path / "model.ckpt", {"net/w": ones, "old/w": ones})
    text = run("variables", path, "--checkpoint", tmp_path / "model.ckpt").stdout
    assert "50% of the graph's variables" in text
    assert "'new/' in the graph is 'old/' in the checkpoint" in text
    assert "    'net/w': variables['net/w']," in text
    assert "saver.restore(session, " in text


def test_that_the_variables_of_a_checkpoint_alone_are_listed(tmp_path):
    write_bundle(tmp_path / "model.ckpt", {"net/w": np.ones((2, 3), np.float32)})
    text = run("variables", tmp_path / "model.ckpt").stdout
    assert "1 variable in model.ckpt" in text
    assert "float32 [2, 3]" in text


@pytest.mark.parametrize("verb", ["run", "verify"])
def test_that_numbers_out_of_range_are_refused_before_the_work(verb, tmp_path):
    paths = [str(tmp_path / name) for name in ("a.pb", "b.pb")][: 1 if verb == "run" else 2]
    result = run(verb, *paths, "--seed", "-1")
    assert (result.exit_code, result.stderr.splitlines()[0]) == (
        2,
        "graphviewer: Invalid value for '--seed': -1 is not in the range x>=0.",
    )


def test_that_every_numeric_option_of_every_verb_has_a_least_value():
    verbs = [main.get_command(click.Context(main), name) for name in main.list_commands(click.Context(main))]
    numeric = [option for verb in verbs for option in verb.params if isinstance(option.type, click.types.IntParamType)]
    assert numeric
    assert all(isinstance(option.type, click.IntRange) and option.type.min is not None for option in numeric)


@pytest.mark.parametrize(
    "words",
    [("",), ("info", ""), ("diff", "a.pb", ""), ("freeze", "a.pb", "-o", ""), ("freeze", "a.pb", "--checkpoint", "")],
)
def test_that_an_empty_path_is_said_to_be_empty(words):
    result = run(*words)
    assert result.exit_code == 2
    assert result.stderr.splitlines()[0].endswith("The path is empty.")
