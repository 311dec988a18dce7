"""Prove what was made of a Keras model: Keras runs the model, TensorFlow the graph, on the same values."""

from __future__ import annotations

import statistics
import time
from types import MappingProxyType
from typing import Any

from numpy.typing import NDArray

from graphviewer.errors import Cancelled, GraphViewerError
from graphviewer.model.document import Document
from graphviewer.model.progress import Progress, part_of, silent
from graphviewer.runtime.feeds import batch_size, make, wanted
from graphviewer.runtime.keras import KerasModel
from graphviewer.runtime.pairing import Given, Side, alone
from graphviewer.runtime.verify import Arrays, Verdict, cannot, differences, judged, not_deterministic, run_result

_RUNS = 3


def prove(
    model: KerasModel,
    written: Document,
    feeds: Given = MappingProxyType({}),
    *,
    seed: int = 0,
    progress: Progress = silent,
) -> Verdict:
    """Whether a graph computes what the model computes that it was made of.

    The user has allowed the model to run code: the graph, which holds no more than the model does, is not asked about.

    Args:
        model: still loaded.
        written: the graph as it was read again from its file; its nodes have the names that ``model`` gives.
        feeds: values by name of a tensor of the graph; the rest is made up.
        seed: of made values.
        progress: told what is being done; may raise Cancelled between steps.

    Raises:
        Cancelled: by ``progress``.
    """
    try:
        side = alone(written, [str(one) for one in model.outputs], feeds, checkpoint=None, seed=seed)
        progress(0.0, "running the Keras model")
        first, seconds_before = _run_model(model, _values(model, side, seed))
        second, seconds_after = run_result(side, part_of(progress, 0.4, 1.0))
    except Cancelled:
        raise
    except GraphViewerError as error:
        return cannot(error)
    return judged(side, first, second, (seconds_before, seconds_after))


def _values(model: KerasModel, side: Side, seed: int) -> list[NDArray[Any]]:
    """The values of the model's inputs: what the graph is fed, and anything for those that it does not need."""
    batch = batch_size([value.shape for value in side.values.values()])
    return [
        side.values[one] if one in side.values else make(wanted(model.document, one), seed, batch)
        for one in model.inputs
    ]


def _run_model(model: KerasModel, values: list[NDArray[Any]]) -> tuple[Arrays, float]:
    """Run the model a few times; its values and median time.

    Raises:
        OperationError: its values change from run to run.
        ReadError: Keras cannot run it.
    """
    taken: list[float] = []
    first: Arrays = [*model.call(values)]
    for _ in range(_RUNS):
        start = time.perf_counter()
        again: Arrays = [*model.call(values)]
        taken.append(time.perf_counter() - start)
        changing = next((one for one in differences(model.outputs, first, again) if not one.same), None)
        if changing is not None:
            raise not_deterministic(changing, "")
    return first, statistics.median(taken)
