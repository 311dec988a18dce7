"""--tags, --salvage, --run and the lines of ``variables`` in the shell."""

from __future__ import annotations

import io
import zipfile

import click
import numpy as np
import pytest
from checkpoint_files import write_bundle
from cli_graphs import loaded, nodes, op, run
from cli_graphs import write as write_nodes
from format_files import graph, meta_graph, saved_model, write

from graphviewer.analysis.touches import Touch
from graphviewer.cli import main
from graphviewer.formats import open_document
from graphviewer.protos import DataType
from graphviewer.runtime.permission import NotAllowedError
from graphviewer.worker.jobs import run_job


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
    assert "    assign(session, 'net/w', read('net/w'))" in text
    assert "    # assign(session, 'new/w', read('old/w'))" in text


def test_that_a_graph_without_variables_misses_no_checkpoint(tmp_path):
    path = write_nodes(tmp_path / "frozen.pb", op("x", "Placeholder", dtype=DataType.FLOAT))
    for name in ("a", "b"):
        write_bundle(tmp_path / name, {"w": np.ones(2, np.float32)})
    result = run("variables", path)
    assert (result.exit_code, result.stdout, result.stderr) == (0, "frozen.pb has no variables.\n", "")
    assert loaded(run("variables", path, "--json")) == {"variables": [], "coverage": 1.0}
    assert "no variables" in run("variables", path, "--checkpoint", tmp_path / "a").stdout


@pytest.fixture
def steps(tmp_path):
    """A graph beside two checkpoints of one training, and the words that freeze it."""
    variable = op("w", "VariableV2", dtype=DataType.FLOAT)
    variable.attr["shape"].shape.dim.add(size=2)
    path = write_nodes(tmp_path / "graph.pb", variable, op("y", "Identity", "w", T=DataType.FLOAT))
    for step in (10, 200):
        write_bundle(tmp_path / f"model.ckpt-{step}", {"w": np.full(2, step, np.float32)})
    return "freeze", path, "--output", "y", "--force", "-o", tmp_path / "out.pb"


def test_that_freeze_says_which_of_several_checkpoints_it_took(steps, tmp_path):
    assert run(*steps).stdout.endswith("; values: model.ckpt-200 (newest of 2)\n")
    assert loaded(run(*steps, "--json"))["values"] == {
        "checkpoint": str(tmp_path / "model.ckpt-200"), "chosen": "newest", "of": 2,
    }  # fmt: skip
    (tmp_path / "checkpoint").write_text('model_checkpoint_path: "model.ckpt-10"\n')
    assert "; values: model.ckpt-10 (named by the file checkpoint, of 2)" in run(*steps).stdout
    given = loaded(run(*steps, "--checkpoint", tmp_path / "model.ckpt-200", "--json"))["values"]
    assert (given["chosen"], given["of"]) == ("given", 2)
    assert run(*steps, "--checkpoint", tmp_path / "model.ckpt-200").stdout.endswith("; values: model.ckpt-200\n")


def test_that_freeze_names_the_folder_of_a_checkpoint_that_is_called_as_in_every_saved_model(steps, tmp_path):
    (tmp_path / "other" / "variables").mkdir(parents=True)
    prefix = write_bundle(tmp_path / "other" / "variables" / "variables", {"w": np.ones(2, np.float32)})
    assert run(*steps, "--checkpoint", prefix).stdout.endswith("; values: other/variables/variables\n")


def test_that_freeze_gives_no_reason_for_a_checkpoint_without_rivals(steps, tmp_path):
    (tmp_path / "model.ckpt-10.index").unlink()
    assert run(*steps).stdout.endswith("; values: model.ckpt-200\n")
    assert loaded(run(*steps, "--json"))["values"]["chosen"] == "only"


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


def test_that_stopping_a_proof_says_that_the_result_is_written(steps, tmp_path, monkeypatch):
    def stopped(name, request, progress):
        if name == "verify":
            raise KeyboardInterrupt
        return run_job(name, request, progress)

    monkeypatch.setattr("graphviewer.cli.prove.run_job", stopped)
    result = run(*steps, "--verify")
    assert result.exit_code == 130
    assert result.stderr.endswith(f"Stopped: {tmp_path / 'out.pb'} is written, but not verified.\n")
    assert (tmp_path / "out.pb").is_file()


def test_that_the_hint_about_switches_names_them(tmp_path):
    switch = op("is_training", "Placeholder", dtype=DataType.BOOL)
    made = [switch, op("x", "Placeholder", dtype=DataType.FLOAT)]
    made += [op("y", "Select", "is_training", "x", "x", T=DataType.FLOAT)]
    result = run("outputs", write_nodes(tmp_path / "graph.pb", *made))
    assert result.stderr.startswith("Inference mode fixes is_training for good: 'graphviewer apply inference-mode")


def test_that_a_node_of_both_graphs_is_named_once():
    touch = Touch("table", "InitializeTableFromTextFileV2", "reads files")
    assert NotAllowedError([touch, touch]).message.count("'table'") == 1


def test_that_only_files_that_can_be_opened_are_offered_for_one_that_is_absent(tmp_path):
    path = write_nodes(tmp_path / "model1.pb", op("x", "Placeholder", dtype=DataType.FLOAT))
    for name in ("model.py", "model.pb.txt~", "model2.npy", "model.png"):
        (tmp_path / name).write_bytes(b"\x89PNG\r\n\x1a\n nothing of ours")
    result = run("info", tmp_path / "model.pb")
    assert result.exit_code == 2
    assert result.stderr.splitlines()[-1] == f"Closest: {path.name}."


def test_that_convert_tells_what_it_wrote_as_json(tmp_path):
    path, out = write_nodes(tmp_path / "graph.pb", *nodes()), tmp_path / "out.pbtxt"
    assert loaded(run("convert", path, out, "--json")) == {"output": str(out), "nodes": 7, "bytes": out.stat().st_size}


@pytest.mark.parametrize("words", [["info", "{absent}"], ["info"], ["nothing", "--here"]])
def test_that_trouble_is_json_for_who_asked_for_json(words, tmp_path):
    words = [word.format(absent=tmp_path / "absent.pb") for word in words]
    plain, asked = run(*words), run(*words, "--json")
    assert plain.stdout == ""
    assert (plain.exit_code, asked.exit_code) == (2, 2)
    error = loaded(asked)["error"]
    assert set(error) == {"message", "hint"}
    assert asked.stderr == f"graphviewer: {error['message']}\n{error['hint']}\n"
