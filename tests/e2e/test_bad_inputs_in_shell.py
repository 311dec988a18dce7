"""Inputs that must not hurt, given to the verbs: what each says, with which exit code, and what it leaves alone."""

from __future__ import annotations

import errno
import os
import struct
import zipfile

import numpy as np
import pytest

from graphviewer import protos
from graphviewer.formats import open_document
from graphviewer.model.making import const_node
from graphviewer.protos import DataType
from tests.unit.checkpoint_files import write_bundle
from tests.unit.cli_graphs import loaded, op, run, write
from tests.unit.format_files import graph, meta_graph

F = DataType.FLOAT
ONES = np.ones(2, np.float32)


def x():
    return op("x", "Placeholder", dtype=F)


def relu(name, *inputs):
    return op(name, "Relu", *inputs, T=F)


def shaped(node, *sizes):
    for size in sizes:
        node.attr["shape"].shape.dim.add(size=size)
    return node


def constant(name, dtype, content=b"", *sizes):
    node = op(name, "Const", dtype=dtype)
    tensor = node.attr["value"].tensor
    tensor.dtype, tensor.tensor_content = dtype, content
    for size in sizes:
        tensor.tensor_shape.dim.add(size=size)
    return node


def beside(name):
    node = relu(name, "x")
    node.attr["_class"].list.s.append(b"loc:@gone")
    return node


MARKED = {
    "an input that is absent": ("dangling", "bad", [relu("bad", "gone")]),
    "two nodes of one name": ("duplicate", "bad", [relu("bad", "x"), op("bad", "Elu", "x", T=F)]),
    "a cycle without NextIteration": ("cycle", "bad", [relu("bad", "b"), relu("b", "bad")]),
    "a port that the op does not have": ("bad-port", "bad", [relu("bad", "x:3")]),
    "a node without op": ("no-op", "bad", [op("bad", "", "x")]),
    "a node without name": ("no-name", "", [relu("", "x")]),
    "an op that TensorFlow does not know": ("unknown-op", "bad", [op("bad", "MyOp", "x")]),
    "a name beyond ASCII": ("bad-name", "знак", [relu("знак", "x")]),
    "a constant with too few bytes": ("const", "bad", [constant("bad", F, b"abc", 4)]),
    "colocation with an absent node": ("colocation", "bad", [beside("bad")]),
}
IN_THE_WAY = (
    "an input that is absent",
    "two nodes of one name",
    "a cycle without NextIteration",
    "a port that the op does not have",
    "a node without op",
    "a constant with too few bytes",
)


@pytest.mark.parametrize("what", MARKED)
def test_that_a_fault_is_found_by_check_and_stops_nothing_that_does_not_need_the_node(tmp_path, what):
    kind, name, nodes = MARKED[what]
    path = write(tmp_path / "graph.pb", x(), relu("good", "x"), *nodes)
    checked = run("check", path, "--json")
    assert checked.exit_code == 1
    assert (kind, name) in [(one["kind"], one["node"]) for one in loaded(checked)["problems"]]
    info = loaded(run("info", path, "--json"))
    assert (info["nodes"], info["problems"]) == (2 + len(nodes), len(loaded(checked)["problems"]))
    for verb in ("outputs", "roles"):
        assert run(verb, path).exit_code == 0
    out = tmp_path / "out.pb"
    for verb in ("strip", "freeze"):
        assert run(verb, path, "--output", "good", "-o", out, "--force").exit_code == 0
        assert open_document(out).graph.names == ["x", "good"]
    assert run("diff", path, out).exit_code == 1


@pytest.mark.parametrize("what", IN_THE_WAY)
@pytest.mark.parametrize("verb", ["strip", "freeze"])
def test_that_an_operation_that_needs_the_node_is_refused_and_names_it(tmp_path, what, verb):
    path = write(tmp_path / "graph.pb", x(), *MARKED[what][2], relu("out", "bad"))
    refused = run(verb, path, "--output", "out", "-o", tmp_path / "out.pb")
    assert refused.exit_code == 2
    assert "'bad'" in refused.stderr
    assert not (tmp_path / "out.pb").exists()


