"""How long work reports how far it is, and hears that it should stop."""

from typing import Protocol


class Progress(Protocol):
    """Called now and then with a fraction (0..1) and what is being done; may raise ``Cancelled``."""

    def __call__(self, fraction: float, message: str) -> None: ...


def silent(fraction: float, message: str) -> None:
    """Progress for callers that do not care."""


def part_of(progress: Progress, start: float, end: float) -> Progress:
    """Progress of a part of the work, as progress of the whole."""
    return lambda fraction, message: progress(start + (end - start) * fraction, message)
