"""Put the checkpoint's values into the graph.

Every variable that the outputs need becomes a constant of the same name, with its value from the checkpoint; reads,
gathers, conditionals, loops and functions that handled variables handle values from then on. What the outputs do not
need goes away, as in extract; chosen inputs become placeholders. The result is one file that runs without a
checkpoint. Lookup tables stay, with the nodes that fill them; paths of a SavedModel's asset files are written into the
result, and the report lists the files that must travel along. Each rewrite is reported.

Only variables that the outputs need are read, so a missing optimizer slot stops nothing; missing or unfitting values
are listed all at once, and nothing is written. No session is run, and TensorFlow is not imported.

Batch norms on batch statistics and active dropout give other results than the network was trained for: a graph whose
outputs need them is refused unless training mode is allowed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from graphviewer.model.document import Document
from graphviewer.model.names import Endpoint
from graphviewer.model.progress import Progress, silent
from graphviewer.model.provenance import Origin, Provenance
from graphviewer.operations.cutting import fed_names, output_names, placeholder_origins
from graphviewer.operations.freezing.files import PathConstant, file_warnings, files_read
from graphviewer.operations.freezing.plan import Plan, make_plan
from graphviewer.operations.freezing.size import predicted_size
from graphviewer.operations.freezing.tables import table_uses, table_warnings
from graphviewer.operations.freezing.variables import MOVING_AVERAGES, averages
from graphviewer.operations.inline_functions import CALLS
from graphviewer.operations.registry import CHECKPOINT, INPUTS, OUTPUTS, Parameter, Result, operation
from graphviewer.operations.saver_choices import saver_choices
from graphviewer.operations.selection import assemble, join, provenance_of

_REPORT_EVERY = 50
_ADDED = {
    "Const": "the axis of a gather, which was the variable's first dimension",
    "Identity": "has a value where its branch is taken, so that what waits for it runs only then",
}
TWO_GIB = 2**31

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
    choices=saver_choices,
)
ASSETS = Parameter(
    "assets",
    "Assets folder",
    "Folder where the result finds its files, as it will be then; by default where they are now.",
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
        ASSETS,
    ),
)
def freeze(
    document: Document,
    *,
    outputs: Sequence[Endpoint],
    inputs: Sequence[Endpoint] = (),
    progress: Progress,
    assets: str = "",
    **options: Any,
) -> Result:
    """Variables -> constants for what ``outputs`` need.

    Args:
        options: the other declared parameters, as ``make_plan`` takes them.

    Raises:
        OperationError: outputs or inputs that cannot be such; damage in the way; values missing or unfitting; a node
            that needs a variable itself; training mode that is not allowed.
        CheckpointError: the checkpoint cannot be read.
    """
    plan = make_plan(document, outputs=outputs, inputs=inputs, progress=progress, assets=assets, **options)
    size = predicted_size(plan)
    progress(0.3, f"Writing {_size_text(size)}")
    result, provenance = _written(plan, progress)
    uses = table_uses(document, plan.tables, plan.fillers)
    files = files_read(document, plan.fillers, plan.constants())
    return Result(
        result,
        provenance,
        warnings=(
            *plan.warnings,
            *_update_warnings(plan),
            *size_warnings(size),
            *_call_warnings(result),
            *_averages_offer(plan),
            *table_warnings(document, uses),
            *file_warnings(files, assets),
        ),
        rewrites=tuple(plan.log.entries),
        frozen=plan.frozen,
        outputs=output_names(plan.selection, outputs),
        inputs=fed_names(plan.selection, inputs),
        tables=uses,
        files=files,
        switches=plan.switches,
    )


def freeze_size(document: Document, *, outputs: Sequence[Endpoint], progress: Progress = silent, **options: Any) -> int:
    """Bytes of the GraphDef that a freeze would give; of the checkpoint, no value is read.

    Args:
        options: the other parameters of ``freeze``.

    Raises:
        OperationError, CheckpointError: as ``freeze``, which would refuse.
    """
    return predicted_size(make_plan(document, outputs=outputs, progress=progress, **options))


def _written(plan: Plan, progress: Progress) -> tuple[Document, Provenance]:
    """The document, each constant read when its turn comes, and where its nodes came from."""
    selection, body, log = plan.selection, plan.body, plan.log
    graph = selection.graph
    new: dict[int, Any] = {graph.index[name]: node for name, node in body.new.items()}
    origins = placeholder_origins(selection)
    for name, origin in origins.items():
        log(name, origin.rule, origin.reason)
    new.update(_constants(plan, progress))
    _report_waits(plan)
    for entry in log.entries:
        if entry.node in graph.index and entry.node not in origins:
            origins[entry.node] = Origin(entry.node, entry.rule, entry.reason)
    for extra in body.extra:
        origins[extra.name] = Origin(None, "added", _ADDED[extra.op])
    document = assemble(selection, new=new, extra=body.extra, library=plan.library())
    return replace(document, checkpoint=None), provenance_of(selection, origins)


def _constants(plan: Plan, progress: Progress) -> dict[int, Callable[[], Any]]:
    """What makes each constant, by node number, when its turn comes."""
    constants = plan.constants()
    total = sum(constant.size for constant in constants.values()) or 1
    done = 0

    def make(number: int, place: int) -> Any:
        nonlocal done
        constant = constants[number]
        if place % _REPORT_EVERY == 0 or constant.size > total // _REPORT_EVERY:
            progress(0.3 + 0.7 * done / total, f"Reading {constant.name}")
        done += constant.size
        if isinstance(constant, PathConstant):
            made = constant.node()
        else:
            made = constant.node(plan.values) if plan.values is not None else None
        made.input.extend(plan.waits(number))
        return made

    for number, constant in constants.items():
        if number in plan.variables:
            rule = "variable -> constant"
        else:
            rule = "path" if plan.selection.graph.ops[number] == "Const" else "asset -> constant"
        plan.log(constant.name, rule, constant.told)
    return {number: partial(make, number, place) for place, number in enumerate(constants)}


def _report_waits(plan: Plan) -> None:
    for number, sources in plan.selection.waits_dropped().items():
        names = join(f"'{source}'" for source in sources)
        plan.log(
            plan.selection.graph.names[number], "wait dropped", f"no longer waits for {names}, of which it read nothing"
        )


def _update_warnings(plan: Plan) -> list[str]:
    return [
        f"'{entry.node}' updated a variable on the way to an output; it only computes the new value now."
        for entry in plan.log.entries
        if entry.rule == "update -> value"
    ]


def size_warnings(size: int) -> list[str]:
    """A warning for a GraphDef of ``size`` bytes that TensorFlow cannot read."""
    if size < TWO_GIB:
        return []
    return [f"The result takes {_size_text(size)}; TensorFlow cannot read a GraphDef over 2 GiB."]


def _call_warnings(result: Document) -> list[str]:
    """That functions stay functions: the other operations do not see into them."""
    calls = int(result.graph.of_ops(CALLS).sum())
    if not calls:
        return []
    told = "1 call of a function stays a call" if calls == 1 else f"{calls:,} calls of functions stay calls"
    return [f"{told}; the operation 'inline-functions' puts the nodes inside into the graph."]


def _size_text(size: int) -> str:
    return f"{size / 2**30:.1f} GiB" if size >= 2**30 else f"{size / 2**20:,.1f} MiB"


def _averages_offer(plan: Plan) -> list[str]:
    """A warning where the checkpoint has moving averages that were not taken."""
    shadows = averages(set(plan.values.keys())) if plan.values is not None else {}
    keys = [constant.source.key for constant in plan.variables.values() if not isinstance(constant, PathConstant)]
    beside = [shadows[key] for key in keys if key in shadows]
    if not beside:
        return []
    offer = (
        f"The checkpoint also has moving averages of {len(beside):,} of the {len(keys):,} variables, such as "
        f"'{beside[0]}'; the values of the last step were taken. For the averages: --saver {MOVING_AVERAGES}."
    )
    return [offer]
