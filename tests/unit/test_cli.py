"""Verbs, JSON shapes, exit codes and streams of the contract."""

from __future__ import annotations

import numpy as np
import pytest
from checkpoint_files import write_bundle
from cli_graphs import loaded, nodes, op, run, write
from click.testing import CliRunner

from graphviewer.cli import main
from graphviewer.protos import DataType

CHANGE_KEYS = {"status", "before", "after", "reason", "match", "details"}
RESULT_KEYS = {"output", "nodes", "bytes", "outputs", "inputs", "frozen", "warnings", "rewrites"}


@pytest.fixture
def graph(tmp_path):
    return write(tmp_path / "graph.pb", *nodes())


@pytest.fixture
def other(tmp_path):
    return write(tmp_path / "other.pb", *nodes("Tanh"))


def test_that_info_prints_the_contracts_facts(graph):
    result = run("info", graph, "--json")
    assert result.exit_code == 0
    facts = loaded(result)
    assert list(facts) == [
        "kind", "nodes", "edges", "functions", "ops", "variables", "parameters", "bytes", "producer", "min_consumer",
        "signatures", "problems",
    ]  # fmt: skip
    assert (facts["kind"], facts["nodes"], facts["edges"], facts["functions"]) == ("graphdef", 7, 6, 0)
    assert facts["ops"]["Const"] == 2
    assert facts["producer"] == 1000
    assert isinstance(facts["problems"], int)


def test_that_info_is_a_compact_card_without_json(graph):
    result = run("info", graph)
    assert result.exit_code == 0
    assert "graph.pb" in result.stdout
    assert "7 nodes, 6 edges" in result.stdout
    assert len(result.stdout.splitlines()) < 10


def test_that_check_tells_clean_from_faulty_by_its_exit_code(graph, tmp_path):
    clean = run("check", graph, "--json")
    assert (clean.exit_code, loaded(clean)) == (0, {"problems": []})
    broken = write(tmp_path / "broken.pb", op("a", "Relu", "nowhere", T=DataType.FLOAT))
    faulty = run("check", broken, "--json")
    assert faulty.exit_code == 1
    (problem,) = [one for one in loaded(faulty)["problems"] if one["node"] == "a"]
    assert set(problem) == {"node", "function", "kind", "severity", "reason", "hint"}
    text = run("check", broken)
    assert text.exit_code == 1
    assert "nowhere" in text.stdout


@pytest.mark.parametrize("verb", [("info",), ("check",), ("outputs",), ("roles",), ("open",)])
def test_that_an_absent_file_is_trouble_with_a_sentence_and_nothing_on_standard_output(verb, tmp_path):
    result = run(*verb, tmp_path / "absent.pb")
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.startswith("graphviewer: ")
    assert "Traceback" not in result.stderr


def test_that_an_unreadable_file_is_trouble_for_check_and_diff(graph, tmp_path):
    page = tmp_path / "page.pb"
    page.write_text("<!DOCTYPE html><html></html>")
    assert run("check", page).exit_code == 2
    assert run("diff", graph, page).exit_code == 2


def test_that_outputs_are_ranked_with_reasons(graph):
    found = loaded(run("outputs", graph, "--json"))
    assert set(found) == {"outputs", "inputs", "default"}
    assert set(found["outputs"][0]) == {"name", "score", "reason"}
    assert found["default"] == [found["outputs"][0]["name"]]
    assert [one["name"] for one in found["inputs"]] == ["x"]
    assert len(found["outputs"]) <= 10
    assert "prob" in run("outputs", graph).stdout


def test_that_roles_are_given_for_every_node(graph):
    result = run("roles", graph, "--output", "prob", "--json")
    found = loaded(result)
    assert found["outputs"] == ["prob"]
    assert set(found["roles"]) == {"x", "w", "net/mul", "net/act", "prob", "loss", "axis"}
    assert set(found["roles"]["x"]) == {"role", "reason", "markers"}
    assert found["roles"]["net/act"]["role"] == "inference"
    assert found["roles"]["loss"]["role"] != "inference"


def test_that_roles_are_counted_in_text_and_listed_on_request(graph):
    counted = run("roles", graph)
    assert "inference" in counted.stdout
    assert "was taken" in counted.stderr
    assert "net/mul" in run("roles", graph, "--output", "prob", "--all").stdout


def test_that_outputs_may_be_repeated_or_separated_by_commas(graph):
    once = loaded(run("roles", graph, "--output", "prob,net/act:0", "--json"))
    twice = loaded(run("roles", graph, "--output", "prob", "--output", "net/act", "--json"))
    assert once["outputs"] == twice["outputs"] == ["prob", "net/act"]


def test_that_an_unknown_output_is_trouble_and_near_names_are_told(graph):
    result = run("roles", graph, "--output", "net/acts")
    assert result.exit_code == 2
    assert "net/act" in result.stderr


