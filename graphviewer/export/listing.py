"""A graph as text that stays the same when the graph does: what ``git diff`` compares, line by line.

Nodes by name, each a line that starts at the margin, its attributes below; order in the file, defaults, inferred shapes
and versions are left out, large constants are told by digest and statistics.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any

from graphviewer import protos
from graphviewer.analysis.diff.values import digest
from graphviewer.analysis.diff.variables import Stored, values_of
from graphviewer.errors import CheckpointError
from graphviewer.model.document import Document
from graphviewer.model.nodes import control_inputs, data_inputs
from graphviewer.model.tensors import TensorError, describe_tensor, shape_list, tensor_value
from graphviewer.protos import dtype_name

_LEFT_OUT = ("_output_shapes", "_input_shapes")
_FEW = 8  # values that a line holds, so that no digest is needed


def listing(document: Document) -> Iterator[str]:
    """The lines of a document: signatures, nodes, functions; of a checkpoint its variables.

    Raises:
        ReadError: a file with large constants changed on disk meanwhile.
    """
    if document.kind == "checkpoint":
        for name, value in sorted(values_of(document).items()):
            yield f"{name} = {value.text}{_told(value)}"
        return
    for key in sorted(document.signatures):
        yield from _signature(key, document.signatures[key])
    names = [node.name for node in document.graph_def.node]
    for number in sorted(range(len(names)), key=names.__getitem__):
        yield from _node(document.full_node(number), "")
    for name in sorted(document.functions):
        yield from _function(document.functions[name])


def _told(value: Stored) -> str:
    try:
        return " " + digest(value.read())
    except (CheckpointError, TensorError) as error:
        return f" ({error.message})"


def _signature(key: str, signature: Any) -> Iterator[str]:
    yield f"signature {key} {signature.method_name}".rstrip()
    for side in ("inputs", "outputs"):
        tensors: Mapping[str, Any] = getattr(signature, side)
        for name in sorted(tensors):
            tensor = tensors[name]
            where = tensor.name or tensor.WhichOneof("encoding") or "nothing"
            yield f"    {side[:-1]} {name}: {where} {dtype_name(tensor.dtype)} {_shape(tensor.tensor_shape)}"


def _node(node: Any, indent: str) -> Iterator[str]:
    data = data_inputs(node)
    control = sorted(control_inputs(node))
    yield f"{indent}{node.name} = {node.op}({', '.join([*data, *control])})"
    if node.device:
        yield f"{indent}    device: {node.device}"
    defaults = _defaults(node.op)
    for name in sorted(node.attr):
        value = node.attr[name]
        if name not in _LEFT_OUT and defaults.get(name) != value:
            yield f"{indent}    {name}: {_attribute(value)}"


@cache
def _defaults(op: str) -> Mapping[str, Any]:
    definition = protos.op_def(op)
    attrs = definition.attr if definition is not None else ()
    return {attr.name: attr.default_value for attr in attrs if attr.HasField("default_value")}


def _attribute(value: Any) -> str:
    kind = value.WhichOneof("value")
    if kind == "list":
        return f"[{', '.join(_items(value.list))}]"
    return "nothing" if kind is None else _one(kind, getattr(value, kind))


def _items(listed: Any) -> Iterable[str]:
    return (_one(field.name, item) for field, items in listed.ListFields() for item in items)


def _one(kind: str, item: Any) -> str:
    if kind == "type":
        return dtype_name(item)
    if kind == "shape":
        return _shape(item)
    if kind == "tensor":
        return _tensor(item)
    if kind == "func":
        return f"{item.name}()"
    return repr(item.decode("utf-8", "backslashreplace")) if kind == "s" else str(item)


def _tensor(proto: Any) -> str:
    text = describe_tensor(proto)
    try:
        value = tensor_value(proto)
    except TensorError:
        return text
    return text if value.size <= _FEW else f"{text} {digest(value)}"


def _shape(shape: Any) -> str:
    sizes = shape_list(shape)
    return "unknown" if sizes is None else "[" + ", ".join("?" if size < 0 else str(size) for size in sizes) + "]"


def _function(function: Any) -> Iterator[str]:
    signature = function.signature
    arguments = ", ".join(f"{one.name}: {_type(one)}" for one in signature.input_arg)
    results = ", ".join(f"{one.name}: {_type(one)}" for one in signature.output_arg)
    yield f"function {signature.name}({arguments}) -> ({results})"
    for node in sorted(function.node_def, key=lambda node: str(node.name)):
        yield from _node(node, "  ")
    for name in sorted(function.ret):
        yield f"  return {name} = {function.ret[name]}"


def _type(argument: Any) -> str:
    return dtype_name(argument.type) if argument.type else argument.type_attr or argument.type_list_attr or "any"
