"""What a file is said to be."""

from __future__ import annotations

import io
import json
import tarfile
import zipfile

import pytest
from format_files import events, graph, meta_graph, record, saved_model
from google.protobuf import text_format

from graphviewer.errors import ReadError
from graphviewer.formats import open_document, sniff
from graphviewer.formats.registry import readers, writers
from graphviewer.formats.wire import header


def zipped(*names):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name in names:
            archive.writestr(name, "{}")
    return buffer.getvalue()


def tarred():
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        archive.addfile(tarfile.TarInfo("a"))
    return buffer.getvalue()


OURS = {
    "graphdef": graph().SerializeToString(),
    "pbtxt": text_format.MessageToString(graph()).encode(),
    "metagraph": meta_graph().SerializeToString(),
    "savedmodel": saved_model(meta_graph()).SerializeToString(),
    "tfevents": events(),
}
ONNX = b"\x08\x07" + header(2, 7) + b"pytorch" + header(7, 600) + header(1, 597) + b"\0" * 597
FINGERPRINT = b"\x08\x85\xe4\xa1\x10\x10\x81\xb0\x91\x18\x18\xfa\x01\x20\x05\x28\x07\x32\x02\x08\x01"
FOREIGN = {
    "a Git LFS pointer": b"version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 1\n",
    "a Keras model (.keras)": zipped("metadata.json", "config.json", "model.weights.h5"),
    "a zip archive": zipped("a.txt"),
    "an HDF5 file": b"\x89HDF\r\n\x1a\n" + bytes(20),
    "a TensorFlow Lite model": b"\x1c\0\0\0TFL3" + bytes(20),
    "a tar archive": tarred(),
    "empty (0 bytes)": b"",
    "full of zero bytes": bytes(100),
    "a web page": b"\n<!DOCTYPE html><html></html>",
    "an XML file": b"<?xml version='1.0'?><a/>",
    "a JSON file": json.dumps({"modelTopology": {}}).encode(),
    "a Unity .meta file": b"fileFormatVersion: 2\nguid: 3\n",
    "an ONNX model": ONNX,
    "the fingerprint of a SavedModel": FINGERPRINT,
    "a TFRecord file": record(b"\x0a\x00"),
    "a Caffe network": b'name: "net"\nlayer {\n  name: "data"\n}\n',
    "a Caffe2 network": b'op {\n  input: "x"\n  type: "ArgMin"\n}\n',
    "a list of checkpoints": b'model_checkpoint_path: "model.ckpt-1"\n',
    "a label map": b"item {\n  id: 1\n}\n",
    "text, but not a graph": b"hello world\n",
    "not a file that graphviewer knows": b"\xff\xfe\xfd\xfc" * 9 + b"\xff",
}


@pytest.mark.parametrize("kind", OURS)
def test_that_each_format_is_told_by_its_content(tmp_path, kind):
    path = tmp_path / "file.xyz"
    path.write_bytes(OURS[kind])
    assert sniff(path).kind == kind


@pytest.mark.parametrize("what", FOREIGN)
def test_that_other_files_are_refused_by_what_they_are_and_what_to_do(tmp_path, what):
    path = tmp_path / "file.pb"
    path.write_bytes(FOREIGN[what])
    assert sniff(path).kind == "foreign"
    with pytest.raises(ReadError) as error:
        open_document(path)
    assert error.value.message.startswith(f"file.pb is {what}")
    assert error.value.hint


def test_that_a_cut_file_is_still_told_by_its_beginning(tmp_path):
    for kind in ("graphdef", "metagraph", "savedmodel"):
        (tmp_path / "a").write_bytes(OURS[kind][:-9])
        assert sniff(tmp_path / "a").kind == kind


def test_that_a_graph_with_a_damaged_node_first_is_still_a_graph(tmp_path):
    made = graph()
    made.node[0].op = ""
    (tmp_path / "a").write_bytes(made.SerializeToString())
    assert sniff(tmp_path / "a").kind == "graphdef"


def test_that_every_reader_has_a_kind_of_the_contract():
    known = {"graphdef", "pbtxt", "metagraph", "savedmodel", "checkpoint", "tfevents"}
    assert {reader.kind for reader in readers()} == known
    assert set(writers()) == {".pb", ".pbtxt", ".meta"}
    assert len({(reader.rank, reader.label) for reader in readers()}) == len(readers())