def test_that_an_unknown_op_is_frozen_stripped_and_compared(tmp_path):
    path = write(tmp_path / "graph.pb", x(), op("bad", "MyOp", "x"), relu("y", "bad"))
    for verb in ("strip", "freeze"):
        assert run(verb, path, "--output", "y", "-o", tmp_path / f"{verb}.pb").exit_code == 0
        assert run("diff", path, tmp_path / f"{verb}.pb").exit_code == 0


def test_that_stripping_drops_a_colocation_with_an_absent_node(tmp_path):
    path = write(tmp_path / "graph.pb", x(), beside("y"))
    assert run("strip", path, "--output", "y", "-o", tmp_path / "out.pb").exit_code == 0
    assert run("check", tmp_path / "out.pb").exit_code == 0


def archive(path):
    with zipfile.ZipFile(path, "w") as made:
        made.writestr("readme.txt", "no model")
    return path.read_bytes()


ONNX = b"\x08\x07\x12\x07pytorch" + b"\x3a\x80\x10" + b"\x0a\x05input" * 300
FOREIGN = {
    "zero bytes": (b"", "is empty (0 bytes)"),
    "a graph without nodes": (protos.GraphDef(versions={"producer": 9}).SerializeToString(), "a graph without nodes"),
    "a Git LFS pointer": (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n", "a Git LFS pointer"),
    "HTML": (b"<!DOCTYPE html><html></html>", "a web page"),
    "JSON": (b'{"format": "layers-model"}', "a JSON file"),
    "ONNX": (ONNX, "an ONNX model"),
    "tflite": (struct.pack("<I", 28) + b"TFL3" + bytes(40), "a TensorFlow Lite model"),
    "Caffe": (b'name: "net"\nlayer {\n  name: "data"\n}\n', "a Caffe network"),
    "Unity": (b"fileFormatVersion: 2\nguid: 0\n", "a Unity .meta file"),
}


@pytest.mark.parametrize("what", FOREIGN)
def test_that_what_is_no_graph_is_called_what_it_is(tmp_path, what):
    content, words = FOREIGN[what]
    (tmp_path / "graph.pb").write_bytes(content)
    for verb in ("info", "check"):
        refused = run(verb, tmp_path / "graph.pb")
        assert (refused.exit_code, refused.stdout) == (2, "")
        assert words in refused.stderr


def test_that_a_zip_is_called_one(tmp_path):
    archive(tmp_path / "graph.pb")
    assert "is a zip archive" in run("info", tmp_path / "graph.pb").stderr


def test_that_a_cut_node_is_told_with_its_byte_and_the_complete_ones_can_be_had(tmp_path):
    path = write(tmp_path / "graph.pb", x(), relu("a", "x"), relu("b", "a"))
    path.write_bytes(path.read_bytes()[:-20])
    refused = run("check", path)
    assert refused.exit_code == 2
    assert "at byte 54" in refused.stderr and "its 2 complete nodes" in refused.stderr
    assert run("convert", path, tmp_path / "part.pb", "--salvage").exit_code == 0
    assert open_document(tmp_path / "part.pb").graph.names == ["x", "a"]


def test_that_broken_text_is_told_with_line_and_column(tmp_path):
    (tmp_path / "graph.pbtxt").write_text('node {\n  name: "a"\n  op: }\n')
    refused = run("check", tmp_path / "graph.pbtxt")
    assert refused.exit_code == 2
    assert "line 3, column 7" in refused.stderr


@pytest.mark.parametrize(
    ("name", "message", "kind"),
    [
        ("graph.pb", meta_graph(), "metagraph"),
        ("saved_model.pb", graph(), "graphdef"),
        ("graph.pbtxt", graph(), "graphdef"),
    ],
)
def test_that_a_file_called_otherwise_opens_as_what_it_is(tmp_path, name, message, kind):
    (tmp_path / name).write_bytes(message.SerializeToString())
    assert loaded(run("info", tmp_path / name, "--json"))["kind"] == kind


def test_that_text_called_pb_opens_as_text(tmp_path):
    (tmp_path / "graph.pb").write_text('node { name: "a" op: "NoOp" }')
    assert loaded(run("info", tmp_path / "graph.pb", "--json"))["kind"] == "pbtxt"


def test_that_a_repeated_value_of_16_gib_is_never_made(tmp_path):
    big = constant("big", F, b"", 1 << 32)
    big.attr["value"].tensor.float_val.append(0.5)
    path = write(tmp_path / "graph.pb", x(), big, op("y", "Mul", "x", "big", T=F))
    assert run("check", path).exit_code == 0
    assert "4,294,967,296 parameters" in run("info", path).stdout
    assert run("freeze", path, "--output", "y", "-o", tmp_path / "out.pb").exit_code == 0
    assert run("convert", path, tmp_path / "out.pbtxt").exit_code == 0
    assert run("diff", path, tmp_path / "out.pbtxt").exit_code == 0
    assert (tmp_path / "out.pb").stat().st_size < 1_000


VALUES = {
    DataType.HALF: np.float16(0.5).tobytes(),
    DataType.BFLOAT16: b"\x00\x3f",
    DataType.QINT8: b"\x05",
    DataType.BOOL: b"\1",
    DataType.COMPLEX64: np.complex64(1 + 2j).tobytes(),
}


@pytest.mark.parametrize("dtype", VALUES)
def test_that_values_of_rare_dtypes_are_sound_and_kept(tmp_path, dtype):
    path = write(tmp_path / "graph.pb", constant("c", dtype, VALUES[dtype], 1), op("y", "Identity", "c", T=dtype))
    assert run("check", path).exit_code == 0
    assert run("convert", path, tmp_path / "out.pbtxt").exit_code == 0
    kept = open_document(tmp_path / "out.pbtxt").graph_def.node[0].attr["value"].tensor
    assert kept == open_document(path).graph_def.node[0].attr["value"].tensor


@pytest.mark.parametrize("dtype", [DataType.VARIANT, DataType.RESOURCE])
def test_that_constants_without_values_pass_through(tmp_path, dtype):
    path = write(tmp_path / "graph.pb", x(), constant("c", dtype), relu("y", "x"))
    assert run("info", path).exit_code == 0
    assert run("strip", path, "--output", "y", "-o", tmp_path / "out.pb").exit_code == 0


def test_that_a_chain_of_20000_nodes_passes_every_verb(tmp_path):
    chain = [x(), *(relu(f"n{at}", f"n{at - 1}" if at > 1 else "x") for at in range(1, 20_000))]
    path, out = write(tmp_path / "graph.pb", *chain), tmp_path / "out.pb"
    for verb in ("info", "check", "outputs", "roles"):
        assert run(verb, path).exit_code == 0
    assert run("strip", path, "--output", "n19999", "-o", out).exit_code == 0
    assert run("freeze", path, "--output", "n19999", "-o", out, "--force").exit_code == 0
    assert run("diff", path, out).exit_code == 0
    assert len(open_document(out).graph) == 20_000


def network(folder):
    variables = [shaped(op(f"net/{name}", "VariableV2", dtype=F), 2) for name in "wb"]
    path = folder / "graph.pb"
    return write(path, x(), *variables, op("m", "Mul", "x", "net/w", T=F), op("y", "Add", "m", "net/b", T=F))


def freeze(folder, values):
    write_bundle(folder / "values", values)
    out = folder / "out.pb"
    refused = run("freeze", network(folder), "--checkpoint", folder / "values", "--output", "y", "-o", out)
    assert refused.exit_code == 2
    assert not out.exists()
    return refused.stderr


def test_that_all_missing_keys_are_listed_with_the_nearest(tmp_path):
    lines = freeze(tmp_path, {"model/w": ONES}).splitlines()
    assert [line.split() for line in lines if line.startswith("  net/")] == [
        ["net/w", "net/w", "model/w"],
        ["net/b", "net/b", "none"],
    ]


def test_that_all_values_of_another_shape_or_dtype_are_listed(tmp_path):
    said = freeze(tmp_path, {"net/w": np.ones(3, np.float32), "net/b": np.ones(2, np.int64)})
    assert "float32 [3] (key 'net/w')" in said
    assert "int64 [2] (key 'net/b')" in said


def remove_data(folder):
    next(folder.glob("*.data-*")).unlink()


def remove_index(folder):
    next(folder.glob("*.index")).unlink()


def cut_data(folder):
    data = next(folder.glob("*.data-*"))
    data.write_bytes(data.read_bytes()[:-6])


def flip_a_bit(folder):
    index = next(folder.glob("*.index"))
    raw = bytearray(index.read_bytes())
    raw[5] ^= 4
    index.write_bytes(raw)


DAMAGE = {
    remove_data: (1, "values.data-00000-of-00001 is missing"),
    remove_index: (2, "its index values.index is missing"),
    cut_data: (1, "values.data-00000-of-00001 is cut short"),
    flip_a_bit: (1, "values.index is damaged"),
}


@pytest.mark.parametrize("damage", DAMAGE, ids=lambda damage: damage.__name__)
def test_that_a_damaged_checkpoint_is_told_with_its_file_and_freezes_nothing(tmp_path, damage):
    code, words = DAMAGE[damage]
    path = network(tmp_path)
    prefix = write_bundle(tmp_path / "values", {"net/w": ONES, "net/b": ONES})
    damage(tmp_path)
    checked = run("check", prefix)
    assert checked.exit_code == code
    assert words in checked.stdout + checked.stderr
    refused = run("freeze", path, "--checkpoint", prefix, "--output", "y", "-o", tmp_path / "out.pb")
    assert refused.exit_code == 2
    assert words.partition(" ")[0] in refused.stderr or "values.index" in refused.stderr
    assert not (tmp_path / "out.pb").exists()


def small(folder):
    nodes = [
        x(),
        relu("net/conv", "x"),
        op("concat/(concat)", "Relu", "net/conv", T=F),
        op("init", "NoOp", "^net/conv"),
    ]
    nodes += [op("v", "VariableV2", dtype=F), op("step", "Assign", "v", "x", T=F), op("save/SaveV2", "SaveV2", "x")]
    nodes += [const_node("one", F, values=np.float32(1)), relu("still", "one")]
    return write(folder / "graph.pb", *nodes)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("net/conv:0", "net/conv"),
        ("^net/conv", "net/conv"),
        ("/net/conv", "net/conv"),
        ("net/conv:0:0", "net/conv"),
        ("NET/Conv", "net/conv"),
        ("concat/(concat)", "concat/(concat)"),
    ],
)
def test_that_usual_spellings_of_an_output_mean_their_node(tmp_path, text, name):
    assert run("strip", small(tmp_path), "--output", text, "-o", tmp_path / "out.pb").exit_code == 0
    assert open_document(tmp_path / "out.pb").graph.names[-1] == name


