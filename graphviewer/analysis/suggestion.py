"""A suggested output or input; apart from what finds them, for who only shows them need not load that."""

from __future__ import annotations

from typing import NamedTuple

from graphviewer.model.names import Endpoint


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

    @property
    def endpoint(self) -> Endpoint:
        """The tensor that the name means."""
        return Endpoint.parse(self.name)
