"""Signs that tell categories apart without colour. Each is a letter of the bundled font."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from graphviewer.model.overlay import role_label

ROLE_SIGNS: Mapping[str, str] = MappingProxyType(
    {
        "inference": "",
        "training_forward": "▹",
        "loss": "Σ",
        "metric": "≈",
        "gradient": "∇",
        "optimizer": "η",
        "global_step": "#",
        "moving_average": "μ",
        "batch_norm_update": "σ",
        "save_restore": "⇩",
        "initializer": "○",
        "summary": "▤",
        "input_pipeline": "⇥",
        "check": "✓",
        "unused": "∅",
    }
)

STATUS_SIGNS: Mapping[str, str] = MappingProxyType(
    {
        "removed": "−",
        "added": "+",
        "converted": "➜",
        "spliced": "⊘",
        "renamed": "✎",
        "changed": "Δ",
        "rewired": "⇄",
        "unchanged": "",
    }
)

STATUS_MEANINGS: Mapping[str, str] = MappingProxyType(
    {
        "removed": "only the graph before has it",
        "added": "only the graph after has it",
        "converted": "another kind of node in its place, a constant for a variable for instance",
        "spliced": "passed its input through; its consumers now read that input",
        "renamed": "the same node under another name",
        "changed": "another op, attribute, type, shape, device or value",
        "rewired": "the same node that reads other inputs",
        "unchanged": "the same on both sides",
    }
)

PROBLEM_SIGNS: Mapping[str, str] = MappingProxyType({"error": "×", "warning": "!", "info": "i"})

CALL_SIGN = "ƒ"

_KINDS: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {"roles": ROLE_SIGNS, "diff": STATUS_SIGNS, "problems": PROBLEM_SIGNS}
)


def sign(kind: str, category: str) -> str:
    """The sign of a category, empty where it has none."""
    return _KINDS.get(kind, {}).get(category, "")


def meaning(kind: str, category: str) -> str:
    """What a status says of a node, in words; empty for other overlays, whose nodes say it themselves."""
    return STATUS_MEANINGS.get(category, "") if kind == "diff" else ""


def title(kind: str, category: str) -> str:
    """What people read for a category."""
    return role_label(category) if kind == "roles" else category.replace("_", " ")
