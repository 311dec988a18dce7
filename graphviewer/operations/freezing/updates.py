"""Which variables functions change, and by what: an update that a frozen graph leaves out, and that others may need."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from graphviewer.analysis.ops import PASS_OPS, is_variable_write
from graphviewer.errors import OperationError
from graphviewer.operations.freezing.body import Tensor
from graphviewer.operations.freezing.calls import call_of, called_functions
from graphviewer.operations.freezing.function_body import FunctionBody

_MAX_DEPTH = 100


class Update(NamedTuple):
    """A node that changes a variable.

    Attributes:
        where: its name, for a message.
        op: of that node.
    """

    where: str
    op: str


class Updates:
    """The arguments that functions change, found once for each function.

    Args:
        functions: the library, by name.
    """

    def __init__(self, functions: Mapping[str, Any]) -> None:
        self._functions = functions
        self._found: dict[str, dict[int, Update]] = {}

    def by_function(self, name: str, depth: int = 0) -> Mapping[int, Update]:
        """By number of the argument: what changes the variable that it names, here or in functions called from here."""
        if name in self._found or name not in self._functions or depth > _MAX_DEPTH:
            return self._found.get(name, {})
        found = self._found[name] = {}
        source = FunctionBody(self._functions[name], self._functions)
        place = {argument: at for at, argument in enumerate(source.arguments)}
        for node in source.all_nodes.values():
            tensors = source.tensors(node)
            for slot, update in self.by_node(node, f"'{node.name}' in function '{name}'", depth + 1).items():
                argument = _origin(source, tensors[slot]) if slot < len(tensors) else ""
                if argument in place:
                    found.setdefault(place[argument], update)
        return found

    def by_node(self, node: Any, where: str, depth: int = 0) -> dict[int, Update]:
        """By number of the input: what changes the variable that it names.

        Args:
            where: how a message calls the node.
        """
        call = call_of(node, self._functions)
        if call is None:
            return {0: Update(where, node.op)} if is_variable_write(node.op) else {}
        found: dict[int, Update] = {}
        for function in called_functions(node, call):
            for argument, update in self.by_function(function.name, depth).items():
                slot = call.slot(argument)
                if slot >= 0:
                    found.setdefault(slot, update)
        return found


def _origin(source: FunctionBody, tensor: Tensor) -> str:
    """The argument, or the node, behind nodes that hand a handle on."""
    seen = set()
    while (node := source.all_nodes.get(tensor[0])) is not None and node.op in PASS_OPS and node.input:
        if tensor[0] in seen:
            break
        seen.add(tensor[0])
        tensor = source.tensor(node.input[0])
    return tensor[0]


def late_read(where: str, variable: str, update: Update) -> OperationError:
    """The error for a read that waits for an update."""
    return OperationError(
        f"{where} reads '{variable}' after {update.where} ({update.op}) has changed it; a frozen graph has only the "
        "value before.",
        "Choose outputs that do not wait for the update, or accept values before updates.",
        shell="Choose outputs that do not wait for the update, or take the value before with --accept-value-before.",
    )
