"""Dropout of every style: found by what it computes, not by its names.

A dropout multiplies by, or selects with, a mask made of uniform random numbers, and scales up what it keeps. What all
of its styles share: (probability that an element is kept) x (what it is scaled by) = 1. That is checked with numbers,
which proves that the layer passes its input on in the mean, and which tensor this input is.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from graphviewer.analysis.ops import PLACEHOLDER_OPS, SWITCH_OPS, is_random_op
from graphviewer.model.names import CONTROL_PORT, parse_input
from graphviewer.operations.draft import Draft
from graphviewer.operations.inferring.scalars import Scalars
from graphviewer.operations.inferring.scene import Place, Scene

_COMPARES = frozenset({"Floor", "Greater", "GreaterEqual", "Less", "LessEqual"})
_SCALES = frozenset(
    {"Add", "AddV2", "Cast", "Div", "Identity", "Mul", "Neg", "RealDiv", "Reshape", "StopGradient", "Sub"}
)
_PLAIN = frozenset({"Cast", "Identity", "Reshape", "StopGradient"})
_SELECTS = frozenset({"Select", "SelectV2"})
_DIVIDES = frozenset({"Div", "RealDiv"})
_TRIALS = (0.3, 0.8)
"""Numbers put in the place of what is fed or trained: what holds for both does not depend on them."""

_EXACT = 1e-5
_MOST_STEPS = 40

Role = Literal["keep", "rate"]


@dataclass(frozen=True)
class Dropout:
    """One dropout layer.

    Attributes:
        end: node number of its last node.
        source: the tensor that it drops parts of.
        parts: the nodes between the random numbers and the end, and those that only scale.
        roles: placeholders and variables that give the probability to keep, or the rate, by node number.
    """

    end: int
    source: Place
    parts: frozenset[int]
    roles: dict[int, Role]


@dataclass(frozen=True)
class _Mask:
    """A tensor that is ``factor`` with some probability, else 0.

    Attributes:
        keeps: that probability, for each of the trials.
        factor: for each of the trials.
        parts: the nodes it is made by.
    """

    place: Place
    keeps: tuple[float, ...]
    factor: tuple[float, ...]
    parts: frozenset[int]


class Dropouts:
    """The dropouts among what the outputs need.

    Attributes:
        found: those that were understood.
        unclear: random nodes that are used otherwise, by number, with the reason.
    """

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        self._trials = [Scalars(scene, number) for number in _TRIALS]
        self.found: list[Dropout] = []
        self.unclear: dict[int, str] = {}
        graph = scene.graph
        uniform = {op for op in set(graph.ops) if is_random_op(op) and "Uniform" in op and "Int" not in op}
        for number in scene.selection.numbers:
            if graph.ops[number] in uniform:
                self._follow(number)

    def _follow(self, source: int) -> None:
        ends = 0
        for mask in self._masks(source):
            for end, value, whole in self._ends(mask):
                dropout = self._dropout(end, value, whole)
                if dropout is not None:
                    self.found.append(dropout)
                    ends += 1
                else:
                    self.unclear[source] = f"what '{self._scene.name(end)}' keeps of its input is not scaled to match"
        if not ends:
            self.unclear.setdefault(source, "its random numbers make no mask that is multiplied with a tensor")

    def _masks(self, source: int) -> Iterator[_Mask]:
        """Comparisons of the random numbers with a scalar."""
        scene = self._scene
        seen, stack = {source}, [source]
        while stack and len(seen) < _MOST_STEPS:
            for reader, _ in scene.readers((stack.pop(), 0), needed=True):
                if reader in seen:
                    continue
                seen.add(reader)
                if scene.op(reader) in _COMPARES:
                    keeps = [_probability(scene, reader, source, trial) for trial in self._trials]
                    known = tuple(keep for keep in keeps if keep is not None)
                    if len(known) == len(keeps):
                        yield _Mask((reader, 0), known, (1.0,) * len(known), frozenset({*seen, source}))
                elif scene.op(reader) in _SCALES and self._trials[0].affine((reader, 0), source) is not None:
                    stack.append(reader)

    def _ends(self, start: _Mask) -> Iterator[tuple[int, Place, _Mask]]:
        """Where a mask meets the tensor that it drops parts of: (node, that tensor, the mask there)."""
        scene, stack, seen = self._scene, [start], {start.place[0]}
        while stack and len(seen) < _MOST_STEPS:
            mask = stack.pop()
            for reader, slot in scene.readers(mask.place, needed=True):
                if reader in seen:
                    continue
                seen.add(reader)
                inputs = scene.inputs(reader)
                other = inputs[1 - slot] if len(inputs) == 2 and slot < 2 else None
                if scene.op(reader) in _PLAIN:
                    stack.append(self._on(mask, reader))
                elif scene.op(reader) == "LogicalNot":
                    stack.append(self._on(_inverse(mask), reader))
                elif other is not None and (scene.op(reader) == "Mul" or (scene.op(reader) in _DIVIDES and slot == 0)):
                    scales = self._values(other, divides=scene.op(reader) in _DIVIDES)
                    if scales is not None:
                        stack.append(self._on(mask, reader, scales))
                    elif scene.op(reader) == "Mul":
                        yield reader, other, mask
                elif scene.op(reader) in _SELECTS and slot == 0:
                    chosen = self._selected(mask, reader, inputs)
                    if isinstance(chosen, _Mask):
                        stack.append(chosen)
                    elif chosen is not None:
                        yield chosen

    def _selected(self, mask: _Mask, reader: int, inputs: list[Place]) -> _Mask | tuple[int, Place, _Mask] | None:
        """A Select on the mask: between a tensor and zeros, or between ones and zeros."""
        first, second = (self._trials[0].repeated(place) for place in inputs[1:3])
        if second == 0.0 and first is None:
            return reader, inputs[1], mask
        if first == 0.0 and second is None:
            return reader, inputs[2], _inverse(mask)
        if first is None or second is None or 0.0 not in (first, second):
            return None
        one, which = (inputs[1], mask) if second == 0.0 else (inputs[2], _inverse(mask))
        scales = [trial.repeated(one) for trial in self._trials]
        known = tuple(scale for scale in scales if scale is not None)
        return self._on(which, reader, known)

    def _on(self, mask: _Mask, reader: int, scales: tuple[float, ...] = (1.0,) * len(_TRIALS)) -> _Mask:
        factor = tuple(old * new for old, new in zip(mask.factor, scales, strict=True))
        return _Mask((reader, 0), mask.keeps, factor, mask.parts | {reader})

    def _values(self, place: Place, *, divides: bool = False) -> tuple[float, ...] | None:
        found = [trial.value(place) for trial in self._trials]
        known = tuple(value for value in found if value is not None)
        if len(known) < len(found) or (divides and 0.0 in known):
            return None
        return tuple(1 / value for value in known) if divides else known

    def _dropout(self, end: int, value: Place, mask: _Mask) -> Dropout | None:
        """Look for the input behind the nodes that scale it, as far as the scale comes out right."""
        scale = mask.factor
        place, parts, found = value, set(mask.parts), None
        for _ in range(_MOST_STEPS):
            if self._is_one(mask.keeps, scale):
                found = Dropout(end, place, frozenset(parts), self._roles(mask))
            peeled = self._peeled(place)
            if peeled is None or (found is not None and any(abs(one - 1) > 0 for one in peeled[1])):
                break
            parts.add(place[0])
            place, scale = peeled[0], tuple(a * b for a, b in zip(scale, peeled[1], strict=True))
        return found

    def _is_one(self, keeps: tuple[float, ...], scale: tuple[float, ...]) -> bool:
        return all(abs(keep * one - 1) < _EXACT for keep, one in zip(keeps, scale, strict=True))

    def _peeled(self, place: Place) -> tuple[Place, tuple[float, ...]] | None:
        """(tensor, scale) of a node that only scales a tensor."""
        scene, (number, port) = self._scene, place
        inputs = scene.inputs(number)
        if port or len(inputs) != 2:
            return None
        if scene.op(number) in _DIVIDES:
            scales = self._values(inputs[1], divides=True)
            return (inputs[0], scales) if scales is not None else None
        if scene.op(number) == "Mul":
            for scaled, by in ((0, 1), (1, 0)):
                scales = self._values(inputs[by])
                if scales is not None:
                    return inputs[scaled], scales
        return None

    def _roles(self, mask: _Mask) -> dict[int, Role]:
        """What the placeholders behind the probability mean: it grows with the one, and falls with the other."""
        if mask.keeps[0] == mask.keeps[-1]:
            return {}
        role: Role = "keep" if mask.keeps[0] < mask.keeps[-1] else "rate"
        scalars = Scalars(self._scene, _TRIALS[0])
        for part in mask.parts:
            for place in self._scene.inputs(part):
                scalars.value(place)
        return {number: role for number in scalars.symbols if self._scene.op(number) in PLACEHOLDER_OPS}


def _inverse(mask: _Mask) -> _Mask:
    return _Mask(mask.place, tuple(1 - keep for keep in mask.keeps), mask.factor, mask.parts)


def _probability(scene: Scene, number: int, source: int, scalars: Scalars) -> float | None:
    """How likely a comparison of uniform random numbers holds, or a Floor of them gives 1."""
    inputs = scene.inputs(number)
    first = scalars.affine(inputs[0], source) if inputs else None
    if first is None:
        return None
    if scene.op(number) == "Floor":
        return first[1] if abs(first[0] - 1) < _EXACT and 0 <= first[1] <= 1 else None
    second = scalars.affine(inputs[1], source) if len(inputs) == 2 else None
    if second is None:
        return None
    slope, offset = first[0] - second[0], first[1] - second[1]
    if slope == 0:
        return None
    above = 1 - min(max(-offset / slope, 0.0), 1.0) if slope > 0 else min(max(offset / -slope, 0.0), 1.0)
    return above if scene.op(number).startswith("Greater") else 1 - above


def _keeps_in_branch(draft: Draft, name: str, text: str) -> bool:
    """Something waits for a node, and its input comes straight from a Switch, which runs whichever way it goes."""
    source = draft.nodes.get(parse_input(text)[0])
    return source is not None and source.op in SWITCH_OPS and bool(draft.consumers((name, CONTROL_PORT)))


def splice_dropouts(draft: Draft, scene: Scene, dropouts: Dropouts) -> int:
    """Let what reads a dropout read its input; returns how many."""
    targets = {scene.name(one.end): scene.text(one.source) for one in dropouts.found}
    for one in dropouts.found:
        name = scene.name(one.end)
        draft.because((scene.name(part) for part in one.parts), f"only served the dropout that ended in '{name}'")
    for name in [name for name in targets if name in scene.outputs or _keeps_in_branch(draft, name, targets[name])]:
        node = draft.convert(name, f"{draft.nodes[name].op} -> Identity (dropout)", f"passes '{targets[name]}' on")
        dtype = node.attr["T"].type
        node.op = "Identity"
        node.attr.clear()
        node.attr["T"].type = dtype
        draft.set_inputs(name, [targets.pop(name)])
    draft.splice(targets, lambda name: f"was a dropout; what read it reads '{targets[name]}', its input, now")
    return len(dropouts.found)
