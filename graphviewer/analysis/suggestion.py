"""A suggested output or input; apart from what finds them, for who only shows them need not load that."""

from typing import NamedTuple


class Suggestion(NamedTuple):
    """A candidate, best first.

    Attributes:
        name: ``x`` or ``x:1``.
        score: higher is likelier; comparable within one list only.
        reason: why, in words.
    """

    name: str
    score: float
    reason: str
