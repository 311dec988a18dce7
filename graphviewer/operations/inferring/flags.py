"""Placeholders that say whether the network trains: what they are fed in inference becomes a constant."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphviewer.analysis.ops import BATCH_NORM_OPS, PLACEHOLDER_OPS, is_random_op, uses_batch_statistics
from graphviewer.analysis.roles.facts import Facts
from graphviewer.analysis.roles.markers import training_mode
from graphviewer.errors import OperationError
from graphviewer.model.making import const_node
from graphviewer.model.names import nearest
from graphviewer.model.tensors import node_shape, numpy_dtype
from graphviewer.operations.draft import Draft
from graphviewer.operations.folding.known import BRANCHING, Known
from graphviewer.operations.inferring.dropout import Dropouts
from graphviewer.operations.inferring.scene import Scene
from graphviewer.operations.library import reached
from graphviewer.protos import DataType

_FLOATS = frozenset({DataType.FLOAT, DataType.DOUBLE, DataType.HALF, DataType.BFLOAT16})
_TRAINS = frozenset({"train", "training", "istrain", "istraining", "phase", "learning", "trainable", "dropout"})
_INFERS = frozenset(
    {
        "test",
        "testing",
        "infer",
        "inference",
        "eval",
        "evaluation",
        "val",
        "valid",
        "validation",
        "predict",
        "deterministic",
    }
)
_NEGATES = frozenset({"no", "non", "not", "without"})
_MOST_TRIES = 10
"""Flags without a clear name whose two values are tried out; each try looks at the whole graph."""

_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")


class Flags:
    """Decides about placeholders among what the outputs need, and puts constants in their place.

    Args:
        given: values that the user chose, by name.
        fed: nodes that the user will feed; they stay.

    Attributes:
        undecided: sentences about flags that could not be told.
    """

    def __init__(self, draft: Draft, scene: Scene, given: Mapping[str, str], fed: Iterable[str]) -> None:
        self._draft, self._scene, self._tries = draft, scene, _MOST_TRIES
        self.undecided: list[str] = []
        self._require_known(given)
        fed = {*fed, *scene.outputs}
        candidates = [n for n in scene.selection.numbers if scene.op(n) in PLACEHOLDER_OPS and scene.name(n) not in fed]
        for number in candidates:
            name = scene.name(number)
            if name in given:
                self._fix(number, _parsed(scene.node(number), given[name]), "as chosen")
            elif _may_be_scalar(scene.node(number)):
                self._decide(number)

    def _require_known(self, given: Mapping[str, str]) -> None:
        graph = self._scene.graph
        for name in given:
            number = graph.index.get(name, -1)
            if number < 0 or graph.ops[number] not in PLACEHOLDER_OPS:
                close = nearest(
                    name, [one for one, op in zip(graph.names, graph.ops, strict=True) if op in PLACEHOLDER_OPS]
                )
                raise OperationError(
                    f"There is no placeholder '{name}'.",
                    f"Closest: {', '.join(close)}." if close else "The graph has none.",
                )

    def _decide(self, number: int) -> None:
        dtype = self._scene.node(number).attr["dtype"].type
        if dtype == DataType.BOOL:
            self._decide_flag(number)
        elif dtype in _FLOATS:
            self._decide_rate(number)

    def _decide_flag(self, number: int) -> None:
        name = self._scene.name(number)
        value, reason = _flag_named(name), "its name says so"
        if value is None and self._tries:
            self._tries -= 1
            value, reason = self._flag_by_use(name), "with it, less of the graph is in training mode"
        if value is None:
            self.undecided.append(f"'{name}' is a bool that has to be fed: nothing says what it is in inference.")
        else:
            self._fix(number, np.array(value), reason)

    def _flag_by_use(self, name: str) -> bool | None:
        """The value with which fewer nodes are in training mode; None where it makes no difference."""
        off, on = (self._training_nodes(name, value) for value in (False, True))
        return None if off == on else on < off

    def _training_nodes(self, name: str, value: bool) -> int:
        """How many nodes that the outputs need would be in training mode."""
        scene = self._scene
        known = Known(self._draft, {name: np.array(value)})
        training = scene.needed & (training_mode(Facts(scene.document)) | scene.graph.of_ops(is_random_op))
        alive = [scene.name(number) for number in np.flatnonzero(training).tolist()]
        count = sum(one not in known.dead for one in alive)
        for number in scene.selection.numbers:
            node = scene.node(number)
            if node.op in BRANCHING and node.name not in known.dead:
                condition = known.value(node.input[0])
                branch = "then_branch" if condition is None or bool(condition.all()) else "else_branch"
                count += self._training_in(node.attr[branch].func.name)
        return count

    def _training_in(self, function: str) -> int:
        functions = self._scene.document.functions
        if function not in functions:
            return 0
        inner = reached(functions[function].node_def, self._scene.document.graph_def.library)
        nodes = [node for name in {function, *inner} for node in functions[name].node_def]
        return sum(
            is_random_op(node.op) or (node.op in BATCH_NORM_OPS and uses_batch_statistics(node)) for node in nodes
        )

    def _decide_rate(self, number: int) -> None:
        """1 for a probability to keep, 0 for a rate: as dropouts use it, else as its name says."""
        role, reason = self._roles.get(number), "dropouts use it so"
        if role is None:
            role, reason = _rate_named(self._scene.name(number)), "its name says so"
        if role is not None:
            what = "the probability to keep" if role == "keep" else "a rate of dropout"
            self._fix(number, np.array(1.0 if role == "keep" else 0.0), f"it is {what}: {reason}")

    @cached_property
    def _roles(self) -> Mapping[int, str]:
        """What placeholders mean to the dropouts that read them."""
        dropouts = Dropouts(self._scene).found
        return {number: role for dropout in dropouts for number, role in dropout.roles.items()}

    def _fix(self, number: int, value: NDArray[Any], reason: str) -> None:
        node = self._scene.node(number)
        dtype = node.attr["dtype"].type
        shape = node_shape(node) or []
        value = np.broadcast_to(value.astype(numpy_dtype(dtype)), [max(size, 1) for size in shape])
        constant = const_node(node.name, dtype, values=value)
        constant.device = node.device
        shown = value.reshape(-1)[0].item() if value.size else ""
        self._draft.replace(constant, "placeholder -> constant", f"is {shown} in inference: {reason}")


def _may_be_scalar(node: Any) -> bool:
    shape = node_shape(node)
    return not shape or all(size == 1 for size in shape)


def _words(name: str) -> set[str]:
    return {word.lower() for word in _WORD.findall(name.rpartition("/")[2])}


def _flag_named(name: str) -> bool | None:
    """What a bool is in inference by its name, ``is_training`` or ``deterministic``; None where that is not clear."""
    words = _words(name)
    trains, infers = bool(words & _TRAINS), bool(words & _INFERS)
    return infers if trains != infers and not words & _NEGATES else None


def _rate_named(name: str) -> str | None:
    """``keep`` or ``rate`` by name, where the name is clear: many call the probability to keep 'dropout'."""
    words = _words(name)
    if any(word.startswith("keep") for word in words) or "pkeep" in words:
        return "keep"
    drops = any(word.startswith("drop") for word in words)
    return "rate" if drops and ("rate" in words or {"drop", "prob"} <= words) else None


def _parsed(node: Any, text: str) -> NDArray[Any]:
    """A value as typed, in the placeholder's dtype.

    Raises:
        OperationError: it is no such value.
    """
    dtype = node.attr["dtype"].type
    if dtype == DataType.BOOL:
        known = {"true": True, "1": True, "false": False, "0": False}
        if text.lower() in known:
            return np.array(known[text.lower()])
        raise OperationError(f"'{text}' is no value for the bool '{node.name}'.", "Write true or false.")
    try:
        return np.array(float(text))
    except ValueError:
        raise OperationError(f"'{text}' is no number for '{node.name}'.", "Write it as 0.5.") from None
