"""Signs that tell categories apart without colour. Each is a letter of the bundled font."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

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
        "converted": "→",
        "spliced": "⊘",
        "renamed": "✎",
        "changed": "~",
        "rewired": "⇄",
        "unchanged": "",
    }
)

PROBLEM_SIGNS: Mapping[str, str] = MappingProxyType({"error": "×", "warning": "!", "info": "i"})

CALL_SIGN = "ƒ"

_TITLES: Mapping[tuple[str, str], str] = MappingProxyType({("roles", "training_forward"): "other forward pass"})

_KINDS: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {"roles": ROLE_SIGNS, "diff": STATUS_SIGNS, "problems": PROBLEM_SIGNS}
)


def sign(kind: str, category: str) -> str:
    """The sign of a category, empty where it has none."""
    return _KINDS.get(kind, {}).get(category, "")


def title(kind: str, category: str) -> str:
    """What people read for a category: a forward pass beside the one that the outputs need may be of another tower."""
    return _TITLES.get((kind, category), category.replace("_", " "))
