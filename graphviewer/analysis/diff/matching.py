"""The ways to recognise a node of one graph in the other, surest first."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import repeat
from typing import Any

import numpy as np

from graphviewer.analysis.diff.contents import types
from graphviewer.analysis.diff.pairing import NAME, PINNED, PREFIX, PROVENANCE, Pairing
from graphviewer.analysis.diff.scope_names import by_prefix
from graphviewer.analysis.diff.structure import by_structure
from graphviewer.errors import UnknownNameError
from graphviewer.model.names import nearest

Matcher = Callable[[Pairing], None]

_COUNTER = re.compile(r"_\d+$")


def by_pin(pairing: Pairing) -> None:
    """Link what a person says is the same, whatever the other matchers think; of two pins of a node the later holds.

    Raises:
        UnknownNameError: a graph has no node of that name.
    """
    before, after = _first(pairing.names_before), _first(pairing.names_after)
    partner: dict[int, int] = {}
    for old, new in pairing.pins:
        source, target = _pinned(before, old), _pinned(after, new)
        for other in [node for node, linked in partner.items() if linked == target and target >= 0]:
            del partner[other]
        if source >= 0:
            partner[source] = target
        elif target >= 0:
            pairing.settled_after[target], pairing.alone[1, target] = True, PINNED
    for source, target in partner.items():
        if target >= 0:
            pairing.link([source], [target], PINNED)
        else:
            pairing.settled_before[source], pairing.alone[0, source] = True, PINNED


def _pinned(index: Mapping[str, int], name: str | None) -> int:
    if name is None:
        return -1
    if name not in index:
        close = nearest(name, index)
        raise UnknownNameError(f"There is no node '{name}' to pin.", f"Closest: {', '.join(close)}." if close else "")
    return index[name]


def by_provenance(pairing: Pairing) -> None:
    """Follow what the operation reported; nodes that it does not list were kept under their own name."""
    if pairing.provenance is None:
        return
    index = _first(pairing.names_before)
    links: list[tuple[int, int]] = []
    for node, name in enumerate(pairing.names_after):
        origin = pairing.provenance.origins.get(name)
        if origin is None or pairing.settled_after[node]:
            continue
        source = index.get(origin.source, -1) if origin.source is not None else -1
        if source >= 0 and pairing.settled_before[source]:
            continue  # a person pinned it to another node
        pairing.origins[node] = origin
        if source >= 0:
            links.append((source, node))
        elif origin.source is None:
            pairing.settled_after[node], pairing.alone[1, node] = True, PROVENANCE
    if links:
        pairing.link([before for before, _ in links], [after for _, after in links], PROVENANCE)
    for node, name in enumerate(pairing.names_before):
        removal = pairing.provenance.removals.get(name)
        if removal is not None and not pairing.settled_before[node]:
            pairing.removals[node] = removal
            pairing.settled_before[node], pairing.alone[0, node] = True, PROVENANCE


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
    pairing.link(np.array(free_before, np.int32)[hit], found[hit], NAME)


def _link_repeated(pairing: Pairing, free_before: Iterable[int], free_after: Iterable[int]) -> None:
    groups = _groups(free_before, lambda node: pairing.names_before[node])
    others = _groups(free_after, lambda node: pairing.names_after[node])
    for name, nodes in groups.items():
        partners = others.get(name, [])
        if len(nodes) > 1 or len(partners) > 1:
            nodes, partners = _equal_first(pairing, nodes, partners)
        count = min(len(nodes), len(partners))
        if count:
            pairing.link(nodes[:count], partners[:count], NAME)


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


def by_number(pairing: Pairing) -> None:
    """Exchange the partners of nodes whose names differ in a counter only, where dtypes show that they were renumbered.

    ``Identity`` of a string and ``Identity_1`` of an integer may have changed places: counters follow the order in
    which a program made the nodes, which need not be the same twice.
    """
    groups: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for old, new in pairing.pairs():
        if pairing.how[new] == NAME:
            left, right = pairing.before.node(old), pairing.after.node(new)
            if left.op == right.op and left != right and types(left) != types(right):
                groups[_COUNTER.sub("", pairing.names_before[old])].append((old, new))
    for pairs in groups.values():
        _exchange(pairing, pairs)


def _exchange(pairing: Pairing, pairs: Sequence[tuple[int, int]]) -> None:
    """Link the nodes of both sides anew by op and dtypes, if that leaves none over."""
    waiting: dict[Any, list[int]] = defaultdict(list)
    for _, new in pairs:
        node = pairing.after.node(new)
        waiting[node.op, types(node)].append(new)
    partners = []
    for old, _ in pairs:
        node = pairing.before.node(old)
        same = waiting[node.op, types(node)]
        if not same:
            return
        partners.append(same.pop(0))
    pairing.link([old for old, _ in pairs], partners, PREFIX)


MATCHERS: tuple[Matcher, ...] = (by_pin, by_provenance, by_name, by_number, by_prefix, by_structure)
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
