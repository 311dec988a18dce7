"""Variables that functions make for themselves: TensorFlow takes those of one shared name for one and the same."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

import numpy as np

from graphviewer.analysis.ops import VARIABLE_OPS
from graphviewer.analysis.variable_keys import Source
from graphviewer.errors import OperationError
from graphviewer.model.document import Document
from graphviewer.model.nodes import control_inputs
from graphviewer.operations.freezing.body import Value
from graphviewer.operations.freezing.variables import Checkpoint, Constant, constant_of, constants, opened


class OwnVariables:
    """Gives the values of variables that functions make, by their shared names.

    Args:
        document: whose checkpoint has the values.
        checkpoint: what the user gave for it.
        saver, rename: see ``constants``.
        report: told of every variable.
    """

    def __init__(
        self, document: Document, checkpoint: Any, saver: str, rename: str, report: Callable[[str, str, str], None]
    ) -> None:
        self._document, self._given, self._saver, self._rename = document, checkpoint, saver, rename
        self._report = report
        self._values: Checkpoint | None = None
        self.found: dict[tuple[bytes, bytes], Constant] = {}

    def __call__(self, node: Any, function: str) -> tuple[Value, Any]:
        """The value that the variable carries, and the constant in its place.

        Raises:
            OperationError: nothing says which value it has, or it does not fit.
        """
        key = _shared(node)
        if key not in self.found:
            self.found[key] = self._find(node, function, key)
        constant = self.found[key]
        assert self._values is not None
        made = constant.node(self._values)
        made.name = node.name
        made.input.extend(control_inputs(node))
        self._report(f"{function}:{node.name}", "variable -> constant", constant.told)
        return Value(constant.dtype, constant.shape, node.op == "VarHandleOp", node.name), made

    def _find(self, node: Any, function: str, key: tuple[bytes, bytes]) -> Constant:
        if self._values is None:
            self._values = opened(self._document, self._given)
        outer = self._outer.get(key) if key[1] else None
        if outer is not None:
            return constants(self._document, [outer], self._values, saver=self._saver, rename=self._rename)[outer]
        shared = key[1].decode("utf-8", "replace")
        if self._values is None or not shared or shared not in self._values.keys():  # noqa: SIM118 - not a mapping
            where = f"neither the graph nor the checkpoint has a value of '{shared}'" if shared else "it has no name"
            raise OperationError(
                f"The function '{function}', which the outputs call, makes the variable '{node.name}' of its own, and "
                f"{where}; it cannot be frozen.",
                "Choose outputs that do not call it.",
            )
        return constant_of(node, Source(shared, None, "key of its shared name"), self._values)

    @cached_property
    def _outer(self) -> Mapping[tuple[bytes, bytes], int]:
        """Variables of the graph by what TensorFlow knows them by."""
        numbers = np.flatnonzero(self._document.graph.of_ops(VARIABLE_OPS)).tolist()
        return {_shared(self._document.node(number)): number for number in reversed(numbers)}


def _shared(node: Any) -> tuple[bytes, bytes]:
    """Container and shared name."""
    container, shared = (node.attr[name].s if name in node.attr else b"" for name in ("container", "shared_name"))
    return container, shared
