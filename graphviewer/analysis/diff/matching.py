"""The ways to recognise a node of one graph in the other, surest first."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import repeat
from typing import Any

import numpy as np

from graphviewer import protos
from graphviewer.analysis.diff.pairing import Pairing
from graphviewer.model.graph import Graph

Matcher = Callable[[Pairing], None]

_MAX_ROUNDS = 64
_MAX_RENAMES = 64
_SHARE = 0.1  # of the nodes that look for a partner must be called alike below two scopes, for one to be the other
_ANNOTATIONS = ("_class", "_output_shapes")


def by_provenance(pairing: Pairing) -> None:
    """Follow what the operation reported; nodes that it does not list were kept under their own name."""
    if pairing.provenance is None:
        return
    index = _first(pairing.names_before)
    links: list[tuple[int, int]] = []
    for node, name in enumerate(pairing.names_after):
        origin = pairing.provenance.origins.get(name)
        if origin is None:
            continue
        pairing.origins[node] = origin
        source = index.get(origin.source, -1) if origin.source is not None else -1
        if source >= 0:
            links.append((source, node))
        elif origin.source is None:
            pairing.settled_after[node] = True
    if links:
        pairing.link([before for before, _ in links], [after for _, after in links], "provenance")
    for node, name in enumerate(pairing.names_before):
        removal = pairing.provenance.removals.get(name)
        if removal is not None and not pairing.settled_before[node]:
            pairing.removals[node] = removal
            pairing.settled_before[node] = True


def by_name(pairing: Pairing) -> None:
    """Link nodes of one name. Where a damaged file repeats a name, equal nodes first, then in file order."""
    free_before, free_after = pairing.free_before(), pairing.free_after()
    index = {pairing.names_after[node]: node for node in free_after}
    names = [pairing.names_before[node] for node in free_before]
    if len(index) < len(free_after) or len(set(names)) < len(names):
        _link_repeated(pairing, free_before, free_after)
        return
    found = np.fromiter(map(index.get, names, repeat(-1)), np.int32, len(names))
    hit = found >= 0
    pairing.link(np.array(free_before, np.int32)[hit], found[hit], "name")


def _link_repeated(pairing: Pairing, free_before: Iterable[int], free_after: Iterable[int]) -> None:
    groups = _groups(free_before, lambda node: pairing.names_before[node])
    others = _groups(free_after, lambda node: pairing.names_after[node])
    for name, nodes in groups.items():
        partners = others.get(name, [])
        if len(nodes) > 1 or len(partners) > 1:
            nodes, partners = _equal_first(pairing, nodes, partners)
        count = min(len(nodes), len(partners))
        if count:
            pairing.link(nodes[:count], partners[:count], "name")


def _equal_first(pairing: Pairing, nodes: list[int], partners: list[int]) -> tuple[list[int], list[int]]:
    """Both lists reordered so that nodes of equal content stand at equal places, as far as there are any."""
    waiting = defaultdict(list)
    for partner in partners:
        waiting[_bytes(pairing.after.node(partner))].append(partner)
    equal, rest = [], []
    for node in nodes:
        same = waiting[_bytes(pairing.before.node(node))]
        if same:
            equal.append((node, same.pop(0)))
        else:
            rest.append(node)
    left = sorted(partner for group in waiting.values() for partner in group)
    return [node for node, _ in equal] + rest, [partner for _, partner in equal] + left


def by_prefix(pairing: Pairing) -> None:
    """Link nodes below a renamed scope (``net/...`` to ``tower/net/...``, or all to ``import/...``) with equal ops.

    Each pair of nodes with one last part and one op votes for the scopes in front of what their names share; the
    scope pair with the most votes goes first. A few votes are not enough: two nodes called ``bias`` are no renamed
    scope, nor are the batch norms of two networks one batch norm.
    """
    enough = max(2, _SHARE * min(len(pairing.free_before()), len(pairing.free_after())))
    for (old, new), count in _votes(pairing).most_common(_MAX_RENAMES):
        if count >= enough:
            _link_scope(pairing, old, new)


def _votes(pairing: Pairing) -> Counter[tuple[str, str]]:
    """Votes per (old scope, new scope); equal keys are paired in file order, which renaming keeps."""
    groups = _groups(pairing.free_before(), lambda node: _last_and_op(pairing.names_before, pairing.before, node))
    others = _groups(pairing.free_after(), lambda node: _last_and_op(pairing.names_after, pairing.after, node))
    votes: Counter[tuple[str, str]] = Counter()
    for key, nodes in groups.items():
        for node, partner in zip(nodes, others.get(key, ()), strict=False):
            votes[_different_scopes(pairing.names_before[node], pairing.names_after[partner])] += 1
    return votes


def _last_and_op(names: Sequence[str], document: Any, node: int) -> tuple[str, str]:
    return names[node].rpartition("/")[2], document.node(node).op


def _different_scopes(old: str, new: str) -> tuple[str, str]:
    """The parts in front of the longest common tail of two names: ``a/x/w``, ``b/x/w`` -> (``a``, ``b``)."""
    left, right = old.split("/"), new.split("/")
    while left and right and left[-1] == right[-1]:
        left.pop()
        right.pop()
    return "/".join(left), "/".join(right)


def _link_scope(pairing: Pairing, old: str, new: str) -> None:
    free = {pairing.names_after[node]: node for node in pairing.free_after()}
    head, other = old + "/" if old else "", new + "/" if new else ""
    before, after = [], []
    for node in pairing.free_before():
        name = pairing.names_before[node]
        partner = free.get(other + name[len(head) :], -1) if name.startswith(head) else -1
        if partner >= 0 and pairing.after.node(partner).op == pairing.before.node(node).op:
            before.append(node)
            after.append(partner)
            del free[pairing.names_after[partner]]
    if len(before) > 1:
        pairing.link(before, after, "prefix")


def by_structure(pairing: Pairing) -> None:
    """Link nodes with equal op and attributes that alone read, or alone feed, the same linked nodes.

    Works outwards from what is linked, one layer per round and at most ``_MAX_ROUNDS`` layers.
    """
    if not (pairing.free_before() and pairing.free_after()):
        return
    content = _Contents(pairing)
    for _ in range(_MAX_ROUNDS):
        forwards = _link_unique(pairing, content, _reads)
        backwards = _link_unique(pairing, content, _feeds)
        if not (forwards or backwards):
            return


class _Contents:
    """Op and attributes of free nodes as bytes, each serialised once."""

    def __init__(self, pairing: Pairing) -> None:
        self._documents = (pairing.before, pairing.after)
        self._known: dict[tuple[int, int], bytes] = {}

    def of(self, side: int, node: int) -> bytes:
        """Content of a node of the first (0) or second (1) graph; annotations and, in big files, values left out."""
        key = (side, node)
        if key not in self._known:
            full = self._documents[side].node(node)
            bare = protos.NodeDef(op=full.op, device=full.device)
            bare.attr.MergeFrom(full.attr)
            for name in _ANNOTATIONS:
                bare.attr.pop(name, None)
            self._known[key] = _bytes(bare)
        return self._known[key]


Place = tuple[Any, ...]


def _reads(graph: Graph, node: int, link: Sequence[int] | None, settled: Sequence[bool]) -> Place | None:
    """What a node reads, in the second graph's numbers; None while that is not all linked, or it reads nothing."""
    edges = graph.edges_into(node)
    edges = edges[~graph.control[edges]]
    return _place(graph.src[edges].tolist(), graph.port[edges].tolist(), link, settled)


