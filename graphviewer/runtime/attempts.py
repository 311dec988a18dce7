"""Sizes to try for made values where a graph leaves them open: the next ones where TensorFlow refuses the first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeVar

from graphviewer.runtime.engine import CannotRunError, TimedOutError
from graphviewer.runtime.feeds import FeedError

Sized = TypeVar("Sized")
Ran = TypeVar("Ran")
Shapes = Sequence[tuple[int, ...]]


class Attempt(NamedTuple):
    """How made values are sized where a graph leaves it open.

    Attributes:
        batch: the first size; None for what other feeds suggest.
        guess: which of ``feeds.guesses`` a tensor has whose rank nothing tells.
    """

    batch: int | None = None
    guess: int = 0


FIRST = Attempt()
_MORE = (Attempt(batch=1), Attempt(guess=1), Attempt(guess=2), Attempt(guess=3))
"""A batch of one comes first: some graphs take no other, and do not say so."""


def first_that_runs(
    sized: Callable[[Attempt], Sized], shapes_of: Callable[[Sized], Shapes], work: Callable[[Sized], Ran]
) -> Ran:
    """Make values and run a graph with them, with other sizes where it refuses, as long as there are others.

    Args:
        sized: makes a graph and its values ready.
        shapes_of: the shapes of these values; none is tried twice.
        work: runs the graph.

    Raises:
        CannotRunError: the first attempt's, if none runs.
        FeedError: as ``sized``, for the first attempt.
    """
    first = sized(FIRST)
    try:
        return work(first)
    except TimedOutError:
        raise
    except CannotRunError as error:
        refusal = error
    tried = [shapes_of(first)]
    for attempt in _MORE:
        try:
            made = sized(attempt)
            if shapes_of(made) not in tried:
                tried.append(shapes_of(made))
                return work(made)
        except (CannotRunError, FeedError):
            continue
    raise refusal
