"""Jobs that tell of an operation before it runs: what there is to choose, and how much it would write."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from graphviewer.model.endpoints import Side, endpoints_named
from graphviewer.model.progress import Progress, part_of, silent
from graphviewer.worker.opening import opened


def choices(
    path: str,
    operation: str,
    outputs: Sequence[str] = (),
    *,
    checkpoint: str | None = None,
    tags: Sequence[str] | None = None,
    progress: Progress = silent,
) -> dict[str, Any]:
    """What the parameters of an operation can be for a file: ``{"choices": {parameter: [{"id", "label", "reason"}]}}``.

    Args:
        operation: id of the operation; parameters that take any text are left out.
        outputs: the chosen outputs; by default what holds for the whole graph.
        checkpoint: prefix to use in place of the one beside the graph; no value of it is read.
    """
    from graphviewer.operations.registry import operations

    document = opened(path, checkpoint, progress, tags)
    found = {}
    for parameter in operations()[operation].parameters:
        if parameter.choices is not None:
            listed = parameter.choices(document, outputs=outputs)
            found[parameter.name] = [choice._asdict() for choice in listed]
    return {"choices": found}


def predict(
    path: str,
    parameters: Mapping[str, Any],
    *,
    tags: Sequence[str] | None = None,
    progress: Progress = silent,
) -> dict[str, Any]:
    """The bytes that a freeze would write, and what to warn of; nothing is written, and no value is read.

    Args:
        parameters: as for ``run_operation``; ``outputs`` must be among them.
    """
    from graphviewer.operations.freeze import freeze_size, size_warnings

    given = {name: value for name, value in parameters.items() if value is not None}
    document = opened(path, given.get("checkpoint"), progress, tags)
    sides: tuple[Side, ...] = ("outputs", "inputs")
    ends: dict[str, Any] = {side: endpoints_named(document, given.pop(side, ()), side) for side in sides}
    size = freeze_size(document, **ends, **given, progress=part_of(progress, 0.3, 1.0))
    return {"bytes": size, "warnings": size_warnings(size)}
