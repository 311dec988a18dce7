"""Library functions of two documents compared by meaning: their names carry counters and do not count."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from graphviewer import protos
from graphviewer.analysis.diff.generated import drop_counters
from graphviewer.analysis.diff.values import digest
from graphviewer.analysis.ops import attribute_defaults
from graphviewer.model.tensors import TensorError, tensor_value

Pair = tuple[str, str]


class _Local(NamedTuple):
    """Two bodies compared without what they call: equal so far, and the calls that this depends on."""

    equal: bool
    calls: frozenset[Pair]


class FunctionPairs:
    """Tells whether a function of one library does the same as one of the other.

    Two functions are the same when signature and nodes are, and the functions they call are, pair by pair. Recursive
    functions are taken as equal until a difference is found.

    Args:
        before: FunctionDefs of the first library by name.
        after: those of the second.

    Attributes:
        are_equal: both libraries are the same, names included.
        links: name in the second library of every function that is taken for one of the first, by its name there,
            whether they do the same or not; empty until they are found.
    """

    def __init__(self, before: Mapping[str, Any], after: Mapping[str, Any]) -> None:
        self.before, self.after = before, after
        self.links: Mapping[str, str] = {}
        self._known: dict[Pair, bool] = {}
        self.are_equal = before.keys() == after.keys() and all(before[name] == after[name] for name in before)

    def differing(self) -> frozenset[str]:
        """Names that mean functions on the two sides that are not taken for one, or none on one of them."""
        if self.are_equal:
            return frozenset()
        return frozenset(name for name in self.before.keys() | self.after.keys() if not self.linked(name, name))

    def linked(self, before: str, after: str) -> bool:
        """Whether two functions are taken for one: what differs in it is told of it, and not of what calls it."""
        return self.links.get(before) == after or self.same(before, after)

    def alike(self, before: str, after: str) -> bool:
        """Whether nothing differs in two functions themselves, whatever differs in those that they call."""
        if self.same(before, after):
            return True
        found = self._compare((before, after))
        return found.equal and all(self.linked(*call) for call in found.calls)

    def same(self, before: str, after: str) -> bool:
        """Whether two functions do the same; a name that a library lacks equals only itself."""
        if self.are_equal and before == after:
            return True
        if (before, after) not in self._known:
            self._settle((before, after))
        return self._known[before, after]

    def _settle(self, first: Pair) -> None:
        """Compare a pair and all pairs it leads to; a difference spreads to the callers."""
        local: dict[Pair, _Local] = {}
        waiting = [first]
        while waiting:
            pair = waiting.pop()
            if pair not in local:
                local[pair] = self._compare(pair)
                waiting.extend(local[pair].calls)
        differing = {pair for pair, found in local.items() if not found.equal}
        callers: dict[Pair, list[Pair]] = {}
        for pair, found in local.items():
            for call in found.calls:
                callers.setdefault(call, []).append(pair)
        stack = list(differing)
        while stack:
            new = [pair for pair in callers.get(stack.pop(), ()) if pair not in differing]
            differing.update(new)
            stack.extend(new)
        self._known.update((pair, pair not in differing) for pair in local)

    def _compare(self, pair: Pair) -> _Local:
        before, after = self.before.get(pair[0]), self.after.get(pair[1])
        if before is None or after is None:
            return _Local(before is after and pair[0] == pair[1], frozenset())
        left, calls_left = neutral(before)
        right, calls_right = neutral(after)
        if left != right:
            return _Local(False, frozenset())
        return _Local(True, frozenset(zip(calls_left, calls_right, strict=True)))


def neutral(function: Any) -> tuple[tuple[Any, ...], list[str]]:
    """A FunctionDef without all names that may carry a counter, and the names of the functions that it calls.

    Left out are its name, those of arguments, results and called functions, the order of nodes, inferred shapes,
    attributes at their default, counters in texts; constants are told by their values.
    """
    bare = protos.FunctionDef()
    bare.CopyFrom(function)
    bare.signature.name = ""
    bare.attr.pop("_input_shapes", None)
    drop_counters(bare.attr)
    for argument in bare.arg_attr.values():
        drop_counters(argument.attr)
    arguments = _number_ends(bare)
    for node in bare.node_def:
        _drop_what_does_not_count(node)
        for slot, text in enumerate(node.input):
            if text in arguments:
                node.input[slot] = arguments[text]
    nodes = sorted(bare.node_def, key=lambda node: node.name)
    del bare.node_def[:]
    calls = [name for node in nodes for name in _take_calls(node.attr)]
    body = tuple(node.SerializeToString(deterministic=True) for node in nodes)
    return (bare.SerializeToString(deterministic=True), *body), calls


def _drop_what_does_not_count(node: Any) -> None:
    node.attr.pop("_output_shapes", None)
    node.ClearField("experimental_debug_info")
    drop_counters(node.attr)
    for name, value in attribute_defaults(node.op).items():
        if name in node.attr and node.attr[name] == value:
            node.attr.pop(name)
    if node.op == "Const" and "value" in node.attr:
        tensor = node.attr["value"].tensor
        try:
            told = f"{tensor.dtype} {digest(tensor_value(tensor))}"
        except TensorError:
            return
        node.attr["value"].s = told.encode()


def _number_ends(function: Any) -> Mapping[str, str]:
    """Call arguments and results by their place; returns the new names of the arguments."""
    arguments: dict[str, str] = {}
    for place, argument in enumerate(function.signature.input_arg):
        arguments[argument.name] = argument.name = f"#{place}"
    returned = dict(function.ret)
    function.ret.clear()
    for place, result in enumerate(function.signature.output_arg):
        text = returned.pop(result.name, "")
        result.name = f"#{place}"
        function.ret[result.name] = arguments.get(text, text)
    for name, text in returned.items():
        function.ret[name] = text
    return arguments


def _take_calls(attrs: Mapping[str, Any]) -> Iterator[str]:
    """The function names in a node's attributes, each taken out of its place."""
    for key in sorted(attrs):
        kind = attrs[key].WhichOneof("value")
        called = [attrs[key].func] if kind == "func" else list(attrs[key].list.func) if kind == "list" else []
        for function in called:
            yield function.name
            function.name = ""