@pytest.mark.parametrize(
    ("output", "words"),
    [
        ("nett/conv", "Closest: net/conv"),
        ("init", "gives no value"),
        ("step", "changes a variable"),
        ("save/SaveV2", "saving and restoring"),
    ],
)
def test_that_what_cannot_be_an_output_is_refused_with_the_reason(tmp_path, output, words):
    refused = run("strip", small(tmp_path), "--output", output, "-o", tmp_path / "out.pb")
    assert refused.exit_code == 2
    assert words in refused.stderr


def test_that_what_is_odd_about_ends_is_a_warning(tmp_path):
    path = small(tmp_path)
    out = tmp_path / "out.pb"
    done = run("strip", path, "--output", "still", "-o", out)
    assert done.exit_code == 0
    assert "'still' depends on no input" in done.stderr
    done = run("strip", path, "--output", "net/conv", "--input", "still", "-o", out, "--force")
    assert done.exit_code == 0
    assert "does not depend on the input 'still'" in done.stderr


def test_that_a_full_disk_leaves_the_old_file(tmp_path, monkeypatch):
    path, out = small(tmp_path), tmp_path / "out.pb"
    out.write_bytes(b"old")

    def full(_descriptor):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    refused = run("strip", path, "--output", "net/conv", "-o", out, "--force")
    assert refused.exit_code == 2
    assert "no space left" in refused.stderr.lower()
    assert out.read_bytes() == b"old"
    assert sorted(one.name for one in tmp_path.iterdir()) == ["graph.pb", "out.pb"]


def test_that_a_place_that_cannot_be_written_is_said_before_the_work(tmp_path):
    refused = run("strip", small(tmp_path), "--output", "net/conv", "-o", tmp_path / "absent" / "out.pb")
    assert refused.exit_code == 2
    assert "absent" in refused.stderr
