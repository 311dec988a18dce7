"""Apply a comparison to its first graph: the law ``patch(a, compare(a, b)) == b`` says that nothing is left out.

What a change does not name is taken from the first graph. What it names is taken from the second, whole: details show
values as digests and long lists cut short, for people, so a comparison read back from JSON cannot be applied.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from graphviewer import protos
from graphviewer.analysis.diff.generated import bring_counters
from graphviewer.analysis.diff.result import Change, Diff
from graphviewer.model.document import Document
from graphviewer.model.names import parse_input

_BY_DETAIL: Mapping[str, tuple[str, ...]] = {"dtype": ("dtype", "T"), "shape": ("shape",), "value": ("value",)}
"""The attributes behind details that have a name of their own."""


def patch(before: Document, diff: Diff) -> Document:
    """The second graph of a comparison, made from the first and what differs.

    Equal to it, names of functions and counters included, up to order of nodes and control inputs, encoding of tensors,
    annotations that only one side has, and ``versions``.

    Args:
        before: the first document of the comparison, or an equal one.
        diff: the comparison.

    Raises:
        ValueError: ``before`` is another graph.
        ReadError: a file with large constants changed on disk meanwhile.
    """
    if len(before.graph_def.node) != len(diff.match):
        raise ValueError("the comparison is of another graph")
    names = _Names(diff)
    graph_def = protos.GraphDef(versions=before.graph_def.versions)
    for number, source in enumerate(diff.origin.tolist()):
        change = diff.change_after.get(number)
        if source < 0:
            graph_def.node.add().CopyFrom(diff.after.full_node(number))
        else:
            names.bring_over(before.full_node(source), graph_def.node.add())
            _bring_made_up(diff.after.node(number).attr, graph_def.node[-1].attr)
            if change is not None:
                _apply(change, diff.after.full_node(number), graph_def.node[-1])
    graph_def.library.function.extend(_functions(before, diff))
    graph_def.library.gradient.extend(diff.after.graph_def.library.gradient)
    return before.with_graph(graph_def, meta=_meta(before, diff, names))


class _Names:
    """Names of nodes of the first graph as the second writes them."""

    def __init__(self, diff: Diff) -> None:
        pairs = ((change.before, change.after) for change in diff.changes)
        self._nodes = {old: new for old, new in pairs if old is not None and new is not None and old != new}

    def bring_over(self, source: Any, target: Any) -> None:
        """Copy a node with all names in it replaced."""
        target.CopyFrom(source)
        target.name = self._nodes.get(source.name, source.name)
        for slot, text in enumerate(target.input):
            target.input[slot] = self.wire(text)
        if "_class" in target.attr:
            places = target.attr["_class"].list.s
            for at, place in enumerate(places):
                head, sign, name = place.partition(b"@")
                new = self._nodes.get(name.decode("utf-8", "replace"))
                if new is not None:
                    places[at] = head + sign + new.encode("utf-8", "surrogatepass")

    def wire(self, text: str) -> str:
        """An input, or a tensor's name in a signature."""
        name, _ = parse_input(text)
        new = self._nodes.get(name)
        return text if new is None else text.replace(name, new, 1)


def _calls(value: Any) -> Sequence[Any]:
    kind = value.WhichOneof("value")
    return [value.func] if kind == "func" else value.list.func if kind == "list" else ()


def _apply(change: Change, there: Any, node: Any) -> None:
    """Take from the second graph's node what a change names."""
    details = change.details
    node.name = there.name
    if "op" in details:
        node.op = there.op
        for name in there.attr:  # what was a default of the old op may be written out
            if name not in node.attr:
                node.attr[name].CopyFrom(there.attr[name])
    if "device" in details:
        node.device = there.device
    if "inputs" in details:
        del node.input[:]
        node.input.extend(there.input)
    for name in _attributes(details):
        if name in there.attr:
            node.attr[name].CopyFrom(there.attr[name])
        else:
            node.attr.pop(name, None)


def _attributes(details: Mapping[str, Any]) -> Iterator[str]:
    """The attributes that differ."""
    for key, found in details.items():
        if key in ("attributes", "functions"):
            yield from found
        elif key.startswith("value of "):
            yield key.removeprefix("value of ")
        else:
            yield from _BY_DETAIL.get(key, ())


def _functions(before: Document, diff: Diff) -> Iterator[Any]:
    """The second library: functions that both have from the first, but for those that differ."""
    from_after = {one.after for one in diff.functions if one.after is not None}
    for old, new in diff.function_names.items():
        if new not in from_after:
            function = protos.FunctionDef()
            function.CopyFrom(before.functions[old])
            function.signature.name = new
            _bring_over(diff.after.functions[new], function)
            yield function
    for name in sorted(from_after):
        yield diff.after.functions[name]


def _bring_over(there: Any, function: Any) -> None:
    """Give a copy of a function of the first library the made-up names of its twin in the second one."""
    bring_counters(there.attr, function.attr)
    for place, argument in there.arg_attr.items():
        if place in function.arg_attr:
            bring_counters(argument.attr, function.arg_attr[place].attr)
    _rename_ends(there.signature, function)
    twins = {node.name: node for node in there.node_def}
    for node in function.node_def:
        if node.name in twins:
            _bring_made_up(twins[node.name].attr, node.attr)


def _rename_ends(there: Any, function: Any) -> None:
    """Call arguments and results as those at the same place of another signature."""
    arguments: dict[str, str] = {}
    for mine, other in zip(function.signature.input_arg, there.input_arg, strict=True):
        arguments[mine.name] = mine.name = other.name
    returned = {name: arguments.get(text, text) for name, text in function.ret.items()}
    function.ret.clear()
    for mine, other in zip(function.signature.output_arg, there.output_arg, strict=True):
        if mine.name in returned:
            function.ret[other.name] = returned.pop(mine.name)
        mine.name = other.name
    function.ret.update(returned)
    for node in function.node_def:
        node.input[:] = [arguments.get(text, text) for text in node.input]


def _bring_made_up(there: Any, attrs: Any) -> None:
    """Take over the names of functions and what else is made up; what differs besides is not for here."""
    bring_counters(there, attrs)
    for name, value in attrs.items():
        if name in there:
            for mine, other in zip(_calls(value), _calls(there[name]), strict=False):
                mine.name = other.name


def _meta(before: Document, diff: Diff, names: _Names) -> Any | None:
    """The MetaGraphDef with the second file's signatures, where both have one."""
    if before.meta is None or diff.after.meta is None:
        return before.meta
    meta = protos.MetaGraphDef()
    meta.CopyFrom(before.meta)
    for signature in meta.signature_def.values():
        _rename_tensors(signature, names.wire)
    for change in diff.signatures:
        key = change.name
        if change.after is None:
            del meta.signature_def[key]
        else:
            meta.signature_def[key].CopyFrom(diff.after.signatures[key])
    return meta


def _rename_tensors(signature: Any, rename: Callable[[str], str]) -> None:
    for side in (signature.inputs, signature.outputs):
        for tensor in side.values():
            if tensor.WhichOneof("encoding") == "name":
                tensor.name = rename(tensor.name)
