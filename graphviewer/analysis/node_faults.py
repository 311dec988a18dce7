"""What is wrong with one node, without a look at others."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator
from functools import cache
from typing import Any, NamedTuple

from graphviewer import protos
from graphviewer.model.nodes import colocated_with, is_node_name
from graphviewer.model.problem import Problem
from graphviewer.model.tensors import MOST_ELEMENTS, TensorError, numpy_dtype, shape_list, too_large
from graphviewer.protos import DataType, dtype_name, function_names


class _Attributes(NamedTuple):
    """The attributes of an op that matter here.

    Attributes:
        required: those without a default.
        functions: those that name functions.
        dtypes: those that hold one dtype.
        shapes: those that hold one shape, or several.
        choices: those whose text must be one of a few.
        known: all names.
    """

    required: tuple[str, ...]
    functions: tuple[str, ...]
    dtypes: tuple[str, ...]
    shapes: tuple[str, ...]
    choices: tuple[tuple[str, frozenset[bytes]], ...]
    known: frozenset[str]


@cache
def _attributes(op: str) -> _Attributes | None:
    definition = protos.op_def(op)
    if definition is None:
        return None
    return _Attributes(
        tuple(attr.name for attr in definition.attr if not attr.HasField("default_value")),
        tuple(attr.name for attr in definition.attr if attr.type in ("func", "list(func)")),
        tuple(attr.name for attr in definition.attr if attr.type == "type"),
        tuple(attr.name for attr in definition.attr if attr.type in ("shape", "list(shape)")),
        tuple((attr.name, frozenset(attr.allowed_values.list.s)) for attr in definition.attr if _is_choice(attr)),
        frozenset(attr.name for attr in definition.attr),
    )


def _is_choice(attr: Any) -> bool:
    return bool(attr.type == "string" and attr.allowed_values.list.s)


class NodeFaults:
    """Looks at the nodes of one graph or function body.

    Args:
        functions: names in the library.
        names: of the nodes around, for colocation.
    """

    def __init__(self, functions: Collection[str], names: Collection[str]) -> None:
        self._functions, self._names = functions, names
        self._unknown: dict[str, list[str]] = {}

    def of(self, node: Any, number: int, *, content: int | None = None) -> Iterator[Problem]:
        """The faults of a node.

        Args:
            number: of the node, to name one without name.
            content: bytes of its constant, where they were left in the file.
        """
        name, op = node.name, node.op
        if not name:
            yield Problem("no-name", "error", f"Node {number} ({op or 'without op'}) has no name.")
        elif not is_node_name(name):
            reason = f"TensorFlow refuses the name '{name}': only ASCII letters, digits and _ . / - > \\ are allowed."
            yield Problem("bad-name", "warning", reason, "Viewing and stripping work; running does not.", name)
        if not op:
            yield Problem("no-op", "error", f"'{name}' has no op.", "The file is damaged.", name)
            return
        attributes = _attributes(op)
        if attributes is None:
            if op not in self._functions:
                self._unknown.setdefault(op, []).append(name)
        else:
            yield from self._attributes(node, attributes)
        if op == "Const":
            fault = const_fault(node, content)
            if fault:
                yield Problem("const", "error", f"The value of '{name}' is damaged: {fault}.", "", name)
        if "_class" in node.attr:
            yield from self._colocation(node)

    def unknown_ops(self) -> list[Problem]:
        """One problem for each op that is not registered, on the first node that has it."""
        return [
            Problem(
                "unknown-op",
                "info",
                f"The op '{op}' is not one of TensorFlow's; {len(names):,} node{'s' * (len(names) != 1)} use it.",
                "Viewing, freezing and stripping work; running needs the library that registers it.",
                names[0],
            )
            for op, names in self._unknown.items()
        ]

    def _attributes(self, node: Any, attributes: _Attributes) -> Iterator[Problem]:
        missing = [attr for attr in attributes.required if attr not in node.attr]
        if missing:
            reason = f"'{node.name}' ({node.op}) lacks {', '.join(missing)}."
            yield Problem("missing-attr", "error", reason, "TensorFlow refuses to import it.", node.name)
        foreign = sorted(attr for attr in node.attr if attr not in attributes.known and not attr.startswith("_"))
        if foreign:
            reason = f"'{node.name}' has {', '.join(foreign)}, which {node.op} does not have."
            yield Problem(
                "extra-attr", "info", reason, "An older or newer TensorFlow wrote it; it is ignored.", node.name
            )
        for attr in attributes.dtypes:
            dtype = dtype_name(node.attr[attr].type) if attr in node.attr else ""
            if dtype.startswith("dtype "):
                reason = f"The attribute {attr} of '{node.name}' is {dtype}, which is unknown."
                yield Problem("bad-dtype", "error", reason, "", node.name)
        for attr in attributes.shapes:
            fault = _shape_fault(node.attr[attr]) if attr in node.attr else ""
            if fault:
                yield Problem("bad-shape", "error", f"The attribute {attr} of '{node.name}' {fault}.", "", node.name)
        for attr, allowed in attributes.choices:
            if attr in node.attr and node.attr[attr].s not in allowed:
                given, known = node.attr[attr].s.decode("utf-8", "replace"), b", ".join(sorted(allowed)).decode()
                reason = f"The attribute {attr} of '{node.name}' is '{given}', which {node.op} does not know."
                yield Problem("bad-attr", "error", reason, f"It takes {known}.", node.name)
        values = [node.attr[attr] for attr in attributes.functions if attr in node.attr]
        for function in function_names(values):
            if function and function not in self._functions:
                reason = f"'{node.name}' calls the function '{function}', which the library does not have."
                yield Problem("no-function", "error", reason, "The file may be cut short.", node.name)

    def _colocation(self, node: Any) -> Iterator[Problem]:
        for raw in node.attr["_class"].list.s:
            other = colocated_with(raw)
            if other is not None and other not in self._names:
                reason = f"'{node.name}' is to be placed with '{other}', which does not exist."
                yield Problem("colocation", "info", reason, "Stripping drops the constraint.", node.name)


def _shape_fault(attribute: Any) -> str:
    """What is wrong with the shapes in an attribute; -1 is an unknown size, and right."""
    for shape in (attribute.shape, *attribute.list.shape):
        sizes = [dim.size for dim in shape.dim]
        if min(sizes, default=0) < -1:
            return f"has the size {min(sizes)}"
        if too_large(sizes):
            return f"has more than {MOST_ELEMENTS:,} elements"
    return ""


def const_fault(node: Any, content: int | None = None) -> str:
    """What is wrong with the value of a Const, in words; empty when nothing is. Allocates nothing.

    Args:
        content: bytes of its constant, where they were left in the file.
    """
    if "value" not in node.attr or not node.attr["value"].HasField("tensor"):
        return ""  # a missing attribute is a fault of its own
    tensor = node.attr["value"].tensor
    declared = node.attr["dtype"].type if "dtype" in node.attr else tensor.dtype
    if declared != tensor.dtype:
        return f"the node says {dtype_name(declared)}, its tensor {dtype_name(tensor.dtype)}"
    name = dtype_name(tensor.dtype)
    if name == "invalid" or name.startswith("dtype "):
        return f"it has no dtype ({name})"
    shape = shape_list(tensor.tensor_shape)
    if shape is None or -1 in shape:
        return "its shape is not known"
    if too_large(shape):
        return f"its shape has more than {MOST_ELEMENTS:,} elements"
    length = len(tensor.tensor_content) if content is None else content
    if not length or tensor.dtype in (DataType.STRING, DataType.VARIANT, DataType.RESOURCE):
        return ""
    try:
        wanted = math.prod(shape) * numpy_dtype(tensor.dtype).itemsize
    except TensorError:
        return f"{dtype_name(tensor.dtype)} is unknown"
    if length == wanted:
        return ""
    return f"shape {shape} of {dtype_name(tensor.dtype)} needs {wanted:,} bytes, it has {length:,}"
