"""Lookup tables: they stay what they are in a frozen graph, and something must fill them before it runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from graphviewer.analysis.ops import CALL_OPS, is_table_initializer, is_table_op
from graphviewer.analysis.roles.library import function_ops
from graphviewer.model.document import Document
from graphviewer.model.names import parse_input
from graphviewer.operations.registry import TableUse
from graphviewer.operations.selection import join
from graphviewer.operations.tensor_types import output_dtypes
from graphviewer.protos import DataType


def tables(document: Document, numbers: Iterable[int]) -> list[int]:
    """Nodes among ``numbers`` that give a table's handle: tables, and calls of functions that make one."""
    ops, making = document.graph.ops, _calls(document, is_table_op)
    return [
        number
        for number in numbers
        if is_table_op(ops[number]) or (number in making and _gives_handle(document, number))
    ]


def table_initializers(document: Document, tables: Iterable[int]) -> list[int]:
    """Nodes that fill ``tables``, themselves or by calling a function that does."""
    graph = document.graph
    consumers = sorted({consumer for table in tables for consumer in graph.consumers(table)})
    filling = _calls(document, is_table_initializer) if consumers else set()
    return [number for number in consumers if is_table_initializer(graph.ops[number]) or number in filling]


def table_uses(document: Document, tables: Iterable[int], fillers: Iterable[int]) -> tuple[TableUse, ...]:
    """Each table with the nodes among ``fillers`` that read its handle."""
    graph, fill = document.graph, set(fillers)
    return tuple(
        TableUse(graph.names[table], tuple(graph.names[one] for one in sorted({*graph.consumers(table)} & fill)))
        for table in tables
    )


def table_warnings(document: Document, uses: Sequence[TableUse]) -> list[str]:
    """What to run before the tables are read, and what to feed then."""
    if not uses:
        return []
    fillers = dict.fromkeys(name for use in uses for name in use.initializers)
    run = join((f"'{name}'" for name in fillers), 20) or "what fills them"
    told = f"The graph has lookup tables ({join(use.name for use in uses)}): run {run} once before anything else"
    prefix = parse_input(document.saver.filename_tensor_name)[0] if document.saver is not None else ""
    graph = document.graph
    if prefix in graph.index and graph.ancestors(graph.index[name] for name in fillers)[graph.index[prefix]]:
        return [f"{told}, with the checkpoint's prefix fed to '{prefix}': entries that were added come from there."]
    return [f"{told}."]


def _gives_handle(document: Document, number: int) -> bool:
    return DataType.RESOURCE in (output_dtypes(document, number) or ())


def _calls(document: Document, family: Callable[[str], bool]) -> set[int]:
    """Calls of functions that hold an op of a family, themselves or in functions that they call."""
    ops, inside = document.graph.ops, function_ops(document)
    return {number for number, held in inside.items() if ops[number] in CALL_OPS and any(map(family, held))}
