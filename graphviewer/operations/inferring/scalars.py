"""Small formulas around dropout, evaluated: rates, and random numbers scaled and shifted."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np

from graphviewer.analysis.ops import PLACEHOLDER_OPS, VARIABLE_OPS
from graphviewer.model.tensors import TensorError, node_shape, tensor_value
from graphviewer.operations.inferring.scene import Place, Scene
from graphviewer.protos import DataType

PASSES = frozenset({"Cast", "Enter", "Identity", "ReadVariableOp", "StopGradient", "Switch"})
"""Hand on their first input, as far as a formula is concerned."""

_FLOATS = frozenset({DataType.FLOAT, DataType.DOUBLE, DataType.HALF, DataType.BFLOAT16})
_BINARY: Mapping[str, Callable[[float, float], float]] = MappingProxyType(
    {
        "Add": lambda a, b: a + b,
        "AddV2": lambda a, b: a + b,
        "Sub": lambda a, b: a - b,
        "Mul": lambda a, b: a * b,
        "Div": lambda a, b: a / b,
        "RealDiv": lambda a, b: a / b,
        "Maximum": max,
        "Minimum": min,
    }
)
_UNARY: Mapping[str, Callable[[float], float]] = MappingProxyType(
    {"Neg": lambda a: -a, "Reciprocal": lambda a: 1 / a, "Inv": lambda a: 1 / a, "LogicalNot": lambda a: float(not a)}
)
_SELECTS = frozenset({"Select", "SelectV2"})
_DEPTH = 12
_MOST_ELEMENTS = 1 << 16


class Scalars:
    """Values of scalar formulas, with one number in the place of everything that is fed or trained.

    Attributes:
        symbols: placeholders and variables that were asked for.
    """

    def __init__(self, scene: Scene, number: float) -> None:
        self._scene, self._number = scene, number
        self.symbols: set[int] = set()

    def value(self, place: Place, depth: int = _DEPTH) -> float | None:
        """The value of a scalar; None for what is none, or is computed in other ways."""
        scene, (number, port) = self._scene, place
        op = scene.op(number)
        if port and op != "Switch":
            return None
        if op == "Const":
            return self._constant(number)
        if op in PLACEHOLDER_OPS or op in VARIABLE_OPS:
            return self._symbol(number)
        inputs = scene.inputs(number)
        if depth and op in _SELECTS and len(inputs) == 3:
            return self._chosen(inputs, depth - 1)
        if not depth or not inputs or not (op in PASSES or op in _BINARY or op in _UNARY):
            return None
        values = [self.value(one, depth - 1) for one in (inputs[:1] if op in PASSES else inputs)]
        known = [value for value in values if value is not None]
        return self._combined(op, known) if len(known) == len(values) else None

    def _chosen(self, inputs: list[Place], depth: int) -> float | None:
        """One of two scalars, by a condition that is constant: ``where(is_training, 0.5, 1.0)``."""
        condition = self.value(inputs[0], depth)
        return None if condition is None else self.value(inputs[1 if condition else 2], depth)

    @staticmethod
    def _combined(op: str, values: list[float]) -> float | None:
        try:
            if op in _BINARY:
                return _BINARY[op](*values)
            return _UNARY[op](*values) if op in _UNARY else values[0]
        except (ZeroDivisionError, TypeError):
            return None

    def _symbol(self, number: int) -> float | None:
        node = self._scene.node(number)
        shape = node_shape(node)
        if node.attr["dtype"].type not in _FLOATS or shape or (shape is None and node.op in VARIABLE_OPS):
            return None
        self.symbols.add(number)
        return self._number

    def _constant(self, number: int) -> float | None:
        value = self._array(number)
        return None if value is None or value.size != 1 else float(value.reshape(()))

    def _array(self, number: int) -> np.ndarray | None:
        if (
            np.prod([dim.size for dim in self._scene.node(number).attr["value"].tensor.tensor_shape.dim])
            > _MOST_ELEMENTS
        ):
            return None
        try:
            value = tensor_value(self._scene.document.full_node(number).attr["value"].tensor)
        except TensorError:
            return None
        return None if value.dtype.hasobject or value.dtype.kind == "c" else value

    def repeated(self, place: Place, depth: int = _DEPTH) -> float | None:
        """The number that a tensor of any shape repeats: a scalar, ``zeros``, ``ones_like`` ..."""
        scalar = self.value(place)
        if scalar is not None or not depth:
            return scalar
        number, op = place[0], self._scene.op(place[0])
        inputs = self._scene.inputs(number)
        if op == "Const":
            value = self._array(number)
            same = value is not None and value.size > 0 and value.min() == value.max()
            return float(value.min()) if same and value is not None else None
        if op in ("ZerosLike", "OnesLike"):
            return float(op == "OnesLike")
        if op == "Fill" and len(inputs) == 2:
            return self.value(inputs[1])
        return self.repeated(inputs[0], depth - 1) if op in PASSES and inputs else None

    def affine(self, place: Place, source: int, depth: int = _DEPTH) -> tuple[float, float] | None:
        """(a, b) where a tensor is ``a * source + b`` with scalars a and b; None for anything else."""
        scene, (number, port) = self._scene, place
        if number == source:
            return (1.0, 0.0) if port == 0 else None
        scalar = self.value(place)
        if scalar is not None:
            return 0.0, scalar
        op, inputs = scene.op(number), scene.inputs(number)
        if not depth or not inputs:
            return None
        first = self.affine(inputs[0], source, depth - 1)
        if op in PASSES or op == "Reshape":
            return first
        second = self.affine(inputs[1], source, depth - 1) if len(inputs) == 2 else None
        if first is None or second is None:
            return (-first[0], -first[1]) if op == "Neg" and first is not None else None
        return self._affine(op, first, second)

    @staticmethod
    def _affine(op: str, first: tuple[float, float], second: tuple[float, float]) -> tuple[float, float] | None:
        (a, b), (c, d) = first, second
        if op in ("Add", "AddV2"):
            return a + c, b + d
        if op == "Sub":
            return a - c, b - d
        if op == "Mul" and 0.0 in (a, c):
            return a * d + c * b, b * d
        if op in ("Div", "RealDiv") and c == 0.0 and d:
            return a / d, b / d
        return None
