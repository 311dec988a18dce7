"""Files that people try to open and that are no TensorFlow graphs: what they are, and what to do with them."""

from __future__ import annotations

import re
from typing import NamedTuple

from graphviewer.formats.recognise import pairs, peek
from graphviewer.formats.source import Source
from graphviewer.formats.text import decode_text, first_field
from graphviewer.formats.tfrecord import is_record
from graphviewer.formats.wire import BYTES, VARINT

_ANOTHER = "Open a GraphDef (.pb, .pbtxt), MetaGraphDef (.meta), SavedModel, checkpoint or events file."
_LFS = "Fetch the real file with 'git lfs pull'."
_KERAS = "Only Keras can read it; or export it with model.export('folder') and open the folder."
_HEAD = 4096
_FINGERPRINT_LIMIT = 512


class Foreign(NamedTuple):
    """What a file is ("a JSON file") and what to do about it.

    Attributes:
        runs_code: it becomes a graph when its library loads it, which runs code from the file.
    """

    what: str
    hint: str = _ANOTHER
    runs_code: bool = False


_MAGIC = (
    (b"version https://git-lfs", Foreign("a Git LFS pointer, the real file was not downloaded", _LFS)),
    (b"\x89HDF\r\n\x1a\n", Foreign("an HDF5 file, probably a Keras model (.h5)", _KERAS, runs_code=True)),
    (b"BZh", Foreign("a bzip2 archive", "Unpack it first.")),
    (b"\xfd7zXZ\x00", Foreign("an xz archive", "Unpack it first.")),
    (b"\x28\xb5\x2f\xfd", Foreign("a zstd archive", "Unpack it first.")),
    (b"\x89PNG", Foreign("a PNG picture")),
    (b"%PDF", Foreign("a PDF document")),
    (b"\x93NUMPY", Foreign("a NumPy array")),
    (b"\x80\x02", Foreign("a Python pickle, perhaps PyTorch weights", "It holds no TensorFlow graph.")),
)
_JSON = "A model of TensorFlow.js or Keras in JSON has to be converted to a SavedModel."
_UNITY = "It only shares its suffix with TensorFlow's MetaGraphDef."
_STATE = r"\s*(model_checkpoint_path|all_model_checkpoint_paths)\s*:"
_TEXTS = (
    (r"\s*(<!doctype|<html|<head)", Foreign("a web page", "Download the file itself, not the page that shows it.")),
    (r"\s*(<\?xml|<svg)", Foreign("an XML file")),
    (
        r"\s*[{\[]",
        Foreign("a JSON file", _JSON),
    ),
    (r"fileFormatVersion:", Foreign("a Unity .meta file", _UNITY)),
    (r"\s*(%YAML|---\s)", Foreign("a YAML file")),
    (
        r"\s*(model_checkpoint_path|all_model_checkpoint_paths)\s*:",
        Foreign("a list of checkpoints", "Open its folder."),
    ),
    (r"\s*(ir_version|producer_name|opset_import)\s*[:{]", Foreign("an ONNX model in text form")),
    (r"\s*item\s*[:{]", Foreign("a label map of the Object Detection API", "Open the graph it belongs to.")),
)
_CAFFE = re.compile(r"(?m)^\s*(layers?|input_dim|input_param|input_shape)\s*[:{]")
_CAFFE2 = re.compile(r"(?m)^\s*(op|external_input|external_output)\s*[:{]")


def by_magic(source: Source) -> Foreign | None:
    """What the first bytes give away; None when they give nothing away."""
    if source.size == 0:
        return Foreign("empty (0 bytes)", "Copy or download it again.")
    head = source.head(_HEAD)
    if not head.strip(b"\0"):
        return Foreign("full of zero bytes", "The copy or download failed: repeat it.")
    for magic, foreign in _MAGIC:
        if head.startswith(magic):
            return foreign
    if head.startswith(b"PK\3\4"):
        return _zip(head)
    if head[4:8] == b"TFL3":
        return Foreign("a TensorFlow Lite model", "Open the graph or SavedModel it was converted from.")
    if head[257:262] == b"ustar":
        return Foreign("a tar archive", "Unpack it first.")
    return None


def _zip(head: bytes) -> Foreign:
    if b"metadata.json" in head or b"config.json" in head:
        return Foreign("a Keras model (.keras)", _KERAS, runs_code=True)
    return Foreign("a zip archive", "Unpack it first.")


def by_structure(source: Source) -> Foreign:
    """What a file is that no reader recognised."""
    if is_record(source):
        return Foreign("a TFRecord file, training data perhaps")
    text = decode_text(source.head(_HEAD), cut=source.size > _HEAD)
    if text is not None and not re.search(r"[\x00-\x08\x0e-\x1f]", text):
        return _text(source, text)
    return _binary(source)


def _text(source: Source, text: str) -> Foreign:
    for pattern, foreign in _TEXTS:
        if re.match(pattern, text, re.IGNORECASE):
            return foreign
    if _CAFFE2.search(text):
        return Foreign("a Caffe2 network in text form")
    if _CAFFE.search(text):
        return Foreign("a Caffe network in text form")
    field = first_field(source)
    return Foreign(f"text that begins with '{field}', not a graph" if field else "text, but not a graph")


def _binary(source: Source) -> Foreign:
    found, error = peek(source, 0, source.size)
    kinds = pairs(found)
    if (1, VARINT) in kinds and kinds & {(7, BYTES), (8, BYTES)} and source.size > _FINGERPRINT_LIMIT:
        return Foreign("an ONNX model", "Open the TensorFlow graph it was converted from.")
    numbers = sum(part.wire != BYTES for part in found)
    if numbers >= 3 and source.size < _FINGERPRINT_LIMIT and error is None:
        return Foreign("the fingerprint of a SavedModel", "Open the folder, or saved_model.pb in it.")
    if error is None or len(found) > 3:
        return Foreign("a protocol buffer of another kind, not a graph")
    return Foreign("not a file that graphviewer knows")
