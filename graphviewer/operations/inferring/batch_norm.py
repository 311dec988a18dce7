"""Fused batch norms on batch statistics are wired to the moving averages of these statistics."""

from __future__ import annotations

import re
from functools import cached_property
from typing import Any, NamedTuple

from graphviewer.analysis.ops import BATCH_NORM_OPS, VARIABLE_OPS, uses_batch_statistics
from graphviewer.operations.draft import Draft, forget_inferred
from graphviewer.operations.inferring.averages import averaging_variables, read_of, variable_dtype
from graphviewer.operations.inferring.scene import Place, Scene
from graphviewer.protos import DataType

_SCALE, _OFFSET, _MEAN, _VARIANCE = 1, 2, 3, 4
_STATISTICS = {_MEAN: 1, _VARIANCE: 2}
"""By input that takes a moving statistic: the output that gives the batch's."""

_NAMED = {
    _MEAN: re.compile(r"(moving|running|pop|population|ema)_?(mean|avg|average)$", re.IGNORECASE),
    _VARIANCE: re.compile(r"(moving|running|pop|population|ema)_?(variance|var)$", re.IGNORECASE),
}


class Statistics(NamedTuple):
    """Where moving mean and variance of a batch norm come from.

    Attributes:
        texts: the two inputs to read.
        told_by: what says that they belong to it, in words.
    """

    texts: tuple[str, str]
    told_by: str


class BatchNorms:
    """Wires batch norms among what the outputs need.

    Attributes:
        repaired: how many were.
        failures: by name: why one was not.
    """

    def __init__(self, draft: Draft, scene: Scene) -> None:
        self._draft, self._scene = draft, scene
        self.repaired = 0
        self.failures: dict[str, str] = {}
        norms = scene.graph.of_ops(BATCH_NORM_OPS)
        for number in scene.selection.numbers:
            if norms[number] and uses_batch_statistics(scene.node(number)):
                self._repair(number)

    def _repair(self, number: int) -> None:
        scene, name = self._scene, self._scene.name(number)
        used = [reader for port in (1, 2) for reader, _ in scene.readers((number, port), needed=True)]
        if used:
            self.failures[name] = f"'{scene.name(used[0])}' reads its batch statistics too"
            return
        found = self._running(number)
        if found is None and scene.in_loop(number):
            self.failures[name] = "it runs in a loop, and its moving averages are read outside"
            return
        found = found or self._updated(number) or self._beside(number) or self._named(number)
        if found is None:
            self.failures.setdefault(
                name,
                "nothing updates a variable with its statistics, no evaluation tower shares its weights, and no "
                "moving mean and variance lie beside its scale",
            )
            return
        self.failures.pop(name, None)
        mean, variance = found.texts
        reason = f"uses '{mean}' and '{variance}' instead of the batch's statistics: {found.told_by}"
        node = self._draft.convert(name, "inference mode", reason)
        inputs = list(node.input)
        inputs[_MEAN], inputs[_VARIANCE] = mean, variance
        self._draft.set_inputs(name, inputs)
        node.attr["is_training"].b = False
        if "exponential_avg_factor" in node.attr:
            node.attr["exponential_avg_factor"].f = 1.0
        forget_inferred(node)
        self.repaired += 1

    def _running(self, number: int) -> Statistics | None:
        """With a factor, the node updates averages that it reads itself."""
        node = self._scene.node(number)
        inputs = self._scene.inputs(number)
        factor = node.attr["exponential_avg_factor"].f if "exponential_avg_factor" in node.attr else 1.0
        if factor == 1.0 or len(inputs) <= _VARIANCE:
            return None
        return Statistics((node.input[_MEAN], node.input[_VARIANCE]), "it read them before, to update them")

    def _updated(self, number: int) -> Statistics | None:
        """The variables that are updated with the outputs 1 and 2."""
        found: list[int] = []
        for port in _STATISTICS.values():
            variables = averaging_variables(self._scene, (number, port))
            if len(variables) > 1:
                names = " and ".join(f"'{self._scene.name(one)}'" for one in sorted(variables)[:2])
                self.failures[self._scene.name(number)] = f"its statistics update {names}; it is not clear which to use"
            if len(variables) != 1:
                return None
            found += variables
        return self._of_variables(number, found, "its statistics update them")

    def _beside(self, number: int) -> Statistics | None:
        """What a batch norm in inference mode reads that has the same scale and offset."""
        scene, own = self._scene, self._weights(number)
        if own is None:
            return None
        for source in {place[0] for place in scene.inputs(number)[_SCALE:_MEAN]}:
            origin = int(scene.behind[source]) if scene.behind[source] >= 0 else source
            for other in self._batch_norms_below(origin):
                same = other != number and not uses_batch_statistics(scene.node(other)) and self._weights(other) == own
                inputs = scene.inputs(other)
                if same and len(inputs) > _VARIANCE:
                    texts = scene.text(inputs[_MEAN]), scene.text(inputs[_VARIANCE])
                    return Statistics(texts, f"'{scene.name(other)}', which has the same weights, uses them")
        return None

    def _batch_norms_below(self, origin: int) -> list[int]:
        """Batch norms that read a tensor directly or through one read of a variable."""
        graph = self._scene.graph
        readers = graph.consumers(origin)
        near = {*readers, *(further for reader in readers for further in graph.consumers(reader))}
        return sorted(number for number in near if graph.ops[number] in BATCH_NORM_OPS)

    def _weights(self, number: int) -> tuple[Place, Place] | None:
        """What scale and offset are: variables where they are read from some."""
        inputs = self._scene.inputs(number)
        if len(inputs) <= _OFFSET:
            return None
        behind = self._scene.behind
        scale, offset = (
            (int(behind[node]), 0) if behind[node] >= 0 else (node, port) for node, port in inputs[_SCALE : _OFFSET + 1]
        )
        return scale, offset

    def _named(self, number: int) -> Statistics | None:
        """Variables in the scope of the offset or scale whose names say what they are."""
        scene, graph = self._scene, self._scene.graph
        places = scene.inputs(number)[_SCALE : _OFFSET + 1]
        variables = [int(scene.behind[node]) for node, _ in places if scene.behind[node] >= 0]
        for variable in variables:
            scope = scene.name(variable).rpartition("/")[0]
            beside = [one for one in self._variables if scene.name(one).rpartition("/")[0] == scope]
            pairs = [[one for one in beside if _NAMED[slot].search(graph.names[one])] for slot in (_MEAN, _VARIANCE)]
            if all(len(pair) == 1 for pair in pairs):
                return self._of_variables(
                    number, [pair[0] for pair in pairs], f"their names, beside '{scene.name(variable)}'"
                )
        return None

    @cached_property
    def _variables(self) -> list[int]:
        graph = self._scene.graph
        return [number for number, op in enumerate(graph.ops) if op in VARIABLE_OPS]

    def _of_variables(self, number: int, variables: list[int], told_by: str) -> Statistics | None:
        name = self._scene.name(number)
        wanted = _statistics_dtype(self._scene.node(number))
        for variable in variables:
            if variable_dtype(self._scene, variable) != wanted:
                self.failures[name] = f"'{self._scene.name(variable)}' has another dtype than its statistics"
                return None
        mean, variance = (read_of(self._draft, self._scene, variable, name) for variable in variables)
        return Statistics((mean, variance), told_by)


def _statistics_dtype(node: Any) -> int:
    given = node.attr["U"] if "U" in node.attr else node.attr["T"]
    return int(given.type) or DataType.FLOAT
