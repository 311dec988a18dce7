"""A graph as text that stays the same when the graph does: what ``git diff`` compares, line by line.

Nodes by name, each a line that starts at the margin, its attributes below; order in the file, defaults, inferred
shapes, counters in names of functions and versions are left out, large constants are told by digest and statistics.
What makes a line long stands in lines of its own, one for each input or item.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from graphviewer.analysis.diff.generated import base_argument, base_text
from graphviewer.analysis.diff.values import digest
from graphviewer.analysis.diff.variables import Stored, values_of
from graphviewer.analysis.ops import attribute_defaults
from graphviewer.errors import CheckpointError
from graphviewer.export.stand_ins import stand_ins
from graphviewer.model.document import Document
from graphviewer.model.nodes import control_inputs, data_inputs
from graphviewer.model.tensors import TensorError, describe_tensor, shape_list, tensor_value
from graphviewer.protos import DataType, dtype_name

Names = Mapping[str, str]

_LEFT_OUT = ("_output_shapes", "_input_shapes")
_FEW = 8  # values that a line holds, so that no digest is needed
_MOST_TEXTS = 1000  # of one constant
_WIDTH = 100  # of a line; a longer list is broken


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
    functions, names = stand_ins(document), [node.name for node in document.graph_def.node]
    for number in sorted(range(len(names)), key=names.__getitem__):
        yield from _node(document.full_node(number), functions, "")
    for shown, name in sorted((shown, name) for name, shown in functions.items()):
        yield from _function(document.functions[name], functions, shown)


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


def _node(node: Any, functions: Names, indent: str) -> Iterator[str]:
    inputs = [*data_inputs(node), *sorted(control_inputs(node))]
    op = functions.get(node.op, node.op)
    line = f"{indent}{node.name} = {op}({', '.join(inputs)})"
    if len(line) <= _WIDTH or not inputs:
        yield line
    else:
        yield f"{indent}{node.name} = {op}"
        yield from (f"{indent}    reads {text}" for text in inputs)
    if node.device:
        yield f"{indent}    device: {node.device}"
    yield from _attributes(node.attr, attribute_defaults(node.op), functions, f"{indent}    ")


def _attributes(attrs: Any, defaults: Mapping[str, Any], functions: Names, indent: str) -> Iterator[str]:
    for name in sorted(attrs):
        value = attrs[name]
        if name in _LEFT_OUT or defaults.get(name) == value:
            continue
        kind = value.WhichOneof("value")
        if kind != "list":
            item: Any = base_text(name, value.s) if kind == "s" else getattr(value, kind) if kind else None
            line = f"{indent}{name}: {_one(kind, item, functions)}"
            texts = _texts(item) if kind == "tensor" and len(line) > _WIDTH else ()
            yield line if not texts else f"{indent}{name}: string {_shape(item.tensor_shape)}"
            yield from (f"{indent}    {text}" for text in texts)
            continue
        items = [_one(field.name, item, functions) for field, listed in value.list.ListFields() for item in listed]
        line = f"{indent}{name}: [{', '.join(items)}]"
        if len(line) <= _WIDTH or len(items) == 1:
            yield line
        else:
            yield f"{indent}{name}: {len(items):,} items"
            yield from (f"{indent}    {item}" for item in items)


def _one(kind: str | None, item: Any, functions: Names) -> str:
    if kind is None:
        return "nothing"
    if kind == "type":
        return dtype_name(item)
    if kind == "shape":
        return _shape(item)
    if kind == "tensor":
        return _tensor(item)
    if kind == "func":
        return f"{functions.get(item.name, item.name)}()"
    return repr(item.decode("utf-8", "backslashreplace")) if kind == "s" else str(item)


def _tensor(proto: Any) -> str:
    text = describe_tensor(proto)
    try:
        value = tensor_value(proto)
    except TensorError:
        return text
    return text if value.size <= _FEW else f"{text} {digest(value)}"


def _texts(proto: Any) -> Sequence[str]:
    """The texts of a constant, in order; none where there are too many to print, or where it holds something else."""
    if proto.dtype != DataType.STRING or not 1 < len(proto.string_val) <= _MOST_TEXTS:
        return ()
    return [repr(text.decode("utf-8", "backslashreplace")) for text in proto.string_val]


def _shape(shape: Any) -> str:
    sizes = shape_list(shape)
    return "unknown" if sizes is None else "[" + ", ".join("?" if size < 0 else str(size) for size in sizes) + "]"


def _function(function: Any, functions: Names, shown: str) -> Iterator[str]:
    yield f"function {shown}"
    for kind, ends in (("argument", function.signature.input_arg), ("result", function.signature.output_arg)):
        yield from (f"  {kind} {base_argument(one.name)}: {_type(one)}" for one in ends)
    yield from _attributes(function.attr, {}, functions, "  ")
    for node in sorted(function.node_def, key=lambda node: str(node.name)):
        yield from _node(node, functions, "  ")
    for name in sorted(function.ret):
        yield f"  return {name} = {function.ret[name]}"


def _type(argument: Any) -> str:
    return dtype_name(argument.type) if argument.type else argument.type_attr or argument.type_list_attr or "any"
