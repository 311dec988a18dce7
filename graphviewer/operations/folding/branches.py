"""Conditionals whose condition is known become the branch that is taken."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphviewer.analysis.ops import MERGE_OPS, SWITCH_OPS
from graphviewer.errors import OperationError
from graphviewer.model.making import const_node
from graphviewer.model.names import parse_input
from graphviewer.model.nodes import control_inputs, data_inputs
from graphviewer.operations.draft import Draft, keep_attributes
from graphviewer.operations.folding.known import BRANCHING, Known
from graphviewer.protos import DataType

_INDEXED = {"Case": "StatefulPartitionedCall", "StatelessCase": "PartitionedCall"}


def fold_branches(draft: Draft, known: Known) -> int:
    """Rewrite every conditional that ``known`` decides: Switch and Merge, If and Case. Returns how many.

    Names of what stays do not change: a Switch and a Merge become an Identity, an If becomes a call of its branch.

    Raises:
        OperationError: a Merge keeps several inputs, loses others, and tells by number which of them has the value.
    """
    alive = [name for name in draft.nodes if name not in known.dead]
    for name in alive:
        node = draft.nodes[name]
        if node.op in MERGE_OPS:
            _fold_merge(draft, known, name, node)
    switches = [name for name in alive if name in known.taken and draft.nodes[name].op in SWITCH_OPS]
    for name in switches:
        _fold_switch(draft, known, name)
    calls = [name for name in alive if _fold_call(draft, known, name)]
    for name, switch in known.dead.items():
        draft.remove(name, "removed", f"never runs: it lies in the branch that '{switch}' never takes")
    return len(switches) + len(calls)


def _fold_switch(draft: Draft, known: Known, name: str) -> None:
    node = draft.nodes[name]
    data, condition = data_inputs(node)
    taken = bool(known.taken[name])
    waits = known.waits.get(parse_input(condition)[0], ())
    draft.redirect({(name, 1): name})
    reason = f"its condition '{condition}' is always {taken}: the value goes on to the branch that is taken"
    changed = draft.convert(name, "Switch -> Identity (folded cond)", reason)
    changed.op = "RefIdentity" if node.op.startswith("Ref") else "Identity"
    draft.set_inputs(name, [data, *control_inputs(node), *waits])


def _fold_merge(draft: Draft, known: Known, name: str, node: Any) -> None:
    """Read the one input that is left; with more of them left, drop those that are dead."""
    inputs, waits = data_inputs(node), [text for text in control_inputs(node) if not known.is_dead(text)]
    if name in known.taken:
        slot = known.taken[name]
        if draft.consumers((name, 1)):
            index = const_node(f"{name}/value_index", DataType.INT32, values=np.array(slot, np.int32))
            index.input.append(f"^{name}")
            added = draft.add(index, f"which input of '{name}' has the value")
            draft.redirect({(name, 1): added})
        reason = f"only '{inputs[slot]}' can have a value: the condition is constant"
        changed = draft.convert(name, "Merge -> Identity (folded cond)", reason)
        changed.op = "RefIdentity" if node.op.startswith("Ref") else "Identity"
        keep_attributes(changed, {"T"})
        draft.set_inputs(name, [inputs[slot], *waits])
        return
    live = [text for text in inputs if not known.is_dead(text)]
    if len(live) < len(inputs) and draft.consumers((name, 1)):
        raise OperationError(
            f"'{name}' (Merge) would lose some of its inputs, and their numbers are read.",
            "This conditional cannot be folded.",
        )
    if len(live) < len(inputs) or len(waits) < len(control_inputs(node)):
        draft.edit(name).attr["N"].i = len(live)
        draft.set_inputs(name, [*live, *waits])
        draft.report(name, "dead inputs dropped", "inputs from branches that are never taken are gone")


def _fold_call(draft: Draft, known: Known, name: str) -> bool:
    """If and Case on a known condition: call the branch."""
    node = draft.nodes[name]
    if node.op not in BRANCHING and node.op not in _INDEXED:
        return False
    inputs = data_inputs(node)
    value = known.value(inputs[0]) if inputs else None
    if value is None or value.shape != ():
        return False
    branch = _branch(node, value)
    if branch is None:
        return False
    waits = known.waits.get(parse_input(inputs[0])[0], ())
    reason = f"its condition '{inputs[0]}' is always {value}: only '{branch.name}' is called"
    changed = draft.convert(name, f"{node.op} -> call (folded cond)", reason)
    changed.op = {**BRANCHING, **_INDEXED}[changed.op]
    keep_attributes(changed, {"Tin", "Tout"})
    changed.attr["f"].func.CopyFrom(branch)
    draft.set_inputs(name, [*inputs[1:], *control_inputs(node), *waits])
    return True


def _branch(node: Any, value: Any) -> Any | None:
    """The NameAttrList of the function that is called, a copy."""
    if node.op in _INDEXED:
        branches = node.attr["branches"].list.func
        if not branches or value.dtype != np.int32:
            return None
        at = int(value)
        found = branches[at if 0 <= at < len(branches) else len(branches) - 1]
    elif value.dtype == bool:
        found = node.attr["then_branch" if value else "else_branch"].func
    else:
        return None
    copy = type(found)()
    copy.CopyFrom(found)
    return copy
