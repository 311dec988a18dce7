"""Where every node of a result came from, and why every other node went away."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple


class Origin(NamedTuple):
    """Where a node of the result came from.

    Attributes:
        source: name of the node in the graph before; None for a node that the operation made.
        rule: what was done: ``kept``, ``variable -> constant``, ``read -> identity``, ``pipeline -> placeholder`` ...
        reason: the sentence that the diff shows.
    """

    source: str | None
    rule: str = "kept"
    reason: str = ""


class Removal(NamedTuple):
    """Why a node of the graph before is not in the result.

    Attributes:
        rule: ``removed`` (not needed, cut away) or ``spliced`` (pass-through; its consumers read its input now).
        reason: the sentence that the diff shows.
    """

    rule: str
    reason: str


def provenance_path(document: Path) -> Path:
    """Where the provenance of a version in the session's folder is kept."""
    return document.with_suffix(".provenance.json")


@dataclass(frozen=True)
class Provenance:
    """The link between two versions. Nodes that are not listed in ``origins`` were kept under their own name.

    Attributes:
        origins: by name in the result; only nodes that were made, renamed, converted or changed on purpose.
        removals: by name in the graph before.
        operation: id of the operation.
        parameters: what it was called with, JSON-able.
    """

    origins: Mapping[str, Origin] = field(default_factory=dict)
    removals: Mapping[str, Removal] = field(default_factory=dict)
    operation: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Plain values for a file or a message."""
        return {
            "origins": {name: list(origin) for name, origin in self.origins.items()},
            "removals": {name: list(removal) for name, removal in self.removals.items()},
            "operation": self.operation,
            "parameters": dict(self.parameters),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Provenance":
        """The inverse of ``to_json``."""
        return cls(
            {name: Origin(*origin) for name, origin in data["origins"].items()},
            {name: Removal(*removal) for name, removal in data["removals"].items()},
            data["operation"],
            data["parameters"],
        )