def test_that_freeze_says_what_it_did(graph, tmp_path):
    out = tmp_path / "frozen.pb"
    result = run("freeze", graph, "--output", "prob", "--input", "x", "-o", out, "--json")
    assert result.exit_code == 0, result.stderr
    found = loaded(result)
    assert set(found) == RESULT_KEYS
    assert found["output"] == str(out)
    assert found["nodes"] == [7, 5]
    assert found["bytes"] == [graph.stat().st_size, out.stat().st_size]
    assert found["outputs"] == ["prob"]
    assert found["inputs"] == ["x"]
    assert found["frozen"] == 0


def test_that_freeze_takes_the_best_suggestion_and_says_so(graph, tmp_path):
    result = run("freeze", graph, "-o", tmp_path / "frozen.pb")
    assert result.exit_code == 0
    assert "No output was named" in result.stderr
    assert result.stdout.startswith("frozen.pb: 7 → ")
    assert len(result.stdout.splitlines()) == 1


@pytest.fixture
def trained(tmp_path):
    """A graph of two variables, one of them not in the checkpoint beside it."""
    ref = DataType.FLOAT
    made = [op("x", "Placeholder", dtype=ref), op("w", "VariableV2", dtype=ref), op("slot", "VariableV2", dtype=ref)]
    for node in made[1:]:
        node.attr["shape"].shape.dim.add(size=2)
    made += [op("w/read", "Identity", "w", T=ref), op("y", "Mul", "x", "w/read", T=ref)]
    write_bundle(tmp_path / "model.ckpt", {"w": np.ones(2, np.float32), "other": np.ones(3, np.float32)})
    return write(tmp_path / "trained.pb", *made), tmp_path / "model.ckpt"


def test_that_variables_are_compared_with_the_checkpoint(trained):
    graph, checkpoint = trained
    found = loaded(run("variables", graph, "--checkpoint", checkpoint, "--json"))
    assert set(found) == {"variables", "coverage"}
    assert found["coverage"] == 0.5
    assert found["variables"][0] == {
        "name": "w", "key": "w", "shape": [2], "dtype": "float32", "status": "both", "nearest": [],
    }  # fmt: skip
    assert [row["status"] for row in found["variables"]] == ["both", "only_graph", "only_checkpoint"]
    text = run("variables", graph, "--checkpoint", checkpoint).stdout
    assert text.startswith("1 only in the graph") and "1 stays uninitialised" in text
    assert "slot" in text


def test_that_freezing_counts_the_variables_that_became_constants(trained, tmp_path):
    graph, checkpoint = trained
    words = ("freeze", graph, "--checkpoint", checkpoint, "--output", "y")
    assert loaded(run(*words, "-o", tmp_path / "a.pb", "--json"))["frozen"] == 1
    assert "1 variable became a constant" in run(*words, "-o", tmp_path / "b.pb").stdout
    missing = run("freeze", graph, "--checkpoint", checkpoint, "--output", "slot", "-o", tmp_path / "c.pb")
    assert missing.exit_code == 2
    assert "slot" in missing.stderr
    assert not (tmp_path / "c.pb").exists()


def test_that_strip_has_both_methods(graph, tmp_path):
    extracted = loaded(run("strip", graph, "--output", "prob", "-o", tmp_path / "a.pb", "--json"))
    assert set(extracted) == RESULT_KEYS
    assert extracted["nodes"] == [7, 5]
    removed = run("strip", graph, "--method", "remove-training-nodes", "-o", tmp_path / "b.pb", "--json")
    assert loaded(removed)["nodes"] == [7, 7]
    assert run("strip", graph, "--method", "nothing", "-o", tmp_path / "c.pb").exit_code == 2


def test_that_apply_offers_every_operation_with_its_options(graph, tmp_path):
    from graphviewer.operations.registry import operations

    listing = run("apply", "--help")
    assert all(name in listing.stdout for name in operations())
    for keys in (("--outputs", "--inputs"), ("--output", "--input")):
        out = tmp_path / f"{keys[0]}.pb"
        result = run("apply", "extract", graph, keys[0], "prob", keys[1], "net/mul", "-o", out, "--json")
        assert result.exit_code == 0, result.stderr
        assert set(loaded(result)) == RESULT_KEYS
        assert loaded(result)["nodes"] == [7, 3]
        assert loaded(result)["rewrites"][0]["node"] == "net/mul"
    wrong = run("apply", "extrakt", graph, "-o", tmp_path / "x.pb")
    assert wrong.exit_code == 2
    assert "extract" in wrong.stderr


def test_that_writing_refuses_to_overwrite_without_force(graph, other):
    before = other.read_bytes()
    refused = run("strip", graph, "--output", "prob", "-o", other)
    assert refused.exit_code == 2
    assert "--force" in refused.stderr
    assert other.read_bytes() == before
    assert run("convert", graph, other).exit_code == 2
    assert run("strip", graph, "--output", "prob", "-o", other, "--force").exit_code == 0
    assert other.read_bytes() != before


