"""What the texts in a NodeDef say: its inputs, and what it is placed with."""

from __future__ import annotations

import re
from typing import Any

COLOCATION = b"loc:@"
"""How an entry of the attribute ``_class`` begins that names a node to be placed with."""

_NAME = re.compile(r"[A-Za-z0-9.>][A-Za-z0-9_.\\/>-]*\Z")


def is_node_name(name: str) -> bool:
    """TensorFlow allows the name. Source: ``tensorflow/core/framework/node_def_util.cc``."""
    return _NAME.match(name) is not None


def data_inputs(node: Any) -> list[str]:
    """The inputs of a node that carry values."""
    return [text for text in node.input if not text.startswith("^")]


def control_inputs(node: Any) -> list[str]:
    """The inputs of a node that it only waits for, as written (``^x``)."""
    return [text for text in node.input if text.startswith("^")]


def colocated_with(entry: bytes) -> str | None:
    """The node that an entry of ``_class`` names to be placed with; None for an entry that says something else."""
    return entry.removeprefix(COLOCATION).decode("utf-8", "replace") if entry.startswith(COLOCATION) else None
