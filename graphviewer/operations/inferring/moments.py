"""Batch norms made of single ops (``tf.nn.moments`` and ``tf.nn.batch_normalization``).

Their batch statistics are tensors like others: a mean over the batch that a moving average is kept of, and the mean of
the squared distance from it. What normalises with these two reads the moving averages instead.
"""

from __future__ import annotations

import numpy as np

from graphviewer.analysis.ops import is_assign
from graphviewer.operations.draft import Draft
from graphviewer.operations.inferring.averages import BETWEEN, averaging_variables, read_of, variable_dtype
from graphviewer.operations.inferring.scene import Place, Scene

_PASSES = frozenset({"Cast", "ExpandDims", "Identity", "Reshape", "Squeeze", "StopGradient"})
_DISTANCES = frozenset({"SquaredDifference", "Square"})
_MOST_STEPS = 60


class Moments:
    """Rewires batch norms made of single ops among what the outputs need.

    Attributes:
        repaired: how many were.
        failures: by the name of a statistic: why it was not replaced.
    """

    def __init__(self, draft: Draft, scene: Scene) -> None:
        self._draft, self._scene = draft, scene
        self.repaired = 0
        self.failures: dict[str, str] = {}
        means: dict[Place, Place] = {}
        variances: dict[Place, Place] = {}
        for place in self._averaged():
            kind, source = self._statistic(place)
            if source is not None:
                (variances if kind == "variance" else means).setdefault(source, place)
        for source, variance in variances.items():
            if source in means:
                self._repair(means[source], variance)
            else:
                self.failures[scene.text(variance)] = "no moving average of the mean that belongs to it is kept"

    def _averaged(self) -> dict[Place, None]:
        """Tensors that the outputs need and that variables are updated with."""
        scene = self._scene
        found: dict[Place, None] = {}
        for write in np.flatnonzero(scene.graph.of_ops(is_assign)).tolist():
            stack, seen = list(scene.inputs(write)[1:]), set[Place]()
            while stack and len(seen) < _MOST_STEPS:
                place = stack.pop()
                if place in seen or scene.behind[place[0]] >= 0:
                    continue
                seen.add(place)
                if scene.needed[place[0]]:
                    found[place] = None
                elif scene.op(place[0]) in BETWEEN:
                    stack += scene.inputs(place[0])
        return found

    def _statistic(self, place: Place) -> tuple[str, Place | None]:
        """(``mean`` or ``variance``, the tensor that it is of) of a tensor; no tensor for anything else."""
        mean = self._mean_behind(place)
        if mean is None:
            return "", None
        source = self._scene.inputs(mean)[0]
        if self._scene.op(source[0]) not in _DISTANCES:
            return "mean", self._plain(source)
        of = self._distance_of(source[0], depth=2)
        return "variance", of

    def _distance_of(self, number: int, depth: int) -> Place | None:
        """The x of ``(x - mean(x))²``, as SquaredDifference or as the Square of a Sub."""
        inputs = self._scene.inputs(number)
        if self._scene.op(number) == "Square" and depth:
            return self._distance_of(inputs[0][0], depth - 1) if self._scene.op(inputs[0][0]) == "Sub" else None
        for value, centre in (inputs[:2], inputs[1::-1]) if len(inputs) == 2 else ():
            mean = self._mean_behind(centre)
            if mean is not None and self._plain(self._scene.inputs(mean)[0]) == self._plain(value):
                return self._plain(value)
        return None

    def _mean_behind(self, place: Place) -> int | None:
        """The Mean that a tensor is, but for its form."""
        number = self._plain(place)[0]
        return number if self._scene.op(number) == "Mean" else None

    def _plain(self, place: Place) -> Place:
        scene = self._scene
        for _ in range(_MOST_STEPS):
            inputs = scene.inputs(place[0]) if scene.op(place[0]) in _PASSES else []
            if not inputs:
                break
            place = inputs[0]
        return place

    def _repair(self, mean: Place, variance: Place) -> None:
        scene = self._scene
        variables = [averaging_variables(scene, place) for place in (mean, variance)]
        for place, found in zip((mean, variance), variables, strict=True):
            name = scene.text(place)
            if len(found) != 1:
                self.failures[name] = "it is not clear which variable is its moving average"
                return
            node = scene.node(place[0])
            if scene.in_loop(place[0]):
                self.failures[name] = "it is computed in a loop, and its moving average is read outside"
                return
            if variable_dtype(scene, found[0]) != node.attr["T"].type:
                self.failures[name] = f"'{scene.name(found[0])}' has another dtype"
                return
        for place, found in zip((mean, variance), variables, strict=True):
            self._replace(place, found[0])
        self.repaired += 1

    def _replace(self, place: Place, variable: int) -> None:
        """Let what normalises read the moving average; the statistic itself stays as long as its update needs it."""
        scene, draft = self._scene, self._draft
        name = scene.name(place[0])
        read = read_of(draft, scene, variable, name)
        readers = {scene.name(reader) for reader, _ in scene.readers(place, needed=True)}
        draft.redirect({(name, place[1]): read}, only=readers)
        for reader in sorted(readers):
            reason = f"reads '{read}', the moving average, instead of '{scene.text(place)}', the batch's"
            draft.report(reader, "moving average", reason)
        draft.because([name], f"is the batch's statistic; its moving average '{scene.name(variable)}' is used")
