"""A chain of operations as what does the same again: shell commands, or a Python snippet."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple


class Step(NamedTuple):
    """One operation of a chain.

    Attributes:
        operation: its id.
        parameters: what it was called with; empty and false ones may be left out.
        result: name of the file that the next step reads.
    """

    operation: str
    parameters: Mapping[str, Any]
    result: str


def shell_commands(source: Path, steps: Sequence[Step]) -> str:
    """The chain for a POSIX shell, one command a line."""
    lines, path = [], str(source)
    for step in steps:
        words = ["graphviewer", "apply", step.operation, path]
        for name, value in _given(step):
            option = "--" + name.replace("_", "-")
            if value is True:
                words.append(option)
            else:
                words += [word for one in _listed(value) for word in (option, one)]
        lines.append(shlex.join([*words, "-o", step.result]))
        path = step.result
    return "\n".join(lines)


def python_snippet(source: Path, steps: Sequence[Step]) -> str:
    """The chain as a Python program."""
    lines = [
        "from graphviewer.formats import open_document, save_document",
        "from graphviewer.operations.registry import operations",
        "",
        f"document = open_document({str(source)!r})",
    ]
    for step in steps:
        arguments = "".join(f", {name}={value!r}" for name, value in _given(step))
        lines.append(f"document = operations()[{step.operation!r}].run(document{arguments}).document")
    if steps:
        lines.append(f"save_document(document, {steps[-1].result!r})")
    return "\n".join(lines) + "\n"


def _given(step: Step) -> list[tuple[str, Any]]:
    return [(name, value) for name, value in step.parameters.items() if value not in (None, False, "", [], ())]


def _listed(value: Any) -> list[str]:
    return [str(one) for one in value] if isinstance(value, list | tuple) else [str(value)]
