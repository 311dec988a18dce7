"""What a comparison says stays short, and is never the same of both sides."""

from __future__ import annotations

import json
import shutil

import numpy as np
import pytest
from checkpoint_files import write_bundle
from cli_graphs import loaded, op, run, write
from diff_graphs import document, node
from json_schema import faults
from test_diff_functions import call, function
from test_diff_values import constant

from graphviewer import protos
from graphviewer.analysis.diff import compare
from graphviewer.analysis.diff.excerpts import common_length, excerpts
from graphviewer.model.making import make_tensor
from graphviewer.protos import DataType
from graphviewer.resources import resource

NOT_COMPARED = "  values of variables were not compared: --values does"


@pytest.mark.parametrize(("old", "new", "same"), [("", "", 0), ("abc", "abd", 2), ("ab", "abc", 2), ("x", "y", 0)])
def test_that_the_common_beginning_is_found(old, new, same):
    assert common_length(old, new) == same
    assert common_length("z" * 1000 + old, "z" * 1000 + new) == 1000 + same


def test_that_long_texts_are_shown_where_they_begin_to_differ():
    old, new = excerpts("a" * 500 + "old", "a" * 500 + "new")
    assert old == f"…{'a' * 20}old" and new == f"…{'a' * 20}new"
    assert excerpts("short", "texts") == ("short", "texts")


def string(value):
    return constant(make_tensor(np.array(value, object), DataType.STRING))


def only(before, after):
    (change,) = compare(before, after).changes
    return change


def test_that_long_bytes_are_told_by_their_number():
    start = b"\n\x8a\x01" + bytes(200)
    change = only(string(start + b"a"), string(start + b"bcd"))
    assert change.reason == "value 204 bytes → 206 bytes"
    assert change.details["difference"]["from_byte"] == 203
    change = only(string(start + b"a"), string(start + b"b"))
    assert change.reason == "value 204 bytes → 204 bytes, from byte 203 on"


def test_that_long_strings_of_letters_are_shown_where_they_begin_to_differ():
    change = only(string(b"same " * 40 + b"here: old"), string(b"same " * 40 + b"here: new"))
    old, _, new = change.reason.removeprefix("value ").partition(" → ")
    assert old.endswith("here: old'") and new.endswith("here: new'") and len(change.reason) < 100


def test_that_short_strings_are_shown_whole():
    assert only(string(b"a: b"), string(b"a: c")).reason == "value 'a: b' → 'a: c'"


def typed(*types):
    return document(node("x", "IdentityN", T=protos.AttrValue(list=protos.AttrValue.ListValue(type=types))))


def test_that_lists_of_types_are_told_by_runs():
    handles = [DataType.RESOURCE] * 12
    change = only(typed(DataType.FLOAT, *handles[:10]), typed(DataType.FLOAT, *handles))
    assert change.reason == "attribute T [float32, resource ×10] → [float32, resource ×12]"


def test_that_long_lists_are_shown_where_they_begin_to_differ():
    both = [DataType.FLOAT, DataType.INT32] * 20
    old, new = only(typed(*both, DataType.HALF), typed(*both, DataType.STRING)).details["attributes"]["T"]
    assert (old, new) == ("[…, float16, … 41 items]", "[…, string, … 41 items]")


def with_arguments(dtype, count):
    made = function("f")
    for number in range(count):
        made.signature.input_arg.add(name=f"a{number}", type=dtype)
    return document(call("f"), functions=[made])


def test_that_many_arguments_that_differ_are_counted_and_the_first_is_told():
    diff = compare(with_arguments(DataType.FLOAT, 30), with_arguments(DataType.HALF, 30))
    (change,) = diff.functions
    assert change.reason == "30 arguments differ, such as a0: float32 → float16; inside: 30 changed"
    assert len(change.details["arguments"]) == 30


