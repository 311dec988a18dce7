"""Prove a result: the original and the result compute the same from the same feeds.

Both run without TensorFlow's optimizers, each as its own graph in its own session. The original runs twice first: what
gives other values each time, as dropout does, proves nothing.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from numpy.typing import NDArray

from graphviewer.analysis.ops import is_random_op
from graphviewer.analysis.touches import Touch
from graphviewer.errors import Cancelled, GraphViewerError, OperationError, UnknownNameError
from graphviewer.model.document import Document
from graphviewer.model.names import Endpoint
from graphviewer.model.progress import Progress, silent
from graphviewer.runtime.compare import Difference, difference, largest
from graphviewer.runtime.counterparts import Paired
from graphviewer.runtime.engine import CannotRunError
from graphviewer.runtime.network import Network
from graphviewer.runtime.pairing import Feed, Given, Side, pair
from graphviewer.runtime.permission import NotAllowedError, require_permission

Arrays = list[NDArray[Any]]


class _Repeats(NamedTuple):
    """How often a graph runs: at most so many times, and no more once so many seconds are spent."""

    runs: int
    seconds: float


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
        hint: what to do, for ``cannot``.
        feeds: what the original was fed.
        touches: what the graphs could touch, where they were not run because of that.
        unused: names of given feeds that the outputs do not need.
        paired: tensors that were compared, or fed, with others of the other graph than those of their name.
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

    def to_json(self) -> dict[str, Any]:
        """As the contract has it; hint, feeds, touches, unused and paired beside."""
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
        }


def verify(
    before: Document,
    after: Document,
    outputs: Sequence[str] = (),
    feeds: Given = MappingProxyType({}),
    *,
    checkpoint: Path | None = None,
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
        allow: run graphs that could touch files, the network or Python.
        seed: of made values.
        progress: told what is being done; may raise Cancelled between steps.

    Raises:
        UnknownNameError: an output or feed that is not there.
        Cancelled: by ``progress``.
    """
    fed: tuple[Feed, ...] = ()
    first_half: Progress = lambda part, text: progress(0.05 + 0.5 * part, text)  # noqa: E731
    try:
        sides = pair(before, after, outputs, feeds, checkpoint=checkpoint, seed=seed)
        fed = tuple(sides[0].feeds)
        require_permission([touch for side in sides for touch in side.part.touches()], allow=allow)
        progress(0.02, "starting TensorFlow")
        try:
            first, seconds_before = _original(sides[0], first_half)
        except CannotRunError as error:
            single = pair(before, after, outputs, feeds, checkpoint=checkpoint, seed=seed, batch=1)
            if _same_shapes(single[0], sides[0]):
                raise
            sides, fed = single, tuple(single[0].feeds)
            first, seconds_before = _again(sides[0], first_half, error)
        second, seconds_after = run_result(sides[1], lambda part, text: progress(0.55 + 0.45 * part, text))
    except (Cancelled, UnknownNameError):
        raise
    except GraphViewerError as error:
        touched = error.touches if isinstance(error, NotAllowedError) else ()
        reason = f"cannot verify: {error.message.rstrip('.')}"
        return Verdict("cannot", reason, hint=error.hint, feeds=fed, touches=touched)
    found = differences(sides[0].outputs, first, second)
    return judged(found, (seconds_before, seconds_after), sides[0])


def judged(found: Sequence[Difference], seconds: tuple[float, float], side: Side) -> Verdict:
    """The verdict on runs of two graphs; ``side`` is the one that tells what was fed."""
    unequal = next((one for one in found if not one.same), None)
    reason = f"'{unequal.name}' {unequal.reason}" if unequal is not None else f"difference {largest(found):.3g}"
    verdict: Literal["same", "different"] = "same" if unequal is None else "different"
    return Verdict(
        verdict, reason, tuple(found), seconds, feeds=tuple(side.feeds), unused=side.unused, paired=side.paired
    )


def _same_shapes(first: Side, second: Side) -> bool:
    return [feed.shape for feed in first.feeds] == [feed.shape for feed in second.feeds]


def _again(side: Side, progress: Progress, refusal: CannotRunError) -> tuple[Arrays, float]:
    """Run the original with a batch of one: some graphs take no other, and do not say so."""
    try:
        return _original(side, progress)
    except CannotRunError:
        raise refusal from None


def differences(ends: Sequence[Endpoint], first: Arrays, second: Arrays) -> tuple[Difference, ...]:
    """Of each output, how far the values of two runs are apart."""
    return tuple(difference(str(end), *values) for end, *values in zip(ends, first, second, strict=True))


def _original(side: Side, progress: Progress) -> tuple[Arrays, float]:
    """Run the original twice and more; its values and median time.

    Raises:
        OperationError: its values change from run to run.
    """
    random = side.part.first(is_random_op)
    with _network(side, progress) as network:
        progress(0.9, "running the original")
        first = network.run(side.values)
        taken: list[float] = []
        for again, seconds in _runs(network, side.values, _RANDOM if random else _USUAL):
            taken.append(seconds)
            changing = next((one for one in differences(side.outputs, first, again) if not one.same), None)
            if changing is not None:
                raise not_deterministic(changing, random)
    return first, statistics.median(taken)


def not_deterministic(changing: Difference, random: str) -> OperationError:
    """What is said where an output has other values in every run; ``random`` is a node that would explain it."""
    why = f": '{random}' draws random numbers" if random else ""
    return OperationError(
        f"the original is not deterministic{why}; '{changing.name}' {changing.reason} from one run to the next.",
        "Choose outputs of the evaluation tower, or feed what comes after the random node.",
    )


def run_result(side: Side, progress: Progress) -> tuple[Arrays, float]:
    """Run the result; its values and median time."""
    with _network(side, progress) as network:
        progress(0.9, "running the result")
        first = network.run(side.values)
        return first, statistics.median(seconds for _, seconds in _runs(network, side.values, _USUAL))


def _network(side: Side, progress: Progress) -> Network:
    return Network(
        side.part,
        side.outputs,
        checkpoint=side.checkpoint,
        assets=side.assets,
        label=side.label,
        progress=lambda part, text: progress(0.9 * part, text),
    )


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
