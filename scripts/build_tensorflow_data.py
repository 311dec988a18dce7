"""Write resources/tensorflow/ from the installed TensorFlow: its message descriptors and its op table.

The window's process must know TensorFlow's messages and ops without importing it (2-3 s, 600 MB), so both are
extracted here once, as data, and checked in. Run again after raising the tensorflow version.
"""

import sys
import zlib
from pathlib import Path

from google.protobuf import descriptor_pb2
from google.protobuf.descriptor import FileDescriptor

MODULES = (
    "tensorflow.core.framework.graph_pb2",
    "tensorflow.core.protobuf.meta_graph_pb2",
    "tensorflow.core.protobuf.saved_model_pb2",
    "tensorflow.core.util.event_pb2",
    "tensorflow.core.protobuf.tensor_bundle_pb2",
    "tensorflow.core.protobuf.trackable_object_graph_pb2",
    "tensorflow.core.protobuf.fingerprint_pb2",
    "tensorflow.core.util.saved_tensor_slice_pb2",
    "tensorflow.core.protobuf.saver_pb2",
    "tensorflow.core.framework.variable_pb2",
    "tensorflow.core.framework.op_def_pb2",
    "tensorflow.core.framework.step_stats_pb2",
    "tensorflow.core.protobuf.config_pb2",
)


def descriptor_set() -> bytes:
    """A serialized FileDescriptorSet, dependencies before dependents."""
    import importlib

    files = descriptor_pb2.FileDescriptorSet()
    seen: set[str] = set()

    def add(file: FileDescriptor) -> None:
        if file.name in seen:
            return
        seen.add(file.name)
        for dependency in file.dependencies:
            add(dependency)
        file.CopyToProto(files.file.add())

    for module in MODULES:
        add(importlib.import_module(module).DESCRIPTOR)
    return files.SerializeToString(deterministic=True)


def op_table() -> bytes:
    """A serialized OpList without long descriptions, sorted by name."""
    from tensorflow.core.framework import op_def_pb2
    from tensorflow.python.client import pywrap_tf_session

    raw = pywrap_tf_session.TF_GetBuffer(pywrap_tf_session.TF_GetAllOpList())
    ops = op_def_pb2.OpList.FromString(raw)
    for op in ops.op:
        op.ClearField("description")
        for described in (*op.input_arg, *op.output_arg, *op.attr):
            described.ClearField("description")
    ops.op.sort(key=lambda op: op.name)
    return ops.SerializeToString(deterministic=True)


def main(target: Path) -> None:
    import tensorflow as tf

    target.mkdir(parents=True, exist_ok=True)
    (target / "protos.fds").write_bytes(zlib.compress(descriptor_set(), 9))
    (target / "ops").write_bytes(zlib.compress(op_table(), 9))
    (target / "NOTICE").write_text(
        f"protos.fds (message descriptors) and ops (op table) are data extracted from TensorFlow {tf.__version__},\n"
        "Copyright The TensorFlow Authors, Apache License 2.0 (https://www.apache.org/licenses/LICENSE-2.0).\n"
        "Both are zlib-compressed protocol buffers; scripts/build_tensorflow_data.py writes them.\n"
    )


if __name__ == "__main__":
    default = Path(__file__).resolve().parent.parent / "resources" / "tensorflow"
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else default)
