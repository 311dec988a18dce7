"""Savers that a smaller graph cannot do without: only they know under which keys a checkpoint has its variables."""

from __future__ import annotations

from collections.abc import Sequence

from graphviewer.analysis.distinct import saved_copies
from graphviewer.analysis.ops import SAVE_OPS, VARIABLE_OPS
from graphviewer.analysis.restore_functions import restore_calls
from graphviewer.analysis.variable_keys import NoKeys, variable_sources
from graphviewer.errors import OperationError
from graphviewer.model.document import Document
from graphviewer.model.names import Endpoint, parse_input
from graphviewer.operations.cutting import select_fed
from graphviewer.operations.saver_parts import with_parts_of_savers
from graphviewer.operations.selection import Selection


def select_with_savers(document: Document, outputs: Sequence[Endpoint], inputs: Sequence[Endpoint]) -> Selection:
    """Like ``select_fed``, with the savers that alone know the keys of the variables among what stays.

    Of a function that restores them, the part for these variables stays: the selection's document then differs from
    the given one in that function and its call.

    Raises:
        OperationError: as ``select_fed``.
    """
    selection = select_fed(document, outputs, inputs)
    variables = [number for number in selection.numbers if document.graph.ops[number] in VARIABLE_OPS]
    if not variables or not _speaks_otherwise(document, variables):
        return selection
    calls = list(restore_calls(document))
    if not calls:
        return select_fed(document, outputs, inputs, also=_saver_ends(document))
    copies = _restored_in_their_place(document, calls, variables)
    document = with_parts_of_savers(document, calls, [*variables, *copies])
    return select_fed(document, outputs, inputs, also=[*calls, *_first_values(document, copies)])


def _restored_in_their_place(document: Document, calls: Sequence[int], variables: list[int]) -> list[int]:
    """Copies of variables that restore functions fill, as Keras has them; what makes one a copy is its first value."""
    restored = {source for call in calls for source in document.graph.inputs(call)}
    kept = set(variables)
    return [copy for copy, number in saved_copies(document).items() if number in kept and copy in restored]


def _first_values(document: Document, copies: list[int]) -> list[int]:
    graph = document.graph
    return [user for copy in copies for user in graph.consumers(copy) if graph.ops[user] == "AssignVariableOp"]


def _saver_ends(document: Document) -> list[int]:
    """The ends of the savers to keep, by node number."""
    graph = document.graph
    definition = document.saver
    if definition is not None:
        texts = (definition.filename_tensor_name, definition.save_tensor_name, definition.restore_op_name)
        ends = [graph.index.get(parse_input(text)[0], -1) for text in texts]
        if -1 not in ends:
            return ends
    return [number for number, op in enumerate(graph.ops) if op in SAVE_OPS]


def _speaks_otherwise(document: Document, variables: list[int]) -> bool:
    try:
        sources = variable_sources(document, NoKeys(), wanted=variables)
    except OperationError:  # several savers do not agree: which one counts is for freeze to ask
        return True
    names = document.graph.names
    return any(source.key != names[number] or source.slice is not None for number, source in sources.items())
