"""All that a freeze decides before it reads a value: what stays, what becomes of it, and which constants it needs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from graphviewer.analysis.control_flow import waits_without_use
from graphviewer.analysis.effects import effect_only
from graphviewer.analysis.ops import VARIABLE_OPS
from graphviewer.errors import OperationError, TrainingModeError
from graphviewer.model.document import Document
from graphviewer.model.graph import Mask
from graphviewer.model.names import Endpoint
from graphviewer.model.progress import Progress
from graphviewer.model.tensors import node_shape
from graphviewer.operations.cutting import select_fed, unused_inputs
from graphviewer.operations.endpoints import require_outputs
from graphviewer.operations.freezing.body import Body, Value, graph_tensor
from graphviewer.operations.freezing.files import PathConstant, path_constants
from graphviewer.operations.freezing.functions import Functions
from graphviewer.operations.freezing.order import require_order
from graphviewer.operations.freezing.own_variables import OwnVariables
from graphviewer.operations.freezing.rules import propagate
from graphviewer.operations.freezing.tables import table_initializers, tables
from graphviewer.operations.freezing.training_mode import TrainingMode, find_training_mode
from graphviewer.operations.freezing.variables import Checkpoint, Constant, constants, opened, unused_rename
from graphviewer.operations.registry import Rewrite
from graphviewer.operations.selection import Selection
from graphviewer.operations.sources import source_warnings


class Log:
    """Rewrites in the order in which they happen, one per node."""

    def __init__(self) -> None:
        self.entries: list[Rewrite] = []
        self._seen: set[str] = set()

    def __call__(self, node: str, rule: str, reason: str) -> None:
        if node not in self._seen:
            self._seen.add(node)
            self.entries.append(Rewrite(node, rule, reason))


@dataclass(frozen=True, eq=False)
class Plan:
    """What a freeze will write.

    Attributes:
        selection: what stays.
        body: what becomes of its nodes, constants apart.
        functions: the library with its specialised copies.
        variables: what each variable becomes, by node number.
        paths: constants and placeholders that hold paths of files, and what they become.
        tables, fillers: lookup tables, and what fills them.
        values: the checkpoint, whose values are not read yet.
        log: what was rewritten so far.
        warnings: what to tell so far.
        frozen: how many variables become constants, those of functions included.
        switches: placeholders that decide whether what stays computes as in training.
    """

    selection: Selection
    body: Body
    functions: Functions
    variables: Mapping[int, Constant | PathConstant]
    paths: Mapping[int, PathConstant]
    tables: Sequence[int]
    fillers: Sequence[int]
    values: Checkpoint | None
    log: Log
    warnings: Sequence[str]
    frozen: int
    switches: tuple[str, ...] = ()

    def constants(self) -> dict[int, Constant | PathConstant]:
        """Everything that becomes a constant, by node number."""
        return {**self.variables, **self.paths}

    def waits(self, number: int) -> list[str]:
        """What a variable waits for, and so does its constant: that alone can make it a part of a loop."""
        texts = self.selection.inputs(number)
        return [
            one for one in (self.selection.document.node(number).input if texts is None else texts) if one[0] == "^"
        ]

    def library(self) -> Any:
        """The FunctionDefLibrary to take functions from; None for the document's own."""
        return self.functions.library() if self.body.calls else None


