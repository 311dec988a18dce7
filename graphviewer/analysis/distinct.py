"""Which variables are variables of the model: a Keras export brings each one up to three times.

Beside the variable that the model reads there may be a copy that is only saved and restored (its first value is the
other's value), and what tracing left behind: a handle of the same name, but for a number, that nothing fills or uses.
Source: keras/src/export/saved_model_export_archive.py.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Any

from graphviewer.analysis.ops import VARIABLE_OPS
from graphviewer.analysis.refusals import calls_saving
from graphviewer.model.document import Document
from graphviewer.model.tensors import node_shape

_READ = "ReadVariableOp"
_HANDLE = "VarHandleOp"


def distinct_variables(document: Document) -> list[int]:
    """Numbers of the variable nodes, each variable once, in the order of the file."""
    graph = document.graph
    found = [number for number, op in enumerate(graph.ops) if op in VARIABLE_OPS]
    handles = [number for number in found if graph.ops[number] == _HANDLE]
    stems = {(_stem(graph.names[number]), *_type(document.node(number))) for number in handles}
    saves = cache(lambda user: calls_saving(document, user))  # few calls, each of them with every variable
    second = {n for n in handles if _is_copy(document, n, saves) or _is_left_over(document, n, stems)}
    return [number for number in found if number not in second]


def _is_copy(document: Document, number: int, saves: Callable[[int], bool]) -> bool:
    """The variable's first value is that of another one of its type; then it is only saved and restored."""
    graph = document.graph
    assigns = [user for user in graph.consumers(number) if graph.ops[user] == "AssignVariableOp"]
    if len(assigns) != 1:
        return False
    others = (user for user in graph.consumers(number) if user != assigns[0])
    source = _read_from(document, assigns[0])
    if source is None or source == number or _type(document.node(source)) != _type(document.node(number)):
        return False
    return all(graph.ops[user] == "VarIsInitializedOp" or _is_unread(document, user) or saves(user) for user in others)


def _read_from(document: Document, assign: int) -> int | None:
    """The variable whose value an assignment takes as it is."""
    graph = document.graph
    readers = [source for source in graph.inputs(assign) if graph.ops[source] == _READ]
    handles = [source for reader in readers for source in graph.inputs(reader) if graph.ops[source] == _HANDLE]
    return handles[0] if len(handles) == 1 else None


def _is_left_over(document: Document, number: int, stems: set[tuple[str, Any, Any]]) -> bool:
    """Nothing fills or uses the variable, and the file has another one of its name, numbered, and its type."""
    users = document.graph.consumers(number)
    name = document.graph.names[number]
    twin = (name, *_type(document.node(number)))
    return twin in stems and bool(users) and all(_is_unread(document, user) for user in users)


def _is_unread(document: Document, number: int) -> bool:
    return document.graph.ops[number] == _READ and not document.graph.consumers(number)


def _stem(name: str) -> str:
    """The name without the number that made it unique; empty where it has none."""
    found = re.fullmatch(r"(.+)_\d+", name)
    return found.group(1) if found else ""


def _type(node: Any) -> tuple[int, tuple[int, ...] | None]:
    shape = node_shape(node)
    return node.attr["dtype"].type if "dtype" in node.attr else 0, None if shape is None else tuple(shape)
