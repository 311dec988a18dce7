"""dtypes of what a node reads and gives, list arguments spread out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

from graphviewer import protos

REF = 100
"""Added to a dtype number: a reference to a variable."""

UNKNOWN = 0
"""The node does not tell."""

MOST = 100_000
"""No list argument is longer, whatever a damaged file claims."""


def output_dtypes(node: Any, functions: Mapping[str, Any]) -> list[int] | None:
    """dtype numbers of a NodeDef's outputs; None for an op that neither TensorFlow nor the library describes."""
    definition = _definition(node.op, functions)
    return None if definition is None else _spread(definition.output_arg, node, MOST)


def input_dtypes(node: Any, functions: Mapping[str, Any]) -> list[int] | None:
    """dtype numbers that a NodeDef's data inputs must have; None for an op that nothing describes."""
    definition = _definition(node.op, functions)
    return None if definition is None else _spread(definition.input_arg, node, len(node.input))


def _definition(op: str, functions: Mapping[str, Any]) -> Any | None:
    function = functions.get(op)
    return protos.op_def(op) if function is None else function.signature


def _spread(arguments: Iterable[Any], node: Any, most: int) -> list[int]:
    found: list[int] = []
    for argument in arguments:
        if argument.type_list_attr:
            listed = node.attr[argument.type_list_attr].list.type if argument.type_list_attr in node.attr else ()
            found += list(listed)[:most]
            continue
        dtype = argument.type or _type_attribute(node, argument.type_attr)
        if dtype and argument.is_ref:
            dtype += REF
        count = 1
        if argument.number_attr:
            count = node.attr[argument.number_attr].i if argument.number_attr in node.attr else 0
        found += [dtype] * max(0, min(count, most))
    return found


def _type_attribute(node: Any, name: str) -> int:
    return int(node.attr[name].type) if name in node.attr else _defaults(node.op).get(name, UNKNOWN)


@cache
def _defaults(op: str) -> Mapping[str, int]:
    """dtype attributes of an op that may be left out, with what they are then."""
    definition = protos.op_def(op)
    attributes = definition.attr if definition is not None else ()
    optional = (attr for attr in attributes if attr.type == "type" and attr.HasField("default_value"))
    return {attr.name: attr.default_value.type for attr in optional}
