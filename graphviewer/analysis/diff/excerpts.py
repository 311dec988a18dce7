"""Two texts that differ, short enough for a line: of long ones the part where they begin to differ."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

LONGEST = 120
"""Characters of either text that are shown."""

_BEFORE = 20  # characters that both share, for a look at where it is


def excerpts(old: str, new: str, most: int = LONGEST) -> tuple[str, str]:
    """Both texts, from where they begin to differ where their beginnings are the same, and with ``…`` where cut."""
    if max(len(old), len(new)) <= most:
        return old, new
    same = common_length(old, new)
    start = 0 if same < most // 2 else same - _BEFORE
    return _cut(old, start, most), _cut(new, start, most)


def common_length(old: Sequence[Any], new: Sequence[Any]) -> int:
    """How many characters, bytes or items two sequences have in common at their beginnings; halves, for long ones."""
    low, high = 0, min(len(old), len(new))
    while low < high:
        middle = (low + high + 1) // 2
        if old[low:middle] == new[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _cut(text: str, start: int, most: int) -> str:
    return f"{'…' if start else ''}{text[start : start + most]}{'…' if len(text) > start + most else ''}"
