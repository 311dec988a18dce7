"""The ways in which a graph can be laid out; without numpy, for a window that starts with it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Style:
    """How a graph is laid out.

    Attributes:
        direction: where edges lead.
        stacked: repeated sibling scopes are one closed scope around them.
        tucked: constants, reads and initial values of variables, and what a saver restores, are chips.
    """

    direction: Literal["down", "right"] = "down"
    stacked: bool = False
    tucked: bool = False
