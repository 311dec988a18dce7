"""Names for library functions that do not depend on TensorFlow's counters: equal exports call them alike."""

from __future__ import annotations

import re
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from graphviewer.analysis.diff.generated import base_name
from graphviewer.model.document import Document
from graphviewer.protos import function_names

_NUMBERS = re.compile(r"\d+")


def stand_ins(document: Document) -> Mapping[str, str]:
    """By name of a function: the name without its counter, and of several such which one it is (``f``, ``f#2``).

    They are numbered in the order in which they are called, nodes taken by name; then come those that nothing calls,
    in the order in which TensorFlow made them.
    """
    alike: dict[str, list[str]] = defaultdict(list)
    for name in _in_order(document):
        alike[base_name(name)].append(name)
    return {
        name: base if number == 1 else f"{base}#{number}"
        for base, names in alike.items()
        for number, name in enumerate(names, 1)
    }


def _in_order(document: Document) -> Iterable[str]:
    functions = document.functions
    found: dict[str, None] = {}
    by_counter = sorted(functions, key=lambda name: (base_name(name), _counters(name)))
    starts: tuple[Iterable[str], ...] = (_called(document.graph_def.node if functions else ()), by_counter)
    for start in starts:
        waiting = deque(start)
        while waiting:
            name = waiting.popleft()
            if name in functions and name not in found:
                found[name] = None
                waiting.extend(_called(functions[name].node_def))
    return found


def _counters(name: str) -> list[tuple[int, str]]:
    """What ``base_name`` leaves out, in numerical order; no number is made of digits that a file has."""
    found = (digits.lstrip("0") for digits in _NUMBERS.findall(name[len(base_name(name)) :]))
    return [(len(digits), digits) for digits in found]


def _called(nodes: Iterable[Any]) -> Iterator[str]:
    """The functions that nodes call, nodes and attributes by name."""
    for node in sorted(nodes, key=lambda node: str(node.name)):
        yield node.op
        yield from function_names(node.attr[key] for key in sorted(node.attr))
