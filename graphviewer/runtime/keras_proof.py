"""Prove what was made of a Keras model: Keras runs the model, TensorFlow the graph, on the same values."""

from __future__ import annotations

import statistics
import time

from graphviewer.errors import Cancelled, GraphViewerError
from graphviewer.model.document import Document
from graphviewer.model.progress import Progress, silent
from graphviewer.runtime.feeds import batch_size, make, wanted
from graphviewer.runtime.keras import KerasModel
from graphviewer.runtime.pairing import Side, alone
from graphviewer.runtime.verify import Arrays, Verdict, differences, judged, not_deterministic, run_result

_RUNS = 3


def prove(model: KerasModel, written: Document, *, seed: int = 0, progress: Progress = silent) -> Verdict:
    """Whether a graph computes what the model computes that it was made of.

    The user has allowed the model to run code: the graph, which holds no more than the model does, is not asked about.

    Args:
        model: still loaded.
        written: the graph as it was read again from its file; its nodes have the names that ``model`` gives.
        seed: of made values.
        progress: told what is being done; may raise Cancelled between steps.

    Raises:
        Cancelled: by ``progress``.
    """
    try:
        side = alone(written, [str(one) for one in model.outputs], {}, checkpoint=None, seed=seed)
        progress(0.0, "running the Keras model")
        first, seconds_before = _run_model(model, _values(model, side, seed))
        second, seconds_after = run_result(side, lambda part, text: progress(0.4 + 0.6 * part, text))
    except Cancelled:
        raise
    except GraphViewerError as error:
        return Verdict("cannot", f"cannot verify: {error.message.rstrip('.')}", hint=error.hint)
    return judged(differences(model.outputs, first, second), (seconds_before, seconds_after), side)


def _values(model: KerasModel, side: Side, seed: int) -> Arrays:
    """The values of the model's inputs: what the graph is fed, and anything for those that it does not need."""
    batch = batch_size([value.shape for value in side.values.values()])
    return [
        side.values[one] if one in side.values else make(wanted(model.document, one), seed, batch)
        for one in model.inputs
    ]


def _run_model(model: KerasModel, values: Arrays) -> tuple[Arrays, float]:
    """Run the model a few times; its values and median time.

    Raises:
        OperationError: its values change from run to run.
        ReadError: Keras cannot run it.
    """
    first, taken = model.call(values), []
    for _ in range(_RUNS):
        start = time.perf_counter()
        again = model.call(values)
        taken.append(time.perf_counter() - start)
        changing = next((one for one in differences(model.outputs, first, again) if not one.same), None)
        if changing is not None:
            raise not_deterministic(changing, "")
    return first, statistics.median(taken)