def make_plan(
    document: Document,
    *,
    outputs: Sequence[Endpoint],
    inputs: Sequence[Endpoint] = (),
    checkpoint: Any = None,
    progress: Progress,
    allow_training_mode: bool = False,
    accept_value_before: bool = False,
    keep_colocation: bool = False,
    saver: str = "",
    rename: str = "",
    assets: str = "",
) -> Plan:
    """Decide everything; the parameters are those of ``freeze``.

    Raises:
        OperationError, CheckpointError: as ``freeze``.
    """
    require_outputs(document, outputs)
    progress(0.0, "Tracing what the outputs need")
    drop = _waits_without_use(document)
    needed = partial(select_fed, document, outputs, inputs, drop=drop, colocated=keep_colocation)
    selection = needed()
    lookups = tables(document, selection.numbers)
    fillers = table_initializers(document, lookups)
    if fillers:
        selection = needed(also=fillers)
    mode = _training_mode(selection, allow_training_mode)
    told = [mode.refusal(), *mode.warnings(), *source_warnings(selection)]
    warnings = [*unused_inputs(selection, inputs), *filter(None, told)]
    progress(0.1, "Matching variables and checkpoint")
    paths = path_constants(selection, fillers, assets)
    variables = [number for number in selection.numbers if document.graph.ops[number] in VARIABLE_OPS]
    settled = {number: paths.pop(number) for number in variables if number in paths}
    trained = [number for number in variables if number not in settled]
    values = opened(document, checkpoint) if trained else None
    found: dict[int, Constant | PathConstant] = dict(settled)
    found.update(constants(document, trained, values, saver=saver, rename=rename))
    progress(0.2, "Following the variables")
    log = Log()
    warnings += unused_rename(found.values(), rename)
    own = OwnVariables(document, checkpoint, saver, rename, log)
    functions = Functions(document.graph_def.library, log, own=own, accept_value_before=accept_value_before)
    body = _rewritten(selection, found, functions, log)
    if not accept_value_before:
        require_order(selection, body, functions, settled)
    frozen = len(found) + sum(constant.name not in document.graph.index for constant in own.found.values())
    return Plan(
        selection, body, functions, found, paths, lookups, fillers, values, log, warnings, frozen, mode.switches
    )


def _waits_without_use(document: Document) -> Mask:
    """bool [edges]: control edges that are left out: from updates, checks, and reads that only wait for an update."""
    graph = document.graph
    effects = effect_only(document)
    waiting = np.zeros(len(graph), bool)
    waiting[graph.dst[graph.control & effects[graph.src]]] = True
    return waits_without_use(graph, effects | (waiting & graph.of_ops({"ReadVariableOp"})))


def _training_mode(selection: Selection, allowed: bool) -> TrainingMode:
    mode = find_training_mode(selection)
    refusal = mode.refusal()
    if refusal and not allowed and mode.kept.issuperset(mode.fixed):
        why = "Inference mode leaves bodies of loops, and of conditionals on what is computed, as they are"
        other = "choose outputs of the validation tower, which shares the variables"
        raise OperationError(
            refusal,
            f"{why}: {other}, or allow training mode.",
            shell=f"{why}: {other}, or allow it with --allow-training-mode.",
        )
    if refusal and not allowed:
        raise TrainingModeError(
            refusal,
            "Apply inference mode first, choose outputs of the validation tower, which shares the variables, "
            "or allow training mode.",
        )
    return mode


def _rewritten(
    selection: Selection, found: Mapping[int, Constant | PathConstant], functions: Functions, log: Log
) -> Body:
    """The graph's nodes with the values followed from every variable, frozen or fed."""
    document, graph = selection.document, selection.graph
    start = {
        (constant.name, 0): Value(constant.dtype, constant.shape, graph.ops[number] == "VarHandleOp", constant.name)
        for number, constant in found.items()
    }
    for (number, _), placeholder in selection.placeholders.items():
        node = document.node(number)
        if node.op in VARIABLE_OPS:
            shape = node_shape(node)
            known = tuple(shape) if shape is not None else None
            value = Value(node.attr["dtype"].type, known, node.op == "VarHandleOp", node.name)
            start[placeholder.name, 0] = value
    numbers = {graph.names[number]: number for number in selection.numbers}

    def tensors(node: Any) -> list[tuple[str, int]]:
        inputs = selection.inputs(numbers[node.name])
        return [graph_tensor(text) for text in (node.input if inputs is None else inputs)]

    followed = numbers if start or functions.make_variables() else {}
    nodes = {name: document.node(number) for name, number in followed.items()}
    library = functions.by_name
    body = Body(nodes, lambda node: selection.copy(numbers[node.name]), tensors, library=library, report=log)
    body.reserve(graph.names)
    propagate(body, start)
    functions.settle(body)
    return body
