"""What of a MetaGraph's saver, collections and signatures still holds for a smaller graph."""

from collections.abc import Collection
from typing import Any

from google.protobuf.message import DecodeError

from graphviewer import protos
from graphviewer.model.names import parse_input


def pruned_meta(meta: Any | None, before: Collection[str], names: Collection[str]) -> Any | None:
    """``meta`` (or None) without what names absent nodes; TensorFlow refuses to import such leftovers.

    Args:
        meta: MetaGraphDef without its graph_def; never changed, the result may be the same object.
        before: nodes of the graph that it came with.
        names: nodes of the result.
    """
    if meta is None or all(name in names for name in before):
        return meta
    kept = protos.MetaGraphDef()
    kept.CopyFrom(meta)
    saver = meta.saver_def
    parts = (saver.save_tensor_name, saver.restore_op_name, saver.filename_tensor_name)
    if not all(_present(name, names) for name in parts):
        kept.ClearField("saver_def")
    for key in list(kept.collection_def):
        if not _prune_collection(kept.collection_def[key], names, "variables" in key):
            del kept.collection_def[key]
    for key, signature in list(kept.signature_def.items()):
        if not all(_present(tensor.name, names) for tensor in signature.outputs.values()):
            del kept.signature_def[key]
            continue
        for name in [name for name, tensor in signature.inputs.items() if not _present(tensor.name, names)]:
            del signature.inputs[name]
    assets = [asset for asset in meta.asset_file_def if _present(asset.tensor_info.name, names)]
    del kept.asset_file_def[:]
    kept.asset_file_def.extend(assets)
    return kept


def _present(tensor: str, names: Collection[str]) -> bool:
    return not tensor or parse_input(tensor)[0] in names


def _prune_collection(collection: Any, names: Collection[str], variables: bool) -> bool:
    """Drop entries that name absent nodes; False when nothing is left.

    Other messages than variables (loop contexts, queue runners) serve training only, and break an import when one of
    their many names is gone: they go.
    """
    kind = collection.WhichOneof("kind")
    if kind == "node_list":
        kept = [name for name in collection.node_list.value if _present(name, names)]
        collection.node_list.value[:] = kept
        return bool(kept)
    if kind == "bytes_list":
        kept_bytes = [raw for raw in collection.bytes_list.value if variables and _variable_present(raw, names)]
        collection.bytes_list.value[:] = kept_bytes
        return bool(kept_bytes)
    return True


def _variable_present(raw: bytes, names: Collection[str]) -> bool:
    try:
        variable = protos.VariableDef.FromString(raw)
    except DecodeError:
        return False
    parts = (variable.variable_name, variable.initializer_name, variable.snapshot_name, variable.initial_value_name)
    return all(_present(name, names) for name in parts)
