"""Compute what is constant, in the whole graph.

Shapes of tensors whose sizes are all known, arithmetic on integers, reshapes, slices and packs of constants, and
conditionals on a constant: what they give is written into the graph. Identities of constants are spliced, branches that
are never taken go away, and so do constants that nothing reads any more.

Only what is exact is computed: integers without overflow, floating point values moved but never computed with. Values
of more than 1,024 elements are left alone, so the file does not grow.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from graphviewer.analysis.dtypes import output_dtypes
from graphviewer.analysis.ops import PLACEHOLDER_OPS
from graphviewer.model.document import Document
from graphviewer.model.making import const_node
from graphviewer.model.names import Endpoint, parse_input
from graphviewer.model.progress import Progress
from graphviewer.model.tensors import describe_tensor
from graphviewer.operations.draft import Draft, signature_nodes
from graphviewer.operations.folding.branches import fold_branches
from graphviewer.operations.folding.known import Known, require_alive
from graphviewer.operations.registry import OUTPUTS, Result, operation

_PASSES = frozenset({"Identity", "Snapshot", "StopGradient"})
_KEPT = replace(OUTPUTS, doc="Nodes that must stay.", required=False)


@operation(id="fold-constants", label="Fold constants", parameters=(_KEPT,))
def fold_constants(document: Document, *, outputs: Sequence[Endpoint] = (), progress: Progress) -> Result:
    """Replace what is known without running anything by constants.

    Raises:
        OperationError: several nodes share a name, or an output lies in a branch that is never taken.
    """
    progress(0.0, "Following the constants")
    draft = Draft(document)
    keep = {name for name, _ in outputs} | set(signature_nodes(document))
    known = Known(draft)
    require_alive(known, (name for name, _ in outputs))
    progress(0.5, "Writing the graph")
    fold_branches(draft, known)
    lost = [*_values(draft, known), *_passes(draft, keep)]
    keep |= {name for name, node in draft.nodes.items() if node.op in PLACEHOLDER_OPS}
    draft.prune(keep, lost, "only what is a constant now read it")
    count = len(draft.rewrites)
    return Result(
        draft.build(),
        draft.provenance(),
        warnings=() if count else ("There was nothing to fold.",),
        rewrites=tuple(draft.rewrites),
        outputs=tuple(map(str, outputs)),
    )


def _values(draft: Draft, known: Known) -> list[str]:
    """Put constants in the place of nodes whose value is known; returns what these read."""
    lost: list[str] = []
    for name in [name for name, port in known.values if port == 0 and name in draft.nodes]:
        node = draft.nodes[name]
        dtypes = output_dtypes(node, draft.document.functions)
        if node.op == "Const" or node.op in _PASSES or dtypes is None or len(dtypes) != 1 or not dtypes[0]:
            continue
        value = known.values[name, 0]
        constant = const_node(name, dtypes[0], values=value)
        constant.input.extend(known.waits[name])
        constant.device = node.device
        if "_class" in node.attr:
            constant.attr["_class"].CopyFrom(node.attr["_class"])
        lost += [parse_input(text)[0] for text in node.input]
        told = describe_tensor(constant.attr["value"].tensor)
        draft.replace(constant, f"{node.op} -> Const", f"its value is known: {told}")
    return lost


def _passes(draft: Draft, keep: Collection[str]) -> list[str]:
    """Splice identities of constants, whatever their size; returns the constants."""
    targets: dict[str, str] = {}
    lost = []
    for name in [name for name, node in draft.nodes.items() if node.op in _PASSES]:
        inputs = draft.nodes[name].input
        if name in keep or len(inputs) != 1 or not draft.readers(name):
            continue
        source = parse_input(inputs[0])[0]
        if source in targets or (source in draft.nodes and draft.nodes[source].op == "Const"):
            targets[name] = inputs[0]
            lost.append(source)
    draft.splice(targets, lambda name: f"passes '{targets[name]}' on, a constant; what read it reads the constant now")
    return lost
