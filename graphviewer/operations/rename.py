"""Rename a scope or a node, with everything that names it.

``old=new`` renames the node ``old`` and all under ``old/``; several renames are separated by commas and tried in order,
the first that fits a name counts. ``old=`` takes the scope off, ``=new`` puts all nodes under a scope. Inputs,
colocation, signatures, collections and the saver follow.

What a checkpoint calls its variables does not change: a saver in the graph still knows their keys; without one, freeze
needs --rename with the scopes the other way round.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from google.protobuf.message import DecodeError

from graphviewer import protos
from graphviewer.analysis.ops import VARIABLE_OPS
from graphviewer.errors import OperationError
from graphviewer.model.document import Document
from graphviewer.model.names import CONTROL_PORT, nearest, parse_input
from graphviewer.model.nodes import COLOCATION, colocated_with, is_node_name
from graphviewer.model.progress import Progress
from graphviewer.model.provenance import Origin, Provenance
from graphviewer.operations.metadata import pruned_meta
from graphviewer.operations.registry import Parameter, Result, Rewrite, operation

SCOPES = Parameter(
    "scopes", "Renames", "Scopes or nodes to rename: old=new, separated by commas.", "text", "", required=True
)


@operation(id="rename", label="Rename scope", parameters=(SCOPES,))
def rename(document: Document, *, scopes: str, progress: Progress) -> Result:
    """Give nodes other names; nothing else changes.

    Raises:
        OperationError: no such scope, a name that TensorFlow does not allow, or two nodes would share one.
    """
    progress(0.0, "Finding the names")
    new = _new_names(document, _parsed(scopes))
    _require_unique(document, new)
    progress(0.3, "Writing the graph")
    graph_def = type(document.graph_def)()
    graph_def.CopyFrom(document.graph_def)
    for node in graph_def.node:
        _rename_node(node, new)
    reason = "the scope was renamed"
    origins = {name: Origin(old, "renamed", f"was called '{old}': {reason}") for old, name in new.items()}
    return Result(
        document.with_graph(graph_def, meta=_renamed_meta(document, new), payloads=document.payloads),
        Provenance(origins),
        warnings=tuple(_warnings(document, new)),
        rewrites=tuple(Rewrite(name, "renamed", f"was called '{old}'") for old, name in new.items()),
    )


def _parsed(scopes: str) -> list[tuple[str, str]]:
    pairs = []
    for part in filter(None, (part.strip() for part in scopes.split(","))):
        old, equals, new = part.partition("=")
        old, new = old.strip().strip("/"), new.strip().strip("/")
        if not equals or old == new:
            raise OperationError(f"'{part}' renames nothing.", "Write it as old=new, for example tower_0=net.")
        pairs.append((old, new))
    if not pairs:
        raise OperationError("No scope was named.", "Write it as old=new, for example tower_0=net.")
    return list(dict.fromkeys(pairs))


def _under(name: str, scope: str) -> bool:
    return not scope or name == scope or name.startswith(f"{scope}/")


def _new_names(document: Document, pairs: Sequence[tuple[str, str]]) -> dict[str, str]:
    """New name by old one, for the nodes that change theirs."""
    found: dict[str, str] = {}
    used: set[tuple[str, str]] = set()
    for name in document.graph.index:
        for old, new in pairs:
            if _under(name, old):
                rest = name[len(old) :].lstrip("/")
                found[name] = "/".join(part for part in (new, rest) if part)
                used.add((old, new))
                break
    for old, new in pairs:
        if (old, new) not in used:
            _require_untaken(document, (old, new), pairs)
            scopes = {name.rpartition("/")[0] for name in document.graph.index} | set(document.graph.index)
            close = nearest(old, scopes)
            raise OperationError(
                f"There is no scope or node '{old}'.", f"Closest: {', '.join(close)}." if close else "See the outline."
            )
    bad = next((name for name in found.values() if not is_node_name(name)), None)
    if bad is not None:
        raise OperationError(
            f"TensorFlow does not allow the name '{bad}'.", "Use ASCII letters, digits and _ . / - only."
        )
    return found


def _require_untaken(document: Document, pair: tuple[str, str], pairs: Sequence[tuple[str, str]]) -> None:
    """Tell of a rename before ``pair`` that took all of its names.

    Raises:
        OperationError: there are such names.
    """
    old, new = pair
    name = next((name for name in document.graph.index if _under(name, old)), None)
    if name is None:
        return
    first = next(f"{one}={to}" for one, to in pairs if _under(name, one))
    raise OperationError(
        f"'{first}' comes first and renames all of '{old}', so that '{old}={new}' renames nothing.",
        "Put the narrower scope first, or apply one after the other.",
    )


def _require_unique(document: Document, new: Mapping[str, str]) -> None:
    counts = Counter(new.get(name, name) for name in document.graph.index)
    doubled = [name for name, count in counts.items() if count > 1]
    if doubled:
        more = f" ({len(doubled):,} such names)" if len(doubled) > 1 else ""
        raise OperationError(f"Two nodes would be called '{doubled[0]}'{more}.", "Choose another name.")


def _rename_node(node: Any, new: Mapping[str, str]) -> None:
    node.name = new.get(node.name, node.name)
    if any(parse_input(text)[0] in new for text in node.input):
        node.input[:] = [_renamed(text, new) for text in node.input]
    if "_class" in node.attr:
        entries = node.attr["_class"].list.s
        entries[:] = [_renamed_place(entry, new) for entry in entries]


def _renamed_place(entry: bytes, new: Mapping[str, str]) -> bytes:
    name = colocated_with(entry)
    return COLOCATION + new[name].encode() if name is not None and name in new else entry


def _renamed(text: str, new: Mapping[str, str]) -> str:
    """A tensor or control input with its node's new name, written as before."""
    name, port = parse_input(text)
    if name not in new:
        return text
    if port == CONTROL_PORT:
        return f"^{new[name]}"
    return new[name] + text[len(name) :]