def test_that_many_arguments_that_differ_are_all_told_in_full(tmp_path):
    paths = [tmp_path / "old.pb", tmp_path / "new.pb"]
    for path, dtype in zip(paths, (DataType.FLOAT, DataType.HALF), strict=True):
        path.write_bytes(with_arguments(dtype, 30).graph_def.SerializeToString())
    shown, full = (run("diff", *paths, *options).stdout for options in ((), ("--full",)))
    assert "    argument a29: float32 → float16\n" in full and "a29" not in shown


def named(scope):
    made = function("f")
    made.node_def[0].name = f"{scope}/layer/a"
    for name, before in (("b", "a"), ("c", "b"), ("d", "c"), ("e", "d")):
        made.node_def.add(name=f"{scope}/layer/{name}", op="Exp", input=[f"{scope}/layer/{before}:y:0"])
    made.ret["y"] = f"{scope}/layer/e:y:0"
    return document(call("f"), functions=[made])


def test_that_a_renamed_scope_in_a_function_is_told_as_one():
    (change,) = compare(named("functional_1"), named("functional_1_1")).functions
    assert change.reason == "inside: 5 renamed (functional_1/ → functional_1_1/)"


def test_that_a_renamed_scope_of_a_graph_says_what_it_was_called(tmp_path):
    chain = ["a", "b", "c", "d", "e"]
    for scope in ("net", "other"):
        steps = zip(chain[1:], chain, strict=False)
        made = [op(f"{scope}/{one}", "Exp", f"{scope}/{before}", T=DataType.FLOAT) for one, before in steps]
        write(tmp_path / f"{scope}.pb", op(f"{scope}/a", "Placeholder", dtype=DataType.FLOAT), *made)
    told = run("diff", tmp_path / "net.pb", tmp_path / "other.pb").stdout
    assert "✎ other/  5 renamed (net/ → other/)" in told


@pytest.fixture
def trained(tmp_path):
    """Two trainings of one graph, each with a checkpoint of its own."""
    folders = [tmp_path / "one", tmp_path / "two"]
    for value, folder in enumerate(folders):
        folder.mkdir()
        variable = op("v", "VariableV2", dtype=DataType.FLOAT)
        variable.attr["shape"].shape.dim.add(size=2)
        write(folder / "graph.pb", variable)
        write_bundle(folder / "model.ckpt", {"v": np.full(2, value, np.float32)})
    return [folder / "graph.pb" for folder in folders]


def with_checkpoints(*paths):
    names = ("--checkpoint", "--checkpoint-after")
    return [part for name, path in zip(names, paths, strict=False) for part in (name, path.parent / "model.ckpt")]


def test_that_values_that_were_not_compared_are_told_and_count_for_nothing(trained):
    result = run("diff", *trained, *with_checkpoints(*trained))
    assert result.exit_code == 0 and result.stdout.splitlines()[1:] == [NOT_COMPARED]
    assert run("diff", *trained, *with_checkpoints(*trained), "--values").exit_code == 1


def test_that_the_json_says_that_values_were_not_compared(trained):
    data = loaded(run("diff", *trained, *with_checkpoints(*trained), "--json"))
    assert data["values_compared"] is False
    assert faults(data, json.loads(resource("schema/diff-1.json").read_text("utf-8"))) == []


def test_that_nothing_is_said_of_values_that_both_sides_share(trained):
    shared = with_checkpoints(trained[0], trained[0])
    assert NOT_COMPARED not in run("diff", *trained, *shared).stdout
    assert "values_compared" not in loaded(run("diff", *trained, *shared, "--json"))
    shutil.rmtree(trained[1].parent)
    trained[1].parent.symlink_to(trained[0].parent)
    assert NOT_COMPARED not in run("diff", *trained, *with_checkpoints(*trained)).stdout


def test_that_nothing_is_said_of_values_where_a_side_has_no_variables(trained):
    write(trained[1], op("v", "NoOp"))
    assert NOT_COMPARED not in run("diff", *trained, *with_checkpoints(*trained)).stdout
