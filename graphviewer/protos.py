"""TensorFlow's message classes and op table, without TensorFlow.

The descriptors live in a private pool, so that a real ``import tensorflow`` in the same process does not clash.
TensorFlow refuses these classes ("TypeError"): hand it bytes, never messages.
Source: resources/tensorflow, written by scripts/build_tensorflow_data.py.
"""

import zlib
from collections.abc import Iterable
from functools import cache
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

from graphviewer.resources import resource

__all__ = [
    "AssetFileDef",
    "AttrValue",
    "BundleEntryProto",
    "BundleHeaderProto",
    "DataType",
    "Event",
    "FunctionDef",
    "GraphDef",
    "MetaGraphDef",
    "NameAttrList",
    "NodeDef",
    "OpDef",
    "RunMetadata",
    "SavedModel",
    "SavedTensorSlices",
    "SaverDef",
    "TensorProto",
    "TensorShapeProto",
    "TrackableObjectGraph",
    "VariableDef",
    "dtype_name",
    "function_names",
    "op_def",
]


@cache
def _pool() -> descriptor_pool.DescriptorPool:
    pool = descriptor_pool.DescriptorPool()
    raw = zlib.decompress(resource("tensorflow/protos.fds").read_bytes())
    for file in descriptor_pb2.FileDescriptorSet.FromString(raw).file:
        pool.AddSerializedFile(file.SerializeToString())
    return pool


def _message(name: str) -> Any:
    return message_factory.GetMessageClass(_pool().FindMessageTypeByName(f"tensorflow.{name}"))


AssetFileDef = _message("AssetFileDef")
AttrValue = _message("AttrValue")
BundleEntryProto = _message("BundleEntryProto")
BundleHeaderProto = _message("BundleHeaderProto")
Event = _message("Event")
FunctionDef = _message("FunctionDef")
GraphDef = _message("GraphDef")
MetaGraphDef = _message("MetaGraphDef")
NameAttrList = _message("NameAttrList")
NodeDef = _message("NodeDef")
OpDef = _message("OpDef")
RunMetadata = _message("RunMetadata")
SavedModel = _message("SavedModel")
SavedTensorSlices = _message("SavedTensorSlices")
SaverDef = _message("SaverDef")
TensorProto = _message("TensorProto")
TensorShapeProto = _message("TensorShapeProto")
TrackableObjectGraph = _message("TrackableObjectGraph")
VariableDef = _message("VariableDef")


class DataType:
    """TensorFlow's dtype numbers (``tensorflow/core/framework/types.proto``); a ref dtype is the plain one plus 100."""

    FLOAT, DOUBLE, INT32, UINT8, INT16, INT8, STRING, COMPLEX64, INT64, BOOL = range(1, 11)
    QINT8, QUINT8, QINT32, BFLOAT16, QINT16, QUINT16, UINT16, COMPLEX128, HALF, RESOURCE, VARIANT = range(11, 22)
    UINT32, UINT64 = 22, 23


@cache
def _dtype_names() -> dict[int, str]:
    values = _pool().FindEnumTypeByName("tensorflow.DataType").values
    return {value.number: value.name.removeprefix("DT_").lower() for value in values}


def dtype_name(number: int) -> str:
    """The name of a dtype as TensorFlow's Python writes it: ``float32``, ``float32_ref``, ``string``."""
    base, ref = (number - 100, "_ref") if number > 100 else (number, "")
    name = _dtype_names().get(base)
    renamed = {"float": "float32", "double": "float64", "half": "float16"}
    return renamed.get(name, name) + ref if name else f"dtype {number}"


@cache
def _op_table() -> dict[str, Any]:
    ops = _message("OpList").FromString(zlib.decompress(resource("tensorflow/ops").read_bytes()))
    return {op.name: op for op in ops.op}


def op_def(op: str) -> Any | None:
    """The OpDef of a registered op, or None when this TensorFlow does not know it (custom ops, library functions)."""
    return _op_table().get(op)


def function_names(attrs: Iterable[Any]) -> Iterable[str]:
    """The names of library functions that a node's attribute values call."""
    for value in attrs:
        kind = value.WhichOneof("value")
        if kind == "func":
            yield value.func.name
        elif kind == "list":
            for func in value.list.func:
                yield func.name