def _renamed_meta(document: Document, new: Mapping[str, str]) -> Any | None:
    """Saver, signatures and collections with the new names; what cannot be renamed goes, as in ``pruned_meta``."""
    if document.meta is None or not new:
        return document.meta
    meta = protos.MetaGraphDef()
    meta.CopyFrom(document.meta)
    saver = meta.saver_def
    if meta.HasField("saver_def"):
        for field in ("filename_tensor_name", "save_tensor_name", "restore_op_name"):
            setattr(saver, field, _renamed(getattr(saver, field), new))
    for signature in meta.signature_def.values():
        for tensor in (*signature.inputs.values(), *signature.outputs.values()):
            tensor.name = _renamed(tensor.name, new)
    for asset in meta.asset_file_def:
        asset.tensor_info.name = _renamed(asset.tensor_info.name, new)
    for key, collection in meta.collection_def.items():
        _rename_collection(key, collection, new)
    names = {new.get(name, name) for name in document.graph.index}
    return pruned_meta(meta, document.graph.index, names)


def _rename_collection(key: str, collection: Any, new: Mapping[str, str]) -> None:
    kind = collection.WhichOneof("kind")
    if kind == "node_list":
        collection.node_list.value[:] = [_renamed(name, new) for name in collection.node_list.value]
    elif kind == "bytes_list" and "variables" in key:
        collection.bytes_list.value[:] = [_renamed_variable(raw, new) for raw in collection.bytes_list.value]


def _renamed_variable(raw: bytes, new: Mapping[str, str]) -> bytes:
    try:
        variable = protos.VariableDef.FromString(raw)
    except DecodeError:
        return raw
    for field in ("variable_name", "initializer_name", "snapshot_name", "initial_value_name"):
        setattr(variable, field, _renamed(getattr(variable, field), new))
    return bytes(variable.SerializeToString())


def _warnings(document: Document, new: Mapping[str, str]) -> list[str]:
    found = []
    index, ops = document.graph.index, document.graph.ops
    variables = [name for name in new if ops[index[name]] in VARIABLE_OPS]
    if variables and document.saver is None:
        found.append(
            f"{len(variables):,} variables have new names, and no saver knows their keys: freeze with --rename, the "
            "scopes the other way round."
        )
    lost = [
        key
        for key, value in (document.meta.collection_def.items() if document.meta is not None else ())
        if value.HasField("bytes_list") and "variables" not in key
    ]
    if lost:
        found.append(f"Collections that name nodes in messages of their own are dropped: {', '.join(sorted(lost))}.")
    return found