def test_that_the_file_that_is_read_is_never_written(graph):
    before = graph.read_bytes()
    assert run("strip", graph, "--output", "prob", "-o", graph, "--force").exit_code == 2
    assert graph.read_bytes() == before


def test_that_a_result_file_is_required(graph):
    result = run("strip", graph, "--output", "prob")
    assert result.exit_code == 2
    assert "-o" in result.stderr


def test_that_convert_writes_text_and_back(graph, tmp_path):
    text, back = tmp_path / "graph.pbtxt", tmp_path / "back.pb"
    assert run("convert", graph, text).exit_code == 0
    assert b'name: "prob"' in text.read_bytes()
    assert run("convert", text, back).exit_code == 0
    assert run("diff", graph, back).exit_code == 0
    assert run("convert", graph, tmp_path / "graph.xyz").exit_code == 2


def test_that_diff_tells_same_from_different_by_its_exit_code(graph, other):
    same = run("diff", graph, graph, "--json")
    assert same.exit_code == 0
    assert loaded(same)["changes"] == []
    different = run("diff", graph, other, "--json")
    assert different.exit_code == 1
    found = loaded(different)
    assert list(found) == ["version", "before", "after", "summary", "changes"]
    assert found["version"] == 1
    assert found["before"] == {"path": str(graph), "nodes": 7}
    assert found["summary"]["changed"] == 1
    assert set(found["changes"][0]) == CHANGE_KEYS
    assert found["changes"][0]["details"]["op"] == ["Relu", "Tanh"]


@pytest.mark.parametrize("option", [(), ("--stat",), ("--full",)])
def test_that_every_form_of_diff_shows_signs_and_counts(graph, other, option):
    result = run("diff", graph, other, *option)
    assert result.exit_code == 1
    assert "graph.pb → other.pb: 7 → 7 nodes" in result.stdout
    assert "~ 1 changed" in result.stdout
    assert ("Relu → Tanh" in result.stdout) is (option != ("--stat",))
    assert "the same" in run("diff", graph, graph, *option).stdout


def test_that_diff_rolls_many_changes_up_into_their_scopes(tmp_path):
    names = [f"gradients/part{part}/grad{number}" for part in range(9) for number in range(9)]
    before = write(tmp_path / "before.pb", op("x", "Placeholder"), *(op(name, "NoOp") for name in names))
    after = write(tmp_path / "after.pb", op("x", "Placeholder"))
    result = run("diff", before, after)
    assert "− gradients/  81 removed" in result.stdout
    assert len(result.stdout.splitlines()) == 3
    assert len(run("diff", before, after, "--full").stdout.splitlines()) == 83


def test_that_names_cannot_steer_the_terminal(tmp_path):
    hostile = "evil\x1b[2J\u202e\nname"
    before = write(tmp_path / "before.pb", op(hostile, "Placeholder"), op("y", "Relu", hostile))
    after = write(tmp_path / "after.pb", op("y", "Relu"))
    for args in (
        ("diff", before, after),
        ("diff", before, after, "--full"),
        ("diff", before, after, "--json"),
        ("check", before),
        ("outputs", before),
        ("roles", before, "--output", "y", "--all"),
        ("roles", before, "--output", "\x1b]0;pwned\x07"),
    ):
        result = run(*args)
        assert not set(result.stdout + result.stderr) & {"\x1b", "\u202e", "\x07"}, args
    assert "evil\\x1b[2J\\u202e\\nname" in run("diff", before, after, "--full").stdout


def test_that_colour_is_left_out_where_no_color_is_set(graph, other, monkeypatch):
    args = ["diff", str(graph), str(other)]
    assert "\x1b[" in CliRunner().invoke(main, args, color=True).stdout
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[" not in CliRunner().invoke(main, args, color=True).stdout


def test_that_an_unknown_verb_is_trouble_and_the_nearest_is_named():
    result = run("frezee", "x")
    assert result.exit_code == 2
    assert "'freeze'" in result.stderr


def test_that_a_wrong_option_is_trouble_in_one_sentence(graph):
    result = run("info", graph, "--jsn")
    assert result.exit_code == 2
    assert "--jsn" in result.stderr
    assert "info --help" in result.stderr


def test_that_a_fault_of_the_program_is_trouble_not_a_difference(graph, monkeypatch):
    def broken(*_args, **_options):
        raise RuntimeError("boom")

    monkeypatch.setattr("graphviewer.formats.open_document", broken)
    result = run("diff", graph, graph)
    assert result.exit_code == 2
    assert "RuntimeError: boom" in result.stderr
    assert "fault in graphviewer" in result.stderr


def test_that_help_of_every_verb_is_there():
    listing = run("--help").stdout
    for verb in main.list_commands(None):
        assert f"  {verb} " in listing
        assert run(verb, "--help").exit_code == 0
    assert run("--version").exit_code == 0
