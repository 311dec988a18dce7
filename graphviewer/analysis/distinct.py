"""Which variables are variables of the model: a Keras export brings each one up to three times.

Beside the variable that the model reads there may be a copy that is only saved and restored (its first value is the
other's value), and what tracing left behind: a handle of the same name, but for a number, that nothing fills or uses.
Source: keras/src/export/saved_model_export_archive.py.

Several nodes may also be handles of one variable, which is known by its shared name. What holds the path of an asset
file is no variable of the model.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Any

from graphviewer.analysis.asset_paths import settled_variables
from graphviewer.analysis.ops import VARIABLE_OPS
from graphviewer.analysis.refusals import calls_saving
from graphviewer.model.document import Document
from graphviewer.model.tensors import node_shape

_READ = "ReadVariableOp"
_HANDLE = "VarHandleOp"
ANONYMOUS = "cd2c89b7-88b7-44c8-ad83-06c2a9158347"
"""The shared name of handles that share nothing (ResourceHandle::ANONYMOUS_NAME)."""


def distinct_variables(document: Document) -> list[int]:
    """Numbers of the variable nodes, each variable once, in the order of the file."""
    graph = document.graph
    found = [number for number, op in enumerate(graph.ops) if op in VARIABLE_OPS]
    handles = [number for number in found if graph.ops[number] == _HANDLE]
    stems = {(_stem(graph.names[number]), *_type(document.node(number))) for number in handles}
    copies = saved_copies(document)
    second = {*copies, *(n for n in handles if _is_left_over(document, n, None if copies else stems))}
    paths = settled_variables(document)
    first: dict[tuple[str, str], int] = {}
    for number in found:
        if number not in second and number not in paths:
            first.setdefault(variable_identity(document.node(number)), number)
    return list(first.values())


def saved_copies(document: Document) -> dict[int, int]:
    """Variables that are only saved and restored in the place of another one, with the number of that one."""
    saves = cache(lambda user: calls_saving(document, user))  # few calls, each of them with every variable
    handles = (number for number, op in enumerate(document.graph.ops) if op == _HANDLE)
    found = ((number, _copied_from(document, number, saves)) for number in handles)
    return {number: source for number, source in found if source is not None}


def variable_identity(node: Any) -> tuple[str, str]:
    """What tells variables of one session apart: container and shared name, which is the node's where it has none.

    Handles that say to be anonymous share nothing. Source: tensorflow/core/framework/resource_mgr.h (ContainerInfo) and
    core/kernels/resource_variable_ops.cc (VarHandleOp).
    """
    container, shared = (
        node.attr[key].s.decode("utf-8", "surrogateescape") if key in node.attr else ""
        for key in ("container", "shared_name")
    )
    return container, shared if shared and shared != ANONYMOUS else node.name


def _copied_from(document: Document, number: int, saves: Callable[[int], bool]) -> int | None:
    """The variable of its type whose value it has first, where it is only saved and restored after that."""
    graph = document.graph
    assigns = [user for user in graph.consumers(number) if graph.ops[user] == "AssignVariableOp"]
    if len(assigns) != 1:
        return None
    others = (user for user in graph.consumers(number) if user != assigns[0])
    source = _read_from(document, assigns[0])
    if source is None or source == number or _type(document.node(source)) != _type(document.node(number)):
        return None
    if all(graph.ops[user] == "VarIsInitializedOp" or _is_unread(document, user) or saves(user) for user in others):
        return source
    return None


def _read_from(document: Document, assign: int) -> int | None:
    """The variable whose value an assignment takes as it is."""
    graph = document.graph
    readers = [source for source in graph.inputs(assign) if graph.ops[source] == _READ]
    handles = [source for reader in readers for source in graph.inputs(reader) if graph.ops[source] == _HANDLE]
    return handles[0] if len(handles) == 1 else None


def _is_left_over(document: Document, number: int, stems: set[tuple[str, Any, Any]] | None) -> bool:
    """Nothing fills or uses the variable, and the file has another one of its name, numbered, and its type.

    Args:
        stems: names without numbers, and types; None where the other one may have any name, as layers of one name have.
    """
    users = document.graph.consumers(number)
    name = document.graph.names[number]
    known = stems is None or (name, *_type(document.node(number))) in stems
    return known and bool(users) and all(_is_unread(document, user) for user in users)


def _is_unread(document: Document, number: int) -> bool:
    return document.graph.ops[number] == _READ and not document.graph.consumers(number)


def _stem(name: str) -> str:
    """The name without the number that made it unique; empty where it has none."""
    found = re.fullmatch(r"(.+)_\d+", name)
    return found.group(1) if found else ""


def _type(node: Any) -> tuple[int, tuple[int, ...] | None]:
    shape = node_shape(node)
    return node.attr["dtype"].type if "dtype" in node.attr else 0, None if shape is None else tuple(shape)