def _feeds(graph: Graph, node: int, link: Sequence[int] | None, settled: Sequence[bool]) -> Place | None:
    """Whom a node feeds, in the second graph's numbers; None while that is not all linked, or it feeds no one."""
    edges = graph.edges_out_of(node)
    edges = edges[~graph.control[edges]]
    return _place(graph.dst[edges].tolist(), graph.slot[edges].tolist(), link, settled, ordered=False)


def _place(
    nodes: list[int], ports: list[int], link: Sequence[int] | None, settled: Sequence[bool], *, ordered: bool = True
) -> Place | None:
    if not nodes or not all(settled[node] for node in nodes):
        return None
    there = nodes if link is None else [link[node] for node in nodes]
    place = list(zip(there, ports, strict=True))
    return tuple(place if ordered else sorted(place))


def _link_unique(pairing: Pairing, content: _Contents, find: Callable[..., Place | None]) -> bool:
    """One round: link free nodes whose content and place occur exactly once on each side."""
    match = pairing.match.tolist()
    linked_before, linked_after = (pairing.match >= 0).tolist(), (pairing.origin >= 0).tolist()
    before, after = pairing.before.graph, pairing.after.graph
    free_before, free_after = pairing.free_before(), pairing.free_after()
    common = {before.ops[node] for node in free_before} & {after.ops[node] for node in free_after}
    mine: dict[Any, list[int]] = defaultdict(list)
    for node in free_before:
        place = find(before, node, match, linked_before) if before.ops[node] in common else None
        if place is not None:
            mine[content.of(0, node), place].append(node)
    theirs: dict[Any, list[int]] = defaultdict(list)
    for node in free_after if mine else ():
        place = find(after, node, None, linked_after) if after.ops[node] in common else None
        if place is not None:
            theirs[content.of(1, node), place].append(node)
    found = [
        (nodes[0], theirs[key][0]) for key, nodes in mine.items() if len(nodes) == 1 and len(theirs.get(key, ())) == 1
    ]
    if found:
        pairing.link([node for node, _ in found], [node for _, node in found], "structure")
    return bool(found)


MATCHERS: tuple[Matcher, ...] = (by_provenance, by_name, by_prefix, by_structure)
"""Run in this order; each links only nodes that are still free."""


def _first(names: Sequence[str]) -> Mapping[str, int]:
    index: dict[str, int] = {}
    for node, name in enumerate(names):
        index.setdefault(name, node)
    return index


def _groups(nodes: Iterable[int], key: Callable[[int], Any]) -> dict[Any, list[int]]:
    groups: dict[Any, list[int]] = defaultdict(list)
    for node in nodes:
        groups[key(node)].append(node)
    return groups


def _bytes(node: Any) -> bytes:
    return bytes(node.SerializeToString(deterministic=True))
