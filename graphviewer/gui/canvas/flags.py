"""Which boxes carry a flag: the inputs and outputs that were chosen, or are suggested."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import NamedTuple


@dataclass(frozen=True, eq=False)
class Endpoints:
    """Node numbers that carry a flag."""

    outputs: Collection[int] = ()
    inputs: Collection[int] = ()
    suggested_outputs: Collection[int] = ()
    suggested_inputs: Collection[int] = ()


class Flag(NamedTuple):
    """The flag on a box that is, or holds, an endpoint; a suggestion where it is not chosen."""

    box: int
    is_output: bool
    is_chosen: bool
