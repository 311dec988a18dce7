"""Small files of each format, made byte by byte or message by message."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

from graphviewer import protos
from graphviewer.formats.checkpoint.checksum import masked_crc32c
from graphviewer.protos import DataType


def graph(nodes: int = 3, content: int = 0) -> Any:
    """A chain: Placeholder ``x``, then Identities; with ``content`` a Const of so many bytes as well."""
    made = protos.GraphDef()
    made.node.add(name="x", op="Placeholder").attr["dtype"].type = DataType.FLOAT
    for number in range(1, nodes):
        node = made.node.add(name=f"n{number}", op="Identity", input=[made.node[-1].name])
        node.attr["T"].type = DataType.FLOAT
    if content:
        made.node.append(const("weights", bytes(range(256)) * (content // 256)))
        made.node.append(const("zmore", b"\1" * content, zz=True))
    made.versions.producer = 1000
    made.library.function.add().signature.name = "f"
    return made


def const(name: str, content: bytes, *, zz: bool = False) -> Any:
    """A float32 Const; ``zz`` adds attributes on both sides of ``value``."""
    node = protos.NodeDef(name=name, op="Const", device="/cpu:0")
    node.attr["dtype"].type = DataType.FLOAT
    tensor = node.attr["value"].tensor
    tensor.dtype, tensor.tensor_content = DataType.FLOAT, content
    tensor.tensor_shape.dim.add(size=len(content) // 4)
    if zz:
        node.attr["a"].s = node.attr["zz"].s = b"around"
    return node


def meta_graph(graph_def: Any | None = None, *tags: str) -> Any:
    """A MetaGraphDef with a saver, a collection and a signature."""
    meta = protos.MetaGraphDef()
    meta.meta_info_def.tensorflow_version = "2.21.0"
    meta.meta_info_def.tags.extend(tags)
    meta.graph_def.CopyFrom(graph() if graph_def is None else graph_def)
    meta.saver_def.filename_tensor_name = "save/Const:0"
    meta.collection_def["train_op"].node_list.value.append("n1")
    meta.signature_def["serve"].inputs["x"].name = "x:0"
    return meta


def saved_model(*metas: Any) -> Any:
    model = protos.SavedModel(saved_model_schema_version=1)
    for meta in metas:
        model.meta_graphs.add().CopyFrom(meta)
    return model


def record(data: bytes) -> bytes:
    length = struct.pack("<Q", len(data))
    return length + struct.pack("<I", masked_crc32c(length)) + data + struct.pack("<I", masked_crc32c(data))


def events(*messages: Any) -> bytes:
    """An events file that begins, as all do, with its version."""
    first = protos.Event(wall_time=1.0, file_version="brain.Event:2")
    return b"".join(record(event.SerializeToString()) for event in (first, *messages))


def write(path: Path, message: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(message.SerializeToString(deterministic=True))
    return path
