"""Where one network ends and another one judges it: generators, actors, style transfer."""

import numpy as np

from graphviewer.analysis.candidates.uses import Uses
from graphviewer.model.graph import Mask

MOST_PARTS = 8
"""Optimizers up to which a network is taken for one of several parts."""

MOST_ENDS = 200
"""Nodes between two parts that are looked at."""

JOINING = frozenset({"ConcatV2", "Pack"})
"""What lays the result of a part beside other data."""


def ends_of_parts(uses: Uses, eligible: Mask) -> dict[int, str]:
    """Where several optimizers train a part each (a GAN): the last nodes that depend on one part only, and why.

    Args:
        eligible: bool [n], nodes that could be outputs at all.
    """
    facts = uses.facts
    parts = [one.variables for one in uses.roles.training.optimizers if one.variables]
    if not 1 < len(parts) <= MOST_PARTS:
        return {}
    found: dict[int, str] = {}
    for part in parts:
        others = frozenset().union(*(other for other in parts if other is not part))
        if part & others:
            continue
        own, below_others = facts.mask(part), facts.below(facts.mask(others))
        below = facts.below(own) & ~below_others
        ends = below & eligible & (facts.readers(below_others & ~uses.training) > 0)
        for end in np.flatnonzero(ends).tolist()[:MOST_ENDS]:
            node = _before_joining(uses, end, below)
            if np.count_nonzero(facts.above(facts.mask([node])) & own) == len(part):
                found[node] = f"end of a part with its own optimizer ({len(part)} variables)"
    return found


def _before_joining(uses: Uses, node: int, part: Mask) -> int:
    """Up from where a part's result is joined with other data (a critic that sees state and action)."""
    passed = {node}
    while uses.facts.graph.ops[node] in JOINING:
        own = {source for source in uses.facts.inputs(node) if part[source]} - passed
        if len(own) != 1:
            break
        (node,) = own
        passed.add(node)
    return node


def end_before_judge(uses: Uses) -> dict[int, str]:
    """Where a network without trained weights judges the trained one (style transfer): the latter's end, and why.

    That is where the path from the last trained weight first divides, if all that lies below is the loss.
    """
    facts, forward = uses.facts, uses.forward
    weighted = forward.weighted
    above = facts.above(
        facts.mask(source for node in np.flatnonzero(weighted).tolist() for source in facts.inputs(node))
    )
    last = np.flatnonzero(weighted & ~above).tolist()
    if len(last) != 1:
        return {}
    judges, passing = uses.judging | uses.perhaps_judging, uses.training | uses.silent
    end, passed = last[0], set(last)
    while True:
        readers = {node for node in facts.graph.consumers(end) if not passing[node]}
        following = {node for node in readers - passed if not judges[node]}
        if len(readers) != 1 or not following:
            break
        (end,) = following
        passed.add(end)
    others = forward.sinks | ~(forward.above_loss | judges | passing)
    others &= facts.below(facts.mask([end]), facts.ends | uses.training) & ~facts.mask(forward.losses)
    judged = not others.any() and not all(judges[reader] for reader in readers)
    return {end: "end of the trained network; what follows serves the loss"} if judged else {}
