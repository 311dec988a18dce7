"""Nodes that are there for what they do, not for what they give: a graph for inference need not wait for them."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphviewer import protos
from graphviewer.analysis.ops import CALL_OPS, CHECK_OPS, MERGE_OPS, SWITCH_OPS, is_variable_write
from graphviewer.model.document import Document
from graphviewer.model.graph import Mask
from graphviewer.protos import DataType

_AROUND_CHECKS = CHECK_OPS | {"Const", "Identity", "NoOp"}


def effect_only(document: Document) -> Mask:
    """bool [n]: nodes that others wait for only because of a variable write, a check, or a group of these.

    A control edge from such a node carries no value, so a graph for inference can drop it. What groups them: a NoOp all
    of whose inputs are such nodes, and an Identity or Merge that waits for one (TF1's conditional asserts end so).
    Pivots of a conditional (``cond/switch_t``) are never among them: their control edges decide what runs. TF2's
    conditional asserts are calls (``If``) of functions that do nothing else.
    """
    graph = document.graph
    found = graph.of_ops(is_variable_write) | graph.of_ops(CHECK_OPS) | _checking_calls(document)
    group = graph.of_ops({"NoOp"})
    first = graph.first_inputs()
    after_switch = (first >= 0) & graph.of_ops(SWITCH_OPS)[first]
    carrier = graph.of_ops({"Identity", *MERGE_OPS}) & ~after_switch
    total = np.bincount(graph.dst, minlength=len(graph))
    while True:
        among = np.bincount(graph.dst[found[graph.src]], minlength=len(graph))
        new = ~found & ((group & (among == total) & (total > 0)) | (carrier & (among > 0)))
        if not new.any():
            return found
        found |= new


def _checking_calls(document: Document) -> Mask:
    """bool [n]: calls of functions that check, and give nothing but whether they ran."""
    graph, functions = document.graph, document.functions
    found = np.zeros(len(graph), np.bool_)
    if not functions:
        return found
    quiet = {name for name, function in functions.items() if _only_checks(function)}
    checking = {name for name in quiet if any(node.op in CHECK_OPS for node in functions[name].node_def)}
    for number in np.flatnonzero(graph.of_ops(CALL_OPS)).tolist() if checking else ():
        called = set(protos.function_names(document.node(number).attr.values()))
        found[number] = called <= quiet and not called.isdisjoint(checking)
    return found


def _only_checks(function: Any) -> bool:
    given = all(argument.type == DataType.BOOL for argument in function.signature.output_arg)
    return given and all(node.op in _AROUND_CHECKS for node in function.node_def)
