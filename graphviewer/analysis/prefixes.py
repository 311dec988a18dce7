"""The change of scope after which a checkpoint has keys for the variables of a graph that was built elsewhere."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from graphviewer.analysis.variable_keys import Keys


class PrefixChange(NamedTuple):
    """A change of scope after which ``votes`` variables have a key of their shape."""

    old: str
    new: str
    votes: int


def likely_prefix(variables: Mapping[str, Sequence[int] | None], checkpoint: Keys) -> PrefixChange | None:
    """The change of the names' beginning that gives most variables a key of the same shape.

    To be offered, never applied unasked: the runner-up may be the right one.

    Args:
        variables: shapes by name, of variables without a key.
        checkpoint: its keys and shapes.
    """
    by_end: dict[str, list[str]] = defaultdict(list)
    for key in checkpoint.keys():  # noqa: SIM118 - not a mapping
        by_end[key.rpartition("/")[2]].append(key)
    votes: Counter[tuple[str, str]] = Counter()
    for name, shape in list(variables.items())[:1_000]:
        for key in by_end.get(name.rpartition("/")[2], ())[:1_000]:
            if shape is None or list(shape) == checkpoint.shape(key):
                votes[_differing_starts(name, key)] += 1
    if not votes:
        return None
    (old, new), count = votes.most_common(1)[0]
    return PrefixChange(old, new, count)


def _differing_starts(name: str, key: str) -> tuple[str, str]:
    """What is left of two names when their common ending is taken away."""
    first, second = name.split("/"), key.split("/")
    same = 0
    while same < min(len(first), len(second)) and first[-1 - same] == second[-1 - same]:
        same += 1
    return "/".join(first[: len(first) - same]), "/".join(second[: len(second) - same])
