"""Which values a freeze can take for the variables, known before it runs.

A graph may have several savers that read different keys for the same variable, and a checkpoint may hold moving
averages beside the values of the last step. What can be given as ``saver`` is listed here with what it would read;
of a checkpoint, the index is read and no value.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from graphviewer.analysis.ops import VARIABLE_OPS
from graphviewer.analysis.variable_keys import NAMES_ONLY, Keys, NoKeys, Table, saver_tables, variable_sources
from graphviewer.errors import OperationError
from graphviewer.model.document import Document
from graphviewer.model.endpoints import endpoints_named
from graphviewer.model.names import Endpoint
from graphviewer.operations.freezing.variables import MOVING_AVERAGES, averages, opened, variables_text
from graphviewer.operations.registry import Choice

AUTOMATIC = ""


def saver_choices(
    document: Document, *, checkpoint: Any = None, outputs: Sequence[Endpoint | str] = ()
) -> tuple[Choice, ...]:
    """What freeze takes as ``saver``: at most one choice where there is nothing to choose.

    The first is the empty id, what happens when nothing is chosen; it is left out where savers disagree, so that one
    must be chosen.

    Args:
        document: with its savers.
        checkpoint: a path or an open one; by default the document's; without any, averages are not known.
        outputs: only the variables that these need count; by default all.

    Raises:
        CheckpointError: the checkpoint cannot be read.
        UnknownNameError: an output means no node.
    """
    wanted = _variables(document, outputs)
    if not wanted:
        return ()
    keys: Keys = opened(document, checkpoint) or NoKeys()
    plain = variable_sources(document, keys, wanted=wanted, saver=NAMES_ONLY)
    try:
        automatic = variable_sources(document, keys, wanted=wanted)
    except OperationError:  # savers disagree
        automatic = {}
    tables, defined = saver_tables(document)
    tables = {scope: kept for scope, table in tables.items() if (kept := _only(table, wanted))}
    news = [scope for scope, table in tables.items() if not _said(table, automatic)]
    choices = [_automatic(document, automatic, defined)] if automatic or not tables else []
    choices += [_saver(document, scope, tables[scope], keys, defined) for scope in news]
    choices += _averages(automatic or plain, keys)
    if tables and _keys(plain) != _keys(automatic):
        choices.append(_names(plain))
    return tuple(choices)


def _variables(document: Document, outputs: Sequence[Endpoint | str]) -> set[int]:
    graph = document.graph
    mask = graph.of_ops(VARIABLE_OPS)
    if outputs:
        texts = [str(output) for output in outputs]
        mask &= graph.ancestors(graph.index[end.node] for end in endpoints_named(document, texts, "outputs"))
    return set(np.flatnonzero(mask).tolist())


def _only(table: Table, wanted: set[int]) -> Table:
    return {number: source for number, source in table.items() if number in wanted}


def _keys(table: Table) -> Mapping[int, object]:
    return {number: (source.key, source.slice) for number, source in table.items()}


def _said(table: Table, automatic: Table) -> bool:
    """Nothing in ``table`` would be news."""
    known = _keys(automatic)
    return all(known.get(number) == said for number, said in _keys(table).items())


def _automatic(document: Document, found: Table, defined: str) -> Choice:
    told = f"the file's own saver '{defined}' says which key is whose" if defined else "what the graph says"
    return Choice(AUTOMATIC, "As the graph says", f"{told}{_example(document, found)}")


def _saver(document: Document, scope: str, table: Table, keys: Keys, defined: str) -> Choice:
    held = set(keys.keys())
    absent = sum(source.key not in held for source in table.values()) if held else 0
    lacking = f"; the checkpoint lacks {absent:,} of its keys" if absent else ""
    own = ", the file's own" if scope == defined else ""
    reason = f"reads {variables_text(len(table))}{own}{_example(document, table)}{lacking}"
    return Choice(scope, f"Saver '{scope}'", reason)


def _averages(found: Table, keys: Keys) -> list[Choice]:
    shadows = averages(set(keys.keys()))
    beside = [shadows[source.key] for source in found.values() if source.key in shadows]
    if not beside:
        return []
    reason = f"the checkpoint has averages of {len(beside):,} of {variables_text(len(found))}, such as '{beside[0]}'"
    return [Choice(MOVING_AVERAGES, "Moving averages", reason)]


def _names(plain: Table) -> Choice:
    return Choice(NAMES_ONLY, "The variables' own names", f"finds {variables_text(len(plain))}, and asks no saver")


def _example(document: Document, table: Table) -> str:
    """A variable that is read from another key than its name, if there is one."""
    names = document.graph.names
    other = next((number for number, source in table.items() if source.key != names[number]), None)
    return f", such as '{names[other]}' from '{table[other].key}'" if other is not None else ""
