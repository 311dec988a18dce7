"""Nodes with several results: which of their outputs are outputs of the network, and what is known about each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from graphviewer.analysis import ops
from graphviewer.analysis.dtypes import output_dtypes
from graphviewer.model.document import Document
from graphviewer.model.function_body import calls_of
from graphviewer.model.tensors import shape_list, shape_text
from graphviewer.protos import DataType, dtype_name

RESULTS = ops.CALL_OPS | ops.DECODING_OPS
RESULTS |= {
    "CombinedNonMaxSuppression",
    "IdentityN",
    "Split",
    "SplitV",
    "TFLite_Detection_PostProcess",
    "TopKV2",
    "Unpack",
}
"""All outputs are results alike; those of other ops serve the backward pass, or are states."""

_NO_VALUES = frozenset({DataType.RESOURCE, DataType.VARIANT})
_MOST = 32
"""Outputs of one node that are proposed."""


def result_ports(document: Document, node: int) -> list[int]:
    """The outputs of a node that stand for themselves, in order; ``[0]`` for a node with one result."""
    definition, functions = document.node(node), document.functions
    if definition.op not in RESULTS and definition.op not in functions:
        return [0]
    dtypes = output_dtypes(definition, functions) or []
    handed = _handed_through(definition, functions)
    found = [at for at, dtype in enumerate(dtypes[:_MOST]) if dtype not in _NO_VALUES and at not in handed]
    return found or [0]


def result_text(document: Document, node: int, port: int, count: int) -> str:
    """``output 2 of 3, float32 [?, 10]``: what tells the results of one node apart."""
    definition, functions = document.node(node), document.functions
    dtypes = output_dtypes(definition, functions) or []
    dtype = f", {dtype_name(dtypes[port])}" if port < len(dtypes) else ""
    shape = _shape(definition, port, functions)
    known = f" {shape_text(shape)}" if shape is not None else ""
    return f"output {port + 1} of {count}{dtype}{known}"


def _handed_through(definition: Any, functions: Any) -> set[int]:
    """Results of a loop that are what it was given: weights, bounds."""
    is_loop = definition.op in ops.LOOP_CALL_OPS and "body" in definition.attr  # asking for what is not there makes it
    body = functions.get(definition.attr["body"].func.name) if is_loop else None
    if body is None:
        return set()
    wrapped = {node.name: node.input[0] for node in body.node_def if node.op == "Identity" and node.input}
    names = [body.ret.get(one.name, "").partition(":")[0] for one in body.signature.output_arg]
    results = [wrapped.get(name, name).partition(":")[0] for name in names]
    given = [argument.name for argument in body.signature.input_arg]
    return {at for at, (own, result) in enumerate(zip(given, results, strict=False)) if own == result}


def _shape(definition: Any, port: int, functions: Any) -> list[int] | None:
    """Sizes, -1 where unknown: as the node says, else the functions that it calls."""
    for key in ("_output_shapes", "output_shapes"):
        shapes = list(definition.attr[key].list.shape) if key in definition.attr else []
        if port < len(shapes) and not shapes[port].unknown_rank:
            return shape_list(shapes[port])
    known = [shape for shape in _in_functions(definition, port, functions) if shape is not None]
    return known[0] if known and all(shape == known[0] for shape in known) else None


def _in_functions(definition: Any, port: int, functions: Any) -> Iterator[list[int] | None]:
    """The shape of a result as each called function knows it."""
    for call in calls_of([definition], functions):
        for attribute, name in call.functions:
            if attribute != "cond" and port < len(functions[name].signature.output_arg):
                yield _returned_shape(functions[name], port)


def _returned_shape(function: Any, port: int) -> list[int] | None:
    name, _, output = function.ret.get(function.signature.output_arg[port].name, "").partition(":")
    for node in function.node_def:
        if node.name == name and output.endswith(":0") and "_output_shapes" in node.attr:
            shapes = node.attr["_output_shapes"].list.shape
            return shape_list(shapes[0]) if len(shapes) == 1 else None
    return None
