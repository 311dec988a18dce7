"""Put the checkpoint's values into the graph.

Every variable that the outputs need becomes a constant of the same name, with its value from the checkpoint; reads,
gathers, conditionals, loops and functions that handled variables handle values from then on. What the outputs do not
need goes away, as in extract; chosen inputs become placeholders. The result is one file that runs without a
checkpoint. Lookup tables stay, with the nodes that fill them. Each rewrite is reported.

Only variables that the outputs need are read, so a missing optimizer slot stops nothing; missing or unfitting values
are listed all at once, and nothing is written. No session is run, and TensorFlow is not imported.

Batch norms on batch statistics and active dropout give other results than the network was trained for: a graph whose
outputs need them is refused unless training mode is allowed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from graphviewer.analysis.effects import effect_only
from graphviewer.analysis.ops import (
    VARIABLE_OPS,
    op_mask,
)
from graphviewer.errors import OperationError, TrainingModeError
from graphviewer.model.document import Document
from graphviewer.model.graph import Mask
from graphviewer.model.names import Endpoint
from graphviewer.model.progress import Progress
from graphviewer.model.provenance import Origin
from graphviewer.model.tensors import node_shape
from graphviewer.operations.cutting import fed_names, output_names, placeholder_origins, select_fed, unused_inputs
from graphviewer.operations.endpoints import require_outputs
from graphviewer.operations.freezing.body import Body, Value, graph_tensor
from graphviewer.operations.freezing.functions import Functions
from graphviewer.operations.freezing.order import require_order
from graphviewer.operations.freezing.rules import propagate
from graphviewer.operations.freezing.tables import table_initializers, tables
from graphviewer.operations.freezing.training_mode import find_training_mode
from graphviewer.operations.freezing.variables import (
    MOVING_AVERAGES,
    TWO_GIB,
    Checkpoint,
    Constant,
    averages,
    constants,
    opened,
)
from graphviewer.operations.library import called
from graphviewer.operations.registry import CHECKPOINT, INPUTS, OUTPUTS, Parameter, Result, Rewrite, operation
from graphviewer.operations.selection import Selection, assemble, join, provenance_of
from graphviewer.operations.sources import source_warnings

_REPORT_EVERY = 50

ALLOW_TRAINING_MODE = Parameter(
    "allow_training_mode",
    "Allow training mode",
    "Freeze even if batch norms use batch statistics, or dropout is active.",
    "flag",
    False,
)
ACCEPT_VALUE_BEFORE = Parameter(
    "accept_value_before",
    "Accept values before updates",
    "Let reads that wait for an update of their variable give the value before it.",
    "flag",
    False,
    advanced=True,
)
KEEP_COLOCATION = Parameter(
    "keep_colocation",
    "Keep colocated nodes",
    "Keep nodes that kept ones are colocated with, as TensorFlow does.",
    "flag",
    False,
    advanced=True,
)
SAVER = Parameter(
    "saver",
    "Saver",
    "Name scope of the saver whose keys to use; 'names': the variables' own names; 'moving-averages': the averages.",
    "text",
    "",
    advanced=True,
)
RENAME = Parameter(
    "rename",
    "Rename scope",
    "Take variables under scope 'old' from keys under 'new': old=new.",
    "text",
    "",
    advanced=True,
)


@operation(
    id="freeze",
    label="Freeze",
    parameters=(
        OUTPUTS,
        INPUTS,
        CHECKPOINT,
        ALLOW_TRAINING_MODE,
        ACCEPT_VALUE_BEFORE,
        KEEP_COLOCATION,
        SAVER,
        RENAME,
    ),
)
def freeze(
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
) -> Result:
    """Variables -> constants for what ``outputs`` need.

    Raises:
        OperationError: outputs or inputs that cannot be such; damage in the way; values missing or unfitting; a node
            that needs a variable itself; training mode that is not allowed.
        CheckpointError: the checkpoint cannot be read.
    """
    require_outputs(document, outputs)
    progress(0.0, "Tracing what the outputs need")
    needed = partial(
        select_fed, document, outputs, inputs, drop=_waits_without_use(document), colocated=keep_colocation
    )
    selection = needed()
    lookups = tables(document, selection.numbers)
    fillers = table_initializers(document, lookups)
    if fillers:
        selection = needed(also=fillers)
    warnings = [*unused_inputs(selection, inputs), *_mode_warnings(selection, allow_training_mode)]
    progress(0.1, "Matching variables and checkpoint")
    variables = [number for number in selection.numbers if document.graph.ops[number] in VARIABLE_OPS]
    values = opened(document, checkpoint) if variables else None
    found = constants(document, variables, values, saver=saver, rename=rename)
    progress(0.2, "Following the variables")
    log = _Log()
    functions = Functions(document.graph_def.library, log, accept_value_before=accept_value_before)
    body = _rewritten(selection, found, functions, log)
    if not accept_value_before:
        require_order(selection, body, functions)
    result, provenance = _written(selection, found, body, functions, values, log, progress)
    return Result(
        result,
        provenance,
        warnings=(
            *warnings,
            *_result_warnings(found, log),
            *_averages_offer(found, values),
            *_table_warnings(selection, lookups, fillers),
        ),
        rewrites=tuple(log.entries),
        frozen=len(found),
        outputs=output_names(selection, outputs),
        inputs=fed_names(selection, inputs),
    )


class _Log:
    """Rewrites in the order in which they happen, one per node."""

    def __init__(self) -> None:
        self.entries: list[Rewrite] = []
        self._seen: set[str] = set()

    def __call__(self, node: str, rule: str, reason: str) -> None:
        if node not in self._seen:
            self._seen.add(node)
            self.entries.append(Rewrite(node, rule, reason))


def _waits_without_use(document: Document) -> Mask:
    """bool [n]: nodes whose control edges are left out: updates, checks, and reads that only wait for an update."""
    graph = document.graph
    effects = effect_only(document)
    waiting = np.zeros(len(graph), bool)
    waiting[graph.dst[graph.control & effects[graph.src]]] = True
    return effects | (waiting & op_mask(graph, {"ReadVariableOp"}))


def _mode_warnings(selection: Selection, allow_training_mode: bool) -> list[str]:
    mode = find_training_mode(selection)
    refusal = mode.refusal()
    if refusal and not allow_training_mode:
        raise TrainingModeError(
            refusal,
            "Apply inference mode first, choose outputs of the validation tower, which shares the variables, "
            "or allow training mode (in the shell: --allow-training-mode).",
        )
    return [*([refusal] if refusal else []), *mode.warnings(), *source_warnings(selection)]


def _rewritten(selection: Selection, found: Mapping[int, Constant], functions: Functions, log: _Log) -> Body:
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

    nodes = {name: document.node(number) for name, number in numbers.items()} if start else {}
    body = Body(nodes, lambda node: selection.copy(numbers[node.name]), tensors, report=log)
    body.reserve(graph.names)
    propagate(body, start)
    functions.settle(body)
    own = functions.makes_variables(called(map(document.node, selection.numbers), document.functions))
    if own:
        raise OperationError(
            f"The function '{own}', which the outputs call, makes a variable of its own; it cannot be frozen.",
            "Choose outputs that do not call it.",
        )
    return body


def _written(
    selection: Selection,
    found: Mapping[int, Constant],
    body: Body,
    functions: Functions,
    values: Checkpoint | None,
    log: _Log,
    progress: Progress,
) -> tuple[Document, Any]:
    """The document, each constant read when its turn comes, and where its nodes came from."""
    graph = selection.graph
    new: dict[int, Any] = {graph.index[name]: node for name, node in body.new.items()}
    origins = placeholder_origins(selection)
    for name, origin in origins.items():
        log(name, origin.rule, origin.reason)
    total = sum(constant.size for constant in found.values()) or 1
    done = 0

    def make(constant: Constant, place: int) -> Any:
        nonlocal done
        if place % _REPORT_EVERY == 0 or constant.size > total // _REPORT_EVERY:
            progress(0.3 + 0.7 * done / total, f"Reading {constant.name}")
        done += constant.size
        return constant.node(values) if values is not None else None

    for place, (number, constant) in enumerate(found.items()):
        new[number] = partial(make, constant, place)
        log(constant.name, "variable -> constant", _told(constant))
    _report_waits(selection, log)
    for entry in log.entries:
        if entry.node in graph.index and entry.node not in origins:
            origins[entry.node] = Origin(entry.node, entry.rule, entry.reason)
    for extra in body.extra:
        origins[extra.name] = Origin(None, "added", "the axis of a gather, which was the variable's first dimension")
    library = functions.library() if body.calls else None
    document = assemble(selection, new=new, extra=body.extra, library=library)
    return replace(document, checkpoint=None), provenance_of(selection, origins)


def _told(constant: Constant) -> str:
    part = ""
    if constant.source.slice is not None:
        part = " [" + ", ".join(f"{start}:{start + size}" for start, size in constant.source.slice) + "]"
    return f"its value is '{constant.source.key}'{part} of the checkpoint ({constant.source.told_by})"


def _report_waits(selection: Selection, log: _Log) -> None:
    for number, sources in selection.waits_dropped().items():
        names = join(f"'{source}'" for source in sources)
        log(selection.graph.names[number], "wait dropped", f"no longer waits for {names}, of which it read nothing")


def _result_warnings(found: Mapping[int, Constant], log: _Log) -> list[str]:
    warnings = [
        f"'{entry.node}' updated a variable on the way to an output; it only computes the new value now."
        for entry in log.entries
        if entry.rule == "update -> value"
    ]
    size = sum(constant.size for constant in found.values())
    if size >= TWO_GIB:
        warnings.append(f"The constants take {size / 2**30:.1f} GiB; TensorFlow cannot read a GraphDef over 2 GiB.")
    return warnings


def _averages_offer(found: Mapping[int, Constant], values: Checkpoint | None) -> list[str]:
    """A warning where the checkpoint has moving averages that were not taken."""
    shadows = averages(set(values.keys())) if values is not None else {}
    beside = [shadows[constant.source.key] for constant in found.values() if constant.source.key in shadows]
    if not beside:
        return []
    offer = (
        f"The checkpoint also has moving averages of {len(beside):,} of the {len(found):,} variables, such as "
        f"'{beside[0]}'; the values of the last step were taken. For the averages: --saver {MOVING_AVERAGES}."
    )
    return [offer]


def _table_warnings(selection: Selection, lookups: Sequence[int], fillers: Sequence[int]) -> list[str]:
    if not lookups:
        return []
    names = selection.graph.names
    run = join((f"'{names[number]}'" for number in fillers), 20) or "what fills them"
    return [f"The graph has lookup tables ({join(names[n] for n in lookups)}): run {run} once before anything else."]
