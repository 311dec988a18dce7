"""What 'diff' and 'textconv' say of two exports of one model, and of files of one name."""

from __future__ import annotations

import json

import pytest
from cli_graphs import loaded, op, run
from diff_graphs import document, node
from json_schema import faults
from test_diff_functions import call, exported, function

from graphviewer.resources import resource


@pytest.fixture
def exports(tmp_path):
    """Two exports of one model, whose generated names differ."""
    paths = []
    for at in (2287, 2847):
        path = tmp_path / str(at) / "model.pb"
        path.parent.mkdir()
        library = [exported(at, f"g_{at}"), function(f"g_{at}")]
        path.write_bytes(document(call(f"__inference_f_{at}"), functions=library).graph_def.SerializeToString())
        paths.append(path)
    return paths


@pytest.mark.parametrize("options", [(), ("--full",), ("--stat",)])
def test_that_generated_names_are_a_note_and_no_change(exports, options):
    result = run("diff", *exports, *options)
    assert result.exit_code == 0
    assert result.stdout.splitlines() == [
        "2287/model.pb and 2847/model.pb: the same, 1 node",
        "  only generated names of functions differ: 2 functions",
    ]


def test_that_generated_names_are_in_the_json(exports):
    result = run("diff", *exports, "--json")
    data = loaded(result)
    schema = json.loads(resource("schema/diff-1.json").read_text("utf-8"))
    assert result.exit_code == 0 and faults(data, schema) == []
    assert data["changes"] == [] and "functions" not in data
    assert data["function_names"] == {"__inference_f_2287": "__inference_f_2847", "g_2287": "g_2847"}


def test_that_textconv_gives_equal_text_for_both_exports(exports):
    first, second = (run("textconv", path).stdout for path in exports)
    assert first == second and "function __inference_f\n" in first


def test_that_a_function_that_differs_is_told_once_and_not_at_its_callers(exports):
    changed = function("g_2847", "Tanh")
    library = [exported(2847, "g_2847"), changed]
    exports[1].write_bytes(document(call("__inference_f_2847"), functions=library).graph_def.SerializeToString())
    result = run("diff", *exports, "--full")
    assert result.exit_code == 1
    assert result.stdout.splitlines() == [
        "2287/model.pb and 2847/model.pb: the same 1 node, but functions differ",
        "functions: ~ 1 changed",
        "  ~ g_2847  inside: 1 changed",
        "    ~ first  op Relu → Tanh",
    ]


def test_that_files_of_one_name_are_told_apart_where_they_differ(exports):
    exports[1].write_bytes(document(op("x", "NoOp"), node("y", "NoOp")).graph_def.SerializeToString())
    assert run("diff", *exports).stdout.startswith("2287/model.pb → 2847/model.pb: 1 → 2 nodes\n")
    assert run("diff", exports[0], exports[0]).stdout.startswith("model.pb (before) and model.pb (after): the same")
