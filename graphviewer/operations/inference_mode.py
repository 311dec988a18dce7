"""Make a network that was built for training compute as in inference.

For what the outputs need: flags such as is_training, phase_train and keep_prob become constants, and conditionals on
them the branch that is taken; dropout of every style is spliced; batch norms on batch statistics use the moving
averages that training kept of these; waits for updates of variables and for checks go. The rest of the graph goes away,
as in extract, but for a saver that alone knows the variables' keys. Afterwards freeze gives the trained network.

What a node means is told by structure: the variable that is updated with a batch norm's statistics, else an evaluation
tower with the same weights; a dropout by its numbers. What could not be repaired is listed in warnings, with the
reason.

The result computes exactly what an inference graph with the same weights does.
"""

from __future__ import annotations

from collections.abc import Sequence

from graphviewer.analysis.ops import CALL_OPS, SWITCH_OPS
from graphviewer.errors import OperationError
from graphviewer.model.document import Document
from graphviewer.model.names import CONTROL_PORT, Endpoint
from graphviewer.model.progress import Progress
from graphviewer.model.provenance import Provenance
from graphviewer.operations.cutting import fed_names, output_names, placeholder_origins, unused_inputs
from graphviewer.operations.draft import Draft
from graphviewer.operations.endpoints import require_outputs
from graphviewer.operations.folding.branches import fold_branches
from graphviewer.operations.folding.known import Known, require_alive
from graphviewer.operations.freezing.training_mode import find_training_mode
from graphviewer.operations.inferring.batch_norm import BatchNorms
from graphviewer.operations.inferring.dropout import Dropouts, splice_dropouts
from graphviewer.operations.inferring.flags import Flags
from graphviewer.operations.inferring.moments import Moments
from graphviewer.operations.inferring.scene import Scene
from graphviewer.operations.registry import INPUTS, OUTPUTS, Parameter, Result, Rewrite, operation
from graphviewer.operations.savers import select_with_savers
from graphviewer.operations.selection import Selection, assemble, join, provenance_of

FLAGS = Parameter(
    "flags",
    "Flags",
    "Values of placeholders in inference, where they are not told by name or use: name=value,name=value.",
    "text",
    "",
    advanced=True,
)
KEEP_REST = Parameter(
    "keep_rest",
    "Keep the rest",
    "Keep what the outputs do not need too: gradients, optimizer, saver. Such a graph trains no longer.",
    "flag",
    False,
    advanced=True,
)


@operation(id="inference-mode", label="Inference mode", parameters=(OUTPUTS, INPUTS, FLAGS, KEEP_REST))
def inference_mode(
    document: Document,
    *,
    outputs: Sequence[Endpoint],
    inputs: Sequence[Endpoint] = (),
    flags: str = "",
    keep_rest: bool = False,
    progress: Progress,
) -> Result:
    """Repair what ``outputs`` need, and keep only that.

    Raises:
        OperationError: outputs or inputs that cannot be such, or that are computed in training only; damage in the way;
            a flag that is no placeholder.
    """
    require_outputs(document, outputs)
    if keep_rest and inputs:
        raise OperationError(
            "With inputs, what feeds them is cut off: the rest cannot be kept.", "Choose one of the two."
        )
    progress(0.0, "Tracing what the outputs need")
    draft = Draft(document)
    first = scene = Scene(draft, outputs, inputs)
    decided = Flags(draft, scene, _parsed(flags), (name for name, _ in inputs))
    warnings = list(decided.undecided)
    if any(scene.op(number) in SWITCH_OPS | CALL_OPS for number in scene.selection.numbers):
        progress(0.2, "Folding conditionals")
        known = Known(draft)
        require_alive(known, (name for name, _ in outputs))
        fold_branches(draft, known)
    if draft.rewrites:
        scene = Scene(draft, outputs, inputs)
    progress(0.4, "Repairing dropout and batch norms")
    dropouts = Dropouts(scene)
    norms, moments = BatchNorms(draft, scene), Moments(draft, scene)
    splice_dropouts(draft, scene, dropouts)
    _drop_waits(draft, scene)
    progress(0.7, "Writing the graph")
    reasons = {**norms.failures, **moments.failures}
    reasons |= {scene.name(number): reason for number, reason in dropouts.unclear.items()}
    _explain_rest(draft, first)
    return _written(draft, outputs, inputs, keep_rest, warnings, reasons)


