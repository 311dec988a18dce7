"""Prove a result: the original and the result compute the same from the same feeds.

Both run without TensorFlow's optimizers, each as its own graph in its own session. The original runs twice first: what
gives other values each time, as dropout does, proves nothing.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from numpy.typing import NDArray

from graphviewer.analysis.ops import is_random_op
from graphviewer.analysis.touches import Touch
from graphviewer.errors import Cancelled, GraphViewerError, OperationError, UnknownNameError
from graphviewer.model.document import Document
from graphviewer.model.names import Endpoint
from graphviewer.model.progress import Progress, part_of, silent
from graphviewer.runtime.attempts import Attempt, first_that_runs
from graphviewer.runtime.compare import Difference, difference, doubt_of, largest
from graphviewer.runtime.counterparts import Paired, steady_twin
from graphviewer.runtime.engine import StoppedError
from graphviewer.runtime.feeds import FeedError
from graphviewer.runtime.network import Network
from graphviewer.runtime.pairing import Feed, Given, Side, pair
from graphviewer.runtime.permission import NotAllowedError, require_permission
from graphviewer.runtime.restore import USUAL, Matching

Arrays = list[NDArray[Any] | None]
"""Values of outputs; None for one that has none, as its branch of a conditional is not taken."""


class _Repeats(NamedTuple):
    """How often a graph runs: at most so many times, and no more once so many seconds are spent."""

    runs: int
    seconds: float


_COMPARE = "Compare '{1}' of the result with '{0}' of the original, which draws no random numbers."
_USUAL = _Repeats(5, 2.0)
_RANDOM = _Repeats(16, 10.0)  # dropout may miss the few units that made-up values excite


@dataclass(frozen=True)
class Verdict:
    """What a verification found.

    Attributes:
        verdict: ``same``, ``different``, or ``cannot`` when nothing is proved either way.
        reason: what was found, or why nothing was; no full stop at its end.
        outputs: one difference per output.
        seconds: median time of a run, before and after; None for a graph that did not run.
        hint, shell: what to do, for ``cannot``, as the window and as the shell has it.
        feeds: what the original was fed.
        touches: what the graphs could touch, where they were not run because of that.
        unused: names of given feeds that the outputs do not need.
        paired: tensors that were compared, or fed, with others of the other graph than those of their name.
        doubt: why ``same`` proves little: every output is constant, or has no elements; empty where it does not.
        skipped: outputs that have no value in either graph, as their branch of a conditional is not taken.
        needs: tensors that the user should give values for, where made ones cannot be made or do not suit.
        instead: for an original that is not deterministic, outputs to compare, each as ``ORIGINAL=RESULT``.
    """

    verdict: Literal["same", "different", "cannot"]
    reason: str
    outputs: tuple[Difference, ...] = ()
    seconds: tuple[float | None, float | None] = (None, None)
    hint: str = ""
    feeds: tuple[Feed, ...] = ()
    touches: tuple[Touch, ...] = ()
    unused: tuple[str, ...] = ()
    paired: tuple[Paired, ...] = ()
    doubt: str = ""
    skipped: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    instead: tuple[str, ...] = ()
    shell: str = ""

    def to_json(self) -> dict[str, Any]:
        """As the contract has it; hint, feeds and all that follows beside."""
        return {
            "verdict": self.verdict,
            "reason": self.reason,
            "outputs": [output.to_json() for output in self.outputs],
            "seconds": list(self.seconds),
            "hint": self.hint,
            "feeds": [feed._asdict() for feed in self.feeds],
            "touches": [touch._asdict() for touch in self.touches],
            "unused": list(self.unused),
            "paired": [pair.to_json() for pair in self.paired],
            "doubt": self.doubt,
            "skipped": list(self.skipped),
            "needs": list(self.needs),
            "instead": list(self.instead),
            "shell": self.shell,
        }


def verify(
    before: Document,
    after: Document,
    outputs: Sequence[str] = (),
    feeds: Given = MappingProxyType({}),
    *,
    checkpoint: Path | None = None,
    matching: Matching = USUAL,
    allow: bool = False,
    seed: int = 0,
    progress: Progress = silent,
) -> Verdict:
    """Whether ``after`` computes what ``before`` computes.

    Args:
        before: the original.
        after: the result of an operation on it, or any graph with the same outputs.
        outputs: names that both graphs know, or that signatures pair; by default where the result ends.
        feeds: values by name of a tensor of either graph; the rest is made up.
        checkpoint: values of the variables of both graphs; by default each document's own.
        matching: which of them are those of the original's variables, as the result was made with.
        allow: run graphs that could touch files, the network or Python.
        seed: of made values.
        progress: told what is being done; may raise Cancelled between steps.

    Raises:
        UnknownNameError: an output or feed that is not there.
        Cancelled: by ``progress``.
    """
    tried: list[tuple[Side, Side]] = []

    def sized(attempt: Attempt) -> tuple[Side, Side]:
        tried.append(
            pair(before, after, outputs, feeds, checkpoint=checkpoint, matching=matching, seed=seed, attempt=attempt)
        )
        require_permission([touch for side in tried[-1] for touch in side.part.touches()], allow=allow)
        return tried[-1]

    def original(sides: tuple[Side, Side]) -> tuple[tuple[Side, Side], Arrays, float]:
        return sides, *_original(sides[0], part_of(progress, 0.05, 0.55))

    try:
        progress(0.02, "starting TensorFlow")
        sides, first, seconds_before = first_that_runs(sized, lambda sides: sides[0].shapes(), original)
        second, seconds_after = run_result(sides[1], part_of(progress, 0.55, 1.0))
    except (Cancelled, UnknownNameError):
        raise
    except GraphViewerError as error:
        return _unproved(error, tried[0]) if tried else cannot(error)
    return judged(sides[0], first, second, (seconds_before, seconds_after))


def cannot(error: GraphViewerError, feeds: Sequence[Feed] = ()) -> Verdict:
    """The verdict where an error keeps anything from being proved; ``feeds`` are those that a graph got."""
    touched = error.touches if isinstance(error, NotAllowedError) else ()
    needs = error.needs if isinstance(error, FeedError) else ()
    if isinstance(error, StoppedError):
        needs = tuple(feed.name for feed in feeds if feed.made)
    reason = f"cannot verify: {error.message.rstrip('.')}"
    return Verdict(
        "cannot", reason, hint=error.hint, shell=error.shell, feeds=tuple(feeds), touches=touched, needs=needs
    )


def _unproved(error: GraphViewerError, sides: tuple[Side, Side]) -> Verdict:
    """``cannot`` for two graphs, with outputs to compare in place of those that are not deterministic."""
    verdict = cannot(error, sides[0].feeds)
    instead = _steady(*sides) if isinstance(error, NotDeterministicError) else ()
    if not instead:
        return verdict
    hint = _COMPARE.format(*instead[0].split("="))
    return replace(verdict, instead=instead, hint=hint, shell=hint)


def judged(side: Side, first: Arrays, second: Arrays, seconds: tuple[float, float]) -> Verdict:
    """The verdict on the values of two graphs; ``side`` is the one that tells what was fed and compared."""
    found = differences(side.outputs, first, second)
    unequal = next((one for one in found if not one.same), None)
    reason = f"'{unequal.name}' {unequal.reason}" if unequal is not None else f"difference {largest(found):.3g}"
    compared = {one.name for one in found}
    return Verdict(
        "same" if unequal is None else "different",
        reason,
        found,
        seconds,
        feeds=tuple(side.feeds),
        unused=side.unused,
        paired=side.paired,
        doubt=doubt_of(found),
        skipped=tuple(str(end) for end in side.outputs if str(end) not in compared),
    )


def _steady(first: Side, second: Side) -> tuple[str, ...]:
    """For the outputs of an original that draws random numbers, those of its tower for evaluation, if it has one."""
    documents = first.part.document, second.part.document
    found = [
        (steady_twin(*documents, one, other), other) for one, other in zip(first.outputs, second.outputs, strict=True)
    ]
    return tuple(f"{twin}={other}" for twin, other in found if twin is not None)


def differences(ends: Sequence[Endpoint], first: Arrays, second: Arrays) -> tuple[Difference, ...]:
    """Of each output, how far the values of two runs are apart; without those that have none in either."""
    whole = zip(ends, first, second, strict=True)
    return tuple(difference(str(end), one, two) for end, one, two in whole if one is not None or two is not None)


def _original(side: Side, progress: Progress) -> tuple[Arrays, float]:
    """Run the original twice and more; its values and median time.

    Raises:
        NotDeterministicError: its values change from run to run.
    """
    random = side.part.first(is_random_op)
    with side.network(part_of(progress, 0.0, 0.9)) as network:
        progress(0.9, "running the original")
        first = network.run(side.values)
        taken: list[float] = []
        for again, seconds in _runs(network, side.values, _RANDOM if random else _USUAL):
            taken.append(seconds)
            changing = next((one for one in differences(side.outputs, first, again) if not one.same), None)
            if changing is not None:
                raise not_deterministic(changing, random)
    return first, statistics.median(taken)


class NotDeterministicError(OperationError):
    """An output has other values in every run."""


def not_deterministic(changing: Difference, random: str) -> NotDeterministicError:
    """What is said where an output has other values in every run; ``random`` is a node that would explain it."""
    why = f": '{random}' draws random numbers" if random else ""
    return NotDeterministicError(
        f"the original is not deterministic{why}; '{changing.name}' {changing.reason} from one run to the next.",
        "Choose outputs of the evaluation tower, or feed what comes after the random node.",
    )


def run_result(side: Side, progress: Progress) -> tuple[Arrays, float]:
    """Run the result; its values and median time."""
    with side.network(part_of(progress, 0.0, 0.9)) as network:
        progress(0.9, "running the result")
        first = network.run(side.values)
        return first, statistics.median(seconds for _, seconds in _runs(network, side.values, _USUAL))


def _runs(network: Network, values: Mapping[Endpoint, NDArray[Any]], most: _Repeats) -> Iterator[tuple[Arrays, float]]:
    """More runs with their seconds; the first run, which sets things up, came before."""
    count, spent = 0, 0.0
    while not count or (count < most.runs and spent < most.seconds):
        network.reset()
        start = time.perf_counter()
        found = network.run(values)
        seconds = time.perf_counter() - start
        yield found, seconds
        count, spent = count + 1, spent + seconds
