"""Recognise renamed scopes: ``net`` as ``import/net``, ``tower_0/net`` as ``net``, ``net_1`` as ``net``.

Works per scope: each may have its own new name, or none.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from graphviewer.analysis.diff.contents import Contents, exact_contents, loose_contents
from graphviewer.analysis.diff.pairing import PREFIX, Pairing
from graphviewer.model.graph import Graph

_MOST_RENAMES = 256
_MOST_PARTNERS = 16  # more nodes called alike say nothing about scopes
_SHARE = 0.1  # a renaming of this part of all nodes that look for a partner needs no further proof
_HALF = 0.5  # ... but must cover this part of the smaller scope
_COVERAGE = 0.8  # a smaller one must cover this part of both scopes ...
_ENOUGH = 4  # ... with at least so many nodes, and fit its surroundings
_MOST_SWEEPS = 8
_MOST_LOOKED_AT = 500
_LONGEST, _MOST_ENDS = 2_000, 40  # characters and tails: a name of a million slashes would have a million tails


class Renaming(NamedTuple):
    """A scope of the first graph, and what it may be called in the second; empty for the whole graph."""

    old: str
    new: str


def by_prefix(pairing: Pairing) -> None:
    """Link nodes below a renamed scope that have equal names from there on, and equal ops.

    Each pair of nodes with the longest common tail of names and one op votes for the scopes in front of it; the pair of
    scopes with the most votes goes first. A few votes are not enough: two nodes called ``bias`` are no renamed scope,
    nor are the batch norms of two networks one batch norm. So a renaming must hold a good part of all free nodes, or
    cover both scopes, be the only one for them, and have the same neighbours around. ``Identity`` and ``Switch`` are in
    many scopes: one that is not covered must be wired alike.
    """
    if pairing.is_done:
        return
    votes = _votes(pairing)
    enough = max(2.0, _SHARE * min((~pairing.settled_before).sum(), (~pairing.settled_after).sum()))
    names = _Names(pairing)
    for renaming in _best_first(pairing, names, votes, enough):
        pairs, smaller, larger = names.below(renaming)
        if len(pairs) < max(enough, _HALF * smaller) or not _mostly_alike(pairing, pairs):
            continue
        if len(pairs) >= _COVERAGE * larger or _is_wired_alike(pairing, pairs):
            _link(pairing, pairs)
    clear = _unrivalled(votes)
    for _ in range(_MOST_SWEEPS):
        linked = [renaming for renaming in clear if _link_if_it_fits(pairing, names, renaming)]
        if not linked:
            return
        clear = [renaming for renaming in clear if renaming not in linked]


def _best_first(pairing: Pairing, names: _Names, votes: Counter[Renaming], enough: float) -> list[Renaming]:
    """Renamings with enough votes, most votes first; of rivals (two towers alike) the one whose nodes and name fit."""
    found = [renaming for renaming, count in votes.most_common(_MOST_RENAMES) if count >= enough]
    if len(found) < 2:
        return found

    def fit(renaming: Renaming) -> tuple[int, int, float]:
        equal = _alike(pairing, names.below(renaming)[0], exact_contents)
        return votes[renaming], equal, SequenceMatcher(None, *renaming).ratio()

    return sorted(found, key=fit, reverse=True)


def _link_if_it_fits(pairing: Pairing, names: _Names, renaming: Renaming) -> bool:
    pairs, _, larger = names.below(renaming)
    covers = len(pairs) >= max(_ENOUGH, _COVERAGE * larger)
    if not covers or not _mostly_alike(pairing, pairs) or not _fits(pairing, pairs):
        return False
    _link(pairing, pairs)
    return True


def _mostly_alike(pairing: Pairing, pairs: Sequence[tuple[int, int]]) -> bool:
    """Whether at least half of the pairs have equal dtypes and shapes: ``Const_1`` to ``Const_9`` are everywhere."""
    looked_at = len(pairs[:: len(pairs) // _MOST_LOOKED_AT + 1])
    return 2 * _alike(pairing, pairs, loose_contents) >= looked_at


def _alike(pairing: Pairing, pairs: Sequence[tuple[int, int]], contents: Callable[..., Contents]) -> int:
    """How many of some pairs have equal contents."""
    some = pairs[:: len(pairs) // _MOST_LOOKED_AT + 1]
    numbers = contents(pairing.before, [old for old, _ in some], pairing.after, [new for _, new in some])
    return sum(map(int.__eq__, *numbers))


def _link(pairing: Pairing, pairs: Sequence[tuple[int, int]]) -> None:
    pairing.link([before for before, _ in pairs], [after for _, after in pairs], PREFIX)


class _Names:
    """Free nodes of both sides by name, sorted, so that a scope is a slice."""

    def __init__(self, pairing: Pairing) -> None:
        self._pairing = pairing
        self._before = sorted((pairing.names_before[node], node) for node in pairing.free_before())
        self._after = sorted((pairing.names_after[node], node) for node in pairing.free_after())

    def below(self, renaming: Renaming) -> tuple[list[tuple[int, int]], int, int]:
        """Pairs with one op and one name below the two scopes; the free nodes in the smaller and the larger of them."""
        pairing = self._pairing
        here = [entry for entry in _inside(self._before, renaming.old) if not pairing.settled_before[entry[1]]]
        there = {name: node for name, node in _inside(self._after, renaming.new) if not pairing.settled_after[node]}
        sizes = sorted((len(here), len(there)))
        head, other = (scope + "/" if scope else "" for scope in renaming)
        ops_before, ops_after = pairing.before.graph.ops, pairing.after.graph.ops
        pairs = []
        for name, node in here:
            partner = there.pop(other + name[len(head) :], -1)
            if partner >= 0 and ops_after[partner] == ops_before[node]:
                pairs.append((node, partner))
        return pairs, sizes[0], sizes[1]


def _inside(names: list[tuple[str, int]], scope: str) -> list[tuple[str, int]]:
    """The entries below a scope: those from ``scope/`` up to, not including, ``scope0`` (0 follows / in ASCII)."""
    if not scope:
        return names
    return names[bisect_left(names, (scope + "/",)) : bisect_left(names, (scope + "0",))]


def _votes(pairing: Pairing) -> Counter[Renaming]:
    """Votes per renaming."""
    ops_before, ops_after = pairing.before.graph.ops, pairing.after.graph.ops
    ends: dict[tuple[str, str], list[int]] = defaultdict(list)
    for node in pairing.free_after():
        for end in _ends(pairing.names_after[node]):
            ends[end, ops_after[node]].append(node)
    votes: Counter[Renaming] = Counter()
    for node in pairing.free_before():
        name = pairing.names_before[node]
        for end in _ends(name):
            partners = ends.get((end, ops_before[node]), ())
            if partners:
                if len(partners) <= _MOST_PARTNERS:
                    votes.update(_different(name, pairing.names_after[partner], end) for partner in partners)
                break
    return votes


def _ends(name: str) -> Iterator[str]:
    """A name and its tails, longest first: ``a/b/c``, ``b/c``, ``c``; no more than a name that is meant has."""
    yield name
    at = name.find("/") if len(name) <= _LONGEST else -1
    for _ in range(_MOST_ENDS):
        if at < 0:
            return
        yield name[at + 1 :]
        at = name.find("/", at + 1)


def scopes_of(old: str, new: str) -> Renaming:
    """The scopes in front of the longest common tail of two names."""
    tails = set(_ends(new))
    return _different(old, new, next((end for end in _ends(old) if end in tails), ""))


def _different(old: str, new: str, end: str) -> Renaming:
    """What stands in front of a common end."""
    return Renaming(old[: -len(end)].rstrip("/"), new[: -len(end)].rstrip("/")) if end else Renaming(old, new)


def _unrivalled(votes: Counter[Renaming]) -> list[Renaming]:
    """Renamings that have more votes than any other of the same old, and any other of the same new scope."""
    best: dict[tuple[str, str], int] = defaultdict(int)
    rivals: Counter[tuple[str, str, int]] = Counter()
    for (old, new), count in votes.items():
        for key in (("old", old), ("new", new)):
            best[key] = max(best[key], count)
            rivals[*key, count] += 1
    return [
        renaming
        for renaming, count in votes.most_common(_MOST_RENAMES)
        if all(
            best[key] == count and rivals[*key, count] == 1 for key in (("old", renaming.old), ("new", renaming.new))
        )
    ]


def _is_wired_alike(pairing: Pairing, pairs: Sequence[tuple[int, int]]) -> bool:
    """Whether half of the edges between some nodes are between their partners too, or one leads to the same node.

    True of graphs without edges, such as the variables of a checkpoint, where names are all there is.
    """
    before, after = pairing.before.graph, pairing.after.graph
    if not len(before.src) or not len(after.src):
        return True
    partner, agreeing, total = dict(pairs), 0, 0
    for node, other in pairs[:: len(pairs) // _MOST_LOOKED_AT + 1]:
        there = {(int(after.src[edge]), int(after.port[edge])) for edge in after.edges_into(other)}
        inside = [edge for edge in before.edges_into(node) if int(before.src[edge]) in partner]
        total += len(inside)
        agreeing += sum((partner[int(before.src[edge])], int(before.port[edge])) in there for edge in inside)
    return 2 * agreeing >= total > 0 or _fits(pairing, pairs)


def _fits(pairing: Pairing, pairs: Sequence[tuple[int, int]]) -> bool:
    """Whether an edge into or out of the scope is there on both sides, between the same linked nodes."""
    before, after = pairing.before.graph, pairing.after.graph
    return any(_same_surroundings(pairing, before, after, *pair) for pair in pairs)


def _same_surroundings(pairing: Pairing, before: Graph, after: Graph, node: int, partner: int) -> bool:
    reads = {(pairing.match[before.src[edge]], before.port[edge]) for edge in before.edges_into(node)}
    if any((after.src[edge], after.port[edge]) in reads for edge in after.edges_into(partner)):
        return True
    feeds = {(pairing.match[before.dst[edge]], before.slot[edge]) for edge in before.edges_out_of(node)}
    return any((after.dst[edge], after.slot[edge]) in feeds for edge in after.edges_out_of(partner))