def _parsed(flags: str) -> dict[str, str]:
    """``a=true,b=0`` as a mapping."""
    found = {}
    for part in filter(None, (part.strip() for part in flags.split(","))):
        name, equals, value = part.rpartition("=")
        if not equals or not name.strip():
            raise OperationError(f"'{part}' sets no flag.", "Write it as name=value, for example is_training=false.")
        found[name.strip().removesuffix(":0")] = value.strip()
    return found


def _drop_waits(draft: Draft, scene: Scene) -> None:
    """Drop what needed nodes wait for only because it updates variables or checks values."""
    graph = scene.graph
    edges = scene.dropped & scene.needed[graph.dst]
    waits: dict[str, list[str]] = {}
    for source, target in zip(graph.src[edges].tolist(), graph.dst[edges].tolist(), strict=True):
        waits.setdefault(scene.name(target), []).append(scene.name(source))
    for name, sources in waits.items():
        if name in draft.nodes:
            draft.redirect({(source, CONTROL_PORT): "" for source in sources}, only=[name])
            shown = join(f"'{source}'" for source in sources)
            draft.report(name, "wait dropped", f"no longer waits for {shown}, of which it read nothing")


def _explain_rest(draft: Draft, first: Scene) -> None:
    needed = (first.name(number) for number in first.selection.numbers)
    draft.because(needed, "only what computes as in training, and is gone, needed it")


def _written(
    draft: Draft,
    outputs: Sequence[Endpoint],
    inputs: Sequence[Endpoint],
    keep_rest: bool,
    warnings: list[str],
    reasons: dict[str, str],
) -> Result:
    """Extract what the outputs need from the draft, and tell what became of every node."""
    document = draft.build()
    selection = select_with_savers(document, outputs, inputs)
    warnings += unused_inputs(selection, inputs)
    warnings += _remaining(selection, reasons)
    if not draft.rewrites and not warnings:
        warnings.append("Nothing that the outputs need was in training mode.")
    if keep_rest:
        result, later, origins = document, Provenance(), {}
    else:
        origins = placeholder_origins(selection)
        result, later = assemble(selection), provenance_of(selection, origins)
    names = result.graph.index.keys()
    rewrites = [one for one in draft.rewrites if one.node in names or one.rule == "spliced"]
    rewrites += [Rewrite(name, origin.rule, origin.reason) for name, origin in origins.items()]
    return Result(
        result,
        draft.provenance_after(later, names),
        warnings=tuple(dict.fromkeys(warnings)),
        rewrites=tuple(rewrites),
        outputs=output_names(selection, outputs),
        inputs=fed_names(selection, inputs),
    )


def _remaining(selection: Selection, reasons: dict[str, str]) -> list[str]:
    """Sentences about what still computes as in training, with the reason where one is known."""
    mode = find_training_mode(selection)
    found = [f"'{name}' was not repaired: {reason}." for name, reason in reasons.items() if name in selection.names]
    left = [name for name in mode.fixed if name not in reasons]
    kept = [name for name in left if name in mode.kept]
    inside = [name for name in left if name not in selection.graph.index and name not in mode.kept]
    if kept:
        found.append(
            f"{join(kept)} compute{'s' if len(kept) == 1 else ''} as in training in a body that stays a function, of a "
            "loop or of a conditional on what is computed: inference mode leaves these alone."
        )
    if inside:
        found.append(
            f"{join(inside)} compute{'s' if len(inside) == 1 else ''} as in training inside functions: "
            "apply inline-functions first."
        )
    if len(left) > len(kept) + len(inside):
        found.append(f"Still in training mode: {join(name for name in left if name in selection.graph.index)}.")
    random = [name for name in mode.random if name not in reasons]
    if random:
        found.append(f"The outputs depend on random numbers: {join(random)}; two runs differ.")
    found += [sentence for sentence in mode.warnings() if "decides whether" in sentence]
    return found
