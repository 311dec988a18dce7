"""Library functions of two documents: which is which, and what differs inside."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from graphviewer import protos
from graphviewer.analysis.diff.declarations import declaration, declared_shortly
from graphviewer.analysis.diff.functions import FunctionPairs, neutral
from graphviewer.analysis.diff.generated import base_name
from graphviewer.analysis.diff.pairing import NAME, STRUCTURE, UNMATCHED, Pairing
from graphviewer.analysis.diff.result import Diff, FunctionChange
from graphviewer.analysis.diff.rollup import renamed_scope
from graphviewer.model.document import Document
from graphviewer.model.function_body import ARGUMENT_OP, RESULT_OP, FunctionBody
from graphviewer.model.names import CONTROL_PORT, Endpoint

_ENDS = (ARGUMENT_OP, RESULT_OP)

Compare = Callable[[Pairing, FunctionPairs], Diff]


def link_functions(pairing: Pairing, functions: FunctionPairs) -> Mapping[tuple[str, str], str]:
    """Find which function of one library is which of the other, and set ``functions.links``.

    Args:
        pairing: the nodes of the graphs, linked: functions that they call in the same place are linked too.
        functions: tells whether two functions do the same.

    Returns:
        How each pair of names was found, one of ``pairing.MATCHES``.
    """
    if functions.are_equal:
        how = {(name, name): NAME for name in functions.before}
    else:
        how = _link(pairing, functions)
    functions.links = dict(how.keys())
    return how


def compare_functions(
    functions: FunctionPairs, how: Mapping[tuple[str, str], str], compare: Compare
) -> tuple[FunctionChange, ...]:
    """Compare inside the functions that differ themselves, whatever differs in what they call.

    Args:
        functions: both libraries, linked.
        how: the links, and how they were found.
        compare: of two graphs whose nodes are not linked yet.

    Returns:
        Functions that are not the same on both sides, in order of the first library, then of the second.
    """
    if functions.are_equal:
        return ()
    changes = []
    for name, function in functions.before.items():
        new = functions.links.get(name)
        if new is None:
            reason = f"this function of {_nodes(function)} is in the first graph only"
            changes.append(FunctionChange("removed", name, None, reason, UNMATCHED))
        elif not functions.alike(name, new):
            changes.append(_inside(name, new, how[name, new], functions, compare))
    found = set(functions.links.values())
    for name in functions.after:
        if name not in found:
            reason = f"this function of {_nodes(functions.after[name])} is in the second graph only"
            changes.append(FunctionChange("added", None, name, reason, UNMATCHED))
    return tuple(changes)


def _nodes(function: Any) -> str:
    count = len(function.node_def)
    return f"{count:,} node" if count == 1 else f"{count:,} nodes"


def _link(pairing: Pairing, functions: FunctionPairs) -> dict[tuple[str, str], str]:
    """Pairs of names, each name once, with how they were found.

    First functions that do the same, called in the same place, under one name, or any; then those called in the same
    place that differ; then those of one name, with or without its counter.
    """
    how: dict[tuple[str, str], str] = {}
    left, right = dict.fromkeys(functions.before), dict.fromkeys(functions.after)

    def take(pairs: Iterator[tuple[str, str]], found: str) -> None:
        for old, new in pairs:
            if old in left and new in right:
                del left[old], right[new]
                how[old, new] = NAME if old == new else found

    called = list(_called_alike(pairing, functions))
    take((pair for pair in called if functions.same(*pair)), STRUCTURE)
    take(((name, name) for name in list(left) if name in right and functions.same(name, name)), NAME)
    take(_equal(functions, list(left), list(right)), STRUCTURE)
    take(iter(called), STRUCTURE)
    take(((name, name) for name in list(left)), NAME)
    take(_alike(list(left), list(right)), NAME)
    return how


def _equal(functions: FunctionPairs, left: Sequence[str], right: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Functions that do the same under another name, those of one name without its counter first."""
    by_body: dict[Any, list[str]] = defaultdict(list)
    for name in right:
        by_body[neutral(functions.after[name])[0]].append(name)
    for name in left:
        others = by_body[neutral(functions.before[name])[0]]
        others.sort(key=lambda other: base_name(other) != base_name(name))
        new = next((other for other in others if functions.same(name, other)), None)
        if new is not None:
            others.remove(new)
            yield name, new


