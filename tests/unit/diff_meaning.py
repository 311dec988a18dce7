"""What two graphs must share to mean the same, written independently of the comparison itself."""

from __future__ import annotations

import hashlib

from graphviewer import protos
from graphviewer.model.names import parse_input
from graphviewer.model.tensors import TensorError, shape_list, tensor_value


def meaning(document):
    """Every node's meaning, as a multiset: order, encodings, defaults, annotations and names of functions left out."""
    names = {node.name for node in document.graph_def.node}
    digests = _digests(document.graph_def.library.function)
    nodes = (document.full_node(number) for number in range(len(document.graph_def.node)))
    return sorted(repr(_node(node, names, digests)) for node in nodes)


def _node(node, names, digests):
    wires = [parse_input(text) for text in node.input]
    data, control = [wire for wire in wires if wire[1] >= 0], {name for name, port in wires if port < 0}
    attrs = _attrs(node, digests)
    attrs.pop("_class", None)
    places = {place for place in node.attr["_class"].list.s if place.partition(b"@")[2].decode() in names}
    return node.name, node.op, node.device, data, sorted(control), sorted(attrs.items()), sorted(places)


def _attrs(node, digests):
    attrs = {key: _value(value, digests) for key, value in node.attr.items()}
    for definition in getattr(protos.op_def(node.op), "attr", ()):
        if definition.HasField("default_value"):
            attrs.setdefault(definition.name, _value(definition.default_value, digests))
    attrs.pop("_output_shapes", None)
    return attrs


def _value(value, digests):
    kind = value.WhichOneof("value")
    if kind == "tensor":
        return _tensor(value.tensor)
    if kind == "shape":
        return "shape", shape_list(value.shape)
    if kind == "func":
        return _call(value.func, digests)
    if kind == "list" and value.list.tensor:
        return [_tensor(one) for one in value.list.tensor]
    if kind == "list" and value.list.func:
        return [_call(one, digests) for one in value.list.func]
    return value.SerializeToString(deterministic=True)


def _call(function, digests):
    attrs = sorted((key, _value(value, digests)) for key, value in function.attr.items())
    return digests.get(function.name, function.name), attrs


def _tensor(proto):
    try:
        value = tensor_value(proto)
    except TensorError:
        return proto.SerializeToString(deterministic=True)
    if value.dtype.hasobject:
        return proto.dtype, value.shape, value.tolist()
    flat = value if value.size < 100_000 else value[(slice(0, 10),) * value.ndim]
    return proto.dtype, value.shape, flat.tobytes()


def _digests(functions):
    """By name, a digest of what a function does; nested calls by their digests, rings up to three calls deep."""
    found = {function.signature.name: "" for function in functions}
    for _ in range(3):
        found = {function.signature.name: _digest(function, found) for function in functions}
    return found


def _digest(function, known):
    ends = {one.name: f"#{at}" for at, one in enumerate(function.signature.input_arg)}
    nodes = []
    for node in function.node_def:
        attrs = sorted((key, repr(value)) for key, value in _attrs(node, known).items())
        nodes.append((node.name, node.op, node.device, [ends.get(text, text) for text in node.input], attrs))
    results = [(one.type, ends.get(text := function.ret[one.name], text)) for one in function.signature.output_arg]
    types = [(one.type, one.type_attr) for one in function.signature.input_arg]
    return hashlib.sha256(repr((sorted(nodes), results, types)).encode()).hexdigest()
