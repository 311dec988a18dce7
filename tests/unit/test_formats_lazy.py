"""Big files: constants stay in the file, and stream from it when the graph is saved."""

from __future__ import annotations

import os

import pytest
from format_files import const, graph, meta_graph, saved_model, write

from graphviewer import protos
from graphviewer.errors import ReadError
from graphviewer.formats import decode, open_document, save_document
from graphviewer.formats.encode import graph_size
from graphviewer.formats.wire import header

LARGE = decode.LARGE_NODE + 4096
BIG = graph(4, content=LARGE)
FULL = {"weights": bytes(range(256)) * (LARGE // 256), "zmore": b"\1" * LARGE}


@pytest.fixture
def lazy(monkeypatch):
    monkeypatch.setattr(decode, "LAZY_ABOVE", 0)


MESSAGES = [BIG, meta_graph(BIG), saved_model(meta_graph(BIG, "serve"))]


@pytest.mark.parametrize("message", MESSAGES)
def test_that_constants_stay_in_a_big_file_and_can_be_read(tmp_path, lazy, message):
    document = open_document(write(tmp_path / "a.pb", message))
    names = [document.graph_def.node[number].name for number in document.payloads.by_node]
    assert names == ["weights", "zmore"]
    for number in document.payloads.by_node:
        thin, whole = document.node(number), document.full_node(number)
        assert thin.attr["value"].tensor.tensor_content == b""
        assert whole == BIG.node[number]
        assert whole.attr["value"].tensor.tensor_content == FULL[whole.name]


@pytest.mark.parametrize("message", MESSAGES)
@pytest.mark.parametrize("suffix", [".pb", ".meta", ".pbtxt"])
def test_that_saving_streams_them_into_the_same_bytes(tmp_path, lazy, monkeypatch, message, suffix):
    document = open_document(write(tmp_path / "a.bin", message))
    assert document.payloads is not None
    assert graph_size(document) == len(BIG.SerializeToString())
    save_document(document, tmp_path / f"b{suffix}")
    if suffix == ".pb":
        assert (tmp_path / "b.pb").read_bytes() == BIG.SerializeToString(deterministic=True)
    monkeypatch.undo()
    assert open_document(tmp_path / f"b{suffix}").graph_def == BIG


def test_that_a_changed_file_is_said_and_not_read(tmp_path, lazy):
    path = write(tmp_path / "a.pb", BIG)
    document = open_document(path)
    os.utime(path, ns=(1, 1))
    with pytest.raises(ReadError, match="changed on disk"):
        save_document(document, tmp_path / "b.pb")
    assert not (tmp_path / "b.pb").exists()


def test_that_a_file_can_be_saved_onto_itself(tmp_path, lazy):
    path = write(tmp_path / "a.pb", BIG)
    save_document(open_document(path), path, force=True)
    assert path.read_bytes() == BIG.SerializeToString(deterministic=True)


def test_that_a_graph_beyond_2_gib_opens_in_no_time(tmp_path):
    """protobuf itself only says that the wire format is corrupt. The file is sparse: it takes no disk."""
    size, path = 5 << 29, tmp_path / "a.pb"
    body = const("huge", b"").SerializeToString(deterministic=True)
    thin = protos.NodeDef.FromString(body)
    thin.attr["value"].tensor.tensor_shape.dim[0].size = size // 4
    tensor = thin.attr["value"].tensor.SerializeToString() + header(4, size)
    value = header(8, len(tensor) + size) + tensor
    entry = header(1, 5) + b"value" + header(2, len(value) + size) + value
    del thin.attr["value"]
    node = thin.SerializeToString() + header(5, len(entry) + size) + entry
    with open(path, "wb") as file:
        file.write(header(1, len(node) + size) + node)
        file.seek(size, 1)
        file.write(graph().SerializeToString())
    document = open_document(path)
    assert [node.name for node in document.graph_def.node] == ["huge", "x", "n1", "n2"]
    assert document.payloads.by_node[0].length == size
    assert graph_size(document) == path.stat().st_size


@pytest.mark.parametrize("cut", [10, 10_000, 20_700, 35_000])
def test_that_a_big_file_which_is_cut_opens_in_part(tmp_path, lazy, cut):
    raw = BIG.SerializeToString(deterministic=True)
    (tmp_path / "a.pb").write_bytes(raw[:-cut])
    opened = open_document(tmp_path / "a.pb", salvage=True)
    assert opened.graph_def.node[0] == BIG.node[0]
    assert "truncated" in [problem.kind for problem in opened.problems]


def test_that_a_large_node_that_does_not_parse_is_named(tmp_path, lazy):
    raw = BIG.SerializeToString(deterministic=True).replace(b"weights", b"we\xff\xfehts")
    (tmp_path / "a.pb").write_bytes(raw)
    with pytest.raises(ReadError, match="does not parse at byte"):
        open_document(tmp_path / "a.pb")