def _called_alike(pairing: Pairing, functions: FunctionPairs) -> Iterator[tuple[str, str]]:
    """Functions that one attribute of two linked nodes names; then those that these call in nodes of one name."""
    waiting = []
    if functions.before and functions.after:
        nodes = ((pairing.before.node(old), pairing.after.node(new)) for old, new in pairing.pairs())
        waiting = [pair for old, new in nodes if old.op == new.op for pair in _calls(old, new)]
    seen = set()
    while waiting:
        pair = waiting.pop()
        old, new = functions.before.get(pair[0]), functions.after.get(pair[1])
        if pair in seen or old is None or new is None:
            continue
        seen.add(pair)
        yield pair
        there = {node.name: node for node in new.node_def}
        for node in old.node_def:
            if node.name in there:
                waiting.extend(_calls(node, there[node.name]))


def _calls(old: Any, new: Any) -> list[tuple[str, str]]:
    pairs = []
    for name in old.attr:
        if name in new.attr:
            sides = ([value] for value in (old.attr[name], new.attr[name]))
            named = [list(protos.function_names(side)) for side in sides]
            pairs += list(zip(*named, strict=False))
    return pairs


def _alike(left: Sequence[str], right: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Names that are equal without their counters, and occur once."""
    sides: list[dict[str, list[str]]] = [defaultdict(list), defaultdict(list)]
    for names, side in zip((left, right), sides, strict=True):
        for name in names:
            side[base_name(name)].append(name)
    for base, names in sides[0].items():
        others = sides[1].get(base, [])
        if len(names) == len(others) == 1:
            yield names[0], others[0]


def _inside(old: str, new: str, match: str, functions: FunctionPairs, compare: Compare) -> FunctionChange:
    after = _body(functions.after[new], functions.after)
    before = _body(functions.before[old], functions.before, after)
    inside = compare(Pairing(before, after), functions)
    details = declaration(functions.before[old], functions.after[new], inside.match)
    counts = [
        f"{count:,} {status}{renamed_scope(inside.changes) if status == 'renamed' else ''}"
        for status, count in inside.summary().items()
        if count and status != "unchanged"
    ]
    parts = [] if base_name(old) == base_name(new) else [f"called {old} before"]
    parts += declared_shortly(details)
    parts += [f"inside: {', '.join(counts)}"] if counts else []
    return FunctionChange("changed", old, new, "; ".join(parts) or "its declaration differs", match, details, inside)


def _body(function: Any, functions: Mapping[str, Any], like: Document | None = None) -> Document:
    """A function as a graph: a node for each argument, its nodes, a node for each result.

    Node numbers are those of ``FunctionBody``. Inputs are written as in a graph (``add:0`` for ``add:z:0``).

    Args:
        function: FunctionDef.
        functions: of its library, by name.
        like: the other function: arguments and results are called as there, for their names carry counters.
    """
    body = FunctionBody.of(function, functions)
    names = list(body.names)
    if like is not None:
        _name_ends(names, body, like)
    graph_def = protos.GraphDef()
    for node, name in zip(body.nodes, names, strict=True):
        graph_def.node.add().CopyFrom(node)
        graph_def.node[-1].name = name
    edges = zip(body.src.tolist(), body.dst.tolist(), body.port.tolist(), body.slot.tolist(), strict=True)
    for source, target, port, slot in edges:
        inputs = graph_def.node[target].input
        wire = f"^{names[source]}" if port == CONTROL_PORT else str(Endpoint(names[source], port))
        if slot < len(inputs):
            inputs[slot] = wire
        else:
            inputs.append(wire)  # of a result, whose node is not in the file
    return Document("graphdef", graph_def, title=function.signature.name)


def _name_ends(names: list[str], body: FunctionBody, like: Document) -> None:
    """Call arguments and results as their fellows at the same place, where no other node is called so."""
    there = {(node.op, node.attr["index"].i): node.name for node in like.graph_def.node if node.op in _ENDS}
    taken = set(names)
    for number, node in enumerate(body.nodes):
        if number < body.arguments or node.op == RESULT_OP:
            name = there.get((node.op, node.attr["index"].i), names[number])
            if name not in taken:
                names[number] = name
                taken.add(name)
