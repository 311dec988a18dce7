"""Moving averages: which variable averages a tensor, and how to read it."""

from __future__ import annotations

from typing import Any

from graphviewer import protos
from graphviewer.analysis.ops import is_apply_op, is_assign
from graphviewer.operations.draft import Draft
from graphviewer.operations.inferring.scene import Place, Scene

BETWEEN = frozenset(
    {
        *("Add", "AddN", "AddV2", "Cast", "Div", "Identity", "Mul", "Neg", "RealDiv", "Reshape", "Squeeze"),
        *("StopGradient", "Sub"),
    }
)
"""What lies between a statistic and the update of its moving average."""

_MOST_STEPS = 60


def averaging_variables(scene: Scene, place: Place) -> list[int]:
    """Variables that a tensor's value is written to, at most through arithmetic, the last of a chain of them.

    Zero-debiased averages (``ExponentialMovingAverage`` of a tensor) go through a second variable: the one that is
    written last counts.
    """
    found: dict[int, None] = {}
    superseded: set[int] = set()
    seen: set[Place] = {place}
    stack: list[tuple[Place, int]] = [(place, -1)]
    while stack and len(seen) < _MOST_STEPS:
        tensor, written = stack.pop()
        for reader, slot in scene.readers(tensor):
            op = scene.op(reader)
            variable = _written(scene, reader) if slot and is_assign(op) else -1
            if variable >= 0:
                found[variable] = None
                if written >= 0:
                    superseded.add(written)
                following, carried = _after_write(scene, reader, variable), variable
            elif op in BETWEEN and not is_apply_op(op):
                following, carried = [(reader, 0)], written
            else:
                continue
            for further in following:
                if further not in seen:
                    seen.add(further)
                    stack.append((further, carried))
    return [variable for variable in found if variable not in superseded]


def _written(scene: Scene, write: int) -> int:
    inputs = scene.inputs(write)
    return int(scene.behind[inputs[0][0]]) if inputs else -1


def _after_write(scene: Scene, write: int, variable: int) -> list[Place]:
    """Tensors that carry the value just written: the reference that an Assign gives, reads that wait for it."""
    readers = scene.graph.consumers(write, control=True)
    waiting = [
        reader for reader in readers if scene.op(reader) == "ReadVariableOp" and scene.behind[reader] == variable
    ]
    return [(write, 0), *((reader, 0) for reader in waiting)]


def variable_dtype(scene: Scene, variable: int) -> int:
    """dtype number of a variable's value."""
    return int(scene.node(variable).attr["dtype"].type)


def read_of(draft: Draft, scene: Scene, variable: int, reader: str) -> str:
    """A node that reads a variable and waits for nothing: one that is there, else a new one beside ``reader``."""
    name, resource = scene.name(variable), scene.op(variable) == "VarHandleOp"
    op = "ReadVariableOp" if resource else "Identity"
    there = [
        scene.name(number)
        for number in scene.graph.consumers(variable)
        if scene.op(number) == op and len(scene.node(number).input) == 1 and scene.name(number) in draft.nodes
    ]
    there.sort(key=lambda one: not one.startswith(f"{name}/"))
    if there:
        return there[0]
    node: Any = protos.NodeDef(name=f"{reader}/{name.rpartition('/')[2]}", op=op, input=[name])
    node.attr["dtype" if resource else "T"].type = variable_dtype(scene, variable)
    return draft.add(node, f"reads '{name}' for '{reader}'")
